"""The forms of `y`: what was read, and how to write predictions in the same form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import IntArray, check_indices
from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import distinct, object_array, sorted_labels
from palmette.hierarchy._separators import join_path
from palmette.labels._containers import Container

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

__all__ = [
    "LabelForm",
    "Reading",
    "as_dtype",
    "distinct",
    "find_all",
    "node_csr",
    "one_per_row",
    "sorted_labels",
]


@dataclass(frozen=True)
class LabelForm:
    """How `y` was written, so that predictions can be written in the same way.

    Parameters
    ----------
    kind : {"names", "table", "paths", "sets", "indicator"}
        1-D names; a 2-D table of paths; a list of paths; a list of label sets; a 0/1 matrix.
    container : Container
    dtype : numpy dtype or None
        Type of the values of an array.
    padding : tuple
        Value of each column that fills short rows. Empty for rows of unequal length.
    width : int
        Number of columns of a table or indicator, 1 for names in a 2-D column; 0 for 1-D names
        and for rows of unequal length.
    row_type : type or None
        Type of a row of the list forms.
    spelling : dict of int to object
        The first spelling in `y` of each node that occurred.
    style : {"name", "path", "tuple"}
        How to spell the other nodes.
    columns : int array or None
        Node of every column of an indicator.
    lists_ancestors : bool
        Whether rows also list the ancestors of their labels.
    separator : str or None
        Separator of paths in strings; None for names, and for path strings of a given hierarchy.
    """

    kind: str
    container: Container
    dtype: Any = None
    padding: tuple[Any, ...] = ()
    width: int = 0
    row_type: Any = None
    spelling: dict[int, Any] = field(default_factory=dict)
    style: str = "name"
    columns: IntArray | None = None
    lists_ancestors: bool = False
    separator: str | None = None

    @property
    def several(self) -> bool:
        """Whether a row may have several labels that are not on one path."""
        return self.kind in ("sets", "indicator")

    def class_labels(self, nodes: IntArray, hierarchy: Hierarchy) -> NDArray[Any]:
        """Return the labels of nodes as a 1-D array of names as spelled in `y`, or path tuples."""
        if self.kind in ("table", "paths"):
            return object_array([hierarchy.path(n) for n in nodes.tolist()])
        return as_dtype(self._spell_all(nodes, hierarchy), self.dtype)

    def as_answer(self) -> LabelForm:
        """Return the form of predictions: a 1-D array for names in a list or a numpy column."""
        if self.kind == "names" and self.container.library in ("list", "numpy"):
            return replace(self, container=Container("numpy"), width=0)
        return self

    # ------------------------------------------------------------------ writing

    def write_nodes(self, nodes: IntArray, hierarchy: Hierarchy, index: Any = None) -> Any:
        """Write one node per row, of shape (n_samples,)."""
        if self.several:
            starts = np.arange(len(nodes) + 1)
            return self.write_sets(starts, nodes, hierarchy, index)
        unique, inverse = np.unique(nodes, return_inverse=True)
        if self.kind == "names":
            spelled = self._spell_all(unique, hierarchy)
            if self.container.library != "list":
                spelled = as_dtype(spelled, self.dtype)
            values = spelled[inverse]
            return self.container.wrap(values[:, None] if self.width else values, index)
        paths = [hierarchy.path(n) for n in unique.tolist()]
        if self.kind == "table":
            return self.container.wrap(self._table(paths)[inverse], index)
        rows = object_array([self._row(path) for path in paths])[inverse]
        if self.row_type is list:
            rows = object_array([row.copy() for row in rows])  # do not share lists between rows
        return self.container.wrap(rows, index)

    def write_answers(self, nodes: IntArray, hierarchy: Hierarchy, index: Any = None) -> Any:
        """Write one node per row, with its ancestors if the labels in `y` listed them.

        Parameters
        ----------
        nodes : int array of shape (n_samples,)
        hierarchy : Hierarchy
        index : pandas.Index, optional
        """
        if not self.lists_ancestors:
            return self.write_nodes(nodes, hierarchy, index)
        closed = hierarchy.closure[nodes]
        listed = np.ones(closed.nnz, dtype=bool)
        if self.kind == "sets":
            listed = closed.indices > 0  # sets do not list the root
        starts = np.concatenate([[0], np.cumsum(listed)])[closed.indptr]
        return self.write_sets(starts, closed.indices[listed], hierarchy, index)

    def write_sets(self, starts: Any, nodes: IntArray, hierarchy: Hierarchy, index: Any) -> Any:
        """Write several nodes per row: those of row i are ``nodes[starts[i] : starts[i + 1]]``."""
        if self.kind == "indicator":
            return self._write_indicator(starts, nodes, hierarchy, index)
        unique, inverse = np.unique(nodes, return_inverse=True)
        members = self._spell_all(unique, hierarchy)[inverse].tolist()
        bounds = np.asarray(starts).tolist()
        rows = [self.row_type(members[a:b]) for a, b in pairwise(bounds)]
        return self.container.wrap(object_array(rows), index)

    def spell(self, node: int, hierarchy: Hierarchy) -> Any:
        """Return the label of a node in the style of `y`, such that `Hierarchy.index` finds it."""
        if node in self.spelling:
            return self.spelling[node]
        if self.separator is not None and node and hierarchy.is_tree:
            joined = join_path(hierarchy.path(node), self.separator)
            if joined is not None and hierarchy._lookup.get(joined) == node:
                return joined
        if self.style != "tuple" or not hierarchy.is_tree:
            for by_name in (True, False) if self.style == "name" else (False, True):
                label = hierarchy.names[node] if by_name else hierarchy.path_strings[node]
                if hierarchy._lookup.get(label) == node:
                    return label
        return hierarchy.path(node)

    def _spell_all(self, nodes: IntArray, hierarchy: Hierarchy) -> NDArray[np.object_]:
        return object_array([self.spell(n, hierarchy) for n in nodes.tolist()])

    def _row(self, path: tuple[Any, ...]) -> Any:
        return self.row_type((*path, *self.padding[len(path) :]))

    def _table(self, paths: list[tuple[Any, ...]]) -> NDArray[Any]:
        width = max([self.width, *map(len, paths)])
        padding = [*self.padding, *self.padding[-1:] * (width - self.width)]
        table = np.empty((len(paths), width), dtype=object)
        for i, path in enumerate(paths):
            for j in range(width):  # cell by cell, since a name may be a tuple
                table[i, j] = path[j] if j < len(path) else padding[j]
        return as_dtype(table, self.dtype)

    def _write_indicator(
        self, starts: Any, nodes: IntArray, hierarchy: Hierarchy, index: Any
    ) -> Any:
        ones = np.ones(len(nodes), dtype=np.int8)
        shape = (len(starts) - 1, hierarchy.n_nodes)
        matrix = sparse.csr_array((ones, np.asarray(nodes), np.asarray(starts)), shape=shape)
        check_indices(matrix)  # in a changed file, nodes may be any numbers
        kept = matrix[:, self.columns]
        if self.container.library == "sparse":
            return self.container.kind(kept.astype(self.dtype))
        return self.container.wrap(kept.toarray().astype(self.dtype), index)


# types of Python values that an array of each kind represents exactly
_HELD = {
    "U": (str,),
    "T": (str,),
    "S": (bytes,),
    "b": (bool,),
    "i": (int,),
    "u": (int,),
    "f": (int, float),
    "c": (int, float, complex),
    "M": (np.datetime64,),
    "m": (np.timedelta64,),
}


def as_dtype(values: NDArray[np.object_], dtype: Any) -> NDArray[Any]:
    """Return objects as an array of the given type if it can represent them, else unchanged.

    Examples
    --------
    >>> as_dtype(np.array(["cat", "dog"], dtype=object), np.dtype("<U1"))
    array(['cat', 'dog'], dtype='<U3')
    >>> as_dtype(np.array([1, "dog"], dtype=object), np.dtype(int))
    array([1, 'dog'], dtype=object)
    """
    kind = "O" if dtype is None else np.dtype(dtype).kind
    types = set(map(type, values.ravel().tolist()))
    if kind not in _HELD or not all(issubclass(t, _HELD[kind]) for t in types):
        return values
    if bool in types and kind != "b":
        return values  # True would become 1
    if kind in "US" and ends_in_nul(values.ravel().tolist()):
        return values
    try:
        return values.astype(kind if kind in "US" else dtype)
    except OverflowError:  # an integer too large for the type
        return values


def ends_in_nul(labels: Sequence[Any]) -> bool:
    r"""Whether a text ends in a zero character, which arrays of texts of one width lose.

    Examples
    --------
    >>> ends_in_nul(["a", "a\0"]), ends_in_nul(["a\0b", 1])
    (True, False)
    """
    for label in labels:
        if isinstance(label, str) and label.endswith("\0"):
            return True
        if isinstance(label, bytes) and label.endswith(b"\0"):
            return True
    return False


@dataclass(frozen=True)
class Reading:
    """Labels read from `y`.

    Parameters
    ----------
    hierarchy : Hierarchy
    given : sparse bool array of shape (n_samples, n_nodes)
    form : LabelForm
    listed : int array of shape (n_entries,) or None
        The nodes of `given` in the order in which each row lists them, if order matters.
    """

    hierarchy: Hierarchy
    given: sparse.csr_array
    form: LabelForm
    listed: IntArray | None = None


def one_per_row(nodes: IntArray, n_nodes: int) -> sparse.csr_array:
    """Make the sparse indicator of one node per row."""
    return node_csr(nodes, np.arange(len(nodes) + 1), n_nodes)


def node_csr(nodes: NDArray[Any], starts: NDArray[Any], n_nodes: int) -> sparse.csr_array:
    """Make a sparse indicator: the nodes of row i are ``nodes[starts[i] : starts[i + 1]]``."""
    small = starts[-1] < 2**31
    parts = (np.ones(len(nodes), dtype=bool), nodes.astype(np.int32), starts)
    if small:
        parts = (*parts[:2], starts.astype(np.int32))
    matrix = sparse.csr_array(parts, shape=(len(starts) - 1, n_nodes))
    matrix.sort_indices()
    return matrix


def find_all(
    labels: Sequence[Any], hierarchy: Hierarchy, name_row: Callable[[int], str]
) -> IntArray:
    """Find the nodes of labels; an error for label i begins with ``name_row(i)``."""
    find = hierarchy._lookup.find
    nodes = np.empty(len(labels), dtype=np.int32)
    for i, label in enumerate(labels):
        try:
            nodes[i] = find(label)
        except HierarchyError as error:
            raise HierarchyError(f"{name_row(i)} = {error}") from None
    return nodes
