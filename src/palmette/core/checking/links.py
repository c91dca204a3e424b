"""Faults of links between names: a node above itself, cycles, several roots, repeats."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from palmette.core.checking.findings import Findings, shown_path
from palmette.core.taxonomy.rows import short

__all__ = ["Links"]

_LONGEST_CYCLE = 8  # nodes that are worth printing


class Links:
    """Links of a file, with their lines.

    Parameters
    ----------
    found : Findings
    repeats_are_faults : bool
        Whether a link that is there twice is told.
    """

    def __init__(self, found: Findings, repeats_are_faults: bool = True) -> None:
        self._found = found
        self._tell_repeats = repeats_are_faults
        self._numbers: dict[Any, int] = {}
        self._lines: dict[tuple[int, int], int | None] = {}

    @property
    def names(self) -> list[Any]:
        """Names in order of appearance."""
        return list(self._numbers)

    def node(self, name: Any, line: int | None = None) -> int:
        """Return the number of a name, which becomes a node where it is none."""
        if name not in self._numbers and line is not None:
            self._found.lines.setdefault(name, line)
        return self._numbers.setdefault(name, len(self._numbers))

    def add(self, parent: Any, child: Any, line: int | None = None) -> None:
        """Add a link."""
        if parent == child:
            self._found.fault("own parent", f"{short(child)} is made its own parent: drop it", line)
            self.node(parent, line)
            return
        pair = self.node(parent, line), self.node(child, line)
        if pair in self._lines:
            if self._tell_repeats:
                first = self._lines[pair]
                where = "" if first is None else f", first in line {first}"
                self._found.fault(
                    "repeated edge", f"{short(child)} is put under {short(parent)} again{where}",
                    line,
                )  # fmt: skip
            return
        self._lines[pair] = line

    # ------------------------------------------------------------------ the whole

    def check(self, one_root: bool) -> None:
        """Look for cycles and, where there should be one root, for several.

        Parameters
        ----------
        one_root : bool
        """
        if not self._numbers:
            return
        matrix = self._matrix()
        self._tell_cycles(matrix)
        has_parent = np.asarray(matrix.sum(axis=0)).ravel() > 0
        tops = np.flatnonzero(~has_parent)
        if one_root and len(tops) > 1:
            self._tell_tops(matrix, tops)
        elif not len(tops):
            self._found.fault(
                "no root", "every node has a parent: expected one without, the root. Break a cycle"
            )

    def _matrix(self) -> Any:
        n = len(self._numbers)
        pairs = np.array(list(self._lines), dtype=np.int64).reshape(-1, 2)
        ones = np.ones(len(pairs), dtype=np.int8)
        return sparse.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n, n))

    def _tell_cycles(self, matrix: Any) -> None:
        """Tell the shortest cycle through a node of every knot of nodes that reach each other."""
        _, knot = csgraph.connected_components(matrix, connection="strong")
        sizes = np.bincount(knot)
        names = self.names
        for number in np.flatnonzero(sizes > 1).tolist():
            members = np.flatnonzero(knot == number)
            inside = matrix[members][:, members]
            cycle = members[_shortest_cycle(inside)].tolist()
            steps = [*cycle, cycle[0]]
            lines = [self._lines.get(pair) for pair in pairwise(steps)]
            where = ", ".join(str(line) for line in lines[:_LONGEST_CYCLE] if line is not None)
            more = len(members) - len(cycle)
            self._found.fault(
                "cycle",
                f"a cycle of {len(cycle)} nodes: "
                + shown_path(names[node] for node in steps[:_LONGEST_CYCLE])
                + (" > ..." if len(steps) > _LONGEST_CYCLE else "")
                + (f" (lines {where})" if where else "")
                + (f"; {more:,} more nodes are in cycles with these" if more else "")
                + ". Drop one of its edges",
                next((line for line in lines if line is not None), None),
            )

    def _tell_tops(self, matrix: Any, tops: Any) -> None:
        """Tell all nodes without a parent but the one that most is below."""
        below = [len(csgraph.breadth_first_order(matrix, top)[0]) - 1 for top in tops.tolist()]
        names = self.names
        main = names[int(tops[int(np.argmax(below))])]
        for top, n_below in zip(tops.tolist(), below, strict=True):
            if names[top] == main:
                continue
            self._found.fault(
                "second root",
                f"{short(names[top])}, with {n_below:,} below it, has no parent, and neither has "
                f"{short(main)}: expected one root. Put it under a node, or name a root over all "
                "with --root",
                self._found.lines.get(names[top]),
            )

    def note_parents(self) -> None:
        """Note the nodes of several parents: no fault, but a DAG, not a tree."""
        names = self.names
        parents: dict[int, list[int]] = {}
        for parent, child in self._lines:
            parents.setdefault(child, []).append(parent)
        for child, above in parents.items():
            if len(above) > 1:
                shown = ", ".join(short(names[p]) for p in above[:4])
                self._found.note(
                    "several parents",
                    f"{short(names[child])} has {len(above)} parents: {shown}"
                    + (", ..." if len(above) > 4 else ""),
                    self._lines[above[1], child],
                )


def _shortest_cycle(links: Any) -> list[int]:
    """Return a cycle through the first node of a knot, as short as can be."""
    _, before = csgraph.breadth_first_order(links, 0)
    into = np.flatnonzero(links[:, [0]].toarray().ravel())
    best: list[int] = []
    for last in into.tolist():
        way = [last]
        while way[-1] != 0:
            way.append(int(before[way[-1]]))
        best = way if not best or len(way) < len(best) else best
    return best[::-1]
