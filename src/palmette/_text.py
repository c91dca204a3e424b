"""Texts of files and tables, made safe for terminals, pages and spreadsheets; lines of warnings."""

from __future__ import annotations

import csv
import inspect
import io
import re
from collections.abc import Iterable
from itertools import islice
from typing import IO, Any

# C0 without tab and line feed, DEL, C1, line separators, marks that reverse text, lone surrogates
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: no character, and never in a file
_FORMULA = re.compile("\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?%?")
_INSIDE = ("palmette.", "sklearn.", "joblib.")


def caller_level() -> int:
    """Return the `stacklevel` of a warning for the code that called Palmette or scikit-learn."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    return level


def visible(text: str) -> str:
    r"""Replace control characters by their escapes, which are those of JSON.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb"))
    a\u001b[2Jb
    """
    return CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def listed(names: Iterable[Any], most: int = 20) -> str:
    """Return the first names in a list for messages, each of at most 60 characters.

    Examples
    --------
    >>> listed(["price", "x" * 70, "kind"], most=2)
    'price, xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..., ...'
    """
    texts = [str(name) for name in islice(names, most + 1)]
    shown = [text if len(text) <= 60 else f"{text[:57]}..." for text in texts[:most]]
    return ", ".join([*shown, "..."] if len(texts) > most else shown)


def whole(text: str) -> str:
    r"""Replace halves of surrogate pairs, which no file takes, by their escapes.

    Examples
    --------
    >>> print(whole("a\ud800b"))
    a\ud800b
    """
    if text.isascii():
        return text
    return HALF.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def excel_safe(cell: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would read as a formula.

    Examples
    --------
    >>> [excel_safe(cell) for cell in ("=1+1", "-1.5", "- none", "a=b", -2)]
    ["'=1+1", '-1.5', "'- none", 'a=b', -2]
    """
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def excel_safe_csv(text: str) -> str:
    """Make all cells of a CSV text safe; see `excel_safe`."""
    stream = io.StringIO()
    rows = csv.reader(io.StringIO(text, newline=""))
    csv_writer(stream).writerows(map(excel_safe, row) for row in rows)
    return stream.getvalue()


def csv_writer(stream: IO[str], delimiter: str = ",") -> Any:
    """Return a writer of CSV whose lines end with a line feed, and that quotes carriage returns."""
    return csv.writer(_LineFeeds(stream), delimiter=delimiter, lineterminator="\r\n")


class _LineFeeds:
    """A stream of lines; `csv` would leave a carriage return in a cell bare if it ended them so."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, line: str) -> int:
        return self._stream.write(line[:-2] + "\n")
