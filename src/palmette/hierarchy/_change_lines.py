"""The lines of a map of old to new paths, and the nodes and paths that they name."""

from __future__ import annotations

import csv
import difflib
import io
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palmette._arrays import is_missing
from palmette._files import decode_text, read_bytes
from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._separators import SEPARATORS, UNAMBIGUOUS, split_path

KINDS = ("rename", "move", "merge", "split", "new", "remove")
_MAX_BYTES = 64 * 1024**2
_COLUMNS = ("old", "new", "kind")
_SEARCHED = 5000  # paths among which similar ones are looked for

NodePath = tuple[Any, ...]


# ---------------------------------------------------------------------- reading a map


@dataclass(frozen=True)
class ChangeLine:
    """One line of a map.

    Parameters
    ----------
    where : str
        Where it stands, such as ``"line 3"``, for messages.
    old, new : str or tuple
        Paths; empty for a new node, and for a node that is removed.
    kind : str
        One of `KINDS`, or empty.
    """

    where: str
    old: Any
    new: Any
    kind: str = ""


def read_changes(changes: Any) -> list[ChangeLine]:
    """Read a map of old to new paths.

    Parameters
    ----------
    changes : path-like, DataFrame, or sequence of tuples
        A CSV file or a DataFrame with the columns ``old``, ``new`` and, optionally, ``kind``; or
        tuples of two or three such values. Paths are strings, or tuples of names.

    Returns
    -------
    list of ChangeLine

    Examples
    --------
    >>> read_changes([("Food > Fruit", "Food > Fruits")])
    [ChangeLine(where='change 1', old='Food > Fruit', new='Food > Fruits', kind='')]
    """
    if isinstance(changes, str | os.PathLike):
        return _read_file(Path(changes))
    if hasattr(changes, "columns"):
        names = [str(name) for name in changes.columns]
        _check_header(names, "the table of changes")
        columns = [[_cell(each) for each in changes[name]] for name in _COLUMNS if name in names]
        rows: Iterable[Sequence[Any]] = zip(*columns, strict=True)
    elif isinstance(changes, Sequence):
        rows = changes
    else:
        raise HierarchyError(
            f"changes are a {type(changes).__name__}: expected a CSV file, a DataFrame, or a list "
            "of (old, new) paths."
        )
    lines = []
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) not in (2, 3):
            raise HierarchyError(f"change {i} is {row!r}: expected (old, new) or (old, new, kind).")
        lines.append(_line(f"change {i}", *map(_cell, row)))
    return [line for line in lines if line.old or line.new]


def _read_file(path: Path) -> list[ChangeLine]:
    text = decode_text(read_bytes(path, _MAX_BYTES), path)
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    lines: list[ChangeLine] = []
    places: dict[str, int] = {}
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not any(cells):
                continue
            if not places:
                names = [name.casefold() for name in cells]
                _check_header(names, str(path))
                places = {name: names.index(name) for name in _COLUMNS if name in names}
                continue
            if len(cells) < 1 + max(places["old"], places["new"]):
                raise ReadError(
                    f"{len(cells)} cells: expected an old and a new path, one of them empty for "
                    "new and removed nodes.",
                    path=path,
                    line=reader.line_num,
                )
            found = [cells[at] if at < len(cells) else "" for at in places.values()]
            lines.append(_line(f"line {reader.line_num}", *found))
    except csv.Error as error:
        raise ReadError(f"{error}.", path=path, line=reader.line_num) from None
    if not places:
        raise ReadError("the file is empty: expected the columns old and new.", path=path)
    return lines


def _check_header(names: list[str], title: str) -> None:
    missing = [name for name in _COLUMNS[:2] if name not in names]
    if missing:
        raise HierarchyError(
            f"{title} has the columns {', '.join(names)[:200]}: expected old, new and, optionally, "
            "kind in the first line."
        )


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        return value
    if is_missing(value):
        return ""
    return str(value).strip()


def _line(where: str, old: Any, new: Any, kind: Any = "") -> ChangeLine:
    kind = str(kind).casefold()
    if kind and kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise HierarchyError(
            f"{where} has the kind {kind!r}: expected one of {', '.join(KINDS)}, or nothing.{hint}"
        )
    return ChangeLine(where, old, new, kind)


# ---------------------------------------------------------------------- nodes and paths


class Reading:
    """Lines with their nodes of the old tree, and their paths of the new one."""

    def __init__(
        self, hierarchy: Hierarchy, lines: Sequence[ChangeLine], separator: str | None
    ) -> None:
        self.hierarchy = hierarchy
        if separator is None:
            separator = _find_separator(lines, hierarchy) if hierarchy.is_tree else None
        self.separator = separator
        self._names: dict[
            str, Any
        ] = {}  # names of other types, such as numbers, by how they are written
        for name in hierarchy.names[1:].tolist():
            self._names.setdefault(str(name), name)
        self._counts = bool(len(hierarchy.names) > 1) and all(
            isinstance(name, int) for name in hierarchy.names[1:].tolist()
        )
        self.by_node: dict[int, list[tuple[ChangeLine, NodePath]]] = defaultdict(list)
        self.new: list[tuple[ChangeLine, NodePath]] = []
        self._homes: dict[str, NodePath] = {}  # parents of names that are given without a path
        for line in lines:
            self._read(line)

    def _read(self, line: ChangeLine) -> None:
        if not line.old:
            self._expect(line, line.kind in ("", "new"), "has no old path, so the node is new")
            self.new.append((line, self._checked(line)))
            return
        node = self._find(line)
        if not line.new:
            self._expect(line, line.kind in ("", "remove"), "has no new path, so it is removed")
            self._add(node, line, ())
            return
        self._expect(line, line.kind not in ("new", "remove"), "has an old and a new path")
        self._add(node, line, self._new_path(line, node))

    def _add(self, node: int, line: ChangeLine, path: NodePath) -> None:
        if any(other == path for _, other in self.by_node[node]):
            return  # the same line twice
        for other, _ in self.by_node[node]:
            if not other.new or not line.new:
                raise HierarchyError(
                    f"{other.where} and {line.where} contradict each other: {self.shown(node)} is "
                    "removed in one and kept in the other. Delete one of them."
                )
        self.by_node[node].append((line, path))

    def _expect(self, line: ChangeLine, is_good: bool, words: str) -> None:
        if not is_good:
            raise HierarchyError(f"{line.where} has the kind {line.kind!r}, but it {words}.")

    def _find(self, line: ChangeLine) -> int:
        hierarchy, lookup = self.hierarchy, self.hierarchy._lookup
        node = None
        if hierarchy.is_tree:
            path = line.old if isinstance(line.old, tuple) else self._path(line.old)
            node = lookup._walk(path) if path else None
        if node is None:
            node = lookup.get(line.old)
        if node is None:
            if lookup._search(line.old) is not None:
                raise HierarchyError(f"{line.where}: {lookup._describe_ambiguity(line.old)}")
            raise HierarchyError(self._unknown(line))
        if node == 0:
            raise HierarchyError(
                f"{line.where} has the old path {line.old!r}, which is the root: expected a node "
                "below it."
            )
        return int(node)

    def _unknown(self, line: ChangeLine) -> str:
        joiner = self.separator or "/"
        text = joiner.join(map(str, line.old)) if isinstance(line.old, tuple) else line.old
        known = [self.shown(node)[1:-1] for node in range(1, self.hierarchy.n_nodes)[:_SEARCHED]]
        near = difflib.get_close_matches(text[:200], known, n=2, cutoff=0.6)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        return (
            f"{line.where} has the old path {text!r}, which is not in the hierarchy of the model "
            f"({self.hierarchy.n_nodes:,} nodes, such as {known[-1]!r}).{hint} Correct it, or "
            "delete the line."
        )

    def _path(self, text: Any) -> NodePath:
        if isinstance(text, tuple):
            return text
        names = split_path(text, self.separator)
        return tuple(self._name(name) for name in names)

    def _name(self, name: str) -> Any:
        if name in self._names:
            return self._names[name]
        return int(name) if self._counts and name.isdecimal() else name

    def _checked(self, line: ChangeLine) -> NodePath:
        path = self._path(line.new)
        if not path or not all(str(name) for name in path):
            raise HierarchyError(
                f"{line.where} has the new path {line.new!r}, in which a name is empty: expected "
                "names with one separator between them."
            )
        return path

    def _new_path(self, line: ChangeLine, node: int) -> NodePath:
        """Return the new path; a name alone, for a node given by its name, stays at its parent."""
        path = self._checked(line)
        if not self.hierarchy.is_tree or isinstance(line.new, tuple) or len(path) > 1:
            return path
        whole = self.hierarchy.path(node)
        if len(whole) == 1 or self._path(line.old) == whole:
            return path
        return (*self._homes.setdefault(line.new, whole[:-1]), *path)

    def shown(self, node: int) -> str:
        """Return the path of a node of the old tree, as it is written in the lines."""
        if not self.hierarchy.is_tree:
            return repr(str(self.hierarchy.names[node]))
        return self.written(self.hierarchy.path(node))

    def written(self, path: NodePath) -> str:
        """Return a path as it is written in the lines."""
        return repr((self.separator or " > ").join(map(str, path)))


def _find_separator(lines: Sequence[ChangeLine], hierarchy: Hierarchy) -> str | None:
    """Return the separator with which most old paths are in a tree; None if they are names."""
    old = [line.old for line in lines if isinstance(line.old, str) and line.old]
    new = [line.new for line in lines if isinstance(line.new, str)]
    walk = hierarchy._lookup._walk
    found = {
        mark: sum(mark in text and walk(split_path(text, mark)) is not None for text in old)
        for mark in SEPARATORS
    }
    best = max(SEPARATORS, key=lambda mark: found[mark])  # the first of equal ones
    if found[best]:
        return best
    return next((mark for mark in UNAMBIGUOUS if any(mark in text for text in new)), None)
