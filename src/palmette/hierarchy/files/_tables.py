"""Tables of codes that nest by prefix (IPC, NAICS), and the ARFF header of Clus-HMC.

A code table is CSV or TSV; its header has a column with ``code`` or ``id`` and one with ``title``,
``name`` or ``description``. Codes with spaces nest at the space, and the part before it is implied
(``A01B`` for ``A01B 1``). Other codes are below the longest code that is a prefix; a range such as
``31-33`` stands for all codes in it. Nodes are named by code; titles are not kept. A root is added.

The header ``@ATTRIBUTE class hierarchical T1,T2,...`` has paths (``1/2/7``) in a tree, and edges
(``GO3674/GO3774``) below the pseudo-node ``root`` in a DAG. The file does not state which of the
two it is. It is a DAG if and only if all tokens have two parts and ``root`` is the only first
part that is never a second part: read as paths, such tokens would make every internal node
appear twice, as a top node and as a leaf."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from palmette.hierarchy.files._source import (
    MAX_LINE,
    LinkRows,
    PlaceRows,
    Rows,
    Source,
    Tops,
    short,
)

_CODE_WORDS = ("code", "id")  # if a table has both, codes nest
_TITLE_WORDS = {"title", "name", "description", "label"}
_HEADER_WITHIN = 5  # some files have lines above the header
_RANGE = re.compile(r"([0-9]+)-([0-9]+)")
_LARGEST_RANGE = 1000
_LONGEST_CODE = 256
_Codes = dict[str, int]  # code -> line


def looks_like_codes(source: Source) -> bool:
    """Whether a header with code and title is among the first lines."""
    delimiter = _delimiter(source.sample)
    for line in source.sample[:_HEADER_WITHIN]:
        try:
            fields = next(csv.reader([line], delimiter=delimiter), [])
        except csv.Error:
            return False
        if _code_column(fields) is not None:
            return True
    return False


def parse_codes(source: Source) -> LinkRows:
    """Read the codes."""
    codes = _read_codes(source)
    rows = LinkRows(source, Tops.ALWAYS)
    if any(" " in code for code in codes):
        _nest_at_spaces(rows, codes)
    else:
        _nest_by_prefix(source, rows, codes)
    return rows


def _delimiter(lines: list[str]) -> str:
    return "\t" if any("\t" in line for line in lines) else ","


def _code_column(fields: list[str]) -> int | None:
    """Return the column of the codes in a header; None if this is not a header."""
    words = [set(re.split(r"\W+", field.casefold())) for field in fields]
    if not any(cell & _TITLE_WORDS and not cell.intersection(_CODE_WORDS) for cell in words):
        return None
    for word in _CODE_WORDS:
        for column, cell in enumerate(words):
            if word in cell:
                return column
    return None


def _read_codes(source: Source) -> _Codes:
    reader = csv.reader(
        io.StringIO(source.raw_text, newline=""), delimiter=_delimiter(source.sample)
    )
    codes: _Codes = {}
    column: int | None = None
    try:
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            if column is None:
                column = _code_column(fields)
                if column is None and reader.line_num >= _HEADER_WITHIN:
                    break
                continue
            code = " ".join(fields[column].split()) if column < len(fields) else ""
            if not code:
                raise source.error("this row has no code. Add one or delete it", reader.line_num)
            if len(code) > _LONGEST_CODE:  # the parts and prefixes of a code are quadratic in it
                raise source.error(
                    f"the code {short(code)} has {len(code):,} characters: expected at most "
                    f"{_LONGEST_CODE}",
                    reader.line_num,
                )
            if code in codes:
                raise source.error(
                    f"the code {short(code)} is repeated, first in line {codes[code]}. Delete one",
                    reader.line_num,
                )
            codes[code] = reader.line_num
    except csv.Error as error:
        raise source.error(f"the table cannot be read ({error})", reader.line_num) from None
    if column is None:
        raise source.error("the table has no header with columns 'code' or 'id' and 'title'")
    return codes


def _nest_at_spaces(rows: LinkRows, codes: _Codes) -> None:
    for code, line in codes.items():
        above, blank, _ = code.rpartition(" ")
        rows.node(above if blank else code)
        while blank:
            rows.link(above, code, line)
            code = above
            above, blank, _ = code.rpartition(" ")


def _nest_by_prefix(source: Source, rows: LinkRows, codes: _Codes) -> None:
    if len(codes) > 1 and _are_consecutive(codes):
        raise source.error(
            "the codes are consecutive numbers, which do not nest. Use Hierarchy.star for a plain "
            "table of classes; for edges, name the columns parent and child"
        )
    stands_for = {
        prefix: code for code, line in codes.items() for prefix in _spread(source, code, line)
    }
    lengths = sorted({len(prefix) for prefix in stands_for if prefix}, reverse=True)
    for code, line in codes.items():
        rows.node(code)
        above = None if _RANGE.fullmatch(code) else _longest_prefix(code, stands_for, lengths)
        if above is not None:
            rows.link(above, code, line)


def _are_consecutive(codes: _Codes) -> bool:
    if not all(code.isascii() and code.isdigit() and len(code) < 10 for code in codes):
        return False
    numbers = sorted(map(int, codes))
    return numbers[-1] - numbers[0] == len(numbers) - 1


def _spread(source: Source, code: str, line: int) -> list[str]:
    """Return the codes that a code stands for: itself, or all in a range."""
    match = _RANGE.fullmatch(code)
    if match is None:
        return [code]
    first, last = match.groups()
    if (
        len(first) != len(last)
        or len(first) > 9
        or not 0 <= int(last) - int(first) < _LARGEST_RANGE
    ):
        raise source.error(f"the range {short(code)} is invalid: expected first-last", line)
    return [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1)]


def _longest_prefix(code: str, stands_for: dict[str, str], lengths: list[int]) -> str | None:
    """Return the code of the longest known prefix; `lengths` of prefixes are descending."""
    for length in lengths:
        if length < len(code) and code[:length] in stands_for:
            return stands_for[code[:length]]
    return None


_PSEUDO_ROOT = "root"
_RELATION = re.compile(r"(?:\s|%.*\n)*@relation\b", re.IGNORECASE)
_DATA = re.compile(rb"\s*@data\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""\s*@attribute\s+(?:'[^']*'|"[^"]*"|[^\s'"]+)\s+hierarchical(?:\s+|$)""", re.IGNORECASE
)


def looks_like_clus_arff(source: Source) -> bool:
    """Whether the file starts like an ARFF file."""
    return _RELATION.match(source.head) is not None


def parse_clus_arff(source: Source) -> Rows:
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
