"""Coherence of node probabilities: no child is more probable than its parents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import row_chunks
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import node_csr

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float32] | NDArray[np.float64]

_NUMBERS_AT_ONCE = 2**19  # probabilities processed at once: 4 MiB fit in the cache


class NodeColumns:
    """The nodes that the columns of a table stand for, and the edges between them.

    Parameters
    ----------
    hierarchy : Hierarchy
    nodes : int array of shape (n_columns,)
        Ascending, so that parents come before children. The root, which is always true, is left
        out; all other ancestors of each node are included.

    Attributes
    ----------
    hierarchy : Hierarchy
    nodes : int array of shape (n_columns,)
    edges : int array of shape (n_edges, 2)
        Columns of parent and child; edges from the root are left out.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> columns = NodeColumns(h, h.index(["animal", "cat", "plant"]))
    >>> columns.edges.tolist()
    [[0, 1]]
    """

    def __init__(self, hierarchy: Hierarchy, nodes: IntArray) -> None:
        self.hierarchy = hierarchy
        self.nodes = np.asarray(nodes, dtype=np.int32)
        if (np.diff(self.nodes, prepend=0) <= 0).any():
            raise HierarchyError("nodes are unsorted or contain 0: expected ascending numbers.")
        column = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
        column[self.nodes] = np.arange(self.n_columns, dtype=np.int32)
        edges = column[hierarchy.edges]
        below_root = hierarchy.edges[:, 0] == 0
        orphans = (edges[:, 1] >= 0) & (edges[:, 0] < 0) & ~below_root
        if orphans.any():
            parent, child = hierarchy.names[hierarchy.edges[orphans][0]]
            raise HierarchyError(
                f"{child!r} is a column, but its parent {parent!r} is not: expected all ancestors."
            )
        self.edges: IntArray = edges[(edges >= 0).all(axis=1)]
        self._is_top = np.zeros(self.n_columns, dtype=bool)
        self._is_top[edges[below_root & (edges[:, 1] >= 0), 1]] = True

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.nodes)

    def place(self, nodes: IntArray) -> IntArray:
        """Return the column of each node, or -1 if it has none."""
        if not self.n_columns:
            return np.full(len(nodes), -1, dtype=np.int32)
        places = np.searchsorted(self.nodes, nodes).clip(max=self.n_columns - 1)
        return np.where(self.nodes[places] == nodes, places, -1).astype(np.int32)

    def pick(
        self, table: FloatArray, nodes: IntArray, *, root: float = 1.0, absent: float = 0.0
    ) -> NDArray[np.float64]:
        """Return the values of any nodes, in their order: (n_samples, n_wanted).

        Parameters
        ----------
        table : array of shape (n_samples, n_columns)
            Probabilities or scores.
        nodes : int array of shape (n_wanted,)
        root, absent : float
            Values of the root, and of nodes without a column.
        """
        place = self.place(nodes)
        there = np.flatnonzero(place >= 0)
        picked = np.full((len(table), len(nodes)), absent, dtype=np.float64)
        picked[:, there] = table[:, place[there]]
        picked[:, np.asarray(nodes) == 0] = root
        return picked

    def sets_of_nodes(self, sets: sparse.csr_array) -> sparse.csr_array:
        """Convert sparse sets of columns to sets of nodes, of shape (n_samples, n_nodes)."""
        return node_csr(self.nodes[sets.indices], sets.indptr, self.hierarchy.n_nodes)

    # ------------------------------------------------------------------ levels

    @cached_property
    def _by_depth(self) -> list[IntArray]:
        """Edges grouped by the depth of the child, deepest first."""
        depth = self.hierarchy.depth[self.nodes[self.edges[:, 1]]]
        order = np.argsort(-depth, kind="stable")
        bounds = np.flatnonzero(np.diff(depth[order])) + 1
        return np.split(self.edges[order], bounds) if len(order) else []

    @cached_property
    def _lifts_all(self) -> list[_Lift]:
        return [_Lift.of(edges) for edges in self._by_depth]

    @cached_property
    def _lifts_any(self) -> list[tuple[_Lift | None, list[_Choice]]]:
        steps = []
        for edges in self._by_depth:
            edges = edges[~self._is_top[edges[:, 1]]]  # the root is a parent that is always true
            n_parents = np.bincount(edges[:, 1], minlength=self.n_columns)[edges[:, 1]]
            sole = edges[n_parents == 1]
            choices = [
                _Choice.of(edges[n_parents == n], int(n)) for n in np.unique(n_parents) if n > 1
            ]
            steps.append((_Lift.of(sole) if len(sole) else None, choices))
        return steps

    def _lift(self, block: FloatArray, rule: str) -> None:
        """Raise parents in a block of shape (n_columns, n_samples), in place."""
        if rule == "all":
            for lift in self._lifts_all:
                lift.apply(block)
            return
        for sole, choices in self._lifts_any:
            # choices depend on the values before this level, not on the order of its nodes
            claims = [choice.claims(block) for choice in choices]
            if sole is not None:
                sole.apply(block)
            for parents, samples, values in claims:
                np.maximum.at(block, (parents, samples), values)


@dataclass(frozen=True, eq=False)
class _Lift:
    """Edges of one depth, grouped by parent: every parent is raised to its highest child."""

    parents: IntArray
    children: IntArray
    first: NDArray[np.intp]  # position of each parent's first child

    @classmethod
    def of(cls, edges: IntArray) -> _Lift:
        edges = edges[np.argsort(edges[:, 0], kind="stable")]
        first = np.flatnonzero(np.diff(edges[:, 0], prepend=-1))
        return cls(edges[first, 0], edges[:, 1], first)

    def apply(self, block: FloatArray) -> None:
        highest = np.maximum.reduceat(block[self.children], self.first, axis=0)
        block[self.parents] = np.maximum(block[self.parents], highest)


@dataclass(frozen=True, eq=False)
class _Choice:
    """Nodes of one depth with equally many parents, one of which is raised if none suffices."""

    children: IntArray  # (n_children,)
    parents: IntArray  # (n_children, n_parents), ascending

    @classmethod
    def of(cls, edges: IntArray, n_parents: int) -> _Choice:
        edges = edges[np.lexsort((edges[:, 0], edges[:, 1]))]
        return cls(edges[::n_parents, 1], edges[:, 0].reshape(-1, n_parents))

    def claims(self, block: FloatArray) -> tuple[IntArray, NDArray[np.intp], FloatArray]:
        """Return the parents to raise, their samples, and their new values."""
        top = block[self.parents[:, 0]]
        best = np.zeros(top.shape, dtype=np.int16)
        for i in range(1, self.parents.shape[1]):
            values = block[self.parents[:, i]]
            better = values > top
            best[better] = i
            np.maximum(top, values, out=top)
        wanted = block[self.children]
        child, sample = np.nonzero(wanted > top)
        return self.parents[child, best[child, sample]], sample, wanted[child, sample]


# ---------------------------------------------------------------------- repair


def make_coherent(proba: FloatArray, columns: NodeColumns, rule: str = "all") -> FloatArray:
    """Raise the probabilities of parents, in place, until they are coherent.

    No value is lowered, and none is raised above the largest value below it: exact, no tolerance.

    Parameters
    ----------
    proba : float32 or float64 array of shape (n_samples, n_columns)
        Changed in place.
    columns : NodeColumns
    rule : {"all", "any"}
        ``"all"``: a node exceeds none of its parents: every node gets the maximum over its
        descendants. ``"any"``: a node has at least one parent that it does not exceed; otherwise
        its most probable parent (the first of ties) is raised to it. Levels are processed from
        the deepest up, the nodes of a level simultaneously. Both rules agree on trees.

    Returns
    -------
    array of shape (n_samples, n_columns)
        The same array.

    Examples
    --------
    >>> h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])
    >>> columns = NodeColumns(h, np.arange(1, h.n_nodes))
    >>> h.names[columns.nodes].tolist()
    ['a', 'b', 'x']
    >>> make_coherent(np.array([[0.2, 0.3, 0.9]]), columns, rule="all").tolist()
    [[0.9, 0.9, 0.9]]
    >>> make_coherent(np.array([[0.2, 0.3, 0.9]]), columns, rule="any").tolist()
    [[0.2, 0.9, 0.9]]
    """
    check_dag_rule(rule)
    _check_width(proba, columns)
    if not len(columns.edges):
        return proba
    for chunk in row_chunks(len(proba), columns.n_columns, at_once=_NUMBERS_AT_ONCE):
        block = proba[chunk].T.copy()  # a node is a contiguous row
        columns._lift(block, rule)
        proba[chunk] = block.T
    return proba


def check_dag_rule(rule: str) -> None:
    """Raise an error if `rule` is not the name of a rule."""
    if rule not in ("all", "any"):
        raise PalmetteError(
            f"dag_rule={rule!r} is unknown: expected 'all' (a node is true only if all of its "
            "parents are) or 'any' (only if one of them is)."
        )


# ---------------------------------------------------------------------- deciding


def threshold_sets(
    proba: FloatArray, threshold: float | FloatArray, columns: NodeColumns
) -> sparse.csr_array:
    """Return the sets of nodes whose probability is above a threshold.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
        Coherent, as returned by `make_coherent`; the sets are then coherent by the same rule.
    threshold : float or array of shape (n_columns,)
        One for all nodes, or one per node. A threshold below that of an ancestor is raised to it,
        so that no child is in a set without its parents.
    columns : NodeColumns

    Returns
    -------
    sparse bool array of shape (n_samples, n_columns)

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("plant",)])
    >>> columns = NodeColumns(h, np.arange(1, h.n_nodes))
    >>> proba = np.array([[0.7, 0.6, 0.1], [0.5, 0.2, 0.5]])
    >>> threshold_sets(proba, 0.5, columns).toarray().astype(int).tolist()
    [[1, 1, 0], [0, 0, 0]]
    """
    _check_width(proba, columns)
    if np.ndim(threshold):
        threshold = _raise_thresholds(np.asarray(threshold, dtype=np.float64), columns)
    return sparse.csr_array(proba > threshold)


def _raise_thresholds(thresholds: FloatArray, columns: NodeColumns) -> FloatArray:
    if thresholds.shape != (columns.n_columns,):
        raise PalmetteError(
            f"threshold has shape {thresholds.shape}: expected one number, or one per column "
            f"({columns.n_columns})."
        )
    raised = thresholds.copy()
    for edges in reversed(columns._by_depth):
        np.maximum.at(raised, edges[:, 1], raised[edges[:, 0]])
    return raised


def add_root(sets: sparse.csr_array) -> sparse.csr_array:
    """Add the root to every set of a sparse bool array of shape (n_samples, n_nodes).

    Examples
    --------
    >>> add_root(sparse.csr_array([[False, True], [False, False]])).toarray().astype(int).tolist()
    [[1, 1], [1, 0]]
    """
    below = sets.indices > 0
    starts = np.concatenate([[0], np.cumsum(below)])[sets.indptr]
    nodes = np.insert(sets.indices[below], starts[:-1], 0)
    return node_csr(nodes, starts + np.arange(len(starts)), sets.shape[1])


def _check_width(proba: FloatArray, columns: NodeColumns) -> None:
    if proba.ndim != 2 or proba.shape[1] != columns.n_columns or proba.dtype.kind != "f":
        raise PalmetteError(
            f"proba has shape {proba.shape} and type {proba.dtype}: expected floats of shape "
            f"(n_samples, {columns.n_columns})."
        )
