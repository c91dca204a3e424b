"""Errors by round on a data set, CPU seconds, and how the cost grows with rows and classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.compare import Problem, Split, describe_estimator, fingerprint, measure
from papers.adaboost_bhc.methods import Method, Protocol, make_parts, paper_cost
from papers.cells import Cells

__all__ = [
    "Curves",
    "Grid",
    "Growth",
    "Outcome",
    "find_growth",
    "find_outcome",
    "fitted_exponent",
    "make_clouds",
    "staged_errors",
    "warm_up",
]

# ---------------------------------------------------------------------- errors by round


FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Errors of a method.

    Parameters
    ----------
    train, test : arrays of shape (n_fits, n_rounds)
        Shares of wrong rows after every round.
    seconds : array of shape (n_fits,)
        CPU seconds of `fit`.
    """

    train: FloatArray
    test: FloatArray
    seconds: FloatArray

    def mean(self, part: str) -> FloatArray:
        """Mean error by round of a part, ``"train"`` or ``"test"``."""
        return np.asarray(getattr(self, part).mean(axis=0))

    def last(self, part: str) -> float:
        """Mean error of a part after the last round."""
        return float(self.mean(part)[-1])


@dataclass(frozen=True, eq=False)
class Outcome:
    """Curves of all methods on a data set.

    Parameters
    ----------
    problem : Problem
    rounds : int
    curves : dict of str to dict
        By key of the weak learner, then by name of the method.
    """

    problem: Problem
    rounds: int
    curves: dict[str, dict[str, Curves]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.problem.name

    @cached_property
    def n_tested(self) -> int:
        """Number of different rows that errors are counted on."""
        tested = self.problem.X_test if self.problem.has_split else self.problem.X_train
        return int(tested.shape[0])

    def standard_error(self, error: float) -> float:
        """Standard error of an error over the rows tested: sqrt(e (1 - e) / n)."""
        return math.sqrt(error * (1 - error) / self.n_tested)


def find_outcome(
    problem: Problem,
    methods: Sequence[Method],
    cells: Cells,
    *,
    rounds: int,
    protocol: Protocol,
    seed: int,
    n_jobs: int | None,
    n_parts: int | None = None,
) -> Outcome:
    """Fit every method on every part, unless its errors are there already.

    Parameters
    ----------
    problem : Problem
    methods : sequence of Method
    cells : Cells
    rounds : int
    protocol : Protocol
    seed : int
    n_jobs : int or None
    n_parts : int, optional
        Number of parts, the first ones; all by default.

    Returns
    -------
    Outcome
    """
    outcome, data = Outcome(problem, rounds), fingerprint(problem)
    found: dict[Method, list[dict[str, Any]]] = {method: [] for method in methods}
    for part in islice(make_parts(problem, protocol, seed), n_parts):
        for method in methods:
            made = method.make(rounds, part.seed, n_jobs)
            cell = {
                "dataset": problem.name,
                "split": part.name,
                "model": method.key,
                "data": data,
                "n_folds": None if problem.has_split else protocol.n_folds,
                "split_seed": part.seed,
                "estimator": describe_estimator(made),
            }
            found[method].append(cells.results(cell, _computation(method, made, part, rounds)))
    for method, results in found.items():
        columns = ([one[key] for one in results] for key in ("train", "test", "fit_s"))
        by_name = outcome.curves.setdefault(method.learner.key, {})
        by_name[method.name] = Curves(*(np.array(column) for column in columns))
    return outcome


def _computation(method: Method, made: Any, part: Split, rounds: int) -> Any:
    def compute() -> dict[str, Any]:
        warm_up(method)
        with measure() as usage:
            made.fit(part.X_train, part.y_train)
        return {
            "train": staged_errors(made, part.X_train, part.y_train, rounds),
            "test": staged_errors(made, part.X_test, part.y_test, rounds),
            "fit_s": usage.cpu_seconds,
        }

    return compute


def staged_errors(fitted: Any, X: Any, y: Any, rounds: int) -> list[float]:
    """Share of wrong rows after every round; boosting that ended early stays as it was.

    Parameters
    ----------
    fitted : classifier
    X, y : features and labels
    rounds : int

    Returns
    -------
    list of `rounds` floats
    """
    truth = np.asarray(y)
    errors = [
        round(float(np.mean(np.asarray(said) != truth)), 6) for said in fitted.staged_predict(X)
    ]
    if not errors:  # no round was any good
        errors = [round(float(np.mean(np.asarray(fitted.predict(X)) != truth)), 6)]
    return (errors + errors[-1:] * rounds)[:rounds]


@cache
def warm_up(method: Method) -> None:
    """Compile what a method needs, once: that is no part of its time."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    X = rng.normal(size=(40, 3)) + y[:, None]
    method.make(2, 0, 1).fit(X, y)


# ---------------------------------------------------------- Table 1, measured: the cost of a round


_FIRST_ROUNDS = 2  # of the short fit that is taken off the long one
_N_FEATURES = 16
_NOISE, _SHRINK = 0.6, 0.7
_LEAST = 1e-7  # seconds; a clock may stand still


@dataclass(frozen=True)
class Grid:
    """Sizes at which a round is timed.

    Parameters
    ----------
    n_rows : tuple of int
        With `few_classes` classes each.
    n_classes : tuple of int
        Powers of two, with `many_rows` rows each.
    few_classes, many_rows : int
    rounds : int
        Rounds that are timed together.
    n_repeats : int
        Fits of each size, of which the quickest counts.
    """

    n_rows: tuple[int, ...] = (2000, 4000, 8000, 16000, 32000)
    n_classes: tuple[int, ...] = (4, 8, 16, 32, 64)
    few_classes: int = 8
    many_rows: int = 8000
    rounds: int = 20
    n_repeats: int = 3


@dataclass(frozen=True)
class Growth:
    """Seconds a round of a method.

    Parameters
    ----------
    method : str
    by_rows, by_classes : list of float
        At the sizes of the grid.
    grid : Grid
    """

    method: str
    by_rows: list[float]
    by_classes: list[float]
    grid: Grid

    @property
    def row_exponent(self) -> float:
        """The fitted a of a cost of n_rows ** a."""
        return fitted_exponent(self.grid.n_rows, self.by_rows)

    @property
    def class_exponent(self) -> float:
        """The fitted b of a cost of n_classes ** b."""
        return fitted_exponent(self.grid.n_classes, self.by_classes)

    def told_class_exponent(self, power: float) -> float:
        """The b that the paper's formula comes to at the same sizes; see `paper_cost`."""
        grid = self.grid
        costs = [paper_cost(self.method, grid.many_rows, n, power) for n in grid.n_classes]
        return fitted_exponent(grid.n_classes, costs)


def fitted_exponent(sizes: ArrayLike, costs: ArrayLike) -> float:
    """Slope of the straight line through the logarithms, by least squares.

    Parameters
    ----------
    sizes, costs : array-like of shape (n,)
        Positive.

    Returns
    -------
    float

    Examples
    --------
    >>> round(fitted_exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def make_clouds(
    n_rows: int, n_classes: int, seed: int = 0, n_features: int = _N_FEATURES
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw a cloud of points for every class, as many for each, the classes in a binary tree.

    Parameters
    ----------
    n_rows, n_classes : int
    seed : int
    n_features : int

    Returns
    -------
    X : array of shape (n_rows, n_features)
    y : int array of shape (n_rows,)

    Examples
    --------
    >>> X, y = make_clouds(8, 4)
    >>> X.shape, y.tolist()
    ((8, 16), [0, 1, 2, 3, 0, 1, 2, 3])
    """
    rng = np.random.default_rng([seed, n_classes])
    y = np.arange(n_rows) % n_classes
    centres = np.zeros((n_classes, n_features))
    for level in range(int(np.ceil(np.log2(n_classes)))):
        branch = np.arange(n_classes) % 2 ** (level + 1)
        steps = rng.normal(size=(2 ** (level + 1), n_features))
        centres += _SHRINK**level * steps[branch]
    return centres[y] + _NOISE * rng.normal(size=(n_rows, n_features)), y


def find_growth(
    methods: Sequence[Method], cells: Cells, grid: Grid, seed: int, n_jobs: int | None
) -> list[Growth]:
    """Time a round of every method at every size, unless that is known already.

    Parameters
    ----------
    methods : sequence of Method
    cells : Cells
    grid : Grid
    seed : int
    n_jobs : int or None

    Returns
    -------
    list of Growth
    """

    def seconds(method: Method, n_rows: int, n_classes: int) -> float:
        made = method.make(_FIRST_ROUNDS + grid.rounds, seed, n_jobs)
        cell = {
            "dataset": "clouds",
            "split": f"{n_rows} rows, {n_classes} classes",
            "model": method.key,
            "seed": seed,
            "rounds": grid.rounds,
            "n_repeats": grid.n_repeats,
            "estimator": describe_estimator(made),
        }
        work = _timing(method, n_rows, n_classes, grid, seed, n_jobs)
        return float(cells.results(cell, work)["seconds_a_round"])

    return [
        Growth(
            method.name,
            [seconds(method, n, grid.few_classes) for n in grid.n_rows],
            [seconds(method, grid.many_rows, n) for n in grid.n_classes],
            grid,
        )
        for method in methods
    ]


def _timing(
    method: Method, n_rows: int, n_classes: int, grid: Grid, seed: int, n_jobs: int | None
) -> Any:
    def fit_seconds(rounds: int, X: Any, y: Any) -> float:
        made = method.make(rounds, seed, n_jobs)
        with measure() as usage:
            made.fit(X, y)
        return usage.cpu_seconds

    def compute() -> dict[str, Any]:
        warm_up(method)
        X, y = make_clouds(n_rows, n_classes, seed)
        # what is done once, binning and learning the class tree, is no part of a round
        quickest = [
            min(fit_seconds(rounds, X, y) for _ in range(grid.n_repeats))
            for rounds in (_FIRST_ROUNDS, _FIRST_ROUNDS + grid.rounds)
        ]
        return {"seconds_a_round": max(_LEAST, (quickest[1] - quickest[0]) / grid.rounds)}

    return compute
