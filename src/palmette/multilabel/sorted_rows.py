"""Rows whose columns are sorted once, for all trees that learn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._kernels.entropy_tree import SortedColumns, take_sorted

__all__ = ["SortedRows"]


@dataclass(frozen=True, eq=False)
class SortedRows:
    """A table as `C45Tree` learns from it: of every column what is not zero, in ascending order.

    Parameters
    ----------
    columns : SortedColumns
    n_rows : int

    Examples
    --------
    >>> rows = SortedRows.of(np.array([[3.0, 0.0], [1.0, 5.0]]))
    >>> rows.columns.rows.tolist(), rows.columns.values.tolist()
    ([1, 0, 1], [1.0, 3.0, 5.0])
    >>> rows.take(np.array([0, 0])).columns.rows.tolist()
    [0, 1]
    """

    columns: SortedColumns
    n_rows: int

    @classmethod
    def of(cls, X: Any) -> SortedRows:
        """Sort the columns of an array or a sparse matrix."""
        if sparse.issparse(X):
            return cls(_sort_sparse(X), X.shape[0])
        X = np.asarray(X, dtype=np.float32).T
        order = np.argsort(X, axis=1, kind="stable")
        values = np.take_along_axis(X, order, axis=1)
        there = values != 0.0
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        columns = SortedColumns(starts, order[there].astype(np.uint32), values[there])
        return cls(columns, X.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.columns.starts) - 1

    def take(self, rows: NDArray[np.intp]) -> SortedRows:
        """Return some rows, in the order and as often as they are named."""
        order = np.argsort(rows, kind="stable").astype(np.uint32)
        counts = np.bincount(rows, minlength=self.n_rows)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return SortedRows(take_sorted(self.columns, starts, order), len(rows))

    def with_flags(self, flags: Sequence[NDArray[Any]]) -> SortedRows:
        """Return the rows with more columns of zeros and ones, given by the rows of the ones."""
        starts, rows, values = self.columns
        ends = starts[-1] + np.cumsum([len(ones) for ones in flags], dtype=np.int64)
        both = np.concatenate([rows, *flags]).astype(np.uint32)
        ones = np.ones(len(both) - len(rows), dtype=np.float32)
        columns = SortedColumns(
            np.concatenate([starts, ends]), both, np.concatenate([values, ones])
        )
        return SortedRows(columns, self.n_rows)

    def first_columns(self, n_columns: int) -> SortedRows:
        """Return the rows with what they hold in the first columns; the others are zero."""
        starts, rows, values = self.columns
        end = starts[n_columns]
        columns = SortedColumns(np.minimum(starts, end), rows[:end], values[:end])
        return SortedRows(columns, self.n_rows)


def _sort_sparse(X: Any) -> SortedColumns:
    by_column = sparse.csc_array(X, dtype=np.float32, copy=True)
    by_column.sum_duplicates()
    by_column.eliminate_zeros()
    starts = by_column.indptr.astype(np.int64)
    column = np.repeat(np.arange(X.shape[1]), np.diff(starts))
    order = np.lexsort((by_column.data, column))
    return SortedColumns(starts, by_column.indices[order].astype(np.uint32), by_column.data[order])
