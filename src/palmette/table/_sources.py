"""Sources of tables: format, encoding, and the opened file."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from palmette import _text as text_of
from palmette._files import atomic_write, open_bytes, plain_suffix
from palmette.exceptions import PalmetteError, ReadError

STDIN = "-"
FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".h5ad": "anndata",
}
CORPUS = "annif"  # by content, never by suffix
_URIS = re.compile(r"\s*(?:<[^<>\s]+>|https?://\S+)?(?:\s+(?:<[^<>\s]+>|https?://\S+))*\s*")
_HEAD = 1 << 20  # bytes, and lines, that show whether a file is a corpus
_LINES = 20
_ZSTD = ".zst"
_NO_PARTS = (
    "the folder contains no {}: expected a table, or a folder whose files are the parts of one"
)
_SHOWN = 3  # skipped rows in a message


class BadRows:
    """Rows that cannot be read, and are skipped.

    Attributes
    ----------
    rows : list of (line, reason, text)
        In the order in which they were found. The line is None if the table has no lines, and the
        name of a file in a corpus with a file per row.

    Examples
    --------
    >>> bad = BadRows()
    >>> bad.add(7, "the row has 3 cells, but the first line has 2 columns", "a,b,c")
    >>> bad.sentence("goods.csv")
    'goods.csv: 1 row is skipped: line 7 (the row has 3 cells, but the first line has 2 columns)'
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int | str | None, str, str]] = []

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, line: int | str | None, reason: str, text: str) -> None:
        """Add a row."""
        self.rows.append((line, reason, text))

    def sentence(self, title: str) -> str:
        """Return the number of rows, and the first ones, in a sentence."""
        shown = [f"{_place(line)} ({reason})" for line, reason, _ in self.rows[:_SHOWN]]
        more = ", ..." if len(self) > _SHOWN else ""
        are = "row is" if len(self) == 1 else "rows are"
        return f"{title}: {len(self):,} {are} skipped: {'; '.join(shown)}{more}"

    def write(self, path: str | os.PathLike[str], excel_safe: bool = False) -> None:
        """Write a CSV file with the columns line, reason and text.

        Parameters
        ----------
        path : path-like
        excel_safe : bool
            Whether cells that look like formulas begin with an apostrophe.
        """
        with atomic_write(path) as stream:
            writer = text_of.csv_writer(stream)
            writer.writerow(("line", "reason", "text"))
            for line, reason, text in sorted(self.rows, key=_order):
                cells = ("" if line is None else line, reason, text)
                writer.writerow(map(text_of.excel_safe, cells) if excel_safe else cells)


def _place(line: int | str | None) -> str:
    if isinstance(line, str):
        return line
    return "a row" if line is None else f"line {line}"


def _order(row: tuple[int | str | None, str, str]) -> tuple[int, str]:
    return (row[0] or 0, "") if not isinstance(row[0], str) else (0, row[0])


@dataclass(frozen=True)
class TableSource:
    """A table: its file, format and encoding.

    Parameters
    ----------
    name : str
        Path of the file, or of a folder whose files are parts of the table; ``"-"`` is the standard
        input.
    format : {"csv", "tsv", "jsonl", "parquet", "excel", "anndata", "annif"}
        "annif" are corpora of subject indexing: texts and their subjects.
    encoding : str, optional
        Encoding of text; by default that of a byte order mark, else UTF-8.
    delimiter : str, optional
        Delimiter of the cells of a CSV file; by default the most likely one of its first line.
    sheet : str, optional
        Sheet of a workbook; the first by default.
    header : bool
        Whether the first line of CSV, TSV and workbooks has the names of the columns; else they
        are col1, col2, ...
    bad : BadRows or None
        Gets the rows that cannot be read; None if such a row is an error.
    more : tuple of str
        Further files or folders of the same format, whose rows follow.
    """

    name: str
    format: str
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    header: bool = True
    bad: BadRows | None = field(default=None, compare=False)
    more: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        name: str | os.PathLike[str] | Sequence[str],
        format: str | None = None,
        *,
        encoding: str | None = None,
        delimiter: str | None = None,
        sheet: str | None = None,
        header: bool = True,
        bad: BadRows | None = None,
    ) -> TableSource:
        """Return the source of a file or folder; by default its suffix gives the format.

        That of a folder is the format of its first file, and that of several files is the format
        of the first.

        Examples
        --------
        >>> TableSource.of("goods.TSV.gz").format
        'tsv'
        """
        if isinstance(name, Sequence) and not isinstance(name, str):
            text, *more = name
            if more and STDIN in name:
                raise PalmetteError(
                    "standard input, '-', cannot be combined with files: pass only one of them."
                )
        else:
            text, more = os.fspath(name), []
        known, told = sorted({*FORMATS.values(), CORPUS}), format is not None
        if format is None and text == STDIN:
            format = "csv"
        if format is None:
            first = text
            if text != STDIN and Path(text).is_dir():
                first = str(next(iter(_files_of(text)), text))
                if _is_corpus(text):
                    format = CORPUS
                elif first == text and _suffix(text) not in FORMATS:
                    raise ReadError(_NO_PARTS.format("table"), path=text)
            format = format or FORMATS.get(_suffix(first))
        elif format not in known:
            raise PalmetteError(f"format={format!r}: expected one of {', '.join(known)}.")
        if format is None:
            raise ReadError(
                f"the suffix {_suffix(text)!r} is not that of a table: expected one of "
                f"{', '.join(FORMATS)}, compressed or not, or a format by name "
                f"({', '.join(known)})",
                path=text,
            )
        if encoding is not None:
            _check_encoding(encoding)
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise PalmetteError(f"delimiter={delimiter!r}: expected one character, such as ';'.")
        found = cls(text, format, encoding, delimiter, sheet, header, bad, tuple(more))
        if format == "tsv" and not told and header and found._has_texts_and_uris():
            return replace(found, format=CORPUS)
        return found

    def _has_texts_and_uris(self) -> bool:
        """Whether the first lines of a file are those of a corpus: a text, a tab and URIs."""
        if not Path(self.name).is_file():
            return False
        with self.open() as stream, suppress(OSError, EOFError, ValueError):
            head = stream.read(_HEAD).decode("utf-8", "replace").split("\n")
            lines = [line for line in head[: max(1, len(head) - 1)][:_LINES] if line.strip()]
            cells = [line.partition("\t")[2] for line in lines if "\t" in line]
            is_whole = 0 < len(lines) == len(cells)
            return is_whole and any(map(str.strip, cells)) and all(map(_URIS.fullmatch, cells))
        return False

    @property
    def title(self) -> str:
        """Name for messages."""
        return "standard input" if self.name == STDIN else self.name

    def require(self) -> None:
        """Raise an error if a file does not exist."""
        if self.name == STDIN:
            return
        for name in (self.name, *self.more):
            path = Path(name)
            if path.is_dir() and self.format != CORPUS and not self._files(name):
                raise ReadError(_NO_PARTS.format(f"{self.format} file"), path=name)
            if not path.exists():
                raise ReadError("the file does not exist", path=name)

    def parts(self) -> list[TableSource]:
        """Return the files of the table one by one; only this source if it is one file.

        Those of a folder are the files that have the format, by name. Files whose names begin with
        a dot or an underscore are ignored, as other tools do. Every file has a list of bad rows of
        its own.
        """
        if self.name == STDIN or not (self.more or Path(self.name).is_dir()):
            return [self]
        return [
            replace(self, name=file, bad=None if self.bad is None else BadRows(), more=())
            for name in (self.name, *self.more)
            for file in self._files(name)
        ]

    def _files(self, name: str) -> list[str]:
        if not Path(name).is_dir() or self.format == CORPUS:
            return [name]
        found = map(str, _files_of(name))
        return [file for file in found if FORMATS[_suffix(file)] == self.format]

    def open(self) -> BinaryIO:
        """Open the bytes of the table, decompressed."""
        if self.name == STDIN:
            return cast(BinaryIO, sys.stdin.buffer)
        if Path(self.name).suffix.lower() == _ZSTD:
            return _open_zstd(self.name)
        return open_bytes(self.name)

    def open_seekable(self) -> Any:
        """Open a seekable stream; the path itself if the file is not compressed."""
        if self.name != STDIN and _suffix(self.name) == Path(self.name).suffix.lower():
            return self.name
        with self.open() as stream:
            return io.BytesIO(stream.read())


def _files_of(folder: str) -> list[Path]:
    """Return the tables of a folder, by name."""
    return sorted(
        path
        for path in Path(folder).iterdir()
        if path.name[0] not in "._" and _suffix(str(path)) in FORMATS and path.is_file()
    )


def _is_corpus(folder: str) -> bool:
    """Whether a folder has texts with their subjects, and no other tables."""
    texts = {path.stem for path in Path(folder).glob("*.txt") if path.name[0] not in "._"}
    tables = [path for path in _files_of(folder) if path.suffix != ".txt"]
    subjects = {path.stem for path in Path(folder).glob("*.key")} | {path.stem for path in tables}
    is_known = all(path.stem in texts and path.suffix == ".tsv" for path in tables)
    return is_known and bool(texts & subjects)


def _suffix(name: str) -> str:
    path = Path(name)
    inner = path.with_suffix("") if path.suffix.lower() == _ZSTD else path
    return plain_suffix(inner)


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        raise PalmetteError(
            f"encoding={encoding!r} is unknown: expected an encoding such as utf-8, latin-1 or "
            "cp1252."
        ) from None


def _open_zstd(name: str) -> BinaryIO:
    try:
        import pyarrow as pa
    except ImportError:
        raise ReadError(
            "reading .zst needs pyarrow: pip install 'palmette[table]'", path=name
        ) from None
    return cast(BinaryIO, io.BufferedReader(pa.CompressedInputStream(pa.OSFile(name), "zstd")))


@contextmanager
def reading(source: TableSource) -> Iterator[None]:
    """Turn all errors of parsers into a `ReadError` that names the table."""
    try:
        yield
    except PalmetteError:
        raise
    except ImportError as error:
        raise ReadError(
            f"{error}. Install the missing package: pip install 'palmette[table]'",
            path=source.title,
        ) from error
    except UnicodeDecodeError as error:
        raise ReadError(
            f"the text is not {error.encoding} (byte 0x{error.object[error.start]:02x}). Pass its "
            "encoding, such as --encoding latin-1",
            path=source.title,
        ) from error
    except MemoryError as error:
        raise ReadError(
            "the table does not fit in memory. Check that it is one, and split it into files of "
            "fewer rows or columns",
            path=source.title,
        ) from error
    except Exception as error:  # parsers of other libraries raise many kinds of errors
        words = " ".join(str(error).split()) or type(error).__name__
        raise ReadError(
            f"the table cannot be read as {source.format} ({words[:300]}). Check that the file is "
            "whole, or pass the --format that it has",
            path=source.title,
        ) from error
