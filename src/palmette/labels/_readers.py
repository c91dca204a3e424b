"""Read `y` in any form as sets of nodes: names, tables, paths, label sets, 0/1 matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import IntArray
from palmette.exceptions import LabelError
from palmette.hierarchy._graph import strip_padding
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import as_list, distinct, is_padding, shown, sorted_labels
from palmette.hierarchy._separators import SEPARATORS, detect_separator, split_path
from palmette.labels._containers import Container
from palmette.labels._forms import LabelForm, Reading, ends_in_nul, find_all, node_csr, one_per_row


def is_indicator(values: NDArray[Any], container: Container, hierarchy: Hierarchy | None) -> bool:
    """Whether a 2-D array is a 0/1 matrix rather than a table of paths.

    A boolean array always is. An array of 0 and 1 is, unless the columns do not fit the given
    hierarchy: then the numbers are names of nodes.
    """
    if values.dtype.kind == "b":
        return True
    if values.dtype.kind not in "iuf" or not ((values == 0) | (values == 1)).all():
        return False
    if hierarchy is None or any(name in hierarchy for name in _chosen_names(container)):
        return True
    return values.shape[1] in _widths(hierarchy)


def read_indicator(
    matrix: sparse.csr_array, container: Container, hierarchy: Hierarchy | None, dtype: Any = None
) -> Reading:
    """Read a 0/1 matrix of shape (n_samples, n_columns); `dtype` is that of a dense one."""
    odd = matrix.data[(matrix.data != 0) & (matrix.data != 1)]
    if odd.size:
        raise LabelError(f"the indicator matrix y contains {odd[0]}: expected 0 and 1 only.")
    width = matrix.shape[1]
    if hierarchy is None:
        hierarchy = Hierarchy.star(range(width) if container.columns is None else container.columns)
        columns = np.arange(1, width + 1, dtype=np.int32)
    else:
        columns = _columns_of(width, container, hierarchy)
    flags = matrix.astype(bool)  # a copy
    flags.sum_duplicates()
    flags.eliminate_zeros()
    given = node_csr(columns[flags.indices], flags.indptr, hierarchy.n_nodes)
    form = LabelForm(
        "indicator",
        container,
        dtype=matrix.dtype if dtype is None else dtype,
        width=width,
        columns=columns,
    )
    return Reading(hierarchy, given, form)


def _chosen_names(container: Container) -> tuple[Any, ...]:
    return () if container.columns is None or container.is_numbered else container.columns


def _columns_of(width: int, container: Container, hierarchy: Hierarchy) -> IntArray:
    """Return the node of every column: by name if columns are named after nodes, else by width."""
    names = _chosen_names(container)
    unknown = [name for name in names if name not in hierarchy]
    if len(unknown) == len(names):
        return _columns_by_width(width, hierarchy)
    if unknown:
        raise LabelError(
            f"{len(unknown)} of the {width} columns of the indicator matrix y are not in the "
            f"hierarchy, e.g. {shown(unknown[0])}. Rename or delete them, or add the nodes."
        )
    columns: IntArray = hierarchy.index(list(names))
    twice = np.flatnonzero(np.bincount(columns) > 1)
    if twice.size:
        same = [name for name, node in zip(names, columns, strict=True) if node == twice[0]]
        raise LabelError(
            f"the columns {', '.join(map(shown, same))} of the indicator matrix y stand for the "
            "same node. Keep one of them."
        )
    return columns


def _widths(hierarchy: Hierarchy) -> tuple[int, int, int]:
    return hierarchy.n_nodes, hierarchy.n_nodes - 1, hierarchy.n_leaves


def _columns_by_width(width: int, hierarchy: Hierarchy) -> IntArray:
    everything, below_root, leaves = _widths(hierarchy)
    if width == everything:
        return np.arange(width, dtype=np.int32)
    if width == below_root:
        return np.arange(1, width + 1, dtype=np.int32)
    if width == leaves:
        return hierarchy.leaves
    raise LabelError(
        f"the indicator matrix y has {width} columns: expected {everything} (all nodes), "
        f"{below_root} (all but the root) or {leaves} (leaves). Or pass a DataFrame whose columns "
        "are node names."
    )


Codes = NDArray[np.int64]

_SETS = (set, frozenset)
_ROWS = (tuple, list, *_SETS)
_NO_DATE = np.datetime64("NaT", "Y")  # the coarsest unit: that of the column is kept
_DEFAULT_PADDING = {"U": "", "T": "", "S": b"", "f": np.nan, "c": np.nan, "M": _NO_DATE}


def read_labels(
    values: Any, container: Container, hierarchy: Hierarchy | None, flat: bool = False
) -> Reading:
    """Read the list, array or sparse array returned by `unwrap`.

    Strings that form a tree, such as ``"a/b"``, are paths if there is no hierarchy, unless `flat`.
    """
    if sparse.issparse(values):
        return read_indicator(values, container, hierarchy)
    if isinstance(values, list):
        return _read_column(values, None, container, hierarchy, flat)
    if values.ndim not in (1, 2) or values.dtype.kind == "V":
        raise LabelError(
            f"y has {values.ndim} dimensions (shape {values.shape}, type {values.dtype}): expected "
            "1-D names, a 2-D table of paths or a 2-D indicator matrix."
        )
    if values.ndim == 2 and not values.shape[1]:
        raise LabelError(f"y has shape {values.shape}: expected at least one column.")
    if values.ndim == 1 or values.shape[1] == 1:
        return _read_column(_cells(values), values, container, hierarchy, flat)
    if is_indicator(values, container, hierarchy):
        flags = sparse.csr_array(values != 0)  # scipy does not support every numeric type
        return read_indicator(flags, container, hierarchy, values.dtype)
    return _read_table(values, container, hierarchy)


def _cells(values: NDArray[Any]) -> list[Any]:
    """Return the Python values of a column."""
    return as_list(values.ravel())


def _read_column(
    items: list[Any],
    values: NDArray[Any] | None,
    container: Container,
    hierarchy: Hierarchy | None,
    flat: bool,
) -> Reading:
    """Read one item per row: names, or tuples, lists and sets."""
    types = set(map(type, items))
    if np.ndarray in types:
        items = [item.tolist() if isinstance(item, np.ndarray) else item for item in items]
        types = set(map(type, items))
    if not any(issubclass(t, _ROWS) for t in types):
        return _read_names(items, values, container, hierarchy, flat)
    row_type, *others = {_row_type(t) for t in types}
    if others or row_type is None:
        raise LabelError(_describe_mixture(items))
    if row_type is set or _holds_paths(items):
        is_frozen = isinstance(items[0], frozenset)
        return _read_sets(items, frozenset if is_frozen else row_type, container, hierarchy, flat)
    return _read_paths(items, row_type, container, hierarchy)


# ---------------------------------------------------------------------- names


def _read_names(
    items: list[Any],
    values: NDArray[Any] | None,
    container: Container,
    hierarchy: Hierarchy | None,
    flat: bool,
) -> Reading:
    unique, codes = distinct(items)
    name_row = partial(_first_row, codes)
    for i, label in enumerate(unique):
        if is_padding(label):
            raise LabelError(f"{name_row(i)} is missing ({label!r}). Fill it in or drop the row.")
    separator, paths = _paths_in(unique, name_row, hierarchy, flat)
    if separator is not None:
        hierarchy = Hierarchy.from_paths(sorted_labels(set(paths)))
        nodes = find_all(paths, hierarchy, name_row)
    elif hierarchy is None:
        hierarchy = Hierarchy.star(sorted_labels(unique))
        node_of = {label: i for i, label in enumerate(hierarchy.names.tolist()) if i}
        nodes = np.asarray([node_of[label] for label in unique], dtype=np.int32)
    else:
        nodes = find_all(unique, hierarchy, name_row)
        separator = _separator_of(unique, nodes, hierarchy)
    form = LabelForm(
        "names",
        container,
        dtype=_dtype_of(unique) if values is None else values.dtype,
        width=0 if values is None or values.ndim == 1 else 1,
        spelling=_spelling(unique, nodes),
        style=_style(unique, nodes, hierarchy),
        separator=separator,
    )
    return Reading(hierarchy, one_per_row(nodes[codes], hierarchy.n_nodes), form)


def _dtype_of(labels: list[Any]) -> np.dtype[Any]:
    """Return the array type of labels in a list: object, unless numpy keeps them unchanged."""
    types = set(map(type, labels))
    if len(types) == 1 and types <= {str, bytes, bool, int, float} and not ends_in_nul(labels):
        dtype = np.asarray(labels).dtype
        if int not in types or dtype.kind in "iu":  # integers beyond 64 bits become floats
            return dtype
    return np.dtype(object)


# ---------------------------------------------------------------------- paths


def _read_table(values: NDArray[Any], container: Container, hierarchy: Hierarchy | None) -> Reading:
    """Read a 2-D table; encoding each column is faster than hashing rows."""
    columns, codes = [], []
    for j in range(values.shape[1]):
        unique, column_codes = distinct(_cells(values[:, j]), partial(_cell_name, j))
        missing = [i for i, cell in enumerate(unique) if is_padding(cell)]
        if missing:  # NaNs are distinct values: replace them by the first
            place = np.arange(len(unique))
            place[missing] = missing[0]
            column_codes = place[column_codes]
        columns.append(unique)
        codes.append(column_codes)
    first, row_codes = _distinct_rows(codes, list(map(len, columns)), len(values))
    rows = [
        tuple(column[code] for column, code in zip(columns, row, strict=True))
        for row in zip(*(column_codes[first].tolist() for column_codes in codes), strict=True)
    ]
    form = LabelForm(
        "table",
        container,
        dtype=values.dtype,
        padding=_padding_of(columns, _DEFAULT_PADDING.get(values.dtype.kind)),
        width=values.shape[1],
    )
    return _place_paths(rows, row_codes, form, hierarchy)


def _padding_of(columns: Iterable[Sequence[Any]], default: Any) -> tuple[Any, ...]:
    """Return the padding of each column; a column without any gets that of another."""
    found = [[cell for cell in column if is_padding(cell)][:1] for column in columns]
    other = next((cells[0] for cells in found if cells), default)
    return tuple(cells[0] if cells else other for cells in found)


def _cell_name(column: int, row: int) -> str:
    return f"y[{row}, {column}]"


def _distinct_rows(codes: list[Codes], sizes: list[int], n_rows: int) -> tuple[Codes, Codes]:
    """Return the first row of each group of equal rows, ascending, and the group of every row."""
    key, bound = np.zeros(n_rows, dtype=np.int64), 1
    for column, size in zip(codes, sizes, strict=True):
        if bound * size >= 2**63:
            _, key = np.unique(key, return_inverse=True)
            bound = n_rows
        key, bound = key * size + column, bound * size
    _, first, kind = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[kind]


def _read_paths(
    items: list[Any], row_type: type, container: Container, hierarchy: Hierarchy | None
) -> Reading:
    unique, codes = distinct(items if row_type is tuple else list(map(tuple, items)))
    padding: tuple[Any, ...] = ()
    if len(set(map(len, unique))) == 1 and any(row and is_padding(row[-1]) for row in unique):
        # rows padded to one length: predictions are padded too
        padding = _padding_of(zip(*unique, strict=True), None)
    form = LabelForm("paths", container, padding=padding, width=len(padding), row_type=row_type)
    return _place_paths(unique, codes, form, hierarchy)


def _place_paths(
    rows: Sequence[tuple[Any, ...]], codes: Codes, form: LabelForm, hierarchy: Hierarchy | None
) -> Reading:
    name_row = partial(_first_row, codes)
    paths = [strip_padding(row, partial(name_row, i)) for i, row in enumerate(rows)]
    if hierarchy is None:
        hierarchy = Hierarchy.from_paths(sorted_labels(set(paths)))
    else:
        hierarchy.require_tree("y as paths (give node names or sets of them for a DAG)")
    nodes = find_all(paths, hierarchy, name_row)
    return Reading(hierarchy, one_per_row(nodes[codes], hierarchy.n_nodes), form)


# ---------------------------------------------------------------------- sets


def _read_sets(
    rows: list[Any], row_type: type, container: Container, hierarchy: Hierarchy | None, flat: bool
) -> Reading:
    owner = np.repeat(np.arange(len(rows)), np.fromiter(map(len, rows), np.int64, len(rows)))
    members = [member for row in rows for member in row]
    if list in set(map(type, members)):
        members = [tuple(member) if isinstance(member, list) else member for member in members]
    listed, codes = distinct(members, lambda i: f"a label of y[{owner[i]}]")

    def name_row(i: int) -> str:
        return f"y[{owner[_first(codes, i)]}]"

    unique = [_member(label, partial(name_row, i)) for i, label in enumerate(listed)]
    separator, paths = _paths_in(unique, name_row, hierarchy, flat)
    if hierarchy is None:
        hierarchy = _hierarchy_of_members(paths)
    nodes = find_all(paths, hierarchy, name_row)
    form = LabelForm(
        "sets",
        container,
        row_type=row_type,
        spelling=_spelling(unique, nodes),
        style=_style(unique, nodes, hierarchy),
        separator=separator or _separator_of(unique, nodes, hierarchy),
    )
    entries = nodes[codes]
    # a node that a row lists twice, perhaps in two spellings, is one label
    key, first = np.unique(owner * hierarchy.n_nodes + entries, return_index=True)
    starts = np.searchsorted(key, np.arange(len(rows) + 1) * hierarchy.n_nodes)
    given = node_csr(key % hierarchy.n_nodes, starts, hierarchy.n_nodes)
    order_matters = row_type not in _SETS
    return Reading(hierarchy, given, form, entries[np.sort(first)] if order_matters else None)


def _member(label: Any, name_row: Callable[[], str]) -> Any:
    if is_padding(label):
        raise LabelError(f"{name_row()} contains the missing label {label!r}. Remove it.")
    return strip_padding(label, name_row) if isinstance(label, tuple) else label


def _hierarchy_of_members(unique: Sequence[Any]) -> Hierarchy:
    if any(isinstance(member, tuple) for member in unique):
        paths = {m if isinstance(m, tuple) else (m,) for m in unique}
        return Hierarchy.from_paths(sorted_labels(paths))
    return Hierarchy.star(sorted_labels(unique))


# ---------------------------------------------------------------------- rows


def _row_type(item_type: type) -> type | None:
    """Return the base type of a row: set, tuple or list; None for anything else."""
    if issubclass(item_type, _SETS):
        return set
    return next((base for base in (tuple, list) if issubclass(item_type, base)), None)


def _holds_paths(rows: list[Any]) -> bool:
    """Whether the members of rows are paths, so that a row has several labels."""
    types = {type(member) for row in rows for member in row}
    n_nested = sum(issubclass(t, tuple | list) for t in types)
    if n_nested in (0, len(types)):
        return n_nested > 0
    for i, row in enumerate(rows):
        if any(isinstance(member, tuple | list) for member in row):
            raise LabelError(
                f"y[{i}] = {shown(row)} contains paths, but other members of rows are not paths. "
                "Write a path as a tuple of names, and several labels as a list of such tuples."
            )
    raise AssertionError("some member is a path")


def _describe_mixture(items: list[Any]) -> str:
    for i, item in enumerate(items):
        if is_padding(item):
            return f"y[{i}] is missing ({item!r}). Fill it in or drop the row."
    first = _row_type(type(items[0]))
    i = next(i for i, item in enumerate(items) if _row_type(type(item)) is not first)
    return (
        f"y[{i}] = {shown(items[i])} is a {type(items[i]).__name__}, but y[0] = {shown(items[0])} "
        f"is a {type(items[0]).__name__}: expected rows of one type. Write paths as tuples, and "
        "several labels as sets."
    )


# ---------------------------------------------------------------------- helpers


def _first(codes: Codes, code: int) -> int:
    return int(np.flatnonzero(codes == code)[0])


def _first_row(codes: Codes, code: int) -> str:
    return f"y[{_first(codes, code)}]"


def _spelling(unique: Sequence[Any], nodes: IntArray) -> dict[int, Any]:
    return dict(zip(nodes.tolist()[::-1], unique[::-1], strict=True))


def _paths_in(
    unique: list[Any], name_row: Callable[[int], str], hierarchy: Hierarchy | None, flat: bool
) -> tuple[str | None, list[Any]]:
    """Return the separator of strings that form a tree, and their paths; else None and labels."""
    is_open = hierarchy is None and not flat and all(isinstance(label, str) for label in unique)
    separator = detect_separator(unique) if is_open else None
    if separator is None:
        return None, unique
    paths = [split_path(label, separator) for label in unique]
    for i, path in enumerate(paths):
        if not path or not all(path):
            raise LabelError(
                f"{name_row(i)} = {shown(unique[i])} has an empty name, and most labels are paths "
                f"with the separator {separator!r}. Correct it, or pass "
                "hierarchy=palmette.Hierarchy.star with all labels if they are plain names."
            )
    return separator, paths


def _separator_of(unique: Sequence[Any], nodes: IntArray, hierarchy: Hierarchy) -> str | None:
    """Return the separator of strings that were found in a tree; None if path strings have it."""
    if not hierarchy.is_tree:
        return None
    for label, node in zip(unique, nodes.tolist(), strict=True):
        spelled = (hierarchy.names[node], hierarchy.path_strings[node])
        if isinstance(label, str) and label not in spelled:
            path = hierarchy.path(node)
            return next((each for each in SEPARATORS if split_path(label, each) == path), None)
    return None


def _style(unique: Sequence[Any], nodes: IntArray, hierarchy: Hierarchy) -> str:
    if any(isinstance(label, tuple) for label in unique):
        return "tuple"
    names = hierarchy.names[nodes].tolist()
    return "name" if all(a == b for a, b in zip(unique, names, strict=True)) else "path"
