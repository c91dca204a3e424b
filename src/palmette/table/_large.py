"""Tables that are larger than memory: a sample of their rows, and the targets of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import IntArray, OffsetArray, free_memory, is_missing
from palmette._files import plain_suffix
from palmette.exceptions import PalmetteError, ReadError
from palmette.table._delimited import Part
from palmette.table._reading import join_parts, read_parts
from palmette.table._sources import STDIN, TableSource
from palmette.table._target_cells import find_columns

if TYPE_CHECKING:
    import pandas as pd

GIB = 2**30
_CHUNK_ROWS = 50_000
_HEAD_ROWS = 20_000  # whose memory is measured
_HEAD_BYTES = 2**20  # of a text, whose lines are counted
_WORTH_TELLING = GIB / 2  # a smaller need of memory is not mentioned
_SAMPLE_ROWS = 200_000
_LEAST_SAMPLE = 20_000
_ROWS_PER_TARGET = 3  # of every distinct target, if there are as many
_MAX_TARGETS = 2_000_000
_LOOK = 500  # rows of a chunk whose texts are measured
_LOOK_CELLS = 50_000  # about as many, in tables of many columns
_PER_CHARACTER = 80  # bytes of features, and of what a fit copies of them, per character of text
_COPIES = 3  # of a column, while it is read and fitted
_DEFAULT_SHARE = 0.5  # of the free memory
_LAST = np.iinfo(np.uint64).max
_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class LargeTable:
    """A file or folder that is read in chunks, a sample of its rows, and all targets.

    Parameters
    ----------
    source : TableSource
    n_rows : int
    codes : int array of shape (n_rows,)
        Number of the target of each row, in the order of their first rows; -1 for none.
    sample : DataFrame of n_sample rows, or None
        At least one row of every target; None once they are read.
    rows : int array of shape (n_sample,)
        Rows of the sample in the table, increasing.
    """

    source: TableSource
    n_rows: int
    codes: IntArray
    sample: Any
    rows: OffsetArray

    def chunks(self, chosen: NDArray[np.bool_]) -> Iterator[tuple[pd.DataFrame, IntArray]]:
        """Read the table again, and yield the chosen rows with the numbers of their targets.

        Parameters
        ----------
        chosen : bool array of shape (n_rows,)
        """
        start = 0
        for part in read_parts(self.source, _CHUNK_ROWS):
            end = start + len(part.frame)
            if end > self.n_rows:
                break
            places = np.flatnonzero(chosen[start:end])
            if len(places):
                yield part.frame.iloc[places].reset_index(drop=True), self.codes[start:end][places]
            start = end
        if start != self.n_rows:
            raise ReadError(
                f"the table had {self.n_rows:,} rows when it was first read and has a "
                "different number now: it was changed in the meantime. Fit again",
                path=self.source.title,
            )


def read_or_sample(
    source: TableSource,
    target: str | Sequence[str],
    memory: float | None,
    seed: int,
    tick: Callable[[str], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Part | LargeTable:
    """Read a table whole if a fit to it needs at most some memory; else draw a sample.

    The memory is estimated from the first rows, and from the number of rows as far as it is known
    before they are read.

    The sample consists of the rows with the smallest pseudo-random numbers, which depend on the
    seed and the number of a row only, and of some rows of every target. The size of the chunks
    does not change it.

    Parameters
    ----------
    source : TableSource
    target : str or sequence of str
    memory : float or None
        GiB that the whole fit may need; by default half of the memory that is free.
    seed : int
    tick : callable, optional
        Called with what is being done.
    tell : callable, optional
        Called with the estimate of the memory, and what follows from it.
    """
    allowed = usable_memory(memory)
    chunks = read_parts(source, _CHUNK_ROWS)
    parts: list[Part] = []
    n_read = 0
    for part in chunks:
        parts.append(part)
        n_read += len(part.frame)
        if n_read >= _HEAD_ROWS:
            break
    head = join_parts(parts).frame.iloc[:_HEAD_ROWS]
    per_row = _bytes_needed(head) / len(head)
    reads_again = source.name != STDIN and source.format != "excel"
    is_whole = n_read < _HEAD_ROWS
    expected = 0 if is_whole else (expected_rows(source) or 0) / _lines_per_row(source, head)
    if not reads_again or max(n_read, expected) * per_row <= allowed:
        for part in chunks:
            parts.append(part)
            n_read += len(part.frame)
            if reads_again and n_read * per_row > allowed:
                break
        else:
            if tell is not None and n_read * per_row > min(allowed, _WORTH_TELLING):
                tell(_memory_words(n_read * per_row, allowed))
            return join_parts(parts)
    size = int(np.clip(allowed / 10 / per_row, _LEAST_SAMPLE, _SAMPLE_ROWS))
    columns = find_columns(target, list(parts[0].frame.columns))
    sampler = _Sampler(columns, size, seed, source.title)
    while parts:
        sampler.add(parts.pop(0).frame)
    for part in chunks:
        sampler.add(part.frame)
        if tick is not None:
            tick(f"reading the table: {sampler.n_rows:,} rows")
    found = sampler.finish(source)
    if tell is not None:
        tell(
            f"the table has {found.n_rows:,} rows, which do not fit in memory: "
            f"{_memory_words(found.n_rows * per_row, allowed)}. Models are compared on "
            f"{len(found.rows):,} rows, and the best one reads its rows from disk if it can"
        )
    return found


def _memory_words(needed: float, allowed: float) -> str:
    return (
        f"a fit to all rows in memory needs about {needed / GIB:.1f} GiB, and {allowed / GIB:.1f} "
        "may be used"
    )


def _lines_per_row(source: TableSource, head: pd.DataFrame) -> float:
    """Return how many lines a row of a text file has, whose cells may have several."""
    if source.format not in ("csv", "tsv"):
        return 1.0
    few = head.iloc[:: max(len(head) // _LOOK, 1)]
    cells = few.select_dtypes(exclude="number").to_numpy(dtype=object).ravel().tolist()
    return 1.0 + sum(c.count("\n") for c in cells if isinstance(c, str)) / max(len(few), 1)


def expected_rows(source: TableSource) -> float | None:
    """Return about how many rows a table has, without reading it; None if it is unknown.

    Parquet files tell it. Of text files, the lines at the beginning of the first file tell how many
    there are in all bytes; compressed ones do not.
    """
    files = source.parts()
    paths = [Path(file.name) for file in files]
    if any(path.is_dir() for path in paths):  # corpora of texts in files
        return float(sum(1 for path in paths for _ in path.glob("*.txt")))
    if source.format == "parquet":
        import pyarrow.parquet as pq

        if any(file.open_seekable() != file.name for file in files):
            return None
        return float(sum(pq.read_metadata(path).num_rows for path in paths))
    if any(plain_suffix(path) != path.suffix.lower() or path.suffix == ".zst" for path in paths):
        return None
    with files[0].open() as stream:
        head = stream.read(_HEAD_BYTES)
    return sum(path.stat().st_size for path in paths) * head.count(b"\n") / max(len(head), 1)


def usable_memory(memory: float | None) -> float:
    """Return the bytes that a fit may need.

    Parameters
    ----------
    memory : float or None
        In GiB; None for half of the memory that is free.
    """
    if memory is not None:
        if not memory > 0:
            raise PalmetteError(f"memory={memory!r}: expected a positive number of GiB, or None.")
        return memory * GIB
    return _DEFAULT_SHARE * free_memory()


def _bytes_needed(frame: pd.DataFrame) -> float:
    """Estimate the memory of a fit to some rows: columns, features of texts, and copies."""
    look = max(min(_LOOK, _LOOK_CELLS // max(frame.shape[1], 1)), 10)
    few = frame.iloc[:: max(len(frame) // look, 1)]
    is_fixed = np.array([dtype.kind in "biufM" for dtype in few.dtypes], dtype=bool)
    numbers, texts = float(sum(dtype.itemsize for dtype in few.dtypes[is_fixed])), 0.0
    # at once: pandas takes a second for the columns of a table that has thousands
    for values in few.loc[:, ~is_fixed].to_numpy(dtype=object).T.tolist():
        mean = sum(len(cell) for cell in values if isinstance(cell, str)) / max(len(values), 1)
        distinct = len(set(map(str, values))) / max(len(values), 1) if mean > 12 else 0.0
        numbers += 60 + mean
        texts += mean if distinct > 0.5 and mean > 12 else 0.0
    return len(frame) * (_COPIES * max(numbers, 8.0) + _PER_CHARACTER * texts)


class _Sampler:
    """Draws rows of a table while it is read, and numbers the targets of all rows.

    The sample has the rows with the smallest drawn numbers of the table, and those with the
    smallest ones of every target. Rows that are not among them so far are dropped from time to
    time.
    """

    def __init__(self, columns: list[str], size: int, seed: int, title: str) -> None:
        self._columns, self._size, self._seed, self._title = columns, size, seed, title
        self.n_rows = 0
        self._known: dict[Any, int] = {}
        self._codes: list[IntArray] = []
        self._frames: list[pd.DataFrame] = []  # rows that may be in the sample
        self._places: list[OffsetArray] = []
        self._n_kept = 0
        self._bound = _LAST  # rows with larger numbers are drawn only for their targets
        self._bounds = np.zeros(0, dtype=np.uint64)  # the same by target

    def add(self, frame: pd.DataFrame) -> None:
        """Look at the next rows of the table."""
        places = np.arange(self.n_rows, self.n_rows + len(frame), dtype=np.int64)
        codes = self._encode(frame)
        self._codes.append(codes)
        self.n_rows += len(frame)
        n_new = len(self._known) - len(self._bounds)
        self._bounds = np.append(self._bounds, np.full(n_new, _LAST, dtype=np.uint64))
        numbers = draw_numbers(places, self._seed)
        bounds = np.maximum(np.append(self._bounds, np.uint64(0))[codes], self._bound)
        drawn = np.flatnonzero((codes >= 0) & (numbers <= bounds))
        self._frames.append(frame.iloc[drawn])
        self._places.append(places[drawn])
        self._n_kept += len(drawn)
        if self._n_kept > 2 * (self._size + _ROWS_PER_TARGET * len(self._known)):
            self._select()

    def finish(self, source: TableSource) -> LargeTable:
        """Return the table with its sample."""
        if not self._known:
            raise PalmetteError(
                f"no row has a target in {', '.join(self._columns)}: expected at least one "
                "labelled row."
            )
        self._select()
        sample = self._frames[0].reset_index(drop=True)
        return LargeTable(source, self.n_rows, np.concatenate(self._codes), sample, self._places[0])

    def _encode(self, frame: pd.DataFrame) -> IntArray:
        """Return the number of the target of each row, and number new ones."""
        import pandas as pd

        columns = [frame[name] for name in self._columns]
        try:
            local, distinct = pd.factorize(columns[0]) if len(columns) == 1 else _rows_of(columns)
        except TypeError:  # cells are lists
            local, distinct = _rows_of(columns)
        numbers = [self._known.setdefault(key, len(self._known)) for key in list(distinct)]
        if len(self._known) > _MAX_TARGETS:
            raise PalmetteError(
                f"{self._title}: the target has more than {_MAX_TARGETS:,} different values. Is it "
                "the right column?"
            )
        found: IntArray = np.append(np.array(numbers, dtype=np.int32), np.int32(-1))[local]
        return found

    def _select(self) -> None:
        """Keep the rows of the sample among those that were seen."""
        import pandas as pd

        places, codes = np.concatenate(self._places), np.concatenate(self._codes)
        codes = codes[places]
        numbers = draw_numbers(places, self._seed)
        order = np.lexsort((numbers, codes))
        first = np.searchsorted(codes[order], np.arange(len(self._known)))
        rank = np.empty(len(places), dtype=np.int64)  # among the rows of the same target
        rank[order] = np.arange(len(places)) - first[codes[order]]
        if len(places) > self._size:
            self._bound = np.partition(numbers, self._size - 1)[self._size - 1]
        last = rank == _ROWS_PER_TARGET - 1
        self._bounds[codes[last]] = numbers[last]
        kept = np.flatnonzero((numbers <= self._bound) | (rank < _ROWS_PER_TARGET))
        frame = pd.concat(self._frames)
        self._frames, self._places = [frame.iloc[kept]], [places[kept]]
        self._n_kept = len(kept)


def draw_numbers(rows: OffsetArray, seed: int) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each row, which depends on the row and the seed alone.

    Examples
    --------
    >>> draw_numbers(np.array([7]), 0) == draw_numbers(np.arange(10), 0)[7]
    array([ True])
    """
    mixed: NDArray[np.uint64] = rows.astype(np.uint64) + np.uint64((seed + 1) * _GOLDEN % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def stratified_rows(codes: IntArray, size: int, seed: int) -> OffsetArray:
    """Return some rows, increasing, with a share of every target and at least a few of each.

    Parameters
    ----------
    codes : int array of shape (n_rows,)
        Number of the target of each row.
    size : int
        Number of rows to choose, at most `n_rows`.
    seed : int

    Examples
    --------
    >>> codes = np.array([0] * 90 + [1] * 9 + [2])
    >>> np.bincount(codes[stratified_rows(codes, 20, seed=0)]).tolist()
    [16, 3, 1]
    """
    numbers = draw_numbers(np.arange(len(codes), dtype=np.int64), seed)
    order = np.lexsort((numbers, codes))
    sizes = np.bincount(codes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank = np.arange(len(codes)) - first  # among the rows of the same target, in random order
    # the first rows of every target, then all targets at the same pace
    pace = (rank + 0.5) / np.repeat(sizes, sizes)
    place = np.where(rank < _ROWS_PER_TARGET, rank - _ROWS_PER_TARGET, pace)
    chosen: OffsetArray = np.sort(order[np.argsort(place, kind="stable")[:size]])
    return chosen


def _rows_of(columns: list[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Number the distinct rows of columns of any values."""
    known: dict[Any, int] = {}
    found = [
        known.setdefault(tuple(map(cell_key, row)), len(known))
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return np.array(found, dtype=np.intp), list(known)


def cell_key(cell: Any) -> Any:
    if isinstance(cell, list | tuple | np.ndarray):
        return tuple(map(cell_key, cell))
    return None if is_missing(cell) else cell  # NaN does not equal itself
