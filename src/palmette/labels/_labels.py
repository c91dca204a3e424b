"""NodeLabels: converts `y` in any form to sets of nodes, and back without loss."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import IntArray
from palmette.exceptions import HierarchyError, LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import shown
from palmette.labels._containers import LabelArray, row_index, unwrap
from palmette.labels._forms import LabelForm, one_per_row
from palmette.labels._readers import read_labels


class NodeLabels:
    """The nodes of a hierarchy that are true for every row.

    Parameters
    ----------
    hierarchy : Hierarchy
    given : sparse bool array of shape (n_samples, n_nodes)
        The nodes that each row lists.
    form : LabelForm
        How `y` was written.
    index : pandas.Index, optional
        Index of the rows.
    listed : int array of shape (n_entries,), optional
        The nodes of `given`, row by row, in the order in which the row lists them.

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

    def __init__(
        self,
        hierarchy: Hierarchy,
        given: sparse.csr_array,
        form: LabelForm,
        *,
        index: Any = None,
        listed: IntArray | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.given = given
        self.form = form
        self._index = index
        self._listed = listed

    # ------------------------------------------------------------------ reading

    @classmethod
    def encode(
        cls, y: Any, hierarchy: Hierarchy | None = None, *, flat: bool = False
    ) -> NodeLabels:
        """Read labels in any form.

        Parameters
        ----------
        y : array-like
            One of

            - 1-D names or path strings of nodes, such as ``"animal/cat"`` or ``"animal > cat"``;
            - a 2-D table of paths, short ones padded with None, NaN or ``''``;
            - a list, array or column of tuples or lists, one path per row;
            - a list, array or column of sets, or of lists of path tuples: several labels per row;
            - a dense or sparse 0/1 matrix with one column per node, per node but the root, or per
              leaf, or with names of nodes as column names; without a hierarchy its columns are the
              classes. As in scikit-learn, a 2-D array of only 0 and 1 is such a matrix.

            numpy, pandas, polars and pyarrow objects are accepted.
        hierarchy : Hierarchy, optional
            By default it is built from the paths; names become children of the root. Strings are
            paths if most of them have the same separator and they form a tree. Arrays of
            `palmette.datasets.fetch` carry their hierarchy.
        flat : bool
            Whether strings are plain names, and a hierarchy that `y` carries is not used.

        Returns
        -------
        NodeLabels
        """
        if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
            raise HierarchyError(
                f"hierarchy is {shown(hierarchy)} of type {type(hierarchy).__name__}: expected a "
                "palmette.Hierarchy, or None to build it from y."
            )
        if hierarchy is None and not flat:
            hierarchy = carried_hierarchy(y)
        values, container = unwrap(y)
        read = read_labels(values, container, hierarchy, flat)
        labels = cls(read.hierarchy, read.given, read.form, index=row_index(y), listed=read.listed)
        if read.form.several:
            labels.form = replace(read.form, lists_ancestors=labels._lists_ancestors())
        return labels

    @classmethod
    def from_terminals(cls, nodes: IntArray, hierarchy: Hierarchy, form: LabelForm) -> NodeLabels:
        """Make labels of one node per row, of shape (n_samples,)."""
        return cls(hierarchy, one_per_row(nodes, hierarchy.n_nodes), form)

    def take(self, rows: NDArray[np.integer[Any]]) -> NodeLabels:
        """Return the labels of some rows, of shape (n_rows,), which may come in any order."""
        if self._has_one_node_per_row:
            return self.from_terminals(self.given.indices[rows], self.hierarchy, self.form)
        return NodeLabels(self.hierarchy, self.given[rows], self.form)

    # ------------------------------------------------------------------ views

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.given.shape[0])

    def __len__(self) -> int:
        return self.n_samples

    @cached_property
    def _has_one_node_per_row(self) -> bool:
        return bool((np.diff(self.given.indptr) == 1).all())

    @cached_property
    def closed(self) -> sparse.csr_array:
        """Listed nodes and all their ancestors: sparse bool, (n_samples, n_nodes)."""
        if self._has_one_node_per_row:
            return self.hierarchy.closure[self.given.indices]
        if self.hierarchy.depth.max(initial=0) <= 1 and self.given.has_canonical_format:
            return _with_root(self.given)
        matrix = sparse.csr_array(self.given @ self.hierarchy.closure)
        matrix.sort_indices()
        return matrix

    @cached_property
    def specific(self) -> sparse.csr_array:
        """Listed nodes without ancestors of others: sparse bool, (n_samples, n_nodes)."""
        if self._has_one_node_per_row:
            return self.given
        if self.hierarchy.is_leaf[self.given.indices].all():  # leaves are above no others
            return self.given
        itself = sparse.eye_array(self.hierarchy.n_nodes, dtype=np.int8, format="csr")
        above = sparse.csr_array(self.hierarchy.closure.astype(np.int8) - itself).astype(bool)
        implied = self.given.multiply(self.given @ above)
        kept = sparse.csr_array(self.given.astype(np.int8) - implied.astype(np.int8)).astype(bool)
        kept.sort_indices()
        return kept

    @cached_property
    def is_single_path(self) -> bool:
        """Whether the labels of every row are on one path."""
        return bool((np.diff(self.specific.indptr) == 1).all())

    @cached_property
    def terminals(self) -> IntArray:
        """Most specific node of every row, of shape (n_samples,); single paths only."""
        counts = np.diff(self.specific.indptr)
        bad = np.flatnonzero(counts != 1)
        if bad.size:
            what = "no label" if counts[bad[0]] == 0 else f"{counts[bad[0]]} paths"
            raise LabelError(
                f"{bad.size} of {self.n_samples} rows do not have one path (row {bad[0]} has "
                f"{what}): expected one path per row. Use a method for several paths, or drop "
                "these rows."
            )
        return np.asarray(self.specific.indices, dtype=np.int32)

    def _lists_ancestors(self) -> bool:
        """Whether rows list all ancestors that they can list, so that predictions should too."""
        if not (self.hierarchy.depth[self.given.indices] > 1).any():
            return False  # the only ancestor is the root, which is not listed
        columns = self.form.columns
        nodes = np.arange(1, self.hierarchy.n_nodes) if columns is None else columns
        return bool(self.closed[:, nodes].nnz == self.given[:, nodes].nnz)

    # ------------------------------------------------------------------ writing

    def decode(self, index: Any = None) -> Any:
        """Write the labels in the form of `y`.

        Parameters
        ----------
        index : pandas.Index, optional
            Index of the returned pandas object; that of `y` by default.
        """
        index = self._index if index is None else index
        nodes = self.given.indices if self._listed is None else self._listed
        if self.form.several:
            return self.form.write_sets(self.given.indptr, nodes, self.hierarchy, index)
        return self.form.write_nodes(nodes, self.hierarchy, index)


def carried_hierarchy(y: Any) -> Hierarchy | None:
    """Return the hierarchy that an array of labels carries, None if there is none."""
    return y.hierarchy if isinstance(y, LabelArray) else None


def _with_root(given: sparse.csr_array) -> sparse.csr_array:
    """Return the nodes of a star with the root, in rows that have any: as by its closure."""
    starts = given.indptr[:-1]
    has_any = np.diff(given.indptr) > 0
    lists_root = np.zeros(len(starts), dtype=bool)
    lists_root[has_any] = given.indices[starts[has_any]] == 0
    added = has_any & ~lists_root
    indptr = given.indptr + np.concatenate([[0], np.cumsum(added)]).astype(given.indptr.dtype)
    is_old = np.ones(int(indptr[-1]), dtype=bool)
    is_old[indptr[:-1][added]] = False
    indices = np.zeros(len(is_old), dtype=given.indices.dtype)
    indices[is_old] = given.indices
    return sparse.csr_array((np.ones(len(is_old), dtype=bool), indices, indptr), shape=given.shape)
