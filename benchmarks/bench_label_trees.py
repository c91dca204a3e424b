"""Label trees beside napkinXC's and one-vs-rest: many labels from a large vocabulary.

    python benchmarks/bench_label_trees.py sets --sets medical enron --napkinxc PYTHON
    python benchmarks/bench_label_trees.py sets --sets medical --napkinxc PYTHON --repeats 15
    python benchmarks/bench_label_trees.py sets --sets generated --labels 100000 --rows 200000
    python benchmarks/bench_label_trees.py sets --sets questions --corpus librarian_questions.tsv.xz
    python benchmarks/bench_label_trees.py hierarchies --sets cellcycle_go enron_corr
    python benchmarks/bench_label_trees.py labels --thesaurus silknow_thesaurus.ttl.xz
    python benchmarks/bench_label_trees.py vocabulary --thesaurus silknow_thesaurus.ttl.xz

``sets``: every model gets the training rows in a process of its own and returns the five best
labels of every test row. CPU seconds are those of the fit with everything that it chooses, the
least of ``--repeats`` fits in that process, and of the prediction; the model is measured as a file.
PYTHON is an interpreter with napkinXC, whose models get the scaled rows that the label tree chose.
"same" is told the loss and C that the label tree chose; ours "same" uses them too, without a
choice; "one level" is one-vs-rest with the solver and settings of the label tree, "one-vs-rest"
that of scikit-learn with C = 1. Labels of ``generated`` are known: 40 fields of 25 topics,
frequencies as rank^-.7, words of labels, topics, fields and noise.
``labels``: what rows made of the labels of concepts gain (``palmette fit --use-labels``), where
texts are the definitions of the concepts of a thesaurus, and labels their broader concepts.
``vocabulary``: counts of a thesaurus as read here, beside plain queries of rdflib.
``hierarchies``: micro AU(PRC) and nDCG@5 of test rows along the given tree or DAG; with
``--held-out``, of a third of the training rows after a fit on the others.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

K = 5
NAMESPACES = ("GO0003674", "GO0005575", "GO0008150")  # roots that the measure leaves out
OURS = ("label tree", "label tree, same", "three trees", "one-vs-rest", "one level, same")
THEIRS = ("napkinXC PLT", "napkinXC PLT, 16-means", "napkinXC PLT, same")


# ---------------------------------------------------------------------- data


def read_set(name, options):
    """Return training and test rows, and their labels as sparse matrices."""
    if name == "generated":
        return generated(options.rows, options.labels)
    if name == "questions":
        return questions(options.corpus)
    import palmette as pm

    bunch = pm.datasets.fetch(name)
    if "X_test" in bunch:
        X, Y = sparse.csr_array(bunch.X_train), sparse.csr_array(bunch.y_train)
        return X, Y, sparse.csr_array(bunch.X_test), sparse.csr_array(bunch.y_test)
    X, Y = sparse.csr_array(bunch.X), sparse.csr_array(bunch.y)
    order = np.random.default_rng(0).permutation(X.shape[0])
    train, test = order[: len(order) // 2], order[len(order) // 2 :]
    return X[train], Y[train], X[test], Y[test]


def generated(n_rows, n_labels, seed=0):
    """Return rows of words with known labels: fields of topics of labels."""
    rng = np.random.default_rng(seed)
    topics = np.arange(n_labels) * 1000 // n_labels
    n_words = (n_labels, 1000, 40, 20_000)
    first = np.concatenate([[0], np.cumsum([4 * n_words[0], 20 * 1000, 50 * 40])])
    share = (1.0 + rng.permutation(n_labels)) ** -0.7
    parts = []
    for n in (n_rows, n_rows // 5):
        count = 1 + rng.binomial(6, 0.38, n)
        lead = rng.choice(n_labels, n, p=share / share.sum())
        row = np.repeat(np.arange(n), count)
        near = rng.random(len(row)) < 0.6  # further labels are mostly of the same topic
        low = np.searchsorted(topics, topics[lead[row]])
        size = np.searchsorted(topics, topics[lead[row]], side="right") - low
        label = np.where(near, low + (rng.random(len(row)) * size).astype(np.int64), lead[row])
        label[np.concatenate([[0], np.cumsum(count)[:-1]])] = lead
        words, rows = [], []
        for offset, code, each, times in (
            (first[0], label, 4, 3),
            (first[1], topics[label], 20, 2),
            (first[2], topics[label] // 25, 50, 2),
        ):
            rows.append(np.repeat(row, times))
            drawn = rng.integers(0, each, (len(row), times))
            words.append((offset + code[:, None] * each + drawn).ravel())
        rows.append(np.repeat(np.arange(n), 10))
        words.append(first[3] + (n_words[3] * rng.random(10 * n) ** 3).astype(np.int64))
        shape = (n, int(first[3]) + n_words[3])
        content = np.concatenate(rows), np.concatenate(words)
        X = sparse.csr_array((np.ones(len(content[0])), content), shape=shape)
        Y = sparse.csr_array((np.ones(len(row)), (row, label)), shape=(n, n_labels))
        Y.data[:] = 1.0
        parts += [X, Y]
    return tuple(parts)


def questions(corpus):
    """Return the texts of a table of split, text and labels as counts of words."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import MultiLabelBinarizer

    with lzma.open(corpus, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    rows = [row for row in rows if len(row) == 3 and row[0] in ("train", "validate", "test")]
    train = [row for row in rows if row[0] != "test"]
    test = [row for row in rows if row[0] == "test"]
    words = CountVectorizer(min_df=2).fit(row[1] for row in train)
    labels = MultiLabelBinarizer(sparse_output=True).fit(row[2].split() for row in rows)
    found = []
    for part in (train, test):
        X = sparse.csr_array(words.transform(row[1] for row in part), dtype=np.float64)
        X.data = 1.0 + np.log(X.data)
        found += [X, sparse.csr_array(labels.transform(row[2].split() for row in part))]
    return tuple(found)


# ---------------------------------------------------------------------- models


def least_seconds(fit, repeats):
    """Return the least CPU seconds of some fits."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        fit()
        seconds.append(time.process_time() - start)
    return min(seconds)


def fit_and_rank(kind, folder, repeats):
    """Fit a model, and write the best labels of the test rows and the costs to a folder."""
    X, Y, Z = (sparse.load_npz(folder / f"{name}.npz") for name in ("X", "Y", "Z"))
    told = (
        json.loads((folder / "chosen.json").read_text()) if kind in (*THEIRS, *OURS[1:5:3]) else {}
    )
    X, Y, Z = (sparse.csr_array(each) for each in (X, Y, Z))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind in THEIRS:
            found = run_napkinxc(kind, X, Y, Z, told, folder, repeats)
        else:
            found = run_ours(kind, X, Y, Z, told, folder, repeats)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    found |= {"memory": usage.ru_maxrss / 1024}
    (folder / "costs.json").write_text(json.dumps(found))


def run_ours(kind, X, Y, Z, told, folder, repeats):
    import palmette as pm
    from palmette.class_tree._set_routing import TermScale
    from palmette.routing import LinearRouter

    if kind == OURS[3]:
        from sklearn.svm import LinearSVC

        scale = TermScale(True).fit(X)
        start = time.process_time()
        with_rows = np.flatnonzero(Y.sum(axis=0))
        X, Z = scale.transform(X), scale.transform(Z)
        models = []
        for label in with_rows:
            target = Y[:, [label]].toarray().ravel() > 0
            models.append(LinearSVC(C=1.0).fit(X, target) if not target.all() else None)
        fitted = time.process_time()
        seconds = fitted - start
        margins = np.column_stack(
            [np.ones(Z.shape[0]) if m is None else m.decision_function(Z) for m in models]
        )
        labels = with_rows[np.argsort(-margins, axis=1, kind="stable")[:, :K]]
        ended = time.process_time()
        (folder / "model").write_bytes(pickle.dumps(models))
    else:
        model = {
            OURS[0]: pm.ClassTreeClassifier(n_jobs=1),
            OURS[2]: pm.ClassTreeEnsemble(n_trees=3, router="auto", random_state=0),
        }.get(kind)
        if model is None:
            router = LinearRouter(C=told["C"], tol=0.1, prune=0.1)
            # without a threshold to tune, no row is held out
            tree = pm.KMeansTree(leaf_size=Y.shape[1]) if kind == OURS[4] else None
            model = pm.ClassTreeClassifier(
                tree, router=router, decoding=0.5, calibration=1.0, n_jobs=1
            )
            scale = TermScale(told["idf"]).fit(X)
            X, Z = scale.transform(X), scale.transform(Z)
        model.fit(X[:60], Y[:60])  # kernels are compiled
        model.predict_top_k(Z[:2], 1)
        seconds = least_seconds(lambda: model.fit(X, Y), repeats)
        fitted = time.process_time()
        nodes, _ = model._top_k(Z, K)
        ended = time.process_time()
        column = np.full(model.hierarchy_.n_nodes, -1)
        column[model._answers.class_nodes] = np.arange(len(model.classes_))
        labels = column[nodes]
        pm.save(model, folder / "model")
        if kind == OURS[0]:
            tree = model.label_tree_
            chosen = {"C": model.router_.C, "idf": bool(tree.scale is not None and tree.scale.idf)}
            (folder / "chosen.json").write_text(json.dumps(chosen))
    np.save(folder / "labels.npy", labels)
    size = (folder / "model").stat().st_size
    return {"fit": seconds, "predict": ended - fitted, "size": size}


def run_napkinxc(kind, X, Y, Z, told, folder, repeats):
    from napkinxc.models import PLT

    counts = np.bincount(X.indices, minlength=X.shape[1])
    idf = np.log((1.0 + X.shape[0]) / (1.0 + counts)) + 1.0 if told["idf"] else np.ones(X.shape[1])
    X, Z = (sparse.csr_matrix(each.multiply(idf[None, :])) for each in (X, Z))
    Y.sort_indices()
    known, codes = np.unique(Y.indices, return_inverse=True)  # it crashes on labels without rows
    sets = [row.tolist() for row in np.split(codes, Y.indptr[1:-1])]
    settings = {"threads": 1, "verbose": 0, "seed": 1}
    if kind != THEIRS[0]:
        settings |= {"arity": 16, "tree_search_type": "beam"}
    if kind == THEIRS[2]:
        settings |= {"loss": "squaredHinge", "liblinear_c": told["C"]}
    model = PLT(str(folder / "napkin"), **settings)
    seconds = least_seconds(lambda: model.fit(X, sets), repeats)
    fitted = time.process_time()
    model.load()
    best = model.predict(Z, top_k=K)
    ended = time.process_time()
    labels = np.full((Z.shape[0], K), -1)
    for row, each in enumerate(best):
        labels[row, : len(each)] = known[list(each[:K])]
    np.save(folder / "labels.npy", labels)
    size = sum(file.stat().st_size for file in (folder / "napkin").rglob("*") if file.is_file())
    return {"fit": seconds, "predict": ended - fitted, "size": size}


# ---------------------------------------------------------------------- tables


def compare(options):
    from palmette import metrics

    print(
        "| data | rows, labels | model | P@1 | P@3 | P@5 | F1@5 | nDCG@5 | PSP@5 | fit s | us/row "
        "| MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        X, Y, Z, truth = read_set(name, options)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            for key, value in (("X", X), ("Y", Y), ("Z", Z)):
                sparse.save_npz(folder / f"{key}.npz", sparse.csr_matrix(value))
            propensities = metrics.label_propensities(Y)
            kinds = list(options.models) + (list(THEIRS) if options.napkinxc else [])
            for kind in kinds:
                program = options.napkinxc if kind in THEIRS else sys.executable
                command = [program, __file__, "cell", "--model", kind, "--folder", str(folder)]
                command += ["--repeats", str(options.repeats)]
                one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
                if kind in THEIRS:
                    one["PYTHONPATH"] = ""
                try:
                    done = subprocess.run(command, env=os.environ | one, timeout=options.limit)
                except subprocess.TimeoutExpired:
                    print(f"| {name} | | {kind} | not within {options.limit:.0f} s |", flush=True)
                    continue
                if done.returncode:
                    print(f"| {name} | | {kind} | failed |", flush=True)
                    continue
                cost = json.loads((folder / "costs.json").read_text())
                labels = np.load(folder / "labels.npy")
                scores = ranked(labels, truth.shape)
                p = metrics.precision_at_k(truth, scores, k=[1, 3, 5])
                n = metrics.ndcg_at_k(truth, scores, k=5)
                f = metrics.f1_at_k(truth, scores, k=5)
                s = metrics.propensity_scored_precision_at_k(
                    truth, scores, propensities=propensities, k=5
                )
                digits = 2 if cost["fit"] > 0.1 else 4
                print(
                    f"| {name} | {X.shape[0]:,}, {Y.shape[1]:,} | {kind} | {p[0]:.3f} | {p[1]:.3f} "
                    f"| {p[2]:.3f} | {f:.3f} | {n:.3f} | {s:.3f} | {cost['fit']:.{digits}f} | "
                    f"{cost['predict'] / Z.shape[0] * 1e6:.0f} | {cost['size'] / 1e6:.2f} |",
                    flush=True,
                )


def ranked(labels, shape):
    """Return ranks of labels as sparse scores."""
    row, place = np.nonzero(labels >= 0)
    return sparse.csr_array((K - place.astype(float), (row, labels[row, place])), shape=shape)


def along_hierarchies(options):
    from sklearn.impute import SimpleImputer

    import palmette as pm
    from palmette.metrics import micro_auprc, ndcg_at_k

    print("| data | label tree AU(PRC) | nDCG@5 | fit CPU s |")
    print("|---|---|---|---|")
    for name in options.sets:
        bunch = pm.datasets.fetch(name)
        parts = [key for key in ("train", "valid") if f"X_{key}" in bunch]
        X = np.vstack([np.asarray(bunch[f"X_{key}"], dtype=float) for key in parts])
        y = [labels for key in parts for labels in bunch[f"y_{key}"]]
        Z, truth = np.asarray(bunch.X_test, dtype=float), list(bunch.y_test)
        if options.held_out:  # a third of the training rows in the place of the test rows
            fold = np.random.default_rng(0).permutation(len(y)) % 3
            Z, truth = X[fold == 0], [y[i] for i in np.flatnonzero(fold == 0)]
            X, y = X[fold > 0], [y[i] for i in np.flatnonzero(fold > 0)]
        fill = SimpleImputer(keep_empty_features=True).fit(X)
        start = time.process_time()
        model = pm.ClassTreeClassifier(bunch.hierarchy).fit(fill.transform(X), y)
        seconds = time.process_time() - start
        proba = model.predict_node_proba(fill.transform(Z))
        roots = [each for each in NAMESPACES if each in bunch.hierarchy]
        area = micro_auprc(truth, proba, hierarchy=bunch.hierarchy, exclude=roots)
        # labels as nodes, however they are written
        nodes, _ = model._top_k(fill.transform(Z), K)
        listed = pm.NodeLabels.encode(truth, bunch.hierarchy).given
        ndcg = ndcg_at_k(listed, ranked(nodes, listed.shape), k=K)
        print(f"| {name} | {area:.3f} | {ndcg:.3f} | {seconds:.1f} |", flush=True)


# ---------------------------------------------------------------------- thesauri


def read_graph(name):
    """Return the graph of a Turtle file, compressed or not, as rdflib reads it."""
    import rdflib

    content = Path(name).read_bytes()
    content = lzma.decompress(content) if str(name).endswith(".xz") else content
    return rdflib.Graph().parse(data=content, format="turtle")


def rows_of_labels(options):
    """Compare models with and without rows of labels by cross-validation."""
    from rdflib.namespace import SKOS
    from sklearn.feature_extraction.text import TfidfVectorizer

    import palmette as pm
    from palmette.metrics import ndcg_at_k, precision_at_k
    from palmette.table import label_rows

    warnings.simplefilter("ignore")
    graph, thesaurus = read_graph(options.thesaurus), pm.Hierarchy.read(options.thesaurus)
    print("| language | rows, labels | rows of labels | P@1 | P@5 | nDCG@5 | gain |")
    print("|---|---|---|---|---|---|---|")
    for language in options.languages:
        texts, y = [], []
        for concept, text in sorted(graph.subject_objects(SKOS.definition)):
            broader = {str(each) for each in graph.objects(concept, SKOS.broader)}
            broader = {name for name in broader if name in thesaurus}
            if text.language == language and broader:
                texts.append(str(text))
                y.append(broader)
        plain = None
        for kind in ("none", "labels with rows", "all concepts"):
            best, values = [], []
            for seed in range(options.repeats):
                fold = np.random.default_rng(seed).permutation(len(y)) % 5
                found = [None] * len(y)
                for k in range(5):
                    train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
                    rows, labels = [texts[i] for i in train], [y[i] for i in train]
                    if kind != "none":
                        seen = sorted(set().union(*labels)) if kind == "labels with rows" else None
                        more, names = label_rows(thesaurus, language, seen)
                        rows, labels = rows + more, labels + [{name} for name in names]
                    words = TfidfVectorizer(sublinear_tf=True).fit(rows)
                    model = pm.ClassTreeClassifier(pm.KMeansTree(), router="linear", n_jobs=1)
                    model.fit(words.transform(rows), labels)
                    answers = model.predict_top_k(words.transform([texts[i] for i in test]), K)[0]
                    for i, best_labels in zip(test, answers, strict=True):
                        found[i] = best_labels
                best.append((*precision_at_k(y, found, k=[1, 5]), ndcg_at_k(y, found, k=5)))
                values.append(
                    [ndcg_at_k(y[i : i + 1], found[i : i + 1], k=5) for i in range(len(y))]
                )
            values = np.mean(values, axis=0)
            plain = values if plain is None else plain
            gain, error = (values - plain).mean(), (values - plain).std() / len(y) ** 0.5
            p1, p5, ndcg = np.mean(best, axis=0)
            print(
                f"| {language} | {len(y)}, {len(set().union(*y))} | {kind} | {p1:.3f} | {p5:.3f} | "
                f"{ndcg:.3f} | {gain:+.3f} ({error:.3f}) |",
                flush=True,
            )


def vocabulary(options):
    """Print the counts of thesauri beside those of plain queries of rdflib."""
    import palmette as pm

    print("| thesaurus | count | Palmette | rdflib |")
    print("|---|---|---|---|")
    for name in options.thesaurus:
        counts = pm.Hierarchy.read(name).vocabulary.counts
        queried = query_counts(read_graph(name))
        for key, value in queried.items():
            print(f"| {Path(name).name} | {key.replace('_', ' ')} | {counts[key]:,} | {value:,} |")


def query_counts(graph):
    """Return the counts of concepts, top concepts, broader links and deprecated ones by SPARQL."""
    asked = {
        "concepts": "?c a skos:Concept",
        "deprecated": "?c a skos:Concept ; owl:deprecated true",
        "top_concepts": "?c a skos:Concept . { ?c skos:topConceptOf [] } UNION "
        "{ [] skos:hasTopConcept ?c }",
        "links": "{ ?c skos:broader ?b } UNION { ?b skos:narrower ?c }",
        "collections": "{ ?c a skos:Collection } UNION { ?c a skos:OrderedCollection }",
    }
    found = {}
    for key, pattern in asked.items():
        query = (
            "PREFIX skos: <http://www.w3.org/2004/02/skos/core#> "
            "PREFIX owl: <http://www.w3.org/2002/07/owl#> "
            f"SELECT DISTINCT ?c {'?b' if key == 'links' else ''} WHERE {{ {pattern} }}"
        )
        found[key] = len(list(graph.query(query)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sets = commands.add_parser("sets")
    sets.add_argument("--sets", nargs="+", default=["medical", "enron", "bibtex", "corel5k"])
    sets.add_argument("--models", nargs="*", default=list(OURS), choices=OURS)
    sets.add_argument("--napkinxc", help="an interpreter with napkinXC")
    sets.add_argument("--corpus", help="the table of questions")
    sets.add_argument("--rows", type=int, default=30_000)
    sets.add_argument("--labels", type=int, default=20_000)
    sets.add_argument("--repeats", type=int, default=1, help="fits of a model")
    sets.add_argument("--limit", type=float, default=3600.0, help="seconds of a model")
    cell = commands.add_parser("cell")
    cell.add_argument("--model", required=True)
    cell.add_argument("--folder", type=Path, required=True)
    cell.add_argument("--repeats", type=int, default=1)
    given = commands.add_parser("hierarchies")
    given.add_argument("--sets", nargs="+", default=["cellcycle_go", "cellcycle_fun"])
    given.add_argument("--held-out", action="store_true", help="a third of the training rows")
    rows = commands.add_parser("labels")
    rows.add_argument("--thesaurus", type=Path, required=True)
    rows.add_argument("--languages", nargs="+", default=["en", "es"])
    rows.add_argument("--repeats", type=int, default=2)
    counted = commands.add_parser("vocabulary")
    counted.add_argument("--thesaurus", nargs="+", required=True)
    options = parser.parse_args()
    if options.command == "cell":
        fit_and_rank(options.model, options.folder, options.repeats)
    elif options.command == "sets":
        compare(options)
    elif options.command == "labels":
        rows_of_labels(options)
    elif options.command == "vocabulary":
        vocabulary(options)
    else:
        along_hierarchies(options)


if __name__ == "__main__":
    main()
