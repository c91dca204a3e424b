"""The space in which the paper's tables were computed: symbols of a level, whatever is above them.

A path such as ``2/1/3`` is read as three classes: "2" on level 1, "1" on level 2, "3" on level 3.
The "3" under every parent is one class. That loses the tree (Table I counts 26 classes where
ImageCLEF07A has 96 nodes), so it serves to reproduce the paper and for nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels

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
        return (1.0 / np.cumprod(sizes))[self.level - 1]

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


class EqualWidthBins(TransformerMixin, BaseEstimator):
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
