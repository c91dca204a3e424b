"""The header of ARFF files of Clus-HMC: ``@ATTRIBUTE class hierarchical T1,T2,...``.

In a tree every token is a path (``1/2/7``) whose prefixes are implied; duplicates are ignored. In a
DAG every token is an edge (``GO3674/GO3774``), and the top terms are children of the pseudo-node
``root``. The file does not state which of the two it is. It is a DAG if and only if all tokens have
two parts and ``root`` is the only first part that is never a second part: read as paths, such
tokens would make every internal node appear twice, as a top node and as a leaf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from palmette.core.taxonomy.rows import LinkRows, PlaceRows, Rows, Tops
from palmette.core.taxonomy.source import MAX_LINE, Source

__all__ = ["looks_like", "parse"]

_PSEUDO_ROOT = "root"
_RELATION = re.compile(r"(?:\s|%.*\n)*@relation\b", re.IGNORECASE)
_DATA = re.compile(rb"\s*@data\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""\s*@attribute\s+(?:'[^']*'|"[^"]*"|[^\s'"]+)\s+hierarchical(?:\s+|$)""", re.IGNORECASE
)


def looks_like(source: Source) -> bool:
    """Whether the file starts like an ARFF file."""
    return _RELATION.match(source.head) is not None


def parse(source: Source) -> Rows:
    """Read the classes of the hierarchical attribute; the data rows are not read."""
    for number, line in _header_lines(source):
        match = _ATTRIBUTE.match(line)
        if match is not None:
            tokens = _tokens(source, number, line, match.end())
            return _links(source, tokens) if _is_dag(tokens) else _places(source, tokens)
    raise source.error(
        "the header has no line '@ATTRIBUTE class hierarchical ...'. The hierarchy of a MULAN data "
        "set is in the .xml file next to the .arff file"
    )


def _header_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield lines above @DATA; the data below may be large and need not be decoded."""
    start, number = 0, 0
    while start < len(source.data):
        end = source.data.find(b"\n", start)
        end = len(source.data) if end < 0 else end
        line = source.data[start:end].rstrip(b"\r")
        start, number = end + 1, number + 1
        if _DATA.match(line):
            return
        if b"\0" in line or len(line) > MAX_LINE:
            wrong = f"{len(line):,} bytes" if len(line) > MAX_LINE else "a NUL byte"
            raise source.error(
                f"the line has {wrong}: expected the header of an ARFF file",
                number,
                line[:200].decode("latin-1"),
            )
        try:
            yield number, line.decode("utf-8")
        except UnicodeDecodeError:
            yield number, line.decode("latin-1")


def _tokens(source: Source, number: int, line: str, start: int) -> list[list[str]]:
    """Split the list of classes into paths."""
    tokens = []
    for token in line[start:].split(","):
        steps = token.strip().split("/")
        if not all(steps):
            raise source.error(
                "a class is empty: expected paths such as 1/2/7, separated by commas",
                number,
                line,
                start,
            )
        tokens.append(steps)
        start += len(token) + 1
    return tokens


def _is_dag(tokens: list[list[str]]) -> bool:
    if any(len(steps) != 2 for steps in tokens):
        return False
    return {steps[0] for steps in tokens} - {steps[1] for steps in tokens} == {_PSEUDO_ROOT}


def _links(source: Source, tokens: list[list[str]]) -> LinkRows:
    rows = LinkRows(source, Tops.NEVER)
    for parent, child in tokens:
        rows.link(parent, child)
    return rows


def _places(source: Source, tokens: list[list[str]]) -> PlaceRows:
    rows = PlaceRows(source, Tops.ALWAYS)
    for steps in tokens:
        node = -1
        for step in steps:
            node = rows.reach(step, node)
    return rows
