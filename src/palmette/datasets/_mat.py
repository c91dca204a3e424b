"""MATLAB files: a data matrix with a tree of classes, or with a matrix of labels."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from palmette._files import read_bytes
from palmette.datasets._reading import INDICATOR, NODES, numbered_names, object_array
from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy

MAX_CELLS = 2**28  # 2 GiB of doubles: a header of some bytes can claim any size
_SPARSE_BELOW = 0.1  # share of nonzero cells under which CSR is smaller and quicker
_READ = {"data_array", "tree", "data", "target"}
_HDF5 = b"\x89HDF\r\n\x1a\n"


def read_mat(path: str | os.PathLike[str]) -> Bunch:
    """Read a MATLAB file in one of two layouts; version 7.3 (HDF5) needs h5py.

    ``data_array`` and ``tree``
        Rows of features with the class, a node number from 1, in the last column; ``tree`` has
        the parent of every node, 0 for the root, in its first column. A second column with
        levels is ignored.
    ``data`` and ``target``
        Rows of features, and 0/1 (or -1/1) labels of shape (n_labels, n_samples).

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Bunch
        ``X`` of shape (n_samples, n_features), a CSR array if fewer than a tenth of its cells
        are nonzero; ``y``, 1-D node numbers, which are the names in ``hierarchy``, or a 0/1
        matrix with ``label_names``; ``feature_names`` x0, x1, ...; ``target_form``.

    Examples
    --------
    >>> import scipy.io, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "tree.mat")
    ...     content = {"data_array": [[0.5, 1], [0.7, 2]], "tree": [[3, 1], [3, 1], [0, 0]]}
    ...     scipy.io.savemat(file, content)
    ...     bunch = read_mat(file)
    >>> bunch.y.tolist(), bunch.hierarchy.names.tolist()
    ([1, 2], [3, 1, 2])
    """
    content = read_bytes(path)
    is_hdf5 = content[:8] == _HDF5 or content[512:520] == _HDF5
    try:
        variables = (read_mat73 if is_hdf5 else read_mat5)(content, _READ, MAX_CELLS)
    except ImportError as error:
        raise ReadError(
            "this is a MATLAB 7.3 file (HDF5), which needs h5py: pip install 'palmette[hdf5]'. Or "
            "save it again in MATLAB with save(..., '-v7')",
            path=path,
        ) from error
    except Mat5Error as error:
        words = f"this is not a MATLAB file of version 5 to 7, or it is damaged: {error}"
        if is_hdf5:
            words = (
                f"this MATLAB 7.3 file (HDF5) cannot be read: {error}. Save it again in MATLAB, "
                "with save(..., '-v7') for version 7"
            )
        raise ReadError(words, path=path) from error
    values = {name: variable.value for name, variable in variables.items()}
    if values.keys() >= {"data_array", "tree"}:
        return _with_tree(values["data_array"], values["tree"], path)
    if values.keys() >= {"data", "target"}:
        return _with_labels(values["data"], values["target"], path)
    raise ReadError(
        "expected the variables data_array and tree, or data and target; found "
        + (", ".join(sorted(variables)) or "none"),
        path=path,
    )


def _with_tree(data: Any, tree: Any, path: str | os.PathLike[str]) -> Bunch:
    if data.shape[1] < 2 or tree.shape[1] < 1 or not tree.shape[0]:
        raise ReadError(
            f"data_array has the shape {data.shape} and tree {tree.shape}: expected features and "
            "a class, and a parent for every node",
            path=path,
        )
    hierarchy = _hierarchy(tree, path)
    y = _integers(_dense(data[:, [-1]])[:, 0], "classes", path)
    wrong = np.flatnonzero((y < 1) | (y > hierarchy.n_nodes))
    if len(wrong):
        raise ReadError(
            f"row {wrong[0] + 1} of data_array has the class {y[wrong[0]]}, expected a node from "
            f"1 to {hierarchy.n_nodes}",
            path=path,
        )
    features = _compact(data[:, :-1])
    return Bunch(
        X=features,
        y=y,
        hierarchy=hierarchy,
        feature_names=numbered_names(features.shape[1]),
        target_form=NODES,
    )


def _hierarchy(tree: Any, path: str | os.PathLike[str]) -> Hierarchy:
    # The trees are uint8, where 0 - 1 is 255: widen before anything is computed.
    parents = _integers(_dense(tree)[:, 0], "parents in tree", path)
    if len(parents) and not ((parents >= 0) & (parents <= len(parents))).all():
        raise ReadError(
            f"a parent in tree is not a node from 1 to {len(parents)}, nor 0 for the root",
            path=path,
        )
    try:
        return Hierarchy.from_parents(parents - 1, names=list(range(1, len(parents) + 1)))
    except HierarchyError as error:
        raise HierarchyError(f"{os.fspath(path)}: {error}") from error


def _with_labels(data: Any, target: Any, path: str | os.PathLike[str]) -> Bunch:
    if target.shape[1] != data.shape[0] or not data.shape[1]:
        raise ReadError(
            f"data has the shape {data.shape} and target {target.shape}: expected rows x features "
            "and labels x rows",
            path=path,
        )
    labels = _dense(target).T
    values = set(np.unique(labels).tolist())
    if not (values <= {0, 1} or values <= {-1, 1}):
        raise ReadError(f"target has the values {sorted(values)[:5]}, expected 0 and 1", path=path)
    names = object_array(f"y{i}" for i in range(labels.shape[1]))
    features = _compact(data)
    return Bunch(
        X=features,
        y=np.ascontiguousarray(labels > 0, dtype=np.int8),
        label_names=names,
        hierarchy=Hierarchy.star(names.tolist()),
        feature_names=numbered_names(features.shape[1]),
        target_form=INDICATOR,
    )


def _compact(features: Any) -> Any:
    """Return float64 features, sparse if that is smaller."""
    if sparse.issparse(features):
        return sparse.csr_array(features.astype(np.float64))
    if np.count_nonzero(features) < _SPARSE_BELOW * features.size:
        # MATLAB's matrices are stored by column, so that this order is faster
        by_column = sparse.csr_array(features.T, dtype=np.float64)
        return sparse.csr_array(by_column.T)
    return np.ascontiguousarray(features, dtype=np.float64)


def _dense(matrix: Any) -> NDArray[Any]:
    if not sparse.issparse(matrix):
        return np.asarray(matrix)
    return np.asarray(matrix.toarray())


def _integers(values: NDArray[Any], what: str, path: str | os.PathLike[str]) -> NDArray[np.int64]:
    numbers = values.astype(np.float64)
    # NaN and infinities fail the second test
    if not ((numbers == np.floor(numbers)) & (np.abs(numbers) < 2**53)).all():
        raise ReadError(f"the {what} are not integers", path=path)
    return numbers.astype(np.int64)


# ---------------------------------------------------------------------- MATLAB 5 to 7
#
# scipy.io.loadmat reads more of the format, but trusts the file: a damaged one can make it allocate
# any amount of memory, or crash.

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
_PEEK = 4096  # bytes for flags, shape and name


class Mat5Error(Exception):
    """The bytes are not a valid file. The caller adds its name."""


@dataclass(frozen=True)
class MatVariable:
    """A variable as declared, and its value if it was requested."""

    name: str
    shape: tuple[int, ...]
    class_code: int
    value: Matrix | None = None


def read_mat5(content: bytes, wanted: Collection[str], max_cells: int) -> dict[str, MatVariable]:
    """Read some variables of a file, and only name and shape of the others.

    Parameters
    ----------
    content : bytes
    wanted : collection of str
        Variables to load; they must be real matrices.
    max_cells : int
        Maximum number of cells of a matrix.

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
        head = _decompress_matrix(body, order, _PEEK) if kind == _COMPRESSED else body[:_PEEK]
        variable = _declaration(head, order)
        if variable.name in wanted:
            _check(variable, max_cells)
            # a sparse matrix has at most one value and one index per cell, and one index per column
            limit = 16 * (variable.shape[0] + 1) * variable.shape[1] + _PEEK
            whole = _decompress_matrix(body, order, limit) if kind == _COMPRESSED else body
            value = _value(variable, whole, order)
            variable = MatVariable(variable.name, variable.shape, variable.class_code, value)
        found.setdefault(variable.name, variable)
    return found


def _byte_order(content: bytes) -> str:
    mark = content[126:128]
    if len(content) < _HEAD or mark not in (b"IM", b"MI"):
        _fail("it has no MATLAB 5 header")
    order = "<" if mark == b"IM" else ">"
    version = content[124:126]
    if (version if order == ">" else version[::-1]) != b"\x01\x00":
        _fail(f"its version is {version.hex()}, expected 0100")
    return order


def _elements(
    view: memoryview, order: str, may_compress: bool = True
) -> Iterator[tuple[int, memoryview]]:
    """Yield type and bytes of the elements one after another."""
    place = 0
    while place < len(view):
        if place + 8 > len(view):
            _fail("it is truncated within a tag")
        first, second = np.frombuffer(view[place : place + 8], dtype=f"{order}u4").tolist()
        if first >> 16:  # a small element: its size is in the upper half, followed by its data
            kind, size, start, end = first & 0xFFFF, first >> 16, place + 4, place + 8
            if size > 4:
                _fail("a small element is too large")
        else:
            kind, size, start = first, second, place + 8
            # compressed elements are not padded to 8 bytes
            end = start + size + (0 if kind == _COMPRESSED and may_compress else -size % 8)
        if start + size > len(view):
            _fail("an element is truncated")
        yield kind, view[start : start + size]
        place = end


def _decompress_matrix(body: memoryview, order: str, limit: int) -> memoryview:
    """Decompress a matrix, at most the first `limit` bytes."""
    try:
        plain = zlib.decompressobj().decompress(body, limit + 8)
    except zlib.error as error:
        _fail(f"its compressed data are damaged ({error})")
    if len(plain) < 8:
        _fail("an element is truncated")
    kind, size = np.frombuffer(plain[:8], dtype=f"{order}u4").tolist()
    if kind != _MATRIX or len(plain) - 8 < min(size, limit):
        _fail("a compressed matrix is truncated")
    return memoryview(plain)[8 : 8 + size]


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
    elements = _elements(view, order, may_compress=False)
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
        _fail(f"{variable.name} has {rows} x {columns} cells: expected at most {max_cells:,}")


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
        _fail(f"{variable.name} has indices that are not integers")
    starts, indices = (np.asarray(part, dtype=np.int64) for part in (start_of, row_of))
    if len(starts) != columns + 1:
        _fail(f"{variable.name} is not a valid sparse matrix")
    return _sparse(variable.name, indices, starts, values, rows)


def _sparse(
    name: str, indices: NDArray[np.int64], starts: NDArray[np.int64], values: Any, rows: int
) -> sparse.csc_array:
    """Return a sparse matrix stored by column, after a check of its indices."""
    stored = int(starts[-1]) if len(starts) else 0
    is_sound = len(starts) > 0 and starts[0] == 0 and (np.diff(starts) >= 0).all()
    if not is_sound or stored > min(len(values), len(indices)):
        _fail(f"{name} is not a valid sparse matrix")
    indices = indices[:stored]
    if stored and (indices.min() < 0 or indices.max() >= rows):
        _fail(f"{name} has an index outside of its {rows} rows")
    return sparse.csc_array((values[:stored], indices, starts), shape=(rows, len(starts) - 1))


def _numbers(element: tuple[int, memoryview], order: str) -> NDArray[np.number]:
    kind, body = element
    code = _NUMBERS.get(kind)
    if code is None or len(body) % int(code[1]):
        _fail(f"a part of type {kind} and {len(body)} bytes is not numbers")
    stored = np.frombuffer(body, dtype=f"{order}{code}")
    return stored.astype(stored.dtype.newbyteorder("="), copy=False)


def _fail(message: str) -> NoReturn:
    raise Mat5Error(message)


# ---------------------------------------------------------------------- MATLAB 7.3


def read_mat73(content: bytes, wanted: Collection[str], max_cells: int) -> dict[str, MatVariable]:
    """Read some variables of a file in HDF5, and only the names of the others; see `read_mat5`.

    Links to other files, and data in them, are refused.

    Parameters
    ----------
    content : bytes
    wanted : collection of str
    max_cells : int

    Returns
    -------
    dict of name to MatVariable
    """
    import h5py

    found: dict[str, MatVariable] = {}
    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            for name in file:
                value = None
                if name in wanted:
                    value = _hdf5_matrix(file, name, max_cells)
                found[name] = MatVariable(name, () if value is None else value.shape, 0, value)
    except (OSError, KeyError, RuntimeError, ValueError, TypeError, OverflowError) as error:
        _fail(" ".join(str(error).split())[:200])
    return found


def _hdf5_matrix(file: Any, name: str, max_cells: int) -> Matrix:
    import h5py

    def array(place: str) -> Any:
        if not isinstance(file.get(place, getlink=True), h5py.HardLink):
            _fail(f"{place} is a link to another file")
        item = file[place]
        is_plain = isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf"
        if not is_plain or item.is_virtual or item.external:
            _fail(f"{place} is not an array of real numbers in this file")
        if item.size is None or item.size > max_cells:
            _fail(f"{place} has {item.size} cells: expected at most {max_cells:,}")
        return item[()]

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        _fail(f"{name} is a link to another file")
    if isinstance(file[name], h5py.Group):
        rows = int(file[name].attrs.get("MATLAB_sparse", -1))
        if rows < 0:
            _fail(f"{name} is a struct or an object, expected a real matrix")
        starts = np.asarray(array(f"{name}/jc"), dtype=np.int64)
        parts = [array(f"{name}/{key}") if key in file[name] else np.zeros(0)
                 for key in ("ir", "data")]  # fmt: skip
        if max(rows, 1) * max(len(starts) - 1, 0) > max_cells:
            _fail(f"{name} has more than {max_cells:,} cells")
        return _sparse(name, np.asarray(parts[0], dtype=np.int64), starts, parts[1], rows)
    if file[name].attrs.get("MATLAB_empty", 0):
        return np.zeros((0, 0))
    values = array(name)
    if values.ndim != 2:
        _fail(f"{name} has {values.ndim} dimensions, expected a real matrix")
    matrix: Matrix = values.T  # HDF5 stores rows, MATLAB columns
    return matrix
