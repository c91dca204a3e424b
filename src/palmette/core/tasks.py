"""TaskTable: the local problems that a hierarchy splits into, as intervals of classes.

A task classifies samples into groups of classes; a group is named by a node, its *option*. Since
the classes of a subtree are consecutive in preorder, a group is one or two intervals of classes,
and the memory of a table of tasks is proportional to the nodes, not to tasks x classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.core.space import LabelSpace
from palmette.exceptions import HierarchyError

__all__ = ["Task", "TaskRows", "TaskTable"]

IntArray = NDArray[np.int32]

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
    >>> from palmette.core.hierarchy import Hierarchy
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
