"""Rows with label sets along a class tree: which options are true of a row, and scales of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, take_rows
from palmette.class_tree._routing import OptionTable, Run
from palmette.decisions._coherence import NodeColumns
from palmette.persistence.checks import numbers, require


class TermScale:
    """Scale sparse rows to length one, optionally after weighting columns by rarity.

    A column that occurs in d of n rows is multiplied by ``log((1 + n) / (1 + d)) + 1``.

    Parameters
    ----------
    idf : bool

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 1.0], [1.0, 0.0]])
    >>> TermScale(False).fit(X).transform(X).toarray().round(2).tolist()
    [[0.71, 0.71], [1.0, 0.0]]
    >>> TermScale(True).fit(X).weights_.round(2).tolist()
    [1.0, 1.41]
    """

    def __init__(self, idf: bool) -> None:
        self.idf = idf

    def fit(self, X: sparse.csr_array, weights: FloatArray | None = None) -> TermScale:
        """Count in how many rows each column occurs."""
        self.weights_ = np.ones(X.shape[1])
        if self.idf:
            each = None if weights is None else np.repeat(weights, np.diff(X.indptr))
            rows = X.shape[0] if weights is None else weights.sum()
            found = np.bincount(X.indices, each, minlength=X.shape[1])
            self.weights_ = np.log((1.0 + rows) / (1.0 + found)) + 1.0
        return self

    def transform(self, X: Any) -> sparse.csr_array:
        """Return scaled rows, of shape (n_samples, n_features)."""
        X = sparse.csr_array(X, dtype=np.float64)
        values = X.data * self.weights_[X.indices]
        lengths = np.sqrt(np.bincount(owners(X), values * values, minlength=X.shape[0]))
        lengths[lengths == 0] = 1.0
        content = values / np.repeat(lengths, np.diff(X.indptr)), X.indices, X.indptr
        return sparse.csr_array(content, shape=X.shape)

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        found = numbers(self.weights_, np.float64, 1, "weights of columns")
        require(np.isfinite(found), "a weight of a column is not finite")


def owners(X: sparse.csr_array) -> NDArray[np.intp]:
    """Return the row of every entry."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


@dataclass(eq=False)
class SetProblem:
    """Rows, the options that are true of them, and the tree.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    reached : sparse bool array of shape (n_samples, n_options), CSC
    table : OptionTable
    weights : array of shape (n_samples,), optional
    seed : int
    run : callable
        Applies a function to items and returns the results in order, such as in threads.
    """

    X: Any
    reached: sparse.csc_array
    table: OptionTable
    weights: FloatArray | None
    seed: int
    run: Run

    def __post_init__(self) -> None:
        leads_on = np.flatnonzero(self.table.targets >= 0)
        self._option = np.full(self.table.n_nodes, -1)  # the option that leads to a node
        self._option[self.table.targets[leads_on]] = leads_on

    def restrict(self, rows: NDArray[np.intp]) -> SetProblem:
        """Return the problem of some rows."""
        weights = None if self.weights is None else self.weights[rows]
        reached = sparse.csc_array(sparse.csr_array(self.reached)[rows])
        return SetProblem(
            take_rows(self.X, rows), reached, self.table, weights, self.seed, self.run
        )

    def rows_of(self, node: int) -> NDArray[np.int64]:
        """Return the rows of which a node is true, ascending; all rows at the root."""
        if node == 0:
            return np.arange(self.reached.shape[0], dtype=np.int64)
        option = int(self._option[node])
        return np.sort(self._entries(option, option + 1)[0]).astype(np.int64)

    def signs_of(self, rows: NDArray[np.int64], first: int, end: int) -> NDArray[np.int8]:
        """Return 1 where an option is true and -1 elsewhere: (n_rows, n_options)."""
        signs = np.full((len(rows), end - first), -1, dtype=np.int8)
        found, option = self._entries(first, end)
        signs[np.searchsorted(rows, found), option] = 1
        return signs

    def _entries(self, first: int, end: int) -> tuple[IntArray, NDArray[np.intp]]:
        """Return the rows of some options, and the number of the option of each."""
        starts = self.reached.indptr[first : end + 1]
        option = np.repeat(np.arange(end - first), np.diff(starts))
        return self.reached.indices[starts[0] : starts[-1]], option


class LabelOptions(NamedTuple):
    """A tree over the nodes of a model: every column is one option.

    Parameters
    ----------
    table : OptionTable
        Its classes are the columns without children, ascending.
    columns : int array of shape (n_options,)
        Column of every option.
    leaves : int array of shape (n_leaves,)
        Column of every class.
    """

    table: OptionTable
    columns: NDArray[np.intp]
    leaves: NDArray[np.intp]

    @classmethod
    def of(cls, nodes: NodeColumns, targets: sparse.csr_array) -> LabelOptions:
        """Return the options of a tree or DAG.

        In a DAG, a node is an option of its rarest parent: if it is true, all parents are.

        Parameters
        ----------
        nodes : NodeColumns
        targets : sparse bool array of shape (n_samples, n_columns)
        """
        hierarchy = nodes.hierarchy
        column = np.full(hierarchy.n_nodes, -1)
        column[nodes.nodes] = np.arange(len(nodes.nodes))
        size = np.full(hierarchy.n_nodes, targets.shape[0])
        size[nodes.nodes] = np.bincount(targets.indices, minlength=len(nodes.nodes))
        edges = hierarchy.edges[column[hierarchy.edges[:, 1]] >= 0]
        edges = edges[np.lexsort((edges[:, 0], size[edges[:, 0]], edges[:, 1]))]
        children, first = np.unique(edges[:, 1], return_index=True)
        parents = edges[first, 0]
        inner = np.union1d(parents, [0]).astype(np.int32)
        place = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
        place[inner] = np.arange(len(inner), dtype=np.int32)
        order = np.lexsort((children, place[parents]))
        children, parents = children[order], parents[order]
        targets_of, is_leaf = place[children], place[children] < 0
        leaves = np.sort(children[is_leaf])
        ends = np.where(is_leaf, np.searchsorted(leaves, children), -1).astype(np.int32)
        table = OptionTable(
            inner,
            np.concatenate([[0], np.cumsum(np.bincount(place[parents], minlength=len(inner)))]),
            targets_of,
            ends,
            _below(children, parents, leaves, hierarchy.n_nodes),
        )
        return cls(table, column[children], column[leaves])

    def problem(
        self, X: Any, targets: sparse.csr_array, weights: FloatArray | None, seed: int, run: Run
    ) -> SetProblem:
        """Return the problem of rows of which some columns are true."""
        reached = sparse.csc_array(sparse.csc_array(targets)[:, self.columns])
        return SetProblem(X, reached, self.table, weights, seed, run)


def _below(
    children: IntArray, parents: IntArray, leaves: IntArray, n_nodes: int
) -> sparse.csr_array:
    """Return the leaves below every option: sparse bool, (n_options, n_leaves)."""
    option, above = np.full((2, n_nodes), -1)
    option[children], above[children] = np.arange(len(children)), parents
    options, classes, here = [], [], leaves.astype(np.int64)
    code = np.arange(len(leaves))
    while here.size:
        options.append(option[here])
        classes.append(code)
        here = above[here]
        here, code = here[here > 0], code[here > 0]
    pairs = np.concatenate(options), np.concatenate(classes)
    flags = np.ones(len(pairs[0]), dtype=bool)
    return sparse.csr_array((flags, pairs), shape=(len(children), len(leaves)))
