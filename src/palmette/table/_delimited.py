"""Rows of text files, with their lines: CSV, TSV and JSON lines."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import free_memory
from palmette._text import HALF
from palmette.exceptions import ReadError
from palmette.table._sources import TableSource

if TYPE_CHECKING:
    import pandas as pd

_ENCODING_ADVICE = (
    "Pass its encoding, such as --encoding latin-1, gb18030 for Chinese or shift_jis for Japanese"
)
_DELIMITERS = ";\t|,"  # of those that split the first lines equally well, the first is taken
_LOOK = 20  # lines that show the delimiter
_PEEK = 2**16  # bytes that are inspected before reading
_FEW_ZEROS = 0.1  # share of bytes; a cell may hold one, and binary files have more
_MAX_CELL_CHARACTERS = 2**26
_MAX_LINE = 2**27  # bytes
_MAX_COLUMNS = 2**20
MAX_CELLS = 2**28  # of a table that is read whole
_CHUNK_BYTES = 2**26  # after which a chunk ends, whatever its rows: cells may be long
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMED = re.compile(r"\ufeff?sep=(.)\s*", re.IGNORECASE)
_UNDECODED = re.compile("[\udc80-\udcff]")
_ESCAPED = re.compile(r"\\u[dD][89abcdefABCDEF]")  # in JSON
_JSON_MEMORY = 40  # bytes of memory per character of a list: of {"a": 1} it is about 35
_SKIP = "skip such rows with --skip-bad-rows"


class Part(NamedTuple):
    """Some rows of a table.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
    lines : array of shape (n_samples,) or None
        Line of the file on which each row begins, from 1, or the name of the file of each row;
        None for formats without lines.
    """

    frame: pd.DataFrame
    lines: NDArray[Any] | None = None


def numbered_columns(width: int) -> list[str]:
    """Return names of the columns of a table without a header: col1, col2, ..."""
    return [f"col{i + 1}" for i in range(width)]


def require_distinct(names: list[str], title: str) -> None:
    """Raise an error for two columns of the same name, or no columns."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ReadError(f"two columns have the name {name!r}: rename one", path=title)
        seen.add(name)
    if not names:
        raise ReadError("the table has no columns", path=title)


def delimited_parts(source: TableSource, rows: int) -> Iterator[Part]:
    """Read CSV or TSV in chunks; see `palmette.table._reading.read_parts`. Cells stay text."""
    import pandas as pd

    with source.open() as binary:
        reader = _RowReader(_as_text(binary, source), source)
        try:
            while cells := reader.take(rows):
                block = np.array(cells, dtype=object).T.copy()  # by columns, as pandas has it
                block[block == ""] = None
                frame = pd.DataFrame(block.T, columns=reader.names, dtype=object, copy=False)
                yield Part(frame, np.array(reader.starts))
        except UnicodeDecodeError as error:  # of encodings of several bytes
            raise ReadError(
                f"the text near this line is not {error.encoding}. Pass its encoding, such as "
                "--encoding latin-1",
                path=source.title,
                line=reader.line + 1,
            ) from error


def text_lines(source: TableSource, stack: ExitStack) -> tuple[Iterator[str], str]:
    """Return the lines of a text with their ends, counted as rows are, and its encoding.

    Parameters
    ----------
    source : TableSource
    stack : ExitStack
        Closes the file.
    """
    text = _as_text(stack.enter_context(source.open()), source)
    return iter(text), text.encoding


@contextmanager
def _long_cells() -> Iterator[None]:
    """Allow long cells, and restore the limit, which the whole process shares."""
    before = csv.field_size_limit(_MAX_CELL_CHARACTERS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _peekable(binary: Any) -> Any:
    return binary if hasattr(binary, "peek") else io.BufferedReader(binary)


class _BoundedLines(io.BufferedReader):
    """Bytes of a text, counted, whose lines are bounded: a small compressed file may have one line
    that fills the memory."""

    def __init__(self, binary: Any, title: str) -> None:
        super().__init__(binary)
        self._title, self._line = title, 0
        self.n_bytes = 0

    def read1(self, size: int = -1, /) -> bytes:
        """Read some bytes; `io.TextIOWrapper` reads lines by this method alone."""
        data = super().read1(size)
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._line = self._line + len(data) if end < 0 else len(data) - end
        self.n_bytes += len(data)
        if self._line > _MAX_LINE:
            raise ReadError(
                f"a line has more than {_MAX_LINE:,} bytes: this is no table. Check the file, or "
                "pass the --format that it has",
                path=self._title,
            )
        return data


def _as_text(binary: Any, source: TableSource) -> io.TextIOWrapper:
    buffered = _peekable(binary)
    start = buffered.peek(_PEEK)[:_PEEK]
    encoding = source.encoding or next(
        (name for mark, name in _BYTE_ORDER_MARKS if start.startswith(mark)), "utf-8"
    )
    if not encoding.replace("-", "").lower().startswith(("utf16", "utf32")):
        zeros = start.count(0)
        if zeros > _FEW_ZEROS * len(start) or (zeros and not _is_utf8(start)):
            raise ReadError(_binary(start), path=source.title)
    lines = _BoundedLines(buffered, source.title)
    return io.TextIOWrapper(lines, encoding=encoding, errors="surrogateescape", newline="")


def _is_utf8(start: bytes) -> bool:
    """Whether bytes are the start of a text in UTF-8, which may end within a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True


def _binary(start: bytes) -> str:
    """Return the error for a file that begins with these bytes, of which some are zero."""
    even, odd = (half.count(0) / max(len(half), 1) for half in (start[::2], start[1::2]))
    for name, few, many in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        if few < 0.01 and many > 0.5:
            return (
                "this is text in UTF-16 without a byte order mark, or a binary file. Pass "
                f"--encoding {name} if it is text"
            )
    return "this is a binary file: expected a table in text. Pass --format if it is another one"


class _Lines:
    """Lines of a text, counted, of which some can be given back to be read again."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.stream = cast(_BoundedLines, text.buffer)
        self._back: deque[str] = deque()
        self.number = 0  # lines that were read
        self.record: list[str] = []  # those of the current row
        self.is_undecoded = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._back.popleft() if self._back else next(self._text)
        self.number += 1
        self.record.append(line)
        if not line.isascii() and _UNDECODED.search(line):
            self.is_undecoded = True
        return line

    def take(self, n_lines: int) -> list[str]:
        """Return the next lines at once, fewer if they are long; no character is looked at."""
        lines = [self._back.popleft() for _ in range(min(n_lines, len(self._back)))]
        end = self.stream.n_bytes + _CHUNK_BYTES
        try:
            for line in islice(self._text, n_lines - len(lines)):
                lines.append(line)
                if self.stream.n_bytes > end:
                    break
        finally:  # an error names its line
            self.number += len(lines)
        return lines

    def give_back(self, lines: list[str]) -> None:
        self._back.extendleft(reversed(lines))
        self.number -= len(lines)


class _RowReader:
    """The rows of a delimited text, with the line on which each begins."""

    def __init__(self, text: io.TextIOWrapper, source: TableSource) -> None:
        self._source, self._lines = source, _Lines(text)
        self._encoding = text.encoding
        self._delimiter = self._find_delimiter()
        self._reader = csv.reader(self._lines, delimiter=self._delimiter, strict=True)
        first = self._first_row()
        self._width = len(first)
        if source.header:
            self.names = [cell.strip() or f"column {i + 1}" for i, cell in enumerate(first)]
            self._header = first if len(first) > 1 else None
        else:
            self.names = numbered_columns(len(first))
            self._header = None
            self._lines.give_back(self._lines.record[:])

    @property
    def line(self) -> int:
        """Number of lines that were read."""
        return self._lines.number

    def _find_delimiter(self) -> str:
        """Skip empty lines, and find the delimiter of the first ones, or in a line ``sep=;``."""
        lines = self._lines
        look: list[str] = []
        while len(lines.record) < _LOOK and lines.stream.n_bytes <= _CHUNK_BYTES:
            line = next(lines, "")
            if not line:
                break
            look += [line] if line.strip() else []
        if not look:
            raise ReadError(
                "the file is empty: expected a line with column names", path=self._source.title
            )
        lines.give_back(lines.record[:])
        marks = {self._source.delimiter, *_DELIMITERS} - {None}
        if max(map(look[0].count, cast("set[str]", marks))) > _MAX_COLUMNS:
            raise ReadError(
                f"the first line has more than {_MAX_COLUMNS:,} columns: this is no table. Check "
                "the file, or pass the --format that it has",
                path=self._source.title,
            )
        named = _NAMED.fullmatch(look[0])
        if named is not None:  # a line of spreadsheets, which is no row
            while next(lines) != look[0]:
                pass
        if self._source.delimiter is not None:
            return self._source.delimiter
        if named is not None:
            return named[1]
        return "\t" if self._source.format == "tsv" else likely_delimiter(look)

    def _first_row(self) -> list[str]:
        row: list[str] = []
        while not row or (len(row) == 1 and not row[0].strip()):
            self._lines.record.clear()
            self._lines.is_undecoded = False
            try:
                with _long_cells():
                    row = next(self._reader)
            except csv.Error as error:
                raise ReadError(
                    f"the row cannot be read ({error})", path=self._source.title, line=self.line
                ) from error
        if self._lines.is_undecoded and self._source.header:
            self._refuse_bytes(1, always=True)
        return row

    def take(self, n_rows: int) -> list[list[str]]:
        """Return the next rows; `starts` has the lines on which they begin."""
        lines = self._lines.take(n_rows)
        rows = self._plain_rows(lines)
        if rows:
            self.starts: Any = range(self.line - len(lines) + 1, self.line + 1)
            return rows
        self._lines.give_back(lines)
        return self._take_rows(n_rows)

    def _plain_rows(self, lines: list[str]) -> list[list[str]]:
        """Return the rows of lines that are one valid row each; else an empty list.

        Most chunks have no others. If lines are not counted, rows are read several times as fast.
        """
        try:
            with _long_cells():
                rows = list(csv.reader(lines, delimiter=self._delimiter, strict=True))
        except csv.Error:
            return []
        is_plain = (
            len(rows) == len(lines)
            and {len(row) for row in rows} == {self._width}
            and self._header not in rows
            and not any(_UNDECODED.search(line) for line in lines if not line.isascii())
        )
        return rows if is_plain else []

    def _take_rows(self, n_rows: int) -> list[list[str]]:
        lines, reader, record = self._lines, self._reader, self._lines.record
        width, header = self._width, self._header
        rows: list[list[str]] = []
        self.starts = []
        add_row, add_start, clear = rows.append, self.starts.append, record.clear
        end = lines.stream.n_bytes + _CHUNK_BYTES
        with _long_cells():
            while len(rows) < n_rows and lines.stream.n_bytes <= end:
                clear()
                before = lines.number
                start = before + 1
                try:
                    for row in islice(reader, n_rows - len(rows)):
                        if len(row) != width or lines.is_undecoded or row == header:
                            if row:
                                self._refuse(start, row)
                        else:
                            add_row(row)
                            add_start(start)
                        clear()
                        start = lines.number + 1
                        if lines.stream.n_bytes > end:
                            break
                    if lines.number == before:
                        break
                except csv.Error as error:
                    self._refuse_quotes(start, error)
                    # a quote that is not closed ends below: the next line is a row again
                    lines.give_back(record[1:])
                    lines.is_undecoded = False
        return rows

    def _refuse(self, line: int, row: list[str]) -> None:
        if self._lines.is_undecoded:
            self._refuse_bytes(line)
        elif len(row) != self._width:
            first = "the first line has" if self._source.header else "the first row has"
            cells = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
            columns = f"{self._width} column{'' if self._width == 1 else 's'}"
            before = "Remove lines before the names of the columns, pass --delimiter"
            quote = "Put cells that contain the delimiter in double quotes, correct the row"
            refuse(
                self._source, line, f"the row has {cells}, but {first} {columns}",
                before if self._width == 1 else quote,
                "".join(self._lines.record),
            )  # fmt: skip
        else:
            refuse(
                self._source, line, "the row repeats the names of the columns", "Remove it",
                "".join(self._lines.record),
            )  # fmt: skip

    def _refuse_bytes(self, line: int, always: bool = False) -> None:
        text = "".join(self._lines.record)
        self._lines.is_undecoded = False
        found = _UNDECODED.search(text)
        byte = 0 if found is None else ord(found.group()) - 0xDC00
        reason = f"the text is not {self._encoding} (byte 0x{byte:02x})"
        advice = _ENCODING_ADVICE
        if always:
            raise ReadError(f"{reason}. {advice}", path=self._source.title, line=line)
        refuse(self._source, line, reason, advice, text)

    def _refuse_quotes(self, line: int, error: csv.Error) -> None:
        refuse(
            self._source, line, f"the row cannot be read ({error})",
            "Double the quotes inside quoted cells, and close them",
            "".join(self._lines.record[:1]),
        )  # fmt: skip


def refuse(source: TableSource, line: int | None, reason: str, advice: str, text: str) -> None:
    """Skip a row, if bad rows are skipped; else raise an error.

    Parameters
    ----------
    source : TableSource
    line : int or None
        Line on which the row begins, if the file has lines.
    reason : str
        What is wrong.
    advice : str
        What to do about it; the error also names the option that skips such rows.
    text : str
        The row as it is in the file.
    """
    if source.bad is None:
        raise ReadError(f"{reason}. {advice}, or {_SKIP}", path=source.title, line=line)
    plain = text.rstrip("\r\n").encode("utf-8", "surrogateescape")
    source.bad.add(line, reason, plain.decode("utf-8", "backslashreplace"))


def likely_delimiter(lines: list[str]) -> str:
    """Return the most likely delimiter of some lines; a comma by default.

    It is the one that splits most lines into as many cells as the first.

    Examples
    --------
    >>> likely_delimiter(["title;price, net;kind", "a;1,5;b", "c;2;d"])
    ';'
    """
    best, most = ",", (0.0, 0)
    for mark in _DELIMITERS:
        count = lines[0].count(mark)
        if not count:
            continue
        with _long_cells():
            try:
                widths = [len(row) for row in csv.reader(lines, delimiter=mark)]
            except csv.Error:
                widths = [len(line.split(mark)) for line in lines]
        share = float(np.mean([width == widths[0] for width in widths]))
        if (share, count) > most:
            best, most = mark, (share, count)
    return best


# ---------------------------------------------------------------------- JSON lines


def json_parts(source: TableSource, rows: int) -> Iterator[Part]:
    """Read JSON objects in chunks, one per line or in one list.

    The columns are the keys of the first chunk. Objects may lack some of them, which are then
    missing values; a new key in a later chunk is an error.
    """
    import pandas as pd

    with source.open() as binary:
        buffered = _peekable(binary)
        is_list = buffered.peek(_PEEK)[:_PEEK].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        errors = "strict" if is_list else "surrogateescape"
        stream = buffered if is_list else _BoundedLines(buffered, source.title)
        text = io.TextIOWrapper(stream, encoding=source.encoding or "utf-8-sig", errors=errors)
        objects = _listed(text, source) if is_list else _by_line(text, source)
        names: dict[str, None] = {}
        while part := _next_objects(objects, rows, stream):
            names = names or dict.fromkeys(key for _, record in part for key in record)
            part = [pair for pair in part if _has_known_keys(*pair, names, source)]
            if not part:
                continue
            if len(part) * len(names) > MAX_CELLS:
                raise ReadError(
                    f"{source.title}: {len(part):,} objects have {len(names):,} different keys: "
                    f"expected at most {MAX_CELLS:,} cells. Write keys that few objects have as a "
                    "list of names in one column."
                )
            frame = pd.DataFrame(
                {i: [record.get(name) for _, record in part] for i, name in enumerate(names)},
                dtype=object,
            ).set_axis([*names], axis=1)
            lines = None if is_list else np.array([line for line, _ in part], dtype=np.int64)
            yield Part(frame, lines)


def _next_objects(
    objects: Iterator[tuple[int, dict[str, Any]]], rows: int, stream: Any
) -> list[tuple[int, dict[str, Any]]]:
    """Return the next objects, fewer if their lines are long."""
    if not isinstance(stream, _BoundedLines):
        return list(islice(objects, rows))
    part, end = [], stream.n_bytes + _CHUNK_BYTES
    for pair in islice(objects, rows):
        part.append(pair)
        if stream.n_bytes > end:
            break
    return part


def _has_known_keys(
    line: int, record: dict[str, Any], names: dict[str, None], source: TableSource
) -> bool:
    new = [key for key in record if key not in names]
    if new:
        refuse(
            source, line,
            f"the key {new[0]!r} does not occur in the first rows ({', '.join(islice(names, 10))})",
            "Add it to the first object, as null", json.dumps(record, ensure_ascii=False),
        )  # fmt: skip
    return not new


def _by_line(text: Any, source: TableSource) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        if not line.isascii() and _UNDECODED.search(line):
            byte = ord(_UNDECODED.findall(line)[0]) - 0xDC00
            refuse(
                source, number, f"the text is not {text.encoding} (byte 0x{byte:02x})",
                _ENCODING_ADVICE, line,
            )  # fmt: skip
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = f"this is not a JSON object ({_why(error)})"
            if source.bad is None:
                raise ReadError(
                    f"{reason}. Correct the line, or {_SKIP}",
                    path=source.title,
                    line=number,
                    text=line,
                    column=getattr(error, "colno", 1) - 1,
                ) from error
            refuse(source, number, reason, "", line)
            continue
        if not isinstance(record, dict):
            refuse(source, number, _no_object(record), "Correct the line", line)
            continue
        if _ESCAPED.search(line) and (half := _half_in(record)):
            refuse(source, number, half, "Correct the line", line)
            continue
        yield number, record


def _listed(text: Any, source: TableSource) -> Iterator[tuple[int, dict[str, Any]]]:
    limit = max(int(free_memory() / _JSON_MEMORY), _MAX_LINE)
    content = text.read(limit)
    if text.read(1):
        raise ReadError(
            f"the list has more than {limit:,} characters, which need more memory than is free. "
            "Write JSON lines, one object per line",
            path=source.title,
        )
    try:
        records = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ReadError(
            f"this is not a JSON list ({_why(error)})",
            path=source.title,
            line=getattr(error, "lineno", None),
        ) from error
    is_doubtful = _ESCAPED.search(content) is not None
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise ReadError(f"{_no_object(record)} in place {number}", path=source.title)
        if is_doubtful and (half := _half_in(record)):
            raise ReadError(f"{half}, in place {number}. Correct it", path=source.title)
        yield number, record


def _why(error: Exception) -> str:
    """Return what is wrong with a text that is no JSON."""
    if isinstance(error, RecursionError):
        return "too deep"
    # Python does not read integers that take long to convert
    return getattr(error, "msg", "a number has too many digits: put it in quotes")


def _half_in(record: dict[str, Any]) -> str:
    """Return what is wrong with an object that has half of a surrogate pair, else nothing."""
    found = HALF.search(json.dumps(record, ensure_ascii=False))
    if found is None:
        return ""
    return f"\\u{ord(found.group()):04x} is half of a surrogate pair, which is no character"


def _no_object(record: Any) -> str:
    return f'expected an object, such as {{"title": "..."}}, got a {type(record).__name__}'
