"""Structure: properties derived from the names and edges of a hierarchy."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core import graph
from palmette.exceptions import HierarchyError

__all__ = ["Structure", "read_only"]

IntArray = NDArray[np.int32]
_Scalar = TypeVar("_Scalar", bound=np.generic)


def read_only(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


class Structure:
    """Base of `Hierarchy`: its shape, the relatives of a node, and the check that it is a tree.

    Nodes are numbered in topological order, those of a tree in preorder. Properties are computed
    when first used, and cached.
    """

    names: NDArray[np.object_]
    edges: IntArray  # parent, child; sorted by child, then parent
    is_tree: bool

    def _number(self, node: Any) -> int:
        raise NotImplementedError

    def require_tree(self, who: str) -> None:
        """Raise an error that names the algorithm `who`, unless this is a tree."""
        if self.is_tree:
            return
        n_parents = np.bincount(self.edges[:, 1], minlength=self.n_nodes)
        several = np.flatnonzero(n_parents > 1)
        example = several[0]
        raise HierarchyError(
            f"{who} needs a tree, but {len(several)} of {self.n_nodes} nodes have several parents "
            f"(e.g. {self.names[example]!r} has {n_parents[example]}). Use a method for DAGs, or "
            "keep one parent per node."
        )

    # ------------------------------------------------------------------ shape

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including the root."""
        return len(self.names)

    @cached_property
    def parents(self) -> IntArray:
        """Parent of every node of a tree, -1 for the root."""
        self.require_tree("Hierarchy.parents")
        parents = np.full(self.n_nodes, -1, dtype=np.int32)
        parents[self.edges[:, 1]] = self.edges[:, 0]
        return read_only(parents)

    @cached_property
    def _parent_list(self) -> list[int]:
        # indexing single elements of numpy arrays is slow
        parents: list[int] = self.parents.tolist()
        return parents

    @cached_property
    def depth(self) -> IntArray:
        """Number of edges from the root to every node, along the longest path."""
        return read_only(graph.longest_depth(self.n_nodes, self.edges))

    @cached_property
    def max_depth(self) -> int:
        """Largest depth."""
        return int(self.depth.max())

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node has no children."""
        leaf = np.ones(self.n_nodes, dtype=bool)
        leaf[self.edges[:, 0]] = False
        return read_only(leaf)

    @cached_property
    def leaves(self) -> IntArray:
        """Nodes without children, ascending."""
        return read_only(np.flatnonzero(self.is_leaf).astype(np.int32))

    @property
    def n_leaves(self) -> int:
        """Number of nodes without children."""
        return len(self.leaves)

    @cached_property
    def level_sizes(self) -> NDArray[np.int64]:
        """Number of nodes at depth 0, 1, ..."""
        return read_only(np.bincount(self.depth))

    @cached_property
    def subtree_end(self) -> IntArray:
        """End of the slice ``node : end`` of every node and its descendants; trees only."""
        self.require_tree("Hierarchy.subtree_end")
        return read_only(graph.subtree_ends(self._parent_list))

    # ------------------------------------------------------------------ relatives

    @cached_property
    def _children(self) -> graph.Adjacency:
        return graph.Adjacency.of(self.edges[:, 0], self.edges[:, 1], self.n_nodes)

    @cached_property
    def _parents(self) -> graph.Adjacency:
        return graph.Adjacency.of(self.edges[:, 1], self.edges[:, 0], self.n_nodes)

    def children(self, node: Any) -> IntArray:
        """Return the children of a node, ascending."""
        return self._children[self._number(node)]

    def parents_of(self, node: Any) -> IntArray:
        """Return the parents of a node: one in a tree, none for the root."""
        return self._parents[self._number(node)]

    def siblings(self, node: Any) -> IntArray:
        """Return the other children of the parents of a node, ascending."""
        number = self._number(node)
        families = [self._children[parent] for parent in self._parents[number]]
        if not families:
            return np.empty(0, dtype=np.int32)
        return np.setdiff1d(np.concatenate(families), [number])

    def ancestors(self, node: Any, include_self: bool = False) -> IntArray:
        """Return the nodes above a node, the root first."""
        number = self._number(node)
        if self.is_tree:
            closed = np.asarray(self._path_to(number), dtype=np.int32)
        else:
            closed = graph.reach(number, self._parents)
        return closed if include_self else closed[:-1]

    def _path_to(self, node: int) -> list[int]:
        """Return the nodes from the root down to a node of a tree."""
        parents = self._parent_list
        upwards = []
        while node >= 0:
            upwards.append(node)
            node = parents[node]
        return upwards[::-1]

    def descendants(self, node: Any, include_self: bool = False) -> IntArray:
        """Return the nodes below a node, ascending."""
        number = self._number(node)
        if self.is_tree:
            return np.arange(number + (not include_self), self.subtree_end[number], dtype=np.int32)
        below = graph.reach(number, self._children)
        return below if include_self else below[1:]

    @property
    def closure(self) -> sparse.csr_array:
        """Boolean matrix of shape (n_nodes, n_nodes): [i, j] is true if j is i or above i."""
        # the matrix object is mutable although its arrays are read-only: return a new one each time
        return graph.share_csr(self._closure)

    @cached_property
    def _closure(self) -> sparse.csr_array:
        if self.is_tree:
            return graph.tree_closure(self.parents, self.depth)
        return graph.dag_closure(self.n_nodes, self.edges, self.depth)
