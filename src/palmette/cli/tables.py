"""Data sets that a command names: embedded, in the data home, or any table on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    from palmette.compare import Problem

__all__ = ["check_data", "find_data"]


def find_data(
    name: str,
    target: list[str] | None = None,
    separator: str | None = None,
    labels_separator: str | None = None,
) -> Problem:
    """Return the problem of a name, its table read as `palmette fit` reads it.

    Parameters
    ----------
    name : str
        "stdlib", "digits", a name of the data home, a file, or "-" for the standard input.
    target : list of str, optional
        Columns of a table: one, or the levels of a path.
    separator, labels_separator : str, optional
        Of paths in a cell, and of several labels in a cell.

    Returns
    -------
    Problem
    """
    from palmette.compare import find_problem

    check_data(name, target)
    if not _is_table(name):
        return find_problem(name)
    from palmette.compare import Problem, fill_texts, is_text_column
    from palmette.table.problem import read_problem
    from palmette.table.sources import TableSource

    found = read_problem(
        TableSource.of(name), target or [], separator=separator, labels_separator=labels_separator
    )
    X = found.frame
    if X.shape[1] == 1 and is_text_column(X.iloc[:, 0]):
        X = fill_texts(X.iloc[:, 0])
    return Problem(name, found.hierarchy, X, found.truth)


def check_data(name: str, target: list[str] | None = None) -> None:
    """Refuse a name that `find_data` will not find, at once and without reading data."""
    from palmette.compare import check_problem

    if not _is_table(name):
        check_problem(name)
        return
    from palmette.table.sources import TableSource

    TableSource.of(name).require()
    if not target:
        raise PalmetteError(f"{name} is a table: name the column to predict with --target.")


def _is_table(name: str) -> bool:
    """Whether a name is that of a file, or of nothing that is known without one."""
    from palmette.compare import EMBEDDED
    from palmette.core.files import plain_suffix

    if name in EMBEDDED:
        return False
    return name == "-" or bool(plain_suffix(name)) or Path(name).is_file()
