"""Arrays in a scratch folder instead of memory, read and written through memory maps."""

from __future__ import annotations

import math
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import canonical_rows
from palmette._files import FULL
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    import pandas as pd

Empty = Callable[[tuple[int, ...], Any], NDArray[Any]]  # np.empty, or that of a Scratch

_GIB = 2**30
_PIECE = 2**24  # numbers that are copied at a time
_SPARE = 2**28  # bytes that are left free on the disk


class Scratch:
    """A folder for large arrays, removed at the end of a ``with`` block.

    Parameters
    ----------
    parent : path-like, optional
        Folder in which it is made; by default that of the system for temporary files.
    outcome : str
        What an error of the disk means, for its message.

    Attributes
    ----------
    path : pathlib.Path
    n_bytes : int
        Bytes that were written.

    Examples
    --------
    >>> with Scratch() as scratch:
    ...     rows = scratch.rows(3)
    ...     rows.append(np.eye(3)[:2])
    ...     rows.append(np.eye(3)[2:])
    ...     rows.mapped().sum(axis=1).tolist()
    [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        parent: str | os.PathLike[str] | None = None,
        outcome: str = "nothing was fitted",
    ) -> None:
        if parent is not None and not isinstance(parent, str | os.PathLike):
            raise PalmetteError(f"scratch={parent!r}: expected the path of a folder, or None.")
        self.n_bytes = 0
        self._outcome = outcome
        try:
            self.path = Path(tempfile.mkdtemp(prefix="palmette-", dir=parent))
        except OSError as error:
            where = tempfile.gettempdir() if parent is None else os.fspath(parent)
            raise PalmetteError(
                f"cannot create a scratch folder in {where} ({error.strerror}): pass another "
                "folder as scratch."
            ) from error

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def require(self, n_bytes: int, what: str = "the numbers of a fit") -> None:
        """Raise an error if the disk has less free space than `what` will need."""
        with self._explaining():
            free = shutil.disk_usage(self.path).free
        if n_bytes + _SPARE > free:
            raise PalmetteError(
                f"{what} need about {n_bytes / _GIB:.1f} GiB in the scratch folder "
                f"{self.path.parent}, which has {free / _GIB:.1f} GiB free: pass a folder on a "
                "larger disk as scratch, or fit to fewer rows."
            )

    def rows(self, n_columns: int) -> Rows:
        """Return a matrix without rows, to which rows are appended."""
        return Rows(self, n_columns)

    def frames(self) -> Frames:
        """Return a table without rows, to which parts of a table are appended."""
        return Frames(self)

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Append the numbers of an array to a file."""
        with self._explaining(), self._open(name) as file:
            if array.size:
                file.write(np.ascontiguousarray(array).data.cast("B"))
        self.n_bytes += array.nbytes

    def read(self, name: str, start: int, stop: int) -> bytes:
        """Return some bytes of a file."""
        with self._explaining(), open(self.path / name, "rb") as file:
            file.seek(start)
            return file.read(stop - start)

    def map(self, name: str, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return the numbers of a file as an array that is read from disk where it is used."""
        if 0 in shape:
            return np.zeros(shape, dtype=dtype)
        with self._explaining():
            return np.memmap(self.path / name, dtype=dtype, mode="r", shape=shape)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array that is kept on disk, in place of ``np.empty(shape, dtype)``.

        Its file has no name: the space is free again as soon as the array is, even if the process
        is killed. All of it is taken at once, since a disk that is full when pages of the array are
        written would end the process.
        """
        n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
        if not n_bytes:
            return np.empty(shape, dtype)
        self.require(n_bytes)
        with self._explaining():
            self._find()
            with tempfile.TemporaryFile(dir=self.path) as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, n_bytes)
                else:
                    file.truncate(n_bytes)
                mapped = np.memmap(file, dtype=dtype, mode="r+", shape=shape)
        self.n_bytes += n_bytes
        return np.asarray(mapped)

    def _open(self, name: str) -> BinaryIO:
        self._find()
        return open(self.path / name, "ab")

    def _find(self) -> None:
        if not self.path.is_dir():
            raise FileNotFoundError(self.path)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn errors of the disk into errors that name the folder."""
        try:
            yield
        except OSError as error:
            if error.errno in FULL:
                words = f"is full after {self.n_bytes / _GIB:.1f} GiB"
            elif isinstance(error, FileNotFoundError):
                words = "has vanished"
            else:
                words = f"cannot be used ({error.strerror})"
            raise PalmetteError(
                f"the scratch folder {self.path} {words}: {self._outcome}. Pass another folder "
                "as scratch, on a disk with more free space."
            ) from error


class Rows:
    """A dense or sparse matrix in a scratch folder, in double precision as in memory.

    Parameters
    ----------
    scratch : Scratch
    n_columns : int
    """

    def __init__(self, scratch: Scratch, n_columns: int) -> None:
        self._scratch, self._n_columns = scratch, n_columns
        self._n_rows = 0
        self._ends: list[NDArray[np.int64]] = []
        self._n_stored = 0
        self._is_sparse = False

    def append(self, X: Any) -> None:
        """Append rows; all of them are dense, or all are sparse.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_columns)
        """
        self._n_rows += X.shape[0]
        if not sparse.issparse(X):
            self._scratch.append("values", np.asarray(X, dtype=np.float64))
            return
        self._is_sparse = True
        rows = canonical_rows(sparse.csr_array(X))
        self._scratch.append("values", rows.data.astype(np.float64, copy=False))
        self._scratch.append("columns", rows.indices.astype(np.int32))
        self._ends.append(rows.indptr[1:].astype(np.int64) + self._n_stored)
        self._n_stored += rows.nnz

    def mapped(self) -> Any:
        """Return the matrix, read from disk where it is used: an array, or a CSR array."""
        if not self._is_sparse:
            return self._scratch.map("values", np.float64, (self._n_rows, self._n_columns))
        first = np.concatenate([[0], *self._ends])
        values = self._scratch.map("values", np.float64, (self._n_stored,))
        columns = self._scratch.map("columns", np.int32, (self._n_stored,))
        if self._n_stored <= np.iinfo(np.int32).max:
            first = first.astype(np.int32)
        else:  # scipy's rows have indices and ends of one width
            for start in range(0, self._n_stored, _PIECE):
                self._scratch.append("wide", columns[start : start + _PIECE].astype(np.int64))
            columns = self._scratch.map("wide", np.int64, (self._n_stored,))
        shape = (self._n_rows, self._n_columns)
        return sparse.csr_array((values, columns, first), shape=shape)


class Frames:
    """A pandas table in a scratch folder, of which some rows are read at a time.

    ``frames[rows]``, with a slice or an int array, is a DataFrame: that which ``.iloc[rows]`` of
    all parts together would be, with the same types.

    Parameters
    ----------
    scratch : Scratch

    Examples
    --------
    >>> import pandas as pd
    >>> with Scratch() as scratch:
    ...     frames = scratch.frames()
    ...     frames.append(pd.DataFrame({"price": [2.5, 30.0]}))
    ...     frames.append(pd.DataFrame({"price": [7.0]}))
    ...     frames.shape, frames[1:3]["price"].tolist(), frames[np.array([2, 0])].index.tolist()
    ((3, 1), [30.0, 7.0], [2, 0])
    """

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self.columns: list[Any] = []
        self._firsts = [0]  # the first row of every part, and the end
        self._bytes = [0]
        self._kinds: dict[tuple[Any, ...], Any] = {}  # a row of every combination of types
        self._last: tuple[int, Any] = (-1, None)  # a part that was read

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self._firsts[-1], len(self.columns)

    def __len__(self) -> int:
        return self._firsts[-1]

    def append(self, frame: pd.DataFrame) -> None:
        """Append rows, with the columns of those before."""
        if not len(frame):
            return
        self.columns = list(frame.columns)
        self._kinds.setdefault(tuple(frame.dtypes), frame.iloc[:1].copy())
        stored = pickle.dumps(frame, pickle.HIGHEST_PROTOCOL)
        self._scratch.append("frames", np.frombuffer(stored, dtype=np.uint8))
        self._bytes.append(self._bytes[-1] + len(stored))
        self._firsts.append(self._firsts[-1] + len(frame))

    def __getitem__(self, rows: slice | NDArray[Any]) -> pd.DataFrame:
        import pandas as pd

        wanted = np.arange(len(self))[rows] if isinstance(rows, slice) else np.asarray(rows)
        order = np.argsort(wanted, kind="stable")
        parts = np.searchsorted(self._firsts, wanted[order], side="right") - 1
        found = []
        for part, start in zip(*np.unique(parts, return_index=True), strict=True):
            stop = start + np.searchsorted(parts[start:], part, side="right")
            inside = wanted[order[start:stop]] - self._firsts[part]
            found.append(self._part(int(part)).iloc[inside])
        if not found:
            return self._typed().iloc[:0]
        if len(self._kinds) > 1:
            found.append(self._typed())
        whole = pd.concat(found).iloc[: len(wanted)] if len(found) > 1 else found[0]
        whole = whole.set_axis(wanted[order], axis=0)
        return whole if (order[1:] > order[:-1]).all() else whole.iloc[np.argsort(order)]

    def _typed(self) -> pd.DataFrame:
        """Return a row with the types of all parts together, as of numbers some of which lack."""
        import pandas as pd

        rows = list(self._kinds.values())
        return rows[0] if len(rows) == 1 else pd.concat(rows).iloc[:1]

    def _part(self, part: int) -> Any:
        if self._last[0] != part:
            self._last = (-1, None)  # freed before the next one is read
            stored = self._scratch.read("frames", self._bytes[part], self._bytes[part + 1])
            self._last = (part, pickle.loads(stored))
        return self._last[1]
