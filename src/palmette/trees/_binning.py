"""Features as one-byte codes (bins): the mapper, the binned training rows, feature counts."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import BIN, OFFSET, BinArray, CountArray, read_only, row_chunks
from palmette._kernels import inner, kernel
from palmette.base._fitting import Threads
from palmette.base._lazy import gathered, is_lazy
from palmette.base._parameters import is_count
from palmette.base._scratch import Empty
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import check_starts, numbers, require

MAX_BINS = 255
MISSING = 255  # the largest code: missing values exceed every threshold and go right
_BLOCK = 256  # rows whose codes are written together
_VALUES_AT_ONCE = 2**23  # of sparse rows, which are copied in the order of columns
_MANY_VALUES = 2**20  # from which a compiled function is worth its compilation
_SAMPLED_ROWS = 200_000  # quantiles of larger data are computed from a sample
_FEW_FEATURES = 256  # up to this number, the sample of an array is copied at once


class BinMapper:
    """Divide every feature into at most 255 bins.

    If a feature has at most `max_bins` distinct values, its thresholds are the midpoints between
    them, so that no information is lost; else they are quantiles. A value equal to a threshold goes
    left.

    Parameters
    ----------
    thresholds : sequence of float arrays
        Thresholds of each feature, in ascending order.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, np.nan]])
    >>> mapper = BinMapper.fit(X)
    >>> mapper.transform(X)
    array([[  0,   0],
           [  1,   0],
           [  2, 255]], dtype=uint8)
    >>> mapper.threshold(0, 1)
    2.5
    """

    def __init__(self, thresholds: list[CountArray]) -> None:
        self.starts: NDArray[np.int64] = np.zeros(len(thresholds) + 1, dtype=OFFSET)
        np.cumsum([len(cuts) for cuts in thresholds], out=self.starts[1:])
        self.cuts: CountArray = np.concatenate([np.empty(0), *thresholds])

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        cuts = numbers(self.cuts, np.float64, 1, "thresholds of bins")
        numbers(self.starts, np.int64, 1, "starts of bins")
        sizes = check_starts(self.starts, None, len(cuts), "starts of bins")
        require(sizes < MAX_BINS, "a feature has too many bins")

    @classmethod
    def fit(
        cls,
        X: Any,
        max_bins: int = MAX_BINS,
        random_state: int = 0,
        threads: Threads | None = None,
        client: Any = None,
    ) -> BinMapper:
        """Find the thresholds of features.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n_samples, n_features)
            Missing values are NaN. Of a Dask array, the rows that thresholds are computed from are
            read, some features at a time.
        max_bins : int
            At most 255.
        random_state : int
            Seed of the sample of rows that quantiles are computed from in large data.
        threads : Threads, optional
            Divide the features among them.
        client : distributed.Client or str, optional
            Cluster that computes the rows of a Dask array.

        Returns
        -------
        BinMapper
        """
        if not (is_count(max_bins, 2) and max_bins <= MAX_BINS):
            raise PalmetteError(f"max_bins={max_bins!r}: expected an integer from 2 to {MAX_BINS}.")
        n_samples, n_features = X.shape
        threads, find, rows = threads or Threads(1), _columns, None
        if n_samples > _SAMPLED_ROWS:
            rng = np.random.default_rng(random_state)
            rows = np.sort(rng.choice(n_samples, _SAMPLED_ROWS, replace=False))
        if is_lazy(X):
            some = X if rows is None else X[rows]
            cuts: list[CountArray] = []
            for first in range(0, n_features, _FEW_FEATURES):
                part = gathered(some[:, first : first + _FEW_FEATURES], client)
                cuts += cls._cuts(find(part), part.shape[1], max_bins, threads)
            return cls(cuts)
        if rows is not None:
            if sparse.issparse(X) or n_features <= _FEW_FEATURES:
                X = X[rows]  # a file that is mapped is read once
            else:
                find = partial(_columns, rows=rows)
        return cls(cls._cuts(find(X), n_features, max_bins, threads))

    @staticmethod
    def _cuts(columns: Any, n_features: int, max_bins: int, threads: Threads) -> list[CountArray]:
        return threads.map(lambda j: _cut(columns(j), max_bins), range(n_features))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.starts) - 1

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """Number of bins of every feature, without the bin of missing values."""
        return np.diff(self.starts) + 1

    def threshold(self, feature: int, code: int) -> float:
        """Return the threshold between `code` and the next code; infinity for the last bin."""
        cuts = self.cuts[self.starts[feature] : self.starts[feature + 1]]
        return float(cuts[code]) if code < len(cuts) else float("inf")

    def transform(
        self, X: Any, threads: Threads | None = None, empty: Empty = np.empty
    ) -> BinArray:
        """Return the codes of features.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n_samples, n_features)
        threads : Threads, optional
            Divide the rows of large arrays, or the features of others.
        empty : callable
            Makes the array of codes.

        Returns
        -------
        uint8 array of shape (n_samples, n_features)
            A Dask array if X is one.
        """
        if X.shape[1] != self.n_features:
            raise PalmetteError(
                f"X has {X.shape[1]} features, but BinMapper was fitted with {self.n_features}."
            )
        if is_lazy(X):
            lazy: Any = X.map_blocks(self.transform, dtype=BIN, meta=np.empty((0, 0), BIN))
            return lazy  # type: ignore[no-any-return]
        codes = empty(X.shape, BIN)
        threads = threads or Threads(1)
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.size > _MANY_VALUES:
            values = X if X.dtype == np.float32 else X.astype(np.float64, copy=False)
            values = read_only(np.asarray(values))
            threads.share(
                lambda start, stop: write_codes(values, self.starts, self.cuts, codes, start, stop),
                *(len(X), X.size // _MANY_VALUES),
            )
        elif sparse.issparse(X):
            for part in row_chunks(X.shape[0], X.nnz // max(X.shape[0], 1), _VALUES_AT_ONCE):
                self._write(X[part], codes[part], threads)
        else:
            self._write(X, codes, threads)
        return codes

    def _write(self, X: Any, codes: BinArray, threads: Threads) -> None:
        """Write the codes of some rows, feature by feature."""
        columns = _columns(X)

        def write(j: int) -> None:
            values = columns(j)
            cuts = self.cuts[self.starts[j] : self.starts[j + 1]]
            codes[:, j] = np.searchsorted(cuts, values, side="left")
            codes[np.isnan(values), j] = MISSING

        threads.map(write, range(self.n_features))


@kernel
def write_codes(
    X: CountArray,
    starts: NDArray[np.int64],
    cuts: CountArray,
    codes: BinArray,
    start: int,
    stop: int,
) -> None:
    """Write the codes of some rows: the number of thresholds below each value.

    Parameters
    ----------
    X : float32 or float64 array of shape (n_samples, n_features), IN
    starts, cuts
        As of `BinMapper`, IN.
    codes : uint8 array of shape (n_samples, n_features), OUT
    start, stop : int
        The rows.
    """
    table = np.empty(MAX_BINS + 1, np.float64)
    for first in range(start, stop, _BLOCK):
        for j in range(np.uint64(X.shape[1])):
            n_cuts = starts[j + np.uint64(1)] - starts[j]
            for place in range(len(table)):
                table[place] = cuts[starts[j] + place] if place < n_cuts else np.inf
            last = min(first + _BLOCK, stop)
            whole = last - (last - first) % 4
            # eight steps without a branch, which would be wrong half of the time; four rows at a
            # time, since every step waits for the one before it
            for row in range(first, whole, 4):
                i = np.uint64(row)
                a, b = np.float64(X[i, j]), np.float64(X[i + np.uint64(1), j])
                c, d = np.float64(X[i + np.uint64(2), j]), np.float64(X[i + np.uint64(3), j])
                p = q = r = s = np.uint64(0)
                step = np.uint64(128)
                while step > np.uint64(0):
                    p, q = _next_code(table, p, step, a), _next_code(table, q, step, b)
                    r, s = _next_code(table, r, step, c), _next_code(table, s, step, d)
                    step >>= np.uint64(1)
                codes[i, j] = MISSING if np.isnan(a) else p
                codes[i + np.uint64(1), j] = MISSING if np.isnan(b) else q
                codes[i + np.uint64(2), j] = MISSING if np.isnan(c) else r
                codes[i + np.uint64(3), j] = MISSING if np.isnan(d) else s
            for row in range(whole, last):
                i = np.uint64(row)
                a, p, step = np.float64(X[i, j]), np.uint64(0), np.uint64(128)
                while step > np.uint64(0):
                    p = _next_code(table, p, step, a)
                    step >>= np.uint64(1)
                codes[i, j] = MISSING if np.isnan(a) else p


@inner(inline="always")
def _next_code(table: CountArray, code: Any, step: Any, value: Any) -> Any:
    """Return the code after a step of a binary search of the number of thresholds below a value."""
    return code + (step if table[code + step - np.uint64(1)] < value else np.uint64(0))


def _columns(X: Any, rows: Any = None) -> Any:
    """Return a function that returns one dense column, a copy in float32 or float64.

    Of an array, it may have some rows only.
    """
    if sparse.issparse(X):
        by_column = sparse.csc_array(X)
        return lambda j: by_column[:, [j]].toarray().ravel().astype(np.float64)
    array = np.asarray(X)
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    return lambda j: (array[:, j] if rows is None else array[rows, j]).astype(dtype)


def _cut(values: NDArray[Any], max_bins: int) -> CountArray:
    known = values[~np.isnan(values)]
    known.sort()  # faster in float32, if the values are
    known = known.astype(np.float64, copy=False)
    is_new = np.ones(len(known), dtype=np.bool_)
    np.not_equal(known[1:], known[:-1], out=is_new[1:])
    distinct = known[is_new]
    if len(distinct) <= max_bins:
        below, above = distinct[:-1], distinct[1:]
        cuts = below + (above - below) / 2
        cuts = np.where(cuts < above, cuts, below)  # there is no float between adjacent floats
    else:
        # as np.quantile(known, ..., method="midpoint"), which would sort again
        places = (len(known) - 1) * np.linspace(0, 1, max_bins + 1)[1:-1]
        below, above = (known[side(places).astype(np.intp)] for side in (np.floor, np.ceil))
        cuts = np.unique(above - (above - below) * 0.5)
        cuts = cuts[cuts < distinct[-1]]  # a threshold at the largest value separates nothing
    return np.asarray(cuts, dtype=np.float64)


class BinnedRows:
    """Binned training rows, with the orders and layouts that growing trees requires.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features)
    n_bins : int array of shape (n_features,)
    weights : float32 array of shape (n_samples,)
    """

    def __init__(
        self,
        codes: BinArray,
        n_bins: NDArray[np.int64],
        weights: NDArray[np.float32] | NDArray[np.float64],
    ) -> None:
        self.codes = codes
        self.n_bins = n_bins
        self.weights = weights

    @cached_property
    def by_feature(self) -> BinArray:
        """Codes with one contiguous row per feature: (n_features, n_samples)."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def by_content(self) -> NDArray[np.int32]:
        """All rows in an order determined by their codes: copies of a row are adjacent."""
        return np.argsort(hash_rows(self.codes), kind="stable").astype(np.int32)

    @cached_property
    def content_rank(self) -> NDArray[np.int64]:
        """Position of each row in `by_content`."""
        ranks = np.empty(self.n_samples, dtype=np.int64)
        ranks[self.by_content] = np.arange(self.n_samples)
        return ranks

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.weights)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_bins)


@kernel
def hash_rows(codes: BinArray) -> NDArray[np.uint64]:
    """Return a hash of the codes of every row: copies of a row have the same hash.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN

    Returns
    -------
    uint64 array of shape (n_samples,)
    """
    hashes = np.empty(codes.shape[0], dtype=np.uint64)
    for i in range(codes.shape[0]):
        value = np.uint64(0x9E3779B97F4A7C15)
        for j in range(codes.shape[1]):
            value = (value ^ np.uint64(codes[i, j])) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        hashes[i] = value
    return hashes


def count_features(max_features: int | float | str | None, n_features: int) -> int:
    """Return the number of features that a number, a share, "sqrt" or None (all) stands for."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        number = int(np.sqrt(n_features))
    elif (
        isinstance(max_features, int | np.integer)
        and not isinstance(max_features, bool)
        and max_features > 0
    ):
        number = int(max_features)
    elif isinstance(max_features, float | np.floating) and max_features > 0:
        number = int(max_features * n_features)
    else:
        raise PalmetteError(
            f"max_features={max_features!r}: expected a positive number or share, 'sqrt' or None."
        )
    return min(max(number, 1), n_features)
