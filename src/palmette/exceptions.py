"""Exceptions of Palmette.

Every error that the input of a user can cause is a `PalmetteError` and a `ValueError`, so that
code written for scikit-learn, which catches `ValueError`, keeps working.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = [
    "AmbiguousTableError",
    "DataHomeError",
    "HierarchyError",
    "LabelError",
    "PalmetteError",
    "PathLabelsWarning",
    "ReadError",
    "TableWarning",
]

_SHOWN = 120  # characters of an offending line that are worth printing


class PalmetteError(ValueError):
    """Base class of all errors that invalid input causes."""


class HierarchyError(PalmetteError):
    """A hierarchy is malformed, or a label or node is not in it."""


class LabelError(PalmetteError):
    """The target `y` cannot be read as labels of a hierarchy."""


class PathLabelsWarning(UserWarning):
    """Labels that are strings were read as paths, since most of them have the same separator."""


class TableWarning(UserWarning):
    """Something in a table is doubtful: how it was read, and what to pass to read it otherwise."""


class AmbiguousTableError(PalmetteError):
    """A table can be read in several ways, and a wrong guess would spoil the model.

    Parameters
    ----------
    message : str
        What is ambiguous, and what to pass.
    readings : list of (str, dict of str to Any)
        The likely one first: in words, and the options of `fit_table` that choose it.
    """

    def __init__(self, message: str, readings: list[tuple[str, dict[str, Any]]]) -> None:
        self.readings = readings
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        # the default of Exception would lose the readings in a worker process
        return type(self), (str(self), self.readings)


class DataHomeError(PalmetteError):
    """The data directory, a data set in it, or one of its files is missing or was altered."""


class ReadError(PalmetteError):
    """A file cannot be read.

    Parameters
    ----------
    message : str
        What is wrong, and what to do about it.
    path : path-like or None
        The file.
    line : int or None
        Line number, from 1.
    text : str or None
        The offending line; long ones are cut around `column`.
    column : int or None
        Position in `text`, from 0; a caret is put under it.

    Examples
    --------
    >>> print(ReadError("expected a number", path="a.arff", line=3, text="1,x,2", column=2))
    a.arff:3: expected a number
      1,x,2
        ^
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        text: str | None = None,
        column: int | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else os.fspath(path)
        self.line = line
        self.text = text
        self.column = column
        super().__init__(self._format())

    def _format(self) -> str:
        place = self.path or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        lines = [f"{place}: {self.message}" if place else self.message]
        if self.text is not None:
            shown, column = _cut_around(self.text, self.column)
            lines.append("  " + shown)
            if column is not None:
                lines.append("  " + " " * column + "^")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        # keyword-only arguments: the default of Exception would lose them in a worker process
        return (_rebuild_read_error, (self.message, self.path, self.line, self.text, self.column))


def _rebuild_read_error(
    message: str, path: str | None, line: int | None, text: str | None, column: int | None
) -> ReadError:
    return ReadError(message, path=path, line=line, text=text, column=column)


def _cut_around(text: str, column: int | None) -> tuple[str, int | None]:
    """Cut a long line to the part around `column`, with control characters made visible."""
    text = text.rstrip("\r\n")
    column = None if column is None else min(max(column, 0), len(text))
    start = 0
    if column is not None and column >= _SHOWN - 10:
        start = max(0, min(column - _SHOWN // 2, len(text) - _SHOWN))
    cut = text[start : start + _SHOWN]
    shown = "".join(c if c.isprintable() else "·" for c in cut)
    if start + _SHOWN < len(text):
        shown += "..."
    if start:
        return "..." + shown, None if column is None else column - start + 3
    return shown, column
