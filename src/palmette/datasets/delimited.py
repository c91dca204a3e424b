"""Plain tables of numbers with a class column: the files of the UCI repository."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.datasets.bunch_parts import object_array
from palmette.datasets.number_block import parse_number, parse_numbers
from palmette.datasets.plain_text import read_text
from palmette.exceptions import ReadError

__all__ = ["read_delimited"]


def read_delimited(
    path: str | os.PathLike[str],
    *,
    separator: str | None,
    target: int,
    ignored: Sequence[int] = (),
    header: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    """Read a table of numbers in which one column is a class and some are ids.

    `read_table` reads tables with names and texts; this one needs no pandas.

    Parameters
    ----------
    path : path-like
    separator : str or None
        None: any white space.
    target : int
        The column of the class; negative numbers count from the end.
    ignored : sequence of int
        Columns that are neither features nor class.
    header : bool
        Whether the first line names the columns.

    Returns
    -------
    X : float array of shape (n_samples, n_features)
        NaN for ``?``.
    y : object array of shape (n_samples,)
        The class as it is written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("T,2,8\\nI,5,12\\n")
    ...     file.flush()
    ...     X, y = read_delimited(file.name, separator=",", target=0)
    >>> X.tolist(), y.tolist()
    ([[2.0, 8.0], [5.0, 12.0]], ['T', 'I'])
    """
    lines = read_text(path).split("\n")
    numbers = [i for i, line in enumerate(lines) if line.strip()][1 if header else 0 :]
    rows = [lines[i] for i in numbers]
    if not rows:
        raise ReadError("the table has no rows", path=path)
    fields = [row.split(separator) for row in rows]
    width = len(fields[0])
    if not -width <= target < width or width - 1 - len(ignored) < 1:
        raise ReadError(
            f"found {width} columns, too few for a class and a feature", path=path,
            line=numbers[0] + 1, text=rows[0],
        )  # fmt: skip
    left_out = {i % width for i in (target, *ignored)}
    columns = [i for i in range(width) if i not in left_out]
    for place, row in enumerate(fields):
        if len(row) != width:
            raise ReadError(
                f"found {len(row)} columns, expected {width} as in the first row",
                path=path,
                line=numbers[place] + 1,
                text=rows[place],
            )
    features: Any = parse_numbers(rows, separator, columns)
    if features is None:
        _report(fields, columns, numbers, rows, path)
    return features, object_array(row[target].strip() for row in fields)


def _report(
    fields: list[list[str]],
    columns: list[int],
    numbers: list[int],
    rows: list[str],
    path: str | os.PathLike[str],
) -> None:
    for place, row in enumerate(fields):
        for i in columns:
            try:
                parse_number(row[i].strip())
            except ValueError:
                raise ReadError(
                    f"expected a number in column {i + 1}, found {row[i].strip()!r}",
                    path=path,
                    line=numbers[place] + 1,
                    text=rows[place],
                ) from None
    raise ReadError("the table cannot be read as numbers", path=path)
