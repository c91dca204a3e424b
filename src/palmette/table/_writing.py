"""Writing tables in chunks, whole or not at all: CSV, TSV, JSON lines, Parquet, workbooks."""

from __future__ import annotations

import datetime
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from palmette import _text as text
from palmette._arrays import is_missing
from palmette._files import atomic_write
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    import pandas as pd

OURS = "palmette columns"  # attribute of a table: columns of results, not of its file
OUTPUTS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq", ".xlsx")


class Piece(NamedTuple):
    """Some rows in the form in which they are written.

    Parameters
    ----------
    n_rows : int
    content : str, DataFrame, or names of columns with lists of cells
        By format.
    header : str
        What is written before the first piece.
    """

    n_rows: int
    content: Any
    header: str = ""


Form = Callable[["pd.DataFrame"], Piece]


class TableWriter(Protocol):
    """A writer of the chunks of a table.

    Attributes
    ----------
    form : callable
        Gives the rows of a DataFrame the form in which `append` takes them, in any process.
    """

    form: Form

    def append(self, piece: Piece) -> None:
        """Write some rows; all pieces have the same columns."""

    def write(self, frame: pd.DataFrame) -> None:
        """Write some rows; all chunks have the same columns."""


@contextmanager
def open_writer(path: Path | None, excel_safe: bool = False) -> Iterator[TableWriter]:
    """Open a table for writing, by its suffix; None is CSV on the standard output.

    A file appears under its name after everything is written; after an error there is no file.

    Parameters
    ----------
    path : Path or None
    excel_safe : bool
        Whether cells of CSV and TSV that look like formulas begin with an apostrophe.
    """
    change = text.excel_safe if excel_safe else None
    if path is None:
        # what a terminal shows must not control it
        yield _Texts(sys.stdout, _Delimited(",", _visible if sys.stdout.isatty() else change))
        sys.stdout.flush()
        return
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq", ".xlsx"):
        with atomic_write(path, "wb") as stream:
            writer = _Workbook(stream) if suffix == ".xlsx" else _Parquet(stream)
            try:
                yield writer
                writer.close()
            finally:
                writer.drop()
        return
    if suffix not in OUTPUTS:
        raise PalmetteError(
            f"cannot write {path}: expected one of the suffixes {', '.join(OUTPUTS)}."
        )
    with atomic_write(path) as stream:
        if suffix in (".jsonl", ".ndjson"):
            yield _Texts(stream, _json_lines)
        else:
            yield _Texts(stream, _Delimited("\t" if suffix == ".tsv" else ",", change))


class _Texts:
    """A writer of pieces of text."""

    def __init__(self, stream: Any, form: Form) -> None:
        self._stream, self.form = stream, form
        self._begun = False

    def append(self, piece: Piece) -> None:
        if not self._begun:
            self._stream.write(piece.header)
            self._begun = True
        self._stream.write(piece.content)

    def write(self, frame: pd.DataFrame) -> None:
        self.append(self.form(frame))


def _visible(cell: Any) -> Any:
    return text.visible(cell) if isinstance(cell, str) else cell


@dataclass(frozen=True)
class _Delimited:
    """Rows as CSV or TSV."""

    delimiter: str
    change: Callable[[Any], Any] | None

    def __call__(self, frame: pd.DataFrame) -> Piece:
        ours = frame.attrs.get(OURS, ())
        columns = zip(frame.columns, frame.dtypes, _cells(frame), strict=True)
        written = (_written(cells, kind, name in ours) for name, kind, cells in columns)
        rows = zip(*written, strict=True)
        return Piece(len(frame), self._text(rows), self._text([frame.columns]))

    def _text(self, rows: Any) -> str:
        stream = io.StringIO()
        if self.change is not None:
            rows = (map(self.change, row) for row in rows)
        text.csv_writer(stream, self.delimiter).writerows(rows)
        return text.whole(stream.getvalue())


def _json_lines(frame: pd.DataFrame) -> Piece:
    """Rows as JSON objects."""
    columns = [[_plain(cell) for cell in frame[name].tolist()] for name in frame.columns]
    names = list(frame.columns)
    records = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    content = "".join(f"{text.visible(line)}\n" for line in lines)
    return Piece(len(frame), content)


def _as_it_is(frame: pd.DataFrame) -> Piece:
    return Piece(len(frame), frame)


class _Parquet:
    """Columns have the types of the first chunk; other types are errors."""

    def __init__(self, stream: Any) -> None:
        self.form: Form = _as_it_is
        self._stream = stream
        self._writer: Any = None
        self._schema: Any = None

    def append(self, piece: Piece) -> None:
        self.write(piece.content)

    def write(self, frame: pd.DataFrame) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = []
        for i, name in enumerate(frame.columns):
            kind = None if self._writer is None else self._schema.field(i).type
            try:
                columns.append(_arrow(frame[name], kind))
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise PalmetteError(
                    f"the rows cannot be written as Parquet: the column {name!r} has another type "
                    f"than in the first rows ({error}). Write CSV or JSON lines."
                ) from error
        table = pa.Table.from_arrays(columns, names=[text.whole(str(n)) for n in frame.columns])
        if self._writer is None:
            self._schema = table.schema
            self._writer = pq.ParquetWriter(self._stream, self._schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def drop(self) -> None:
        if self._writer is not None:  # after an error it would write its end to a closed file
            self._writer.is_open = False


def _arrow(column: pd.Series[Any], kind: Any) -> Any:
    """Return a column as an array of a type, or of its own; texts where it has several."""
    import pyarrow as pa

    if kind is None:
        try:
            found = pa.Array.from_pandas(column)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            kind = pa.string()
        else:
            if pa.types.is_dictionary(found.type):
                found = found.dictionary_decode()
            # a column without values may have strings in later chunks
            if pa.types.is_null(found.type):
                return found.cast(pa.string())
            if _is_storable(found.type):
                return found
            kind = pa.string()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        cells = column.tolist()
        texts = [None if is_missing(cell) else text.whole(str(_flat(cell))) for cell in cells]
        return pa.array(texts, kind)
    return pa.Array.from_pandas(column, type=kind)


def _is_storable(kind: Any) -> bool:
    """Whether Parquet has a type, as it has none for intervals and objects without keys."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.ParquetWriter(io.BytesIO(), pa.schema([("column", kind)])).close()
    except pa.ArrowException:
        return False
    return True


# ---------------------------------------------------------------------- workbooks

_MAX_ROWS, _MAX_COLUMNS, _MAX_CHARACTERS = 2**20, 2**14, 2**15 - 1  # of a sheet, and of a cell
_EXACT = 10**15  # spreadsheets keep 15 digits of a number
_FIRST_DAY = datetime.date(1900, 3, 1)  # before, spreadsheets disagree on the days
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_OTHERWISE = "Write .csv, .jsonl or .parquet"


def _sheet_rows(frame: pd.DataFrame) -> Piece:
    """Rows as the cells of a sheet."""
    ours = frame.attrs.get(OURS, ())
    columns = []
    for name in frame.columns:
        cells = frame[name].tolist()
        if name in ours and frame[name].dtype.kind == "f":
            cells = [float(_short(cell)) for cell in cells]
        columns.append([_sheet_cell(cell, name) for cell in cells])
    names = [_sheet_text(str(name), name) for name in frame.columns]
    return Piece(len(frame), (names, list(zip(*columns, strict=True))))


def _sheet_cell(cell: Any, name: Any) -> Any:
    """Return a cell as a workbook has it: text for all that spreadsheets would change."""
    if isinstance(cell, str):
        return _sheet_text(cell, name)
    if is_missing(cell):
        return None
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, bool):
        return cell
    if isinstance(cell, int):
        return cell if abs(cell) < _EXACT else str(cell)
    if isinstance(cell, float):
        return cell if np.isfinite(cell) else str(cell)
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta):
        return _sheet_time(cell)
    return _sheet_text(str(_flat(cell)), name)


def _sheet_time(cell: Any) -> Any:
    """Return a date, a time or a duration, as text if spreadsheets have no such value."""
    if isinstance(cell, datetime.timedelta):
        return cell if cell >= datetime.timedelta(0) else str(cell)
    is_exact = getattr(cell, "microsecond", 0) % 1000 == 0 and not getattr(cell, "nanosecond", 0)
    if getattr(cell, "tzinfo", None) is not None or not is_exact:
        return cell.isoformat()
    if isinstance(cell, datetime.time):
        return cell
    day = cell.date() if isinstance(cell, datetime.datetime) else cell
    return cell if day >= _FIRST_DAY else cell.isoformat()


def _sheet_text(cell: str, name: Any) -> str:
    """Return a text, if a cell of a workbook can hold it."""
    if len(cell) > _MAX_CHARACTERS:
        raise PalmetteError(
            f"a cell of the column {str(name)[:60]!r} has {len(cell):,} characters: a workbook has "
            f"at most {_MAX_CHARACTERS:,}. {_OTHERWISE}, or shorten the cell."
        )
    found = _NO_XML.search(cell)
    if found is not None:
        raise PalmetteError(
            f"a cell of the column {str(name)[:60]!r} has the control character "
            f"\\u{ord(found.group()):04x}, which a workbook cannot hold. {_OTHERWISE}, or remove "
            "it."
        )
    return cell


class _Workbook:
    """A sheet whose texts are never read as formulas."""

    def __init__(self, stream: Any) -> None:
        try:
            from openpyxl import Workbook  # type: ignore[import-untyped]
        except ImportError:
            raise PalmetteError(
                "writing .xlsx needs openpyxl: pip install 'palmette[table]'"
            ) from None
        self.form: Form = _sheet_rows
        self._stream, self._book = stream, Workbook(write_only=True)
        self._sheet: Any = self._book.create_sheet("palmette")
        self._n_rows = 0

    def append(self, piece: Piece) -> None:
        names, rows = piece.content
        if not self._n_rows:
            if len(names) > _MAX_COLUMNS:
                raise PalmetteError(
                    f"the table has {len(names):,} columns: a sheet has at most {_MAX_COLUMNS:,}. "
                    f"{_OTHERWISE}."
                )
            rows = [names, *rows]
        self._n_rows += len(rows)
        if self._n_rows > _MAX_ROWS:
            raise PalmetteError(
                f"the table has more rows than a sheet, which has at most {_MAX_ROWS:,} with the "
                f"names of the columns. {_OTHERWISE}, or split the table."
            )
        for row in rows:
            self._sheet.append([self._as_text(c) if isinstance(c, str) else c for c in row])

    def write(self, frame: pd.DataFrame) -> None:
        self.append(self.form(frame))

    def _as_text(self, cell: str) -> Any:
        """Return a text that could be read as a formula or an error as a cell of type text."""
        if not cell or cell[0] not in "=+-@#":
            return cell
        from openpyxl.cell import WriteOnlyCell  # type: ignore[import-untyped]

        made = WriteOnlyCell(self._sheet, cell)
        made.data_type = "s"
        made.quotePrefix = True  # it stays a text when somebody edits it
        return made

    def close(self) -> None:
        self._book.save(self._stream)

    def drop(self) -> None:
        """Remove the temporary file of a sheet that is not saved."""
        if not self._sheet.closed:
            with suppress(Exception):  # an error is on its way already
                self._sheet.close()
                self._sheet._writer.cleanup()


def _flat(cell: Any) -> Any:
    """Return lists and objects as JSON, and other cells as they are."""
    nested = isinstance(cell, list | tuple | set | frozenset | dict | np.ndarray)
    return json.dumps(_plain(cell), ensure_ascii=False) if nested else cell


def _cells(frame: pd.DataFrame) -> Iterator[list[Any]]:
    """Yield the cells of every column; pandas takes long for thousands of them one by one."""
    kinds = frame.dtypes.tolist()
    is_object = np.array([isinstance(k, np.dtype) and k.kind == "O" for k in kinds], dtype=bool)
    objects = iter(frame.loc[:, is_object].to_numpy(dtype=object).T)
    for i, in_block in enumerate(is_object.tolist()):
        yield (next(objects) if in_block else frame.iloc[:, i]).tolist()


def _written(cells: list[Any], kind: Any, is_ours: bool) -> list[Any]:
    """Cells of a column as written; empty for missing values. Only ours have fewer digits."""
    if set(map(type, cells)) == {str}:  # as nearly all columns of a text file, perhaps thousands
        return cells
    cells = ["" if is_missing(cell) else _flat(cell) for cell in cells]
    if kind.kind != "f":
        return cells
    write = _short if is_ours else _whole_number
    return [cell if cell == "" else write(cell) for cell in cells]


def _short(number: float) -> str:
    return format(number, ".6g")


def _whole_number(number: float) -> float | int:
    """Return a float that stands for an integer, as beside missing values, as an integer."""
    return int(number) if number % 1 == 0 and abs(number) < 2**53 else number


def _plain(cell: Any) -> Any:
    """Return a cell as JSON has it; null for missing values, and text for all other types."""
    if isinstance(cell, np.ndarray | np.generic) and not isinstance(cell, np.datetime64):
        cell = cell.tolist()
    if isinstance(cell, str | int):  # bool too
        return cell
    if isinstance(cell, float):
        return cell if np.isfinite(cell) else None
    if isinstance(cell, set | frozenset):
        cell = sorted(cell, key=str)
    if isinstance(cell, list | tuple):
        return [_plain(each) for each in cell]
    if isinstance(cell, dict):
        return {str(key): _plain(each) for key, each in cell.items()}
    return None if is_missing(cell) else str(cell)
