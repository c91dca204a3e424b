"""Data sets by name (embedded, in the data home, or a table on disk), and their splits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from palmette._arrays import take_rows
from palmette._files import plain_suffix
from palmette.compare._preparing import fill_texts, is_text_column
from palmette.exceptions import DataHomeError, PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import LabelArray
from palmette.labels._labels import NodeLabels

# ---------------------------------------------------------------------- splits


@dataclass(frozen=True)
class Problem:
    """A data set to compare models on.

    Parameters
    ----------
    name : str
    hierarchy : Hierarchy
    X_train, y_train : features and labels
    X_test, y_test : features and labels, or None
        Of the published split, if there is one.
    categorical : bool array of shape (n_features,), optional
        Columns of an array with categories as numbers.
    """

    name: str
    hierarchy: Hierarchy
    X_train: Any
    y_train: Any
    X_test: Any = None
    y_test: Any = None
    categorical: Any = None

    def __post_init__(self) -> None:
        # models get the hierarchy as a parameter, or deliberately none
        for part in ("y_train", "y_test"):
            y = getattr(self, part)
            if isinstance(y, LabelArray):
                is_sets = y.dtype == object and len(y) > 0 and isinstance(y[0], frozenset)
                object.__setattr__(self, part, y.tolist() if is_sets else np.asarray(y))

    @property
    def has_split(self) -> bool:
        """Whether the data set has a published split."""
        return self.X_test is not None


@dataclass(frozen=True)
class Split:
    """One division into training and test rows.

    Parameters
    ----------
    name : str
        ``"published"``, or ``"random-"`` with its seed.
    seed : int
        Seed of the models fitted on it.
    test_size : float or None
        Share of test rows; None for the published split.
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
        With None, the published split if there is one, else three random ones.
    test_size : float
        Share of test rows of random splits.
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
            f"got n_splits={n_splits} and test_size={test_size}: expected at least one split, and "
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
    """Split rows, stratified if there is one label per row and labels are not too many."""
    n_rows = labels.n_samples
    if (1 - test_size) * n_rows < 1:
        raise PalmetteError(
            f"test_size={test_size:g} leaves none of {n_rows} rows for training: expected less."
        )
    codes = _groups(labels) if labels.is_single_path else np.arange(n_rows)
    # every group needs a row on both sides
    is_coarse = len(np.unique(codes)) <= min(test_size, 1 - test_size) * n_rows
    splitter = StratifiedShuffleSplit if is_coarse else ShuffleSplit
    drawn = splitter(1, test_size=test_size, random_state=seed).split(np.zeros(n_rows), codes)
    train, test = next(drawn)
    return train, test


def _groups(labels: NodeLabels) -> NDArray[np.intp]:
    """Number the labels of rows; labels with one row, which cannot be split, share a group.

    If there is only one such row it joins the largest group.
    """
    codes = labels.terminals.astype(np.intp)
    counts = np.bincount(codes)
    rare = counts[codes] < 2
    codes[rare] = len(counts) if rare.sum() > 1 else counts.argmax()
    return codes


def join_rows(first: Any, second: Any) -> Any:
    """Concatenate the rows of two arrays, matrices, tables or lists.

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


# ---------------------------------------------------------------------- data sets by name


def _stdlib() -> Any:
    from palmette.datasets import load_stdlib_docstrings

    return load_stdlib_docstrings(return_split=True)


def _digits() -> Any:
    from palmette.datasets import load_digits_hierarchy

    return load_digits_hierarchy()


_TABLES = {".csv", ".tsv", ".tab", ".parquet", ".pq"}

EMBEDDED: dict[str, Callable[[], Any]] = {"stdlib": _stdlib, "digits": _digits}


def find_problem(
    name: str | os.PathLike[str],
    target: str | list[str] | None = None,
    separator: str | None = None,
    data_home: str | os.PathLike[str] | None = None,
) -> Problem:
    """Return a data set by name.

    Parameters
    ----------
    name : str or path-like
        ``"stdlib"`` or ``"digits"``, a name in the manifest of the data home, or a CSV, TSV or
        Parquet file.
    target : str or list of str, optional
        Column or columns (a path) of a table to predict.
    separator : str, optional
        Separator of the names of a path in the target column, such as ``" > "``.
    data_home : path-like, optional
        By default the environment variable PALMETTE_DATA.

    Returns
    -------
    Problem
    """
    text = os.fspath(name)
    check_problem(text, target, data_home)
    if text in EMBEDDED:
        return problem_of(text, EMBEDDED[text]())
    if plain_suffix(text) in _TABLES:
        return _table_problem(text, target, separator)
    from palmette.datasets import fetch

    return problem_of(text, fetch(text, data_home=data_home))


def check_problem(
    name: str | os.PathLike[str],
    target: str | list[str] | None = None,
    data_home: str | os.PathLike[str] | None = None,
) -> None:
    """Raise an error for a name that `find_problem` will not find, without reading data.

    Parameters are those of `find_problem`.
    """
    text = os.fspath(name)
    if text in EMBEDDED:
        return
    if plain_suffix(text) in _TABLES:
        if not Path(text).is_file():
            raise ReadError("there is no such file", path=text)
        if not target:
            raise PalmetteError(f"{text} is a table: name the column to predict with --target.")
        return
    if Path(text).is_file():
        raise ReadError(
            f"a table was expected, with a name in {', '.join(sorted(_TABLES))}", path=text
        )
    from palmette.datasets._home import find_dataset

    try:
        group = find_dataset(text, data_home).group
    except DataHomeError as error:
        embedded = ", ".join(EMBEDDED)
        raise DataHomeError(f"{error} Without a data home there are: {embedded}.") from error
    if group == "taxonomies":
        raise PalmetteError(_no_rows(text))


def problem_of(name: str, bunch: Any) -> Problem:
    """Return the problem of a Bunch with or without a split."""
    categorical = bunch.get("categorical_features")
    if "X_train" in bunch and bunch.get("X_test") is not None:
        X, y = _with_validation(bunch)
        return Problem(name, bunch.hierarchy, X, y, bunch.X_test, bunch.y_test, categorical)
    for part in ("", "_train", "_test"):
        if f"X{part}" in bunch:
            X, y = bunch[f"X{part}"], bunch[f"y{part}"]
            return Problem(name, bunch.hierarchy, X, y, categorical=categorical)
    raise PalmetteError(_no_rows(name))


def _no_rows(name: str) -> str:
    return f"{name} is a taxonomy without rows: there is nothing to compare models on."


def _with_validation(bunch: Any) -> tuple[Any, Any]:
    """Return training and validation rows together, as published results use them."""
    if bunch.get("X_valid") is None:
        return bunch.X_train, bunch.y_train
    return join_rows(bunch.X_train, bunch.X_valid), join_rows(bunch.y_train, bunch.y_valid)


def _table_problem(path: str, target: Any, separator: str | None) -> Problem:
    from palmette.datasets import read_table

    bunch = read_table(path, target=target, path_separator=separator)
    X = bunch.X
    if X.shape[1] == 0:
        raise ReadError(
            "the table has no column other than the target: expected features", path=path
        )
    if X.shape[1] == 1 and is_text_column(X.iloc[:, 0]):
        X = fill_texts(X.iloc[:, 0])
    return Problem(path, bunch.hierarchy, X, bunch.y)
