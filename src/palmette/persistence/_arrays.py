"""Arrays as .npy files, and the places of the arrays of an object in them.

The header of a file must fit its size, and arrays of objects, which .npy files store as pickles,
are errors. A model may have thousands of arrays of a few numbers: small arrays are concatenated,
large ones have their own file.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

_MAX_HEADER = 2**16  # bytes
MAX_EMPTY = 2**20  # empty strings or rows, which have no bytes in a file but take memory


def to_npy(array: NDArray[Any]) -> bytes:
    """Return the bytes of a .npy file.

    Examples
    --------
    >>> from_npy(bytearray(to_npy(np.arange(3))))
    array([0, 1, 2])
    """
    stream = io.BytesIO()
    clean = _zero_padded(array)
    if clean is array:
        npy.write_array(stream, array, allow_pickle=False)
    else:
        npy.write_array_header_1_0(stream, npy.header_data_from_array_1_0(clean))
        # numpy's own function copies by field, and does not set the padding
        stream.write(clean.ravel(order="K").tobytes())
    return stream.getvalue()


def _zero_padded(array: NDArray[Any]) -> NDArray[Any]:
    """Return records with zeros as the padding between their fields."""
    fields = array.dtype.fields
    if not fields or sum(kind.itemsize for kind, *_ in fields.values()) == array.dtype.itemsize:
        return array
    clean = np.zeros(array.shape, array.dtype)  # zeros_like would set the fields only
    for name in fields:
        clean[name] = array[name]
    return clean


def from_npy(content: bytearray | bytes) -> NDArray[Any]:
    """Return the array of a .npy file as a view of its bytes.

    Parameters
    ----------
    content : bytearray or bytes

    Returns
    -------
    array
        Writable if `content` is.

    Raises
    ------
    ValueError
        If the bytes are not a valid .npy file.
    """
    stream = io.BytesIO(memoryview(content)[: _MAX_HEADER + 16])
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, by_columns, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, by_columns, dtype = npy.read_array_header_2_0(stream)
    else:
        raise ValueError(f"version {version} of .npy is unknown")
    if dtype.hasobject:
        raise ValueError("an array has objects")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != (
        len(content) - stream.tell()
    ):
        raise ValueError(f"an array has another shape than {shape}")
    is_empty = not math.prod(shape) or not dtype.itemsize
    if is_empty and math.prod(max(n, 1) for n in shape) > MAX_EMPTY:
        raise ValueError(f"an array of shape {shape} has no bytes")
    order: Literal["C", "F"] = "F" if by_columns else "C"
    if is_empty:  # no bytes to view
        return np.zeros(shape, dtype, order)
    array = np.frombuffer(memoryview(content)[stream.tell() :], dtype).reshape(shape, order=order)
    return array if array.flags.aligned else array.copy(order=order)  # kernels need aligned ones


# ---------------------------------------------------------------------- places of arrays


_SMALL = 2**14  # maximum bytes of an array that is concatenated with others
_POOLED = frozenset("biufc")  # kinds of dtypes that are concatenated: numbers


class ArrayWriter:
    """Collect arrays to be written.

    Parameters
    ----------
    together : int
        Maximum number of bytes of an array that is concatenated with others.

    Examples
    --------
    >>> writer = ArrayWriter()
    >>> writer.add(np.arange(2)), writer.add(np.arange(3)), sorted(writer.members())
    ({'in': 'i8', 'at': 0, 'shape': [2]}, {'in': 'i8', 'at': 2, 'shape': [3]}, ['arrays/i8.npy'])
    """

    def __init__(self, together: int = _SMALL) -> None:
        self._together = together
        self._pools: dict[str, list[NDArray[Any]]] = {}
        self._ends: dict[str, int] = {}
        self._alone: list[NDArray[Any]] = []

    def add(self, array: NDArray[Any]) -> dict[str, Any]:
        """Add an array, and return its place in the files."""
        array = np.asarray(array)
        if not array.flags.forc:
            array = np.ascontiguousarray(array)
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        is_native = array.dtype.isnative and array.dtype.kind in _POOLED
        if array.nbytes > self._together or not is_native:
            self._alone.append(array)
            return {"in": f"a{len(self._alone) - 1:05d}"}
        pool = array.dtype.str.lstrip("<>|=")
        start = self._ends.get(pool, 0)
        self._pools.setdefault(pool, []).append(array.ravel(order="K"))
        self._ends[pool] = start + array.size
        place = {"in": pool, "at": start, "shape": list(array.shape)}
        return {**place, "order": "F"} if by_columns else place

    def members(self) -> dict[str, bytes]:
        """Return the .npy files by name."""
        together = {pool: np.concatenate(self._pools[pool]) for pool in sorted(self._pools)}
        alone = {f"a{i:05d}": array for i, array in enumerate(self._alone)}
        return {f"arrays/{n}.npy": to_npy(a) for n, a in {**together, **alone}.items()}


class ArrayReader:
    """Return arrays by their place.

    Parameters
    ----------
    read : callable
        Returns the bytes of a member by name.
    """

    def __init__(self, read: Callable[[str], bytearray]) -> None:
        self._read = read
        self._pools: dict[str, NDArray[Any]] = {}
        self._n_read: dict[str, int] = {}  # by file, the items of arrays so far

    def get(self, place: dict[str, Any]) -> NDArray[Any]:
        """Return the array of a place, as a new array."""
        name = str(place["in"])
        if "at" not in place:
            self._count(name, 1, 1)
            return from_npy(self._read(f"arrays/{name}.npy"))
        if name not in self._pools:
            self._pools[name] = from_npy(self._read(f"arrays/{name}.npy"))
        start, shape = int(place["at"]), tuple(int(n) for n in place["shape"])
        size, pool = math.prod(shape), self._pools[name]
        if start < 0 or min(shape, default=0) < 0 or pool.ndim != 1 or start + size > pool.size:
            raise ValueError(f"an array of shape {shape} is outside of {name}.npy")
        self._count(name, size, pool.size)
        order: Literal["C", "F"] = "F" if place.get("order") == "F" else "C"
        return pool[start : start + size].copy().reshape(shape, order=order)

    def _count(self, name: str, size: int, limit: int) -> None:
        """Raise an error if arrays take more memory than the file: every item is of one array."""
        self._n_read[name] = self._n_read.get(name, 0) + size
        if self._n_read[name] > limit:
            raise ValueError(f"two arrays share items of {name}.npy")
