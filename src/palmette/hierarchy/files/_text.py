"""Text hierarchies: lines ``A > B > C``, indented text, and lists of edges.

Paths: one per line, as in the product taxonomies of Google and Shopify. If all lines have a
leading id (``3237 - A > B`` or ``gid://shop/1 : A > B``), it is not part of the names. Prefixes
are implied. Top nodes become children of an added root.

Indented text: one name per line. The indentation consists of spaces, tabs, or dashes before a
space (``---- oak``), in steps of any width. A name in double quotes is a JSON string. A single
top line is the root; several become children of an added root.

Edges: ``parent child`` per line, or ``parent<TAB>child<TAB>child ...``. Fields are split at tabs
if any line has one, else at commas if all lines have one (with quotes as in CSV), else at
spaces. A first line ``parent,child`` or ``child,parent`` is a header. Nodes are identified by
name, so that a child with two parents makes a DAG.

Blank lines and ``#`` comments are skipped in all of them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from palmette._text import CONTROL, visible
from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy.files._source import (
    MAX_TEXT,
    LinkRows,
    PlaceRows,
    Source,
    Tops,
    names_as_text,
)

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

_PATH_STEP = re.compile(r"\s>\s|[^\s<>=-]>[^\s<>=-]")  # not an arrow or a tag
_ID = re.compile(r"\s*(?:\d+\s+-\s|\w+://\S*\s+:\s)\s*")
_MOST = 0.8  # share of lines with an id from which a line without one is a fault
NO_ID = "this line has no id, unlike the others, so that ids would be parts of names. Add it"
OPEN_END = "the line begins or ends with '>', which would be part of a name. Delete it"
STRAY_BLANK = (
    "this line begins with a space, so the file looks like indented text, but lines are paths with "
    "'>'. Delete the space, or give the format, 'paths' or 'indented'"
)


def looks_like_paths(source: Source) -> bool:
    """Whether lines contain paths with ``>``."""
    return any(_PATH_STEP.search(line) for line in source.sample)


def parse_paths(source: Source) -> PlaceRows:
    """Read the paths."""
    lines = list(source.content_lines())
    separator = find_separator(lines)
    starts, lost = path_starts(lines)
    for number, line in lost[:1]:
        raise source.error(NO_ID, number, line)
    rows = PlaceRows(source, Tops.ALWAYS)
    for (number, line), start in zip(lines, starts, strict=True):
        steps = split_steps(source, number, line, start, separator)
        if has_open_end(steps):
            raise source.error(OPEN_END, number, line)
        node = -1
        for step in steps[:-1]:
            node = rows.reach(step, node)
        rows.add(steps[-1], node, number)
    return rows


def find_separator(lines: list[tuple[int, str]]) -> str:
    """Return the separator: " > " if any line has it, so that names may contain ">", else ">"."""
    return " > " if any(" > " in line for _, line in lines) else ">"


def skip_id(line: str) -> int:
    """Return the start of the path after an id; 0 if there is no id."""
    match = _ID.match(line)
    return match.end() if match else 0


def path_starts(lines: list[tuple[int, str]]) -> tuple[list[int], list[tuple[int, str]]]:
    """Return where the path of each line starts, and the lines that lost their id.

    If most lines have an id, one without it is a fault: without this rule, the ids of all others
    would become parts of names.
    """
    starts = [skip_id(line) for _, line in lines]
    if sum(map(bool, starts)) < _MOST * len(lines):
        return [0] * len(lines), []
    return starts, [line for line, start in zip(lines, starts, strict=True) if not start]


def has_open_end(steps: list[str]) -> bool:
    """Whether a line begins or ends with a separator, which became part of a name."""
    return steps[0].startswith("> ") or steps[-1].endswith(" >")


def split_steps(source: Source, number: int, line: str, start: int, separator: str) -> list[str]:
    """Return the names of a line, none of which may be empty."""
    steps = [step.strip() for step in line[start:].split(separator)]
    if not all(steps):
        raise source.error(
            f"a name is empty: expected names separated by {separator.strip()!r}",
            number,
            line,
            _column_of_empty(line, start, separator),
        )
    return steps


def _column_of_empty(line: str, start: int, separator: str) -> int:
    for step in line[start:].split(separator):
        if not step.strip():
            return min(start, len(line) - 1)
        start += len(step) + len(separator)
    return start


# The first line that we write: names may look like paths or edges, this line identifies the format.
HEADER = "# Palmette hierarchy: indented text"
_ONE_LEVEL = "  "
_INDENTATION = re.compile(r"[ \t]*")
_DASHES = re.compile(r"--+(?=[ \t])|--+$")


def looks_indented(source: Source) -> bool:
    """Whether lines have dashes or different indentations, or the file has our header."""
    if source.raw_text.startswith(HEADER):
        return True
    if any(_DASHES.match(line) for line in source.sample):
        return True
    indentations = {len(line) - len(line.lstrip()) for line in source.sample}
    return len(indentations) > 1  # one indentation for all lines is no sign of levels


def stray_blanks(source: Source) -> list[int]:
    """Return the indented lines of a file that looks indented but has paths, else none.

    A file has paths if most lines contain " > ", or if one continues the path of another line.
    """
    if source.raw_text.startswith(HEADER):
        return []
    lines = list(source.content_lines())
    names = {line[skip_id(line) :].strip() for _, line in lines}
    if 2 * sum(" > " in line for _, line in lines) <= len(lines) and not any(
        name.rpartition(" > ")[0] in names for name in names if " > " in name
    ):
        return []
    return [number for number, line in lines if line[0].isspace()]


def parse_indented(source: Source) -> PlaceRows:
    """Read the lines."""
    rows = PlaceRows(source, Tops.SEVERAL)
    open_levels: list[tuple[str, int]] = []  # indentation and node of the ancestors
    for number, line, indentation, name in split_indented_lines(source):
        if not name:
            raise source.error("the name is missing. Write one", number, line, len(line))
        if open_levels and not is_deeper(indentation, open_levels[-1][0]):
            _close_levels(source, number, line, indentation, open_levels)
        parent = open_levels[-1][1] if open_levels else -1
        open_levels.append((indentation, rows.add(name, parent, number)))
    return rows


def split_indented_lines(source: Source) -> Iterator[tuple[int, str, str, str]]:
    """Yield (number, line, indentation, name); a missing name is empty."""
    lines = list(source.content_lines())
    dashed = any(_DASHES.match(line) for _, line in lines)
    for number, line in lines:
        match = (_DASHES.match(line) if dashed else None) or _INDENTATION.match(line)
        indentation = match.group() if match else ""
        yield number, line, indentation, _name(line[len(indentation) :].strip())


def is_deeper(indentation: str, than: str) -> bool:
    """Whether a line with `indentation` is below a line with indentation `than`."""
    return len(indentation) > len(than) and indentation.startswith(than)


def _close_levels(
    source: Source, number: int, line: str, indentation: str, open_levels: list[tuple[str, int]]
) -> None:
    """Close all levels down to and including that of this indentation."""
    while open_levels:
        closed, _ = open_levels.pop()
        if closed == indentation:
            return
    raise source.error(
        f"the indentation of {len(indentation)} characters matches no level above it. "
        "Use the same spaces or tabs for the same level",
        number,
        line,
        len(indentation),
    )


def _name(written: str) -> str:
    if len(written) > 1 and written[0] == written[-1] == '"':
        try:
            decoded = json.loads(written)
        except ValueError:
            return written  # quotation marks that are part of the name
        return decoded if isinstance(decoded, str) else written
    return written


def to_indented(hierarchy: Hierarchy) -> str:
    """Return a tree as indented text, which `Hierarchy.read` can read.

    Parameters
    ----------
    hierarchy : Hierarchy
        A tree. Names that are not strings are read back as strings.

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> print(to_indented(Hierarchy.from_paths([("animal", "cat"), ("plant",)])), end="")
    # Palmette hierarchy: indented text
    root
      animal
        cat
      plant
    """
    hierarchy.require_tree("indented text")
    names = names_as_text(hierarchy, "indented text")
    n_spaces = len(_ONE_LEVEL) * int(hierarchy.depth.sum(dtype=np.int64))
    if n_spaces > MAX_TEXT:
        raise HierarchyError(
            f"the tree has {hierarchy.max_depth} levels: indented text would need {n_spaces:,} "
            "spaces. Write JSON instead."
        )
    lines = [
        _ONE_LEVEL * depth + _written(name)
        for name, depth in zip(names, hierarchy.depth.tolist(), strict=True)
    ]
    return "\n".join([HEADER, *lines, ""])


def _written(name: str) -> str:
    plain = name == name.strip() and name[:1] not in '"#-' and "\n" not in name
    return name if plain and not CONTROL.search(name) else visible(json.dumps(name))


_Fields = list[str]
_HEADERS: dict[tuple[str, ...], bool] = {
    ("parent", "child"): False,
    ("source", "target"): False,
    ("from", "to"): False,
    ("child", "parent"): True,  # reversed
}


def looks_like_edges(source: Source) -> bool:
    """Whether every line has two names, or more names separated by tabs."""
    sample = source.sample
    if not sample:
        return False
    separator = _separator(sample)
    for line in sample:
        try:
            fields = _split(source, 0, line, separator)
        except ReadError:
            return False
        if len(fields) < 2 or (separator != "\t" and len(fields) != 2):
            return False
    return True


def has_header(source: Source) -> bool:
    """Whether the first line is a header of an edge list."""
    first = source.sample[:1]
    try:
        return bool(first) and _header(_split(source, 0, first[0], _separator(first))) is not None
    except ReadError:
        return False


def _header(fields: _Fields) -> bool | None:
    """Whether a header has the child first; None if the fields are not a header."""
    return _HEADERS.get(tuple(field.casefold() for field in fields))


def parse_edges(source: Source) -> LinkRows:
    """Read the edges."""
    rows = LinkRows(source, Tops.NEVER)
    for number, parent, children in split_edge_lines(source):
        for child in children:
            rows.link(parent, child, number)
    return rows


def split_edge_lines(
    source: Source, receive: Callable[[ReadError], None] | None = None
) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line, parent, children); files of child and parent have one child per line.

    Parameters
    ----------
    source : Source
    receive : callable, optional
        Called with the error of a line, which is then skipped; by default errors are raised.
    """
    lines = list(source.content_lines())
    separator = _separator([line for _, line in lines])
    reversed_order = False
    for place, (number, line) in enumerate(lines):
        try:
            fields = _split(source, number, line, separator)
            header = _header(fields) if place == 0 else None
            if header is not None:
                reversed_order = header
                continue
            _check(source, number, line, fields, separator)
        except ReadError as error:
            if receive is None:
                raise
            receive(error)
            continue
        if reversed_order:
            yield from ((number, parent, fields[:1]) for parent in fields[1:])
        else:
            yield number, fields[0], fields[1:]


def _separator(lines: list[str]) -> str:
    if any("\t" in line for line in lines):
        return "\t"
    return "," if lines and all("," in line for line in lines) else " "


def _split(source: Source, number: int, line: str, separator: str) -> _Fields:
    if separator == " ":
        return line.split()
    if separator == "\t":
        fields = line.split("\t")
        while len(fields) > 2 and not fields[-1].strip():  # tabs at the end of a line
            fields.pop()
    else:
        try:
            fields = next(csv.reader([line], skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise source.error(f"this line is not CSV ({error})", number, line) from None
    return [field.strip() for field in fields]


def _check(source: Source, number: int, line: str, fields: _Fields, separator: str) -> None:
    names = {" ": "a space", ",": "a comma", "\t": "tabs"}
    expected = "parent and children" if separator == "\t" else "parent and child"
    if len(fields) < 2:
        raise source.error(
            f"found one name: expected {expected}, separated by {names[separator]}. For a plain "
            "list of names, use Hierarchy.star",
            number,
            line,
        )
    if len(fields) > 2 and separator != "\t":
        third = re.search(r"\S+\s+\S+\s+()" if separator == " " else r"[^,]*,[^,]*()", line)
        raise source.error(
            f"found {len(fields)} fields: expected {expected}, separated by {names[separator]}. "
            "Names with spaces need tabs or commas as separators",
            number,
            line,
            third.start(1) if third else 0,
        )
    if not all(fields):
        column = 0 if not fields[0] else len(line)
        raise source.error("a name is empty: expected " + expected, number, line, column)


def to_edges(hierarchy: Hierarchy) -> str:
    """Return a tree or DAG as CSV with a header and one edge per line, sorted by child.

    Parameters
    ----------
    hierarchy : Hierarchy
        If two nodes of a tree have the same name, all names are replaced by paths, such as "a/b".

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> print(to_edges(Hierarchy.from_paths([("animal", "cat"), ("plant",)])), end="")
    parent,child
    root,animal
    animal,cat
    root,plant
    """
    names = names_as_text(hierarchy, "a list of edges")
    if len(set(names)) < len(names):
        names = [str(path) for path in hierarchy.path_strings.tolist()]
    lost = next((n for n in names if not n or n != n.strip() or re.search(r"[\t\r\n]", n)), None)
    if lost is not None or len(set(names)) < len(names) or len(names) < 2:
        what = "two nodes with one path" if lost is None else f"a node called {lost!r}"
        what = "a single node" if len(names) < 2 else what
        raise HierarchyError(f"a list of edges cannot represent {what}. Write JSON instead.")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if any(name.startswith("#") for name in names):  # "#" would start a comment
        writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(("parent", "child"))
    writer.writerows((names[parent], names[child]) for parent, child in hierarchy.edges.tolist())
    return stream.getvalue()
