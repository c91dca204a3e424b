"""The boosting family: accuracy beside forests and LightGBM, speed beside a literal version.

    pip install '.[bench]'
    python benchmarks/bench_boosting.py accuracy --sets imclef07a imclef07d diatoms
    python benchmarks/bench_boosting.py speed
    python benchmarks/bench_boosting.py weights --sets imclef07d diatoms --rounds 60
    OMP_NUM_THREADS=1 python benchmarks/bench_boosting.py threads --jobs 1 2 4 8 16
    OMP_NUM_THREADS=1 python benchmarks/bench_boosting.py threads --rows 1000000 --rounds 20

`accuracy` prints the hierarchical F1 by path on the published test rows and CPU seconds; every
setting was chosen on training rows. `speed` boosts stumps in the collapsed space of imclef07a,
where a symbol is one class under whatever parent it stands, and prints seconds a round beside those
of a literal version in numpy that searches every threshold of every feature for every class.
`weights` prints the accuracy with sample weights of several scales.
`threads` fits HierarchicalBoostingClassifier on made-up data, by default 200,000 rows of 50
features and 100 labels, 40 rounds, with several numbers of threads in turn. It prints seconds and
CPU seconds of a fit, milliseconds of a round, and the digest of the trees and of the probabilities
of some rows, which must be the same for any number of threads; LightGBM joins by `--rival`.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import palmette as pm
from palmette.boosting import _base
from palmette.boosting._boost import boost
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


def made_up(n_rows, n_features, n_labels, seed=0):
    """Return rows and labels, each label the largest of noisy linear functions of the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    directions = rng.normal(size=(min(20, n_features), n_labels)).astype(np.float32)
    y = np.empty(n_rows, dtype=np.int64)
    for start in range(0, n_rows, 10_000):
        part = X[start : start + 10_000, : len(directions)] @ directions
        part += rng.normal(size=part.shape)
        y[start : start + 10_000] = part.argmax(axis=1)
    return X, y


def digest_of(model, X):
    """Return a hash of the trees of a model and of its probabilities for some rows."""
    found = hashlib.sha256()
    for each in model.rounds_:
        for part in getattr(each, "parts", (each,)):
            for array in (part.features, part.cuts, part.values, part.cover):
                found.update(array.tobytes())
    found.update(model.predict_proba(X[:1000]).tobytes())
    return found.hexdigest()[:16]


def timed_rounds(times, *given):
    """Yield the rounds of boosting, and note when the first began and when each ended."""
    times.append(time.perf_counter())
    for each in boost(*given):
        times.append(time.perf_counter())
        yield each


def threads(options):
    shape = options.rows, options.features, options.labels
    X, y = made_up(*shape)
    kwargs = {"n_bags": 1, "loss": options.loss, "random_state": 0}
    boosting = pm.HierarchicalBoostingClassifier
    small = min(len(X), 70_000)
    boosting(n_estimators=2, n_jobs=2, **kwargs).fit(X[:small], y[:small])  # compiles
    rounds = options.rounds
    print(f"{shape[0]:,} x {shape[1]}, {shape[2]} labels, {rounds} rounds, {options.loss}\n")
    print("| n_jobs | fit, s | CPU s | before the rounds, s | ms per round | times | digest |")
    print("|---|---|---|---|---|---|---|")
    first = None
    for n_jobs in options.jobs:
        model = boosting(n_estimators=rounds, n_jobs=n_jobs, **kwargs)
        runs = []
        for _ in range(options.repeats):
            times = []
            start, cpu = time.perf_counter(), time.process_time()
            with mock.patch.object(_base, "boost", lambda *given, t=times: timed_rounds(t, *given)):
                model.fit(X, y)
            whole, cpu = time.perf_counter() - start, time.process_time() - cpu
            runs.append((whole, cpu, times[0] - start, (times[-1] - times[0]) / rounds))
        whole, cpu, before, per_round = min(runs)
        first = first or per_round
        print(
            f"| {n_jobs} | {whole:.2f} | {cpu:.2f} | {before:.2f} | {1000 * per_round:.1f} "
            f"| {first / per_round:.1f} | {digest_of(model, X)} |",
            flush=True,
        )
    if options.rival:
        from lightgbm import LGBMClassifier

        for n_jobs in options.jobs:
            start = time.perf_counter()
            LGBMClassifier(n_estimators=rounds, n_jobs=n_jobs, verbose=-1).fit(X, y)
            print(f"LightGBM, {n_jobs} threads: {time.perf_counter() - start:.1f} s", flush=True)


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
    parser.add_argument("what", choices=["accuracy", "speed", "weights", "threads"])
    parser.add_argument("--sets", nargs="+", default=["imclef07a", "imclef07d", "diatoms"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="600 by default, 40 for threads")
    parser.add_argument("--rows", type=int, default=200_000, help="of threads, like what follows")
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--loss", default="leaf_softmax")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--repeats", type=int, default=2, help="the fastest fit is shown")
    parser.add_argument("--rival", action="store_true", help="LightGBM too")
    parser.add_argument("--without", nargs="*", default=[], help="words in the names of models")
    options = parser.parse_args()
    options.rounds = options.rounds or (40 if options.what == "threads" else 600)
    warnings.simplefilter("ignore")  # classes without training rows
    print(environment(), end="\n\n")
    if options.what == "accuracy":
        accuracy(options.sets, options.seeds, options.without)
    elif options.what == "weights":
        weights(options.sets, options.rounds)
    elif options.what == "threads":
        threads(options)
    else:
        speed(options.rounds)


if __name__ == "__main__":
    main()
