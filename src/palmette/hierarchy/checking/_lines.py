"""Faults of text files, with their lines: encoding, paths, indented text and edges."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from palmette.exceptions import ReadError
from palmette.hierarchy.checking._findings import Findings, shown_path
from palmette.hierarchy.files import _text as indented
from palmette.hierarchy.files._source import Source, short
from palmette.hierarchy.files._text import (
    NO_ID,
    OPEN_END,
    find_separator,
    has_open_end,
    path_starts,
    split_edge_lines,
    split_steps,
)

_REPLACEMENT = "\ufffd"


def check_encoding(source: Source, found: Findings) -> None:
    """Find lines that are not UTF-8: faults if other lines are UTF-8, else notes."""
    bad, n_wide = source.not_utf8
    for number, message in bad:
        (found.fault if n_wide else found.note)("encoding", message, number)


def check_characters(source: Source, found: Findings) -> None:
    """Find characters that a name should not contain."""
    for number, line in source.lines():
        if line.isascii() and line.isprintable():
            continue
        odd = next((c for c in line if c != "\t" and unicodedata.category(c) in ("Cc", "Cf")), None)
        if odd is not None and not (number == 1 and odd == "\ufeff"):
            name = unicodedata.name(odd, "a control character")
            found.note("character", f"the line has the invisible U+{ord(odd):04X} ({name})", number)
        if _REPLACEMENT in line:
            found.note(
                "encoding",
                "the line contains U+FFFD, which replaces a character that was lost when the file "
                "was written. Write the original character",
                number,
            )


class Places:
    """Nodes of a file, each identified by its parent and name, with their lines.

    Parameters
    ----------
    found : Findings
    """

    def __init__(self, found: Findings) -> None:
        self._found = found
        self._known = found.places
        self._lines = found.place_lines
        self._parents: list[int] = []
        self._names: list[Any] = []
        self._declared: list[int] = []  # line of each node, 0 if it is only implied

    def reach(self, name: Any, parent: int, line: int) -> int:
        """Return the node of a name below `parent` (-1: none); it is added if it is new."""
        node = self._known.setdefault((parent, name), len(self._names))
        if node == len(self._names):
            self._names.append(name)
            self._parents.append(parent)
            self._lines.append(line)
            self._declared.append(0)
        return node

    def declare(self, name: Any, parent: int, line: int) -> int:
        """Return the node of a name below `parent`, and report it if it was declared before."""
        node = self.reach(name, parent, line)
        if self._declared[node]:
            self._found.fault(
                "repeated path",
                f"{self._shown(node)} is declared twice, first in line {self._declared[node]}. "
                "Delete or rename one: siblings need different names",
                line,
            )
        else:
            self._declared[node] = self._lines[node] = line
        return node

    def _shown(self, node: int) -> str:
        steps: list[Any] = []
        while node >= 0 and len(steps) < _SHOWN_STEPS:
            steps.append(self._names[node])
            node = self._parents[node]
        return ("... > " if node >= 0 else "") + shown_path(steps[::-1])

    def note_undeclared(self) -> None:
        """Note parents without a line of their own, if most parents have one."""
        implied = sorted({parent for parent in self._parents if parent >= 0})
        missing = [node for node in implied if not self._declared[node]]
        if 2 * len(missing) > len(implied):
            return  # the file lists only leaves
        for node in missing:
            self._found.note(
                "undeclared parent",
                f"{self._shown(node)} is a parent here, but has no line of its own as other "
                "parents have. Check its spelling",
                self._lines[node],
            )


_SHOWN_STEPS = 8  # names of a path that are worth printing
_LONGEST_CYCLE = 8
_MOST_SEARCHED = 2**25  # nodes, over all searches for descendants


class Links:
    """Edges of a file, with their lines.

    Parameters
    ----------
    found : Findings
    notes_repeats : bool
        Whether to note repeated edges, which the reader ignores.
    """

    def __init__(self, found: Findings, notes_repeats: bool = True) -> None:
        self._found = found
        self._report_repeats = notes_repeats
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
                self._found.note(
                    "repeated edge", f"the edge {short(parent)} > {short(child)} repeats{where}",
                    line,
                )  # fmt: skip
            return
        self._lines[pair] = line

    # ------------------------------------------------------------------ the whole graph

    def check(self, one_root: bool) -> None:
        """Find cycles and, if one root is expected, several roots."""
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
                "no root", "every node has a parent: expected a root without one. Remove a cycle"
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
        firsts = np.unique(component, return_index=True)[1][sizes > 1]
        names, numbers = self.names, component.tolist()
        children: dict[int, list[int]] = {}
        for parent, child in self._lines:
            if numbers[parent] == numbers[child]:
                children.setdefault(parent, []).append(child)
        for first in sorted(firsts.tolist()):
            cycle = _shortest_cycle(first, children)
            steps = [*cycle, first]
            lines = [self._lines.get(pair) for pair in pairwise(steps)]
            where = ", ".join(str(line) for line in lines[:_LONGEST_CYCLE] if line is not None)
            more = int(sizes[numbers[first]]) - len(cycle)
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
        if len(tops) * len(self._numbers) <= _MOST_SEARCHED:
            what = "descendants"
            below = [len(csgraph.breadth_first_order(matrix, top)[0]) - 1 for top in tops.tolist()]
        else:  # one search per top would be quadratic
            what = "children"
            below = np.asarray(matrix.sum(axis=1, dtype=np.int64)).ravel()[tops].tolist()
        names = self.names
        main = names[int(tops[int(np.argmax(below))])]
        for top, n_below in zip(tops.tolist(), below, strict=True):
            if names[top] == main:
                continue
            self._found.fault(
                "second root",
                f"{short(names[top])} ({what}: {n_below:,}) has no parent, like "
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


def _shortest_cycle(first: int, children: dict[int, list[int]]) -> list[int]:
    """Return a shortest cycle through a node of a strongly connected component."""
    before: dict[int, int] = {}
    waiting = [first]
    for node in waiting:  # the list grows: breadth first
        for child in children[node]:
            if child == first:
                way = [node]
                while way[-1] != first:
                    way.append(before[way[-1]])
                return way[::-1]
            if child not in before:
                before[child] = node
                waiting.append(child)
    raise AssertionError("a node of a strongly connected component is in a cycle")


def check_edges(source: Source, found: Findings, one_root: bool = True) -> None:
    """Check every line, then the whole hierarchy."""
    links = Links(found)
    rows = split_edge_lines(source, lambda error: found.error("fields", error))
    for number, parent, children in rows:
        for child in children:
            links.add(parent, child, number)
    links.check(one_root)
    links.note_parents()


def check_indented(source: Source, found: Findings) -> None:
    """Check every line; one that matches no level is put below the nearest less indented line."""
    places = Places(found)
    levels: list[tuple[str, int]] = []  # indentation and node of the ancestors
    for number, _, indentation, name in indented.split_indented_lines(source):
        if not name:
            found.fault("empty name", "the name is missing. Write one", number)
            continue
        _check_blanks(indentation, number, found)
        if levels and not indented.is_deeper(indentation, levels[-1][0]):
            known = False
            while levels and not indented.is_deeper(indentation, levels[-1][0]):
                known |= levels.pop()[0] == indentation
            if not known:
                found.fault(
                    "indentation",
                    f"the indentation of {len(indentation)} characters matches no level above it. "
                    "Use the same spaces or tabs for the same level",
                    number,
                )
        parent = levels[-1][1] if levels else -1
        levels.append((indentation, places.declare(name, parent, number)))


def _check_blanks(indentation: str, number: int, found: Findings) -> None:
    if " " in indentation and "\t" in indentation:
        found.note(
            "spaces and tabs", "the indentation mixes spaces and tabs. Use one of them", number
        )


def check_paths(source: Source, found: Findings) -> None:
    """Check every line."""
    lines = list(source.content_lines())
    separator = find_separator(lines)
    starts, lost = path_starts(lines)
    for number, _ in lost:
        found.fault("no id", NO_ID, number)
    places = Places(found)
    first_of: dict[str, int] = {}
    for (number, line), start in zip(lines, starts, strict=True):
        if start:
            _check_id(line[:start].strip(), first_of, number, found)
        try:
            steps = split_steps(source, number, line, start, separator)
        except ReadError as error:
            found.error("empty name", error)
            continue
        if has_open_end(steps):
            found.fault("separator", OPEN_END, number)
        node = -1
        for step in steps[:-1]:
            node = places.reach(step, node, number)
        places.declare(steps[-1], node, number)
    places.note_undeclared()


def _check_id(written: str, first_of: dict[str, int], number: int, found: Findings) -> None:
    if written in first_of:
        found.note(
            "repeated id", f"the id {short(written)} is also in line {first_of[written]}", number
        )
    first_of.setdefault(written, number)
