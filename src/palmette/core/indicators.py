"""Read `y` given as a 0/1 matrix: which node each column stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.containers import Container
from palmette.core.hierarchy import Hierarchy
from palmette.core.label_forms import LabelForm
from palmette.core.readings import Reading, node_csr
from palmette.core.values import shown
from palmette.exceptions import LabelError

__all__ = ["is_indicator", "read_indicator"]

IntArray = NDArray[np.int32]


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
    matrix: sparse.csr_array,
    container: Container,
    hierarchy: Hierarchy | None,
    dtype: Any = None,
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
