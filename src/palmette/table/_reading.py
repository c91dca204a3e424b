"""Reading tables whole or in chunks of rows: CSV, TSV, JSON lines, Parquet, Excel, corpora."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette._files import decode_text
from palmette.exceptions import PalmetteError, ReadError
from palmette.table._delimited import Part, delimited_parts, json_parts, numbered_columns
from palmette.table._kinds import has_value, reads_as_value
from palmette.table._sources import CORPUS, TableSource, reading

if TYPE_CHECKING:
    import pandas as pd

CHUNK_ROWS = 20_000
_CORPUS_COLUMNS = ["text", "subjects"]
_URI = re.compile(r"<([^<>\s]+)>")
_MAX_CELLS = 2**28  # of a table that is read whole
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
    elif isinstance(table, dict):
        frame = pd.DataFrame(table)
    elif hasattr(table, "to_pandas"):  # polars, pyarrow
        frame = table.to_pandas()
    else:
        raise PalmetteError(
            f"table is a {type(table).__name__}: expected a DataFrame or the name of a file."
        )
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    require_distinct(list(frame.columns), "the table")
    return Part(frame)


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
        if cells > _MAX_CELLS:
            raise ReadError(
                f"the table has more than {_MAX_CELLS:,} cells. Split it, or drop columns",
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
                    yield Part(frame.reset_index(drop=True), lines)
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


def require_distinct(names: list[str], title: str) -> None:
    """Raise an error for two columns of the same name, or no columns."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ReadError(f"two columns have the name {name!r}: rename one", path=title)
        seen.add(name)
    if not names:
        raise ReadError("the table has no columns", path=title)


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


def _parquet(source: TableSource, rows: int) -> Iterator[Part]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.open_seekable()) as file:
        names = [str(name) for name in file.schema_arrow.names]
        require_distinct(names, source.title)
        for batch in file.iter_batches(batch_size=rows):
            yield Part(batch.to_pandas().set_axis(names, axis=1))


def _cells(source: TableSource, rows: int) -> Iterator[Part]:
    from palmette.table._anndata import cells_in_chunks

    for frame in cells_in_chunks(source, rows):
        yield Part(frame)


def _excel(source: TableSource, rows: int) -> Iterator[Part]:
    import pandas as pd

    sheet = 0 if source.sheet is None else source.sheet
    grid = pd.read_excel(
        source.open_seekable(), sheet_name=sheet, header=None, dtype=object, engine="openpyxl"
    )
    if not len(grid):
        raise ReadError("the sheet is empty", path=source.title)
    if source.header:
        named = enumerate(grid.iloc[0])
        names = [f"column {i + 1}" if pd.isna(name) else str(name) for i, name in named]
        frame = grid.iloc[1:].set_axis(names, axis=1)
    else:
        frame = grid.set_axis(numbered_columns(grid.shape[1]), axis=1)
    lines = frame.index.to_numpy(dtype=np.int64) + 1
    for start in range(0, len(frame), rows):
        yield Part(frame.iloc[start : start + rows], lines[start : start + rows])


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
    "parquet": _parquet,
    "excel": _excel,
    "anndata": _cells,
}
