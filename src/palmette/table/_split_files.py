"""Writing the two sides of a split table: rows as they are, if the format is the same."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from palmette._files import atomic_write, plain_suffix
from palmette.exceptions import ReadError
from palmette.table._delimited import text_lines
from palmette.table._reading import read_parts
from palmette.table._sources import FORMATS, STDIN, TableSource
from palmette.table._split import Split
from palmette.table._writing import OUTPUTS, open_writer

if TYPE_CHECKING:
    from palmette.table._delimited import Part


def side_names(name: str) -> tuple[Path, Path]:
    """Return names for the training and the test rows of a table, of the same format if possible.

    Examples
    --------
    >>> [str(path) for path in side_names("data/goods.csv.gz")]
    ['goods.train.csv', 'goods.test.csv']
    """
    suffix = plain_suffix(name)
    formats = {FORMATS[each]: each for each in reversed(OUTPUTS)}
    suffix = suffix if suffix in OUTPUTS else formats.get(FORMATS.get(suffix, ""), ".csv")
    stem = "" if name == STDIN else f"{Path(name).name.partition('.')[0]}."
    return Path(f"{stem}train{suffix}"), Path(f"{stem}test{suffix}")


def write_split(
    source: TableSource, split: Split, outputs: tuple[Path, Path], parts: list[Part] | None = None
) -> None:
    """Write the training rows and the test rows of a table, both completely or not at all.

    Parameters
    ----------
    source : TableSource
        Read again in chunks, unless `parts` has the rows.
    split : Split
    outputs : (training, test), paths
        If a text or Parquet file has the format of the table, its rows are copied as they are.
    parts : list of Part, optional
    """
    same = {FORMATS[path.suffix.lower()] for path in outputs} == {source.format}
    is_file = parts is None and source.parts() == [source]
    if same and is_file and split.lines is not None and source.format in ("csv", "tsv", "jsonl"):
        _copy_lines(source, split, outputs)
    elif same and is_file and source.format == "parquet":
        _copy_batches(source, split, outputs)
    else:
        _write_rows(read_parts(source) if parts is None else parts, split, outputs, source)


def _copy_lines(source: TableSource, split: Split, outputs: tuple[Path, Path]) -> None:
    """Copy the lines of a text file: those before the first row, with the names, to both sides."""
    starts = np.asarray(split.lines).tolist()
    sides = split.is_test.tolist()
    n_begun, last = 0, len(starts)
    with ExitStack() as stack:
        lines, encoding = text_lines(source, stack)
        encoder = codecs.getincrementalencoder(encoding)
        streams = [stack.enter_context(atomic_write(path, "wb")) for path in outputs]
        encoders = [encoder("surrogateescape") for _ in streams]
        for number, line in enumerate(lines, start=1):
            if n_begun < last and number == starts[n_begun]:
                n_begun += 1
            for side in (sides[n_begun - 1],) if n_begun else (0, 1):
                streams[side].write(encoders[side].encode(line))
        if n_begun < last:
            raise _changed(source)


def _copy_batches(source: TableSource, split: Split, outputs: tuple[Path, Path]) -> None:
    """Copy the rows of a Parquet file with the types of its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    start = 0
    with ExitStack() as stack:
        file = stack.enter_context(pq.ParquetFile(source.open_seekable()))
        streams = [stack.enter_context(atomic_write(path, "wb")) for path in outputs]
        writers = [stack.enter_context(pq.ParquetWriter(s, file.schema_arrow)) for s in streams]
        for batch in file.iter_batches():
            is_test = split.is_test[start : start + len(batch)]
            start += len(batch)
            if len(is_test) < len(batch):
                break
            writers[0].write_batch(batch.filter(pa.array(~is_test)))
            writers[1].write_batch(batch.filter(pa.array(is_test)))
        if start != len(split.is_test):
            raise _changed(source)


def _write_rows(
    parts: Iterable[Part], split: Split, outputs: tuple[Path, Path], source: TableSource
) -> None:
    start = 0
    with open_writer(outputs[0]) as training, open_writer(outputs[1]) as test:
        for part in parts:
            is_test = split.is_test[start : start + len(part.frame)]
            start += len(part.frame)
            if len(is_test) < len(part.frame):
                break
            for writer, rows in ((training, ~is_test), (test, is_test)):
                if rows.any():
                    writer.write(part.frame[rows])
        if start != len(split.is_test):
            raise _changed(source)


def _changed(source: TableSource) -> ReadError:
    return ReadError(
        "the table was changed while it was split. Run the same command again", path=source.title
    )
