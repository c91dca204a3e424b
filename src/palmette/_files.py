"""Read plain and compressed files of bounded size, and write files atomically."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast, overload

from palmette.exceptions import ReadError

# A compressed file of a few kB can expand to terabytes; no valid input comes near this limit.
MAX_UNPACKED = 2 * 1024**3

_PIECE = 2**20  # bytes read at a time

_COMPRESSED = {".xz", ".gz", ".bz2", ".zip"}
_BROKEN = (lzma.LZMAError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, EOFError)


def plain_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file without that of its compression, in lower case.

    Examples
    --------
    >>> plain_suffix("go.OBO.xz"), plain_suffix("tree.txt")
    ('.obo', '.txt')
    """
    name = Path(path)
    if name.suffix.lower() in _COMPRESSED:
        name = name.with_suffix("")
    return name.suffix.lower()


def open_bytes(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a plain, .xz, .gz, .bz2 or one-member .zip file for reading bytes."""
    path = Path(path)
    if path.is_dir():
        raise ReadError("this is a directory: expected a file", path=path)
    suffix = path.suffix.lower()
    try:
        if suffix == ".xz":
            return cast(BinaryIO, lzma.open(path, "rb"))
        if suffix == ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        if suffix == ".bz2":
            return cast(BinaryIO, bz2.open(path, "rb"))
        if suffix == ".zip":
            return _open_zip(path)
        return open(path, "rb")
    except ReadError:
        raise
    except FileNotFoundError:
        raise ReadError("the file does not exist", path=path) from None
    except _BROKEN as error:
        raise ReadError(f"the compressed file is corrupt ({error})", path=path) from error
    except (OSError, ValueError) as error:  # no permission, or an invalid file name
        raise ReadError(f"the file cannot be opened ({error})", path=path) from error


def _open_zip(path: Path) -> BinaryIO:
    with zipfile.ZipFile(path) as archive:
        members = [m for m in archive.infolist() if not m.is_dir() and not is_litter(m.filename)]
        if len(members) != 1:
            raise ReadError(
                f"the archive contains {len(members)} files: expected one. Extract it and give the "
                "path of a file",
                path=path,
            )
        if members[0].file_size > MAX_UNPACKED:
            raise ReadError(_too_large(MAX_UNPACKED), path=path)
        try:
            # the member keeps the file handle open, so the archive may be closed
            return cast(BinaryIO, archive.open(members[0]))
        except (RuntimeError, NotImplementedError) as error:  # a password, an unknown compression
            raise ReadError(f"the archive cannot be extracted ({error})", path=path) from error


def is_litter(name: str) -> bool:
    """Whether a member of an archive was added by macOS (``__MACOSX/``, ``._name``)."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("._")


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_UNPACKED) -> bytes:
    """Read and decompress a whole file; more than `limit` bytes are an error."""
    content = bytearray()
    with open_bytes(path) as stream:
        try:
            # in pieces: reading `limit` bytes at once would allocate that much memory
            while len(content) <= limit and (piece := stream.read(_PIECE)):
                content += piece
        except (*_BROKEN, OSError) as error:
            raise ReadError(f"the file is corrupt or truncated ({error})", path=path) from error
    if len(content) > limit:
        raise ReadError(_too_large(limit), path=path)
    return bytes(content)


def decode_text(content: bytes, path: str | os.PathLike[str]) -> str:
    r"""Decode a file as UTF-8, with or without a BOM, else as Latin-1; a binary file is an error.

    Parameters
    ----------
    content : bytes
        The whole file, decompressed.
    path : path-like
        Named in the error.

    Examples
    --------
    >>> decode_text(b"\xef\xbb\xbfcaf\xc3\xa9", "a.txt") == decode_text(b"caf\xe9", "a.txt")
    True
    """
    require_text(content, path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.removeprefix(codecs.BOM_UTF8).decode("latin-1")


def require_text(content: bytes, path: str | os.PathLike[str]) -> None:
    """Raise an error if a file contains a NUL byte, at which text parsers would stop."""
    place = content.find(b"\0")
    if place >= 0:
        raise ReadError(
            "this is a binary file: expected text (this line contains a NUL byte)",
            path=path,
            line=content.count(b"\n", 0, place) + 1,
        )


def _too_large(limit: int) -> str:
    return f"the file has more than {limit:,} bytes when decompressed. Split it"


@overload
def atomic_write(
    path: str | os.PathLike[str], mode: Literal["w"] = "w"
) -> AbstractContextManager[IO[str]]: ...


@overload
def atomic_write(
    path: str | os.PathLike[str], mode: Literal["wb"]
) -> AbstractContextManager[IO[bytes]]: ...


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """Write a file completely or not at all: a temporary file replaces it at the end.

    Parameters
    ----------
    path : path-like
        The file to write.
    mode : {"w", "wb"}
        Text (UTF-8) or bytes.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory: expected the path of a file to write.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is a device or pipe: expected a regular file, to replace it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is not a directory. Create it to write {path}.")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, mode, encoding=None if "b" in mode else "utf-8") as stream:
            # mkstemp sets mode 0600: keep the mode of a replaced file, and the umask for a new one
            os.chmod(temporary, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
