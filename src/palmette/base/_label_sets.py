"""Label sets without a hierarchy: reading them, and the problem that learners of trees get."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, canonical_rows, take_rows
from palmette.base._answers import labels_listed, lists_as_matrix
from palmette.base._fitting import check_target
from palmette.base._grow import ClassProblem
from palmette.base._statistics import ClassStatistics, Moments
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import shown
from palmette.labels._containers import row_index
from palmette.labels._forms import node_csr
from palmette.labels._labels import NodeLabels


def read_label_sets(y: Any) -> NodeLabels:
    """Encode label sets, a 0/1 matrix, or one label per row, without a hierarchy.

    Parameters
    ----------
    y : labels of n_samples rows
        Or `NodeLabels`, which are used unchanged.
    """
    if isinstance(y, NodeLabels):
        labels = y
    else:
        labels = NodeLabels.encode(check_target(lists_as_matrix(y, None)), flat=True)
    if labels.hierarchy.depth.max() > 1:
        raise LabelError(
            "y contains paths, which have a hierarchy already, but a hierarchy is learned over "
            "labels: expected label sets, a 0/1 matrix, or one label per row, such as the last "
            "name of each path: [path[-1] for path in y]."
        )
    return labels


def encode_label_sets(hierarchy: Hierarchy, y: Any, *, skip_unknown: bool = False) -> NodeLabels:
    """Encode labels as leaves of a hierarchy that was learned over them.

    Parameters
    ----------
    hierarchy : Hierarchy
    y : labels of n_samples rows
    skip_unknown : bool
        Whether labels that are not in the hierarchy are skipped; otherwise they are an error.

    Returns
    -------
    NodeLabels
        The columns of a matrix are the leaves of their labels, in the order of the columns.
    """
    labels = read_label_sets(y)
    leaves = {hierarchy.names[leaf]: int(leaf) for leaf in hierarchy.leaves}
    names = labels.hierarchy.names.tolist()[1:]
    unknown = [name for name in names if name not in leaves]
    if unknown and not skip_unknown:
        raise LabelError(
            f"{len(unknown)} labels of y are not in the learned hierarchy, e.g. "
            f"{shown(unknown[0])}: expected labels of the y that it was fitted on."
        )
    nodes = np.array([0, *(leaves.get(name, -1) for name in names)], dtype=np.int32)
    form, found = labels.form, nodes[labels.given.indices]
    form = replace(
        form,
        # also for sets: groups are not labels, and are not predicted
        columns=nodes[nodes > 0] if form.columns is None else nodes[form.columns],
        spelling={int(nodes[node]): name for node, name in form.spelling.items()},
    )
    starts = np.concatenate([[0], np.cumsum(found >= 0)])[labels.given.indptr]
    along = node_csr(found[found >= 0], starts, hierarchy.n_nodes)
    index = labels._index if isinstance(y, NodeLabels) else row_index(y)
    return NodeLabels(hierarchy, along, form, index=index)


class LabelSets(NamedTuple):
    """The label sets that a tree is learned from.

    Parameters
    ----------
    classes : array of shape (n_classes,)
        Labels with rows.
    members : sparse bool array of shape (n_samples, n_classes)
    others : array of shape (n_others,)
        Columns of a matrix without rows.
    """

    classes: NDArray[Any]
    members: sparse.csr_array
    others: NDArray[Any]

    @classmethod
    def of(cls, labels: NodeLabels) -> LabelSets:
        """Return the labels of some rows, at least two with rows."""
        if not labels.given.nnz:
            raise LabelError(f"none of the {labels.n_samples} rows of y has a label.")
        names, nodes = labels_listed(labels)
        has_rows = np.bincount(labels.given.indices, minlength=labels.hierarchy.n_nodes)[nodes] > 0
        if np.count_nonzero(has_rows) == 1:
            only = names[has_rows].tolist()[0]
            raise PalmetteError(
                f"y has one class only, {only!r}: expected two or more to learn a hierarchy."
            )
        members = sparse.csr_array(labels.given[:, nodes[has_rows]])
        return cls(names[has_rows], members, names[~has_rows])


class LabelSetsProblem(ClassProblem):
    """Rows with label sets, as the problem that a partition reads.

    A row with several labels counts for each of them. Sums of classes are products with the label
    sets; the rows are repeated only for partitions that need more than sums.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_samples, n_features)
    members : sparse bool array of shape (n_samples, n_classes)
        Every class has a row.
    row_weights : array of shape (n_samples,), optional
    seed, n_jobs : as in `ClassProblem`
    """

    def __init__(
        self,
        rows: Any,
        members: sparse.csr_array,
        row_weights: FloatArray | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._rows, self.members, self.row_weights = rows, members, row_weights
        self.n_classes = int(members.shape[1])
        self.seed, self.n_jobs, self.run = seed, n_jobs, None

    @cached_property
    def rows(self) -> Any:
        """The rows, as CSR without duplicates if they are sparse."""
        return canonical_rows(self._rows)

    @cached_property
    def _owners(self) -> NDArray[np.intp]:
        """Row of every pair of a row and a label."""
        return np.repeat(np.arange(self.members.shape[0]), np.diff(self.members.indptr))

    @cached_property
    def X(self) -> Any:
        """The row of every pair."""
        return take_rows(self.rows, self._owners)

    @cached_property
    def codes(self) -> IntArray:  # type: ignore[override]
        """The label of every pair."""
        return np.asarray(self.members.indices, dtype=np.int32)

    @cached_property
    def weights(self) -> FloatArray | None:  # type: ignore[override]
        """The weight of every pair."""
        return None if self.row_weights is None else self.row_weights[self._owners]

    def gather(self, moments: Moments) -> ClassStatistics:
        """Gather statistics of the classes; see `ClassProblem.gather`."""
        if moments != "mean":
            return super().gather(moments)
        counts = sparse.csc_array(self.members.astype(np.float64))
        if self.row_weights is not None:
            counts = sparse.csc_array(counts.multiply(self.row_weights[:, None]))
        total = counts.T @ self.rows
        sums = sparse.csr_array(total) if sparse.issparse(total) else np.asarray(total)
        return ClassStatistics(np.asarray(counts.sum(axis=0)).ravel(), sums)
