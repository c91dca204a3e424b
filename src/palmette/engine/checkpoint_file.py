"""Files of checkpoints: a zip of .npy arrays with a JSON header; no code is ever read from them.

The first member, `_HEADER`, names the format, its version, the fingerprint of the fit, and the size
and SHA-256 of all arrays. Nothing is compressed, so that no file unpacks to more than its own size.
``numpy.load`` opens such a file as it does any .npz.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from palmette.core.files import atomic_write
from palmette.exceptions import ReadError

__all__ = ["read_checkpoint", "read_fingerprint", "write_checkpoint"]

Arrays = dict[str, NDArray[Any]]

FORMAT, VERSION = "palmette checkpoint", 1

_HEADER = "palmette-checkpoint.json"
_NAME_AT = 30  # where a zip file has the name of its first member
_MAX_HEADER = 2**26  # bytes; millions of arrays
_PIECE = 2**20  # bytes read at a time
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same state gives the same bytes
_NAME = re.compile(r"[A-Za-z0-9_./-]+")
_NUMBERS = "biufc"

# what zipfile, json and numpy come up with on broken bytes
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
)


# ---------------------------------------------------------------------- writing


def write_checkpoint(
    path: str | os.PathLike[str],
    fingerprint: Mapping[str, str],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write a checkpoint, whole or not at all.

    Parameters
    ----------
    path : path-like
        A file there is replaced.
    fingerprint : mapping of str to str
        What the arrays belong to.
    arrays : mapping of str to arrays
        Numbers of any kind and shape, named by letters, digits and ``_ . / -``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_checkpoint(f"{folder}/a.ckpt", {"data": "7"}, {"sums": np.arange(3)})
    ...     read_checkpoint(f"{folder}/a.ckpt")
    ({'data': '7'}, {'sums': array([0, 1, 2])})
    """
    members = {name: _Member.of(name, array) for name, array in arrays.items()}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": dict(fingerprint),
        "arrays": {name: [each.size, each.sha256] for name, each in members.items()},
    }
    with (
        atomic_write(path, "wb") as stream,
        zipfile.ZipFile(cast(BinaryIO, stream), "w", zipfile.ZIP_STORED) as archive,
    ):
        archive.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), json.dumps(header))
        for name, member in members.items():
            info = zipfile.ZipInfo(_file_name(name), _EPOCH)
            with archive.open(info, "w", force_zip64=member.size >= 2**31) as part:
                part.write(member.head)
                part.write(member.body)


@dataclass(frozen=True)
class _Member:
    """An array as a .npy file, in two parts so that the large one is no copy."""

    head: bytes
    body: Any

    @classmethod
    def of(cls, name: str, array: NDArray[Any]) -> _Member:
        array = np.asarray(array)
        if not _NAME.fullmatch(name):
            raise ValueError(f"array {name!r}: expected a name of letters, digits and _ . / -.")
        if array.dtype.kind not in _NUMBERS:
            raise TypeError(f"array {name!r} holds {array.dtype}: expected numbers.")
        if not array.flags.forc:
            array = array.copy()
        stream = io.BytesIO()
        npy.write_array_header_1_0(stream, npy.header_data_from_array_1_0(array))
        return cls(stream.getvalue(), array.ravel(order="K").view(np.uint8).data)

    @property
    def size(self) -> int:
        return len(self.head) + int(self.body.nbytes)

    @property
    def sha256(self) -> str:
        digest = hashlib.sha256(self.head)
        digest.update(self.body)
        return digest.hexdigest()


def _file_name(name: str) -> str:
    return f"{name}.npy"


# ---------------------------------------------------------------------- reading


def read_fingerprint(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read what a checkpoint belongs to; its arrays are neither read nor checked."""
    with _opened(path) as archive:
        return _read_header(archive, path)[0]


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, str], Arrays]:
    """Read a checkpoint, every byte of it checked.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    fingerprint : dict of str to str
    arrays : dict of str to arrays
        As they were given to `write_checkpoint`.
    """
    with _opened(path) as archive:
        fingerprint, listed = _read_header(archive, path)
        names = [_HEADER, *map(_file_name, listed)]
        if sorted(archive.namelist()) != sorted(names):
            raise ValueError("the arrays are not those that its header lists")
        arrays = {
            name: _read_array(archive.getinfo(_file_name(name)), archive, size, sha256)
            for name, (size, sha256) in listed.items()
        }
    return fingerprint, arrays


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[zipfile.ZipFile]:
    """Open a file that begins as checkpoints do; what fails inside is for its broken bytes."""
    with _bytes_of(path) as stream:
        start = stream.read(_NAME_AT + len(_HEADER))
        if start[_NAME_AT:] != _HEADER.encode():
            raise ReadError(
                f"this is no checkpoint of Palmette ({_kind_of(start)}). It is left as it is; give "
                "the checkpoint another name.",
                path=path,
            )
        try:
            with zipfile.ZipFile(stream) as archive:
                _check_sizes(archive, os.fstat(stream.fileno()).st_size)
                yield archive
        except ReadError:
            raise
        except _BROKEN as error:
            reason = str(error) or type(error).__name__
            raise ReadError(
                f"the checkpoint is cut short or was changed ({reason}). Take a good copy of it, "
                "or delete it to start over.",
                path=path,
            ) from error


def _bytes_of(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise ReadError(f"the checkpoint cannot be opened ({error})", path=path) from error


def _kind_of(start: bytes) -> str:
    if not start:
        return "the file is empty"
    return "it is some other zip file" if start[:2] == b"PK" else f"it begins with {start[:8]!r}"


def _check_sizes(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Refuse sizes that the file cannot hold, before anything is allocated for them."""
    for info in archive.infolist():
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError(f"{info.filename} is compressed")
    if sum(info.file_size for info in archive.infolist()) > n_bytes:
        raise ValueError("it lists more bytes than it has")


def _read_header(
    archive: zipfile.ZipFile, path: str | os.PathLike[str]
) -> tuple[dict[str, str], dict[str, tuple[int, str]]]:
    info = archive.getinfo(_HEADER)
    if info.file_size > _MAX_HEADER:
        raise ValueError(f"its header has {info.file_size:,} bytes")
    header = json.loads(archive.read(info))
    if header["format"] != FORMAT:
        raise ValueError(f"its format is {header['format']!r}, not {FORMAT!r}")
    if header["version"] != VERSION:
        _refuse_version(header["version"], path)
    fingerprint = {str(key): str(value) for key, value in dict(header["fingerprint"]).items()}
    listed = {n: (int(size), str(sha)) for n, (size, sha) in dict(header["arrays"]).items()}
    return fingerprint, listed


def _refuse_version(version: Any, path: str | os.PathLike[str]) -> NoReturn:
    raise ReadError(
        f"the checkpoint has version {version!r} of the format, and this Palmette knows version "
        f"{VERSION} only. Go on with the Palmette that wrote it, or delete it to start over.",
        path=path,
    )


def _read_array(
    info: zipfile.ZipInfo, archive: zipfile.ZipFile, size: int, sha256: str
) -> NDArray[Any]:
    if info.file_size != size:
        raise ValueError(f"{info.filename} has {info.file_size:,} bytes, expected {size:,}")
    content = bytearray(size)
    place, view = 0, memoryview(content)
    with archive.open(info) as part:
        while piece := part.read(_PIECE):
            view[place : place + len(piece)] = piece
            place += len(piece)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{info.filename} is not what was written")
    return _parse(content)


def _parse(content: bytearray) -> NDArray[Any]:
    """Return a .npy file as an array that lives in its bytes."""
    stream = io.BytesIO(memoryview(content)[: 2**16 + 16])
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("an array is of an unknown version of .npy")
    shape, by_columns, dtype = npy.read_array_header_1_0(stream)
    if dtype.kind not in _NUMBERS:
        raise ValueError(f"an array holds {dtype}, expected numbers")
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"an array has another shape than {shape}")
    values = np.frombuffer(memoryview(content)[stream.tell() :], dtype)
    return values.reshape(shape, order="F" if by_columns else "C")
