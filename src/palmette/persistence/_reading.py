"""Load a model: check the file, then build objects from names in a list and from numbers."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from palmette.exceptions import ReadError
from palmette.persistence._archive import (
    MAX_BYTES,
    MODEL,
    Archive,
    Damaged,
    parse_json,
    read_manifest,
)
from palmette.persistence._arrays import ArrayReader
from palmette.persistence._foreign import (
    ALL_CODECS,
    ForeignReader,
    Untrusted,
    trusted_class,
    untrusted_types,
)
from palmette.persistence._graph import Codec, Decoder, ForeignObjects
from palmette.persistence.names import full_name

__all__ = ["ModelFile", "ObjectFile", "inspect", "load", "opened"]


def load(
    path: str | os.PathLike[str],
    trusted: Collection[str | type] = (),
    *,
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Read what `save` wrote. No code is run that the file brings: it brings none.

    Classes are found by name among those of Palmette and of scikit-learn's estimators; types of
    other libraries that are not known to be harmless are refused unless they are `trusted`. Every
    member must have its checksum, and every object whose arrays are used by compiled code checks
    them. This finds damage, not who wrote the file: a stranger's model may still predict nonsense.

    Parameters
    ----------
    path : path-like
    trusted : collection of str or type
        Types of other libraries, such as ``"lightgbm.sklearn.LGBMClassifier"``, that you know and
        vouch for. The error that refuses them lists what is needed.
    max_bytes : int
        Refuse a file that decompresses to more.

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
    named = frozenset(each if isinstance(each, str) else full_name(each) for each in trusted)
    with opened(path, max_bytes) as file:
        return file.model(named)


class ObjectFile:
    """An archive of an object that is open, its manifest read.

    Parameters
    ----------
    archive : Archive
    format_name : str
        The format that the manifest must name.
    path : str
        For errors.
    """

    def __init__(self, archive: Archive, format_name: str, path: str) -> None:
        self.archive = archive
        self.path = path
        self.manifest = read_manifest(archive.read("manifest.json"), format_name, path)
        self.members: dict[str, list[Any]] = self.manifest["members"]
        self._unread = set(self.members)
        listed, there = {"manifest.json", *self.members}, set(archive.names)
        if listed != there:
            missing, extra = sorted(listed - there), sorted(there - listed)
            what = f"lacks {missing[0]}" if missing else f"has {extra[0]}, which is not listed"
            raise Damaged(f"it {what}")

    def read(self, name: str) -> bytearray:
        """Return the bytes of a member, of the size and checksum that were written."""
        if name not in self.members:
            raise Damaged(f"the member {name} is missing")
        self._unread.discard(name)
        return self.archive.read(name, self.members[name][1])

    def state(self) -> tuple[Any, list[Any]]:
        """Return the root and the table of objects, as JSON."""
        state = parse_json(self.read("state.json"))
        if not isinstance(state, dict) or not isinstance(state.get("objects"), list):
            raise ValueError("the state holds no table of objects")
        return state["root"], state["objects"]

    def build(
        self,
        codecs: Sequence[Codec],
        foreign: ForeignObjects,
        trusted: frozenset[str] = frozenset(),
    ) -> Any:
        """Return the object that was written, all of its parts checked."""
        root, objects = self.state()
        decoder = Decoder(codecs, objects, ArrayReader(self.read), foreign, trusted)
        made = decoder.value(root)
        decoder.check()
        for name in sorted(self._unread):
            self.read(name)  # what the object does not need must be whole as well
        return made


class ModelFile(ObjectFile):
    """A model file that is open, its manifest read."""

    def model(self, trusted: frozenset[str]) -> Any:
        """Return the model that was saved."""
        try:
            return self.build(ALL_CODECS, ForeignReader(self.read, trusted), trusted)
        except Untrusted:
            raise _distrust(self.untrusted(trusted), self.path) from None

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
            archive = Archive(stream)
            _check_size(archive, max_bytes, name)
            yield ModelFile(archive, MODEL, name)
        except Exception as error:  # whatever numpy, scipy or a class says of what is not its own
            if isinstance(error, ReadError) and error.path is not None:
                raise
            raise _damage(name, error) from error


def _check_size(archive: Archive, max_bytes: int, path: str) -> None:
    if archive.n_bytes > max_bytes:
        raise ReadError(
            f"the model decompresses to {archive.n_bytes:,} bytes, and {max_bytes:,} are allowed. "
            f"If you know where it comes from, load it with max_bytes={archive.n_bytes}.",
            path=path,
        )


def _bytes_of(path: str) -> Any:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise ReadError("there is no such file", path=path) from None
    except (OSError, ValueError) as error:
        raise ReadError(f"the file cannot be opened ({error})", path=path) from error


_OF_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError)


def _damage(path: str, error: Exception) -> ReadError:
    """Return the error for what went wrong with a file."""
    if isinstance(error, Damaged):
        return ReadError(
            f"the model file was damaged or changed: {error}. Take a good copy of it, or save the "
            "model again.",
            path=path,
        )
    if isinstance(error, MemoryError):
        what = "it needs more memory than there is"
    elif isinstance(error, RecursionError):
        what = "it is nested too deeply"
    elif isinstance(error, ImportError):
        return ReadError(f"the model needs a library that is not there ({error}).", path=path)
    elif isinstance(error, _OF_ZIP):
        what = f"it is cut short or was changed ({error})"
    else:
        what = str(error).rstrip(".") or type(error).__name__
    return ReadError(
        f"the model file cannot be read: {what[:300]}. Take a good copy of it, or save the model "
        "again.",
        path=path,
    )


# ---------------------------------------------------------------------- what a file holds


def inspect(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Tell what a model file holds, without making any object of it.

    Parameters
    ----------
    path : path-like
    max_bytes : int
        Refuse a file that decompresses to more.

    Returns
    -------
    dict
        ``kind`` (stable name of the object's class), ``version`` of the format, ``libraries``
        (their versions), ``summary`` (of the training, or None), ``types`` (how many objects of
        each class), ``members`` (bytes of each, decompressed) and ``untrusted`` (types of other
        libraries that `load` will ask to be trusted).

    Examples
    --------
    >>> import tempfile, palmette
    >>> from palmette.persistence import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(palmette.Hierarchy.star("ab"), f"{folder}/tree.palmette")
    ...     facts = inspect(f"{folder}/tree.palmette")
    >>> facts["kind"], facts["types"], sorted(facts["members"])
    ('hierarchy.Hierarchy',
     {'hierarchy.Hierarchy': 1},
     ['arrays/i4.npy', 'hierarchy.json', 'state.json'])
    """
    with opened(path, max_bytes) as file:
        _, objects = file.state()
        return {
            "kind": file.manifest.get("kind"),
            "version": file.manifest["version"],
            "libraries": file.manifest.get("libraries"),
            "summary": file.manifest.get("summary"),
            "types": _types_of(objects),
            "members": {name: file.archive.size(name) for name in sorted(file.members)},
            "untrusted": file.untrusted(),
        }


def _types_of(objects: list[Any]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for each in objects:
        [(tag, content)] = each.items()
        if tag == "hierarchy":
            found["hierarchy.Hierarchy"] += 1
        elif tag in ("derived", "holder", "object"):
            found[str(content["class"])] += 1
        elif tag == "foreign":
            found["another library"] += 1
    return dict(sorted(found.items()))
