"""Opening and writing files: packed or plain, bounded in size, whole or not at all."""

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

__all__ = [
    "MAX_UNPACKED",
    "atomic_write",
    "decode_text",
    "is_litter",
    "open_bytes",
    "plain_suffix",
    "read_bytes",
    "require_text",
]

# A packed file of a few kB can unpack to terabytes; nothing that we read comes near this.
MAX_UNPACKED = 2 * 1024**3

_PIECE = 2**20  # bytes read at a time

_PACKED = {".xz", ".gz", ".bz2", ".zip"}
_BROKEN = (lzma.LZMAError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, EOFError)


def plain_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of the file inside its packing, in lower case.

    Examples
    --------
    >>> plain_suffix("go.OBO.xz"), plain_suffix("tree.txt")
    ('.obo', '.txt')
    """
    name = Path(path)
    if name.suffix.lower() in _PACKED:
        name = name.with_suffix("")
    return name.suffix.lower()


def open_bytes(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a plain, .xz, .gz, .bz2 or one-member .zip file for reading bytes."""
    path = Path(path)
    if path.is_dir():
        raise ReadError("this is a folder, a file was expected", path=path)
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
        raise ReadError("there is no such file", path=path) from None
    except _BROKEN as error:
        raise ReadError(f"the packed file is broken ({error})", path=path) from error
    except (OSError, ValueError) as error:  # no right to read it, or no possible name of a file
        raise ReadError(f"the file cannot be opened ({error})", path=path) from error


def _open_zip(path: Path) -> BinaryIO:
    with zipfile.ZipFile(path) as archive:
        members = [m for m in archive.infolist() if not m.is_dir() and not is_litter(m.filename)]
        if len(members) != 1:
            raise ReadError(
                f"the archive holds {len(members)} files, expected one; unpack it, name the file",
                path=path,
            )
        if members[0].file_size > MAX_UNPACKED:
            raise ReadError(_too_large(MAX_UNPACKED), path=path)
        try:
            # The member keeps the archive's own handle alive, so the archive may be closed.
            return cast(BinaryIO, archive.open(members[0]))
        except (RuntimeError, NotImplementedError) as error:  # a password, an unknown packing
            raise ReadError(f"the archive cannot be unpacked ({error})", path=path) from error


def is_litter(name: str) -> bool:
    """Whether a member of an archive is what macOS adds to it (``__MACOSX/``, ``._name``)."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("._")


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_UNPACKED) -> bytes:
    """Read a whole file, unpacked, refusing more than `limit` bytes."""
    content = bytearray()
    with open_bytes(path) as stream:
        try:
            # by pieces: to ask for the limit at once would claim that much memory
            while len(content) <= limit and (piece := stream.read(_PIECE)):
                content += piece
        except (*_BROKEN, OSError) as error:
            raise ReadError(f"the file is broken or cut short ({error})", path=path) from error
    if len(content) > limit:
        raise ReadError(_too_large(limit), path=path)
    return bytes(content)


def decode_text(content: bytes, path: str | os.PathLike[str]) -> str:
    r"""Return the text of a file: UTF-8, with or without a mark, else Latin-1; refuse binary ones.

    Parameters
    ----------
    content : bytes
        The whole file, unpacked.
    path : path-like
        For the error.

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
    """Refuse a file that holds a zero byte: parsers of text would stop at it."""
    place = content.find(b"\0")
    if place >= 0:
        raise ReadError(
            "this is a binary file, text was expected (there is a NUL byte in this line)",
            path=path,
            line=content.count(b"\n", 0, place) + 1,
        )


def _too_large(limit: int) -> str:
    return f"the file unpacks to more than {limit:,} bytes; split it, or raise the limit"


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
    """Write a file whole or not at all: a temporary neighbour takes its place at the end.

    Parameters
    ----------
    path : path-like
        The file to write.
    mode : {"w", "wb"}
        Text (UTF-8) or bytes.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file to write.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no plain file: it cannot be replaced.")  # a device, a pipe
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is not a folder: make it first to write {path}.")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, mode, encoding=None if "b" in mode else "utf-8") as stream:
            # mkstemp gives 0600: a file that replaces another keeps its mode, a new one the user's
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
