"""The collapsed space of the paper, whose classes are the symbols of each level.

A path such as ``2/1/3`` is read as three classes: "2" on level 1, "1" on level 2, "3" on level 3.
The "3" under every parent is one class. That loses the tree (Table I counts 26 classes where
ImageCLEF07A has 96 nodes), so it serves only to reproduce the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

__all__ = ["CollapsedSpace", "EqualWidthBins", "paths_of"]

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
