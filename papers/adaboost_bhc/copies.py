"""AdaBoost.MH over C * N copies of the rows, and a weak learner that compares all pairs of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette.compare import measure
from papers.adaboost_bhc.methods import LEARNERS, METHODS, Learner, Method
from papers.adaboost_bhc.outcome import Grid, Growth, make_clouds
from papers.cells import Cells

__all__ = [
    "PAIR_GRID",
    "CopiesAdaBoostMH",
    "PairVotes",
    "copies_methods",
    "find_pair_growth",
    "round_problems",
]

FloatArray = NDArray[np.float64]

# ---------------------------------------------------------------------- AdaBoost.MH over copies


class CopiesAdaBoostMH(BaseEstimator):  # type: ignore[misc]
    """AdaBoost.MH as the paper describes it: one binary problem of C * N examples.

    Every row has a copy for every class l, labelled +1 if l is the class of the row and -1 if not.
    The class is one more attribute of a copy, a 0/1 column for each. A round grows one
    classification tree over copies that are drawn by their weights.

    Parameters
    ----------
    max_features : "sqrt" or None
        Number of attributes that compete at a split; None for all.
    n_estimators : int
    max_depth : int, optional
    first_asks_class : bool
        Whether a tree divides the copies by their class before anything else: then a round has a
        tree for every class, which is the form of `palmette.AdaBoostMHClassifier`.
    resample : bool
        Whether copies are drawn by their weights; otherwise trees are grown on weighted copies.
    random_state : int

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    rounds_ : list of (coefficient, trees)
    """

    def __init__(
        self,
        max_features: Any = "sqrt",
        n_estimators: int = 100,
        *,
        max_depth: int | None = None,
        first_asks_class: bool = False,
        resample: bool = True,
        random_state: int = 0,
    ) -> None:
        self.max_features = max_features
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.first_asks_class = first_asks_class
        self.resample = resample
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> CopiesAdaBoostMH:
        """Boost; see the class."""
        X = np.asarray(X, dtype=np.float32)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        n, n_classes = len(codes), len(self.classes_)
        truth = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)  # (rows, classes)
        weights = np.full((n, n_classes), 1.0 / (n * n_classes))
        rng = np.random.default_rng(self.random_state)
        self.rounds_: list[tuple[float, Any]] = []
        least = 1.0 / (n * n_classes)
        for turn in range(self.n_estimators):
            shares = weights
            if self.resample:
                shares = rng.multinomial(n * n_classes, weights.ravel()).reshape(weights.shape)
            trees = self._grow(X, truth, shares.astype(np.float64), turn)
            said = self._votes(trees, X)
            edge = float((weights * truth * said).sum())
            if edge <= 1e-6:
                break
            coefficient = 0.5 * np.log((1.0 + edge + least) / (1.0 - edge + least))
            self.rounds_.append((coefficient, trees))
            weights = weights * np.exp(-coefficient * truth * said)
            weights /= weights.sum()
        return self

    def _tree(self, turn: int) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        seed = self.random_state + (turn if self.resample else 0)
        return DecisionTreeClassifier(
            max_depth=self.max_depth, max_features=self.max_features, random_state=seed
        )

    def _grow(self, X: Any, truth: FloatArray, shares: FloatArray, turn: int) -> Any:
        n_classes = truth.shape[1]
        if self.first_asks_class:
            return [
                self._tree(turn).fit(X[own > 0], truth[own > 0, k], own[own > 0])
                for k, own in enumerate(shares.T)
            ]
        rows, kinds = np.nonzero(shares)
        copies = np.hstack([X[rows], np.eye(n_classes, dtype=np.float32)[kinds]])
        return self._tree(turn).fit(copies, truth[rows, kinds], shares[rows, kinds])

    def _votes(self, trees: Any, X: Any) -> FloatArray:
        """Return -1 or +1 for every row and class."""
        n_classes = len(self.classes_)
        if self.first_asks_class:
            return np.column_stack([tree.predict(X) for tree in trees])
        said = []
        for k in range(n_classes):  # the copies of one class at a time
            kind = np.zeros((len(X), n_classes), dtype=np.float32)
            kind[:, k] = 1.0
            said.append(trees.predict(np.hstack([X, kind])))
        return np.column_stack(said)

    def staged_scores(self, X: Any) -> Iterator[FloatArray]:
        """Yield the sums of votes after every round, of shape (n_samples, n_classes)."""
        X = np.asarray(X, dtype=np.float32)
        scores = np.zeros((len(X), len(self.classes_)))
        for coefficient, trees in self.rounds_:
            scores = scores + coefficient * self._votes(trees, X)
            yield scores

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the classes with the largest sums of votes after every round."""
        for scores in self.staged_scores(X):
            yield self.classes_[scores.argmax(axis=1)]

    def predict(self, X: Any) -> Any:
        """Return the classes with the largest sums of votes."""
        stages = list(self.staged_predict(X))
        return stages[-1] if stages else self.classes_[np.zeros(len(X), dtype=int)]


def copies_methods() -> list[Method]:
    """Return AdaBoost.MH over copies, with either weak learner.

    Examples
    --------
    >>> [method.key for method in copies_methods()]
    ['MH over copies, sqrt(d) features per split', 'MH over copies, all features']
    """
    return [
        Method("MH over copies", learner, partial(_make_copies, learner))
        for learner in LEARNERS.values()
    ]


def _make_copies(learner: Learner, rounds: int, seed: int, n_jobs: int | None) -> Any:
    wanted = None if learner.is_published else "sqrt"
    return CopiesAdaBoostMH(wanted, rounds, random_state=seed)


# ------------------------------------- Table 1, measured: a weak learner that compares every pair


PAIR_GRID = Grid(
    n_rows=(500, 1000, 2000, 4000),
    n_classes=(4, 8, 16),
    few_classes=4,
    many_rows=1000,
    rounds=1,
    n_repeats=3,
)
_CHUNK = 2**22  # distances that are held at a time


class PairVotes(BaseEstimator):  # type: ignore[misc]
    """A weak learner of cost N^2: every row votes for every other, by their distance.

    Parameters
    ----------
    width : float
        Of the votes, in units of the mean standard deviation of the features.
    """

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def fit(self, X: FloatArray, signs: FloatArray) -> PairVotes:
        """Compute what all rows say of each other.

        Parameters
        ----------
        X : array of shape (n, n_features)
        signs : array of shape (n,)
            -1 or +1.
        """
        lengths = np.einsum("ij,ij->i", X, X)
        scale = -0.5 / (self.width * float(X.std(axis=0).mean() or 1.0)) ** 2
        n = len(X)
        self.votes_ = np.empty(n)
        step = max(1, _CHUNK // n)
        for start in range(0, n, step):
            part = slice(start, start + step)
            apart = lengths[part, None] + lengths - 2.0 * (X[part] @ X.T)
            self.votes_[part] = np.exp(scale * apart) @ signs
        self.error_ = float(np.mean(np.sign(self.votes_) != signs))
        return self


def round_problems(
    method: str, X: FloatArray, y: NDArray[Any], seed: int = 0
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the binary problems that one round of a method poses.

    Parameters
    ----------
    method : {"MH", "MI", "ECC", "BHC"}
    X : array of shape (n, n_features)
    y : int array of shape (n,)
        Classes from 0 on.
    seed : int
        Of the colouring of ECC.

    Returns
    -------
    list of (rows, signs)
        MH: one of C * N copies; MI: C of N rows; ECC: one of N; BHC: one for every inner node of
        its tree, of the rows below it.

    Examples
    --------
    >>> X, y = make_clouds(8, 4)
    >>> [[len(signs) for _, signs in round_problems(name, X, y)] for name in METHODS]
    [[32], [8, 8, 8, 8], [8], [8, 4, 4]]
    """
    classes = np.unique(y)
    one_of = np.where(y[:, None] == classes, 1.0, -1.0)
    if method == "MH":
        kinds = np.repeat(np.eye(len(classes)), len(y), axis=0)
        return [(np.hstack([np.tile(X, (len(classes), 1)), kinds]), one_of.T.ravel())]
    if method == "MI":
        return [(X, signs) for signs in one_of.T]
    if method == "ECC":
        half = np.random.default_rng(seed).permutation(len(classes)) < len(classes) // 2
        return [(X, np.where(half[np.searchsorted(classes, y)], 1.0, -1.0))]
    from palmette.class_tree import BHCTree

    groups = BHCTree().fit(X, y).tree_
    found = []
    for parent, first in _sides(groups):
        rows = np.flatnonzero(np.isin(y, classes[parent]))
        found.append((X[rows], np.where(np.isin(y[rows], classes[first]), 1.0, -1.0)))
    return found


def _sides(grown: Any) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Return the classes of every inner node, and those of its first child."""
    first: dict[int, int] = {}
    for node, parent in enumerate(grown.parents):
        if parent >= 0:
            first.setdefault(int(parent), node)
    return [(grown.groups[node], grown.groups[child]) for node, child in sorted(first.items())]


def find_pair_growth(cells: Cells, grid: Grid = PAIR_GRID, seed: int = 0) -> list[Growth]:
    """Time a round of every method with the weak learner of cost N^2, unless that is known.

    Parameters
    ----------
    cells : Cells
    grid : Grid
    seed : int

    Returns
    -------
    list of Growth
    """

    def seconds(method: str, n_rows: int, n_classes: int) -> float:
        cell = {
            "dataset": "clouds",
            "split": f"{n_rows} rows, {n_classes} classes",
            "model": f"{method}, all pairs of rows",
            "seed": seed,
            "n_repeats": grid.n_repeats,
        }
        work = _timing(method, n_rows, n_classes, grid, seed)
        return float(cells.results(cell, work)["seconds_a_round"])

    return [
        Growth(
            method,
            [seconds(method, n, grid.few_classes) for n in grid.n_rows],
            [seconds(method, grid.many_rows, n) for n in grid.n_classes],
            grid,
        )
        for method in METHODS
    ]


def _timing(
    method: str, n_rows: int, n_classes: int, grid: Grid, seed: int
) -> Callable[[], dict[str, float]]:
    def compute() -> dict[str, float]:
        problems = round_problems(method, *make_clouds(n_rows, n_classes, seed), seed)
        found = []
        for _ in range(grid.n_repeats):
            with measure() as usage:
                for rows, signs in problems:
                    PairVotes().fit(rows, signs)
            found.append(usage.cpu_seconds)
        return {"seconds_a_round": max(min(found), 1e-7)}

    return compute
