"""Read plain and compressed files of bounded size, and write files atomically."""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import lzma
import os
import platform
import re
import secrets
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast, overload

from palmette.exceptions import ReadError

# A compressed file of a few kB can expand to terabytes; no valid input comes near this limit.
MAX_UNPACKED = 2 * 1024**3

_PIECE = 2**20  # bytes read at a time

_COMPRESSED = {".xz", ".gz", ".bz2", ".zip"}
# First bytes of compressed files; those of ZIP are also those of many documents.
_STARTS = {b"\xfd7zXZ\x00": ".xz", b"\x1f\x8b\x08": ".gz", b"BZh": ".bz2"}
_BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
# Names of temporary files: computer and process. Whoever writes one holds a lock on it.
_OURS = f".palmette-{re.sub(r'[^A-Za-z0-9]', '_', platform.node())[:40]}-"
_POSIX = os.name == "posix"
_MAX_LINKS = 40  # as on Linux
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
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
    """Open a plain, .xz, .gz, .bz2 or one-member .zip file for reading bytes.

    Files without such a suffix are decompressed if their first bytes are those of xz, gzip or
    bzip2.
    """
    path = Path(path)
    if path.is_dir():
        raise ReadError("this is a directory: expected a file", path=path)
    suffix = path.suffix.lower()
    try:
        if suffix not in _COMPRESSED:
            suffix = _compression(path)
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


def _compression(path: Path) -> str:
    """Return the suffix that the first bytes of a file stand for, "" if it is not compressed."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe can be read once only
        return ""
    with open(path, "rb") as stream:
        start = stream.read(10)
    found = next((suffix for first, suffix in _STARTS.items() if start.startswith(first)), "")
    return found if found != ".bz2" or _BZIP2.match(start) else ""


def _open_zip(path: Path) -> BinaryIO:
    try:
        archive = zipfile.ZipFile(path)
    except NotImplementedError as error:  # a later version of the format
        raise ReadError(f"the archive cannot be extracted ({error})", path=path) from error
    with archive:
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
    path: str | os.PathLike[str], mode: Literal["w"] = "w", new: bool = ...
) -> AbstractContextManager[IO[str]]: ...


@overload
def atomic_write(
    path: str | os.PathLike[str], mode: Literal["wb"], new: bool = ...
) -> AbstractContextManager[IO[bytes]]: ...


@contextmanager
def atomic_write(
    path: str | os.PathLike[str], mode: Literal["w", "wb"] = "w", new: bool = False
) -> Iterator[IO[Any]]:
    """Write a file completely or not at all: a temporary file replaces it at the end.

    A replaced file keeps its mode, a new one gets that of the umask. A symbolic link stays one: the
    file that it names is written. Temporary files of killed processes are removed first.

    Parameters
    ----------
    path : path-like
        The file to write.
    mode : {"w", "wb"}
        Text (UTF-8) or bytes.
    new : bool
        Whether a file that was created in the meantime is a `FileExistsError`.
    """
    target = write_target(path)
    kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    _sweep(target.parent)
    temporary = target
    try:
        while True:
            temporary = target.with_name(f"{_OURS}{os.getpid()}-{secrets.token_hex(8)}.tmp")
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            # the kernel applies the umask; the owner may write until the end
            handle = os.open(temporary, flags, 0o666 if kept is None else kept & 0o666 | 0o600)
            with suppress(OSError):  # file systems without locks: nothing is swept there
                _lock(handle)
            if temporary.exists():
                break
            os.close(handle)  # swept by another process before it was locked
        # the same line ends on all systems
        text: Any = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
        with os.fdopen(handle, mode, **text) as stream:
            yield stream
            stream.flush()
            if kept is not None:
                os.chmod(temporary, kept)
            os.fsync(stream.fileno())
            if _POSIX:  # while the lock is held, so that nobody sweeps it
                _rename(temporary, target, new)
        if not _POSIX:  # Windows does not rename open files
            _rename(temporary, target, new)
    except BaseException as error:
        if temporary != target:
            with suppress(OSError):
                temporary.unlink()
        if isinstance(error, OSError) and error.errno in FULL:
            raise full_disk(error, path) from error
        raise


def _rename(temporary: Path, target: Path, new: bool) -> None:
    if new:
        try:
            os.link(temporary, target)  # atomic, and never replaces a file
            return temporary.unlink()
        except FileExistsError:
            raise
        except OSError:
            pass  # the file system has no links
    os.replace(temporary, target)


def full_disk(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """Return the error of a full disk (its number is in `FULL`) with the file that was written."""
    words = f"{error.strerror}. What was written before is unchanged"
    return OSError(error.errno, words, os.fspath(path))


def write_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path to write names at the end of its symbolic links.

    Raises
    ------
    OSError
        If no regular file can be written there; the message says why.
    """
    start, place = f"cannot write {path}:", Path(path)
    for _ in range(_MAX_LINKS):
        named = place.parent
        folder = Path(os.path.realpath(named))
        place = folder / place.name
        if folder.parts[:2] == ("/", "proc"):  # /dev/stdout: its file may be one to append to
            raise OSError(f"{start} it is an open stream of a process. Pass the name of a file.")
        if not place.is_symlink():
            break
        place = folder / os.readlink(place)
    else:
        raise OSError(f"{start} its symbolic links lead back to themselves.")
    if place.is_dir():
        raise IsADirectoryError(f"{start} it is a folder. Pass the name of a file.")
    if not folder.is_dir():
        raise FileNotFoundError(f"{start} there is no folder {named}. Create it first.")
    if place.exists() and not place.is_file():
        raise OSError(f"{start} it is a device or pipe: expected a regular file, to replace it.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{start} you have no permission to write in {named}.")
    return place


def _sweep(folder: Path) -> None:
    """Remove the temporary files of this user whose processes, on this computer, are gone."""
    names = []
    with suppress(OSError):  # it cannot be listed
        names = os.listdir(folder)
    for path in (folder / name for name in names if name.startswith(_OURS)):
        if _POSIX and path.is_file() and not path.is_symlink():
            with suppress(OSError):  # its process still holds the lock
                handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    if os.fstat(handle).st_uid == os.geteuid():
                        _lock(handle, wait=False)
                        path.unlink()
                finally:
                    os.close(handle)


def _lock(handle: int, wait: bool = True) -> None:
    """Lock a file until it is closed, also by the end of the process; not on Windows."""
    if _POSIX:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
