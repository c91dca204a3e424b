"""Score answers in two spaces: the collapsed one of the paper, and the true tree.

In the collapsed space a path such as ``2/1/3`` is read as three classes: "2" on level 1, "1" on
level 2, "3" on level 3. The "3" under every parent is one class. That loses the tree (Table I
counts 26 classes where ImageCLEF07A has 96 nodes), so it serves only to reproduce the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics import (
    hierarchical_costs,
    hierarchical_f1_score,
    hmc_loss,
    multilabel_f1_score,
)

__all__ = [
    "AnswerSpace",
    "CollapsedAnswers",
    "CollapsedSpace",
    "EqualWidthBins",
    "TreeAnswers",
    "errors_of_losses",
    "losses_of_signs",
    "paths_of",
    "top_k_precision",
]

# ---------------------------------------------------------------------- the collapsed space


Path = tuple[str, ...]


def paths_of(y: Any, hierarchy: Hierarchy) -> list[Path]:
    """Return the path of every row's label, as tuples of text.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("2", "1"), ("3",)])
    >>> paths_of(["2/1", "3"], h)
    [('2', '1'), ('3',)]
    """
    nodes = NodeLabels.encode(y, hierarchy).terminals
    path = {node: tuple(map(str, hierarchy.path(node))) for node in np.unique(nodes).tolist()}
    return [path[node] for node in nodes.tolist()]


class CollapsedSpace:
    """Symbols of every level as classes.

    Parameters
    ----------
    paths : sequence of tuples of str
        Of the training rows: a symbol that occurs in none of them is no class.
    n_levels : int, optional
        Deeper symbols are left out; by default none are. (The paper gives Diatoms 2 levels; 5
        training rows have a third.)

    Attributes
    ----------
    classes : list of (level, symbol)
        Levels from 1, symbols sorted.
    level : int array of shape (n_classes,)
    edges : int array of shape (n_edges, 2)
        Pairs of classes, one under the other in some training row; by child, then by parent.

    Examples
    --------
    >>> space = CollapsedSpace([("2", "1"), ("3", "1"), ("3",)])
    >>> space.classes
    [(1, '2'), (1, '3'), (2, '1')]
    >>> space.indicator([("3", "1"), ("2", "9")])
    array([[0, 1, 1],
           [1, 0, 0]], dtype=uint8)
    """

    def __init__(self, paths: Sequence[Path], n_levels: int | None = None) -> None:
        found = {
            (level, symbol)
            for path in set(paths)
            for level, symbol in enumerate(path[:n_levels], start=1)
        }
        self.classes = sorted(found)
        self.level = np.array([level for level, _ in self.classes])
        self._place = {one: place for place, one in enumerate(self.classes)}
        pairs = {
            (self._place[depth, path[depth - 1]], self._place[depth + 1, path[depth]])
            for path in set(paths)
            for depth in range(1, len(path[:n_levels]))
        }
        order = sorted(pairs, key=lambda pair: (pair[1], pair[0]))
        self.edges = np.array(order, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def above(self) -> NDArray[np.float32]:
        """Which class a class may be at or below: (n_classes, n_classes), below by above."""
        above = np.eye(len(self.classes), dtype=np.float32)
        for parent, child in self.edges.tolist():  # parents come first
            above[child] = np.maximum(above[child], above[parent])
        return above

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return int(self.level.max())

    @property
    def n_leaves(self) -> int:
        """Classes of the last level: what Table I calls leaf nodes."""
        return int((self.level == self.n_levels).sum())

    def indicator(self, paths: Sequence[Path]) -> NDArray[np.uint8]:
        """Return 0/1 of shape (n_samples, n_classes); symbols that are no class are left out."""
        matrix = np.zeros((len(paths), len(self.classes)), dtype=np.uint8)
        for row, path in enumerate(paths):
            for one in enumerate(path[: self.n_levels], start=1):
                if one in self._place:
                    matrix[row, self._place[one]] = 1
        return matrix

    def rows_of_leaves(self, paths: Sequence[Path]) -> NDArray[np.int64]:
        """Number of rows of every class of the last level, of those rows that end there.

        Examples
        --------
        >>> paths = [("a", "x"), ("b", "x"), ("b", "y"), ("b",)]
        >>> CollapsedSpace(paths).rows_of_leaves(paths)
        array([2, 1])
        """
        ending = [path for path in paths if len(path) == self.n_levels]
        counts = self.indicator(ending).sum(axis=0, dtype=np.int64)
        return np.asarray(counts[self.level == self.n_levels])

    def n_outside(self, paths: Sequence[Path]) -> int:
        """Number of symbols in some rows that are no class."""
        listed = sum(len(path[: self.n_levels]) for path in paths)
        return listed - int(self.indicator(paths).sum(dtype=np.int64))

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """Eq. 6 of shape (n_classes,), where a class's siblings are all of its level.

        Examples
        --------
        >>> CollapsedSpace([("a", "x"), ("b", "y"), ("b", "z")]).costs.round(3)
        array([0.5  , 0.5  , 0.167, 0.167, 0.167])
        """
        sizes = np.bincount(self.level)[1:]
        costs: NDArray[np.float64] = (1.0 / np.cumprod(sizes))[self.level - 1]
        return costs

    def pick(self, scores: NDArray[np.float64], rule: str) -> NDArray[np.bool_]:
        """Choose one class on every level.

        Parameters
        ----------
        scores : array of shape (n_samples, n_classes)
        rule : {"first", "best"}
            The first class with a positive score, or the first class where none has; or the class
            with the highest score.

        Returns
        -------
        bool array of shape (n_samples, n_classes)

        Examples
        --------
        >>> space = CollapsedSpace([("a",), ("b",)])
        >>> space.pick(np.array([[0.1, 0.2]]), "first"), space.pick(np.array([[0.1, 0.2]]), "best")
        (array([[ True, False]]), array([[False,  True]]))
        """
        chosen = np.zeros(scores.shape, dtype=bool)
        rows = np.arange(len(scores))
        for level in range(1, self.n_levels + 1):
            columns = np.flatnonzero(self.level == level)
            values = scores[:, columns]
            chosen[rows, columns[(values > 0 if rule == "first" else values).argmax(axis=1)]] = True
        return chosen

    def paths(self, chosen: NDArray[np.bool_]) -> list[Path]:
        """Read the classes chosen for every row, one on each level, as a path."""
        symbols = np.array([symbol for _, symbol in self.classes], dtype=object)
        return [tuple(symbols[row]) for row in chosen]


class EqualWidthBins(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Codes by thresholds at equal distances, in place of exact values.

    Parameters
    ----------
    n_thresholds : int
        From one step below the least training value to the greatest: the first and the last tell
        nothing apart, so that 12 of them are 10 steps.

    Examples
    --------
    >>> X = np.array([[0.0], [4.9], [10.0]])
    >>> EqualWidthBins(n_thresholds=4).fit_transform(X).ravel()  # at -5, 0, 5 and 10
    array([1., 2., 3.])
    """

    def __init__(self, n_thresholds: int = 12) -> None:
        self.n_thresholds = n_thresholds

    def fit(self, X: Any, y: Any = None) -> EqualWidthBins:
        """Place the thresholds of every feature."""
        low, high = np.min(X, axis=0), np.max(X, axis=0)
        steps = np.arange(-1, self.n_thresholds - 1)[:, None] / (self.n_thresholds - 2)
        self.thresholds_ = low + steps * (high - low)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Count the thresholds below every value: shape (n_samples, n_features)."""
        codes = np.zeros(np.shape(X))
        for thresholds in self.thresholds_:
            codes += np.asarray(X) > thresholds
        return codes


# ---------------------------------------------------------------------- scores


Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class AnswerSpace:
    """The classes of a space and the truth of the test rows.

    Parameters
    ----------
    truth : bool array of shape (n_test, n_classes)
    level : int array of shape (n_classes,)
        From 1.
    costs : float array of shape (n_classes,)
        Eq. 6: not scaled.
    ratio : float
        Negative over positive cells of the training labels: lambda of HMC-loss.
    """

    truth: Flags
    level: NDArray[np.int64]
    costs: NDArray[np.float64]
    ratio: float

    def scores(self, predicted: Flags) -> dict[str, float]:
        """Score answers of shape (n_test, n_classes), classes as they were given, none implied.

        Returns
        -------
        dict
            ``micro_f1`` with the ends of its interval; ``macro_f1`` over the classes that are true
            or predicted in some row, and ``macro_f1_by_level``, its mean over levels; ``h_f``;
            ``hmc_loss`` with costs that sum to one, and ``hmc_loss_unscaled`` with those of Eq. 6
            as they are; ``one_path``, the share of rows whose classes form one path from the top.
        """
        by_level = [
            _macro(self.truth[:, self.level == level], predicted[:, self.level == level])
            for level in range(1, self.level.max() + 1)
        ]
        hmc = self._hmc(predicted)
        low, high = self.micro_f1_interval(predicted)
        return {
            "micro_f1": multilabel_f1_score(self.truth, predicted, average="micro"),
            "micro_f1_low": low,
            "micro_f1_high": high,
            "macro_f1": _macro(self.truth, predicted),
            "macro_f1_by_level": float(np.mean(by_level)),
            "h_f": self.hierarchical_f1(predicted),
            "hmc_loss": hmc / float(self.costs.sum()),
            "hmc_loss_unscaled": hmc,
            "one_path": float(self.is_one_path(predicted).mean()),
        }

    def micro_f1_interval(self, predicted: Flags, n_draws: int = 1000) -> tuple[float, float]:
        """Ends of the middle 95% of the Micro-F1 of test rows drawn anew, with replacement."""
        right = (self.truth & predicted).sum(axis=1)
        listed = self.truth.sum(axis=1) + predicted.sum(axis=1)
        n_rows = len(right)
        drawn = np.random.default_rng(0).integers(n_rows, size=(n_draws, n_rows))
        found = 2 * right[drawn].sum(axis=1) / np.maximum(listed[drawn].sum(axis=1), 1)
        low, high = np.quantile(found, [0.025, 0.975])
        return float(low), float(high)

    def _hmc(self, predicted: Flags) -> float:
        # on a star nothing is implied; its root, which costs nothing, comes first
        star = Hierarchy.star(range(self.truth.shape[1]))
        costs = np.concatenate([[0.0], self.costs])
        return hmc_loss(
            self.truth.astype(np.uint8),
            predicted.astype(np.uint8),
            hierarchy=star,
            ratio=self.ratio,
            costs=costs,
        )

    def level_accuracy(self, predicted: Flags) -> list[float]:
        """Share of rows with exactly the true classes, of those that have any on a level."""
        shares = []
        for level in range(1, self.level.max() + 1):
            true, given = self.truth[:, self.level == level], predicted[:, self.level == level]
            reached = true.any(axis=1) | given.any(axis=1)
            right = (true == given).all(axis=1) & reached
            shares.append(float(right.sum() / reached.sum()) if reached.any() else float("nan"))
        return shares

    def hierarchical_f1(self, predicted: Flags) -> float:
        """H-F (Eq. 14), where nodes are identified by their paths."""
        raise NotImplementedError

    def is_one_path(self, predicted: Flags) -> Flags:
        """Which rows have one path from the top, whole: shape (n_test,)."""
        raise NotImplementedError

    def hierarchical_errors(self, predicted: Flags) -> Flags:
        """Cells that are wrong, or below a wrong one (Eq. 3)."""
        return np.asarray((self.truth != predicted) @ self._above.T > 0)

    @property
    def _above(self) -> NDArray[np.float32]:
        """Which class lies at or above which: (n_classes, n_classes), below by above."""
        raise NotImplementedError


def _macro(truth: Flags, predicted: Flags) -> float:
    return float(multilabel_f1_score(truth, predicted, average="macro", undefined=float("nan")))


@dataclass(frozen=True)
class CollapsedAnswers(AnswerSpace):
    """Answers in the collapsed space, one class on each level.

    Parameters
    ----------
    space : CollapsedSpace
    paths : list of tuples of str
        Of the test rows.
    nodes : set of tuples of str
        All paths of the tree.
    """

    space: CollapsedSpace
    paths: list[tuple[str, ...]]
    nodes: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, problem: Problem, space: CollapsedSpace) -> CollapsedAnswers:
        """Take the truth from a problem."""
        hierarchy = problem.hierarchy
        train = space.indicator(paths_of(problem.y_train, hierarchy))
        positive = int(train.sum(dtype=np.int64))
        paths = [path[: space.n_levels] for path in paths_of(problem.y_test, hierarchy)]
        nodes = (tuple(map(str, hierarchy.path(node))) for node in range(1, hierarchy.n_nodes))
        return cls(
            space.indicator(paths).astype(bool),
            space.level,
            space.costs,
            (train.size - positive) / positive,
            space,
            paths,
            frozenset(nodes),
        )

    def hierarchical_f1(self, predicted: Flags) -> float:
        """H-F of the classes of a row, read as a path."""
        return float(hierarchical_f1_score(self.paths, self.space.paths(predicted)))

    def is_one_path(self, predicted: Flags) -> Flags:
        """Which rows have classes that are a path of the tree."""
        return np.array([path in self.nodes for path in self.space.paths(predicted)])

    @property
    def _above(self) -> NDArray[np.float32]:
        return self.space.above


@dataclass(frozen=True)
class TreeAnswers(AnswerSpace):
    """Answers on the true tree: its nodes but the root are the classes.

    Parameters
    ----------
    hierarchy : Hierarchy
    """

    hierarchy: Hierarchy

    @classmethod
    def of(cls, problem: Problem) -> TreeAnswers:
        """Take the truth from a problem."""
        hierarchy = problem.hierarchy
        train = NodeLabels.encode(problem.y_train, hierarchy).closed[:, 1:]
        positive = int(train.sum())
        return cls(
            NodeLabels.encode(problem.y_test, hierarchy).closed[:, 1:].toarray().astype(bool),
            hierarchy.depth[1:].astype(np.int64),
            hierarchical_costs(hierarchy, normalize=False)[1:],
            (train.shape[0] * train.shape[1] - positive) / positive,
            hierarchy,
        )

    @cached_property
    def _above(self) -> NDArray[np.float32]:
        return np.asarray(self.hierarchy.closure[1:, 1:].toarray(), dtype=np.float32)

    def hierarchical_f1(self, predicted: Flags) -> float:
        """H-F of the nodes and all their ancestors."""
        truth, answer = self.truth.astype(np.uint8), predicted.astype(np.uint8)
        return float(hierarchical_f1_score(truth, answer, hierarchy=self.hierarchy))

    def is_one_path(self, predicted: Flags) -> Flags:
        """Which rows have some node, its ancestors, and nothing beside."""
        whole = (predicted @ self._above > 0).sum(axis=1) == predicted.sum(axis=1)
        deepest = (predicted * self.level).max(axis=1)
        return np.asarray(whole & predicted.any(axis=1) & (deepest == predicted.sum(axis=1)))


def errors_of_losses(space: AnswerSpace, scores: NDArray[np.float64]) -> list[float]:
    """Standard errors, over the test rows, of the two losses of `losses_of_signs`."""
    predicted = scores > 0
    wrong = space.truth != predicted, space.hierarchical_errors(predicted)
    return [float(each.mean(axis=1).std() / np.sqrt(len(each))) for each in wrong]


def losses_of_signs(space: AnswerSpace, scores: NDArray[np.float64]) -> tuple[float, float]:
    """Test errors of the signs of scores.

    Parameters
    ----------
    space : AnswerSpace
    scores : array of shape (n_test, n_classes)

    Returns
    -------
    hamming : float
        Share of cells that are wrong.
    hierarchical : float
        Share of cells that are wrong or below a wrong one (Eq. 2-3).
    """
    predicted = scores > 0
    hamming = float((space.truth != predicted).mean())
    return hamming, float(space.hierarchical_errors(predicted).mean())


def top_k_precision(truth: Flags, scores: Any, n_levels: int) -> list[float]:
    """Share of the k best-scored classes that are true, for k = 1 to the depth.

    Parameters
    ----------
    truth : bool array of shape (n_test, n_classes)
    scores : array of shape (n_test, n_classes)
    n_levels : int

    Returns
    -------
    list of n_levels floats

    Examples
    --------
    >>> top_k_precision(np.array([[True, False, True]]), np.array([[0.9, 0.5, 0.1]]), 2)
    [1.0, 0.5]
    """
    best = np.argsort(-np.asarray(scores), axis=1, kind="stable")[:, :n_levels]
    hits = np.take_along_axis(truth, best, axis=1)
    return [float(hits[:, :k].mean()) for k in range(1, n_levels + 1)]
