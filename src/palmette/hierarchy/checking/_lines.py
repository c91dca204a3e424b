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
from palmette.hierarchy.files._text import find_separator, skip_id, split_edge_lines, split_steps

_REPLACEMENT = "\ufffd"


def check_encoding(source: Source, found: Findings) -> None:
    """Find lines that are not UTF-8: faults if other lines are UTF-8, else notes."""
    data = source.data
    try:
        data.decode("utf-8")
        return
    except UnicodeDecodeError:
        pass
    bad: list[tuple[int, UnicodeDecodeError]] = []
    n_wide = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            n_wide += len(line) > len(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            bad.append((number, error))
    add = found.fault if n_wide else found.note
    for number, reason in bad:
        byte = reason.object[reason.start]
        rest = (
            f"but {n_wide:,} other lines are: the file is read as Latin-1, which garbles them"
            if n_wide
            else "so the file is read as Latin-1"
        )
        add(
            "encoding",
            f"the byte 0x{byte:02x} at position {reason.start + 1} is not UTF-8, {rest}. Save the "
            "file as UTF-8",
            number,
        )


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
            found.fault(
                "encoding",
                "the line contains U+FFFD, which replaces a character that was lost when the file "
                "was written. Write the original character",
                number,
            )


class Places:
    """Paths of a file, each a tuple of names from the top.

    Parameters
    ----------
    found : Findings
    """

    def __init__(self, found: Findings) -> None:
        self._found = found
        self.declared: dict[tuple[Any, ...], int | None] = {}
        self.implied: dict[tuple[Any, ...], int | None] = {}

    def declare(self, path: tuple[Any, ...], line: int | None) -> bool:
        """Record the line of a path; return whether it is new, and report it if it is not."""
        if path in self.declared:
            first = self.declared[path]
            where = "" if first is None else f", first in line {first}"
            self._found.fault(
                "repeated path",
                f"{shown_path(path)} is declared twice{where}. Delete or rename one: siblings need "
                "different names",
                line,
            )
            return False
        self.declared[path] = line
        if line is not None:
            self._found.lines[path] = line
        for end in range(1, len(path)):
            above = path[:end]
            if above not in self.implied:
                self.implied[above] = line
                if line is not None:
                    self._found.lines.setdefault(above, line)
        return True

    def note_undeclared(self) -> None:
        """Note parents without a line of their own, if most parents have one."""
        missing = [path for path in self.implied if path not in self.declared]
        if 2 * len(missing) > len(self.implied):
            return  # the file lists only leaves
        for path in missing:
            self._found.note(
                "undeclared parent",
                f"{shown_path(path)} is a parent here, but has no line of its own as other parents "
                "have. Check its spelling",
                self.implied[path],
            )


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
    levels: list[tuple[str, str]] = []  # indentation and name of the ancestors
    for number, _, indentation, name in indented.split_indented_lines(source):
        if not name:
            found.fault("empty name", "the name is missing. Write one", number)
            continue
        _check_blanks(indentation, number, found)
        if levels and not indented.is_deeper(indentation, levels[-1][0]):
            known = {level for level, _ in levels}
            while levels and not indented.is_deeper(indentation, levels[-1][0]):
                levels.pop()
            if indentation not in known:
                found.fault(
                    "indentation",
                    f"the indentation of {len(indentation)} characters matches no level above it. "
                    "Use the same spaces or tabs for the same level",
                    number,
                )
        path = (*(above for _, above in levels), name)
        places.declare(path, number)
        levels.append((indentation, name))


def _check_blanks(indentation: str, number: int, found: Findings) -> None:
    if " " in indentation and "\t" in indentation:
        found.note(
            "spaces and tabs", "the indentation mixes spaces and tabs. Use one of them", number
        )


_MOST = 0.8  # share of lines with an id from which a line without one is a fault


def check_paths(source: Source, found: Findings) -> None:
    """Check every line."""
    lines = list(source.content_lines())
    separator = find_separator(lines)
    starts = [skip_id(line) for _, line in lines]
    n_ids = sum(start > 0 for start in starts)
    if n_ids < _MOST * len(lines):
        starts = [0] * len(lines)
    places = Places(found)
    first_of: dict[str, int] = {}
    for (number, line), start in zip(lines, starts, strict=True):
        if n_ids >= _MOST * len(lines) and not start:
            found.fault(
                "no id",
                "this line has no id, unlike the others, so that ids are read as parts of names. "
                "Add it",
                number,
            )
        if start:
            _check_id(line[:start].strip(), first_of, number, found)
        try:
            steps = split_steps(source, number, line, start, separator)
        except ReadError as error:
            found.error("empty name", error)
            continue
        places.declare(tuple(steps), number)
        if steps[0].startswith("> ") or steps[-1].endswith(" >"):
            found.fault(
                "separator",
                "the line begins or ends with '>', which is read as part of a name. Delete it",
                number,
            )
    places.note_undeclared()


def report_stray_blanks(source: Source, found: Findings) -> bool:
    """Report indented lines in a file of paths; return whether most lines are paths."""
    lines = list(source.content_lines())
    if 2 * sum(" > " in line for _, line in lines) <= len(lines):
        return False
    for number, line in lines:
        if line[:1].isspace():
            found.fault(
                "leading space",
                "this line begins with a space, so the file looks like indented text, but most "
                "lines are paths with '>'. Delete the space, or give the format 'paths'",
                number,
            )
    return True


def _check_id(written: str, first_of: dict[str, int], number: int, found: Findings) -> None:
    if written in first_of:
        found.note(
            "repeated id", f"the id {short(written)} is also in line {first_of[written]}", number
        )
    first_of.setdefault(written, number)
