"""CSV and TSV files by chunks of rows: cells stay text, rows of another width are refused."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from palmette.exceptions import ReadError
from palmette.table.sources import TableSource

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["delimited_chunks", "likely_delimiter"]

_DELIMITERS = ",;\t|"
_LOOK = 2**16  # bytes that are looked at before reading
_LONGEST_CELL = min(2**28, sys.maxsize)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def delimited_chunks(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    """Read a table of text by chunks; see `read_chunks`."""
    import pandas as pd

    with source.open() as binary:
        text, reader = _as_text(binary, source), None
        try:
            reader = _reader(text, source)
            with _long_cells():
                header = _header(next(reader))
            filled = _rows_of(reader, len(header), source)
            while lines := _take(filled, rows):
                columns = enumerate(zip(*lines, strict=True))
                cells = {i: [cell or None for cell in column] for i, column in columns}
                yield pd.DataFrame(cells, dtype=object).set_axis(header, axis=1)
        except csv.Error as error:
            raise ReadError(
                f"the row cannot be read ({error})", path=source.title, line=reader.line_num
            ) from error
        except UnicodeDecodeError as error:
            raise ReadError(
                f"the text near this line is not {error.encoding} (byte "
                f"0x{error.object[error.start]:02x}). Name its encoding, such as --encoding "
                "latin-1",
                path=source.title,
                line=1 if reader is None else reader.line_num + 1,
            ) from error


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be long: the limit is one of the whole process, and others rely on theirs."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _take(lines: Iterator[list[str]], rows: int) -> list[list[str]]:
    with _long_cells():
        return list(islice(lines, rows))


def likely_delimiter(line: str) -> str:
    """Return the character that divides the cells of a header, a comma where none is likelier.

    Examples
    --------
    >>> likely_delimiter("title;price, net;kind")
    ';'
    """
    counts = {mark: line.count(mark) for mark in _DELIMITERS}
    return max(_DELIMITERS, key=lambda mark: counts[mark])


def _as_text(binary: Any, source: TableSource) -> io.TextIOWrapper:
    buffered = binary if hasattr(binary, "peek") else io.BufferedReader(binary)
    start = buffered.peek(_LOOK)[:_LOOK]
    encoding = source.encoding or next(
        (name for mark, name in _MARKS if start.startswith(mark)), "utf-8"
    )
    if b"\0" in start and not encoding.replace("-", "").lower().startswith(("utf16", "utf32")):
        raise ReadError("this is a binary file, a table in text was expected", path=source.title)
    return io.TextIOWrapper(buffered, encoding=encoding, newline="")


def _reader(text: io.TextIOWrapper, source: TableSource) -> Any:
    """Return a reader of rows; the first line, which is looked at, is put back."""
    first = text.readline()
    while first and not first.strip():
        first = text.readline()
    if not first:
        raise ReadError("the file is empty: expected a line with column names", path=source.title)
    if source.delimiter is not None:
        delimiter = source.delimiter
    else:
        delimiter = "\t" if source.format == "tsv" else likely_delimiter(first)

    def lines() -> Iterator[str]:
        yield first
        yield from text

    return csv.reader(lines(), delimiter=delimiter, strict=True)


def _header(cells: list[str]) -> list[str]:
    return [cell.strip() or f"column {i + 1}" for i, cell in enumerate(cells)]


def _rows_of(reader: Any, width: int, source: TableSource) -> Iterator[list[str]]:
    for row in reader:
        if len(row) == width:
            yield row
        elif row:
            raise ReadError(
                f"the row has {len(row)} cells, but the first line names {width} columns. Put "
                "cells that hold the delimiter in double quotes, or mend the row",
                path=source.title,
                line=reader.line_num,
            )
