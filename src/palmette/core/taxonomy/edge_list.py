"""Lists of edges: ``parent child`` a line, or ``parent<TAB>child<TAB>child ...``.

Fields are split at tabs if a line has one, else at commas if all lines have one (quotes as in
CSV), else at blanks; names with blanks therefore need tabs or commas. A first line that says
``parent,child`` or ``child,parent`` is a header. The name is a node's identity, so that a child of
two parents makes a DAG. Names stay strings, also where they look like numbers.
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
    ("child", "parent"): True,  # the other way round
}


def looks_like(source: Source) -> bool:
    """Whether every line has two names, or tabs between more of them."""
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
    """Whether the first line says that these are edges, whatever the names look like."""
    first = source.sample[:1]
    try:
        return bool(first) and _header(_split(source, 0, first[0], _separator(first))) is not None
    except ReadError:
        return False


def _header(fields: _Fields) -> bool | None:
    """Whether a header has the child first; None where these fields are none."""
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
    """Yield (line, parent, children); in files of child and parent there is one child a line.

    Parameters
    ----------
    source : Source
    receive : callable, optional
        Called with the error of a line, which is then left out; raised by default.
    """
    lines = list(source.content_lines())
    separator = _separator([line for _, line in lines])
    turned = False
    for place, (number, line) in enumerate(lines):
        try:
            fields = _split(source, number, line, separator)
            header = _header(fields) if place == 0 else None
            if header is not None:
                turned = header
                continue
            _check(source, number, line, fields, separator)
        except ReadError as error:
            if receive is None:
                raise
            receive(error)
            continue
        if turned:
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
            raise source.error(f"this is no line of CSV ({error})", number, line) from None
    return [field.strip() for field in fields]


def _check(source: Source, number: int, line: str, fields: _Fields, separator: str) -> None:
    names = {" ": "a blank", ",": "a comma", "\t": "tabs"}
    expected = "parent and children" if separator == "\t" else "parent and child"
    if len(fields) < 2:
        raise source.error(
            f"found one name, expected {expected} with {names[separator]} between them. A plain "
            "list of names is no hierarchy: Hierarchy.star makes one of it",
            number,
            line,
        )
    if len(fields) > 2 and separator != "\t":
        third = re.search(r"\S+\s+\S+\s+()" if separator == " " else r"[^,]*,[^,]*()", line)
        raise source.error(
            f"found {len(fields)} fields, expected {expected} with {names[separator]} between "
            "them. Names with blanks need tabs or commas as separators",
            number,
            line,
            third.start(1) if third else 0,
        )
    if not all(fields):
        column = 0 if not fields[0] else len(line)
        raise source.error("a name is empty, expected " + expected, number, line, column)


def to_edges(hierarchy: Hierarchy) -> str:
    """Write a tree or DAG as CSV with a header, an edge a line, in the order of the children.

    Parameters
    ----------
    hierarchy : Hierarchy
        Where two nodes of a tree share a name, all are written by their path, such as "a/b".

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
        what = "two nodes of one path" if lost is None else f"a node called {lost!r}"
        what = "a root alone" if len(names) < 2 else what
        raise HierarchyError(f"a list of edges cannot hold {what}. Write JSON instead.")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if any(name.startswith("#") for name in names):  # it would begin a comment
        writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(("parent", "child"))
    writer.writerows((names[parent], names[child]) for parent, child in hierarchy.edges.tolist())
    return stream.getvalue()
