"""Rows with label sets along a class tree: which options are true of a row, and scales of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, take_rows
from palmette.base._class_moments import Run
from palmette.base._grow import GrownTree
from palmette.class_tree._routing import OptionTable
from palmette.decisions._coherence import NodeColumns
from palmette.persistence.checks import held, numbers, require


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

    in_files: ClassVar = {
        "idf": held(bool),
    }

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


Divide = Callable[[NDArray[np.intp]], "GrownTree | None"]


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
    """A tree over the nodes of a model: every column is one option, and groups are further ones.

    Parameters
    ----------
    table : OptionTable
        Its classes are the columns without children, ascending.
    columns : int array of shape (n_options,)
        Column of every option; -1 for groups, which are not nodes of the model.
    leaves : int array of shape (n_leaves,)
        Column of every class.
    members : sparse bool array of shape (n_columns, n_options), CSC
        Columns of which one is true if an option is.
    """

    table: OptionTable
    columns: NDArray[np.intp]
    leaves: NDArray[np.intp]
    members: sparse.csc_array

    @classmethod
    def of(
        cls,
        nodes: NodeColumns,
        targets: sparse.csr_array,
        divide: Divide | None = None,
        own: NDArray[np.intp] | None = None,
    ) -> LabelOptions:
        """Return the options of a tree or DAG.

        In a DAG, a node is an option of its rarest parent: if it is true, all parents are.

        Parameters
        ----------
        nodes : NodeColumns
        targets : sparse bool array of shape (n_samples, n_columns)
            Columns of `nodes`, then one for each of `own`.
        divide : callable, optional
            Learns groups of the children of a node, which are columns; None if they need none.
        own : int array of shape (n_own,), optional
            Columns of inner nodes that are labels themselves: each gets a further option, below the
            node, that is true of the rows that list this very label.
        """
        parents = _rarest_parents(nodes, targets)
        if own is not None:
            parents = np.concatenate([parents, own])
        n_columns = len(parents)
        groups: list[NDArray[np.intp]] = []  # of columns
        if divide is not None:
            above = list(parents)
            order = np.argsort(parents, kind="stable")
            found, starts = np.unique(parents[order], return_index=True)
            for parent, children in zip(found, np.split(order, starts[1:]), strict=True):
                grown = divide(children)
                if grown is None:
                    continue
                place = {0: parent}  # the whole is the parent itself
                for group, part in enumerate(grown.groups[1:], start=1):
                    outer = place[grown.parents[group]]
                    if len(part) == 1:
                        above[children[part[0]]] = outer
                        continue
                    place[group] = n_columns + len(groups)
                    groups.append(children[part])
                    above.append(outer)
                    for child in children[part]:
                        above[child] = place[group]  # a later group is a smaller one
            parents = np.asarray(above)
        table, option = _table_of(parents, n_columns)
        columns = np.where(option < n_columns, option, -1)
        sets = [np.array([k]) if k < n_columns else groups[k - n_columns] for k in option.tolist()]
        starts = np.concatenate([[0], np.cumsum([len(each) for each in sets])])
        flags = np.ones(starts[-1], dtype=bool)
        shape = (n_columns, len(sets))
        members = sparse.csc_array((flags, np.concatenate(sets), starts), shape=shape)
        has_children = np.zeros(len(parents), dtype=bool)
        has_children[parents[parents >= 0]] = True
        leaves = np.flatnonzero(~has_children[:n_columns])
        return cls(table, columns, leaves, members)

    def over_leaves(self) -> LabelOptions:
        """Return the options with columns for the leaves only, in their order; others are groups.

        Targets are then the columns of `leaves`.
        """
        table = self.table
        columns = table.ends.astype(np.intp)
        leaves = np.arange(len(self.leaves))
        return LabelOptions(table, columns, leaves, sparse.csc_array(table.below.T))

    def reached(self, targets: sparse.csr_array) -> sparse.csc_array:
        """Return the options that rows reach: sparse bool, (n_samples, n_options)."""
        return sparse.csc_array(targets.astype(bool) @ self.members)


def _rarest_parents(nodes: NodeColumns, targets: sparse.csr_array) -> NDArray[np.intp]:
    """Return the parent of every column, the one with the fewest rows; -1 for the root."""
    hierarchy = nodes.hierarchy
    column = np.full(hierarchy.n_nodes, -1)
    column[nodes.nodes] = np.arange(len(nodes.nodes))
    size = np.full(hierarchy.n_nodes, targets.shape[0])
    n_columns = len(nodes.nodes)
    size[nodes.nodes] = np.bincount(targets.indices, minlength=n_columns)[:n_columns]
    edges = hierarchy.edges[column[hierarchy.edges[:, 1]] >= 0]
    edges = edges[np.lexsort((edges[:, 0], size[edges[:, 0]], edges[:, 1]))]
    children, first = np.unique(edges[:, 1], return_index=True)
    parents = np.full(len(nodes.nodes), -1)
    parents[column[children]] = column[edges[first, 0]]
    return parents


def _table_of(parents: NDArray[np.intp], n_columns: int) -> tuple[OptionTable, NDArray[np.intp]]:
    """Return the options of a tree, and the number of the child of every option.

    Parameters
    ----------
    parents : int array of shape (n,)
        Parent of every column, and of every group after the columns; -1 for the root.
    n_columns : int
    """
    depth = np.zeros(len(parents), dtype=np.int64)
    here = parents
    while (here >= 0).any():
        depth += here >= 0
        here = np.where(here >= 0, parents[here], -1)
    inner = np.unique(parents[parents >= 0])
    inner = inner[np.lexsort((inner, depth[inner]))]  # parents before children
    place = np.full(len(parents) + 1, -1, dtype=np.int32)  # the last is the root: place[-1]
    place[inner], place[-1] = np.arange(1, len(inner) + 1), 0
    owner = place[parents]
    order = np.lexsort((np.arange(len(parents)), owner)).astype(np.intp)
    targets = place[:-1][order]
    leaves = np.flatnonzero(place[:n_columns] < 0)
    code = np.full(len(parents), -1, dtype=np.int32)
    code[leaves] = np.arange(len(leaves))
    option = np.empty(len(parents), dtype=np.intp)
    option[order] = np.arange(len(order))
    options, classes, found, classes_here = [], [], leaves, np.arange(len(leaves))
    while found.size:
        options.append(option[found])
        classes.append(classes_here)
        up = parents[found]
        found, classes_here = up[up >= 0], classes_here[up >= 0]
    pairs = np.concatenate(options), np.concatenate(classes)
    flags = np.ones(len(pairs[0]), dtype=bool)
    table = OptionTable(
        np.concatenate([[-1], inner]).astype(np.int32),
        np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(inner) + 1))]),
        targets,
        code[order],
        sparse.csr_array((flags, pairs), shape=(len(parents), len(leaves))),
    )
    return table, order
