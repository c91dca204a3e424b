"""The header of an ARFF file, its relation and attributes, and the fields of its lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, NoReturn

from palmette.exceptions import ReadError

# Possessive quantifiers (*+): each character is read once, so no line causes backtracking.
_QUOTED = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
_VALUE = rf"""(?:{_QUOTED}|(?!['"])([^,]*+))\s*+(?P<stop>,|\Z)"""
_FIELD = re.compile(rf"\s*+{_VALUE}")
_SPARSE_FIELD = re.compile(rf"\s*+([0-9]++)\s++{_VALUE}")
_QUOTED_NAME = re.compile(rf"\s*+(?:{_QUOTED})")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


class Field(NamedTuple):
    """One value of a row as written."""

    text: str
    quoted: bool
    column: int  # position in the line

    @property
    def is_missing(self) -> bool:
        """Whether this is a bare question mark."""
        return self.text == "?" and not self.quoted


class FieldError(Exception):
    """A line cannot be split. The caller adds file and line number and raises a ReadError."""

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
    """Read a quoted word at `start`; return it and the position after it, or None."""
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


# ---------------------------------------------------------------------- header

Kind = Literal["numeric", "nominal", "text", "hierarchical"]

_KINDS: dict[str, Kind] = {
    "numeric": "numeric",
    "real": "numeric",
    "integer": "numeric",
    "string": "text",
    "date": "text",  # kept as written: no reader uses dates
    "hierarchical": "hierarchical",
}
_WORD = re.compile(r"[^\s{]+")
_RANGE = re.compile(r"\[[^\]]*\]")  # `real [0, 1]`, in some collections


@dataclass(frozen=True)
class ArffAttribute:
    """One declared column.

    Attributes
    ----------
    name : str
    kind : {"numeric", "nominal", "text", "hierarchical"}
    values : tuple of str
        The declared values of a nominal attribute, the tokens of a hierarchical one.
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()

    @property
    def is_binary(self) -> bool:
        """Whether it is declared as ``{0,1}``, so that a value equals its code."""
        return self.kind == "nominal" and self.values == ("0", "1")

    @property
    def is_categorical(self) -> bool:
        """Whether its numbers are codes without an order."""
        return self.kind == "nominal" and not self.is_binary

    @property
    def is_coded(self) -> bool:
        """Whether its values are numbers or codes, and so have a column in the matrix."""
        return self.kind in ("numeric", "nominal")


@dataclass(frozen=True)
class ArffHeader:
    """The part of the file before ``@data``."""

    relation: str
    attributes: tuple[ArffAttribute, ...]
    n_lines: int  # up to and including @data


def read_header(lines: Sequence[str], path: str | os.PathLike[str]) -> ArffHeader:
    """Read the lines up to ``@data``.

    Parameters
    ----------
    lines : sequence of str
        All lines of the file.
    path : path-like
        Only for the error messages.
    """
    relation = ""
    attributes: list[ArffAttribute] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text[0] == "%":
            continue
        keyword = text.split(None, 1)[0].lower()
        if keyword == "@data":
            if not attributes:
                raise ReadError(
                    "@data comes before any @attribute: the columns are not known",
                    path=path,
                    line=number,
                )
            return ArffHeader(relation, tuple(attributes), number)
        parser = _HeaderLine(line, number, path)
        if keyword == "@attribute":
            attributes.append(parser.attribute())
        elif keyword == "@relation":
            relation = parser.relation()
        else:
            parser.fail("expected @relation, @attribute, @data or a comment (%)", 0)
    raise ReadError(
        f"there is no @data line after {len(attributes)} attributes: the file is truncated or "
        "not an ARFF file",
        path=path,
        line=len(lines),
    )


class _HeaderLine:
    """One line that begins with a keyword, read from left to right."""

    def __init__(self, line: str, number: int, path: str | os.PathLike[str]) -> None:
        self.line = line
        self.number = number
        self.path = path
        self.place = self._skip_spaces(0)
        self.place += len(line[self.place :].split(None, 1)[0])

    def fail(self, message: str, column: int | None = None) -> NoReturn:
        raise ReadError(
            message,
            path=self.path,
            line=self.number,
            text=self.line,
            column=self.place if column is None else column,
        )

    def relation(self) -> str:
        self.place = self._skip_spaces(self.place)
        if self.place < len(self.line) and self.line[self.place] in "'\"":
            return self._word("name of the relation")
        return self.line[self.place :].strip()

    def attribute(self) -> ArffAttribute:
        name = self._word("name of the attribute")
        self.place = self._skip_spaces(self.place)
        if self.line[self.place : self.place + 1] == "{":
            return ArffAttribute(name, "nominal", self._nominal_values())
        start = self.place
        declared = self._word(f"type of the attribute {name!r}")
        kind = _KINDS.get(declared.lower())
        if kind is None:
            self.fail(
                f"{declared!r} is an unknown type: expected numeric, real, integer, "
                "string, date, hierarchical or {value, value, ...}",
                start,
            )
        if kind == "hierarchical":
            return ArffAttribute(name, kind, self._tokens())
        if declared.lower() != "date":  # may be followed by a format
            self._expect_end()
        return ArffAttribute(name, kind)

    def _word(self, what: str) -> str:
        self.place = self._skip_spaces(self.place)
        if self.place >= len(self.line):
            self.fail(f"the {what} is missing")
        quoted = read_quoted(self.line, self.place)
        if quoted is not None:
            word, self.place = quoted
            return word
        match = _WORD.match(self.line, self.place)
        if match is None or match[0][0] in "'\"":
            self.fail(f"the {what} is missing or its quote is not closed")
        self.place = match.end()
        return match[0]

    def _nominal_values(self) -> tuple[str, ...]:
        start = self.place + 1
        end = self.line.rfind("}")
        if end < start:
            self.fail("the list of values is not closed by }")
        try:
            fields = split_fields(self.line, start, end)
        except FieldError as error:
            self.fail(error.message, error.column)
        seen: set[str] = set()
        for field in fields:
            if field.text in seen:
                self.fail(f"the value {field.text!r} is declared twice", field.column)
            if not field.text and not field.quoted:
                self.fail("a declared value is empty", field.column)
            seen.add(field.text)
        self.place = end + 1
        self._expect_end()
        return tuple(field.text for field in fields)

    def _tokens(self) -> tuple[str, ...]:
        tokens = tuple(token.strip() for token in self.line[self.place :].split(","))
        if not all(tokens):
            self.fail("the list of classes is empty or has an empty name between two commas")
        return tokens

    def _expect_end(self) -> None:
        self.place = self._skip_spaces(self.place)
        ranged = _RANGE.match(self.line, self.place)
        if ranged is not None:
            self.place = self._skip_spaces(ranged.end())
        if self.place < len(self.line) and self.line[self.place] != "%":
            self.fail("expected nothing after the type")

    def _skip_spaces(self, place: int) -> int:
        while place < len(self.line) and self.line[place].isspace():
            place += 1
        return place
