"""Colours that a large margin tells apart, with classes left on both sides (DRHL)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from palmette.exceptions import PalmetteError
from palmette.partition._embedding import leading_eigenvectors, short_indices
from palmette.partition.base import ClassProblem, IntArray, Partition

__all__ = ["RelaxedPartition", "colour_classes"]

Colours = NDArray[np.int8]
_END = 4  # a quarter of the classes at either end are the first to be coloured


class RelaxedPartition(Partition):
    """Colour classes -1, 0 or +1, in turns with a classifier of the colours.

    The classifier is fitted to the rows of coloured classes. Then every class gets the colour that
    costs least: its mean hinge loss on that side, or `rho` for no colour at all. A class without a
    colour goes to both sides, so that the hierarchy is a DAG. The two steps are repeated until the
    colours stay.

    Parameters
    ----------
    rho : float
        Cost of no colour, between 0 and 1: the smaller, the more classes go to both sides.
    imbalance : float
        Largest difference between the numbers of classes coloured +1 and -1, as a share of the
        classes of the node. Both colours are always in use.
    max_copies : float
        Average number of leaves that a class may have, at most; 1 makes a tree. What a node may
        leave without colour is its part of what is left of these.
    estimator : classifier, optional
        With `decision_function`, of two classes; `LinearSVC` by default.
    n_starts : int
        First colours to try: the classes at either end of so many leading eigenvectors of the class
        means, a quarter each. The colours that cost least in the end are taken.
    max_iter : int
        Turns at most, for each.

    Notes
    -----
    Every class counts alike, whatever its number of rows, to an estimator that takes weights. The
    classifier sees dense features scaled to mean zero and variance one, in a copy of X; sparse X is
    taken as it is. Each side lacks the classes of the other colour, so it is smaller than the node.
    Where all class means are the same, the two ends of the classes in their order are the first
    colours.

    References
    ----------
    T. Gao, D. Koller (2011). Discriminative learning of relaxed hierarchy for large-scale visual
    recognition.

    Examples
    --------
    >>> RelaxedPartition(rho=0.5)
    RelaxedPartition(rho=0.5)
    """

    may_overlap = True

    def __init__(
        self,
        rho: float = 0.7,
        *,
        imbalance: float = 0.4,
        max_copies: float = 2.0,
        estimator: Any = None,
        n_starts: int = 2,
        max_iter: int = 5,
    ) -> None:
        self.rho = rho
        self.imbalance = imbalance
        self.max_copies = max_copies
        self.estimator = estimator
        self.n_starts = n_starts
        self.max_iter = max_iter

    def begin(self, problem: ClassProblem) -> _Relaxation:
        """Set aside what classes may be copied; see `Partition.begin`."""
        _check_range("rho", self.rho, 0.0, 1.0)
        _check_range("imbalance", self.imbalance, 0.0, 1.0)
        _check_range("max_copies", self.max_copies, 1.0, np.inf)
        _check_range("n_starts", self.n_starts, 1, np.inf)
        _check_range("max_iter", self.max_iter, 1, np.inf)
        everything = np.arange(problem.n_classes, dtype=np.int32)
        spare = min((self.max_copies - 1.0) * problem.n_classes, 2.0**62)
        if sparse.issparse(problem.X):
            X = short_indices(problem.X)
        else:
            from sklearn.preprocessing import StandardScaler

            X = StandardScaler().fit_transform(problem.X, sample_weight=problem.weights)
        return _Relaxation(problem, X, {everything.tobytes(): int(spare)})

    def split(self, state: _Relaxation, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        spare = state.spare.pop(classes.tobytes(), 0)
        # one share for every level to come, so that the first ones do not take all
        n_uncoloured = min(len(classes) - 2, -(-spare // max(int(np.log2(len(classes))), 1)))
        colours = self._colour(state, classes, node, n_uncoloured)
        sides = [classes[colours <= 0], classes[colours >= 0]]
        spare -= int((colours == 0).sum())
        first = spare * len(sides[0]) // (len(sides[0]) + len(sides[1]))
        for side, part in zip(sides, (first, spare - first), strict=True):
            key = side.tobytes()
            state.spare[key] = state.spare.get(key, 0) + part
        return sides

    def _colour(
        self, state: _Relaxation, classes: IntArray, node: int, n_uncoloured: int
    ) -> Colours:
        """Return the cheapest colours that the starts lead to."""
        here = _NodeRows.take(state, classes)
        limits = n_uncoloured, int(self.imbalance * len(classes))
        found = [
            self._alternate(here, _extremes(scores), limits, relax_at, state.problem.seed)
            for scores in _leading_scores(state.problem, classes, node, self.n_starts).T
            for relax_at in ((0, 1) if n_uncoloured else (0,))
        ]
        return min(found, key=lambda each: each[0])[1]

    def _alternate(
        self, here: _NodeRows, colours: Colours, limits: tuple[int, int], relax_at: int, seed: int
    ) -> tuple[float, Colours]:
        """Take turns until the colours stay; return the cheapest, after their cost.

        Classes go without colour from the turn `relax_at` on. A class that the classifier has not
        seen tends to stay so, and one that it has seen to keep its colour: neither is always best.
        """
        n_uncoloured, imbalance = limits
        best = np.inf, colours
        seen = {colours.tobytes()}
        for turn in range(max(self.max_iter, relax_at + 1)):
            losses = here.losses(self._score(here, colours, seed))
            spared = n_uncoloured if turn >= relax_at else 0
            colours, cost = colour_classes(*losses, self.rho, spared, imbalance)
            best = min(best, (cost, colours), key=lambda each: each[0])
            if turn > relax_at and colours.tobytes() in seen:
                break
            seen.add(colours.tobytes())
        return best

    def _score(self, here: _NodeRows, colours: Colours, seed: int) -> NDArray[np.float64]:
        """Fit a classifier to the rows of coloured classes, and score all."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC
        from sklearn.utils.validation import has_fit_parameter

        plain = LinearSVC(random_state=seed)
        model = plain if self.estimator is None else clone(self.estimator)
        side = colours[here.at]
        used = side != 0
        weights = {}
        if has_fit_parameter(model, "sample_weight"):
            weights["sample_weight"] = here.average * here.weights[used]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a rough side is enough
            model.fit(here.X[used], side[used], **weights)
        return np.asarray(model.decision_function(here.X)).ravel()


@dataclass
class _Relaxation:
    """The problem, its rows scaled, and how many more copies the groups in waiting may make."""

    problem: ClassProblem
    X: Any
    spare: dict[bytes, int]


@dataclass(frozen=True, eq=False)
class _NodeRows:
    """Rows of the classes of a node."""

    X: Any
    at: NDArray[np.intp]  # class of every row, as a place in the node
    weights: NDArray[np.float64]  # sum to one in every class
    average: float  # weight of a class before that

    @classmethod
    def take(cls, state: _Relaxation, classes: IntArray) -> _NodeRows:
        by_class = [state.problem.rows_of[k] for k in classes.tolist()]
        rows = np.concatenate(by_class)
        at = np.repeat(np.arange(len(classes)), [len(each) for each in by_class])
        given = state.problem.weights
        weights = np.ones(len(rows)) if given is None else given[rows]
        average = float(weights.sum()) / len(classes)
        return cls(state.X[rows], at, weights / np.bincount(at, weights)[at], average)

    def losses(
        self, scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean hinge loss of every class on the positive and on the negative side."""
        positive = np.bincount(self.at, self.weights * np.maximum(0.0, 1.0 - scores))
        negative = np.bincount(self.at, self.weights * np.maximum(0.0, 1.0 + scores))
        return positive, negative


def colour_classes(
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    rho: float,
    n_uncoloured: int,
    imbalance: int,
) -> tuple[Colours, float]:
    """Give every class the colour that costs least.

    Parameters
    ----------
    positive, negative : arrays of shape (n_classes,)
        Costs of the colours +1 and -1.
    rho : float
        Cost of no colour.
    n_uncoloured : int
        Classes without colour at most: those whose colours cost most.
    imbalance : int
        Largest difference between the numbers of classes of either colour. The classes that lose
        least change sides until it is met; both colours are used in any case.

    Returns
    -------
    colours : int8 array of shape (n_classes,)
    cost : float

    Examples
    --------
    >>> costs = np.array([0.0, 0.25, 1.0, 2.0]), np.array([2.0, 1.75, 1.5, 0.0])
    >>> colour_classes(*costs, rho=0.5, n_uncoloured=1, imbalance=2)
    (array([ 1,  1,  0, -1], dtype=int8), 0.75)
    >>> colour_classes(*costs, rho=0.5, n_uncoloured=0, imbalance=0)
    (array([ 1,  1, -1, -1], dtype=int8), 1.75)
    """
    n = len(positive)
    cheapest = np.minimum(positive, negative)
    dearest = np.argsort(-cheapest, kind="stable")[: max(min(n_uncoloured, n - 2), 0)]
    uncoloured = dearest[cheapest[dearest] > rho]
    colours = np.where(positive <= negative, 1, -1).astype(np.int8)
    colours[uncoloured] = 0
    n_coloured = n - len(uncoloured)
    allowed = max(min(imbalance, n_coloured - 2), n_coloured % 2)
    surplus = int(colours.sum())
    side = 1 if surplus > 0 else -1
    loss = side * (negative - positive)
    on_side = np.flatnonzero(colours == side)
    n_moved = max(-(-(abs(surplus) - allowed) // 2), 0)
    colours[on_side[np.argsort(loss[on_side], kind="stable")[:n_moved]]] = -side
    cost = positive[colours > 0].sum() + negative[colours < 0].sum() + rho * len(uncoloured)
    return colours, float(cost)


def _extremes(scores: NDArray[np.float64]) -> Colours:
    """Colour the classes at either end, a quarter each; the classifier will say about the others.

    A classifier that saw a class's colour tends to confirm it, so that few are given to begin with.
    """
    order = np.argsort(scores, kind="stable")
    n_end = max(len(order) // _END, 1)
    colours = np.zeros(len(order), dtype=np.int8)
    colours[order[:n_end]] = -1
    colours[order[-n_end:]] = 1
    return colours


def _leading_scores(
    problem: ClassProblem, classes: IntArray, node: int, k: int
) -> NDArray[np.float64]:
    """Leading eigenvectors of the centred means of the classes; their order where all are equal."""
    gram = problem.statistics.gram(classes)
    rows = gram.mean(axis=1)
    centred = gram - rows[:, None] - rows + rows.mean()
    values, vectors = leading_eigenvectors(centred, k, problem.rng(node))
    kept = values > 1e-12 * np.abs(np.diagonal(gram)).max()
    return vectors[:, kept] if kept.any() else np.linspace(1.0, -1.0, len(classes))[:, None]


def _check_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise PalmetteError(f"{name}={value!r}: expected a number from {least:g} to {most:g}.")
