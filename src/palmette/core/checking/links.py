"""Faults of edges between names: self-loops, cycles, several roots, repeated edges."""

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
    """Edges of a file, with their lines.

    Parameters
    ----------
    found : Findings
    repeats_are_faults : bool
        Whether to report repeated edges.
    """

    def __init__(self, found: Findings, repeats_are_faults: bool = True) -> None:
        self._found = found
        self._report_repeats = repeats_are_faults
        self._numbers: dict[Any, int] = {}
        self._lines: dict[tuple[int, int], int | None] = {}

    @property
    def names(self) -> list[Any]:
        """Names in order of appearance."""
        return list(self._numbers)

    def node(self, name: Any, line: int | None = None) -> int:
        """Return the number of a name; a new name gets the next number."""
        if name not in self._numbers and line is not None:
            self._found.lines.setdefault(name, line)
        return self._numbers.setdefault(name, len(self._numbers))

    def add(self, parent: Any, child: Any, line: int | None = None) -> None:
        """Add an edge."""
        if parent == child:
            self._found.fault("own parent", f"{short(child)} is its own parent. Delete it", line)
            self.node(parent, line)
            return
        pair = self.node(parent, line), self.node(child, line)
        if pair in self._lines:
            if self._report_repeats:
                first = self._lines[pair]
                where = "" if first is None else f", first in line {first}"
                self._found.fault(
                    "repeated edge", f"the edge {short(parent)} > {short(child)} repeats{where}",
                    line,
                )  # fmt: skip
            return
        self._lines[pair] = line

    # ------------------------------------------------------------------ the whole graph

    def check(self, one_root: bool) -> None:
        """Find cycles and, if one root is expected, several roots.

        Parameters
        ----------
        one_root : bool
        """
        if not self._numbers:
            return
        matrix = self._matrix()
        self._report_cycles(matrix)
        has_parent = np.asarray(matrix.sum(axis=0)).ravel() > 0
        tops = np.flatnonzero(~has_parent)
        if one_root and len(tops) > 1:
            self._report_roots(matrix, tops)
        elif not len(tops):
            self._found.fault(
                "no root", "every node has a parent: expected a root without one. Break a cycle"
            )

    def _matrix(self) -> Any:
        n = len(self._numbers)
        pairs = np.array(list(self._lines), dtype=np.int64).reshape(-1, 2)
        ones = np.ones(len(pairs), dtype=np.int8)
        return sparse.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n, n))

    def _report_cycles(self, matrix: Any) -> None:
        """Report a shortest cycle through the first node of each strongly connected component."""
        _, component = csgraph.connected_components(matrix, connection="strong")
        sizes = np.bincount(component)
        names = self.names
        for number in np.flatnonzero(sizes > 1).tolist():
            members = np.flatnonzero(component == number)
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
                + ". Delete one of its edges",
                next((line for line in lines if line is not None), None),
            )

    def _report_roots(self, matrix: Any, tops: Any) -> None:
        """Report all nodes without a parent but the one with the most descendants."""
        below = [len(csgraph.breadth_first_order(matrix, top)[0]) - 1 for top in tops.tolist()]
        names = self.names
        main = names[int(tops[int(np.argmax(below))])]
        for top, n_below in zip(tops.tolist(), below, strict=True):
            if names[top] == main:
                continue
            self._found.fault(
                "second root",
                f"{short(names[top])} (descendants: {n_below:,}) has no parent, like "
                f"{short(main)}: expected one root. Give it a parent, or name a root above both "
                "with --root",
                self._found.lines.get(names[top]),
            )

    def note_parents(self) -> None:
        """Note the nodes with several parents: not a fault, but the hierarchy is not a tree."""
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
    """Return a shortest cycle through node 0 of a strongly connected component."""
    _, before = csgraph.breadth_first_order(links, 0)
    into = np.flatnonzero(links[:, [0]].toarray().ravel())
    best: list[int] = []
    for last in into.tolist():
        way = [last]
        while way[-1] != 0:
            way.append(int(before[way[-1]]))
        best = way if not best or len(way) < len(best) else best
    return best[::-1]
