"""Calibration before and after, and measured coverage of conformal answers, on real data.

    python benchmarks/bench_conformal.py [--sets clinc150 ...] [--seeds 5] [--parts calibration]

Calibration: models are fitted on the training part and judged on the test part, by the expected
calibration error of the most probable node at every level, log loss, and the Brier score summed
over nodes. Coverage: for every seed all rows are dealt anew, 70 % to `fit` and 30 % to the test;
an answer is right where the true label is at or below it, or in the set. `Confident(p)`, the plain
rule that stops where a node is less probable than p, makes no promise.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

import palmette as pm
from palmette.calibration import (
    CalibratedHierarchicalClassifier,
    ConformalHierarchicalClassifier,
)
from palmette.metrics import expected_calibration_error, level_confidences, likely_labels

METHODS = (None, "isotonic", "sigmoid", "temperature")
COVERAGES = (0.8, 0.9, 0.95)
ONE_PATH = ("clinc150", "imclef07a", "diatoms")
SEVERAL_PATHS = ("cellcycle_fun",)


class Problem(NamedTuple):
    """Rows and labels of both parts, and the model that is fitted on them."""

    X: Any
    y: Any
    n_train: int
    hierarchy: pm.Hierarchy
    model: Any


def read(name: str) -> Problem:
    bunch = pm.datasets.fetch(name)
    h = bunch.hierarchy
    if name in SEVERAL_PATHS:
        X = np.vstack([bunch.X_train, bunch.X_valid, bunch.X_test])
        y = [*bunch.y_train, *bunch.y_valid, *bunch.y_test]
        model = pm.CoherentForestClassifier(100, hierarchy=h, random_state=0)
        return Problem(X, y, len(y) - len(bunch.y_test), h, model)
    y = np.concatenate([bunch.y_train, bunch.y_test])
    if name == "clinc150":
        words = TfidfVectorizer(sublinear_tf=True).fit(bunch.X_train)
        X = words.transform([*bunch.X_train, *bunch.X_test])
        model = pm.LocalPerParentClassifier(LinearSVC(), hierarchy=h)
    else:
        X = np.vstack([bunch.X_train, bunch.X_test])
        model = pm.FlatClassifier(ExtraTreesClassifier(60, random_state=0), hierarchy=h)
    return Problem(X, y, len(bunch.y_train), h, model)


def take(y: Any, rows: np.ndarray) -> Any:
    return y[rows] if isinstance(y, np.ndarray) else [y[i] for i in rows]


# ---------------------------------------------------------------------- calibration


def node_proba(clf: Any, X: Any) -> np.ndarray:
    """Probabilities of nodes, or the shares that margins become."""
    if hasattr(clf, "predict_node_proba"):
        return clf.predict_node_proba(X)
    proba = np.zeros((X.shape[0], clf.hierarchy_.n_nodes))
    proba[:, clf.space_.nodes] = clf.space_.marginals(clf._class_proba_of(X)).T
    return proba


def judge(problem: Problem, proba: np.ndarray, y: Any) -> list[str]:
    """ECE by level, log loss of the labels or nodes, and the Brier score summed over nodes."""
    h, closed = problem.hierarchy, pm.NodeLabels.encode(y, problem.hierarchy)
    truth = closed.closed.toarray()
    if closed.is_single_path:
        levels = [expected_calibration_error(*a) for a in level_confidences_of(y, proba, h)]
        own = proba[np.arange(len(proba)), closed.terminals]
        loss = -np.log(np.maximum(own, 1e-12)).mean()
    else:  # every node is an answer of its own
        depths = range(1, h.max_depth + 1)
        levels = [
            expected_calibration_error(truth[:, at][likely], proba[:, at][likely])
            for at in (h.depth == d for d in depths)
            for likely in [likely_labels(proba[:, at])]
        ]
        likely = np.clip(np.where(truth, proba, 1 - proba)[:, 1:], 1e-12, 1)
        loss = -np.log(likely).sum(axis=1).mean()
    brier = ((proba - truth) ** 2).sum(axis=1).mean()
    return [" ".join(f"{value:.3f}" for value in levels), f"{loss:.3f}", f"{brier:.3f}"]


def level_confidences_of(y: Any, proba: np.ndarray, h: pm.Hierarchy) -> Any:
    return level_confidences(y, np.minimum(proba, 1.0), hierarchy=h).values()


def compare_methods(name: str) -> None:
    problem = read(name)
    train, test = np.split(np.arange(len(problem.y)), [problem.n_train])
    y_train, y_test = take(problem.y, train), take(problem.y, test)
    for method in METHODS:
        start = time.process_time()
        clf = problem.model
        if method is not None:
            clf = CalibratedHierarchicalClassifier(clf, method=method, random_state=0)
        clf.fit(problem.X[train], y_train)
        seconds = time.process_time() - start
        cells = judge(problem, node_proba(clf, problem.X[test]), y_test)
        print(f"| {name} | {method or 'none'} | {' | '.join(cells)} | {seconds:.0f} |", flush=True)


# ---------------------------------------------------------------------- coverage


class Tally:
    """Share of answers that were right and their mean size, for every way to answer."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, float], list[tuple[float, float]]] = {}

    def add(self, way: str, coverage: float, right: np.ndarray, size: np.ndarray) -> None:
        found = self.found.setdefault((way, coverage), [])
        found.append((float(np.mean(right)), float(np.mean(size))))

    def rows(self, name: str) -> None:
        for (way, coverage), values in self.found.items():
            (right, size), spread = np.mean(values, axis=0), np.std(values, axis=0)[0]
            print(f"| {name} | {way} | {coverage} | {right:.3f} ± {spread:.3f} | {size:.2f} |")


def holds(h: pm.Hierarchy, nodes: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Whether every true node is at or below an answer."""
    return (true >= nodes) & (true < h.subtree_end[nodes])


def measure_coverage(name: str, seeds: int) -> None:
    problem = read(name)
    h, true = problem.hierarchy, pm.NodeLabels.encode(problem.y, problem.hierarchy).terminals
    tally = Tally()
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(true))
        fitted, test = np.split(order, [int(0.7 * len(true))])
        X = sparse.csr_array(problem.X) if sparse.issparse(problem.X) else problem.X
        wrapped = CalibratedHierarchicalClassifier(problem.model, cv=3, random_state=seed)
        clf = ConformalHierarchicalClassifier(wrapped, random_state=seed)
        clf.fit(X[fitted], problem.y[fitted])
        for coverage in COVERAGES:
            nodes = clf.predict_node_numbers(X[test], coverage)
            tally.add("node", coverage, holds(h, nodes, true[test]), h.depth[nodes])
            rule = pm.decoding.Confident(coverage)
            nodes = clf.set_params(decoding=rule).predict_nodes(X[test])
            tally.add(
                "Confident(p), no promise", coverage, holds(h, nodes, true[test]), h.depth[nodes]
            )
            sets = clf.predict_set_nodes(X[test], coverage)
            inside = np.asarray(sets[np.arange(len(test)), true[test]]).ravel()
            tally.add("set", coverage, inside, np.diff(sets.indptr))
            cover = clf.predict_cover_nodes(X[test], coverage)
            tally.add("set as nodes", coverage, inside, np.diff(cover.indptr))
    tally.rows(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*ONE_PATH, *SEVERAL_PATHS])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--parts", nargs="+", default=["calibration", "coverage"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # classes without training rows
    if "calibration" in options.parts:
        print(
            "| set | method | ECE by level | log loss | Brier | CPU s |\n|---|---|---|---|---|---|"
        )
        for name in options.sets:
            compare_methods(name)
    if "coverage" in options.parts:
        print("\n| set | answer | asked | held | mean depth or size |\n|---|---|---|---|---|")
        for name in options.sets:
            if name in ONE_PATH:
                measure_coverage(name, options.seeds)


if __name__ == "__main__":
    main()
