"""Fit all methods on a data set, and keep what they predicted and grew."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.base._one_path import tree_of_learnt
from palmette.compare import Problem, describe_estimator, fingerprint
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics import clade_purity, tree_hsic, tree_mse, triplet_accuracy
from papers.cells import Cells, Options
from papers.mf_tree.fits import Results, work
from papers.mf_tree.methods import Method, has_taxonomy
from papers.mf_tree.trees import random_tree

__all__ = [
    "GIVEN",
    "N_RANDOM",
    "Answer",
    "Grown",
    "Outcome",
    "find_outcome",
    "macro_f1_interval",
    "rare_classes",
]

N_RANDOM = 20  # random trees, which learned ones are compared with


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
    rare_f1 : float, optional
        Mean F1 of the rare classes; see `Outcome.rare`.
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
    rare_f1: float | None = None

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
        if not self._can_be_compared:
            return {}
        return {
            key: self._quality(grown.tree)
            for key, grown in self.grown.items()
            if grown.tree.is_tree
        }

    @cached_property
    def chance(self) -> dict[str, list[float]]:
        """The same of random trees, a list each; empty where no tree was given."""
        if not self._can_be_compared:
            return {}
        rows = np.zeros((len(self.classes), 1))
        found = [
            self._quality(random_tree(seed).fit(rows, self.classes).hierarchy_)
            for seed in range(N_RANDOM)
        ]
        return {name: [float(one[name]) for one in found] for name in found[0]}

    @property
    def _can_be_compared(self) -> bool:
        return has_taxonomy(self.problem) and len(self.classes) >= 3

    @cached_property
    def objectives(self) -> dict[str, tuple[float, float]]:
        """What MF-Tree maximizes (Equation 5), by method: as it is, and relative to the kernel.

        The given tree is among them. Of DAGs, whose covariance is not defined, nodes keep the best
        of their parents.
        """
        X, y = self.problem.X_train, self.problem.y_train
        return {
            key: (tree_hsic(X, labels, tree), tree_hsic(X, labels, tree, relative=True))
            for key, tree, labels in self._measured(X, y)
        }

    def _measured(self, X: Any, y: NDArray[np.object_]) -> Iterable[tuple[str, Hierarchy, Any]]:
        for key, grown in self.grown.items():
            if grown.tree.is_tree:
                yield key, grown.tree, y
            else:
                yield f"{key}, best parents", _with_one_parent(grown.tree, X, y), y
        given = self.problem.hierarchy
        if has_taxonomy(self.problem) and given.is_tree:
            # paths: nodes of the same name may be in several places
            yield GIVEN, given, [given.path(int(node)) for node in given.index(y.tolist())]

    @cached_property
    def rare(self) -> NDArray[np.object_]:
        """The rare classes; see `rare_classes`."""
        return rare_classes(self.problem)

    def _quality(self, tree: Hierarchy) -> dict[str, float]:
        given, classes = self.problem.hierarchy, self.classes.tolist()
        return {
            "mse": tree_mse(tree, given, classes=classes),
            "triplets": triplet_accuracy(tree, given, classes=classes),
            "purity": clade_purity(tree, given, classes=classes),
            "depth": int(tree.max_depth),
        }


GIVEN = "the given tree"


def _with_one_parent(dag: Hierarchy, X: Any, y: NDArray[np.object_]) -> Hierarchy:
    labels = NodeLabels.encode(y, dag)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells of every DAG
        return tree_of_learnt(SimpleNamespace(hierarchy_=dag), X, labels, "the objective")


_RARE = 0.25  # share of the classes that are called rare
_IMBALANCE = 10.0  # of the largest class to the smallest, from which on some are


def rare_classes(problem: Problem) -> NDArray[np.object_]:
    """Return the quarter of the classes with the fewest training rows, as far as test rows have it.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    array of shape (n_rare,)
        Empty where the largest class has less than ten times the rows of the smallest.
    """
    names, sizes = np.unique(problem.y_train, return_counts=True)
    if sizes.max() < _IMBALANCE * sizes.min():
        return names[:0]
    few = names[np.argsort(sizes, kind="stable")[: max(1, int(_RARE * len(names)))]]
    return np.intersect1d(few, problem.y_test)


_PUBLISHED = "published"
_N_DRAWS = 200


def macro_f1_interval(
    truth: NDArray[np.object_], predicted: NDArray[np.object_], seed: int = 0
) -> tuple[float, float]:
    """Return a 95% interval of macro F1, of 200 draws of the test rows with replacement.

    Rows are drawn within their classes, so that every draw has all classes. F1 of a draw is lower
    than that of the rows themselves, on average, which adds up over many classes of few rows:
    the interval has the spread of the draws around the value of all rows.

    Parameters
    ----------
    truth, predicted : arrays of shape (n_test,)
        Labels. F1 is averaged over the classes of `truth`.
    seed : int

    Returns
    -------
    tuple of 2 floats
        Within 0 and 1.
    """
    n = len(truth)
    codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)[1]
    order = np.argsort(codes[:n], kind="stable")
    own, said = codes[:n][order], codes[n:][order]
    n_codes = int(codes.max()) + 1
    sizes = np.bincount(own, minlength=n_codes)
    first = np.concatenate([[0], np.cumsum(sizes)])[own]
    rng = np.random.default_rng(seed)
    draws = [first + rng.integers(sizes[own]) for _ in range(_N_DRAWS)]
    of_draws = np.array([_mean_f1(own, said[rows], sizes) for rows in draws])
    value = _mean_f1(own, said, sizes)
    low, high = value + np.quantile(of_draws, (0.025, 0.975)) - of_draws.mean()
    return max(0.0, float(low)), min(1.0, float(high))


def _mean_f1(own: NDArray[np.intp], said: NDArray[np.intp], sizes: NDArray[np.intp]) -> float:
    """Return the mean F1 of the classes with rows; a row of a class stays one of it when drawn."""
    claims = np.bincount(said, minlength=len(sizes))
    hits = np.bincount(own[own == said], minlength=len(sizes))
    there = sizes > 0
    return float(np.mean(2 * hits[there] / (sizes + claims)[there]))


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
    classes, rare = np.unique(problem.y_train), rare_classes(problem)
    answers: dict[str, Answer] = {}
    grown: dict[str, Grown] = {}
    for method in methods:
        cell = {**_cell(method, problem, options, data), "split": split}
        found = cells.results(cell, _computation(method, problem, options))
        for way, told in found["answers"].items():
            answer = _scored_answer(method, way, told, found, classes, problem)
            if len(rare):
                answer = replace(answer, rare_f1=_mean_of(problem, classes, told, rare))
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
    from sklearn.metrics import accuracy_score

    predicted = classes[told["predicted"]]
    return Answer(
        method.key,
        way,
        float(accuracy_score(problem.y_test, predicted)),
        _mean_of(problem, classes, told, np.unique(problem.y_test)),
        told["us"],
        told["dots"],
        found["depth"],
        found["fit_s"],
    )


def _mean_of(problem: Problem, classes: Any, told: Results, some: NDArray[Any]) -> float:
    """Return the mean F1 of some classes."""
    from sklearn.metrics import f1_score

    predicted = classes[told["predicted"]]
    labels = {"average": "macro", "labels": some, "zero_division": 0.0}
    return float(f1_score(problem.y_test, predicted, **labels))
