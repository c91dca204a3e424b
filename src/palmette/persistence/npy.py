"""Arrays as .npy files, and back, without a copy where there need be none.

A header is believed only as far as the bytes bear it out, and arrays of objects, which .npy files
hold as pickles, are refused.
"""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

__all__ = ["from_npy", "to_npy"]

_LONGEST_HEADER = 2**16  # bytes
_MOST_EMPTY = 2**20  # empty strings; numpy takes memory for each, although they have no bytes


def to_npy(array: NDArray[Any]) -> bytes:
    """Return the bytes of a .npy file.

    Examples
    --------
    >>> from_npy(bytearray(to_npy(np.arange(3))))
    array([0, 1, 2])
    """
    stream = io.BytesIO()
    clean = _without_gaps(array)
    if clean is array:
        npy.write_array(stream, array, allow_pickle=False)
    else:
        npy.write_array_header_1_0(stream, npy.header_data_from_array_1_0(clean))
        # as it lies in memory: numpy's own way copies by field, and leaves the gaps to chance
        stream.write(clean.ravel(order="K").tobytes())
    return stream.getvalue()


def _without_gaps(array: NDArray[Any]) -> NDArray[Any]:
    """Return records with zeros between their fields, where else there is whatever memory held."""
    fields = array.dtype.fields
    if not fields or sum(kind.itemsize for kind, *_ in fields.values()) == array.dtype.itemsize:
        return array
    clean = np.zeros(array.shape, array.dtype)  # zeros_like would fill the fields alone
    for name in fields:
        clean[name] = array[name]
    return clean


def from_npy(content: bytearray | bytes) -> NDArray[Any]:
    """Return a .npy file as an array that lives in its bytes.

    Parameters
    ----------
    content : bytearray or bytes

    Returns
    -------
    array
        Writable where the bytes are.

    Raises
    ------
    ValueError
        Where the bytes are none of such a file.
    """
    stream = io.BytesIO(memoryview(content)[: _LONGEST_HEADER + 16])
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, by_columns, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, by_columns, dtype = npy.read_array_header_2_0(stream)
    else:
        raise ValueError(f"version {version} of .npy is unknown")
    if dtype.hasobject:
        raise ValueError("an array holds objects")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != (
        len(content) - stream.tell()
    ):
        raise ValueError(f"an array has another shape than {shape}")
    if not dtype.itemsize and math.prod(shape) > _MOST_EMPTY:
        raise ValueError(f"an array of shape {shape} takes no bytes")
    order = "F" if by_columns else "C"
    if not math.prod(shape) or not dtype.itemsize:  # there is nothing to view
        return np.zeros(shape, dtype, order)
    return np.frombuffer(memoryview(content)[stream.tell() :], dtype).reshape(shape, order=order)
