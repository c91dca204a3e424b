"""Structured forests beside multi-output extremely randomized trees: accuracy, CPU time, speed.

    python benchmarks/bench_structured_forest.py accuracy --sets emotions yeast --splits 3
    python benchmarks/bench_structured_forest.py speed --set yeast
    python benchmarks/bench_structured_forest.py threads --jobs 16

The data sets are found through the environment variable PALMETTE_DATA. All forests have 200 trees,
and thresholds tuned on out-of-bag scores: by default for ours ("ours, f1": the best F1 of each
label), the best F1 of each label for the trees, and one threshold with the best micro F1 for all
labels ("trees, one"). A label needs 20 positives and at most 50 rows without it for one with it;
`--all-labels` keeps every label with a row. `accuracy` prints macro F1, micro F1, predicted labels
per true one and macro AUC, means over random even splits, and CPU seconds of fitting. `speed`
prints the ratio of these seconds, the time of two workers beside one, and rows a second of
predicting. `threads` fits both to 40,000 made-up rows of 60 features and 36 labels with several
threads, and prints seconds of fitting, CPU seconds, seconds for the predictions of 10,000 rows and
the peak memory of the process so far. Run it with OMP_NUM_THREADS=1 on a quiet machine.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import f1_score, roc_auc_score

from palmette.datasets import fetch
from palmette.forest import StructuredForestClassifier

SETS = ("emotions", "cal500", "medical", "yeast", "scene", "enron", "corel5k")
NOMINAL = {"medical", "enron"}  # features of too few rows go


def dense(table):
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


def load(name, all_labels=False):
    """Features and labels of all rows, as the published tables keep them."""
    bunch = fetch(name)
    parts = [part for part in ("X", "X_train", "X_test") if bunch.get(part) is not None]
    X = np.vstack([dense(bunch[part]).astype(np.float32) for part in parts])
    Y = np.vstack([dense(bunch[part.replace("X", "y")]).astype(bool) for part in parts])
    n_positive = Y.sum(axis=0)
    if all_labels:
        return X, Y[:, n_positive > 0]
    rarer = np.minimum(n_positive, len(Y) - n_positive)
    Y = Y[:, (n_positive >= 20) & (len(Y) - rarer <= 50 * rarer)]
    return (X[:, (X != 0).mean(axis=0) >= 0.01] if name in NOMINAL else X), Y


def even_split(X, Y, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 :]
    return X[train], Y[train], X[test], Y[test]


def best_thresholds(scores, Y):
    """Thresholds of the best F1, one a label; one half where a label has one value only."""
    thresholds = np.full(Y.shape[1], 0.5)
    for label in range(Y.shape[1]):
        order = np.argsort(-scores[:, label])
        ranked, hits = scores[order, label], np.cumsum(Y[order, label])
        if 0 < hits[-1] < len(Y):
            f1 = 2 * hits / (np.arange(1, len(Y) + 1) + hits[-1])
            f1[:-1][ranked[1:] == ranked[:-1]] = 0
            best = f1.argmax()
            thresholds[label] = ranked[best : best + 2].mean()
    return thresholds


def common_threshold(scores, Y):
    """The threshold of the best micro F1, for all labels."""
    order = np.argsort(-scores, axis=None)
    ranked, hits = scores.ravel()[order], np.cumsum(Y.ravel()[order])
    f1 = 2 * hits / (np.arange(1, Y.size + 1) + hits[-1])
    f1[:-1][ranked[1:] == ranked[:-1]] = 0
    best = f1.argmax()
    return np.full(Y.shape[1], ranked[best : best + 2].mean())


class Trees:
    """Extremely randomized trees for all labels at once, with out-of-bag thresholds."""

    def __init__(self, seed, rule=best_thresholds):
        self.forest, self.rule = ExtraTreesClassifier(200, bootstrap=True, random_state=seed), rule

    def fit(self, X, Y):
        self.forest.fit(X, Y.astype(int))
        return self

    def tune(self, X, Y):
        votes, n_votes = np.zeros(Y.shape), np.zeros((len(Y), 1))
        for tree, rows in zip(
            self.forest.estimators_, self.forest.estimators_samples_, strict=True
        ):
            out = np.setdiff1d(np.arange(len(Y)), rows)
            votes[out] += tree.tree_.predict(X[out]).reshape(len(out), Y.shape[1], -1)[:, :, -1]
            n_votes[out] += 1
        self.thresholds = self.rule(votes / np.maximum(n_votes, 1), Y)

    def scores(self, X):
        columns = self.forest.predict_proba(X)
        return np.column_stack([c[:, 1] if c.shape[1] == 2 else 0 * c[:, 0] for c in columns])

    def answers(self, X):
        return self.scores(X) >= self.thresholds


class Ours:
    """The estimator with its defaults; its thresholds are part of fitting."""

    def __init__(self, seed, n_jobs=None, **changes):
        self.forest = StructuredForestClassifier(random_state=seed, n_jobs=n_jobs, **changes)

    def fit(self, X, Y):
        self.forest.fit(X, Y.astype(int))
        return self

    def tune(self, X, Y):
        pass

    def scores(self, X):
        return self.forest.predict_proba(X)

    def answers(self, X):
        return self.forest.predict(X).astype(bool)


def fit_seconds(model, X, Y, clock=time.process_time):
    begun = clock()
    model.fit(X, Y)
    return clock() - begun


FORESTS = {
    "trees": Trees,
    "trees, one": lambda seed: Trees(seed, common_threshold),
    "ours, f1": lambda seed: Ours(seed, decoding="f1"),
    "ours": Ours,
}


def accuracy(arguments):
    warm_up(arguments.sets[0])
    head = f"{'macro F':>9}{'micro F':>9}{'labels':>8}{'AUC':>8}{'CPU s':>9}"
    print(f"{'set':10}{'forest':12}{head}")
    for name in arguments.sets:
        X, Y = load(name, arguments.all_labels)
        for label, kind in FORESTS.items():
            seeds = range(arguments.splits)
            rows = [scores_of(kind(seed), *even_split(X, Y, seed)) for seed in seeds]
            macro, micro, labels, auc, seconds = np.mean(rows, axis=0)
            figures = f"{macro:9.3f}{micro:9.3f}{labels:8.2f}{auc:8.3f}{seconds:9.2f}"
            print(f"{name:10}{label:12}{figures}", flush=True)


def scores_of(model, X_train, Y_train, X_test, Y_test):
    """Macro F1, micro F1, predicted labels per true one, macro AUC, CPU seconds of fitting."""
    varying = Y_train.any(axis=0) & ~Y_train.all(axis=0) & Y_test.any(axis=0)
    Y_train, Y_test = Y_train[:, varying], Y_test[:, varying]
    seconds = fit_seconds(model, X_train, Y_train)
    model.tune(X_train, Y_train)
    answers = model.answers(X_test)
    macro, micro = (
        f1_score(Y_test, answers, average=each, zero_division=0) for each in ("macro", "micro")
    )
    both = ~Y_test.all(axis=0)
    auc = roc_auc_score(Y_test[:, both], model.scores(X_test)[:, both])
    return macro, micro, answers.sum() / Y_test.sum(), auc, seconds


def warm_up(name):
    """Compile, or read what was compiled."""
    X, Y = load(name)
    model = Ours(0).fit(X[:100], Y[:100])
    model.answers(X[:10])


def speed(arguments):
    warm_up(arguments.set)
    X_train, Y_train, X_test, _ = even_split(*load(arguments.set), 0)
    turns = range(arguments.repeats)  # in turns, so that both meet the same noise
    pairs = [
        (fit_seconds(Trees(k), X_train, Y_train), fit_seconds(Ours(k), X_train, Y_train))
        for k in turns
    ]
    trees, ours = np.min(pairs, axis=0)
    print(f"fit, CPU s: trees {trees:.2f}, ours {ours:.2f}, ratio {ours / trees:.2f}")
    one, two = (
        min(fit_seconds(Ours(k, n), X_train, Y_train, time.perf_counter) for k in turns)
        for n in (1, 2)
    )
    print(f"fit, seconds: one worker {one:.2f}, two {two:.2f}, {one / two:.2f} times as quick")
    for label, model in (
        ("trees", Trees(0).fit(X_train, Y_train)),
        ("ours", Ours(0).fit(X_train, Y_train)),
    ):
        many = np.concatenate([X_test] * 4)
        begun = time.process_time()
        model.scores(many)
        print(
            f"predict, {label}: {len(many) / (time.process_time() - begun):.0f} rows a CPU second"
        )


def threads(arguments):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.rows, 60)).astype(np.float32)
    noise = 0.6 * rng.normal(size=(arguments.rows, 36))
    Y = (X @ rng.normal(size=(60, 36)) / 7.7 + noise > 1.2).astype(int)
    StructuredForestClassifier(n_estimators=4, n_jobs=2, random_state=0).fit(X[:500], Y[:500])
    options = {"n_estimators": 200, "n_jobs": arguments.jobs, "random_state": 0}
    for model in (StructuredForestClassifier(**options), ExtraTreesClassifier(**options)):
        begun, cpu = time.perf_counter(), time.process_time()
        model.fit(X, Y)
        fitted, cpu = time.perf_counter() - begun, time.process_time() - cpu
        begun = time.perf_counter()
        model.predict_proba(X[:10_000])
        predicted = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{type(model).__name__}, {arguments.jobs} threads: {fitted:.1f} s, {cpu:.1f} CPU s, "
            f"predictions {predicted:.2f} s, {peak:.1f} GiB",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    sub = commands.add_parser("accuracy")
    sub.add_argument("--sets", nargs="+", default=SETS)
    sub.add_argument("--splits", type=int, default=3)
    sub.add_argument("--all-labels", action="store_true")
    sub.set_defaults(run=accuracy)
    sub = commands.add_parser("speed")
    sub.add_argument("--set", default="yeast")
    sub.add_argument("--repeats", type=int, default=3)
    sub.set_defaults(run=speed)
    sub = commands.add_parser("threads")
    sub.add_argument("--jobs", type=int, default=2)
    sub.add_argument("--rows", type=int, default=40_000)
    sub.set_defaults(run=threads)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
