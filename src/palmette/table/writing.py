"""Writing tables by chunks of rows, whole or not at all."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from palmette.core.files import atomic_write
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OUTPUTS", "TableWriter", "open_writer"]

OUTPUTS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq")


class TableWriter(Protocol):
    """What takes the chunks of a table."""

    def write(self, frame: pd.DataFrame) -> None:
        """Write some rows; all chunks have the same columns."""


@contextmanager
def open_writer(path: Path | None) -> Iterator[TableWriter]:
    """Open a table to write, by its suffix; None is CSV on the standard output.

    A file takes its name when all is written: after an error there is none.

    Parameters
    ----------
    path : Path or None
    """
    if path is None:
        yield _Delimited(sys.stdout, ",")
        sys.stdout.flush()
        return
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        with atomic_write(path, "wb") as stream:
            writer = _Parquet(stream)
            yield writer
            writer.close()
        return
    if suffix not in OUTPUTS:
        raise PalmetteError(f"cannot write {path}: expected a name in {', '.join(OUTPUTS)}.")
    with atomic_write(path) as stream:
        if suffix in (".jsonl", ".ndjson"):
            yield _JsonLines(stream)
        else:
            yield _Delimited(stream, "\t" if suffix == ".tsv" else ",")


class _Delimited:
    def __init__(self, stream: Any, delimiter: str) -> None:
        self._writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        self._begun = False

    def write(self, frame: pd.DataFrame) -> None:
        if not self._begun:
            self._writer.writerow(frame.columns)
            self._begun = True
        columns = [_written(frame[name]) for name in frame.columns]
        self._writer.writerows(zip(*columns, strict=True))


class _JsonLines:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, frame: pd.DataFrame) -> None:
        columns = [[_plain(cell) for cell in frame[name].tolist()] for name in frame.columns]
        names = list(frame.columns)
        for row in zip(*columns, strict=True):
            record = dict(zip(names, row, strict=True))
            self._stream.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")


class _Parquet:
    """Columns have the types of the first chunk; what does not fit becomes an error."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._writer = stream, None

    def write(self, frame: pd.DataFrame) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            if self._writer is None:
                table = pa.Table.from_pandas(frame, preserve_index=False)
                fields = [
                    # a column without a value yet may have strings later
                    pa.field(f.name, pa.string()) if pa.types.is_null(f.type) else f
                    for f in table.schema.remove_metadata()
                ]
                self._schema = pa.schema(fields)
                self._writer = pq.ParquetWriter(self._stream, self._schema)
            table = pa.Table.from_pandas(frame, schema=self._schema, preserve_index=False)
        except (pa.ArrowException, TypeError) as error:
            raise PalmetteError(
                f"the rows do not fit into Parquet ({error}). Write CSV or JSON lines."
            ) from error
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _written(column: pd.Series[Any]) -> list[Any]:
    """Cells of a column as they are written: nothing for what is missing."""
    if column.dtype.kind == "f":
        return ["" if x != x else format(x, ".6g") for x in column.tolist()]
    if column.dtype.kind == "O":
        return ["" if cell is None or cell != cell else cell for cell in column.tolist()]
    cells = column.tolist()
    return ["" if cell is None or cell != cell else cell for cell in cells]


def _plain(cell: Any) -> Any:
    if isinstance(cell, np.ndarray):
        return cell.tolist()
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, float) and not np.isfinite(cell):
        return None
    return cell
