"""Iterative stratification: splits with the same proportion of every label in each part.

K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of multi-label data", ECML PKDD 2011.
Pairs of labels: P. Szymanski, T. Kajdanowicz, "A network perspective on stratification of
multi-label data", 2017.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit
from sklearn.utils import check_random_state

from palmette._arrays import count_rows, take_rows
from palmette.exceptions import LabelError, PalmetteError
from palmette.labels._labels import NodeLabels
from palmette.persistence.checks import held

Rows = NDArray[np.intp]


class IterativeStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """Cross-validation folds with the same proportion of every label.

    Rows of the rarest label are distributed first. Sizes of folds may differ by a few rows. A label
    with fewer rows than folds is missing from some folds.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether to process rows in random order and break ties at random.
    random_state : int, RandomState or None, default=None
        Used with ``shuffle=True``.
    order : {1, 2}, default=1
        2 stratifies by pairs of labels too.

    Examples
    --------
    >>> y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    >>> for train, test in IterativeStratifiedKFold(2).split(np.zeros((6, 1)), y):
    ...     print(test, y[test].sum(axis=0))
    [0 2 4] [2 2]
    [1 3 5] [2 2]
    """

    in_files: ClassVar = {
        "n_splits": held(int, np.integer),
        "shuffle": held(bool),
        "random_state": held(object),
        "order": held(int),
    }

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None, order: int = 1
    ) -> None:
        number = _number_of_splits(n_splits, minimum=2)
        if random_state is not None and not shuffle:
            raise PalmetteError(
                f"random_state={random_state!r} has no effect with shuffle=False: expected None. "
                "Set shuffle=True to use it."
            )
        _check_order(order)
        self.n_splits = number
        self.shuffle = shuffle
        self.random_state = random_state
        self.order = order

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; the arguments are not used."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield indices of training and test rows.

        Parameters
        ----------
        X : array-like of n_samples rows
        y : labels of n_samples rows, in any form that `NodeLabels.encode` reads
        groups : ignored

        Yields
        ------
        train, test : int arrays
        """
        columns = _columns_to_stratify(X, y, self.order)
        n_rows = columns.shape[0]
        if n_rows < self.n_splits:
            raise PalmetteError(
                f"n_splits={self.n_splits}, but there are {n_rows} rows: expected at most "
                "as many splits as rows."
            )
        random = check_random_state(self.random_state) if self.shuffle else None
        part = _stratify(columns, np.full(self.n_splits, 1 / self.n_splits), random)
        for fold in range(self.n_splits):
            yield np.flatnonzero(part != fold), np.flatnonzero(part == fold)


class IterativeStratifiedShuffleSplit(BaseShuffleSplit):  # type: ignore[misc]
    """Random splits into training and test rows with the same proportion of every label.

    The sizes may differ from the given ones by a few rows.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size, train_size : float or int, optional
        Proportion or number of rows. By default a tenth is for testing, the rest for training.
    random_state : int, RandomState or None, default=None
    order : {1, 2}, default=1
        2 stratifies by pairs of labels too.

    Examples
    --------
    >>> y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    >>> splitter = IterativeStratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    >>> [(y[train].sum(axis=0), y[test].sum(axis=0)) for train, test in splitter.split(y, y)]
    [(array([2, 2]), array([2, 2]))]
    """

    in_files: ClassVar = {
        "n_splits": held(int, np.integer),
        "test_size": held(int, float, or_none=True),
        "train_size": held(int, float, or_none=True),
        "random_state": held(object),
        "order": held(int),
    }

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | int | None = None,
        train_size: float | int | None = None,
        random_state: Any = None,
        order: int = 1,
    ) -> None:
        super().__init__(
            n_splits=_number_of_splits(n_splits, minimum=1),
            test_size=test_size,
            train_size=train_size,
            random_state=random_state,
        )
        _check_order(order)
        self.order = order

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield indices of training and test rows, in random order.

        Parameters are those of `IterativeStratifiedKFold.split`.

        Yields
        ------
        train, test : int arrays
        """
        columns = _columns_to_stratify(X, y, self.order)
        n_rows = columns.shape[0]
        n_train, n_test = _sizes(self.train_size, self.test_size, n_rows)
        unused = n_rows - n_train - n_test
        ratios = np.array([n_train, n_test, unused][: 3 if unused else 2]) / n_rows
        random = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            part = _stratify(columns, ratios, random)
            train, test = (np.flatnonzero(part == i) for i in (0, 1))
            yield random.permutation(train), random.permutation(test)


def iterative_train_test_split(
    X: Any,
    y: Any,
    *more: Any,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: Any = None,
    order: int = 1,
) -> list[Any]:
    """Split rows at random into training and test rows with the same proportion of every label.

    Parameters
    ----------
    X : array, sparse matrix, table or list of n_samples rows
    y : labels of n_samples rows, in any form that `NodeLabels.encode` reads
    *more : arrays, sparse matrices, tables or lists of n_samples rows
        Split in the same way.
    test_size, train_size : float or int, optional
        Proportion or number of rows; the parts may differ from it by a few rows. By default a
        quarter is for testing.
    random_state : int, RandomState or None, default=None
    order : {1, 2}, default=1
        2 stratifies by pairs of labels too.

    Returns
    -------
    list
        X_train, X_test, y_train, y_test, and the two parts of each element of `more`.

    Examples
    --------
    >>> X, y = np.arange(4)[:, None], [{"a"}, {"a"}, {"b"}, {"b"}]
    >>> X_train, X_test, y_train, y_test = iterative_train_test_split(X, y, test_size=0.5)
    >>> sorted(map(str, y_test))
    ["{'a'}", "{'b'}"]
    """
    if test_size is None and train_size is None:
        test_size = 0.25
    for i, other in enumerate(more):
        if count_rows(other) != count_rows(X):
            raise PalmetteError(
                f"argument {i + 3} has {count_rows(other)} rows and X has {count_rows(X)}: "
                "expected equal numbers."
            )
    splitter = IterativeStratifiedShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=random_state, order=order
    )
    train, test = next(splitter.split(X, y))
    tables = [table.tocsr() if sparse.issparse(table) else table for table in (X, y, *more)]
    return [take_rows(table, rows) for table in tables for rows in (train, test)]


# ---------------------------------------------------------------------- parameters and columns


def _number_of_splits(n_splits: Any, minimum: int) -> int:
    if not isinstance(n_splits, Integral) or int(n_splits) < minimum:
        raise PalmetteError(f"n_splits={n_splits!r}: expected an integer of at least {minimum}.")
    return int(n_splits)


def _check_order(order: Any) -> None:
    if order not in (1, 2):
        raise PalmetteError(f"order={order!r}: expected 1 (labels) or 2 (labels and pairs).")


def _columns_to_stratify(X: Any, y: Any, order: int) -> sparse.csr_array:
    """Return what is stratified as columns of a 0/1 matrix: labels, and with order 2 pairs."""
    if y is None:
        raise LabelError("y is None: expected labels, which stratified splits need.")
    labels = NodeLabels.encode(y, flat=True)
    if X is not None and count_rows(X) != labels.n_samples:
        raise LabelError(
            f"X has {count_rows(X)} rows and y has {labels.n_samples}: expected equal numbers."
        )
    columns = labels.closed[:, 1:]  # all rows have the root
    return columns if order == 1 else sparse.hstack([columns, _pairs(columns)], format="csr")


def _pairs(columns: sparse.csr_array) -> sparse.csr_array:
    """Return one column per pair of columns that are both true in some row."""
    n_rows, n_columns = columns.shape
    starts, labels = columns.indptr, columns.indices.astype(np.int64)
    keys = []
    for i in range(n_rows):
        of_row = labels[starts[i] : starts[i + 1]]
        first, second = np.triu_indices(len(of_row), 1)
        keys.append(of_row[first] * n_columns + of_row[second])
    pairs, number = np.unique(np.concatenate(keys), return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum([len(of_row) for of_row in keys])])
    flags = np.ones(len(number), dtype=bool)
    return sparse.csr_array((flags, number, indptr), shape=(n_rows, len(pairs)))


def _sizes(train_size: Any, test_size: Any, n_rows: int) -> tuple[int, int]:
    n_train = _count(train_size, n_rows, "train_size", round_up=False)
    n_test = _count(test_size, n_rows, "test_size", round_up=True)
    if n_test is None:
        n_test = -(-n_rows // 10) if n_train is None else n_rows - n_train
    if n_train is None:
        n_train = n_rows - n_test
    if min(n_train, n_test) < 1 or n_train + n_test > n_rows:
        raise PalmetteError(
            f"train_size={train_size} and test_size={test_size} give {n_train} and {n_test} of "
            f"{n_rows} rows: expected at least one row in each part, and at most {n_rows} in all."
        )
    return n_train, n_test


def _count(size: Any, n_rows: int, name: str, *, round_up: bool) -> int | None:
    if size is None:
        return None
    if isinstance(size, Integral) and not isinstance(size, bool):
        return int(size)
    if not _is_share(size):
        raise PalmetteError(f"{name}={size!r}: expected a float between 0 and 1, or an integer.")
    return int(np.ceil(size * n_rows) if round_up else np.floor(size * n_rows))


def _is_share(size: Any) -> bool:
    return isinstance(size, Real) and 0 < float(size) < 1


# ---------------------------------------------------------------------- stratification


def _stratify(
    columns: sparse.csr_array, ratios: NDArray[np.float64], random: np.random.RandomState | None
) -> Rows:
    """Return the part of every row, such that each column is distributed by the ratios.

    Parameters
    ----------
    columns : sparse bool array of shape (n_rows, n_columns)
    ratios : float array of shape (n_parts,)
        Summing to one.
    random : RandomState or None
        None: ties between rows, columns and parts are decided by their order.
    """
    n_rows, n_columns = columns.shape
    order_of_rows = np.arange(n_rows) if random is None else random.permutation(n_rows)
    by_row = sparse.csr_array(columns[order_of_rows])
    by_column = by_row.tocsc()
    of_row = np.split(by_row.indices, by_row.indptr[1:-1])
    rows_wanted = [float(number) for number in ratios * n_rows]  # rows missing from each part
    wanted = np.multiply.outer(by_column.sum(axis=0), ratios).tolist()  # the same per column
    left = by_column.sum(axis=0).tolist()
    rank = (np.arange(n_columns) if random is None else random.permutation(n_columns)).tolist()
    choose = _Chooser(rows_wanted, random)
    part = [-1] * n_rows
    queue = [(count, rank[column], column) for column, count in enumerate(left) if count]
    heapq.heapify(queue)
    while queue:
        count, _, column = heapq.heappop(queue)
        if count != left[column]:
            continue  # an outdated entry: the column was queued again with its new count
        changed = set()
        for row in by_column.indices[slice(*by_column.indptr[column : column + 2])].tolist():
            if part[row] >= 0:
                continue
            part[row] = best = choose(wanted[column])
            rows_wanted[best] -= 1
            for other in of_row[row].tolist():
                wanted[other][best] -= 1
                left[other] -= 1
                changed.add(other)
        for other in changed:
            if left[other]:
                heapq.heappush(queue, (left[other], rank[other], other))
    for row in range(n_rows):  # rows without labels fill the parts
        if part[row] < 0:
            part[row] = best = choose(rows_wanted)
            rows_wanted[best] -= 1
    answer = np.empty(n_rows, dtype=np.intp)
    answer[order_of_rows] = part
    return answer


class _Chooser:
    """Choose the part that lacks most rows of a column; ties: most rows overall, then any."""

    def __init__(self, rows_wanted: list[float], random: np.random.RandomState | None) -> None:
        self.rows_wanted = rows_wanted
        self.random = random

    def __call__(self, wanted: list[float]) -> int:
        most = max(wanted)
        parts = [i for i, want in enumerate(wanted) if want == most]
        if len(parts) > 1:
            most = max(self.rows_wanted[i] for i in parts)
            parts = [i for i in parts if self.rows_wanted[i] == most]
        if len(parts) > 1 and self.random is not None:
            return parts[self.random.randint(len(parts))]
        return parts[0]
