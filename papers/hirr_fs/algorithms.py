"""Algorithms 1 to 4 as printed: do they converge, and is Hier-FS of one node plain regression?

The printed updates of a sweep use the neighbours of the sweep before, all at once. Beside them
stand updates in turn, which use the newest weights of the neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from palmette.feature_selection._base import ScoringProblem
from palmette.feature_selection._hirr import HirrScore
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace
from papers.result import Cell, Claim, Table

__all__ = [
    "SETTINGS",
    "Descent",
    "descent_table",
    "find_descents",
    "follow",
    "judge_algorithms",
    "regression_gap",
]

FloatArray = NDArray[np.float64]

LAM = 10.0  # as in the paper
SWEEPS = 30
SETTINGS = {  # number of the algorithm: alpha and beta, mild and strong
    2: ((1.0, 0.0), (100.0, 0.0)),
    3: ((0.0, 1.0), (0.0, 100.0)),
    4: ((1.0, 1.0), (100.0, 100.0)),
}
_SCALE = 0.1  # deviation of features: those of DD have less, and weights are large
_SHORTEST = 1e-8  # of a row, in the matrix D
_ROUNDING = 1e-9  # relative: a rise below it is none


@dataclass(frozen=True)
class Descent:
    """The objective of Equation 20 over sweeps of an algorithm.

    Parameters
    ----------
    algorithm : int
    alpha, beta : float
    at_once : list of float
        Before the first sweep and after every one, with updates as printed.
    in_turn : list of float
        The same with the newest weights of neighbours.
    """

    algorithm: int
    alpha: float
    beta: float
    at_once: list[float]
    in_turn: list[float]


def rises(values: Sequence[float]) -> list[float]:
    """Return by what share the objective rises, of the sweeps in which it does.

    Examples
    --------
    >>> rises([4.0, 2.0, 3.0, 3.0])
    [0.5]
    """
    shares = (after / before - 1.0 for before, after in pairwise(values))
    return [share for share in shares if share > _ROUNDING]


def _generated() -> tuple[list[FloatArray], list[FloatArray]]:
    """Rows of a root with three children, whose classes the same three features tell apart."""
    rng = np.random.default_rng(0)
    n_nodes, n_rows, n_features = 3, 200, 15
    classes = np.repeat(np.arange(3 * n_nodes), n_rows)
    nodes, codes = classes // 3, classes % 3
    X = rng.normal(size=(len(classes), n_features))
    X[np.arange(len(X)), codes] += 2.0
    X[np.arange(len(X)), 3 + nodes] += 2.0
    X *= _SCALE
    own = [nodes == node for node in range(n_nodes)]
    return [X, *(X[rows] for rows in own)], [np.eye(3)[nodes], *(np.eye(3)[codes[r]] for r in own)]


def _objective(
    Xs: list[FloatArray], Ys: list[FloatArray], Ws: list[FloatArray], alpha: float, beta: float
) -> float:
    """Equation 20; the root comes first and the others are its children."""
    value = sum(
        float(np.sum((X @ W - Y) ** 2) + LAM * np.linalg.norm(W, axis=1).sum())
        for X, Y, W in zip(Xs, Ys, Ws, strict=True)
    )
    centred = [W - W.mean(axis=0) for W in Ws]
    for i in range(1, len(Ws)):
        value += alpha * float(np.sum((Ws[i] - Ws[0]) ** 2))
        others = (j for j in range(1, len(Ws)) if j != i)
        value += beta * sum(float(np.sum((Ws[i].T @ centred[j]) ** 2)) for j in others)
    return value


def follow(alpha: float, beta: float, *, in_turn: bool, n_sweeps: int = SWEEPS) -> list[float]:
    """Return the objective before the first of some sweeps, from random weights, and after each.

    Equations 10 and 25, of which those of Algorithms 2 and 3 are the ones with beta or alpha of 0.

    Parameters
    ----------
    alpha, beta : float
    in_turn : bool
        Whether every update uses the newest weights of its neighbours. As printed, it uses those of
        the sweep before.
    n_sweeps : int

    Returns
    -------
    list of float
    """
    Xs, Ys = _generated()
    rng = np.random.default_rng(1)
    n_features = Xs[0].shape[1]
    Ws = [rng.uniform(size=(n_features, Y.shape[1])) for Y in Ys]
    values = [_objective(Xs, Ys, Ws, alpha, beta)]
    for _ in range(n_sweeps):
        seen = Ws if in_turn else list(Ws)
        lengths = [np.maximum(np.linalg.norm(W, axis=1), _SHORTEST) for W in Ws]
        for i, (X, Y) in enumerate(zip(Xs, Ys, strict=True)):
            near = range(1, len(Ws)) if i == 0 else (0,)
            matrix = X.T @ X + np.diag(0.5 * LAM / lengths[i])
            matrix += alpha * len(near) * np.eye(n_features)
            for j in range(1, len(Ws)) if i > 0 else ():
                centred = seen[j] - seen[j].mean(axis=0)
                matrix += 2.0 * beta * (j != i) * centred @ centred.T
            right = X.T @ Y + alpha * sum(seen[j] for j in near)
            Ws[i] = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
        values.append(_objective(Xs, Ys, Ws, alpha, beta))
    return values


def find_descents() -> list[Descent]:
    """Follow all algorithms, mild and strong."""
    return [
        Descent(number, *pair, follow(*pair, in_turn=False), follow(*pair, in_turn=True))
        for number, pairs in SETTINGS.items()
        for pair in pairs
    ]


def descent_table(found: Sequence[Descent]) -> Table:
    """Return how often and how far the objective rises."""
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        cells: list[Cell] = []
        for values in (each.at_once, each.in_turn):
            shares = rises(values)
            cells += [len(shares), f"{max(shares, default=0.0):.0%}", f"{values[-1]:.4f}"]
        name = f"Algorithm {each.algorithm}, alpha {each.alpha:g}, beta {each.beta:g}"
        rows.append((name, *cells))
    columns: tuple[str, ...] = ("algorithm", "rises", "the largest", "objective at the end")
    columns += tuple(f"{name}, in turn" for name in columns[1:])
    note = (
        f"{SWEEPS} sweeps from random weights on generated rows of a root with three children, "
        f"whose classes the same features (of deviation {_SCALE:g}) tell apart; lambda as in the "
        "paper. As printed, the updates of a sweep use the neighbours of the sweep "
        "before, all at once; in turn, they use the newest. A rise is one of the objective of "
        f"Equation 20 by more than {_ROUNDING:g} of it."
    )
    return Table("Algorithms 2 to 4, as printed and in turn", columns, rows, [note])


def regression_gap() -> tuple[float, float, float]:
    """Compare Hier-FS of a single node with l2,1 regression by Algorithm 1, of one matrix.

    Returns
    -------
    tuple of 3 floats
        The objectives of both, and the largest difference of two weights.
    """
    (X, *_), (Y, *_) = _generated()
    W: FloatArray = np.ones((X.shape[1], Y.shape[1]))
    for _ in range(3000):
        lengths = np.maximum(np.linalg.norm(W, axis=1), _SHORTEST)
        matrix = X.T @ X + np.diag(0.5 * LAM / lengths)
        W = np.asarray(np.linalg.solve(matrix, X.T @ Y), dtype=np.float64)
    classes = Y.argmax(axis=1).astype(np.int32)
    star = Hierarchy.star([str(n) for n in range(Y.shape[1])])
    problem = ScoringProblem(X, LabelSpace(star, star.leaves), classes)
    score = HirrScore.preset("hier-fs", solver="bcd", max_iter=1000, tol=1e-12)
    found, _ = score.pose(problem)
    (own,) = score.solve(found).weights
    ours = np.zeros_like(W)
    ours[own.rows] = own.values
    values = [
        float(np.sum((X @ each - Y) ** 2) + LAM * np.linalg.norm(each, axis=1).sum())
        for each in (W, ours)
    ]
    return values[0], values[1], float(np.abs(W - ours).max())


def judge_algorithms(found: Sequence[Descent]) -> Iterator[Claim]:
    """Judge the statements on Algorithms 1 to 4.

    Parameters
    ----------
    found : sequence of Descent

    Yields
    ------
    Claim
    """
    plain, ours, gap = regression_gap()
    words = (
        f"Section 3.1: on a generated problem of one node the objective is {ours:.6f}, that of "
        f"Equation 5 repeated on one matrix {plain:.6f}; weights differ by at most {gap:.1e}"
    )
    holds = gap <= 1e-4
    verdict = "" if holds else "it does not hold that "
    yield Claim("Section 3.1", f"{words}; {verdict}it is l2,1 regression.", holds)
    for each in found:
        where = f"Section 1, Algorithm {each.algorithm}"
        shares = rises(each.at_once)
        turn = rises(each.in_turn)
        words = (
            f"{where}: with alpha = {each.alpha:g} and beta = {each.beta:g} the objective rises in "
            f"{len(shares)} of {len(each.at_once) - 1} sweeps as printed"
            f"{f', by up to {max(shares):.0%}' if shares else ''}, in {len(turn)} with updates in "
            "turn"
        )
        verdict = "" if not shares else "it does not hold that "
        yield Claim(where, f"{words}; {verdict}no printed update raises it.", not shares)
