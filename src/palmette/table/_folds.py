"""Folds of the rows of a table: stratified by label, with equal rows on the same side."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.exceptions import PalmetteError

IntArray = NDArray[np.int64]

FEWEST, _MOST = 3, 10
_FITTED_ROWS = 30_000  # in all folds together, beside those of one: what more folds may cost


def fold_count(n_rows: int, groups: NDArray[Any] | None = None) -> int:
    """Return the number of folds that figures of a table are means of, by default.

    Models of three folds are fitted on two thirds of the rows, and are worse than that of all rows
    where classes have few. The more folds, the nearer they come; tables of many rows need it less,
    and would take long.

    Parameters
    ----------
    n_rows : int
        Number of labelled rows.
    groups : int array of shape (n_rows,), optional
        Rows of one group, such as those with equal inputs, stay together.

    Returns
    -------
    int
        From 3 to 10, and no more than groups.

    Examples
    --------
    >>> [fold_count(n) for n in (60, 3_000, 5_000, 7_500, 20_000)]
    [10, 10, 7, 5, 3]
    """
    most = _MOST if groups is None else min(_MOST, len(np.unique(groups)))
    return max(FEWEST, min(most, 1 + _FITTED_ROWS // max(n_rows, 1)))


def make_folds(
    codes: NDArray[Any] | None,
    n_rows: int,
    n_folds: int,
    seed: int,
    groups: NDArray[Any] | None = None,
) -> list[tuple[IntArray, IntArray]]:
    """Split rows into training and test rows, stratified by label if possible.

    Parameters
    ----------
    codes : int array of shape (n_rows,) or None
        Label of every row; None if rows have several.
    n_rows, n_folds, seed : int
    groups : int array of shape (n_rows,), optional
        Rows of one group, such as those with equal inputs, stay together.

    Returns
    -------
    list of (training rows, test rows)
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    if groups is not None:
        folds = _deal_groups(codes, groups, n_folds, seed)
        if folds is not None:
            return folds
    n_folds = min(n_folds, n_rows)
    if n_folds < 2:
        raise PalmetteError(
            f"{n_rows} labelled rows are too few for cross-validation: expected at least 2."
        )
    plain = KFold(n_folds, shuffle=True, random_state=seed)
    if codes is None or np.bincount(codes).max() < n_folds:
        return list(plain.split(np.zeros(n_rows)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels of fewer rows than folds
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return list(splitter.split(np.zeros(n_rows), codes))


def _deal_groups(
    codes: NDArray[Any] | None, groups: NDArray[Any], n_folds: int, seed: int
) -> list[tuple[IntArray, IntArray]] | None:
    """Split groups of rows; None if there are too few.

    Groups are dealt to the folds one after another, those of one label together and large ones
    first, so that the folds have about equally many rows of every label.
    """
    numbers, first, inverse, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    if len(numbers) < n_folds:
        return None
    labels = np.zeros(len(numbers), dtype=np.int64) if codes is None else codes[first]
    shuffled = np.random.default_rng(seed).permutation(len(numbers))
    order = shuffled[np.lexsort((-sizes[shuffled], labels[shuffled]))]
    fold_of_group = np.empty(len(numbers), dtype=np.int64)
    fold_of_group[order] = np.arange(len(numbers)) % n_folds
    fold = fold_of_group[inverse]
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
