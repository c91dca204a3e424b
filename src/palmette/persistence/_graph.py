"""Graphs of objects to JSON and back, by a codec for each kind of object.

A plain value is written as itself, anything else as ``{tag: content}``, where the tag names the
`Codec`. Mutable objects, which may be shared, are entries of a table, with ``{"ref": number}``
wherever they are used: this keeps their identity, and allows cycles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from palmette.exceptions import PalmetteError
from palmette.persistence._arrays import ArrayReader, ArrayWriter

_PLAIN = (type(None), bool, int, str)
_AS_IS = frozenset({*_PLAIN, float})
_MAX_DEPTH = 100  # of nested values: more than any model has, less than Python's stack allows
_MAX_SIZE = 2**26  # values of a container and all inside it, each time that they occur


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
    holds : bool
        Whether objects are containers, whose parts others walk through.
    """

    tag: ClassVar[str]
    shared: ClassVar[bool] = False
    by_type: ClassVar[bool] = True
    holds: ClassVar[bool] = False

    def takes(self, value: Any) -> bool:
        """Return whether this is the codec of an object."""
        raise NotImplementedError

    def write(self, value: Any, encoder: Encoder) -> Any:
        """Return the content for JSON."""
        raise NotImplementedError

    def read(self, content: Any, decoder: Decoder) -> Any:
        """Return the object; without its parts if it may be in a cycle."""
        raise NotImplementedError

    def fill(self, made: Any, content: Any, decoder: Decoder) -> None:
        """Set the parts of an object that `read` returned without them."""

    def check_of(self, made: Any, decoder: Decoder) -> Callable[[], None] | None:
        """Return the check of an object that is made once all objects are read, if any."""
        return made.check_arrays if hasattr(type(made), "check_arrays") else None


class ForeignParts(Protocol):
    """Writer of objects of other libraries."""

    def add(self, value: Any, encoder: Encoder) -> int:
        """Add an object, and return its number."""


class ForeignObjects(Protocol):
    """Reader of objects of other libraries."""

    def get(self, number: int) -> Any:
        """Return an object by its number."""


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
        self._steps: list[str | int] = []

    def value(self, value: Any) -> Any:
        """Return an object as JSON."""
        kind = type(value)
        if kind in _PLAIN or (kind is float and math.isfinite(value)):
            return value
        if id(value) in self._numbers:
            return {"ref": self._numbers[id(value)]}
        codec = self._codec_of(value)
        if not codec.shared:
            return {codec.tag: codec.write(value, self)}
        number = self._numbers[id(value)] = len(self.objects)
        self._kept.append(value)
        self.objects.append(None)
        self.objects[number] = {codec.tag: codec.write(value, self)}
        return {"ref": number}

    def values(self, values: Iterable[Any]) -> list[Any]:
        """Return a list of objects as JSON."""
        return [self.inside(i, value) for i, value in enumerate(values)]

    def inside(self, step: str | int, value: Any) -> Any:
        """Return a part of the current object as JSON; a step is an attribute or an index."""
        self._steps.append(step)  # not removed after an error, which uses `path`
        if len(self._steps) > _MAX_DEPTH:
            raise self.refusal(value, f"it is more than {_MAX_DEPTH} levels deep. Nest it less.")
        written = self.value(value)
        self._steps.pop()
        return written

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
    """

    def __init__(
        self,
        codecs: Sequence[Codec],
        objects: list[Any],
        arrays: ArrayReader,
        foreign: ForeignObjects,
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        self.arrays = arrays
        self.foreign = foreign
        self.trusted = trusted
        self._codecs = {codec.tag: codec for codec in codecs}
        self._objects = objects
        self._made: dict[int, Any] = {}
        self._checks: list[tuple[Any, Callable[[], None]]] = []  # of parts before their owners
        self._depth = 0
        self._size = 0  # number of values so far of the outermost container
        self._sizes: dict[int, int] = {}  # by object
        self._unfinished: set[int] = set()  # containers around this place, up to the next object
        self._looped: set[int] = set()  # containers that contain themselves

    def value(self, written: Any) -> Any:
        """Return the object of a JSON value."""
        self._size += 1
        if isinstance(written, (*_PLAIN, float)):
            return written
        if not isinstance(written, dict) or len(written) != 1:
            raise ValueError(f"expected a value or one tag, got {str(written)[:60]}")
        [(tag, content)] = written.items()
        self._depth += 1
        try:
            if self._depth > _MAX_DEPTH + 1:
                raise ValueError(f"values are nested more than {_MAX_DEPTH} deep")
            return self._referred(content) if tag == "ref" else self._read(tag, content, None)
        finally:
            self._depth -= 1

    def values(self, written: list[Any]) -> list[Any]:
        """Return the objects of a JSON list."""
        if not isinstance(written, list):
            raise ValueError(f"expected a list, got {str(written)[:60]}")
        self._size += len(written)
        return [each if type(each) in _AS_IS else self.value(each) for each in written]

    def check(self) -> None:
        """Call `check_arrays` of every object that has this method, and the checks of codecs.

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

    def _referred(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise ValueError(f"there is no object {str(number)[:20]}")
        if number in self._made:
            # a container that is used many times in another is walked through as many times
            if number in self._unfinished:
                if number in self._looped:
                    raise ValueError(f"the object {number} contains itself several times")
                self._looped.add(number)
            self._size += self._sizes.get(number, 0)
            if self._size > _MAX_SIZE:
                raise ValueError(f"a container has more than {_MAX_SIZE:,} values inside")
            return self._made[number]
        written = self._objects[number]
        if not isinstance(written, dict) or len(written) != 1:
            raise ValueError(f"object {number} has no single tag")
        [(tag, content)] = written.items()
        if tag in self._codecs and not self._codecs[tag].shared:
            raise ValueError(f"object {number} is a {tag}, which has no identity")
        return self._read(tag, content, number)

    def _read(self, tag: str, content: Any, number: int | None) -> Any:
        if tag not in self._codecs:
            raise ValueError(f"{tag[:40]!r} is an unknown kind of object")
        codec = self._codecs[tag]
        size, unfinished = self._size, self._unfinished
        if not codec.holds:
            self._size, self._unfinished = 0, set()
        elif number is not None:
            unfinished.add(number)
        made = codec.read(content, self)
        if number is not None:
            self._made[number] = made
        codec.fill(made, content, self)
        if not codec.holds:
            self._size, self._unfinished = size, unfinished
        if number is not None:
            unfinished.discard(number)
            self._sizes[number] = self._size - size
        check = codec.check_of(made, self)
        if check is not None:
            self._checks.append((made, check))
        return made
