"""LabelSpace: the labels that a single-path model chooses from, and the nodes above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette._arrays import FloatArray, IntArray
from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy


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
        """Add values of classes up the tree: (n_active, n_samples).

        A parent is the sum of its children and of its own value as a class. A floating-point sum
        of non-negative numbers is never below one of them, so no child exceeds its parent.

        Parameters
        ----------
        at_classes : array of shape (n_samples, n_classes)
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


REST = -1  # the option for "none of the others"


@dataclass(frozen=True, eq=False)  # comparing arrays does not give a single bool
class Task:
    """One local problem.

    Parameters
    ----------
    key : int
        The parent, node, level, or row of a code matrix that the task belongs to.
    options : int array of shape (n_options,)
        Node of each group, ascending; -1 for "the rest".
    intervals : int array of shape (n_intervals, 3)
        Rows ``(first class, stop class, option)``, sorted by class.
    ends : bool
        For a task of one node: whether it predicts that a path ends there, not that it contains it.
    """

    key: int
    options: IntArray
    intervals: IntArray
    ends: bool = False

    @classmethod
    def of(cls, key: int, rows: Sequence[tuple[int, int, int]], ends: bool = False) -> Task:
        """Make a task of (first, stop, option) rows, without empty ones."""
        kept = sorted(row for row in rows if row[0] < row[1])
        intervals = np.asarray(kept, dtype=np.int32).reshape(-1, 3)
        return cls(key, np.unique(intervals[:, 2]), intervals, ends)


class TaskTable:
    """Local problems over the classes of a `LabelSpace`.

    Row ``t`` of the table has for every class the option of task ``t`` to which samples of this
    class belong, or -2 if the task does not use them.

    Parameters
    ----------
    tasks : sequence of Task
    n_classes : int

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant",)])
    >>> table = TaskTable.per_parent(LabelSpace(h, h.leaves))
    >>> [(t.key, t.options.tolist()) for t in table]
    [(0, [1, 4]), (1, [2, 3])]
    >>> table.to_array()  # the option of each leaf; -2 if a task does not use it
    array([[ 1,  1,  4],
           [ 2,  3, -2]], dtype=int32)
    """

    UNSEEN = -2

    def __init__(self, tasks: Sequence[Task], n_classes: int) -> None:
        self.tasks = list(tasks)
        self.n_classes = n_classes

    def __len__(self) -> int:
        return len(self.tasks)

    def __getitem__(self, t: int) -> Task:
        return self.tasks[t]

    # ------------------------------------------------------------------ policies

    @staticmethod
    def check_negatives(negatives: str) -> None:
        """Raise an error if `negatives` is not the name of a policy."""
        if negatives not in ("siblings", "all"):
            raise HierarchyError(
                f"negatives={negatives!r} is unknown: expected 'siblings' or 'all'."
            )

    @classmethod
    def per_parent(cls, space: LabelSpace) -> TaskTable:
        """One multi-class task per parent: which child, or whether the path ends here."""
        tasks = [
            Task.of(int(space.nodes[parent]), _branches(space, parent, options))
            for parent, options in space.families
            if len(options) > 1
        ]
        return cls(tasks, space.n_classes)

    @classmethod
    def per_node(cls, space: LabelSpace, negatives: str = "siblings") -> TaskTable:
        """One binary task per node: this node or the rest.

        Parameters
        ----------
        space : LabelSpace
        negatives : {"siblings", "all"}
            The rest are the other samples below the same parent, or all other samples.

        Notes
        -----
        Whether a path ends at a parent is a separate task, marked by `Task.ends`.
        """
        cls.check_negatives(negatives)
        tasks = []
        for parent, options in space.families:
            if len(options) == 1:
                continue
            low, high = (
                space.class_range[parent] if negatives == "siblings" else (0, space.n_classes)
            )
            for first, stop, option in _branches(space, parent, options):
                rows = [(low, first, REST), (first, stop, option), (stop, high, REST)]
                ends = option == space.nodes[parent]
                tasks.append(Task.of(option, [(int(a), int(b), o) for a, b, o in rows], ends))
        return cls(tasks, space.n_classes)

    @classmethod
    def per_level(cls, space: LabelSpace) -> TaskTable:
        """One multi-class task per depth: which node of this depth.

        A label with labels below it is also an option of the next level: the path ends there.
        """
        rows: list[list[tuple[int, int, int]]] = [[] for _ in space.levels[1:]]
        for parent, options in space.families:
            rows[int(space.depth[parent])].extend(_branches(space, parent, options))
        tasks = [Task.of(depth + 1, level) for depth, level in enumerate(rows)]
        return cls([task for task in tasks if len(task.options) > 1], space.n_classes)

    @classmethod
    def flat(cls, space: LabelSpace) -> TaskTable:
        """One multi-class task over all classes."""
        rows = [(i, i + 1, int(node)) for i, node in enumerate(space.classes)]
        return cls([Task.of(0, rows)] if len(rows) > 1 else [], space.n_classes)

    @classmethod
    def one_vs_rest(cls, space: LabelSpace) -> TaskTable:
        """One binary task per class: this class or any other."""
        n = space.n_classes
        tasks = [
            Task.of(int(node), [(0, i, REST), (i, i + 1, int(node)), (i + 1, n, REST)])
            for i, node in enumerate(space.classes)
        ]
        return cls(tasks, n)

    @classmethod
    def pairwise(cls, space: LabelSpace) -> TaskTable:
        """One binary task per pair of classes."""
        nodes = space.classes.tolist()
        tasks = [
            Task.of(i * len(nodes) + j, [(i, i + 1, nodes[i]), (j, j + 1, nodes[j])])
            for i in range(len(nodes))
            for j in range(i + 1, len(nodes))
        ]
        return cls(tasks, space.n_classes)

    @classmethod
    def codes(cls, matrix: ArrayLike) -> TaskTable:
        """One task per row of a code matrix of shape (n_tasks, n_classes); 0 means not used."""
        array = np.asarray(matrix)
        tasks = []
        for t, row in enumerate(array):
            cuts = np.flatnonzero(np.diff(row)) + 1
            bounds = [0, *cuts.tolist(), len(row)]
            tasks.append(
                Task.of(t, [(a, b, int(row[a])) for a, b in pairwise(bounds) if row[a] != 0])
            )
        return cls(tasks, array.shape[1])

    # ------------------------------------------------------------------ views

    def to_array(self) -> IntArray:
        """Return the whole table, (n_tasks, n_classes), for tests and small problems."""
        table = np.full((len(self), self.n_classes), self.UNSEEN, dtype=np.int32)
        for t, task in enumerate(self.tasks):
            for first, stop, option in task.intervals:
                table[t, first:stop] = option
        return table


class TaskRows:
    """Finds the rows of the data that a task uses, as slices of the rows sorted by class.

    Parameters
    ----------
    codes : int array of shape (n_samples,)
        Class of every row, as a position in ``space.classes``.
    n_classes : int
    """

    def __init__(self, codes: IntArray, n_classes: int) -> None:
        self._order = np.argsort(codes, kind="stable").astype(np.int32)
        self._starts = np.zeros(n_classes + 1, dtype=np.int64)
        np.cumsum(np.bincount(codes, minlength=n_classes), out=self._starts[1:])

    def select(self, task: Task) -> tuple[IntArray, IntArray]:
        """Return the rows of a task, ascending, and the option of each: both (n_rows,)."""
        first = self._starts[task.intervals[:, 0]]
        stop = self._starts[task.intervals[:, 1]]
        pieces = [self._order[a:b] for a, b in zip(first, stop, strict=True)]
        rows = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int32)
        options = np.repeat(task.intervals[:, 2], stop - first)
        # in the order of the data, as a plain loop over the rows would visit them
        ascending = np.argsort(rows, kind="stable")
        return rows[ascending], options[ascending]


def _branches(space: LabelSpace, parent: int, options: IntArray) -> list[tuple[int, int, int]]:
    """Return (first class, stop class, node) for every option of a family."""
    bounds, nodes = space.class_range[options].tolist(), space.nodes[options].tolist()
    rows = [(first, stop, node) for (first, stop), node in zip(bounds, nodes, strict=True)]
    if options[0] == parent:
        # the path that ends here: in preorder, the class of a node precedes those below it
        first, _, node = rows[0]
        rows[0] = (first, first + 1, node)
    return rows
