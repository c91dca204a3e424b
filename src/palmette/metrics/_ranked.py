"""The best labels of every row, from scores, dense or sparse, or rankings, and which are true."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, row_chunks
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._names import is_hashable, shown, sorted_labels
from palmette.labels._containers import unwrap
from palmette.metrics._pairs import read_indicator

Ks = int | Sequence[int]
_CELLS_AT_ONCE = 8_000_000  # scores ranked at a time
_NOT_RANKED = -1


@dataclass(frozen=True)
class Ranked:
    """The best labels of every row, and which of them are true.

    Attributes
    ----------
    true : sparse bool array of shape (n_rows, n_labels)
        Canonical.
    places : int array of shape (n_rows, max(ks))
        Columns of the best labels; -1 where fewer are ranked.
    hits : bool array of shape (n_rows, max(ks))
    ks : int array
    is_one : bool
        Whether k was a number.
    names : sequence of length n_labels
        Labels of the columns, or their numbers.
    """

    true: sparse.csr_array
    places: NDArray[np.int64]
    hits: NDArray[np.bool_]
    ks: NDArray[np.int64]
    is_one: bool
    names: Sequence[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.true.shape[0])

    @property
    def n_true(self) -> FloatArray:
        """Number of true labels per row."""
        return np.asarray(np.diff(self.true.indptr), dtype=np.float64)

    @property
    def n_hits(self) -> FloatArray:
        """Number of true labels among the k best: shape (n_rows, n_ks)."""
        return self.sums(self.hits)

    @property
    def n_ranked(self) -> FloatArray:
        """Number of labels among the k best, which may be fewer than k."""
        return self.sums(self.places != _NOT_RANKED)

    @property
    def discounts(self) -> FloatArray:
        """Weights of the ranks."""
        weights: FloatArray = 1.0 / np.log2(np.arange(self.places.shape[1]) + 2.0)
        return weights

    def sums(self, values: NDArray[Any]) -> FloatArray:
        """Add up the first k values of each row: shape (n_rows, n_ks)."""
        return np.asarray(np.cumsum(values, axis=1, dtype=np.float64)[:, self.ks - 1])

    def best_discounts(self) -> FloatArray:
        """Discounted gain of the best ranking: shape (n_rows, n_ks)."""
        totals = np.concatenate([[0.0], np.cumsum(self.discounts)])
        return totals[np.minimum(self.n_true[:, None].astype(np.int64), self.ks)]

    def best(self, rows: slice, n: int) -> sparse.csr_array:
        """Return the n best labels of some rows as a sparse 0/1 matrix."""
        places = self.places[rows, :n]
        is_ranked = places != _NOT_RANKED
        ends = np.concatenate([[0], np.cumsum(is_ranked.sum(axis=1))])
        ones = np.ones(int(ends[-1]), dtype=bool)
        shape = (places.shape[0], self.true.shape[1])
        return sparse.csr_array((ones, places[is_ranked], ends), shape=shape)

    def weighted_gains(self, propensities: Any) -> tuple[FloatArray, FloatArray]:
        """Return 1 / propensity of the true labels by rank, in this and in the best ranking."""
        inverse = np.append(1.0 / self._propensities(propensities), 0.0)  # the last: not ranked
        gains = np.where(self.hits, inverse[self.places], 0.0)
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.true.indptr))
        values = inverse[self.true.indices]
        best: FloatArray = np.zeros((self.n_rows, int(self.ks.max())))
        order, ranks = _order(rows, values, self.n_rows)
        kept = ranks < best.shape[1]
        best[rows[order][kept], ranks[kept]] = values[order][kept]
        return gains, best

    def _propensities(self, given: Any) -> FloatArray:
        n_labels = self.true.shape[1]
        if isinstance(given, Mapping):
            used = np.unique(self.true.indices)
            missing = [i for i in used.tolist() if self.names[i] not in given]
            if missing:
                raise LabelError(
                    f"propensities has no value for the label {shown(self.names[missing[0]])}: "
                    "expected one per true label. Pass labels= to label_propensities."
                )
            found = np.ones(n_labels)
            found[used] = [given[self.names[i]] for i in used.tolist()]
        else:
            found = np.asarray(given, dtype=np.float64)
        if found.shape != (n_labels,):
            raise LabelError(
                f"propensities has shape {found.shape} for {n_labels} labels: expected one per "
                "label, or a mapping from labels."
            )
        if not ((found > 0) & (found <= 1)).all():
            raise LabelError("propensities are probabilities: expected numbers above 0, up to 1.")
        return found

    def answer(self, values: FloatArray) -> Any:
        """Return a float for one k, an array for several."""
        return float(values[0]) if self.is_one else values


def mean(weight: FloatArray, values: FloatArray) -> FloatArray:
    """Weighted mean over rows."""
    return np.asarray(weight @ values / weight.sum())


def quotient(above: Any, below: Any, undefined: float = 0.0) -> FloatArray:
    """Divide; x / 0 is `undefined`."""
    above, below = np.broadcast_arrays(above, below)
    out = np.full(above.shape, float(undefined))
    return np.asarray(np.divide(above, below, out=out, where=below > 0))


def _check_ks(k: Any) -> tuple[NDArray[np.int64], bool]:
    is_one = np.ndim(k) == 0
    values = np.atleast_1d(np.asarray(k))
    if values.ndim > 1 or values.dtype.kind not in "iu" or not values.size or values.min() < 1:
        raise PalmetteError(f"k={shown(k)}: expected an integer of at least 1, or several.")
    return values.astype(np.int64), is_one


def rank(y_true: Any, y_score: Any, k: Ks, labels: Any) -> Ranked:
    """Find the best labels of every row, and which of them are true.

    Parameters
    ----------
    y_true, y_score, k, labels : as in `palmette.metrics.precision_at_k`
    """
    ks, is_one = _check_ks(k)
    true, tops, names = _read(y_true, y_score, labels)
    n_rows, width = true.shape[0], int(ks.max())
    places = np.full((n_rows, width), _NOT_RANKED, dtype=np.int64)
    for start, best in tops(width):
        places[start : start + len(best), : best.shape[1]] = best
    return Ranked(true, places, _find(true, places), ks, is_one, names)


def _find(true: sparse.csr_array, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each ranked label is true, by a search among the true cells."""
    hits = np.zeros(places.shape, dtype=bool)
    n_labels = max(true.shape[1], 1)
    for part in row_chunks(true.shape[0], places.shape[1], _CELLS_AT_ONCE):
        start, end = true.indptr[part.start], true.indptr[part.stop]
        if start == end:
            continue
        sizes = np.diff(true.indptr[part.start : part.stop + 1])
        rows = np.repeat(np.arange(part.stop - part.start, dtype=np.int64), sizes)
        cells = rows * n_labels + true.indices[start:end]
        wanted = np.arange(part.stop - part.start)[:, None] * n_labels + places[part]
        at = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
        hits[part] = (cells[at] == wanted) & (places[part] != _NOT_RANKED)
    return hits


_Tops = Callable[[int], Iterator[tuple[int, NDArray[np.int64]]]]


def _read(y_true: Any, y_score: Any, labels: Any) -> tuple[sparse.csr_array, _Tops, Sequence[Any]]:
    """Read both sides on one list of labels: the truth, the best labels of rows, the labels."""
    true = _canonical(read_indicator(y_true, "y_true")) if is_matrix(y_true) else None
    scores = _read_scores(y_score) if is_matrix(y_score) else None
    sets = read_rows(y_true, "y_true") if true is None else None
    rankings = read_rows(y_score, "y_score", ordered=True) if scores is None else None
    n_true = len(sets) if true is None else true.shape[0]  # type: ignore[arg-type]
    n_scored = len(rankings) if scores is None else scores.shape[0]  # type: ignore[arg-type]
    if n_true != n_scored or not n_true:
        raise LabelError(
            f"y_true has {n_true} rows and y_score {n_scored}: expected the same number, at least "
            "one."
        )
    widths = {each.shape[1] for each in (true, scores) if each is not None}
    names = _names(labels, widths)
    if true is None or scores is None:
        lists = [each for each in (sets, rankings) if each is not None]
        index = {name: i for i, name in enumerate(names)} if names is not None else {}
        if names is None:
            index = index_of([row for rows in lists for row in rows])
        elif labels is None:
            _require_numbers(lists, len(names))
        # a label without a column cannot be found, or is never true, but counts
        index.update({n: len(index) + i for i, n in enumerate(_unknown(lists, index))})
        names = list(index)
        if true is None:
            true = to_matrix(sets, index)  # type: ignore[arg-type]
        else:
            shape = (true.shape[0], len(index))
            true = sparse.csr_array((true.data, true.indices, true.indptr), shape=shape)
        if rankings is not None:
            return true, partial(_best_of_rankings, rankings, index), names
    return true, partial(_best_of_scores, scores), names or range(true.shape[1])


def _names(labels: Any, widths: set[int]) -> Sequence[Any] | None:
    """Labels of the columns: those that are given, numbers of columns, or None without a matrix."""
    if len(widths) > 1:
        raise LabelError(
            "y_true and y_score have {} and {} columns: expected the same labels.".format(*widths)
        )
    width = next(iter(widths), None)
    if labels is None:
        return None if width is None else range(width)
    values, _ = unwrap(labels)
    names = [name.item() if isinstance(name, np.generic) else name for name in values]
    if width is not None and len(names) != width:
        raise LabelError(
            f"labels has {len(names)} labels for {width} columns: expected one per column."
        )
    if len(set(names)) < len(names):
        raise LabelError("labels has a label twice: expected distinct labels of the columns.")
    return names


def _require_numbers(lists: list[list[list[Any]]], width: int) -> None:
    for label in (label for rows in lists for row in rows for label in row):
        if type(label) is not int or not 0 <= label < width:
            raise LabelError(
                f"found the label {shown(label)} beside a matrix of {width} columns: expected "
                "numbers of columns from 0, or labels= naming the columns."
            )


def _unknown(lists: list[list[list[Any]]], index: dict[Any, int]) -> list[Any]:
    every = (label for rows in lists for row in rows for label in row)
    return list(dict.fromkeys(label for label in every if label not in index))


def is_matrix(y: Any) -> bool:
    """Whether labels or scores are a matrix, and not one list or set of labels per row."""
    if sparse.issparse(y):
        return True
    shape = getattr(y, "shape", None)
    if shape is not None:
        return len(shape) == 2
    first = y[0] if isinstance(y, list | tuple) and len(y) else None
    if not isinstance(first, list | tuple | np.ndarray) or not len(first):
        return False
    # nested lists are lists of labels, unless they have fractions
    return any(isinstance(each, float | np.floating) for each in first)


def read_rows(y: Any, what: str, ordered: bool = False) -> list[list[Any]]:
    """Read label sets, or rankings if `ordered`, as one list of labels per row."""
    values, _ = unwrap(y)
    rows = []
    expected = "a list of labels, the best first" if ordered else "a set or a list of labels"
    for i, row in enumerate(values):
        is_good = isinstance(row, list | tuple | np.ndarray) or (
            not ordered and isinstance(row, set | frozenset)
        )
        found = list(row) if is_good else []
        if not is_good or not all(is_hashable(label) for label in found):
            raise LabelError(f"{what}[{i}] is {shown(row)}: expected {expected}.")
        found = [label.item() if isinstance(label, np.generic) else label for label in found]
        if ordered and len(set(found)) < len(found):
            raise LabelError(f"{what}[{i}] ranks a label twice: {shown(row)}. Delete one.")
        rows.append(found)
    return rows


def index_of(rows: list[list[Any]]) -> dict[Any, int]:
    """Number all labels in their order."""
    names = sorted_labels({label for row in rows for label in row})
    return {name: i for i, name in enumerate(names)}


def to_matrix(rows: list[list[Any]], index: dict[Any, int]) -> sparse.csr_array:
    """Return label sets as a sparse bool matrix with the columns of `index`."""
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    flat = [index[label] for row in rows for label in row]
    ones = np.ones(len(flat), dtype=bool)
    columns = np.asarray(flat, dtype=np.int64)
    return _canonical(sparse.csr_array((ones, columns, ends), shape=(len(rows), len(index))))


def _canonical(table: sparse.csr_array) -> sparse.csr_array:
    """Return the table with sorted columns, each once; a copy where it is changed."""
    if table.has_canonical_format:
        return table
    table = table.copy()
    table.sum_duplicates()
    return table


def _read_scores(y_score: Any) -> Any:
    values, _ = unwrap(y_score)
    if sparse.issparse(values):
        table = _canonical(sparse.csr_array(values))
        numbers = table.data
    else:
        table = numbers = np.asarray(values)
    if table.ndim != 2 or numbers.dtype.kind not in "biuf":
        raise LabelError(
            f"y_score has shape {table.shape} and type {numbers.dtype}: expected numbers of shape "
            "(n_samples, n_labels), or rankings."
        )
    return table


def _best_of_scores(scores: Any, k: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the first row of a chunk and the columns of the best labels of its rows."""
    is_sparse = sparse.issparse(scores)
    n_rows, n_labels = scores.shape
    start = 0
    while start < n_rows:
        if is_sparse:
            limit = scores.indptr[start] + _CELLS_AT_ONCE
            end = max(int(np.searchsorted(scores.indptr, limit, side="right")) - 1, start + 1)
            inside = slice(scores.indptr[start], scores.indptr[end])
            sizes = np.diff(scores.indptr[start : end + 1])
            rows = np.repeat(np.arange(end - start), sizes)
            columns = scores.indices[inside]
            values = scores.data[inside].astype(np.float64)
        else:
            end = min(start + max(1, _CELLS_AT_ONCE // max(n_labels, 1)), n_rows)
            rows, columns, values = _candidates(scores[start:end], k)
        if np.isnan(values).any():
            raise LabelError("y_score has NaN, which cannot be ranked: expected numbers.")
        order, ranks = _order(rows, values, end - start)
        kept = ranks < k
        best = np.full((end - start, min(k, n_labels)), _NOT_RANKED, dtype=np.int64)
        best[rows[order][kept], ranks[kept]] = columns[order][kept]
        yield start, best
        start = end


def _candidates(
    scores: NDArray[Any], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Return rows, columns and values of the scores that are at least the k-th best of a row."""
    values = scores.astype(np.float64)
    n_labels = values.shape[1]
    if np.isnan(values).any():
        raise LabelError("y_score has NaN, which cannot be ranked: expected numbers.")
    if k < n_labels:
        limits = np.partition(values, n_labels - k, axis=1)[:, n_labels - k]
        rows, columns = np.nonzero(values >= limits[:, None])
    else:
        rows, columns = np.nonzero(np.ones(values.shape, dtype=bool))
    return rows, columns, values[rows, columns]


def _order(
    rows: NDArray[np.int64], values: FloatArray, n_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort cells by row and descending value, equal ones in their order; also return the ranks."""
    order = np.lexsort((-values, rows))  # stable
    starts = np.searchsorted(rows, np.arange(n_rows))
    ranks = np.arange(len(rows)) - starts[rows[order]]
    return order, ranks


def _best_of_rankings(
    rankings: list[list[Any]], index: dict[Any, int], k: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    width = min(k, max(map(len, rankings), default=0))
    best = np.full((len(rankings), width), _NOT_RANKED, dtype=np.int64)
    for i, row in enumerate(rankings):
        first = row[:k]
        best[i, : len(first)] = [index[label] for label in first]
    yield 0, best
