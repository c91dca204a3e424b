"""Choices inside label trees, compared by cross-validation on training rows only.

    python benchmarks/bench_label_choices.py --sets bibtex corel5k rcv1subset1_top944 delicious
    python benchmarks/bench_label_choices.py --sets questions --corpus librarian_questions.tsv.xz
    python benchmarks/bench_label_choices.py --answers --sets bibtex enron_corr cellcycle_fun
    python benchmarks/bench_label_choices.py --closed --sets cellcycle_go enron_corr

C and the scale of rows are those that ``ClassTreeClassifier()`` chooses on the training rows of the
first fold; they are the same for all variants. Scores are means over folds and seeds of the tree,
differences are those from the label tree as it is, with their standard errors over folds and seeds
in brackets. Folds share rows, so that these errors are rough.

``--answers`` compares predicted sets: labels above the threshold alone, and with the most probable
label where there is none. F1 of rows is the mean over rows, where an empty set has 0 unless the row
has no label either. Sets with a hierarchy are fitted along it.

``--closed`` compares a label tree along the given hierarchy (``label-tree``) with one over a
learned tree whose answers are closed along the hierarchy (``label-tree-closed``). The thesaurus of
``questions`` is drawn: a concept is below the more frequent one that it occurs with most.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from bench_label_trees import K, ranked, read_set

VARIANTS = {
    "as it is": {},
    "k-means to its end": {"gain": 0.0},
    "rows without idf": {"idf": False},
    "beam of 20": {"beam_width": 10},
    "32 groups": {"branching": 32},
    "64 groups": {"branching": 64},
    "leaves of 30": {"leaf_size": 30},
    "leaves of 200": {"leaf_size": 200},
    "leaves of 300": {"leaf_size": 300},
    "leaves of 300, 64 groups": {"leaf_size": 300, "branching": 64},
    "one level": {"leaf_size": 10**6},
}


def fit(A, Y, C, seed, gain=1e-3, leaf_size=100, branching=16, beam_width=5):
    """Return a label tree with given settings, without a threshold."""
    import palmette as pm
    from palmette.class_tree import _k_means_tree
    from palmette.routing import LinearRouter

    _k_means_tree._GAIN = gain
    router = LinearRouter(C=C, tol=0.1, prune=0.1)
    tree = pm.KMeansTree(branching, leaf_size=leaf_size, random_state=seed)
    model = pm.ClassTreeClassifier(
        tree, router=router, decoding=0.5, calibration=1.0, beam_width=beam_width
    )
    return model.fit(A, Y)


def compare_answers(options):
    """Print F1 of predicted sets with and without the rule that no set is empty."""
    import palmette as pm

    print(
        "| data | training rows without labels | predicted sets without labels | labels per "
        "filled set that are right | micro-F1: before, difference | F1 of rows: before, "
        "difference |"
    )
    print("|---|---|---|---|---|---|")
    for name in options.sets:
        X, y, hierarchy = read_training_rows(name, options)
        truth = y if hierarchy is None else pm.NodeLabels.encode(y, hierarchy).closed[:, 1:]
        has_none, found = np.asarray(truth.sum(axis=1)).ravel() == 0, []
        for seed in range(options.seeds):
            fold = np.random.default_rng(seed).permutation(X.shape[0]) % options.folds
            for k in range(options.folds):
                train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
                model = pm.ClassTreeClassifier(hierarchy, random_state=seed)
                model.fit(X[train], y[train])
                parts = []
                for least in (0, 1):
                    model.label_tree_.min_labels = least
                    if hierarchy is None:
                        answers = model.predict(X[test])
                    else:
                        answers = model.predict_node_sets(X[test])[:, 1:]
                    parts.append(answers.toarray() > 0)
                found.append(scores_of_sets(truth[test].toarray() > 0, *parts))
        found = np.array(found)
        error = found.std(0) / len(found) ** 0.5
        mean = found.mean(0)
        print(
            f"| {name} | {has_none.mean():.3f} | {mean[0]:.3f} | {mean[1]:.3f} | {mean[2]:.4f}, "
            f"{mean[3]:+.4f} ({error[3]:.4f}) | {mean[4]:.4f}, {mean[5]:+.4f} ({error[5]:.4f}) |",
            flush=True,
        )


def compare_closed(options):
    """Print scores of label trees along a hierarchy and along a learned tree, closed."""
    import palmette as pm
    from palmette import metrics

    print("| data | nodes | model | P@1 | nDCG@5 | hierarchical F1 | fit CPU s |")
    print("|---|---|---|---|---|---|---|")
    for name in options.sets:
        X, y, h = read_training_rows(name, options)
        if h is None:
            y, h = with_drawn_thesaurus(y)
        fold = np.random.default_rng(0).permutation(X.shape[0]) % options.folds
        for kind in ("label-tree", "label-tree-closed"):
            found = []
            for k in range(options.folds):
                train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
                model = pm.ClassTreeClassifier(h)
                if kind == "label-tree-closed":
                    model = pm.ClassTreeClassifier(pm.KMeansTree(), router="linear", closure=h)
                start = time.process_time()
                model.fit(X[train], y[train])
                seconds = time.process_time() - start
                labels = pm.NodeLabels.encode(y[test], h)
                scores = ranked(model._top_k(X[test], K)[0], labels.given.shape)
                f1 = metrics.hierarchical_f1_score(y[test], model.predict(X[test]), hierarchy=h)
                p1 = metrics.precision_at_k(labels.given, scores, k=1)
                found.append((p1, metrics.ndcg_at_k(labels.given, scores, k=K), f1, seconds))
            mean, error = np.mean(found, axis=0), np.std(found, axis=0) / len(found) ** 0.5
            shown = " | ".join(f"{mean[i]:.3f} ({error[i]:.3f})" for i in range(3))
            print(f"| {name} | {h.n_nodes:,} | {kind} | {shown} | {mean[3]:.1f} |", flush=True)


def with_drawn_thesaurus(Y):
    """Return label sets, and a hierarchy over them: see the module."""
    import palmette as pm

    Y = Y[:, np.flatnonzero(Y.sum(axis=0))].astype(np.int64)
    count = np.asarray(Y.sum(axis=0)).ravel()
    order = np.lexsort((np.arange(len(count)), -count))  # frequent ones first
    rank = np.argsort(order)
    together = (Y.T @ Y).tocoo()
    best = {}
    for i, j, n in zip(together.row, together.col, together.data, strict=True):
        if rank[j] < rank[i]:
            best[i] = max(best.get(i, (0, 0, 0)), (int(n), -int(rank[j]), int(j)))
    edges = [("root", f"c{i}") for i in range(len(count)) if i not in best]
    edges += [(f"c{best[i][2]}", f"c{i}") for i in best]
    sets = np.empty(Y.shape[0], dtype=object)
    sets[:] = [{f"c{j}" for j in row} for row in np.split(Y.indices, Y.indptr[1:-1])]
    return sets, pm.Hierarchy.from_edges(edges)


def read_training_rows(name, options):
    """Return training rows and labels; the hierarchy if it has levels, else None."""
    import palmette as pm

    if name not in ("generated", "questions"):
        bunch = pm.datasets.fetch(name)
        if bunch.target_form == "node_sets":
            from sklearn.impute import SimpleImputer

            X = np.asarray(bunch.X_train, dtype=float)
            X = SimpleImputer(keep_empty_features=True).fit_transform(X)
            return X, bunch.y_train, bunch.hierarchy
    return (*read_set(name, options)[:2], None)


def scores_of_sets(truth, before, after):
    """Return shares of empty and of right filled sets, and F1 before with its difference after."""
    empty = ~before.any(axis=1)
    right = (truth & after)[empty].sum() / max(int(after[empty].sum()), 1)
    micro, rows = [], []
    for chosen in (before, after):
        hits, sizes = (truth & chosen).sum(axis=1), truth.sum(axis=1) + chosen.sum(axis=1)
        micro.append(2 * hits.sum() / sizes.sum())
        rows.append(np.where(sizes > 0, 2 * hits / np.maximum(sizes, 1), 1.0).mean())
    return empty.mean(), right, micro[0], micro[1] - micro[0], rows[0], rows[1] - rows[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=["bibtex", "corel5k"])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--corpus", help="the table of questions")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--closed", action="store_true", help="compare closed answers")
    parser.add_argument("--answers", action="store_true", help="compare predicted sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.answers or options.closed:
        (compare_answers if options.answers else compare_closed)(options)
        return

    import palmette as pm
    from palmette import metrics
    from palmette.class_tree._set_routing import TermScale

    print("| data | C | variant | P@1 | P@5 | nDCG@5 | P@1, nDCG@5: difference | fit CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        X, Y, _, _ = read_set(name, options)
        fold = np.random.default_rng(0).permutation(X.shape[0]) % options.folds
        first = pm.ClassTreeClassifier().fit(X[fold > 0], Y[fold > 0])
        C, scale = first.router_.C, first.label_tree_.scale
        idf = scale is not None and scale.idf
        plain = None
        for variant in dict.fromkeys(["as it is", *options.variants]):
            settings = {**VARIANTS[variant]}
            scaled, found, seconds = settings.pop("idf", idf), [], 0.0
            for k in range(options.folds):
                train, truth = fold != k, Y[fold == k]
                terms = TermScale(scaled).fit(X[train])
                A, B = terms.transform(X[train]), terms.transform(X[fold == k])
                for seed in range(options.seeds):
                    start = time.process_time()
                    model = fit(A, Y[train], C, seed, **settings)
                    seconds += time.process_time() - start
                    column = np.full(model.hierarchy_.n_nodes, -1)
                    column[model._answers.class_nodes] = np.arange(len(model.classes_))
                    scores = ranked(column[model._top_k(B, K)[0]], truth.shape)
                    p = metrics.precision_at_k(truth, scores, k=[1, 5])
                    found.append((*p, metrics.ndcg_at_k(truth, scores, k=K)))
            found = np.array(found)
            plain = found if plain is None else plain
            gain, error = (found - plain).mean(0), (found - plain).std(0) / len(found) ** 0.5
            shown = ", ".join(f"{gain[i]:+.4f} ({error[i]:.4f})" for i in (0, 2))
            p1, p5, ndcg = found.mean(0)
            print(
                f"| {name} | {C:.3g}{', idf' if idf else ''} | {variant} | {p1:.4f} | {p5:.4f} | "
                f"{ndcg:.4f} | {shown} | {seconds / len(found):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
