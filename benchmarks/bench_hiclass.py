"""Palmette's local classifiers beside HiClass 5.0.8: hierarchical F1 by path, CPU seconds.

    pip install '.[bench]'
    python benchmarks/bench_hiclass.py accuracy --sets imclef07a,imclef07d,diatoms
    python benchmarks/bench_hiclass.py scale --leaves 5000 --rows 50000

Both get the same estimators with the same seeds, the same training rows and the same test rows, in
one process with one job. `accuracy` needs the data home (PALMETTE_DATA). Ours is scored with three
decision rules: the most probable label, top-down as HiClass decides, and the best expected F1, our
default.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import pairwise

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import palmette as pm
from palmette.compare import environment
from palmette.metrics import hierarchical_f1_score

RULES = {
    "best path": "best_path",
    "top-down": "top_down",
    "expected F1": pm.decoding.MinExpectedLoss("hierarchical_f1", "classes"),
}
STRUCTURES = {
    "per parent": (pm.LocalPerParentClassifier, "LocalClassifierPerParentNode"),
    "per node": (pm.LocalPerNodeClassifier, "LocalClassifierPerNode"),
    "per level": (pm.LocalPerLevelClassifier, "LocalClassifierPerLevel"),
    "flat": (pm.FlatClassifier, "FlatClassifier"),
}


def hiclass_model(name, estimator):
    import hiclass

    jobs = {} if name == "FlatClassifier" else {"n_jobs": 1}
    return getattr(hiclass, name)(local_classifier=estimator, **jobs)


def padded_paths(labels, hierarchy):
    """HiClass takes paths as a table padded with empty strings."""
    nodes = hierarchy.index(list(labels))
    table = np.full((len(nodes), hierarchy.max_depth), "", dtype=object)
    for i, node in enumerate(nodes):
        path = [str(name) for name in hierarchy.path(int(node))]
        table[i, : len(path)] = path
    return table


def cpu_seconds(function, *arguments):
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def score_of_paths(truth, predicted, hierarchy):
    """HiClass may answer paths that are not in the hierarchy: they are scored as what they are."""
    paths = [
        tuple(name for name in row if name != "") for row in np.asarray(predicted, dtype=object)
    ]
    actual = [tuple(name for name in row if name != "") for row in truth]
    union = pm.Hierarchy.from_paths([*map(hierarchy.path, hierarchy.leaves), *actual, *paths])
    return hierarchical_f1_score(actual, paths, hierarchy=union)


def accuracy(sets, bases, seed):
    estimators = {
        "LR": LogisticRegression(max_iter=1000),
        "RF": RandomForestClassifier(100, random_state=seed),
    }
    print(f"| set | estimator | structure | {' | '.join(RULES)} | HiClass | fit s | HiClass |")
    print("|---" * (6 + len(RULES)) + "|", flush=True)
    for name in sets:
        data = pm.datasets.fetch(name)
        h = data.hierarchy
        scaler = StandardScaler().fit(data.X_train)
        train_paths, test_paths = padded_paths(data.y_train, h), padded_paths(data.y_test, h)
        for base in bases:
            X, Xt = data.X_train, data.X_test
            if base == "LR":
                X, Xt = scaler.transform(X), scaler.transform(Xt)
            for structure, (ours, theirs) in STRUCTURES.items():
                model = ours(clone(estimators[base]), hierarchy=h)
                fit_s = cpu_seconds(model.fit, X, data.y_train)
                scores = []
                for rule in RULES.values():
                    answers = model.set_params(decoding=rule).predict(Xt)
                    scores.append(hierarchical_f1_score(data.y_test, answers, hierarchy=h))
                peer = hiclass_model(theirs, clone(estimators[base]))
                try:
                    peer_s = cpu_seconds(peer.fit, X, train_paths)
                    peer_score = f"{score_of_paths(test_paths, peer.predict(Xt), h):.3f}"
                except Exception as error:
                    peer_s, peer_score = float("nan"), f"fails: {type(error).__name__}"
                cells = " | ".join(f"{s:.3f}" for s in scores)
                print(
                    f"| {name} | {base} | {structure} | {cells} | {peer_score} | {fit_s:.1f} | "
                    f"{peer_s:.1f} |",
                    flush=True,
                )


def plain_loop(X, levels):
    """The floor: integer codes, a loop over parents, nothing else."""
    models = [GaussianNB().fit(X, levels[0])]
    for above, below in pairwise(levels):
        order = np.argsort(above, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(above[order])) + 1):
            models.append(GaussianNB().fit(X[rows], below[rows]))
    return models


def scale(n_leaves, n_rows, n_features, seed, repeats):
    rng = np.random.default_rng(seed)
    leaf = np.r_[np.arange(n_leaves), rng.integers(0, n_leaves, n_rows - n_leaves)]
    levels = [leaf // max(n_leaves // 10, 1), leaf // 20, leaf]
    y = np.column_stack(
        [np.char.add(f"{p}-", c.astype(str)) for p, c in zip("abc", levels, strict=True)]
    )
    X = rng.normal(size=(n_rows, n_features)) + rng.normal(size=(n_leaves, n_features))[leaf]
    floor = min(cpu_seconds(plain_loop, X, levels) for _ in range(repeats))
    ours = min(
        cpu_seconds(pm.LocalPerParentClassifier(GaussianNB()).fit, X, y) for _ in range(repeats)
    )
    peer = hiclass_model("LocalClassifierPerParentNode", GaussianNB())
    theirs = cpu_seconds(peer.fit, X, y)
    print(
        f"{n_leaves} leaves, {n_rows} rows, {n_features} features, GaussianNB per parent, fit CPU s"
    )
    print("| plain loop | palmette | HiClass |")
    print("|---|---|---|")
    print(
        f"| {floor:.2f} | {ours:.2f} ({ours / floor:.1f}x) | {theirs:.2f} ({theirs / floor:.1f}x) |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["accuracy", "scale"])
    parser.add_argument("--sets", default="imclef07a,imclef07d,diatoms")
    parser.add_argument("--estimators", default="RF,LR")
    parser.add_argument("--leaves", type=int, default=5000)
    parser.add_argument("--rows", type=int, default=50000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(environment())
    if options.part == "accuracy":
        accuracy(options.sets.split(","), options.estimators.split(","), options.seed)
    else:
        scale(options.leaves, options.rows, options.features, options.seed, options.repeats)


if __name__ == "__main__":
    main()
