"""Source: a hierarchy file, decompressed and decoded, with errors that show the line."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path

from palmette.core.files import decode_text, plain_suffix, read_bytes, require_text
from palmette.exceptions import ReadError

__all__ = ["MAX_LINE", "MAX_TEXT", "Source"]

# The largest hierarchy file that we know of, the Gene Ontology as SQLite with all texts, has 86 MB.
# Parsed text may need twenty times its size, so its limit is lower; together with `MAX_NODES` of
# the rows, this bounds the memory that any file can use.
MAX_BYTES = 512 * 1024**2
MAX_TEXT = 64 * 1024**2
MAX_LINE = 16 * 1024**2

_SAMPLED = 200  # lines used to detect the format
_SAMPLED_CHARACTERS = 1 << 20  # limit for files with very long lines


class Source:
    """A hierarchy file, read once and shared by several formats.

    Parameters
    ----------
    path : path-like
        May be compressed as .xz, .gz, .bz2 or .zip.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.suffix = plain_suffix(path)

    @cached_property
    def data(self) -> bytes:
        """The decompressed bytes."""
        return read_bytes(self.path, limit=MAX_BYTES)

    @cached_property
    def raw_text(self) -> str:
        """The text with unchanged line ends: UTF-8 with or without a BOM, else Latin-1."""
        self.require_text()
        return decode_text(self.data, self.path)

    def require_text(self) -> None:
        """Raise an error if the file is binary or too large to be parsed as text."""
        if len(self.data) > MAX_TEXT:
            raise self.error(
                f"the file has {len(self.data):,} bytes: expected at most {MAX_TEXT:,}. Split it"
            )
        require_text(self.data, self.path)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number from 1, line without its end), one at a time."""
        # StringIO splits at \n, \r\n and \r only; str.splitlines would also split at form feeds
        stream = io.StringIO(self.raw_text, newline=None)
        for number, line in enumerate(stream, start=1):
            if len(line) > MAX_LINE:
                raise self.error(
                    f"the line has {len(line):,} characters: expected at most {MAX_LINE:,}",
                    number,
                    line[:200],
                )
            yield number, line.rstrip("\n")

    def content_lines(self) -> Iterator[tuple[int, str]]:
        """Yield numbered lines that are neither blank nor a ``#`` comment."""
        for number, line in self.lines():
            stripped = line.lstrip()
            if stripped and not stripped.startswith("#"):
                yield number, line

    @cached_property
    def sample(self) -> list[str]:
        """The first lines that are neither blank nor comments."""
        head = io.StringIO(self.raw_text[:_SAMPLED_CHARACTERS], newline=None)
        wanted = (line.rstrip("\n") for line in head if line.strip() and line.lstrip()[0] != "#")
        return list(islice(wanted, _SAMPLED))

    @cached_property
    def head(self) -> str:
        """The start of the file without leading whitespace, to detect its syntax."""
        return self.data[:8192].removeprefix(codecs.BOM_UTF8).decode("latin-1").lstrip()

    def error(
        self, message: str, line: int | None = None, text: str | None = None, column: int = 0
    ) -> ReadError:
        """Return an error that shows a position in this file; the caller raises it."""
        if line is not None and text is None:
            text = next((content for number, content in self.lines() if number == line), None)
        return ReadError(message, path=self.path, line=line, text=text, column=column)

    def error_at(self, message: str, offset: int) -> ReadError:
        """Return an error that shows a character of `raw_text`; the caller raises it."""
        start = self.raw_text.rfind("\n", 0, offset) + 1
        end = self.raw_text.find("\n", offset)
        return ReadError(
            message,
            path=self.path,
            line=self.raw_text.count("\n", 0, offset) + 1,
            text=self.raw_text[start : end if end >= 0 else None],
            column=offset - start,
        )
