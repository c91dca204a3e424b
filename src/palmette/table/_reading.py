"""Reading tables whole or in chunks of rows: CSV, TSV, JSON lines, Parquet, Excel, corpora."""

from __future__ import annotations

import datetime
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette._arrays import is_missing, row_chunks
from palmette._files import decode_text
from palmette._text import HALF, caller_level
from palmette.exceptions import PalmetteError, ReadError, TableWarning
from palmette.table._binary_files import parquet_parts, workbook_parts
from palmette.table._delimited import MAX_CELLS, Part, delimited_parts, json_parts, require_distinct
from palmette.table._kinds import has_value, reads_as_value
from palmette.table._sources import CORPUS, TableSource, reading

if TYPE_CHECKING:
    import pandas as pd

CHUNK_ROWS = 20_000
_CORPUS_COLUMNS = ["text", "subjects"]
_URI = re.compile(r"<([^<>\s]+)>")
_CELLS_AT_ONCE = 2**22
_LOOK = 1_000  # rows that show whether the first line has names


def as_frame(table: Any) -> pd.DataFrame:
    """Return a table as a pandas DataFrame: a frame, the name of a file, or a `TableSource`.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow, path-like, dict of columns or TableSource

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> as_frame({"price": [2.5, 30.0]}).shape
    (2, 1)
    """
    return as_part(table).frame


def as_part(table: Any) -> Part:
    """Return a table as a pandas DataFrame with the lines of its rows; see `as_frame`."""
    import pandas as pd

    if isinstance(table, str | os.PathLike):
        table = TableSource.of(table)
    if isinstance(table, TableSource):
        return read_part(table)
    if isinstance(table, pd.DataFrame):
        frame = table
    elif isinstance(table, dict) or hasattr(table, "to_pandas"):
        frame = _of_library(table)
    else:
        raise PalmetteError(
            f"table is a {type(table).__name__}: expected a DataFrame or the name of a file."
        )
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    require_distinct(list(frame.columns), "the table")
    halves: list[str] = []
    frame = with_plain_cells(frame, halves)
    if halves:
        warnings.warn(
            f"texts of the column {halves[0]!r} have halves of surrogate pairs, which are no "
            "characters: they are read as \N{REPLACEMENT CHARACTER}.",
            TableWarning,
            stacklevel=caller_level(),
        )
    return Part(frame)


def _of_library(table: Any) -> pd.DataFrame:
    """Return a dict of columns, or a table of polars or pyarrow, as one of pandas."""
    import pandas as pd

    try:
        if not isinstance(table, dict):
            return table.to_pandas()
        try:
            return pd.DataFrame(table)
        except UnicodeEncodeError:  # a text with halves of surrogate pairs is none for pandas
            return pd.DataFrame(table, dtype=object)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # libraries raise many kinds of errors
        kind, words = type(table), " ".join(str(error).split())[:300]
        raise PalmetteError(
            f"table is a {kind.__module__.partition('.')[0]}.{kind.__name__} that pandas cannot "
            f"take ({words}): expected columns of one length, of numbers, texts, dates "
            "or lists. Cast the others, or drop them."
        ) from error


def read_whole(source: TableSource) -> pd.DataFrame:
    """Read all rows of a table.

    Cells of CSV and TSV files stay text; empty ones are missing.
    """
    return read_part(source).frame


def read_part(source: TableSource) -> Part:
    """Read all rows of a table, with their lines; see `read_whole`."""
    return join_small(read_parts(source, rows=50_000), source.title)


def join_small(parts: Iterable[Part], title: str) -> Part:
    """Return the parts of a table as one; too many cells are an error."""
    kept, cells = [], 0
    for part in parts:
        kept.append(part)
        cells += part.frame.size
        if cells > MAX_CELLS:
            raise ReadError(
                f"the table has more than {MAX_CELLS:,} cells. Split it, or drop columns",
                path=title,
            )
    return join_parts(kept)


def join_parts(parts: list[Part]) -> Part:
    """Return the parts of a table as one."""
    import pandas as pd

    if len(parts) == 1:
        return parts[0]
    lines = [part.lines for part in parts if part.lines is not None]
    return Part(
        pd.concat([part.frame for part in parts], ignore_index=True),
        np.concatenate(lines) if lines else None,
    )


def read_chunks(source: TableSource, rows: int = CHUNK_ROWS) -> Iterator[pd.DataFrame]:
    """Read a table in chunks of rows, one in memory at a time; Excel files are read whole.

    Parameters
    ----------
    source : TableSource
    rows : int
        Maximum number of rows of a chunk.

    Yields
    ------
    pandas.DataFrame
        At least one row each, all with the same columns. A table without rows is an error.
    """
    for part in read_parts(source, rows):
        yield part.frame


def read_parts(source: TableSource, rows: int = CHUNK_ROWS) -> Iterator[Part]:
    """Read a table in chunks of rows, with their lines; see `read_chunks`."""
    if rows < 1:
        raise PalmetteError(f"rows={rows!r}: expected a positive number of rows.")
    source.require()
    found, names = 0, None
    is_text = source.format in ("csv", "tsv", CORPUS)  # whose cells are texts and None
    files = source.parts()
    for file in files:
        with reading(file):
            for frame, lines in _READERS[source.format](file, rows):
                if names is None:
                    names = list(frame.columns)
                    require_distinct(names, file.title)
                elif names != list(frame.columns):
                    frame = _reorder(frame, names, file.title)
                found += len(frame)
                if len(frame):
                    lines = lines if len(files) == 1 else None  # lines of one file name no row
                    frame = frame.reset_index(drop=True)
                    yield Part(frame if is_text else with_plain_cells(frame), lines)
        if source.bad is not None and file.bad is not None and file is not source:
            for line, reason, text in file.bad.rows:
                source.bad.add(line, f"{Path(file.name).name}: {reason}", text)
    if not found:
        skipped = 0 if source.bad is None else len(source.bad)
        more = f": {skipped:,} rows could not be read" if skipped else ""
        raise ReadError(f"the table has no rows{more}", path=source.title)


def _reorder(frame: pd.DataFrame, names: list[str], title: str) -> pd.DataFrame:
    """Return a part of a folder with the columns of the first part, in its order."""
    if sorted(frame.columns) != sorted(names):
        lacks = sorted(set(names) - set(frame.columns)) or sorted(set(frame.columns) - set(names))
        raise ReadError(
            f"the files of the folder have different columns, such as {lacks[0]!r}: expected the "
            f"columns of the first file in all of them ({', '.join(names[:10])}"
            f"{', ...' if len(names) > 10 else ''})",
            path=title,
        )
    return frame[names]


def with_plain_cells(frame: pd.DataFrame, halves: list[str] | None = None) -> pd.DataFrame:
    """Return a table whose cells have one form, whatever its format or library.

    An empty cell is None, and so is an empty string; words such as NA are none. Arrays become
    lists. Bytes, complex numbers, times outside of the years 1 to 9999 with a time zone, which
    pandas cannot write, and integers that no number of 64 bits comes near become text.

    Parameters
    ----------
    frame : DataFrame
        With distinct names of columns. Those of numbers and dates stay as they are.
    halves : list of str, optional
        Gets the columns with halves of surrogate pairs, which are replaced in any case.

    Examples
    --------
    >>> import pandas as pd
    >>> with_plain_cells(pd.DataFrame({"a": ["x", "", "NA", float("nan")]}))["a"].tolist()
    ['x', None, 'NA', None]
    """
    import pandas as pd

    if _has_plain_cells(frame):
        return frame
    of_objects = (pd.StringDtype, pd.CategoricalDtype, pd.ArrowDtype)
    changed: dict[str, Any] = {}
    for name, column in frame.items():
        is_plain = pd.api.types.is_object_dtype(column.dtype)
        is_complex = pd.api.types.is_complex_dtype(column.dtype)
        has_one_form = not (is_plain or is_complex or isinstance(column.dtype, of_objects))
        if has_one_form and not _has_strange_times(column):
            continue
        cells = found = column.to_numpy(dtype=object)
        if pd.api.types.infer_dtype(cells, skipna=True) in ("string", "empty"):
            gone = column.isna().to_numpy(dtype=bool)
            if gone.any():
                found = np.where(gone, None, cells)
            if (found == "").any():
                found = np.where(found == "", None, found)
        else:
            there = column.notna().to_numpy(dtype=bool)  # few, in columns that most rows lack
            found = np.full(len(cells), None, dtype=object)
            n_there = int(there.sum())
            found[there] = np.fromiter(map(plain_cell, cells[there]), dtype=object, count=n_there)
        if has_halves(found):
            found = np.fromiter(map(_whole, found), dtype=object, count=len(cells))
            if halves is not None:
                halves.append(str(name))
        if found is not cells or not is_plain:
            changed[str(name)] = pd.Series(found, index=frame.index, dtype=object)
    if not changed:
        return frame
    columns = {name: changed.get(name, frame[name]) for name in frame.columns}
    return pd.DataFrame(columns, index=frame.index)


def _has_plain_cells(frame: pd.DataFrame) -> bool:
    """Whether all cells are None or whole strings, as those of text files."""
    if not all(isinstance(dtype, np.dtype) and dtype.kind == "O" for dtype in frame.dtypes):
        return False
    for part in row_chunks(frame.shape[1], len(frame), _CELLS_AT_ONCE):
        cells = frame.iloc[:, part].to_numpy(dtype=object).ravel().tolist()
        if not set(map(type, cells)) <= {str, type(None)} or "" in cells:
            return False
        joined = "".join(filter(None, cells))
        if not joined.isascii() and has_halves([joined]):
            return False
    return True


def _has_strange_times(column: pd.Series[Any]) -> bool:
    """Return whether times with a zone are outside of the years of Python."""
    import pandas as pd

    if not isinstance(column.dtype, pd.DatetimeTZDtype):
        return False
    ends = column.min(), column.max()
    return any(not is_missing(end) and not 1 <= end.year <= datetime.MAXYEAR for end in ends)


def plain_cell(cell: Any) -> Any:
    """Return a cell in the one form that `with_plain_cells` describes."""
    if isinstance(cell, str):
        return cell or None
    if isinstance(cell, int):
        return cell if cell.bit_length() < 1024 else format(Decimal(cell), "f")
    if is_missing(cell):
        return None
    if isinstance(cell, bytes | bytearray | memoryview):
        return bytes(cell).decode("utf-8", "backslashreplace") or None
    if isinstance(cell, complex | np.complexfloating):  # which has no order
        return str(cell)
    if isinstance(cell, datetime.datetime) and not 1 <= cell.year <= datetime.MAXYEAR:
        return str(cell.to_datetime64())  # type: ignore[attr-defined]  # of pandas
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, list | tuple):
        return type(cell)(map(_inside, cell)) if type(cell) in (list, tuple) else cell
    return cell.item() if isinstance(cell, np.bool_ | np.number | np.str_) else cell


def _inside(cell: Any) -> Any:
    """Return a cell in a list: an empty string there is a value."""
    return cell if isinstance(cell, str) else plain_cell(cell)


def has_halves(cells: Any) -> bool:
    """Whether a text among some cells has half of a surrogate pair, which is no character."""
    try:
        "".join(cell for cell in cells if isinstance(cell, str)).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _whole(cell: Any) -> Any:
    return HALF.sub("\N{REPLACEMENT CHARACTER}", cell) if isinstance(cell, str) else cell


def seems_headerless(frame: pd.DataFrame) -> str:
    """Return the first name of a column that looks like a value, or an empty string.

    They do if a name is a number or a date, or a value of its own column, and no name is a word
    above a column of numbers or dates. Numbers that count, such as 0, 1, 2 or years, are names.

    Parameters
    ----------
    frame : DataFrame
        A table that was read from a file.

    Examples
    --------
    >>> import pandas as pd
    >>> seems_headerless(pd.DataFrame({"5.1": ["4.9", "4.7"], "setosa": ["setosa", "other"]}))
    '5.1'
    """
    names = [str(name) for name in frame.columns]
    numbers = [float(name) for name in names if name.lstrip("+-").isdigit()]
    if len(numbers) > 1 and len(set(np.diff(numbers).tolist())) == 1:
        return ""
    first = ""
    rows = frame.iloc[:_LOOK]
    for place, name in enumerate(names):
        cells = rows.iloc[:, place]
        above_values = reads_as_value(cells)
        if has_value(name):
            first = first or name
        elif above_values:
            return ""
        elif cells.astype(object).eq(name).any() and not name.startswith("column "):
            first = first or name
    return first


def _cells(source: TableSource, rows: int) -> Iterator[Part]:
    from palmette.table._anndata import cells_in_chunks

    for frame in cells_in_chunks(source, rows):
        yield Part(frame)


# ------------------------------------------------------------ corpora of subject indexing


def _corpus(source: TableSource, rows: int) -> Iterator[Part]:
    """Read a corpus in chunks of rows, with the columns "text" and "subjects", lists of labels.

    A file has a text per line, a tab, and its subjects: URIs, which may be in angle brackets,
    separated by spaces or tabs. A folder has a file .txt per text, beside it .tsv, whose lines
    begin with a URI, or .key, whose lines are labels. Texts without subjects have none.

    Parameters
    ----------
    source : TableSource
    rows : int
        Maximum number of rows of a chunk.

    Examples
    --------
    >>> read_subjects("<http://a.org/1> <http://a.org/2>")
    ['http://a.org/1', 'http://a.org/2']
    """
    import pandas as pd

    is_folder = source.name != "-" and Path(source.name).is_dir()
    documents = _of_folder(source) if is_folder else _of_lines(source)
    places: list[int | str] = []
    found: list[tuple[str, Any]] = []
    any_rows = False

    def part() -> Part:
        lines = np.array(places, dtype=object if is_folder else np.int64)
        return Part(pd.DataFrame(found, columns=_CORPUS_COLUMNS), lines)

    for place, text, subjects in documents:
        places.append(place)
        found.append((text, subjects))
        if len(found) == rows:
            yield part()
            places, found, any_rows = [], [], True
    if found or not any_rows:
        yield part()


def read_subjects(cell: str) -> list[str]:
    """Return the subjects of a cell: URIs in angle brackets, or else words."""
    return _URI.findall(cell) or cell.split()


def _of_lines(source: TableSource) -> Iterator[tuple[int, str, list[str] | None]]:
    with source.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode(source.encoding or "utf-8-sig").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise ReadError(
                    f"line {number} is not {source.encoding or 'UTF-8'} ({error.reason}): pass the "
                    "encoding of the file, such as --encoding latin-1",
                    path=source.title,
                ) from None
            if not text.strip():
                continue
            document, tab, subjects = text.partition("\t")
            if not tab:
                raise ReadError(
                    f"line {number} has no tab: expected a text, a tab and the URIs of its "
                    "subjects",
                    path=source.title,
                )
            yield number, document, read_subjects(subjects) or None


def _of_folder(source: TableSource) -> Iterator[tuple[str, str, list[str] | None]]:
    texts = sorted(path for path in Path(source.name).glob("*.txt") if path.name[0] not in "._")
    if not texts:
        raise ReadError(
            "the folder has no .txt file: expected texts, and their subjects in files .tsv or "
            ".key of the same names",
            path=source.name,
        )
    for path in texts:
        place, subjects = _subjects_of(path)
        yield place, _read(path), subjects


def _subjects_of(path: Path) -> tuple[str, list[str] | None]:
    """Return the name of the file with the subjects of a text, and these; None if it has none."""
    for suffix in (".tsv", ".key"):
        beside = path.with_suffix(suffix)
        if not beside.exists():
            continue
        lines = [line.strip() for line in _read(beside).splitlines() if line.strip()]
        if suffix == ".key":
            return beside.name, lines or None
        cells = [line.split("\t")[0].strip() for line in lines]
        return beside.name, [cell.strip("<>") for cell in cells if cell] or None
    return path.name, None


def _read(path: Path) -> str:
    return decode_text(path.read_bytes(), path)


_READERS = {
    CORPUS: _corpus,
    "csv": delimited_parts,
    "tsv": delimited_parts,
    "jsonl": json_parts,
    "parquet": parquet_parts,
    "excel": workbook_parts,
    "anndata": _cells,
}
