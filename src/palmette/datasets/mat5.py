"""MATLAB's file format of versions 5 to 7, as far as matrices of numbers go.

scipy.io.loadmat reads more of it, but trusts what it reads: a damaged type code makes its C code
read beyond its tables and the whole process ends. Here every tag is checked before it is believed,
and nothing is unpacked beyond the size that was allowed.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Mat5Error", "MatVariable", "read_mat5"]

Matrix: TypeAlias = "NDArray[np.number] | sparse.csc_array"

_NUMBERS = dict(
    zip(
        (1, 2, 3, 4, 5, 6, 7, 9, 12, 13),
        ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8", "i8", "u8"),
        strict=True,
    )
)
_MATRIX, _COMPRESSED = 14, 15
_SPARSE = 5
_NUMERIC_CLASSES = range(_SPARSE, 16)
_COMPLEX = 0x0800
_CLASSES = {1: "a cell array", 2: "a struct", 3: "an object", 4: "text", 16: "a function"}
_HEAD = 128
_PEEK = 4096  # bytes that hold flags, shape and name


class Mat5Error(Exception):
    """The bytes are not a sound file; the caller knows its name."""


@dataclass(frozen=True)
class MatVariable:
    """A variable as declared, and its value where it was asked for."""

    name: str
    shape: tuple[int, ...]
    class_code: int
    value: Matrix | None = None


def read_mat5(content: bytes, wanted: Collection[str], max_cells: int) -> dict[str, MatVariable]:
    """Read some variables of a file; of the others name and shape.

    Parameters
    ----------
    content : bytes
    wanted : collection of str
        Variables to load; they must be real matrices.
    max_cells : int
        Most cells that a matrix may claim.

    Returns
    -------
    dict of name to MatVariable
        A matrix has the type in which its numbers are stored, which may be narrower than double.
    """
    order = _byte_order(content)
    found: dict[str, MatVariable] = {}
    for kind, body in _elements(memoryview(content)[_HEAD:], order):
        if kind not in (_MATRIX, _COMPRESSED):
            continue
        head = _unpack_matrix(body, order, _PEEK) if kind == _COMPRESSED else body[:_PEEK]
        variable = _declaration(head, order)
        if variable.name in wanted:
            _check(variable, max_cells)
            # a sparse matrix has a value and an index a cell at most, and an index a column
            limit = 16 * (variable.shape[0] + 1) * variable.shape[1] + _PEEK
            whole = _unpack_matrix(body, order, limit) if kind == _COMPRESSED else body
            value = _value(variable, whole, order)
            variable = MatVariable(variable.name, variable.shape, variable.class_code, value)
        found.setdefault(variable.name, variable)
    return found


def _byte_order(content: bytes) -> str:
    mark = content[126:128]
    if len(content) < _HEAD or mark not in (b"IM", b"MI"):
        _fail("it has no MATLAB 5 head")
    order = "<" if mark == b"IM" else ">"
    version = content[124:126]
    if (version if order == ">" else version[::-1]) != b"\x01\x00":
        _fail(f"its version is {version.hex()}, expected 0100")
    return order


def _elements(
    view: memoryview, order: str, packed: bool = True
) -> Iterator[tuple[int, memoryview]]:
    """Yield type and bytes of the elements one after another."""
    place = 0
    while place < len(view):
        if place + 8 > len(view):
            _fail("it is cut short within a tag")
        first, second = np.frombuffer(view[place : place + 8], dtype=f"{order}u4").tolist()
        if first >> 16:  # a small element: its size stands in the upper half, its data beside it
            kind, size, start, end = first & 0xFFFF, first >> 16, place + 4, place + 8
            if size > 4:
                _fail("a small element is too large")
        else:
            kind, size, start = first, second, place + 8
            # compressed elements are not padded to 8 bytes
            end = start + size + (0 if kind == _COMPRESSED and packed else -size % 8)
        if start + size > len(view):
            _fail("an element is cut short")
        yield kind, view[start : start + size]
        place = end


def _unpack_matrix(body: memoryview, order: str, limit: int) -> memoryview:
    """Unpack a compressed matrix, of a large one only the first `limit` bytes."""
    try:
        unpacked = zlib.decompressobj().decompress(body, limit + 8)
    except zlib.error as error:
        _fail(f"its packing is broken ({error})")
    if len(unpacked) < 8:
        _fail("an element is cut short")
    kind, size = np.frombuffer(unpacked[:8], dtype=f"{order}u4").tolist()
    if kind != _MATRIX or len(unpacked) - 8 < min(size, limit):
        _fail("a packed matrix is cut short")
    return memoryview(unpacked)[8 : 8 + size]


def _declaration(head: memoryview, order: str) -> MatVariable:
    parts = _first_elements(head, order, 3)
    (flags_kind, flags), (shape_kind, shape), (_, name) = parts
    if flags_kind != 6 or len(flags) != 8 or shape_kind != 5 or len(shape) % 4 or not len(shape):
        _fail("a matrix has no flags or no shape")
    word = int(np.frombuffer(flags, dtype=f"{order}u4")[0])
    sizes = tuple(np.frombuffer(shape, dtype=f"{order}i4").tolist())
    code = word & 0xFF if not word & _COMPLEX else -1
    return MatVariable(bytes(name).decode("latin-1"), sizes, code)


def _first_elements(view: memoryview, order: str, count: int) -> list[tuple[int, memoryview]]:
    found: list[tuple[int, memoryview]] = []
    elements = _elements(view, order, packed=False)
    while len(found) < count:
        element = next(elements, None)
        if element is None:
            _fail("a matrix lacks a part")
        found.append(element)
    return found


def _check(variable: MatVariable, max_cells: int) -> None:
    if variable.class_code not in _NUMERIC_CLASSES or len(variable.shape) != 2:
        what = "complex" if variable.class_code == -1 else _CLASSES.get(variable.class_code)
        sizes = " x ".join(map(str, variable.shape))
        _fail(f"{variable.name} is {what or 'numbers'} of size {sizes}, expected a real matrix")
    rows, columns = variable.shape
    if min(rows, columns) < 0 or max(rows * columns, columns) > max_cells:
        _fail(f"{variable.name} claims {rows} x {columns} cells, more than {max_cells:,}")


def _value(variable: MatVariable, view: memoryview, order: str) -> Matrix:
    rows, columns = variable.shape
    if variable.class_code != _SPARSE:
        values = _numbers(_first_elements(view, order, 4)[3], order)
        if len(values) != rows * columns:
            _fail(f"{variable.name} has {len(values)} numbers, expected {rows * columns}")
        return values.reshape((rows, columns), order="F")
    row_of, start_of, values = (
        _numbers(part, order) for part in _first_elements(view, order, 6)[3:]
    )
    if row_of.dtype.kind not in "iu" or start_of.dtype.kind not in "iu":
        _fail(f"{variable.name} has indices that are no whole numbers")
    starts, indices = (np.asarray(part, dtype=np.int64) for part in (start_of, row_of))
    stored = int(starts[-1]) if len(starts) else 0
    is_sound = len(starts) == columns + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
    if not is_sound or stored > min(len(values), len(indices)):
        _fail(f"{variable.name} is no sound sparse matrix")
    indices = indices[:stored]
    if stored and (indices.min() < 0 or indices.max() >= rows):
        _fail(f"{variable.name} has an index outside of its {rows} rows")
    return sparse.csc_array((values[:stored], indices, starts), shape=(rows, columns))


def _numbers(element: tuple[int, memoryview], order: str) -> NDArray[np.number]:
    kind, body = element
    code = _NUMBERS.get(kind)
    if code is None or len(body) % int(code[1]):
        _fail(f"a part of type {kind} and {len(body)} bytes is not numbers")
    stored = np.frombuffer(body, dtype=f"{order}{code}")
    return stored.astype(stored.dtype.newbyteorder("="), copy=False)


def _fail(message: str) -> NoReturn:
    raise Mat5Error(message)
