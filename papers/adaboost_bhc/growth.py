"""Table 1, measured: how the cost of a round grows with the rows and with the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.compare import describe_estimator, measure
from papers.adaboost_bhc.curves import warm_up
from papers.adaboost_bhc.methods import Method
from papers.adaboost_bhc.published_figures import paper_cost
from papers.cells import Cells

__all__ = ["Grid", "Growth", "find_growth", "fitted_exponent", "make_clouds"]

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
