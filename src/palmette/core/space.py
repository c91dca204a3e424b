"""LabelSpace: the labels that a single-path model chooses from, and the nodes above them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy

__all__ = ["LabelSpace"]

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


class LabelSpace:
    """The classes of a problem in a tree, with the part of the tree above them.

    Class probabilities have the shape (n_samples, n_classes). Arrays over nodes have the shape
    (n_active, n_samples), so that a node is a contiguous row; they cover only the active nodes,
    those with a class at or below them. So the cost depends on the labels that occur, not on the
    size of the taxonomy.

    Parameters
    ----------
    hierarchy : Hierarchy
        A tree.
    classes : int array of shape (n_classes,)
        Nodes that are labels, leaves or not, ascending.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> space = LabelSpace(h, h.index(["cat", "dog"]))
    >>> h.names[space.nodes].tolist()
    ['root', 'animal', 'cat', 'dog']
    >>> space.marginals(np.array([[0.25, 0.75]])).ravel().tolist()
    [1.0, 1.0, 0.25, 0.75]
    """

    def __init__(self, hierarchy: Hierarchy, classes: IntArray) -> None:
        hierarchy.require_tree("a single-path classifier")
        self.hierarchy = hierarchy
        self.classes = np.asarray(classes, dtype=np.int32)
        self.nodes = _close_upwards(self.classes, hierarchy.parents)
        self.depth = hierarchy.depth[self.nodes]
        # positions among the active nodes; they stay in preorder
        self.parent = np.searchsorted(self.nodes, hierarchy.parents[self.nodes]).astype(np.int32)
        self.parent[0] = -1
        self.class_place = np.searchsorted(self.nodes, self.classes).astype(np.int32)

    @property
    def n_classes(self) -> int:
        """Number of labels."""
        return len(self.classes)

    @property
    def n_active(self) -> int:
        """Number of nodes with a label at or below them."""
        return len(self.nodes)

    @cached_property
    def is_class(self) -> NDArray[np.bool_]:
        """Whether each active node is a label."""
        flags = np.zeros(self.n_active, dtype=bool)
        flags[self.class_place] = True
        return flags

    @cached_property
    def has_children(self) -> NDArray[np.bool_]:
        """Whether each active node has active children."""
        flags = np.zeros(self.n_active, dtype=bool)
        flags[self.parent[1:]] = True
        return flags

    @cached_property
    def class_range(self) -> IntArray:
        """Classes at or below each active node, ``[first, stop)``: shape (n_active, 2)."""
        ends = self.hierarchy.subtree_end[self.nodes]
        bounds = [np.searchsorted(self.classes, self.nodes), np.searchsorted(self.classes, ends)]
        return np.column_stack(bounds).astype(np.int32)

    @cached_property
    def levels(self) -> list[IntArray]:
        """Positions of the active nodes at depth 0, 1, ..."""
        by_depth = np.argsort(self.depth, kind="stable").astype(np.int32)
        return np.split(by_depth, np.cumsum(np.bincount(self.depth))[:-1])

    @cached_property
    def families(self) -> list[tuple[int, IntArray]]:
        """Positions of every active parent and of its options, parents before their children.

        The options are its active children and, if the parent is itself a label, the parent: the
        path may end there.
        """
        children = np.argsort(self.parent[1:], kind="stable").astype(np.int32) + 1
        parents = self.parent[children]
        first = np.flatnonzero(np.diff(parents, prepend=-1))
        groups = np.split(children, first[1:]) if len(children) else []
        return [
            (parent, np.r_[np.int32(parent), group] if self.is_class[parent] else group)
            for parent, group in zip(parents[first].tolist(), groups, strict=True)
        ]

    @cached_property
    def largest_family(self) -> int:
        """Largest number of options of a parent; 1 if there are no parents."""
        return max((len(options) for _, options in self.families), default=1)

    @cached_property
    def class_at(self) -> IntArray:
        """Class of each active node, -1 if it is not a label: shape (n_active,)."""
        classes = np.full(self.n_active, -1, dtype=np.int32)
        classes[self.class_place] = np.arange(self.n_classes, dtype=np.int32)
        return classes

    def place(self, node: int) -> int:
        """Return the position of a node among the active nodes."""
        return int(np.searchsorted(self.nodes, node))

    def sum_up(self, at_classes: Any) -> FloatArray:
        """Add values of classes up the tree.

        A parent is the sum of its children and of its own value as a class. A floating-point sum
        of non-negative numbers is never below one of them, so no child exceeds its parent.

        Parameters
        ----------
        at_classes : array of shape (n_samples, n_classes)

        Returns
        -------
        array of shape (n_active, n_samples)
        """
        values = np.asarray(at_classes, dtype=np.float64)
        totals = np.zeros((self.n_active, len(values)))
        totals[self.class_place] = values.T
        for level in reversed(self.levels[1:]):
            self._add_to_parents(totals, totals, level)
        return totals

    def marginals(self, proba: Any) -> FloatArray:
        """Return the probability of every active node, (n_active, n_samples)."""
        totals = self.sum_up(proba)
        return np.minimum(totals, 1.0, out=totals)  # sums may round to just above 1

    def sum_children(self, at_nodes: FloatArray) -> FloatArray:
        """Sum values over the children of every active node, without further descendants.

        Parameters
        ----------
        at_nodes : array of shape (n_active, n_samples)

        Returns
        -------
        array of shape (n_active, n_samples)
        """
        sums = np.zeros_like(at_nodes)
        for level in self.levels[1:]:
            self._add_to_parents(sums, at_nodes, level)
        return sums

    def _add_to_parents(self, sums: FloatArray, values: FloatArray, level: IntArray) -> None:
        """Add the values of the nodes of one level to the sums of their parents, in place."""
        parents = self.parent[level]  # in preorder, siblings of a level are consecutive
        first = np.flatnonzero(np.diff(parents, prepend=-1))
        sums[parents[first]] += np.add.reduceat(values[level], first, axis=0)

    def sum_down(self, at_nodes: FloatArray) -> FloatArray:
        """Sum values of nodes along the path from the root to every active node.

        Parameters
        ----------
        at_nodes : array of shape (n_active, n_samples)

        Returns
        -------
        array of shape (n_active, n_samples)
        """
        sums = np.array(at_nodes, dtype=np.float64, copy=True)
        for level in self.levels[1:]:
            sums[level] += sums[self.parent[level]]
        return sums


def _close_upwards(nodes: IntArray, parents: IntArray) -> IntArray:
    active = np.zeros(len(parents), dtype=bool)
    active[0] = True
    while nodes.size:
        active[nodes] = True
        nodes = parents[nodes]
        nodes = np.unique(nodes[nodes >= 0])
        nodes = nodes[~active[nodes]]
    return np.flatnonzero(active).astype(np.int32)
