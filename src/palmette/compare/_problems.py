"""Data sets by name (embedded, in the data home, or a table on disk), and their splits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from palmette._arrays import is_text, take_rows
from palmette._files import plain_suffix
from palmette.exceptions import DataHomeError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import LabelArray
from palmette.labels._labels import NodeLabels

if TYPE_CHECKING:
    from palmette.table._schema import Schema

_TEST_SIZE = 0.3

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
    schema : Schema, optional
        Columns of a table that was read by `palmette.table`. Without it, a DataFrame is read so
        here, and texts become its only column: models get the same features as by `fit_table`.
    """

    name: str
    hierarchy: Hierarchy
    X_train: Any
    y_train: Any
    X_test: Any = None
    y_test: Any = None
    categorical: Any = None
    schema: Schema | None = None

    def __post_init__(self) -> None:
        if self.schema is None and (is_text(self.X_train) or hasattr(self.X_train, "columns")):
            self._read_columns()
        # models get the hierarchy as a parameter, or deliberately none
        for part in ("y_train", "y_test"):
            y = getattr(self, part)
            if isinstance(y, LabelArray):
                is_sets = y.dtype == object and len(y) > 0 and isinstance(y[0], frozenset)
                object.__setattr__(self, part, y.tolist() if is_sets else np.asarray(y))

    def _read_columns(self) -> None:
        """Find the kinds of the columns in the training rows, and give all rows their types."""
        from palmette.table._reading import as_frame
        from palmette.table._schema import Schema, Unread

        def as_table(X: Any) -> Any:
            return as_frame({"text": list(X)} if is_text(X) else X)

        train = as_table(self.X_train)
        schema = Schema({"text": "text"}) if is_text(self.X_train) else Schema.infer(train)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "X_train", schema.cast(train, unread=Unread()))
        if self.X_test is not None:
            test = schema.cast(as_table(self.X_test), unread=Unread())
            object.__setattr__(self, "X_test", test)

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
        ``"published"``, ``"fold-"`` with its number, or ``"random-"`` with its seed.
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
    problem: Problem, n_splits: int | None, test_size: float | None, seed: int
) -> Iterator[Split]:
    """Yield the published split, the folds of `fit_table`, or random splits of all rows.

    Parameters
    ----------
    problem : Problem
    n_splits : int or None
        Number of random splits. With None, the published split if there is one; of other tables,
        the folds of `fit_table` unless `test_size` is given; else three random splits.
    test_size : float or None
        Share of test rows of random splits, by default 0.3.
    seed : int
        Of the folds and the models; random split ``i`` and the models fitted on it use
        ``seed + i``.

    Yields
    ------
    Split
        Rows of a table with equal inputs are on the same side, unless the split is published.
    """
    if n_splits is None and problem.has_split:
        parts = (problem.X_train, problem.y_train, problem.X_test, problem.y_test)
        yield Split("published", seed, None, *parts)
        return
    X, y = problem.X_train, problem.y_train
    if problem.has_split:
        X, y = join_rows(X, problem.X_test), join_rows(y, problem.y_test)
    labels = NodeLabels.encode(y, problem.hierarchy)
    groups = _equal_inputs(X) if problem.schema is not None else None

    def split(name: str, seed: int, share: float, train: Any, test: Any) -> Split:
        parts = (take_rows(X, train), take_rows(y, train), take_rows(X, test), take_rows(y, test))
        return Split(name, seed, share, *parts)

    if n_splits is None and test_size is None and problem.schema is not None:
        pairs = _folds(labels, groups, seed)
        for i, (train, test) in enumerate(pairs, start=1):
            yield split(f"fold-{i}", seed, 1 / len(pairs), train, test)
        return
    n_splits = 3 if n_splits is None else n_splits
    test_size = _TEST_SIZE if test_size is None else test_size
    if n_splits < 1 or not 0 < test_size < 1:
        raise PalmetteError(
            f"got n_splits={n_splits} and test_size={test_size}: expected at least one split, and "
            "a share between 0 and 1."
        )
    for i in range(seed, seed + n_splits):
        yield split(f"random-{i}", i, test_size, *_random_rows(labels, test_size, i, groups))


def _equal_inputs(frame: Any) -> Any:
    from palmette.table._problem import find_groups

    return find_groups(frame)


def _folds(labels: NodeLabels, groups: Any, seed: int) -> list[tuple[Any, Any]]:
    """Split rows as `fit_table` does: with its numbers of labels, in the order of their rows."""
    import pandas as pd

    from palmette.table._folds import fold_count, make_folds

    codes = None
    if labels.is_single_path and labels.hierarchy.is_tree:
        codes = pd.factorize(labels.terminals)[0]
    n_rows = labels.n_samples
    return make_folds(codes, n_rows, fold_count(n_rows, groups), seed, groups)


def _random_rows(
    labels: NodeLabels, test_size: float, seed: int, groups: Any = None
) -> tuple[Any, Any]:
    """Split rows, stratified if there is one label per row and labels are not too many.

    Of a group of equal rows the first one is drawn, and the others are on its side.
    """
    if groups is not None:
        _, first, group_of = np.unique(groups, return_index=True, return_inverse=True)
        _, drawn = _random_rows(labels.take(first), test_size, seed)
        is_test = np.isin(group_of, drawn)
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)
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


EMBEDDED: dict[str, Callable[[], Any]] = {"stdlib": _stdlib, "digits": _digits}


def find_problem(
    name: str | os.PathLike[str],
    target: str | Sequence[str] | None = None,
    separator: str | None = None,
    data_home: str | os.PathLike[str] | None = None,
    *,
    labels_separator: str | None = None,
    merge_case: bool = False,
    columns: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    skip_bad_rows: bool = False,
    max_depth: int | None = None,
    sheet: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Problem:
    """Return a data set by name; a table is read as by `fit_table`.

    Parameters
    ----------
    name : str or path-like
        ``"stdlib"`` or ``"digits"``, a name in the manifest of the data home, or a table: the name
        of a file, or ``"-"`` for the standard input.
    target : str or sequence of str, optional
        Column or columns (a path) of a table to predict.
    separator : str, optional
        Separator of the names of a path in the target column, such as ``" > "``.
    data_home : path-like, optional
        By default the environment variable PALMETTE_DATA.
    labels_separator, merge_case, columns, drop, skip_bad_rows, max_depth, tell
        For tables, as in `fit_table`; what is ambiguous is told, and read as is likely.
    sheet : str, optional
        Sheet of a workbook; the first one by default.

    Returns
    -------
    Problem
    """
    text = os.fspath(name)
    check_problem(text, target, data_home)
    if text in EMBEDDED:
        return problem_of(text, EMBEDDED[text]())
    if not _is_table(text):
        from palmette.datasets import fetch

        return problem_of(text, fetch(text, data_home=data_home))
    from palmette.table._problem import read_problem
    from palmette.table._sources import BadRows, TableSource

    found = read_problem(
        TableSource.of(text, sheet=sheet), target or [], separator=separator,
        labels_separator=labels_separator, merge_case=merge_case, max_depth=max_depth,
        columns=columns, drop=drop, tell=tell, bad=BadRows() if skip_bad_rows else None, yes=True,
    )  # fmt: skip
    return Problem(text, found.hierarchy, found.frame, found.truth, schema=found.schema)


def check_problem(
    name: str | os.PathLike[str],
    target: str | Sequence[str] | None = None,
    data_home: str | os.PathLike[str] | None = None,
) -> None:
    """Raise an error for a name that `find_problem` will not find, without reading data.

    Parameters are those of `find_problem`.
    """
    text = os.fspath(name)
    if text in EMBEDDED:
        return
    if _is_table(text):
        from palmette.table._sources import TableSource

        TableSource.of(text).require()
        if not target:
            raise PalmetteError(f"{text} is a table: name the column to predict with --target.")
        return
    from palmette.datasets._home import find_dataset

    try:
        group = find_dataset(text, data_home).group
    except DataHomeError as error:
        embedded = ", ".join(EMBEDDED)
        raise DataHomeError(f"{error} Without a data home there are: {embedded}.") from error
    if group == "taxonomies":
        raise PalmetteError(_no_rows(text))


def _is_table(name: str) -> bool:
    """Whether a name refers to a file rather than to a known data set."""
    return name == "-" or bool(plain_suffix(name)) or Path(name).is_file()


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
