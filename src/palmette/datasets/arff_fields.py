"""The fields of an ARFF line: separated by commas, perhaps quoted with ' or "."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Field", "FieldError", "read_quoted", "split_fields", "split_sparse_fields"]

# Possessive quantifiers (*+): each character is looked at once, so no line makes us backtrack.
_QUOTED = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
_VALUE = rf"""(?:{_QUOTED}|(?!['"])([^,]*+))\s*+(?P<stop>,|\Z)"""
_FIELD = re.compile(rf"\s*+{_VALUE}")
_SPARSE_FIELD = re.compile(rf"\s*+([0-9]++)\s++{_VALUE}")
_QUOTED_NAME = re.compile(rf"\s*+(?:{_QUOTED})")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


class Field(NamedTuple):
    """One value of a row as it is written."""

    text: str
    quoted: bool
    column: int  # where it begins in the line

    @property
    def is_missing(self) -> bool:
        """Whether this is a bare question mark."""
        return self.text == "?" and not self.quoted


class FieldError(Exception):
    """A line cannot be split; the caller knows file and line number and raises a ReadError."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


def split_fields(line: str, start: int = 0, end: int | None = None) -> list[Field]:
    """Split ``line[start:end]`` at the commas outside of quotes.

    Examples
    --------
    >>> [field.text for field in split_fields("1, 'a, b' ,?")]
    ['1', 'a, b', '?']
    """
    return [_field(match, 1) for match in _matches(_FIELD, line, start, end)]


def split_sparse_fields(line: str, start: int, end: int) -> list[tuple[str, Field]]:
    """Split ``line[start:end]``, the inside of a sparse row, into (index digits, value) pairs."""
    if not line[start:end].strip():
        return []
    return [(match[1], _field(match, 2)) for match in _matches(_SPARSE_FIELD, line, start, end)]


def read_quoted(line: str, start: int) -> tuple[str, int] | None:
    """Read a quoted word at `start`; return it and the position after it, None if it is none."""
    match = _QUOTED_NAME.match(line, start)
    if match is None:
        return None
    return _unescape(match[1] if match[1] is not None else match[2]), match.end()


def _matches(
    pattern: re.Pattern[str], line: str, start: int, end: int | None
) -> Iterator[re.Match[str]]:
    end = len(line) if end is None else end
    while True:
        match = pattern.match(line, start, end)
        if match is None:
            raise _explain(line, start, end)
        yield match
        if not match["stop"]:
            return
        start = match.end()


def _field(match: re.Match[str], first_group: int) -> Field:
    for group in (first_group, first_group + 1):
        if match[group] is not None:
            return Field(_unescape(match[group]), True, match.start(group) - 1)
    return Field(match[first_group + 2].rstrip(), False, match.start(first_group + 2))


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)


def _explain(line: str, start: int, end: int) -> FieldError:
    column = start
    while column < end and line[column].isspace():
        column += 1
    if column < end and line[column] in "'\"":
        after = _QUOTED_NAME.match(line, column, end)
        if after is None:
            return FieldError(f"the quote {line[column]} is not closed", column)
        return FieldError("expected a comma after the quoted value", after.end())
    return FieldError("expected an index and a value, such as `3 1.5`", column)
