"""Lists of edges: ``parent child`` a line, or ``parent<TAB>child<TAB>child ...``.

Fields are split at tabs if a line has one, else at commas if all lines have one (quotes as in
CSV), else at blanks; names with blanks therefore need tabs or commas. A first line that says
``parent,child`` or ``child,parent`` is a header. The name is a node's identity, so that a child of
two parents makes a DAG. Names stay strings, also where they look like numbers.
"""

from __future__ import annotations

import csv
import re

from palmette.core.taxonomy.rows import LinkRows, Tops
from palmette.core.taxonomy.source import Source
from palmette.exceptions import ReadError

__all__ = ["looks_like", "parse"]

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


def parse(source: Source) -> LinkRows:
    """Read the edges."""
    lines = list(source.content_lines())
    separator = _separator([line for _, line in lines])
    rows = LinkRows(source, Tops.NEVER)
    turned = False
    for place, (number, line) in enumerate(lines):
        fields = _split(source, number, line, separator)
        header = _HEADERS.get(tuple(field.casefold() for field in fields)) if place == 0 else None
        if header is not None:
            turned = header
            continue
        _check(source, number, line, fields, separator)
        parent, *children = fields
        for child in children:
            if turned:
                rows.link(child, parent, number)
            else:
                rows.link(parent, child, number)
    return rows


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
