"""What is fitted after a taxonomy has changed, and what still waits for rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette._arrays import FloatArray, IntArray
from palmette.base._wrapping import WrappedClassifier
from palmette.decisions._decode import normalize_rows
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace
from palmette.persistence.checks import numbers, require, within


class Step:
    """A classifier that divides the probability of some columns among new ones.

    Parameters
    ----------
    sources : int array of shape (n_sources,)
        Columns that are divided; with several paths per row and none, the new labels are
        independent of all others.
    first : int
        First of the new columns.
    model : WrappedClassifier
        Its labels are the children of the root of a star: one per new column and, if `has_rest`,
        "none of them" as the last.
    star : Hierarchy
    has_rest : bool
        Whether the sources keep a part.
    keeps : bool
        With several paths per row: whether the sources stay true beside their parts.
    """

    def __init__(
        self,
        sources: IntArray,
        first: int,
        model: WrappedClassifier,
        star: Hierarchy,
        has_rest: bool,
        keeps: bool,
    ) -> None:
        self.sources = sources
        self.first = first
        self.model = model
        self.star = star
        self.has_rest = has_rest
        self.keeps = keeps

    @property
    def n_parts(self) -> int:
        """Number of new columns."""
        return self.star.n_leaves - self.has_rest

    @property
    def new(self) -> slice:
        """The new columns."""
        return slice(self.first, self.first + self.n_parts)

    def divide(self, table: FloatArray, X: Any) -> None:
        """Fill the new columns of classes, and take their part from the sources, in place."""
        shares = self.model.class_proba(X, LabelSpace(self.star, self.star.leaves))
        if self.has_rest:  # labels that had been removed before are not among the sources
            table[:, self.new] = shares[:, :-1]
            table[:, self.sources] = normalize_rows(table[:, self.sources]) * shares[:, -1:]
            return
        total = table[:, self.sources].sum(axis=1, keepdims=True)
        table[:, self.new] = total * shares
        table[:, self.sources] = 0.0

    def add(self, table: FloatArray, X: Any) -> None:
        """Fill the new columns of nodes that are decided separately, in place."""
        shares = self.model.node_proba(X, self.star.leaves)
        if len(self.sources):
            shares *= any_of(table[:, self.sources])[:, None]
            if not self.keeps:
                table[:, self.sources] = 0.0
        table[:, self.new] = shares

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        sources = numbers(self.sources, np.int32, 1, "sources")
        require(isinstance(self.first, int) and within(sources, self.first), "a source is unknown")
        require(isinstance(self.star, Hierarchy) and self.star.max_depth == 1, "expected a star")
        require(isinstance(self.model, WrappedClassifier), "the model of a step is missing")
        flags = isinstance(self.has_rest, bool) and isinstance(self.keeps, bool)
        require(flags and self.n_parts > 0, "a step has no parts")


class Pending:
    """Nodes that need rows: parts of columns, or new leaves if there are no sources.

    Parameters
    ----------
    sources : int array of shape (n_sources,)
    parts : int array of shape (n_parts,)
        Nodes of the new hierarchy.
    keeps : bool
        As in `Step`.
    """

    def __init__(self, sources: IntArray, parts: IntArray, keeps: bool = False) -> None:
        self.sources = sources
        self.parts = parts
        self.keeps = keeps

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        for each in (self.sources, self.parts):
            numbers(each, np.int32, 1, "pending nodes")


def any_of(table: FloatArray) -> FloatArray:
    """Return the probability that some node is true, if they are independent: (n_samples,)."""
    if table.shape[1] == 1:
        return np.array(table[:, 0])
    return np.asarray(1.0 - np.prod(1.0 - table, axis=1))
