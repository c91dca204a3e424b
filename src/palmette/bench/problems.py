"""Find the data set that a comparison names: embedded, in the data home, or a table on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from palmette.bench.splits import Problem, join_rows
from palmette.core.files import plain_suffix
from palmette.core.labels import NodeLabels
from palmette.exceptions import PalmetteError

__all__ = ["EMBEDDED", "find_problem", "problem_of"]


def _stdlib() -> Any:
    from palmette.datasets import load_stdlib_docstrings

    return load_stdlib_docstrings(return_split=True)


def _digits() -> Any:
    from palmette.datasets import load_digits_hierarchy

    return load_digits_hierarchy()


_TABLES = {".csv", ".tsv", ".parquet"}

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
    if text in EMBEDDED:
        return problem_of(text, EMBEDDED[text]())
    if plain_suffix(text) in _TABLES:
        return _table_problem(text, target, separator)
    from palmette.datasets import fetch

    return problem_of(text, fetch(text, data_home=data_home))


def problem_of(name: str, bunch: Any) -> Problem:
    """Make a problem of a Bunch with a split or without."""
    if "X_train" in bunch and bunch.get("X_test") is not None:
        X, y = _with_validation(bunch)
        return Problem(name, bunch.hierarchy, X, y, bunch.X_test, bunch.y_test)
    for part in ("", "_train", "_test"):
        if f"X{part}" in bunch:
            return Problem(name, bunch.hierarchy, bunch[f"X{part}"], bunch[f"y{part}"])
    raise PalmetteError(
        f"{name} is a taxonomy without rows: there is nothing to compare models on."
    )


def _with_validation(bunch: Any) -> tuple[Any, Any]:
    """Training rows with the validation rows, as published figures use them."""
    if bunch.get("X_valid") is None:
        return bunch.X_train, bunch.y_train
    return join_rows(bunch.X_train, bunch.X_valid), join_rows(bunch.y_train, bunch.y_valid)


def _table_problem(path: str, target: Any, separator: str | None) -> Problem:
    from palmette.datasets import read_table

    if target is None:
        raise PalmetteError(f"{path} is a table: name the column to predict with --target.")
    bunch = read_table(path, target=target, path_separator=separator)
    hierarchy = bunch.get("hierarchy") or NodeLabels.encode(bunch.y).hierarchy
    return Problem(Path(path).stem, hierarchy, bunch.X, bunch.y)
