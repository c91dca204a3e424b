"""Fit all methods on a data set, and keep what they predicted and grew."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import take_rows
from palmette.class_tree._routing import Routes
from palmette.compare import Problem, describe_estimator, fingerprint, measure
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import clade_purity, tree_hsic, tree_mse, triplet_accuracy
from papers.cells import Cells
from papers.mf_tree.methods import Method, Options, has_taxonomy

__all__ = [
    "Answer",
    "CountedRoutes",
    "Grown",
    "Outcome",
    "count_dot_products",
    "find_outcome",
    "work",
]

# ---------------------------------------- one method: predictions, seconds, dot products, the tree


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


# ---------------------------------------------------------------------- all methods


@dataclass(frozen=True)
class Answer:
    """What a method answered for the test rows, and what that took.

    Parameters
    ----------
    method : str
        Its key.
    way : str
        Such as "greedy"; empty where there is one way only.
    accuracy : float
        Equal to micro-averaged F1, as every row has one class.
    macro_f1 : float
        Mean F1 of the classes of the test rows.
    us : float
        CPU microseconds per row.
    dots : float
        Dot products per row.
    depth : int
    fit_s : float
        CPU seconds of the tree and the classifiers.
    f1_interval : tuple of 2 floats, optional
        95% interval of `macro_f1`, of test rows drawn anew.
    """

    method: str
    way: str
    accuracy: float
    macro_f1: float
    us: float
    dots: float
    depth: int
    fit_s: float
    f1_interval: tuple[float, float] | None = None

    @property
    def f1_words(self) -> str:
        """Macro F1 with its interval."""
        if self.f1_interval is None:
            return f"{self.macro_f1:.3f}"
        low, high = self.f1_interval
        return f"{self.macro_f1:.3f} (95% {low:.3f} to {high:.3f})"

    @property
    def title(self) -> str:
        """Name of the row."""
        return f"{self.method}, {self.way}" if self.way else self.method


@dataclass(frozen=True)
class Grown:
    """A tree that was learned.

    Parameters
    ----------
    method : str
    tree : Hierarchy
    seconds : float or None
        CPU seconds; None where the classifier grew it.
    """

    method: str
    tree: Hierarchy
    seconds: float | None


@dataclass(frozen=True)
class Outcome:
    """The answers and trees of all methods on a data set.

    Parameters
    ----------
    problem : Problem
    answers : dict of str to Answer
        By title.
    grown : dict of str to Grown
        By method.
    """

    problem: Problem
    answers: dict[str, Answer]
    grown: dict[str, Grown]

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.problem.name

    @cached_property
    def classes(self) -> NDArray[np.object_]:
        """Labels of the training rows, sorted."""
        return np.unique(self.problem.y_train)

    @cached_property
    def qualities(self) -> dict[str, dict[str, float]]:
        """How near trees are to the given one: ``mse``, ``triplets``, ``purity``, by method.

        Empty where none was given; DAGs are left out, as the measures are of trees.
        """
        if not has_taxonomy(self.problem) or len(self.classes) < 3:
            return {}
        return {
            key: self._quality(grown.tree)
            for key, grown in self.grown.items()
            if grown.tree.is_tree
        }

    @cached_property
    def objectives(self) -> dict[str, tuple[float, float]]:
        """What MF-Tree maximizes (Equation 5), by method: as it is, and relative to the kernel.

        DAGs are left out, as their covariance is not defined.
        """
        X, y = self.problem.X_train, self.problem.y_train
        return {
            key: (tree_hsic(X, y, grown.tree), tree_hsic(X, y, grown.tree, relative=True))
            for key, grown in self.grown.items()
            if grown.tree.is_tree
        }

    def _quality(self, tree: Hierarchy) -> dict[str, float]:
        given, classes = self.problem.hierarchy, self.classes.tolist()
        return {
            "mse": tree_mse(tree, given, classes=classes),
            "triplets": triplet_accuracy(tree, given, classes=classes),
            "purity": clade_purity(tree, given, classes=classes),
            "depth": int(tree.max_depth),
        }


_PUBLISHED = "published"
_N_DRAWS = 200


def macro_f1_interval(
    truth: NDArray[np.object_], predicted: NDArray[np.object_], seed: int = 0
) -> tuple[float, float]:
    """Return a 95% interval of macro F1: quantiles of 200 draws of the test rows with replacement.

    Parameters
    ----------
    truth, predicted : arrays of shape (n_test,)
        Labels. F1 is averaged over the classes that a draw has.
    seed : int

    Returns
    -------
    tuple of 2 floats
    """
    n = len(truth)
    codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)[1]
    own, said = codes[:n], codes[n:]
    right, n_codes = own == said, int(codes.max()) + 1
    rng = np.random.default_rng(seed)
    values = np.empty(_N_DRAWS)
    for draw in range(_N_DRAWS):
        times = np.bincount(rng.integers(n, size=n), minlength=n).astype(float)
        rows, claims = (np.bincount(each, times, n_codes) for each in (own, said))
        hits = np.bincount(own[right], times[right], n_codes)
        there = rows > 0
        values[draw] = np.mean(2 * hits[there] / (rows + claims)[there])
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def find_outcome(
    problem: Problem,
    methods: Iterable[Method],
    options: Options,
    cells: Cells,
    split: str = _PUBLISHED,
) -> Outcome:
    """Fit every method, unless its results are there already.

    Parameters
    ----------
    problem : Problem
    methods : iterable of Method
    options : Options
    cells : Cells
    split : str
        Names the division into training and test rows in the store.

    Returns
    -------
    Outcome
    """
    data = fingerprint(problem)
    classes = np.unique(problem.y_train)
    answers: dict[str, Answer] = {}
    grown: dict[str, Grown] = {}
    for method in methods:
        cell = {**_cell(method, problem, options, data), "split": split}
        found = cells.results(cell, _computation(method, problem, options))
        for way, told in found["answers"].items():
            answer = _scored_answer(method, way, told, found, classes, problem)
            if split == _PUBLISHED:  # samples have deviations
                interval = macro_f1_interval(problem.y_test, classes[told["predicted"]])
                answer = replace(answer, f1_interval=interval)
            answers[answer.title] = answer
        if found["edges"] is not None:
            tree = Hierarchy.from_edges([tuple(edge) for edge in found["edges"]])
            grown[method.key] = Grown(method.key, tree, found["tree_s"])
    return Outcome(problem, answers, grown)


def _cell(method: Method, problem: Problem, options: Options, data: str) -> dict[str, Any]:
    makers = {
        "learner": None if method.grow is None else method.grow(options),
        "classifier": None if method.make is None else method.make(None, options),
    }
    return {
        "dataset": problem.name,
        "split": _PUBLISHED,
        "model": method.key,
        "data": data,
        "ways": method.answers,
        **{name: _described(made) for name, made in makers.items()},
    }


def _described(estimator: Any) -> str | None:
    """Write an estimator with all parameters: a default that changes makes another result."""
    from sklearn import config_context

    with config_context(print_changed_only=False):
        return None if estimator is None else describe_estimator(estimator)


def _computation(method: Method, problem: Problem, options: Options) -> Any:
    return lambda: work(method, problem, options)


def _scored_answer(
    method: Method, way: str, told: Results, found: Results, classes: Any, problem: Problem
) -> Answer:
    from sklearn.metrics import accuracy_score, f1_score

    predicted = classes[told["predicted"]]
    truth = problem.y_test
    scores = f1_score(truth, predicted, average="macro", labels=np.unique(truth), zero_division=0.0)
    return Answer(
        method.key,
        way,
        float(accuracy_score(truth, predicted)),
        float(scores),
        told["us"],
        told["dots"],
        found["depth"],
        found["fit_s"],
    )
