"""The head of an ARFF file: its relation and attributes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from palmette.datasets.arff_fields import FieldError, read_quoted, split_fields
from palmette.exceptions import ReadError

__all__ = ["ArffAttribute", "ArffHeader", "read_header"]

Kind = Literal["numeric", "nominal", "text", "hierarchical"]

_KINDS: dict[str, Kind] = {
    "numeric": "numeric",
    "real": "numeric",
    "integer": "numeric",
    "string": "text",
    "date": "text",  # kept as it is written: no reader of ours has a use for time
    "hierarchical": "hierarchical",
}
_WORD = re.compile(r"[^\s{]+")
_RANGE = re.compile(r"\[[^\]]*\]")  # `real [0, 1]`, a habit of some collections


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
        """Whether it is declared as ``{0,1}``: numeric in effect, as a value is its own code."""
        return self.kind == "nominal" and self.values == ("0", "1")

    @property
    def is_categorical(self) -> bool:
        """Whether its numbers are codes that have no order or size."""
        return self.kind == "nominal" and not self.is_binary

    @property
    def is_coded(self) -> bool:
        """Whether its values are numbers or have codes, so that they have a place in a matrix."""
        return self.kind in ("numeric", "nominal")


@dataclass(frozen=True)
class ArffHeader:
    """What stands before ``@data``."""

    relation: str
    attributes: tuple[ArffAttribute, ...]
    n_lines: int  # up to and with @data


def read_header(lines: Sequence[str], path: str | os.PathLike[str]) -> ArffHeader:
    """Read the lines up to ``@data``.

    Parameters
    ----------
    lines : sequence of str
        All lines of the file.
    path : path-like
        Only for the error messages.

    Returns
    -------
    ArffHeader
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
        f"there is no @data line after {len(attributes)} attributes: the file is cut short, or "
        "it is no ARFF file",
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
                f"{declared!r} is not a type that can be read. Expected numeric, real, integer, "
                "string, date, hierarchical or {value, value, ...}",
                start,
            )
        if kind == "hierarchical":
            return ArffAttribute(name, kind, self._tokens())
        if declared.lower() != "date":  # which may name its format
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
            self.fail("the list of classes is empty or has an empty place between two commas")
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
