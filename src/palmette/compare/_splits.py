"""Splits of a data set: the published one, or repeated random ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.core.rows import take_rows
from palmette.exceptions import PalmetteError

__all__ = ["Problem", "Split", "join_rows", "make_splits"]


@dataclass(frozen=True)
class Problem:
    """A data set to compare models on.

    Parameters
    ----------
    name : str
    hierarchy : Hierarchy
    X_train, y_train : features and labels
    X_test, y_test : features and labels, or None
        Where the data set has a published split.
    categorical : bool array of shape (n_features,), optional
        Columns of an array that hold categories as numbers.
    """

    name: str
    hierarchy: Hierarchy
    X_train: Any
    y_train: Any
    X_test: Any = None
    y_test: Any = None
    categorical: Any = None

    @property
    def has_split(self) -> bool:
        """Whether the data set comes with a test part."""
        return self.X_test is not None


@dataclass(frozen=True)
class Split:
    """One division into training and test rows.

    Parameters
    ----------
    name : str
        ``"published"``, or ``"random-"`` with its seed.
    seed : int
        For the models fitted on it.
    test_size : float or None
        Share of test rows that was asked for; None for the published split.
    X_train, y_train, X_test, y_test : features and labels
    """

    name: str
    seed: int
    test_size: float | None
    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


def make_splits(
    problem: Problem, n_splits: int | None, test_size: float, seed: int
) -> Iterator[Split]:
    """Yield the published split, or `n_splits` random ones, of all rows of the problem.

    Parameters
    ----------
    problem : Problem
    n_splits : int or None
        None: the published split where there is one, else three random ones.
    test_size : float
        Share of rows to test on, for random splits.
    seed : int
        Split ``i`` and the models fitted on it use ``seed + i``.

    Yields
    ------
    Split
    """
    if n_splits is None and problem.has_split:
        parts = (problem.X_train, problem.y_train, problem.X_test, problem.y_test)
        yield Split("published", seed, None, *parts)
        return
    n_splits = 3 if n_splits is None else n_splits
    if n_splits < 1 or not 0 < test_size < 1:
        raise PalmetteError(
            f"got n_splits={n_splits} and test_size={test_size}: expected one split at least, and "
            "a share between 0 and 1."
        )
    X, y = problem.X_train, problem.y_train
    if problem.has_split:
        X, y = join_rows(X, problem.X_test), join_rows(y, problem.y_test)
    labels = NodeLabels.encode(y, problem.hierarchy)
    for i in range(seed, seed + n_splits):
        train, test = _random_rows(labels, test_size, i)
        parts = (take_rows(X, train), take_rows(y, train), take_rows(X, test), take_rows(y, test))
        yield Split(f"random-{i}", i, test_size, *parts)


def _random_rows(labels: NodeLabels, test_size: float, seed: int) -> tuple[Any, Any]:
    """Split rows, by label where there is one a row and the labels are fewer than the rows."""
    n_rows = labels.n_samples
    if (1 - test_size) * n_rows < 1:
        raise PalmetteError(
            f"a test part of {test_size:g} leaves none of {n_rows} rows to learn from."
        )
    codes = _groups(labels) if labels.is_single_path else np.arange(n_rows)
    # every group needs a row on both sides
    is_coarse = len(np.unique(codes)) <= min(test_size, 1 - test_size) * n_rows
    splitter = StratifiedShuffleSplit if is_coarse else ShuffleSplit
    drawn = splitter(1, test_size=test_size, random_state=seed).split(np.zeros(n_rows), codes)
    train, test = next(drawn)
    return train, test


def _groups(labels: NodeLabels) -> NDArray[np.intp]:
    """Number the labels of rows; labels of one row, which cannot be on both sides, share a group.

    Where there is only one such row it joins the largest group.
    """
    codes = labels.terminals.astype(np.intp)
    counts = np.bincount(codes)
    rare = counts[codes] < 2
    codes[rare] = len(counts) if rare.sum() > 1 else counts.argmax()
    return codes


def join_rows(first: Any, second: Any) -> Any:
    """Put the rows of two arrays, matrices, tables or lists one below the other.

    Examples
    --------
    >>> join_rows(["a"], ["b"])
    ['a', 'b']
    """
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    if isinstance(first, list | tuple):
        return [*first, *second]
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat([first, second], ignore_index=True)
    return np.concatenate([first, second])
