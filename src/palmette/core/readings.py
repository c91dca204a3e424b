"""The result of reading `y`, and the helpers that all readers share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.hierarchy import Hierarchy
from palmette.core.label_forms import LabelForm
from palmette.exceptions import HierarchyError

__all__ = ["Reading", "find_all", "node_csr", "one_per_row"]

IntArray = NDArray[np.int32]


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
