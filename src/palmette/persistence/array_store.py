"""Where the arrays of a model lie: small ones together, large ones each in a member of its own.

A model may hold thousands of arrays of a few numbers; a file for each would be mostly headers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.persistence.npy import from_npy, to_npy

__all__ = ["ArrayReader", "ArrayWriter"]

_SMALL = 2**14  # bytes of an array that goes with others
_POOLED = frozenset("biufc")  # kinds of numbers; others bring a dtype that is better kept whole


class ArrayWriter:
    """Gather arrays.

    Examples
    --------
    >>> writer = ArrayWriter()
    >>> writer.add(np.arange(2)), writer.add(np.arange(3)), sorted(writer.members())
    ({'in': 'i8', 'at': 0, 'shape': [2]}, {'in': 'i8', 'at': 2, 'shape': [3]}, ['arrays/i8.npy'])
    """

    def __init__(self) -> None:
        self._pools: dict[str, list[NDArray[Any]]] = {}
        self._ends: dict[str, int] = {}
        self._alone: list[NDArray[Any]] = []

    def add(self, array: NDArray[Any]) -> dict[str, Any]:
        """Keep an array, and tell where it will lie."""
        array = np.asarray(array)
        if not array.flags.forc:
            array = np.ascontiguousarray(array)
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        is_native = array.dtype.isnative and array.dtype.kind in _POOLED
        if array.nbytes > _SMALL or not is_native:
            self._alone.append(array)
            return {"in": f"a{len(self._alone) - 1:05d}"}
        pool = array.dtype.str.lstrip("<>|=")
        start = self._ends.get(pool, 0)
        self._pools.setdefault(pool, []).append(array.ravel(order="K"))
        self._ends[pool] = start + array.size
        place = {"in": pool, "at": start, "shape": list(array.shape)}
        return {**place, "order": "F"} if by_columns else place

    def members(self) -> dict[str, bytes]:
        """Return the .npy files by their names."""
        together = {pool: np.concatenate(self._pools[pool]) for pool in sorted(self._pools)}
        alone = {f"a{i:05d}": array for i, array in enumerate(self._alone)}
        return {f"arrays/{n}.npy": to_npy(a) for n, a in {**together, **alone}.items()}


class ArrayReader:
    """Give arrays back.

    Parameters
    ----------
    read : callable
        From the name of a member to its bytes.
    """

    def __init__(self, read: Callable[[str], bytearray]) -> None:
        self._read = read
        self._pools: dict[str, NDArray[Any]] = {}

    def get(self, place: dict[str, Any]) -> NDArray[Any]:
        """Return the array that lies at a place, one that nothing else refers to."""
        name = str(place["in"])
        if "at" not in place:
            return from_npy(self._read(f"arrays/{name}.npy"))
        if name not in self._pools:
            self._pools[name] = from_npy(self._read(f"arrays/{name}.npy"))
        start, shape = int(place["at"]), tuple(int(n) for n in place["shape"])
        size, pool = math.prod(shape), self._pools[name]
        if start < 0 or min(shape, default=0) < 0 or pool.ndim != 1 or start + size > pool.size:
            raise ValueError(f"an array of shape {shape} lies outside of {name}.npy")
        order = "F" if place.get("order") == "F" else "C"
        return pool[start : start + size].copy().reshape(shape, order=order)
