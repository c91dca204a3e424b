"""Load a model: check the file, then build objects from names in a list and from numbers."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from palmette.exceptions import ReadError
from palmette.persistence.archive import MAX_BYTES, Archive
from palmette.persistence.array_checks import check_arrays
from palmette.persistence.array_store import ArrayReader
from palmette.persistence.codecs import ALL_CODECS
from palmette.persistence.foreign import ForeignReader, untrusted_types
from palmette.persistence.graph import Decoder
from palmette.persistence.manifest import parse_json, read_manifest
from palmette.persistence.names import name_of
from palmette.persistence.trust import Untrusted, trusted_class

__all__ = ["ModelFile", "load", "opened"]


def load(
    path: str | os.PathLike[str],
    trusted: Collection[str | type] = (),
    *,
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Read what `save` wrote. No code is run that the file brings: it brings none.

    Classes are found by name among those of Palmette and of scikit-learn's estimators; types of
    other libraries that are not known to be harmless are refused unless they are `trusted`. Every
    member must have its checksum, and arrays that kernels walk must lead nowhere outside. That
    tells of damage, not of who wrote the file: a stranger's model may still predict nonsense.

    Parameters
    ----------
    path : path-like
    trusted : collection of str or type
        Types of other libraries, such as ``"lightgbm.sklearn.LGBMClassifier"``, that you know and
        vouch for. The error that refuses them lists what is needed.
    max_bytes : int
        Refuse a file that unpacks to more.

    Returns
    -------
    object
        Equal to the one that was saved: it predicts the same, bit by bit.

    Raises
    ------
    ReadError
        Where the file is damaged, of a later version, too large, or holds types that are not
        trusted.

    Examples
    --------
    >>> import tempfile, palmette
    >>> from palmette.persistence import save
    >>> X, y = [[0, 1], [0, 9], [9, 0]], [("a", "x"), ("a", "y"), ("b", "z")]
    >>> clf = palmette.ClassTreeClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(clf, f"{folder}/model.palmette")
    ...     again = load(f"{folder}/model.palmette")
    >>> again.predict([[0, 8], [7, 0]])
    [('a', 'y'), ('b', 'z')]
    """
    if isinstance(trusted, str | type):
        trusted = [trusted]
    named = frozenset(each if isinstance(each, str) else name_of(each) for each in trusted)
    with opened(path, max_bytes) as file:
        return file.build(named)


class ModelFile:
    """A model file that is open, its manifest read.

    Parameters
    ----------
    archive : Archive
    """

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.manifest = read_manifest(archive.read("manifest.json"), archive.path)
        self.members: dict[str, list[Any]] = self.manifest["members"]
        self._unread = set(self.members)
        listed, there = {"manifest.json", *self.members}, set(archive.names)
        if listed != there:
            missing, extra = sorted(listed - there), sorted(there - listed)
            what = f"lacks {missing[0]}" if missing else f"has {extra[0]}, which nobody listed"
            raise archive.error(f"it {what}")

    def read(self, name: str) -> bytearray:
        """Return the bytes of a member, of the size and checksum that were written."""
        if name not in self.members:
            raise self.archive.error(f"the member {name} is missing")
        self._unread.discard(name)
        return self.archive.read(name, self.members[name][1])

    def state(self) -> tuple[Any, list[Any]]:
        """Return the root and the table of objects, as JSON."""
        state = parse_json(self.read("state.json"))
        if not isinstance(state, dict) or not isinstance(state.get("objects"), list):
            raise ValueError("the state holds no table of objects")
        return state["root"], state["objects"]

    def build(self, trusted: frozenset[str]) -> Any:
        """Return the object that was saved."""
        root, objects = self.state()
        foreign = ForeignReader(self.read, trusted)
        decoder = Decoder(ALL_CODECS, objects, ArrayReader(self.read), foreign, trusted)
        try:
            made = decoder.value(root)
        except Untrusted:
            raise _distrust(self.untrusted(trusted), self.archive.path) from None
        check_arrays(decoder.made)
        for name in sorted(self._unread):
            self.read(name)  # what the object does not need must be whole as well
        return made

    def untrusted(self, trusted: frozenset[str] = frozenset()) -> list[str]:
        """Return the names of foreign types that are neither reviewed nor trusted."""
        found: set[str] = set()
        for name in self.members:
            if name.startswith("foreign/"):
                found.update(untrusted_types(bytes(self.read(name)), trusted))
        for each in self.state()[1]:
            try:
                if "holder" in each:
                    trusted_class(each["holder"]["class"], trusted)
            except Untrusted as error:
                found.add(str(error))
        return sorted(found)


def _distrust(names: list[str], path: str) -> ReadError:
    shown = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
    return ReadError(
        f"the model holds types that Palmette does not know to be harmless: {shown}. If you know "
        f"who wrote the file and trust these types, load it with trusted={names[:20]!r}.",
        path=path,
    )


@contextmanager
def opened(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Iterator[ModelFile]:
    """Open a model file; whatever fails inside is an error about the file."""
    name = os.fspath(path)
    with _bytes_of(name) as stream:
        start = stream.read(4)
        stream.seek(0)
        if start[:2] != b"PK":
            begins = f"it begins with {start!r}" if start else "it is empty"
            raise ReadError(
                f"this is no model file of Palmette: {begins}, and a zip archive was expected.",
                path=name,
            )
        try:
            yield ModelFile(Archive(stream, name, max_bytes))
        except Exception as error:  # whatever numpy, scipy or a class says of what is not its own
            if isinstance(error, ReadError) and error.path is not None:
                raise
            raise _damage(name, error) from error


def _bytes_of(path: str) -> Any:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise ReadError("there is no such file", path=path) from None
    except (OSError, ValueError) as error:
        raise ReadError(f"the file cannot be opened ({error})", path=path) from error


_PACKING = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError)


def _damage(path: str, error: Exception) -> ReadError:
    """Return the error for what went wrong with a file."""
    if isinstance(error, MemoryError):
        what = "it needs more memory than there is"
    elif isinstance(error, RecursionError):
        what = "it is nested too deeply"
    elif isinstance(error, ImportError):
        return ReadError(f"the model needs a library that is not there ({error}).", path=path)
    elif isinstance(error, _PACKING):
        what = f"it is cut short or was changed ({error})"
    else:
        what = str(error).rstrip(".") or type(error).__name__
    return ReadError(
        f"the model file cannot be read: {what[:300]}. Take a good copy of it, or save the model "
        "again.",
        path=path,
    )
