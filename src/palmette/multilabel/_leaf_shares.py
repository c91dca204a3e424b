"""LeafShares: the trees of a forest for many labels in flat arrays, with sparse leaves.

A tree of scikit-learn holds two float64 numbers per node and label, of inner nodes too, most of
them 0 or 1: gigabytes for hundreds of labels. Here only leaves have numbers, the shares of rows
that have a label, and only those above zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, OffsetArray, read_only
from palmette._kernels import kernel
from palmette.multilabel._members import in_threads
from palmette.persistence.checks import check_starts, numbers, require, same_shapes, within

Flags = NDArray[np.bool_]
Singles = NDArray[np.float32]

_BLOCK_VALUES = 2**20  # of the features of a block of rows
_MAX_ROWS = 256  # of a block

_NO_ROWS = read_only(np.empty((0, 0), dtype=np.float32))
_NO_ENTRIES = (
    read_only(np.empty(0, np.float32)),
    read_only(np.empty(0, np.int32)),
    read_only(np.zeros(1, np.int64)),
)
_ALL_TREES = read_only(np.empty((0, 0), dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class LeafShares:
    """Trees one after the other in flat arrays, with the shares of the labels in their leaves.

    Predictions are those of scikit-learn's trees, bit by bit: a row goes left if the value of a
    feature, in single precision, is at most the threshold, and trees are added in their order.

    Parameters
    ----------
    tree_starts : int64 array of shape (n_trees + 1,)
        First node of each tree.
    features : int32 array of shape (n_nodes,)
        Feature of each split; any number at a leaf.
    thresholds : float64 array of shape (n_nodes,)
    left, right : int32 arrays of shape (n_nodes,)
        Children as indices within their tree, -1 at a leaf.
    share_starts : int64 array of shape (n_nodes + 1,)
    share_labels, share_values : int32 and float64 arrays of shape (n_shares,)
        Shares of each leaf's rows that have a label, if not zero; other nodes have no entries.
    importances : float64 array of shape (n_features,)
        Mean decrease in impurity: the mean over the trees that have a split.
    n_outputs_ : int
        Number of labels.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, [[0, 1], [0, 0], [1, 0]])
    >>> forest = LeafShares.of([tree])
    >>> forest.n_trees, len(forest.left), forest.share_values.tolist()
    (1, 5, [1.0, 1.0])
    >>> forest.proba(X)
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """

    tree_starts: OffsetArray
    features: IntArray
    thresholds: FloatArray
    left: IntArray
    right: IntArray
    share_starts: OffsetArray
    share_labels: IntArray
    share_values: FloatArray
    importances: FloatArray
    n_outputs_: int

    # ------------------------------------------------------------------ construction

    @classmethod
    def of(cls, trees: Iterable[Any]) -> LeafShares:
        """Pack fitted classification trees of scikit-learn, whose outputs are all 0 or 1.

        Each tree is packed before the next one is asked for.
        """
        packed, n_outputs = [], 0
        importances: Any = 0.0  # a sum in the order of the trees
        for each in trees:
            tree = each.tree_
            packed.append(_Packed.of(tree))
            n_outputs = int(tree.n_outputs)
            importances = importances + tree.compute_feature_importances()
            del each, tree  # before the next one is grown
        arrays = [np.concatenate(some) for some in zip(*packed, strict=True)]
        joined = _Packed(*arrays)
        n_splits = np.array([len(part.left) > 1 for part in packed]).sum()  # trees with a split
        mean = importances / max(n_splits, 1)
        total = mean.sum()
        return cls(
            tree_starts=_starts([len(part.left) for part in packed]),
            features=joined.features,
            thresholds=joined.thresholds,
            left=joined.left,
            right=joined.right,
            share_starts=_starts(joined.share_counts),
            share_labels=joined.share_labels,
            share_values=joined.share_values,
            importances=mean / total if total > 0 else mean,
            n_outputs_=n_outputs,
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_starts) - 1

    # ------------------------------------------------------------------ files

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        for name in ("tree_starts", "share_starts"):
            numbers(getattr(self, name), np.int64, 1, name)
        for name in ("features", "left", "right", "share_labels"):
            numbers(getattr(self, name), np.int32, 1, name)
        for name in ("thresholds", "share_values", "importances"):
            numbers(getattr(self, name), np.float64, 1, name)
        left, right, n_nodes = self.left, self.right, len(self.left)
        same_shapes(left, right, self.features, self.thresholds)
        sizes = check_starts(self.tree_starts, None, n_nodes, "tree_starts")
        require(len(sizes) > 0 and np.all(sizes > 0), "there are no trees, or one has no nodes")
        places = np.arange(n_nodes) - np.repeat(self.tree_starts[:-1], sizes)
        size = np.repeat(sizes, sizes)
        leads_on = (left > places) & (left < size) & (right > places) & (right < size)
        require((left < 0) | leads_on, "a tree has a child that does not exist")
        has_feature = within(self.features, len(self.importances))
        require((left < 0) | has_feature, "a tree uses a feature that does not exist")
        same_shapes(self.share_labels, self.share_values)
        check_starts(self.share_starts, n_nodes, len(self.share_labels), "share_starts")
        require(type(self.n_outputs_) is int, "n_outputs_ is not an integer")
        require(within(self.share_labels, self.n_outputs_), "a leaf has a label that is not there")
        require(np.isfinite(self.share_values), "a share of a leaf is not finite")
        require(np.isfinite(self.importances), "an importance is not finite")

    # ------------------------------------------------------------------ prediction

    def proba(self, X: Any, n_jobs: int | None = None) -> FloatArray:
        """Return the mean over the trees of the shares in the leaves of rows.

        Parameters
        ----------
        X : float32 array or CSR array of shape (n_samples, n_features)
            An array is C-contiguous.
        n_jobs : int, optional
            Number of threads. It does not change the result.

        Returns
        -------
        array of shape (n_samples, n_outputs)
        """
        sums = self.sums(X, n_jobs)
        sums /= self.n_trees
        return sums

    def sums(self, X: Any, n_jobs: int | None = None, used: Flags | None = None) -> FloatArray:
        """Return the sums over trees of the shares in the leaves of rows; see `proba`.

        Parameters
        ----------
        X : float32 array or CSR array of shape (n_samples, n_features)
        n_jobs : int, optional
        used : bool array of shape (n_samples, n_trees), optional
            Which trees are added per row; all by default.
        """
        sums = np.zeros((X.shape[0], self.n_outputs_))
        trees = _Trees(*(read_only(getattr(self, name)) for name in _Trees._fields))

        def add(start: int, stop: int) -> None:
            flags = _ALL_TREES if used is None else read_only(used[start:stop])
            _add_shares(*_in_both_forms(X[start:stop]), trees, flags, sums[start:stop])

        bounds = np.linspace(0, len(sums), effective_n_jobs(n_jobs) + 1).astype(int).tolist()
        in_threads(add, [(a, b) for a, b in pairwise(bounds) if a < b], n_jobs)
        return sums


class _Packed(NamedTuple):
    """The arrays of one tree or of several ones; see `LeafShares`."""

    features: IntArray
    thresholds: FloatArray
    left: IntArray
    right: IntArray
    share_counts: OffsetArray  # (n_nodes,)
    share_labels: IntArray
    share_values: FloatArray

    @classmethod
    def of(cls, tree: Any) -> _Packed:
        """Return the arrays of a compiled tree of scikit-learn; nothing refers to the tree."""
        left = np.array(tree.children_left, dtype=np.int32)
        leaves = np.flatnonzero(left < 0)
        shares = tree.value[leaves, :, 1]
        places, labels = np.nonzero(shares)
        counts = np.zeros(len(left), dtype=np.int64)
        counts[leaves] = np.bincount(places, minlength=len(leaves))
        return cls(
            features=np.array(tree.feature, dtype=np.int32),
            thresholds=np.array(tree.threshold, dtype=np.float64),
            left=left,
            right=np.array(tree.children_right, dtype=np.int32),
            share_counts=counts,
            share_labels=labels.astype(np.int32),
            share_values=shares[places, labels],
        )


def _starts(sizes: Any) -> OffsetArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


# ---------------------------------------------------------------------- the kernel


class _Trees(NamedTuple):
    """The arrays of `LeafShares` that the kernel reads."""

    tree_starts: OffsetArray
    features: IntArray
    thresholds: FloatArray
    left: IntArray
    right: IntArray
    share_starts: OffsetArray
    share_labels: IntArray
    share_values: FloatArray


def _in_both_forms(X: Any) -> tuple[Singles, Singles, IntArray, OffsetArray, int]:
    """Return X as a dense array and as CSR arrays, one of them without rows."""
    if not sparse.issparse(X):
        return (read_only(np.ascontiguousarray(X)), *_NO_ENTRIES, X.shape[1])
    indices, indptr = np.asarray(X.indices, np.int32), np.asarray(X.indptr, np.int64)
    return (_NO_ROWS, read_only(X.data), read_only(indices), read_only(indptr), X.shape[1])


@kernel
def _add_shares(
    X: Singles,
    data: Singles,
    indices: IntArray,
    indptr: OffsetArray,
    n_features: int,
    trees: _Trees,
    used: Flags,
    sums: FloatArray,
) -> None:
    """Add the shares of the leaves that rows reach.

    Parameters
    ----------
    X : float32 array of shape (n_rows, n_features), IN
        Without rows if they are in the CSR arrays `data`, `indices` and `indptr`.
    data, indices, indptr : float32, int32 and int64 arrays, IN
    n_features : int
    trees : _Trees, IN
    used : bool array of shape (n_rows, n_trees), IN
        Which trees are added; without rows if all are.
    sums : float64 array of shape (n_rows, n_outputs), IN and OUT
    """
    is_dense, uses_all, n_rows = X.shape[0] > 0, used.shape[0] == 0, sums.shape[0]
    features, thresholds, left, right = trees.features, trees.thresholds, trees.left, trees.right
    starts, labels, shares = trees.share_starts, trees.share_labels, trees.share_values
    # a tree stays in the cache for all rows of a block
    size = min(max(_BLOCK_VALUES // max(n_features, 1), 1), _MAX_ROWS, max(n_rows, 1))
    values = np.zeros((size, n_features), np.float32)
    for begin in range(0, n_rows, size):
        end = min(begin + size, n_rows)
        for row in range(begin, end):
            if is_dense:
                for j in range(n_features):
                    values[row - begin, j] = X[row, j]
            else:
                for k in range(indptr[row], indptr[row + 1]):
                    values[row - begin, indices[k]] = data[k]
        for tree in range(len(trees.tree_starts) - 1):
            first = trees.tree_starts[tree]
            for row in range(begin, end):
                if uses_all or used[row, tree]:
                    node = first
                    while left[node] >= 0:
                        goes_left = values[row - begin, features[node]] <= thresholds[node]
                        node = first + (left[node] if goes_left else right[node])
                    for k in range(starts[node], starts[node + 1]):
                        sums[row, labels[k]] += shares[k]
        if not is_dense:
            for row in range(begin, end):
                for k in range(indptr[row], indptr[row + 1]):
                    values[row - begin, indices[k]] = 0.0
