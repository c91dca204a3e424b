"""Splits of a data set: the published one, or repeated random ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.core.rows import count_rows, take_rows
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
    """

    name: str
    hierarchy: Hierarchy
    X_train: Any
    y_train: Any
    X_test: Any = None
    y_test: Any = None

    @property
    def has_split(self) -> bool:
        """Whether the data set comes with a test part."""
        return self.X_test is not None


@dataclass(frozen=True)
class Split:
    """One division into training and test rows."""

    name: str
    seed: int
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
        yield Split(
            "published", seed, problem.X_train, problem.y_train, problem.X_test, problem.y_test
        )
        return
    X, y = problem.X_train, problem.y_train
    if problem.has_split:
        X, y = join_rows(X, problem.X_test), join_rows(y, problem.y_test)
    for i in range(3 if n_splits is None else n_splits):
        train, test = _random_rows(X, y, problem, test_size, seed + i)
        yield Split(
            f"random-{seed + i}",
            seed + i,
            take_rows(X, train),
            take_rows(y, train),
            take_rows(X, test),
            take_rows(y, test),
        )


def _random_rows(X: Any, y: Any, problem: Problem, test_size: float, seed: int) -> Any:
    """Split rows, by label where every label has two rows at least."""
    if not 0 < test_size < 1:
        raise PalmetteError(f"test_size={test_size!r}: expected a share between 0 and 1.")
    rows = np.zeros((count_rows(X), 1))
    labels = NodeLabels.encode(y, problem.hierarchy)
    if labels.is_single_path:
        codes = labels.terminals.copy()
        counts = np.bincount(codes)
        rare = counts[codes] < 2
        # labels of one row cannot be on both sides: they share a group of their own
        codes[rare] = -1
        few = len(np.unique(codes)) > min(test_size, 1 - test_size) * len(codes)
        if not few and rare.sum() != 1:
            splitter = StratifiedShuffleSplit(1, test_size=test_size, random_state=seed)
            return next(splitter.split(rows, codes))
    return next(ShuffleSplit(1, test_size=test_size, random_state=seed).split(rows))


def join_rows(first: Any, second: Any) -> Any:
    """Put the rows of two arrays, matrices, tables or lists one below the other."""
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    if isinstance(first, list):
        return [*first, *second]
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat([first, second], ignore_index=True)
    return np.concatenate([first, second])
