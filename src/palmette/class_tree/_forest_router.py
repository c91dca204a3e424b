"""ForestRouter: extremely randomized trees of all classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import ExtraTreeClassifier

from palmette._arrays import (
    FloatArray,
    IntArray,
    check_single_precision,
    count_rows,
    row_chunks,
    take_rows,
)
from palmette.class_tree._routing import RoutingProblem
from palmette.class_tree._shared_router import SharedModel, SharedRouter
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import check_starts, numbers, require, same_shapes, within

_CELLS_AT_ONCE = 2**22  # of rows and of their leaves


class ForestRouter(SharedRouter):
    """Separate the classes by extremely randomized trees, as `ExtraTreesClassifier` does.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    max_features : int, float, "sqrt", "log2" or None
        Number or share of the features considered at a split; None for all.

    References
    ----------
    Geurts, Ernst, Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.

    Examples
    --------
    >>> ForestRouter(50)
    ForestRouter(n_estimators=50)
    """

    takes_sparse = True

    def __init__(
        self, n_estimators: int = 100, *, max_features: int | float | str | None = "sqrt"
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features

    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return the fitted trees; a tree depends on the seed and on its number only."""
        if not isinstance(self.n_estimators, int | np.integer) or self.n_estimators < 1:
            raise PalmetteError(f"n_estimators={self.n_estimators!r}: expected a positive integer.")
        check_single_precision(problem.X)
        if sparse.issparse(problem.X):
            X: Any = sparse.csc_matrix(problem.X, dtype=np.float32)
            X.sort_indices()
        else:
            X = np.asarray(problem.X, dtype=np.float32)
        key = np.random.SeedSequence([problem.seed or 0, 1])
        seeds = (key.generate_state(self.n_estimators) >> 1).tolist()

        def grow(seed: int) -> _Grown:
            tree = ExtraTreeClassifier(max_features=self.max_features, random_state=seed)
            tree.fit(X, problem.codes, sample_weight=problem.weights, check_input=False)
            return _grown(tree.tree_)

        grown = problem.run(grow, seeds)
        return [ForestModel.join(grown, problem.table.n_classes, int(X.shape[1]))]


# features, cuts, left and right children, class shares of leaves (class, share, number per node)
_Grown = tuple[IntArray, FloatArray, IntArray, IntArray, IntArray, FloatArray, IntArray]


def _grown(tree: Any) -> _Grown:
    """Return a tree of scikit-learn without the shares of inner nodes and the zeros of leaves."""
    is_leaf = tree.children_left < 0
    here = np.arange(tree.node_count)
    shares = np.where(is_leaf[:, None], tree.value[:, 0, :], 0.0)
    node, label = np.nonzero(shares)
    share = shares[node, label]
    share = share / np.bincount(node, share, minlength=tree.node_count)[node]
    return (
        np.where(is_leaf, 0, tree.feature).astype(np.int32),
        np.where(is_leaf, np.inf, tree.threshold),
        np.where(is_leaf, here, tree.children_left).astype(np.int32),
        np.where(is_leaf, here, tree.children_right).astype(np.int32),
        label.astype(np.int32),
        share,
        np.bincount(node, minlength=tree.node_count).astype(np.int32),
    )


class ForestModel(SharedModel):
    """Trees as flat arrays with one place per node; a leaf is its own child.

    Parameters
    ----------
    starts : int64 array of shape (n_trees + 1,)
        Places of the roots, and the number of nodes.
    features : int32 array of shape (n_nodes,)
    cuts : float64 array of shape (n_nodes,)
        Values up to the cut go left.
    left, right : int32 arrays of shape (n_nodes,)
        Children, as places within the tree.
    first : int64 array of shape (n_nodes + 1,)
        Offsets of the class shares of every node.
    labels, shares : int32 and float64 arrays of shape (n_shares,)
    n_classes, n_features : int
    """

    def __init__(
        self,
        starts: NDArray[np.int64],
        features: IntArray,
        cuts: FloatArray,
        left: IntArray,
        right: IntArray,
        first: NDArray[np.int64],
        labels: IntArray,
        shares: FloatArray,
        n_classes: int,
        n_features: int,
    ) -> None:
        self.starts, self.features, self.cuts = starts, features, cuts
        self.left, self.right = left, right
        self.first, self.labels, self.shares = first, labels, shares
        self.n_classes, self.n_features = n_classes, n_features

    @classmethod
    def join(cls, grown: Sequence[_Grown], n_classes: int, n_features: int) -> ForestModel:
        """Return the trees as one model."""
        starts = np.concatenate([[0], np.cumsum([len(tree[0]) for tree in grown])])
        features, cuts, left, right, labels, shares, counts = (
            np.concatenate(parts) for parts in zip(*grown, strict=True)
        )
        first = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return cls(
            starts, features, cuts, left, right, first, labels, shares, n_classes, n_features
        )

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        features = numbers(self.features, np.int32, 1, "features")
        n_nodes = len(features)
        same_shapes(
            features,
            numbers(self.cuts, np.float64, 1, "cuts"),
            left := numbers(self.left, np.int32, 1, "left"),
            right := numbers(self.right, np.int32, 1, "right"),
        )
        for count in (self.n_classes, self.n_features):
            require(type(count) is int and count > 0, "a number of classes or features is missing")
        numbers(self.starts, np.int64, 1, "starts")
        sizes = check_starts(self.starts, len(self.starts) - 1, n_nodes, "starts")
        require(len(sizes) > 0, "there is no tree")
        require(sizes > 0, "a tree has no nodes")
        place = np.arange(n_nodes) - np.repeat(self.starts[:-1], sizes)
        is_leaf = (left == place) & (right == place)
        below = np.repeat(sizes, sizes)
        leads_on = (left > place) & (left < below) & (right > place) & (right < below)
        require(is_leaf | leads_on, "a node has a child that does not exist")
        require(within(features, self.n_features), "a tree uses a feature that does not exist")
        labels = numbers(self.labels, np.int32, 1, "labels")
        same_shapes(labels, numbers(self.shares, np.float64, 1, "shares"))
        numbers(self.first, np.int64, 1, "first")
        check_starts(self.first, n_nodes, len(labels), "first")
        require(within(labels, self.n_classes), "a leaf has a class that does not exist")

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.starts) - 1

    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""
        shape = (len(self.features), self.n_classes)
        of_node = sparse.csr_array((self.shares, self.labels, self.first), shape=shape)
        found = np.empty((count_rows(X), self.n_classes))
        per_row = max(8 * self.n_trees, self.n_features)
        for part in row_chunks(len(found), per_row, at_once=_CELLS_AT_ONCE):
            rows = take_rows(X, part)
            rows = rows.toarray() if sparse.issparse(rows) else rows
            leaves = self._leaves(np.asarray(rows, dtype=np.float32))
            ends = np.arange(len(leaves) + 1, dtype=np.int64) * self.n_trees
            ones = np.ones(leaves.size)
            reached = sparse.csr_array((ones, leaves.ravel(), ends), (len(leaves), shape[0]))
            found[part] = (reached @ of_node).toarray() / self.n_trees
        return found

    def _leaves(self, X: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the leaf of every row in every tree, of shape (n_samples, n_trees)."""
        leaves = np.empty((count_rows(X), self.n_trees), dtype=np.int64)
        for tree in range(self.n_trees):
            nodes = slice(self.starts[tree], self.starts[tree + 1])
            features, cuts = self.features[nodes], self.cuts[nodes]
            left, right = self.left[nodes], self.right[nodes]
            at = np.zeros(len(X), dtype=np.int32)
            moving = np.arange(len(X))
            while moving.size:
                here = at[moving]
                below = np.where(X[moving, features[here]] <= cuts[here], left[here], right[here])
                at[moving] = below
                moving = moving[below != here]
            leaves[:, tree] = at + self.starts[tree]
        return leaves
