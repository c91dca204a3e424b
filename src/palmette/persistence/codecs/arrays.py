"""Codecs of numpy and scipy: arrays, numbers and their types, sparse matrices, generators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.persistence.graph import Codec, Decoder, Encoder
from palmette.persistence.part_checks import check_random_state

__all__ = ["CODECS"]


class Arrays(Codec):
    """Arrays of anything but objects.

    Whether one may be written to is kept: kernels are compiled for the one or the other.
    """

    tag, shared = "array", True

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
            raise encoder.refusal(value, "arrays of records that hold objects cannot be kept")
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
        kind = np.dtypes.StringDType() if content.get("strings") else np.dtype(object)
        return np.empty(shape, kind)

    def fill(self, made: NDArray[Any], content: Any, decoder: Decoder) -> None:
        flat = made.reshape(-1)
        for i, each in enumerate(decoder.values(content["values"])):
            flat[i] = each
        made.flags.writeable = not content.get("read_only", False)


class MaskedArrays(Codec):
    """Masked arrays, as searches over parameters keep them."""

    tag, shared = "masked", True

    def takes(self, value: Any) -> bool:
        return type(value) is np.ma.MaskedArray

    def write(self, value: Any, encoder: Encoder) -> list[Any]:
        fill = np.asarray(value.fill_value)
        return encoder.values([np.asarray(value.data), np.ma.getmaskarray(value), fill])

    def read(self, content: Any, decoder: Decoder) -> Any:
        data, mask, fill = decoder.values(content)
        return np.ma.MaskedArray(data, mask, fill_value=fill[()])


class Scalars(Codec):
    """Single numbers, strings and dates of numpy."""

    tag = "scalar"

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.generic) and not _holds_objects(value.dtype)

    def write(self, value: np.generic, encoder: Encoder) -> list[Any]:
        kind = value.dtype.kind
        if kind in "biu" or (kind == "f" and value.dtype.itemsize <= 8):
            return [value.dtype.str, encoder.value(value.item())]
        return [encoder.value(value.dtype), value.tobytes().hex()]

    def read(self, content: Any, decoder: Decoder) -> Any:
        kind, value = content
        if isinstance(kind, str):
            return np.dtype(kind).type(decoder.value(value))
        dtype = decoder.value(kind)
        raw = bytearray.fromhex(value)
        if not isinstance(dtype, np.dtype) or dtype.hasobject or len(raw) != dtype.itemsize:
            raise ValueError("a single value is not as long as its type")
        return np.frombuffer(raw, dtype)[0] if raw else dtype.type()


class Dtypes(Codec):
    """Types of numbers."""

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
        return np.dtype(content) if isinstance(content, str) else decoder.arrays.get(content).dtype


_SPARSE_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "coords"),
    "dia": ("data", "offsets"),
}


class Sparse(Codec):
    """Sparse matrices and arrays of scipy, by the arrays that they are made of."""

    tag, shared = "sparse", True

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
        # others than these would be made large by their shape alone
        fits = own == form or (own in ("dok", "lil") and form == "csr")
        if not fits or form not in _SPARSE_PARTS or family not in ("array", "matrix"):
            raise ValueError(f"{str(name)[:40]!r} is no sparse matrix of the form {form!r}")
        shape = tuple(int(n) for n in content["shape"])
        parts = tuple(decoder.value(content["parts"][n]) for n in _SPARSE_PARTS[form])
        made = getattr(sparse, f"{form}_{family}")(parts, shape=shape)
        if form in ("csr", "csc", "bsr"):
            made.check_format(full_check=True)  # indices out of bounds would reach memory of others
        return made if own == form else made.asformat(own)


class RandomStates(Codec):
    """Generators of random numbers, old and new."""

    tag, shared = "random", True

    def takes(self, value: Any) -> bool:
        return type(value) in (np.random.RandomState, np.random.Generator)

    def write(self, value: Any, encoder: Encoder) -> dict[str, Any]:
        is_old = isinstance(value, np.random.RandomState)
        state = value.get_state(legacy=False) if is_old else value.bit_generator.state
        return {"class": type(value).__name__, "state": encoder.inside(".state", state)}

    def read(self, content: Any, decoder: Decoder) -> Any:
        state = decoder.value(content["state"])
        if content["class"] == "RandomState":
            made = np.random.RandomState()
            made.set_state(state)
            check_random_state(made)
            return made
        names = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
        if content["class"] != "Generator" or state["bit_generator"] not in names:
            raise ValueError("an unknown generator of random numbers")
        bits = getattr(np.random, state["bit_generator"])()
        bits.state = state
        made = np.random.Generator(bits)
        check_random_state(made)
        return made


def _holds_objects(dtype: np.dtype[Any]) -> bool:
    return dtype.hasobject or dtype.kind == "T"


CODECS: list[Codec] = [
    Arrays(),
    ObjectArrays(),
    MaskedArrays(),
    Scalars(),
    Dtypes(),
    Sparse(),
    RandomStates(),
]
