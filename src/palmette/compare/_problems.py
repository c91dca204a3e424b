"""Find the data set that a comparison names: embedded, in the data home, or a table on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from palmette.compare._preparing import fill_texts, is_text_column
from palmette.compare._splits import Problem, join_rows
from palmette.core.files import plain_suffix
from palmette.exceptions import DataHomeError, PalmetteError, ReadError

__all__ = ["EMBEDDED", "check_problem", "find_problem", "problem_of"]


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
    """Return the problem of a name.

    Parameters
    ----------
    name : str or path-like
        ``"stdlib"`` or ``"digits"``, a name of the data home's manifest, or a CSV, TSV or Parquet
        file.
    target : str or list of str, optional
        Column or columns (a path) of a table to predict.
    separator : str, optional
        Splits the target column of a table into a path, such as ``" > "``.
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
    """Refuse a name that `find_problem` will not find, at once and without reading data.

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
    """Make a problem of a Bunch with a split or without."""
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
    """Training rows with the validation rows, as published figures use them."""
    if bunch.get("X_valid") is None:
        return bunch.X_train, bunch.y_train
    return join_rows(bunch.X_train, bunch.X_valid), join_rows(bunch.y_train, bunch.y_valid)


def _table_problem(path: str, target: Any, separator: str | None) -> Problem:
    from palmette.datasets import read_table

    bunch = read_table(path, target=target, path_separator=separator)
    X = bunch.X
    if X.shape[1] == 0:
        raise ReadError("the table has no column beside the target to learn from", path=path)
    if X.shape[1] == 1 and is_text_column(X.iloc[:, 0]):
        X = fill_texts(X.iloc[:, 0])
    return Problem(path, bunch.hierarchy, X, bunch.y)
