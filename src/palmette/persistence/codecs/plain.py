"""Codecs of what Python itself offers: odd numbers, containers, dates, slices, paths."""

from __future__ import annotations

import base64
import datetime
import json
from pathlib import Path, PurePath
from typing import Any

from palmette.persistence.graph import Codec, Decoder, Encoder

__all__ = ["CODECS"]


class OddFloats(Codec):
    """NaN and infinities, which JSON has no words for."""

    tag = "float"

    def takes(self, value: Any) -> bool:
        return type(value) is float

    def write(self, value: float, encoder: Encoder) -> str:
        return repr(value)

    def read(self, content: Any, decoder: Decoder) -> float:
        if content not in ("nan", "inf", "-inf"):
            raise ValueError(f"{str(content)[:20]!r} is no such number")
        return float(content)


class Complex(Codec):
    """Complex numbers, as two numbers."""

    tag = "complex"

    def takes(self, value: Any) -> bool:
        return type(value) is complex

    def write(self, value: complex, encoder: Encoder) -> list[Any]:
        return encoder.values([value.real, value.imag])

    def read(self, content: Any, decoder: Decoder) -> complex:
        real, imaginary = decoder.values(content)
        return complex(real, imaginary)


class Bytes(Codec):
    """Bytes, in base 64."""

    tag = "bytes"

    def takes(self, value: Any) -> bool:
        return type(value) is bytes

    def write(self, value: bytes, encoder: Encoder) -> str:
        return base64.b64encode(value).decode()

    def read(self, content: Any, decoder: Decoder) -> bytes:
        return base64.b64decode(content, validate=True)


class Lists(Codec):
    """Lists."""

    tag, shared = "list", True

    def takes(self, value: Any) -> bool:
        return type(value) is list

    def write(self, value: list[Any], encoder: Encoder) -> list[Any]:
        return encoder.values(value)

    def read(self, content: Any, decoder: Decoder) -> list[Any]:
        return []

    def fill(self, made: list[Any], content: Any, decoder: Decoder) -> None:
        made.extend(decoder.values(content))


class Tuples(Codec):
    """Tuples; named ones have a codec of their own."""

    tag = "tuple"

    def takes(self, value: Any) -> bool:
        return type(value) is tuple

    def write(self, value: tuple[Any, ...], encoder: Encoder) -> list[Any]:
        return encoder.values(value)

    def read(self, content: Any, decoder: Decoder) -> tuple[Any, ...]:
        return tuple(decoder.values(content))


class Sets(Codec):
    """Sets, in an order that does not depend on the process."""

    tag, shared = "set", True

    def takes(self, value: Any) -> bool:
        return type(value) is set

    def write(self, value: set[Any], encoder: Encoder) -> list[Any]:
        return _in_order(encoder.values(value))

    def read(self, content: Any, decoder: Decoder) -> set[Any]:
        return set(decoder.values(content))


class FrozenSets(Codec):
    """Frozen sets."""

    tag = "frozenset"

    def takes(self, value: Any) -> bool:
        return type(value) is frozenset

    def write(self, value: frozenset[Any], encoder: Encoder) -> list[Any]:
        return _in_order(encoder.values(value))

    def read(self, content: Any, decoder: Decoder) -> frozenset[Any]:
        return frozenset(decoder.values(content))


def _in_order(written: list[Any]) -> list[Any]:
    return sorted(written, key=json.dumps)


class Dicts(Codec):
    """Dictionaries: a JSON object where all keys are strings, else pairs."""

    tag, shared = "dict", True

    def takes(self, value: Any) -> bool:
        return type(value) is dict

    def write(self, value: dict[Any, Any], encoder: Encoder) -> Any:
        if all(type(key) is str for key in value):
            return {key: encoder.inside(f"[{key!r}]", each) for key, each in value.items()}
        return [
            [encoder.inside(f"[key {key!r}]", key), encoder.inside(f"[{key!r}]", each)]
            for key, each in value.items()
        ]

    def read(self, content: Any, decoder: Decoder) -> dict[Any, Any]:
        return {}

    def fill(self, made: dict[Any, Any], content: Any, decoder: Decoder) -> None:
        if isinstance(content, dict):
            made.update((key, decoder.value(each)) for key, each in content.items())
            return
        for key, each in content:
            made[decoder.value(key)] = decoder.value(each)


class Slices(Codec):
    """Slices and ranges."""

    tag = "slice"

    def takes(self, value: Any) -> bool:
        return type(value) in (slice, range)

    def write(self, value: Any, encoder: Encoder) -> list[Any]:
        bounds = encoder.values([value.start, value.stop, value.step])
        return [type(value).__name__, *bounds]

    def read(self, content: Any, decoder: Decoder) -> Any:
        name, *bounds = decoder.values(content)
        return {"slice": slice, "range": range}[name](*bounds)


class Dates(Codec):
    """Dates, times and durations."""

    tag = "date"

    def takes(self, value: Any) -> bool:
        return type(value) in (datetime.date, datetime.datetime, datetime.timedelta)

    def write(self, value: Any, encoder: Encoder) -> list[Any]:
        if isinstance(value, datetime.timedelta):
            return ["timedelta", value.days, value.seconds, value.microseconds]
        return [type(value).__name__, value.isoformat()]

    def read(self, content: Any, decoder: Decoder) -> Any:
        name, *parts = content
        if name == "timedelta":
            return datetime.timedelta(*parts)
        return {"date": datetime.date, "datetime": datetime.datetime}[name].fromisoformat(*parts)


class Paths(Codec):
    """Names of files."""

    tag = "path"

    def takes(self, value: Any) -> bool:
        return type(value) in (type(Path()), type(PurePath()))

    def write(self, value: PurePath, encoder: Encoder) -> str:
        return str(value)

    def read(self, content: Any, decoder: Decoder) -> Path:
        return Path(content)


CODECS: list[Codec] = [
    OddFloats(),
    Tuples(),
    Lists(),
    Dicts(),
    Sets(),
    FrozenSets(),
    Bytes(),
    Complex(),
    Slices(),
    Dates(),
    Paths(),
]
