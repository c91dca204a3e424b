"""Lists of edges: ``parent child`` per line, or ``parent<TAB>child<TAB>child ...``.

Fields are split at tabs if any line has one, else at commas if all lines have one (with quotes as
in CSV), else at spaces; names with spaces therefore need tabs or commas. A first line
``parent,child`` or ``child,parent`` is a header. Nodes are identified by name, so that a child with
two parents makes a DAG. Names stay strings, even if they look like numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from palmette.core.taxonomy.names import names_as_text
from palmette.core.taxonomy.rows import LinkRows, Tops
from palmette.core.taxonomy.source import Source
from palmette.exceptions import HierarchyError, ReadError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["has_header", "looks_like", "parse", "split_lines", "to_edges"]

_Fields = list[str]
_HEADERS: dict[tuple[str, ...], bool] = {
    ("parent", "child"): False,
    ("source", "target"): False,
    ("from", "to"): False,
    ("child", "parent"): True,  # reversed
}


def looks_like(source: Source) -> bool:
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


def parse(source: Source) -> LinkRows:
    """Read the edges."""
    rows = LinkRows(source, Tops.NEVER)
    for number, parent, children in split_lines(source):
        for child in children:
            rows.link(parent, child, number)
    return rows


def split_lines(
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
