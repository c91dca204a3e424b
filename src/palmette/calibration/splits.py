"""Which rows a model learns from, and which it is judged on."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from palmette.core.labels import NodeLabels
from palmette.exceptions import PalmetteError

__all__ = [
    "Fold",
    "check_folds",
    "held_out_part",
    "random_folds",
    "stratified_folds",
    "take_labels",
]

IntArray = NDArray[np.int32]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to learn from, rows to judge on


def check_folds(cv: Any) -> None:
    """Refuse numbers of folds that are none."""
    if isinstance(cv, Integral) and (isinstance(cv, bool) or cv < 2):
        raise PalmetteError(f"cv={cv!r}: expected at least 2 folds.")


def stratified_folds(
    cv: Any, labels: NodeLabels, random_state: Any, used: NDArray[np.bool_] | None = None
) -> list[Fold]:
    """Folds that hold every label, or set of labels, in nearly the same shares.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        Splits that are given number all rows, those that are not used too.
    labels : NodeLabels
        Of the used rows.
    random_state : int, RandomState or None
    used : bool array of shape (n_all,), optional
        Which of all rows are used; all by default.

    Returns
    -------
    list of (train, test)
        Positions among the used rows, each of which is tested once.
    """
    if not isinstance(cv, Integral):
        everything = np.ones(labels.n_samples, dtype=bool)
        return _given_folds(cv, labels, everything if used is None else used)
    kinds = _kinds_of_rows(labels)
    shuffled = check_random_state(random_state).permutation(len(kinds))
    order = shuffled[np.argsort(kinds[shuffled], kind="stable")]
    return _deal(order, int(cv))


def random_folds(cv: int, n_rows: int, random_state: Any) -> list[Fold]:
    """Folds of rows drawn without a look at their labels, so that rows stay exchangeable."""
    return _deal(check_random_state(random_state).permutation(n_rows), int(cv))


def held_out_part(size: Any, n_rows: int, random_state: Any) -> Fold:
    """Rows to learn from and rows to calibrate on, drawn without a look at their labels.

    Parameters
    ----------
    size : float or int
        Share or number of the rows to calibrate on.
    n_rows : int
    random_state : int, RandomState or None
    """
    is_number = isinstance(size, Real) and not isinstance(size, bool)
    count = size if isinstance(size, Integral) else round(size * n_rows) if is_number else -1
    if not is_number or (not isinstance(size, Integral) and not 0 < size < 1) or count < 0:
        raise PalmetteError(
            f"calibration_size={size!r}: expected a share between 0 and 1, or a number of rows."
        )
    count = max(int(count), 1)
    if count >= n_rows:
        raise PalmetteError(
            f"calibration_size={size!r} leaves none of the n_samples={n_rows} rows to learn from. "
            "Give more rows, or a smaller size."
        )
    order = check_random_state(random_state).permutation(n_rows)
    return np.sort(order[count:]), np.sort(order[:count])


def take_labels(labels: NodeLabels, rows: NDArray[Any]) -> NodeLabels:
    """Return the labels of some rows."""
    return NodeLabels(labels.hierarchy, labels.given[rows], labels.form)


# ---------------------------------------------------------------------- steps


def _deal(order: NDArray[np.intp], n_folds: int) -> list[Fold]:
    """Deal rows out to folds, one to each in turn."""
    n_rows = len(order)
    if n_rows < n_folds:
        raise PalmetteError(
            f"cv={n_folds} folds, but n_samples={n_rows} rows with a weight: expected as many at "
            "least. Use fewer folds."
        )
    fold = np.empty(n_rows, dtype=np.intp)
    fold[order] = np.arange(n_rows) % n_folds
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n_folds)]


def _kinds_of_rows(labels: NodeLabels) -> NDArray[np.intp]:
    """Number for every distinct set of labels, in the order in which they first occur.

    So it does not depend on how the hierarchy numbers its nodes.
    """
    sets = labels.closed
    random = np.random.default_rng(0).integers(2**62, size=sets.shape[1])  # a sum tells sets apart
    sums = np.zeros(sets.shape[0], dtype=np.int64)
    rows = np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr))
    np.add.at(sums, rows, random[sets.indices])
    _, first, kinds = np.unique(sums, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[kinds]


def _given_folds(cv: Any, labels: NodeLabels, used: NDArray[np.bool_]) -> list[Fold]:
    kinds = np.zeros(len(used), dtype=np.intp)
    kinds[used] = _kinds_of_rows(labels)
    folds = list(check_cv(cv).split(np.zeros((len(used), 1)), kinds))
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(used))
    wrong = np.flatnonzero(used & (tested[: len(used)] != 1))
    if wrong.size or len(tested) > len(used):
        row = int(wrong[0]) if wrong.size else len(tested) - 1
        raise PalmetteError(
            f"cv tests row {row} {tested[row]} times, of {len(used)} rows: expected splits that "
            "test every row once."
        )
    place = np.cumsum(used) - 1
    return [
        (place[train[used[train]]], place[test[used[test]]])
        for train, test in ((np.asarray(a), np.asarray(b)) for a, b in folds)
    ]
