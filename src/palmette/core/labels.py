"""NodeLabels: `y` in any form as sets of nodes, and back without loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.containers import Container, unwrap
from palmette.core.graph import is_padding, strip_padding
from palmette.core.hierarchy import Hierarchy
from palmette.core.label_forms import LabelForm, distinct, sorted_labels
from palmette.exceptions import HierarchyError, LabelError

__all__ = ["NodeLabels"]

IntArray = NDArray[np.int32]


class NodeLabels:
    """The nodes of a hierarchy that are true of every row.

    Parameters
    ----------
    hierarchy : Hierarchy
    given : sparse bool array of shape (n_samples, n_nodes)
        The nodes as the rows list them.
    form : LabelForm
        How to write labels back.

    Examples
    --------
    >>> labels = NodeLabels.encode([("animal", "cat"), ("plant",)])
    >>> labels.hierarchy.path_strings.tolist()
    ['root', 'animal', 'animal/cat', 'plant']
    >>> labels.closed.toarray().astype(int)
    array([[1, 1, 1, 0],
           [1, 0, 0, 1]])
    >>> labels.decode()
    [('animal', 'cat'), ('plant',)]
    """

    def __init__(self, hierarchy: Hierarchy, given: sparse.csr_array, form: LabelForm) -> None:
        self.hierarchy = hierarchy
        self.given = given
        self.form = form

    # ------------------------------------------------------------------ in

    @classmethod
    def encode(cls, y: Any, hierarchy: Hierarchy | None = None) -> NodeLabels:
        """Read labels in any form.

        Parameters
        ----------
        y : array-like
            One of

            - 1-D names, path strings or path tuples of nodes;
            - a 2-D table of paths, short ones padded with None, NaN or ``''``;
            - a list of tuples or lists, a path each;
            - a list of sets (or of lists of path tuples): several labels a row;
            - a 0/1 matrix, dense or sparse, with a column for every node, every node but the root,
              or every leaf; without a hierarchy its columns are the classes. As in scikit-learn a
              2-D array that holds nothing but 0 and 1 is such a matrix.

            numpy, pandas, polars and pyarrow objects are taken.
        hierarchy : Hierarchy, optional
            By default taken from the paths, or a star over the names.

        Returns
        -------
        NodeLabels
        """
        values, container = unwrap(y)
        if sparse.issparse(values):
            return _encode_indicator(values, container, hierarchy)
        if isinstance(values, list) and not _holds_rows(values):
            values = _array_of_scalars(values)
        if isinstance(values, np.ndarray) and values.ndim == 2:
            if values.shape[1] == 1:
                values = values[:, 0]
            elif _is_indicator(values, container, hierarchy):
                matrix = sparse.csr_array(values)
                return _encode_indicator(matrix, container, hierarchy, values.dtype)
            else:
                return _encode_table(values, container, hierarchy)
        if isinstance(values, np.ndarray) and values.ndim != 1:
            raise LabelError(
                f"y has {values.ndim} dimensions (shape {values.shape}): expected 1-D names, a 2-D "
                "table of paths or a 2-D indicator matrix."
            )
        if len(values) and _holds_rows(values):
            return _encode_rows(list(values), container, hierarchy)
        return _encode_names(np.asarray(values), container, hierarchy)

    @classmethod
    def from_terminals(cls, nodes: IntArray, hierarchy: Hierarchy, form: LabelForm) -> NodeLabels:
        """Make labels of one node a row, of shape (n_samples,)."""
        return cls(hierarchy, _one_a_row(nodes, hierarchy.n_nodes), form)

    # ------------------------------------------------------------------ views

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.given.shape[0])

    def __len__(self) -> int:
        return self.n_samples

    @cached_property
    def _has_one_node_a_row(self) -> bool:
        return bool((np.diff(self.given.indptr) == 1).all())

    @cached_property
    def closed(self) -> sparse.csr_array:
        """Listed nodes and all their ancestors: sparse bool, (n_samples, n_nodes)."""
        if self._has_one_node_a_row:
            return self.hierarchy.closure[self.given.indices]
        matrix = sparse.csr_array(self.given @ self.hierarchy.closure)
        matrix.sort_indices()
        return matrix

    @cached_property
    def specific(self) -> sparse.csr_array:
        """Listed nodes less the ancestors of others: sparse bool, (n_samples, n_nodes)."""
        if self._has_one_node_a_row:
            return self.given
        above = self.hierarchy.closure - sparse.eye_array(
            self.hierarchy.n_nodes, dtype=bool, format="csr"
        ).astype(np.int8)
        above = sparse.csr_array(above.astype(bool))
        above.eliminate_zeros()
        implied = self.given.multiply(self.given @ above)
        kept = sparse.csr_array(self.given.astype(np.int8) - implied.astype(np.int8))
        kept.eliminate_zeros()
        kept.sort_indices()
        return kept.astype(bool)

    @cached_property
    def is_single_path(self) -> bool:
        """Whether the labels of every row lie on one path."""
        return bool((np.diff(self.specific.indptr) == 1).all())

    @cached_property
    def terminals(self) -> IntArray:
        """Most specific node of every row, of shape (n_samples,); single paths only."""
        counts = np.diff(self.specific.indptr)
        bad = np.flatnonzero(counts != 1)
        if bad.size:
            what = "no label" if counts[bad[0]] == 0 else f"{counts[bad[0]]} paths"
            raise LabelError(
                f"expected one path a row, but {bad.size} of {self.n_samples} rows differ (row "
                f"{bad[0]} has {what}). Use a method for several paths, or drop these rows."
            )
        return np.asarray(self.specific.indices, dtype=np.int32)

    # ------------------------------------------------------------------ out

    def decode(self, index: Any = None) -> Any:
        """Write the labels in the form in which `y` came.

        Parameters
        ----------
        index : pandas.Index, optional
            For the rows of a pandas answer.
        """
        if self.form.several:
            given = self.given
            return self.form.write_sets(given.indptr, given.indices, self.hierarchy, index)
        return self.form.write_nodes(self.given.indices, self.hierarchy, index)


# ---------------------------------------------------------------------- telling forms apart


def _holds_rows(values: Any) -> bool:
    """Whether the elements are rows themselves: tuples, lists or sets."""
    for value in values:
        if value is not None:
            return isinstance(value, tuple | list | set | frozenset | np.ndarray)
    return False


def _array_of_scalars(values: list[Any]) -> NDArray[Any]:
    array = np.asarray(values) if values else np.empty(0, dtype=object)
    kinds = {type(value) for value in values}
    # numpy would turn [1, 'a'] into strings and [1, None] into objects: keep what came
    if len(kinds) > 1 and array.dtype.kind in "US":
        array = np.empty(len(values), dtype=object)
        array[:] = values
    return array


def _is_indicator(values: NDArray[Any], container: Container, hierarchy: Hierarchy | None) -> bool:
    if values.dtype.kind == "b":
        return True
    if values.dtype.kind not in "iuf" or not np.isin(values, (0, 1)).all():
        return False
    if hierarchy is None or (
        container.columns is not None and all(name in hierarchy for name in container.columns)
    ):
        return True
    n_nodes = hierarchy.n_nodes
    return values.shape[1] in (n_nodes, n_nodes - 1, hierarchy.n_leaves)


# ---------------------------------------------------------------------- one reader a form


def _encode_names(
    values: NDArray[Any], container: Container, hierarchy: Hierarchy | None
) -> NodeLabels:
    unique, codes = distinct(values.tolist())
    for i, label in enumerate(unique):
        if is_padding(label):
            row = int(np.flatnonzero(codes == i)[0])
            raise LabelError(f"y[{row}] is missing ({label!r}). Fill it in or drop the row.")
    if hierarchy is None:
        hierarchy = Hierarchy.star(sorted_labels(unique))
        nodes_of = {label: i for i, label in enumerate(hierarchy.names.tolist()) if i}
        nodes = np.asarray([nodes_of[label] for label in unique], dtype=np.int32)
    else:
        nodes = _find_all(unique, hierarchy, _row_namer(codes))
    form = LabelForm(
        "names",
        container,
        dtype=values.dtype,
        spelling=dict(zip(nodes.tolist()[::-1], unique[::-1], strict=True)),
        style=_style(unique, nodes, hierarchy),
    )
    return NodeLabels(hierarchy, _one_a_row(nodes[codes], hierarchy.n_nodes), form)


def _encode_table(
    values: NDArray[Any], container: Container, hierarchy: Hierarchy | None
) -> NodeLabels:
    padding = _padding_of(values)
    cells = values.astype(object)
    if values.dtype.kind in "fO":
        missing = cells != cells  # NaN is not itself, and each NaN would be a label of its own
        cells[missing.astype(bool)] = None
    rows = list(map(tuple, cells.tolist()))
    form = LabelForm("table", container, values.dtype, padding, width=values.shape[1])
    return _encode_paths(rows, form, hierarchy)


def _encode_paths(
    rows: list[tuple[Any, ...]], form: LabelForm, hierarchy: Hierarchy | None
) -> NodeLabels:
    unique, codes = distinct(rows)
    name_row = _row_namer(codes)
    paths = [strip_padding(path, partial(name_row, i)) for i, path in enumerate(unique)]
    if hierarchy is None:
        hierarchy = Hierarchy.from_paths(sorted_labels(set(paths)))
    else:
        hierarchy.require_tree("y as paths (give node names or sets of them for a DAG)")
    nodes = _find_all(paths, hierarchy, name_row)
    return NodeLabels(hierarchy, _one_a_row(nodes[codes], hierarchy.n_nodes), form)


def _encode_rows(rows: list[Any], container: Container, hierarchy: Hierarchy | None) -> NodeLabels:
    first = next(row for row in rows if row is not None)
    for i, row in enumerate(rows):
        if not isinstance(row, tuple | list | set | frozenset | np.ndarray):
            raise LabelError(
                f"y[{i}] = {row!r} is no row of labels, as y[0] = {first!r} is. Write all rows "
                "alike: tuples for paths, sets for several labels."
            )
    unordered = any(isinstance(row, set | frozenset) for row in rows)
    of_paths = any(isinstance(m, tuple | list) for row in rows for m in list(row)[:1])
    if unordered or of_paths:
        return _encode_sets(rows, type(first), container, hierarchy)
    row_type = tuple if isinstance(first, tuple) else list
    paths = [tuple(None if is_padding(c) else c for c in row) for row in rows]
    return _encode_paths(paths, LabelForm("paths", container, row_type=row_type), hierarchy)


def _encode_sets(
    rows: Sequence[Any], row_type: type, container: Container, hierarchy: Hierarchy | None
) -> NodeLabels:
    members = [_member(member) for row in rows for member in dict.fromkeys(map(_member, row))]
    counts = [len(set(map(_member, row))) for row in rows]
    unique, codes = distinct(members)
    owner = np.repeat(np.arange(len(rows)), counts)
    if hierarchy is None:
        hierarchy = _hierarchy_of_members(unique)
    nodes = _find_all(unique, hierarchy, lambda i: f"y[{owner[np.flatnonzero(codes == i)[0]]}]")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    given = _csr(nodes[codes] if len(codes) else nodes, starts, hierarchy.n_nodes)
    form = LabelForm(
        "sets",
        container,
        row_type=row_type,
        spelling=dict(zip(nodes.tolist()[::-1], unique[::-1], strict=True)),
        style=_style(unique, nodes, hierarchy),
    )
    return _note_ancestors(NodeLabels(hierarchy, given, form))


def _encode_indicator(
    matrix: sparse.csr_array,
    container: Container,
    hierarchy: Hierarchy | None,
    dtype: Any = None,
) -> NodeLabels:
    matrix = sparse.csr_array(matrix)
    if matrix.nnz and not np.isin(matrix.data, (0, 1)).all():
        odd = matrix.data[~np.isin(matrix.data, (0, 1))][0]
        raise LabelError(f"the indicator matrix y holds {odd!r}: expected 0 and 1 only.")
    width = matrix.shape[1]
    names = list(range(width)) if container.columns is None else list(container.columns)
    if hierarchy is None:
        hierarchy = Hierarchy.star(names)
        columns = np.arange(1, width + 1, dtype=np.int32)
    elif container.columns is not None and all(name in hierarchy for name in names):
        columns = hierarchy.index(names)
    else:
        columns = _columns_by_width(width, hierarchy)
    dtype = matrix.dtype if dtype is None else dtype
    flags = sparse.csr_array(matrix.astype(bool))
    flags.eliminate_zeros()
    flags.sort_indices()
    given = _csr(columns[flags.indices], flags.indptr, hierarchy.n_nodes)
    form = LabelForm("indicator", container, dtype, width=width, columns=columns)
    return _note_ancestors(NodeLabels(hierarchy, given, form))


# ---------------------------------------------------------------------- small helpers


def _columns_by_width(width: int, hierarchy: Hierarchy) -> IntArray:
    if width == hierarchy.n_nodes:
        return np.arange(width, dtype=np.int32)
    if width == hierarchy.n_nodes - 1:
        return np.arange(1, width + 1, dtype=np.int32)
    if width == hierarchy.n_leaves:
        return hierarchy.leaves
    raise LabelError(
        f"the indicator matrix y has {width} columns: expected {hierarchy.n_nodes} (all nodes), "
        f"{hierarchy.n_nodes - 1} (all but the root) or {hierarchy.n_leaves} (leaves). Or pass a "
        "DataFrame whose columns are node names."
    )


def _note_ancestors(labels: NodeLabels) -> NodeLabels:
    """Remember whether rows spell out the ancestors, so that predictions can do so too."""
    form = labels.form
    above = labels.closed
    if form.columns is not None:
        above = above[:, form.columns]
        listed = labels.given[:, form.columns]
    else:
        above = above[:, 1:]  # nobody lists the root
        listed = labels.given[:, 1:]
    deeper = labels.hierarchy.depth[labels.given.indices].max(initial=0) > 1
    closed = bool(deeper and above.nnz == listed.nnz)
    return NodeLabels(labels.hierarchy, labels.given, replace(form, lists_ancestors=closed))


def _row_namer(codes: NDArray[np.int64]) -> Callable[[int], str]:
    return lambda i: f"y[{np.flatnonzero(codes == i)[0]}]"


def _find_all(
    labels: Sequence[Any], hierarchy: Hierarchy, name_row: Callable[[int], str]
) -> IntArray:
    nodes = np.empty(len(labels), dtype=np.int32)
    for i, label in enumerate(labels):
        try:
            nodes[i] = hierarchy._lookup.find(label)
        except HierarchyError as error:
            raise HierarchyError(f"{name_row(i)} = {error}") from None
    return nodes


def _style(unique: Sequence[Any], nodes: IntArray, hierarchy: Hierarchy) -> str:
    if any(isinstance(label, tuple) for label in unique):
        return "tuple"
    names = hierarchy.names
    by_name = all(label == names[n] for label, n in zip(unique, nodes.tolist(), strict=True))
    return "name" if by_name else "path"


def _hierarchy_of_members(unique: Sequence[Any]) -> Hierarchy:
    if any(isinstance(member, tuple) for member in unique):
        return Hierarchy.from_paths(
            sorted_labels(m if isinstance(m, tuple) else (m,) for m in unique)
        )
    return Hierarchy.star(sorted_labels(unique))


def _member(member: Any) -> Any:
    if isinstance(member, list):
        member = tuple(member)
    if is_padding(member):
        raise LabelError(f"a row of y holds the missing label {member!r}. Drop it from its set.")
    return member.item() if isinstance(member, np.generic) else member


def _padding_of(values: NDArray[Any]) -> Any:
    if values.dtype.kind == "U":
        return ""
    if values.dtype.kind == "f":
        return np.nan
    if values.dtype.kind == "O":
        for cell in values[:, ::-1].ravel().tolist():
            if is_padding(cell):
                return cell
    return None


def _one_a_row(nodes: IntArray, n_nodes: int) -> sparse.csr_array:
    return _csr(nodes, np.arange(len(nodes) + 1, dtype=np.int32), n_nodes)


def _csr(nodes: IntArray, starts: Any, n_nodes: int) -> sparse.csr_array:
    ones = np.ones(len(nodes), dtype=bool)
    shape = (len(starts) - 1, n_nodes)
    return sparse.csr_array((ones, nodes.astype(np.int32), starts), shape=shape)
