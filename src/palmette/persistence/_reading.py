"""Load a model: check the file, then create objects of known classes from its JSON and arrays."""

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
    trusted_class,
    untrusted_types,
)
from palmette.persistence._graph import Codec, Decoder, ForeignObjects, count_values
from palmette.persistence._parts import Untrusted
from palmette.persistence.names import full_name

_STATE = "state.json"
_MAX_SHORT = 2**16  # bytes of an item of an array in any file


def load(
    path: str | os.PathLike[str],
    trusted: Collection[str | type] = (),
    *,
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Load an object that `save` wrote. The file contains no code, and none of it is executed.

    Classes are looked up by name among those of Palmette and the estimators of scikit-learn. Types
    of other libraries that are not known to be safe are an error unless they are `trusted`. The
    checksum of every member is verified, and every object whose arrays are used by compiled code
    checks them. This detects damage, not the author: an untrusted model may predict anything.

    Parameters
    ----------
    path : path-like
    trusted : collection of str or type
        Types of other libraries, such as ``"lightgbm.sklearn.LGBMClassifier"``, that you trust.
        The error message lists those that are needed.
    max_bytes : int
        A file that decompresses to more is an error, or whose JSON may take a quarter of it in
        memory.

    Returns
    -------
    object
        Equal to the one that was saved, with bit-equal predictions.

    Raises
    ------
    ReadError
        If the file is damaged, of a later version, too large, or has types that are not trusted.

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
    """An open archive of an object, with its manifest.

    Parameters
    ----------
    archive : Archive
    format_name : str
        The expected format.
    path : str
        For errors.
    max_bytes : int
        See `parse_json`.
    """

    def __init__(
        self, archive: Archive, format_name: str, path: str, max_bytes: int = MAX_BYTES
    ) -> None:
        self.archive = archive
        self.path = path
        self.max_bytes = max_bytes
        self.manifest = read_manifest(archive.read("manifest.json"), format_name, path, max_bytes)
        self.members: dict[str, list[Any]] = self.manifest["members"]
        self._unread = set(self.members)
        self._n_values = 0  # in the JSON of the state
        listed, there = {"manifest.json", *self.members}, set(archive.names)
        if listed != there:
            missing, extra = sorted(listed - there), sorted(there - listed)
            what = f"lacks {missing[0]}" if missing else f"has {extra[0]}, which is not listed"
            raise Damaged(f"it {what}")

    def read(self, name: str) -> bytearray:
        """Return the bytes of a member, after a check of its size and checksum."""
        if name not in self.members:
            raise Damaged(f"the member {name} is missing")
        self._unread.discard(name)
        return self.archive.read(name, self.members[name][1])

    def state(self) -> tuple[Any, list[Any]]:
        """Return the root and the table of objects, as JSON."""
        content = self.read(_STATE)
        state = parse_json(content, self.max_bytes)
        self._n_values = count_values(content)
        if not isinstance(state, dict) or not isinstance(state.get("objects"), list):
            raise ValueError("the state has no table of objects")
        return state["root"], state["objects"]

    def build(
        self,
        codecs: Sequence[Codec],
        foreign: ForeignObjects,
        trusted: frozenset[str] = frozenset(),
    ) -> Any:
        """Return the object, after a check of all of its parts."""
        root, objects = self.state()
        decoder = Decoder(
            codecs,
            objects,
            ArrayReader(self.read),
            foreign,
            trusted,
            self._n_values,
            # a label that is as long as its type is in the file
            max(_MAX_SHORT, 4 * self.archive.size(_STATE)),
        )
        made = decoder.value(root)
        decoder.check()
        for name in sorted(self._unread):
            self.read(name)  # members that the object does not use must be undamaged too
        return made


class ModelFile(ObjectFile):
    """An open model file, with its manifest."""

    def model(self, trusted: frozenset[str]) -> Any:
        """Return the saved model."""
        try:
            foreign = ForeignReader(self.read, trusted, self.max_bytes)
            return self.build(ALL_CODECS, foreign, trusted)
        except Untrusted as error:
            names = self.untrusted(trusted) or [str(error)]
            raise _untrusted_error(names, self.path) from None

    def untrusted(self, trusted: frozenset[str] = frozenset()) -> list[str]:
        """Return the names of types of other libraries that are neither reviewed nor trusted."""
        found: set[str] = set()
        for name in self.members:
            if name.startswith("foreign/"):
                found.update(untrusted_types(bytes(self.read(name)), trusted, self.max_bytes))
        for each in self.state()[1]:
            try:
                if "holder" in each:
                    trusted_class(each["holder"]["class"], trusted)
            except Untrusted as error:
                found.add(str(error))
        return sorted(found)


def _untrusted_error(names: list[str], path: str) -> ReadError:
    shown = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
    return ReadError(
        f"the model has types that are not known to be safe: {shown}. If you trust the author of "
        f"the file and these types, load it with trusted={names[:20]!r}.",
        path=path,
    )


@contextmanager
def opened(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Iterator[ModelFile]:
    """Open a model file; any exception inside the context becomes a ReadError."""
    name = os.fspath(path)
    with _bytes_of(name) as stream:
        start = stream.read(4)
        stream.seek(0)
        if start[:2] != b"PK":
            begins = f"it begins with {start!r}" if start else "it is empty"
            raise ReadError(
                f"this is not a model file of Palmette: {begins}, expected a zip archive.",
                path=name,
            )
        try:
            archive = Archive(stream)
            _check_size(archive, max_bytes, name)
            yield ModelFile(archive, MODEL, name, max_bytes)
        except Exception as error:  # invalid content may raise anything in numpy, scipy or a class
            if isinstance(error, ReadError) and error.path is not None:
                raise
            raise _damage(name, error) from error


def _check_size(archive: Archive, max_bytes: int, path: str) -> None:
    if archive.n_bytes > max_bytes:
        raise ReadError(
            f"the model decompresses to {archive.n_bytes:,} bytes: expected at most {max_bytes:,}. "
            f"If you trust its author, load it with max_bytes={archive.n_bytes}.",
            path=path,
        )


def _bytes_of(path: str) -> Any:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise ReadError("the file does not exist", path=path) from None
    except (OSError, ValueError) as error:
        raise ReadError(f"the file cannot be opened ({error})", path=path) from error


_OF_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError)


def _damage(path: str, error: Exception) -> ReadError:
    """Return the ReadError of an exception."""
    if isinstance(error, Damaged):
        return ReadError(
            f"the model file was damaged or changed: {error}. Use another copy of it, or save the "
            "model again.",
            path=path,
        )
    if isinstance(error, MemoryError):
        what = "it needs more memory than available"
    elif isinstance(error, RecursionError):
        what = "it is nested too deeply"
    elif isinstance(error, ImportError):
        return ReadError(f"the model needs a library that is not installed ({error}).", path=path)
    elif isinstance(error, _OF_ZIP):
        what = f"it is truncated or was changed ({error})"
    else:
        what = str(error).rstrip(".") or type(error).__name__
    return ReadError(
        f"the model file cannot be read: {what[:300]}. Use another copy of it, or save the model "
        "again.",
        path=path,
    )


# ---------------------------------------------------------------------- inspection


def inspect(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return the content of a model file without loading it.

    Parameters
    ----------
    path : path-like
    max_bytes : int
        A file that decompresses to more is an error, or whose JSON may take a quarter of it in
        memory.

    Returns
    -------
    dict
        ``kind`` (stable name of the class of the object), ``version`` of the format, ``libraries``
        (their versions), ``summary`` (of the training, or None), ``types`` (number of objects of
        each class), ``members`` (size of each when decompressed) and ``untrusted`` (types of other
        libraries that `load` needs in `trusted`).

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
