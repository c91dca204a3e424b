"""The forms in which people have `y`, and how to give predictions back in the same form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.containers import Container

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["LabelForm", "distinct", "sorted_labels"]

IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class LabelForm:
    """How `y` was written, so that predictions can be written alike.

    Parameters
    ----------
    kind : {"names", "table", "paths", "sets", "indicator"}
        1-D names; a 2-D table of paths; a list of paths; a list of label sets; a 0/1 matrix.
    container : Container
    dtype : numpy dtype or None
        Of the values, for arrays.
    padding : object
        What fills short rows of a table.
    width : int
        Columns of a table or indicator.
    row_type : type or None
        Type of a row of the list forms.
    spelling : dict of int to object
        How the user spelled each node that occurred.
    style : {"name", "path", "tuple"}
        How to spell the other nodes.
    columns : int array or None
        Node of every column of an indicator.
    lists_ancestors : bool
        Whether rows name the ancestors of their labels too.
    """

    kind: str
    container: Container
    dtype: Any = None
    padding: Any = None
    width: int = 0
    row_type: Any = None
    spelling: dict[int, Any] = field(default_factory=dict)
    style: str = "name"
    columns: IntArray | None = None
    lists_ancestors: bool = False

    @property
    def several(self) -> bool:
        """Whether a row may hold several labels that do not lie on one path."""
        return self.kind in ("sets", "indicator")

    def class_labels(self, nodes: IntArray, hierarchy: Hierarchy) -> NDArray[Any]:
        """Labels of nodes as a plain 1-D array: names as they are spelled, or path tuples."""
        if self.kind in ("table", "paths"):
            return _typed([hierarchy.path(n) for n in nodes.tolist()], object)
        return _typed([self.spell(n, hierarchy) for n in nodes.tolist()], self.dtype)

    def as_answer(self) -> LabelForm:
        """Return the form of predictions: a list of names is answered by an array."""
        if self.kind == "names" and self.container.library == "list":
            return replace(self, container=Container("numpy"))
        return self

    # ------------------------------------------------------------------ writing

    def write_nodes(self, nodes: IntArray, hierarchy: Hierarchy, index: Any = None) -> Any:
        """Write one node a row, of shape (n_samples,)."""
        if self.several:
            starts = np.arange(len(nodes) + 1)
            return self.write_sets(starts, nodes, hierarchy, index)
        unique, inverse = np.unique(nodes, return_inverse=True)
        if self.kind == "names":
            values = _typed([self.spell(n, hierarchy) for n in unique.tolist()], self.dtype)
            return self.container.wrap(values[inverse], index)
        paths = [hierarchy.path(n) for n in unique.tolist()]
        if self.kind == "table":
            return self.container.wrap(self._table(paths)[inverse], index)
        rows = [paths[i] if self.row_type is tuple else list(paths[i]) for i in inverse.tolist()]
        return self._wrap_rows(rows, index)

    def write_sets(self, starts: Any, nodes: IntArray, hierarchy: Hierarchy, index: Any) -> Any:
        """Write several nodes a row: those of row i are ``nodes[starts[i] : starts[i + 1]]``."""
        if self.kind == "indicator":
            return self._write_indicator(starts, nodes, hierarchy, index)
        unique, inverse = np.unique(nodes, return_inverse=True)
        spelled = _typed([self.spell(n, hierarchy) for n in unique.tolist()], object)[inverse]
        members = spelled.tolist()
        bounds = np.asarray(starts).tolist()
        rows = [self.row_type(members[a:b]) for a, b in pairwise(bounds)]
        return self._wrap_rows(rows, index)

    def spell(self, node: int, hierarchy: Hierarchy) -> Any:
        """Write one node as the user does."""
        if node in self.spelling:
            return self.spelling[node]
        if self.style == "tuple" and hierarchy.is_tree:
            return hierarchy.path(node)
        name, path = hierarchy.names[node], hierarchy.path_strings[node]
        if self.style == "name" and hierarchy._lookup.get(name) == node:
            return name
        return path

    def _table(self, paths: list[tuple[Any, ...]]) -> NDArray[Any]:
        width = max([self.width, *map(len, paths)])
        table = np.full((len(paths), width), self.padding, dtype=object)
        for i, path in enumerate(paths):
            table[i, : len(path)] = path
        full = all(len(path) == width for path in paths)
        return _cast_table(table, self.dtype, full)

    def _write_indicator(
        self, starts: Any, nodes: IntArray, hierarchy: Hierarchy, index: Any
    ) -> Any:
        assert self.columns is not None
        ones = np.ones(len(nodes), dtype=np.int8)
        shape = (len(starts) - 1, hierarchy.n_nodes)
        matrix = sparse.csr_array((ones, np.asarray(nodes), np.asarray(starts)), shape=shape)
        kept = matrix[:, self.columns].astype(self.dtype)
        if self.container.library == "sparse":
            return kept
        return self.container.wrap(kept.toarray(), index)

    def _wrap_rows(self, rows: list[Any], index: Any) -> Any:
        if self.container.library == "list":
            return rows
        array = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):  # elementwise: numpy would make a table of equal lengths
            array[i] = row
        return self.container.wrap(array, index)


def _typed(values: list[Any], dtype: Any) -> NDArray[Any]:
    """Make an array of the user's type where the values allow it, else of objects."""
    kind = None if dtype is None else np.dtype(dtype).kind
    if kind == "U" and all(isinstance(v, str) for v in values):
        return np.asarray(values, dtype=str)
    if kind in ("i", "u", "b", "f") and all(isinstance(v, int | float) for v in values):
        return np.asarray(values, dtype=dtype)
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _cast_table(table: NDArray[np.object_], dtype: Any, full: bool) -> NDArray[Any]:
    kind = None if dtype is None else np.dtype(dtype).kind
    if kind == "U":
        return table.astype(str)
    if kind == "f" or (kind in ("i", "u", "b") and full):
        return table.astype(dtype)
    return table


def distinct(values: Iterable[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Distinct values in order of appearance, and the code of every value.

    A dictionary is several times faster here than sorting, and keeps mixed types apart.

    Examples
    --------
    >>> distinct(["b", "a", "b"])
    (['b', 'a'], array([0, 1, 0]))
    """
    table: dict[Any, int] = {}
    codes = [table.setdefault(value, len(table)) for value in values]
    return list(table), np.asarray(codes, dtype=np.int64)


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Sort labels; those of mixed types by type first, so that the order is always the same."""
    items = list(labels)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=_type_then_value)


def _type_then_value(label: Any) -> Any:
    if isinstance(label, tuple):
        return ("tuple", tuple(_type_then_value(part) for part in label))
    return (type(label).__name__, str(label))
