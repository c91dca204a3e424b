"""One method on one data set: predictions, seconds, dot products, and the tree."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import take_rows
from palmette.class_tree._routing import Routes
from palmette.compare import Problem, measure
from palmette.hierarchy._hierarchy import Hierarchy
from papers.cells import Options
from papers.mf_tree.methods import Method

__all__ = ["CountedRoutes", "Results", "count_dot_products", "work"]

Results = dict[str, Any]

_REPEATS = 3  # number of timed predictions, of which the fastest counts
_LONG = 1.0  # seconds of a prediction that is not repeated: its time is hardly noise
_WARM_ROWS = 20  # that are predicted first: kernels may have to be compiled
_WARM_CLASSES, _WARM_EACH = 5, 8  # classes, and rows of each, that are learned first


def work(method: Method, problem: Problem, options: Options) -> Results:
    """Fit a method on the training rows and let it answer for the test rows.

    Parameters
    ----------
    method : Method
    problem : Problem
    options : Options

    Returns
    -------
    dict
        ``edges`` of the tree, by names; ``tree_s`` and ``fit_s``, CPU seconds, the former part of
        the latter; ``depth``; and ``answers``, by their words: ``predicted``, places in the sorted
        labels of the training rows; ``us`` and ``dots``, CPU microseconds and dot products per row.
    """
    X, y = problem.X_train, problem.y_train
    _warm_up(method, X, y, options)
    tree, tree_s = None, None
    found: Results = {"edges": None, "tree_s": None, "fit_s": None, "depth": None, "answers": {}}
    if method.grow is not None:
        learner = method.grow(options)
        with measure() as usage:
            learner.fit(X, y)
        tree, tree_s = learner.hierarchy_, usage.cpu_seconds
        found.update(edges=_edges(tree), tree_s=tree_s, fit_s=tree_s, depth=int(tree.max_depth))
    if method.make is None:
        return found
    classifier = method.make(tree, options)
    with measure() as usage:
        classifier.fit(X, y)
    own = getattr(classifier, "hierarchy_learner_", None)
    if tree is None and own is not None:
        tree = classifier.hierarchy_
        found["edges"] = _edges(tree)
    found["fit_s"] = usage.cpu_seconds + (tree_s or 0.0)
    found["depth"] = _depth(classifier, tree)
    for words, parameters in method.answers.items():
        classifier.set_params(**parameters)
        found["answers"][words] = _answer(classifier, problem)
    return found


def _warm_up(method: Method, X: Any, y: NDArray[np.object_], options: Options) -> None:
    """Fit a method to some rows of the largest classes: what it has to compile is no part of it."""
    names, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    largest = np.argsort(-sizes, kind="stable")[:_WARM_CLASSES]
    rows = np.concatenate([np.flatnonzero(codes == code)[:_WARM_EACH] for code in largest])
    some, labels = take_rows(X, rows), names[codes[rows]]
    tree = None
    if method.grow is not None:
        tree = method.grow(options).fit(some, labels).hierarchy_
    if method.make is not None:
        method.make(tree, options).fit(some, labels)


def _edges(tree: Hierarchy) -> list[list[str]]:
    names = [str(name) for name in tree.names]
    return [[names[parent], names[child]] for parent, child in tree.edges.tolist()]


def _depth(classifier: Any, tree: Hierarchy | None) -> int:
    """Most decisions for a row: the depth of the tree or of the decision DAG, 1 without either."""
    if hasattr(classifier, "depth_"):
        return int(classifier.depth_)
    if tree is not None:
        return int(tree.max_depth)
    return len(classifier.classes_) - 1 if hasattr(classifier, "options_") else 1


def _answer(classifier: Any, problem: Problem) -> Results:
    X = problem.X_test
    classifier.predict(take_rows(X, slice(0, _WARM_ROWS)))
    seconds = []
    for _ in range(_REPEATS):
        start = time.process_time()
        predicted = classifier.predict(X)
        seconds.append(time.process_time() - start)
        if seconds[-1] > _LONG:
            break
    places = np.searchsorted(np.unique(problem.y_train), np.asarray(predicted))
    return {
        "predicted": places.tolist(),
        "us": 1e6 * min(seconds) / len(predicted),
        "dots": count_dot_products(classifier, X),
    }


# ---------------------------------------------------------------------- dot products


class CountedRoutes(Routes):
    """Routes that count the dot products they take.

    Parameters
    ----------
    routes : LinearRoutes
    """

    def __init__(self, routes: Any) -> None:
        self.routes = routes
        self.per_node = np.diff(routes.first_lane)  # classifiers of a node: one dot product each
        self.n_products = 0

    @property
    def are_log_proba(self) -> bool:  # type: ignore[override]
        """As of the routes that are counted."""
        return bool(self.routes.are_log_proba)

    def prepare(self, X: Any) -> Any:
        """Read rows; see `Routes.prepare`."""
        return self.routes.prepare(X)

    def score(
        self, X: Any, rows: NDArray[np.int64], nodes: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Score the options of nodes and count; see `Routes.score`."""
        self.n_products += int(self.per_node[nodes].sum())
        return np.asarray(self.routes.score(X, rows, nodes, starts))


def count_dot_products(classifier: Any, X: Any) -> float:
    """Return how many dot products of a row with weights a prediction takes, on average.

    Parameters
    ----------
    classifier : fitted classifier
        With linear routes, or linear itself: then it takes one for every class.
    X : rows

    Returns
    -------
    float
    """
    if hasattr(classifier, "count_products"):
        return float(classifier.count_products(X))
    if not hasattr(classifier, "routes_"):
        return float(len(classifier.classes_))
    routes = classifier.routes_
    classifier.routes_ = counted = CountedRoutes(routes)
    try:
        n_rows = len(classifier.predict(X))
    finally:
        classifier.routes_ = routes
    return counted.n_products / n_rows
