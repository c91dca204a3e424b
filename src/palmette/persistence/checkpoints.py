"""Checkpoints of a fit: archives like those of models, with a fingerprint of the fit.

Nothing is compressed, so that writing is fast, and no file can decompress to more than its size.
Objects of other libraries are an error, when writing and when reading.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, NoReturn

from palmette._files import atomic_write
from palmette.exceptions import PalmetteError, ReadError
from palmette.persistence._archive import CHECKPOINT, Archive, make_manifest, write_members
from palmette.persistence._arrays import ArrayWriter
from palmette.persistence._graph import Codec, Decoder, Encoder
from palmette.persistence._objects import OWN_CODECS
from palmette.persistence._reading import ObjectFile
from palmette.persistence._writing import state_members

__all__ = ["read_checkpoint", "read_fingerprint", "write_checkpoint"]

_MANIFEST = "manifest.json"
_NAME_AT = 30  # position of the name of the first member in a zip file
_MAX_MANIFEST = 2**26  # bytes
_TOGETHER = 2**20  # bytes of an array that is concatenated with others: few members are faster


def write_checkpoint(
    path: str | os.PathLike[str],
    fingerprint: Mapping[str, str],
    state: Mapping[str, Any],
    new: bool = False,
) -> None:
    """Write a checkpoint, completely or not at all.

    Parameters
    ----------
    path : path-like
        An existing file is replaced.
    fingerprint : mapping of str to str
        Identifies the fit that the state belongs to.
    state : mapping of str to object
        Arrays, numbers, texts, objects of Palmette, and lists and dictionaries of them.
    new : bool
        Whether an existing file is a `FileExistsError`.

    Raises
    ------
    PalmetteError
        If the state has an object of another library.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_checkpoint(f"{folder}/a.ckpt", {"data": "7"}, {"losses": [3, 2]})
    ...     read_checkpoint(f"{folder}/a.ckpt")
    ({'data': '7'}, {'losses': [3, 2]})
    """
    encoder = Encoder(_CODECS, _NoForeignParts(), ArrayWriter(_TOGETHER))
    members = state_members(dict(state), encoder)
    manifest = make_manifest(CHECKPOINT, {"fingerprint": dict(fingerprint)}, members)
    with atomic_write(path, "wb", new) as stream:
        write_members(stream, {_MANIFEST: manifest, **members}, compress=False)


def read_fingerprint(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the fingerprint of a checkpoint; its state is neither read nor checked."""
    with _opened(path) as file:
        return _fingerprint_of(file)


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Read a checkpoint, and check its bytes and objects.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    fingerprint : dict of str to str
    state : dict of str to object
        As passed to `write_checkpoint`.

    Raises
    ------
    ReadError
        If the file is not a checkpoint, has a later version, is truncated or was changed.
    """
    with _opened(path) as file:
        fingerprint = _fingerprint_of(file)
        state = file.build(_CODECS, _NoForeignParts())
        if type(state) is not dict:
            raise ValueError("its state is not a dictionary")
    return fingerprint, state


def _fingerprint_of(file: ObjectFile) -> dict[str, str]:
    found = file.manifest.get("fingerprint")
    if not isinstance(found, dict) or not all(type(each) is str for each in found.values()):
        raise ValueError("its manifest has no fingerprint")
    return found


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[ObjectFile]:
    """Open a checkpoint; any exception inside the context becomes a ReadError."""
    with _bytes_of(path) as stream:
        start = stream.read(_NAME_AT + len(_MANIFEST))
        if start[:2] != b"PK" or start[_NAME_AT:] != _MANIFEST.encode():
            raise ReadError(
                f"this is not a checkpoint of Palmette ({_kind_of(start)}). It was not changed: "
                "choose another name for the checkpoint.",
                path=path,
            )
        try:
            archive = Archive(stream)
            if archive.size(_MANIFEST) > _MAX_MANIFEST:
                raise ValueError(f"its manifest has {archive.size(_MANIFEST):,} bytes")
            file = ObjectFile(archive, CHECKPOINT, os.fspath(path))
            if archive.is_compressed:
                raise ValueError("a member is compressed")
            if archive.n_bytes > os.fstat(stream.fileno()).st_size:
                raise ValueError("it lists more bytes than it has")
            yield file
        except Exception as error:  # invalid content may raise anything in zipfile, json or numpy
            if isinstance(error, ReadError) and error.path is not None:
                raise
            reason = str(error)[:300] or type(error).__name__
            raise ReadError(
                f"the checkpoint is truncated or was changed ({reason}). Use another copy of it, "
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
    return "it is another zip file" if start[:2] == b"PK" else f"it begins with {start[:8]!r}"


# ---------------------------------------------------------------------- other libraries


class _NoForeign(Codec):
    """Replaces the codecs of other libraries; their objects are errors."""

    tag, by_type = "foreign", False

    def takes(self, value: Any) -> bool:
        return True

    def write(self, value: Any, encoder: Encoder) -> NoReturn:
        raise PalmetteError(
            f"a checkpoint can only have arrays and objects of Palmette, but {encoder.path} is "
            f"{value!r}. Use a weak learner of palmette.weak, or fit without Checkpoint."
        )

    def read(self, content: Any, decoder: Decoder) -> NoReturn:
        raise ValueError("it has an object of another library")


class _NoForeignParts:
    """Replaces the reader and writer of objects of other libraries."""

    def add(self, value: Any, encoder: Encoder) -> NoReturn:
        raise PalmetteError("a checkpoint has no objects of other libraries")

    def get(self, number: int) -> NoReturn:
        raise ValueError("a checkpoint has no objects of other libraries")


_CODECS: list[Codec] = [*OWN_CODECS, _NoForeign()]
