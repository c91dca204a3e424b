"""Blocks of numbers in text, read by numpy's C parser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["chunks_of_rows", "parse_number", "parse_numbers"]

_CHUNK_CHARACTERS = 8_000_000  # what is held twice while it is parsed


def parse_numbers(
    lines: Sequence[str],
    delimiter: str | None,
    columns: Sequence[int] | None = None,
    dtype: type[np.floating] = np.float64,
) -> NDArray[np.floating] | None:
    """Read numbers, ``?`` being NaN; None where something is not a number.

    Parameters
    ----------
    lines : sequence of str
        Without blank lines.
    delimiter : str or None
        None: any white space.
    columns : sequence of int, optional
        Those to read; all by default.
    dtype : type

    Returns
    -------
    array of shape (len(lines), n_columns), or None
        None tells the caller to look for the culprit with its slow and exact parser: the message
        of numpy knows neither the file nor the line.

    Examples
    --------
    >>> parse_numbers(["1,?", "2,.5"], ",")
    array([[1. , nan],
           [2. , 0.5]])
    >>> parse_numbers(["1,x"], ",") is None
    True
    """
    if not lines:
        return None
    known = [line.replace("?", "nan") if "?" in line else line for line in lines]
    try:
        numbers = np.loadtxt(
            known, dtype=dtype, delimiter=delimiter, usecols=columns, comments=None, ndmin=2
        )
    except (ValueError, OverflowError):
        return None
    return numbers if len(numbers) == len(lines) else None


def parse_number(text: str) -> float:
    """Read one number, ``?`` being NaN; ValueError where it is none.

    Python's own grammar allows ``1_000``, files do not.
    """
    if text == "?":
        return float("nan")
    if "_" in text:
        raise ValueError(text)
    return float(text)


def chunks_of_rows(lines: Sequence[str]) -> Iterator[slice]:
    """Cut the rows into slices of some megabytes of text.

    Examples
    --------
    >>> list(chunks_of_rows(["1,2", "3,4"]))
    [slice(0, 2, None)]
    """
    start = held = 0
    for row, line in enumerate(lines):
        held += len(line)
        if held > _CHUNK_CHARACTERS:
            yield slice(start, row + 1)
            start, held = row + 1, 0
    if start < len(lines):
        yield slice(start, len(lines))
