"""From objects to JSON and back: the walk, apart from what it does with each kind of object.

A plain value is itself. Anything else is ``{tag: content}``, where the tag names the `Codec` that
wrote it. Objects that can change, and so may be shared, stand in a table, ``{"ref": number}``
wherever they are used: what was one object stays one object, and cycles are no trouble.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from palmette.exceptions import PalmetteError
from palmette.persistence._arrays import ArrayReader, ArrayWriter

__all__ = ["Codec", "Decoder", "Encoder", "ForeignObjects", "ForeignParts"]

_PLAIN = (type(None), bool, int, str)
_DEEPEST = 100  # of values inside values: no model comes near, and Python's stack bears it


class Codec:
    """How one kind of object is written and read.

    Attributes
    ----------
    tag : str
        Names the codec in files: never to be changed.
    shared : bool
        Whether an object keeps its identity: it is written once, however often it is used.
    by_type : bool
        Whether `takes` depends on the type alone, and for arrays on their dtype.
    """

    tag: ClassVar[str]
    shared: ClassVar[bool] = False
    by_type: ClassVar[bool] = True

    def takes(self, value: Any) -> bool:
        """Whether this is the codec of an object."""
        raise NotImplementedError

    def write(self, value: Any, encoder: Encoder) -> Any:
        """Return the content for JSON."""
        raise NotImplementedError

    def read(self, content: Any, decoder: Decoder) -> Any:
        """Return the object; one that may be part of a cycle, still without its parts."""
        raise NotImplementedError

    def fill(self, made: Any, content: Any, decoder: Decoder) -> None:
        """Give an object its parts, where `read` made it without them."""


class ForeignParts(Protocol):
    """Objects that another library writes."""

    def add(self, value: Any, encoder: Encoder) -> int:
        """Keep an object, and return its number."""


class ForeignObjects(Protocol):
    """Objects that another library has read."""

    def get(self, number: int) -> Any:
        """Return an object by its number."""


class Encoder:
    """Turn objects into JSON, arrays and foreign parts.

    Parameters
    ----------
    codecs : sequence of Codec
        The first that takes an object writes it.
    foreign : ForeignParts
    arrays : ArrayWriter, optional
        Gathers the arrays.
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
        self._kept: list[Any] = []  # while an object lives, no other has its id
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
        """Return objects in a row as JSON."""
        return [self.inside(i, value) for i, value in enumerate(values)]

    def inside(self, step: str | int, value: Any) -> Any:
        """Return a part of the object at hand as JSON; a step is an attribute or a place."""
        self._steps.append(step)  # left there by an error, so that `path` tells where it was
        if len(self._steps) > _DEEPEST:
            raise self.refusal(value, f"it is more than {_DEEPEST} levels down. Make it flatter.")
        written = self.value(value)
        self._steps.pop()
        return written

    @property
    def path(self) -> str:
        """Where the object at hand is, as one would write it: ``estimators_[3].tree``."""
        steps = [f"[{s}]" if isinstance(s, int) else s for s in self._steps]
        return "".join(steps).removeprefix(".")

    def refusal(self, value: Any, why: str, path: str | None = None) -> PalmetteError:
        """Return the error for an object that cannot be written, which names its place."""
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        path = self.path if path is None else path
        where = f"{path} is" if path else "this is"
        return PalmetteError(
            f"{where} an object of type {kind}, which a model file cannot hold: {why}"
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
        raise self.refusal(
            value, "its class has no name that files may hold. Set it to None, or remove it."
        )


class Decoder:
    """Turn JSON back into objects.

    Parameters
    ----------
    codecs : sequence of Codec
    objects : list
        The table that references point to.
    arrays : ArrayReader
    foreign : ForeignObjects
    trusted : collection of str
        Names of classes that the caller vouches for.
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
        self._to_check: list[Any] = []  # parts before what they are parts of
        self._depth = 0

    def value(self, written: Any) -> Any:
        """Return the object that JSON stands for."""
        if isinstance(written, (*_PLAIN, float)):
            return written
        if not isinstance(written, dict) or len(written) != 1:
            raise ValueError(f"expected a value or one tag, got {str(written)[:60]}")
        [(tag, content)] = written.items()
        self._depth += 1
        if self._depth > _DEEPEST + 1:
            raise ValueError(f"values are nested more than {_DEEPEST} deep")
        made = self._referred(content) if tag == "ref" else self._read(tag, content, None)
        self._depth -= 1
        return made

    def values(self, written: list[Any]) -> list[Any]:
        """Return the objects of a row."""
        if not isinstance(written, list):
            raise ValueError(f"expected a list, got {str(written)[:60]}")
        return [self.value(each) for each in written]

    def check(self) -> None:
        """Let every object that was made, wherever it is in the file, check its arrays.

        Raises
        ------
        ValueError
            If the arrays of an object name places outside of them, or do not fit together.
        """
        for each in self._to_check:
            try:
                each.check_arrays()
            except (AttributeError, IndexError, KeyError, TypeError, OverflowError) as error:
                raise ValueError(
                    f"an object of {type(each).__name__} does not have the parts of one ({error})"
                ) from error

    def _referred(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise ValueError(f"there is no object {str(number)[:20]}")
        if number in self._made:
            return self._made[number]
        written = self._objects[number]
        if not isinstance(written, dict) or len(written) != 1:
            raise ValueError(f"object {number} is not written as one")
        [(tag, content)] = written.items()
        return self._read(tag, content, number)

    def _read(self, tag: str, content: Any, number: int | None) -> Any:
        if tag not in self._codecs:
            raise ValueError(f"{tag[:40]!r} is an unknown kind of object")
        codec = self._codecs[tag]
        made = codec.read(content, self)
        if number is not None:
            self._made[number] = made
        codec.fill(made, content, self)
        if hasattr(type(made), "check_arrays"):
            self._to_check.append(made)
        return made
