"""Graphs of objects to JSON and back, by a codec for each kind of object.

A plain value is written as itself, anything else as ``{tag: content}``, where the tag names the
`Codec`. Mutable objects, which may be shared, are entries of a table, with ``{"ref": number}``
wherever they are used: this keeps their identity.

What is shared is walked through as often as it is used: its parts are hashed, compared, copied,
shown, and asked to predict once for each path to them. A small file could name a path without end,
or 2 to the power of its length, so no object contains itself, and the `Decoder` counts the parts of
an object again wherever it is used: their number is limited.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from palmette.exceptions import PalmetteError
from palmette.persistence._arrays import ArrayReader, ArrayWriter
from palmette.persistence.checks import check_object, is_stated

_PLAIN = (type(None), bool, int, str)
_AS_IS = frozenset({*_PLAIN, float})
_MAX_DEPTH = 50  # of nested values: more than any model has, and as much as numpy can print
# Values that are counted again because objects are used more than once: per value of the file, in
# a file of few values, and in any. Models of all estimators have 0 to 3 per value.
_AGAIN, _AGAIN_OF_FEW, _MAX_AGAIN = 64, 2**15, 2**24


class Codec:
    """Writes and reads one kind of object.

    Attributes
    ----------
    tag : str
        Name of the codec in files, which must never change.
    shared : bool
        Whether objects keep their identity: each is written once, however often it is used.
    by_type : bool
        Whether `takes` depends only on the type and, for arrays, on their dtype.
    opaque : bool
        Whether nobody walks through the parts of objects once they are made.
    """

    tag: ClassVar[str]
    shared: ClassVar[bool] = False
    by_type: ClassVar[bool] = True
    opaque: ClassVar[bool] = False

    def takes(self, value: Any) -> bool:
        """Return whether this is the codec of an object."""
        raise NotImplementedError

    def write(self, value: Any, encoder: Encoder) -> Any:
        """Return the content for JSON."""
        raise NotImplementedError

    def read(self, content: Any, decoder: Decoder) -> Any:
        """Return the object, perhaps without its parts."""
        raise NotImplementedError

    def fill(self, made: Any, content: Any, decoder: Decoder) -> None:
        """Set the parts of an object that `read` returned without them."""

    def check_of(self, made: Any, decoder: Decoder) -> Callable[[], None] | None:
        """Return the check of an object that is made once all objects are read, if any."""
        kind: Any = type(made)
        return partial(check_object, made) if is_stated(kind) else None


class ForeignParts(Protocol):
    """Writer of objects of other libraries."""

    def add(self, value: Any, encoder: Encoder) -> int:
        """Add an object, and return its number."""


class ForeignObjects(Protocol):
    """Reader of objects of other libraries."""

    def get(self, number: int) -> tuple[Any, int]:
        """Return an object by its number, and how many parts it has."""


class Encoder:
    """Encode objects as JSON, arrays and objects of other libraries.

    Parameters
    ----------
    codecs : sequence of Codec
        The first one that takes an object writes it.
    foreign : ForeignParts
    arrays : ArrayWriter, optional
        Collects the arrays.
    """

    def __init__(
        self,
        codecs: Sequence[Codec],
        foreign: ForeignParts,
        arrays: ArrayWriter | None = None,
    ) -> None:
        self.arrays = arrays or ArrayWriter()
        self.foreign = foreign
        self.objects: list[Any] = []
        self._codecs = codecs
        self._known: dict[tuple[type, Any], Codec] = {}
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # references, so that no other object gets the same id
        self._unfinished: set[int] = set()
        self._steps: list[str | int] = []
        self._reach = 0  # number of steps to the deepest object so far
        self._heights: dict[int, int] = {}  # by id: steps to the deepest object inside

    def value(self, value: Any) -> Any:
        """Return an object as JSON."""
        kind = type(value)
        if kind in _PLAIN or (kind is float and math.isfinite(value)):
            return value
        if id(value) in self._numbers:
            if id(value) in self._unfinished:
                raise self.refusal(value, "it contains itself. Set one of its parts to None.")
            self._reach_to(value, len(self._steps) + self._heights[id(value)])
            return {"ref": self._numbers[id(value)]}
        codec = self._codec_of(value)
        if not codec.shared:
            return {codec.tag: codec.write(value, self)}
        number = self._numbers[id(value)] = len(self.objects)
        self._kept.append(value)
        self._unfinished.add(id(value))
        self.objects.append(None)
        outer, self._reach = self._reach, len(self._steps)
        self.objects[number] = {codec.tag: codec.write(value, self)}
        self._heights[id(value)] = self._reach - len(self._steps)
        self._reach = max(self._reach, outer)
        self._unfinished.remove(id(value))
        return {"ref": number}

    def values(self, values: Iterable[Any]) -> list[Any]:
        """Return a list of objects as JSON."""
        return [self.inside(i, value) for i, value in enumerate(values)]

    def inside(self, step: str | int, value: Any) -> Any:
        """Return a part of the current object as JSON; a step is an attribute or an index."""
        self._steps.append(step)  # not removed after an error, which uses `path`
        self._reach_to(value, len(self._steps))
        written = self.value(value)
        self._steps.pop()
        return written

    def _reach_to(self, value: Any, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise self.refusal(value, f"it is more than {_MAX_DEPTH} levels deep. Nest it less.")
        self._reach = max(self._reach, depth)

    @property
    def path(self) -> str:
        """Path of the current object, such as ``estimators_[3].tree``."""
        steps = [f"[{s}]" if isinstance(s, int) else s for s in self._steps]
        return "".join(steps).removeprefix(".")

    def refusal(self, value: Any, why: str, path: str | None = None) -> PalmetteError:
        """Return the error for an object that cannot be saved, which names its path."""
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        path = self.path if path is None else path
        where = f"{path} is" if path else "this is"
        return PalmetteError(
            f"{where} an object of type {kind}, which cannot be saved in a model file: {why}"
        )

    def _codec_of(self, value: Any) -> Codec:
        key = (type(value), value.dtype if type(value) is np.ndarray else None)
        if key in self._known:
            return self._known[key]
        for codec in self._codecs:
            if codec.takes(value):
                if codec.by_type:
                    self._known[key] = codec
                return codec
        raise self.refusal(value, "its class has no stable name. Set it to None, or remove it.")


class Decoder:
    """Decode JSON to objects.

    Parameters
    ----------
    codecs : sequence of Codec
    objects : list
        The table of shared objects.
    arrays : ArrayReader
    foreign : ForeignObjects
    trusted : collection of str
        Names of classes that the caller trusts.
    n_values : int
        Number of values in the JSON, or more.
    max_item : int
        Maximum number of bytes of an item of an array, such as a label.
    """

    def __init__(
        self,
        codecs: Sequence[Codec],
        objects: list[Any],
        arrays: ArrayReader,
        foreign: ForeignObjects,
        trusted: frozenset[str] = frozenset(),
        n_values: int = 0,
        max_item: int = 2**16,
    ) -> None:
        self.arrays = arrays
        self.foreign = foreign
        self.trusted = trusted
        self.max_item = max_item
        self._codecs = {codec.tag: codec for codec in codecs}
        self._objects = objects
        self._made: dict[int, Any] = {}
        self._checks: list[tuple[Any, Callable[[], None]]] = []  # of parts before their owners
        self._depth = 0
        self._reach = 0  # the largest depth so far
        self._heights: dict[int, int] = {}  # by object: from it to the deepest one inside
        self._size = 0  # number of values so far, each as often as it is used
        self._max_size = max_size(n_values)
        self._sizes: dict[int, int] = {}  # by object
        self._unfinished: set[int] = set()  # objects around this place

    def value(self, written: Any) -> Any:
        """Return the object of a JSON value."""
        self._size += 1
        return written if isinstance(written, (*_PLAIN, float)) else self._tagged(written)

    def values(self, written: list[Any]) -> list[Any]:
        """Return the objects of a JSON list."""
        if not isinstance(written, list):
            raise ValueError(f"expected a list, got {str(written)[:60]}")
        self._size += len(written)
        return [each if type(each) in _AS_IS else self._tagged(each) for each in written]

    def count(self, n_values: int) -> None:
        """Count the values of an object that is used again."""
        self._size += n_values
        if self._size > self._max_size:
            raise ValueError(
                f"its objects have more than {self._max_size:,} values inside, each counted as "
                "often as it is used"
            )

    def check(self) -> None:
        """Check every object, parts before their owners: see `checks.check_object`.

        Raises
        ------
        ValueError
            If the arrays of an object are inconsistent or have indices out of bounds.
        """
        for made, check in self._checks:
            try:
                check()
            except (AttributeError, IndexError, KeyError, TypeError, OverflowError) as error:
                raise ValueError(
                    f"an object of {type(made).__name__} lacks some of its parts ({error})"
                ) from error

    def _tagged(self, written: Any) -> Any:
        if not isinstance(written, dict) or len(written) != 1:
            raise ValueError(f"expected a value or one tag, got {str(written)[:60]}")
        [(tag, content)] = written.items()
        self._depth += 1
        try:
            self._reach_to(self._depth)
            return self._referred(content) if tag == "ref" else self._read(tag, content)
        finally:
            self._depth -= 1

    def _reach_to(self, depth: int) -> None:
        if depth > _MAX_DEPTH + 1:
            raise ValueError(f"values are nested more than {_MAX_DEPTH} deep")
        self._reach = max(self._reach, depth)

    def _referred(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise ValueError(f"there is no object {str(number)[:20]}")
        if number in self._made:
            self.count(self._sizes[number])
            self._reach_to(self._depth + self._heights[number])
            return self._made[number]
        if number in self._unfinished:
            raise ValueError(f"the object {number} contains itself")
        written = self._objects[number]
        if not isinstance(written, dict) or len(written) != 1:
            raise ValueError(f"object {number} has no single tag")
        [(tag, content)] = written.items()
        if tag in self._codecs and not self._codecs[tag].shared:
            raise ValueError(f"object {number} is a {tag}, which has no identity")
        before, outer, self._reach = self._size, self._reach, self._depth
        self._unfinished.add(number)
        made = self._read(tag, content)
        self._unfinished.remove(number)
        self._made[number] = made
        self._heights[number] = self._reach - self._depth
        self._reach = max(self._reach, outer)
        self._sizes[number] = 1 if self._codecs[tag].opaque else self._size - before
        return made

    def _read(self, tag: str, content: Any) -> Any:
        if tag not in self._codecs:
            raise ValueError(f"{tag[:40]!r} is an unknown kind of object")
        codec = self._codecs[tag]
        made = codec.read(content, self)
        codec.fill(made, content, self)
        check = codec.check_of(made, self)
        if check is not None:
            self._checks.append((made, check))
        return made


def max_size(n_values: int) -> int:
    """Return how many values a file may have, each counted as often as it is used."""
    return n_values + min(_AGAIN_OF_FEW + _AGAIN * n_values, _MAX_AGAIN)


def count_values(content: bytes | bytearray) -> int:
    """Return the number of values in JSON, or more.

    Examples
    --------
    >>> count_values(b'{"root": [1, {"ref": 0}], "objects": []}')
    7
    """
    return sum(content.count(mark) for mark in (b",", b"[", b"{")) + 1
