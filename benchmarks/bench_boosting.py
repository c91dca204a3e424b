"""The boosting family: accuracy beside forests and LightGBM, speed beside a literal version.

    pip install '.[bench]'
    python benchmarks/bench_boosting.py accuracy --sets imclef07a imclef07d diatoms
    python benchmarks/bench_boosting.py speed
    python benchmarks/bench_boosting.py weights --sets imclef07d diatoms --rounds 60

`accuracy` prints the hierarchical F1 by path on the published test rows and CPU seconds; every
setting was chosen on training rows. `speed` boosts stumps in the collapsed space of imclef07a,
where a symbol is one class under whatever parent it stands, and prints seconds a round beside those
of a literal version in numpy that searches every threshold of every feature for every class.
`weights` prints the accuracy with sample weights of several scales.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import palmette as pm
from palmette.compare import environment
from palmette.metrics import hierarchical_f1_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where papers/ is
from papers.h_ada_mh.scoring import CollapsedSpace, paths_of

AUTHORS_ROUND = 16.7  # seconds a round of the authors' script, 26 classes, a Neoverse-N1 core


def lightgbm(seed):
    from lightgbm import LGBMClassifier

    # with its own least rows of a leaf, 20, it diverges on sets with rare classes
    return LGBMClassifier(
        n_estimators=200,
        learning_rate=0.05,
        num_leaves=15,
        min_child_samples=5,
        min_child_weight=0.01,
        n_jobs=1,
        random_state=seed,
        verbose=-1,
    )


def models(hierarchy, seed):
    boosting = pm.HierarchicalBoostingClassifier
    flat = pm.FlatClassifier
    yield "HierarchicalBoostingClassifier()", boosting(hierarchy, random_state=seed)
    yield '... loss="path_softmax"', boosting(hierarchy, loss="path_softmax", random_state=seed)
    yield (
        '... preset("accurate")',
        boosting.preset("accurate", hierarchy=hierarchy, random_state=seed),
    )
    yield (
        "HierarchicalAdaBoostClassifier()",
        pm.HierarchicalAdaBoostClassifier(hierarchy, random_state=seed),
    )
    for name, estimator in (
        ("RandomForest(500), flat", RandomForestClassifier(500, random_state=seed)),
        ("ExtraTrees(500), flat", ExtraTreesClassifier(500, random_state=seed)),
        ("LightGBM(200), flat", lightgbm(seed)),
    ):
        yield name, flat(estimator, hierarchy=hierarchy, decoding="best_path")


def accuracy(sets, seeds, without):
    print("| set | model | H-F by seed | mean | fit s | predict s |\n|---|---|---|---|---|---|")
    for name in sets:
        bunch = pm.datasets.fetch(name)
        rows = {}
        for seed in range(seeds):
            for label, model in models(bunch.hierarchy, seed):
                if any(word in label for word in without):
                    continue
                start = time.process_time()
                model.fit(bunch.X_train, bunch.y_train)
                fitted = time.process_time()
                predicted = model.predict(bunch.X_test)
                done = time.process_time()
                score = hierarchical_f1_score(bunch.y_test, predicted, hierarchy=bunch.hierarchy)
                rows.setdefault(label, []).append((score, fitted - start, done - fitted))
        for label, runs in rows.items():
            scores, fit, predict = np.transpose(runs)
            each = " ".join(f"{score:.3f}" for score in scores)
            print(
                f"| {name} | {label} | {each} | {scores.mean():.3f} | {fit.mean():.1f} "
                f"| {predict.mean():.2f} |",
                flush=True,
            )


def weights(sets, rounds):
    print("| set | model | no weights | 1 | 1/n | 1/n² | 1e6 | u | u/n | u/n² | 1e6 u |")
    print("|" + "---|" * 11)
    for name in sets:
        bunch = pm.datasets.fetch(name)
        n = len(bunch.y_train)
        u = np.random.default_rng(0).random(n) + 0.5
        scales = (1.0, 1 / n, 1 / n**2, 1e6)
        given = [None, *(np.full(n, scale) for scale in scales), *(scale * u for scale in scales)]
        for label, model in (
            (
                f"HierarchicalBoostingClassifier(n_estimators={rounds})",
                pm.HierarchicalBoostingClassifier(
                    bunch.hierarchy, n_estimators=rounds, random_state=0
                ),
            ),
            (
                "ClassTreeClassifier(router='linear')",
                pm.ClassTreeClassifier(bunch.hierarchy, router="linear", standardize=False),
            ),
        ):
            scores = [
                model.fit(bunch.X_train, bunch.y_train, sample_weight=each).score(
                    bunch.X_test, bunch.y_test
                )
                for each in given
            ]
            print(f"| {name} | {label} |", *(f"{s:.3f} |" for s in scores), flush=True)


def literal_round(X, signed):
    """Search one stump for every class the slow way: every threshold of every feature."""
    best = np.zeros(signed.shape[1])
    for feature in X.T:
        for threshold in np.unique(feature):
            side = np.where(feature <= threshold, 1.0, -1.0)
            for k in range(signed.shape[1]):
                best[k] = max(best[k], abs(side @ signed[:, k]))
    return best


def speed(rounds):
    bunch = pm.datasets.fetch("imclef07a")
    paths = paths_of(bunch.y_train, bunch.hierarchy)
    Y = CollapsedSpace(paths).indicator(paths)
    X = np.asarray(bunch.X_train)
    pm.AdaBoostMHClassifier(n_estimators=2).fit(X, Y)  # compiles
    start = time.process_time()
    clf = pm.AdaBoostMHClassifier(n_estimators=rounds).fit(X, Y)
    ours = (time.process_time() - start) / len(clf.rounds_)
    signed = np.where(Y, 1.0, -1.0) / Y.size
    start = time.process_time()
    literal_round(X, signed)
    literal = time.process_time() - start
    start = time.process_time()
    clf.predict(bunch.X_test)
    predict = time.process_time() - start
    size = f"{Y.shape[1]} classes, {len(X):,} rows, {len(clf.rounds_)} rounds"
    print(f"| {size} | s per round | ratio |")
    print("|---|---|---|")
    print(f"| palmette, one thread, all of fit | {ours:.4f} | 1 |")
    print(f"| literal search in numpy, one round | {literal:.2f} | {literal / ours:,.0f} |")
    quoted = AUTHORS_ROUND / ours
    print(f"| authors' script (quoted, not run here) | {AUTHORS_ROUND} | {quoted:,.0f} |")
    print(f"\nPredicting {len(bunch.X_test):,} rows: {predict:.2f} s.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["accuracy", "speed", "weights"])
    parser.add_argument("--sets", nargs="+", default=["imclef07a", "imclef07d", "diatoms"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=600)
    parser.add_argument("--without", nargs="*", default=[], help="words in the names of models")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # classes without training rows
    print(environment(), end="\n\n")
    if options.what == "accuracy":
        accuracy(options.sets, options.seeds, options.without)
    elif options.what == "weights":
        weights(options.sets, options.rounds)
    else:
        speed(options.rounds)


if __name__ == "__main__":
    main()
