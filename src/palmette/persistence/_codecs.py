"""Codecs of built-in types, numpy and scipy: containers, arrays, random generators."""

from __future__ import annotations

import base64
import datetime
import json
import math
from collections import Counter
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import check_indices
from palmette.persistence._arrays import MAX_EMPTY
from palmette.persistence._graph import Codec, Decoder, Encoder
from palmette.persistence._parts import check_random_state

_MAX_EQUAL = 64  # keys with the same hash
_MAX_RANGE = 10**6  # numbers
_RANGE_PER_VALUE = 64  # numbers of a range that count as one value of the file


class OddFloats(Codec):
    """NaN and infinities, which JSON lacks."""

    tag = "float"

    def takes(self, value: Any) -> bool:
        return type(value) is float

    def write(self, value: float, encoder: Encoder) -> str:
        return repr(value)

    def read(self, content: Any, decoder: Decoder) -> float:
        if content not in ("nan", "inf", "-inf"):
            raise ValueError(f"{str(content)[:20]!r} is not NaN or infinity")
        return float(content)


class Complex(Codec):
    """Complex numbers, as real and imaginary part."""

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
    """Tuples; named tuples have their own codec."""

    tag = "tuple"

    def takes(self, value: Any) -> bool:
        return type(value) is tuple

    def write(self, value: tuple[Any, ...], encoder: Encoder) -> list[Any]:
        return encoder.values(value)

    def read(self, content: Any, decoder: Decoder) -> tuple[Any, ...]:
        return tuple(decoder.values(content))


class Sets(Codec):
    """Sets, in a reproducible order."""

    tag, shared = "set", True

    def takes(self, value: Any) -> bool:
        return type(value) is set

    def write(self, value: set[Any], encoder: Encoder) -> list[Any]:
        return _in_order(encoder.values(value))

    def read(self, content: Any, decoder: Decoder) -> set[Any]:
        return set(_spread(decoder.values(content)))


class FrozenSets(Codec):
    """Frozen sets."""

    tag = "frozenset"

    def takes(self, value: Any) -> bool:
        return type(value) is frozenset

    def write(self, value: frozenset[Any], encoder: Encoder) -> list[Any]:
        return _in_order(encoder.values(value))

    def read(self, content: Any, decoder: Decoder) -> frozenset[Any]:
        return frozenset(_spread(decoder.values(content)))


def _in_order(written: list[Any]) -> list[Any]:
    return sorted(written, key=json.dumps)


def _spread(keys: list[Any]) -> list[Any]:
    """Return keys of a set or dictionary, which is slow if the hashes of many are the same."""
    if len(keys) > _MAX_EQUAL and max(Counter(map(hash, keys)).values()) > _MAX_EQUAL:
        raise ValueError("many keys have the same hash")
    return keys


class Dicts(Codec):
    """Dictionaries: a JSON object if all keys are strings, else pairs."""

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
        keys, values = zip(*content, strict=True) if content else ((), ())
        made.update(zip(_spread(decoder.values([*keys])), decoder.values([*values]), strict=True))


class Slices(Codec):
    """Slices and ranges."""

    tag = "slice"

    def takes(self, value: Any) -> bool:
        return type(value) in (slice, range)

    def write(self, value: Any, encoder: Encoder) -> list[Any]:
        if isinstance(value, range) and not value[:_MAX_RANGE] == value:
            raise encoder.refusal(value, f"it has more than {_MAX_RANGE:,} numbers. Shorten it.")
        bounds = encoder.values([value.start, value.stop, value.step])
        return [type(value).__name__, *bounds]

    def read(self, content: Any, decoder: Decoder) -> Any:
        name, *bounds = decoder.values(content)
        made = {"slice": slice, "range": range}[name](*bounds)
        if name == "range" and not made[:_MAX_RANGE] == made:
            raise ValueError(f"a range has more than {_MAX_RANGE:,} numbers")
        decoder.count(len(made) // _RANGE_PER_VALUE if name == "range" else 0)
        return made


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


_PATHS = (type(Path()), type(PurePath()))


class Paths(Codec):
    """Paths of files."""

    tag = "path"

    def takes(self, value: Any) -> bool:
        return type(value) in _PATHS

    def write(self, value: PurePath, encoder: Encoder) -> str:
        return str(value)

    def read(self, content: Any, decoder: Decoder) -> Path:
        return Path(content)


# ---------------------------------------------------------------------- numpy and scipy


class Arrays(Codec):
    """Arrays of all dtypes except objects.

    The flag whether an array is writable is stored, since kernels are compiled for it.
    """

    tag, shared, opaque = "array", True, True

    def takes(self, value: Any) -> bool:
        return type(value) in (np.ndarray, np.memmap) and not _holds_objects(value.dtype)

    def write(self, value: NDArray[Any], encoder: Encoder) -> dict[str, Any]:
        place = encoder.arrays.add(value)
        return place if value.flags.writeable else {**place, "read_only": True}

    def read(self, content: Any, decoder: Decoder) -> NDArray[Any]:
        array = decoder.arrays.get(content)
        array.flags.writeable = not content.get("read_only", False)
        return array


class ObjectArrays(Codec):
    """Arrays of objects, such as labels, and of strings of any length."""

    tag, shared = "objects", True

    def takes(self, value: Any) -> bool:
        return type(value) is np.ndarray

    def write(self, value: NDArray[Any], encoder: Encoder) -> dict[str, Any]:
        if value.dtype.kind not in ("O", "T"):
            raise encoder.refusal(
                value, "arrays of records with objects cannot be saved. Remove it."
            )
        written: dict[str, Any] = {"shape": list(value.shape)}
        if value.dtype.kind == "T":
            written["strings"] = True
        if not value.flags.writeable:
            written["read_only"] = True
        return {**written, "values": encoder.values(value.ravel().tolist())}

    def read(self, content: Any, decoder: Decoder) -> NDArray[Any]:
        shape = tuple(int(n) for n in content["shape"])
        if min(shape, default=0) < 0 or math.prod(shape) != len(content["values"]):
            raise ValueError(f"an array of objects has another shape than {shape}")
        if math.prod(max(n, 1) for n in shape) > max(len(content["values"]), MAX_EMPTY):
            raise ValueError(f"an array of shape {shape} has no objects")
        kind = np.dtypes.StringDType() if content.get("strings") else np.dtype(object)
        return np.empty(shape, kind)

    def fill(self, made: NDArray[Any], content: Any, decoder: Decoder) -> None:
        flat = made.reshape(-1)
        for i, each in enumerate(decoder.values(content["values"])):
            flat[i] = each
        made.flags.writeable = not content.get("read_only", False)


class MaskedArrays(Codec):
    """Masked arrays, which parameter searches have."""

    tag, shared = "masked", True

    def takes(self, value: Any) -> bool:
        return type(value) is np.ma.MaskedArray

    def write(self, value: Any, encoder: Encoder) -> list[Any]:
        fill = np.asarray(value.fill_value)
        return encoder.values([np.asarray(value.data), np.ma.getmaskarray(value), fill])

    def read(self, content: Any, decoder: Decoder) -> Any:
        data, mask, fill = decoder.values(content)
        if not all(type(each) is np.ndarray for each in (data, mask, fill)):
            raise ValueError("a masked array is not made of arrays")
        return np.ma.MaskedArray(data, mask, fill_value=fill[()])


class Scalars(Codec):
    """Scalars of numpy: numbers, strings and dates."""

    tag, by_type = "scalar", False

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.generic) and not _holds_objects(value.dtype)

    def write(self, value: np.generic, encoder: Encoder) -> list[Any]:
        if _is_number(value.dtype):
            return [value.dtype.str, encoder.value(value.item())]
        return [encoder.value(value.dtype), value.tobytes().hex()]

    def read(self, content: Any, decoder: Decoder) -> Any:
        kind, value = content
        if isinstance(kind, str):
            number, made = decoder.value(value), np.dtype(kind)
            if not _is_number(made) or type(number) not in (bool, int, float):
                raise ValueError(f"{kind[:40]!r} is not the type of a number")
            return made.type(number)
        dtype = decoder.value(kind)
        raw = bytearray.fromhex(value)
        if not isinstance(dtype, np.dtype) or dtype.hasobject or len(raw) != dtype.itemsize:
            raise ValueError("a scalar does not have the size of its dtype")
        return np.frombuffer(raw, dtype)[0] if raw else dtype.type()


class Dtypes(Codec):
    """Dtypes of numpy."""

    tag = "dtype"

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.dtype)

    def write(self, value: np.dtype[Any], encoder: Encoder) -> Any:
        if value.kind == "T":
            return "StringDType"
        described = np.lib.format.dtype_to_descr(value)
        return described if isinstance(described, str) else encoder.arrays.add(np.empty(0, value))

    def read(self, content: Any, decoder: Decoder) -> np.dtype[Any]:
        if content == "StringDType":
            return np.dtypes.StringDType()
        made = np.dtype(content) if isinstance(content, str) else decoder.arrays.get(content).dtype
        if made.itemsize > decoder.max_item and made.kind in "US":
            return np.dtype(made.kind)  # an array of texts is as wide as its longest
        if made.itemsize > decoder.max_item:  # an array of it could need any memory
            raise ValueError(f"items of {str(made)[:40]} have more than {decoder.max_item:,} bytes")
        return made


_SPARSE_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "coords"),
    "dia": ("data", "offsets"),
}


class Sparse(Codec):
    """Sparse matrices and arrays of scipy, as their arrays."""

    tag, shared, opaque = "sparse", True, True

    def takes(self, value: Any) -> bool:
        return sparse.issparse(value) and type(value).__module__.startswith("scipy.")

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        kept = value if value.format in _SPARSE_PARTS else value.tocsr()
        parts = {n: encoder.inside(f".{n}", getattr(kept, n)) for n in _SPARSE_PARTS[kept.format]}
        name = type(value).__name__
        return {"class": name, "format": kept.format, "shape": list(value.shape), "parts": parts}

    def read(self, content: Any, decoder: Decoder) -> Any:
        name, form = content["class"], content["format"]
        own, _, family = str(name).partition("_")
        # other formats would allocate memory by their shape alone
        fits = own == form or (own in ("dok", "lil") and form == "csr")
        if not fits or form not in _SPARSE_PARTS or family not in ("array", "matrix"):
            raise ValueError(f"{str(name)[:40]!r} is not a sparse matrix of the format {form!r}")
        shape = tuple(int(n) for n in content["shape"])
        parts = tuple(decoder.value(content["parts"][n]) for n in _SPARSE_PARTS[form])
        made = getattr(sparse, f"{form}_{family}")(parts, shape=shape)
        if form in ("csr", "csc", "bsr"):
            check_indices(made)
        return made if own == form else made.asformat(own)


class RandomStates(Codec):
    """Random generators of numpy: RandomState and Generator."""

    tag, shared, opaque = "random", True, True

    def takes(self, value: Any) -> bool:
        return type(value) in (np.random.RandomState, np.random.Generator)

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        is_legacy = isinstance(value, np.random.RandomState)
        state = value.get_state(legacy=False) if is_legacy else value.bit_generator.state
        return {"class": type(value).__name__, "state": encoder.inside(".state", state)}

    def read(self, content: Any, decoder: Decoder) -> Any:
        state = decoder.value(content["state"])
        if content["class"] == "RandomState":
            legacy = np.random.RandomState()
            legacy.set_state(state)
            check_random_state(legacy)
            return legacy
        names = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
        if content["class"] != "Generator" or state["bit_generator"] not in names:
            raise ValueError("an unknown random generator")
        bits = getattr(np.random, state["bit_generator"])()
        bits.state = state
        made = np.random.Generator(bits)
        check_random_state(made)
        return made


def _is_number(dtype: np.dtype[Any]) -> bool:
    """Return whether Python has numbers of a dtype, as exact as its own."""
    return dtype.kind in "biu" or (dtype.kind == "f" and dtype.itemsize <= 8)


def _holds_objects(dtype: np.dtype[Any]) -> bool:
    return dtype.hasobject or dtype.kind == "T"


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
    Arrays(),
    ObjectArrays(),
    MaskedArrays(),
    Scalars(),
    Dtypes(),
    Sparse(),
    RandomStates(),
]
