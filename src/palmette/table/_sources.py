"""Sources of tables: format, encoding, and the opened file."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from palmette._files import open_bytes, plain_suffix
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
}
_ZSTD = ".zst"


@dataclass(frozen=True)
class TableSource:
    """A table: its file, format and encoding.

    Parameters
    ----------
    name : str
        Path of the file; ``"-"`` is the standard input.
    format : {"csv", "tsv", "jsonl", "parquet", "excel"}
    encoding : str, optional
        Encoding of text; by default that of a byte order mark, else UTF-8.
    delimiter : str, optional
        Delimiter of the cells of a CSV file; by default the most likely one of its first line.
    sheet : str, optional
        Sheet of a workbook; the first by default.
    """

    name: str
    format: str
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None

    @classmethod
    def of(
        cls,
        name: str | os.PathLike[str],
        format: str | None = None,
        *,
        encoding: str | None = None,
        delimiter: str | None = None,
        sheet: str | None = None,
    ) -> TableSource:
        """Return the source of a file; by default its suffix gives the format.

        Examples
        --------
        >>> TableSource.of("goods.TSV.gz").format
        'tsv'
        """
        text = os.fspath(name)
        known = sorted(set(FORMATS.values()))
        if format is None and text == STDIN:
            format = "csv"
        if format is None:
            format = FORMATS.get(_suffix(text))
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
        return cls(text, format, encoding, delimiter, sheet)

    @property
    def title(self) -> str:
        """Name for messages."""
        return "standard input" if self.name == STDIN else self.name

    def require(self) -> None:
        """Raise an error if the file does not exist."""
        if self.name == STDIN:
            return
        path = Path(self.name)
        if path.is_dir():
            raise ReadError("this is a folder: expected a table", path=self.name)
        if not path.exists():
            raise ReadError("the file does not exist", path=self.name)

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
    except Exception as error:  # parsers of other libraries raise many kinds of errors
        words = " ".join(str(error).split()) or type(error).__name__
        raise ReadError(f"the table cannot be read ({words[:300]})", path=source.title) from error
