"""ObliqueTrees: all trees of a forest in flat arrays, with sparse linear splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.base._fitting import Threads
from palmette.persistence.checks import check_starts, numbers, require, same_shapes, within

_CELLS_AT_ONCE = 2**24  # rows times trees that are predicted at a time

LongArray = NDArray[np.int64]
Singles = NDArray[np.float32]


class Votes(NamedTuple):
    """Weights of votes; a tree votes with weight 1 for the labels that it was not grown for.

    Attributes
    ----------
    label : float
        Of a tree for the labels that it was grown for.
    prior : float
        Of the proportions of all training rows.
    """

    label: float = 1.0
    prior: float = 1.0


@dataclass(frozen=True, eq=False)
class GrownTree:
    """One tree: its splits, as the kernels return them, and the label shares of its leaves.

    Parameters
    ----------
    left, right : int arrays of shape (n_nodes,)
        Children, -1 at a leaf. A row goes right if the product of its features and the weights,
        plus the bias, is at least 0.
    weight_starts : int array of shape (n_nodes + 1,)
    weight_features, weight_values : arrays of shape (n_weights,)
        The weights of node i are at ``weight_starts[i]`` to ``weight_starts[i + 1]``.
    bias : array of shape (n_nodes,)
    shares : sparse array of shape (n_nodes, n_columns)
        Proportion of each leaf's rows that have each label; other nodes have no entries.
    row_weight : array of shape (n_nodes,)
        Total weight of the rows in each leaf, 0 at other nodes.
    drawn : bool array of shape (n_columns,)
        Labels that the tree was grown for.
    """

    left: IntArray
    right: IntArray
    weight_starts: LongArray
    weight_features: IntArray
    weight_values: Singles
    bias: Singles
    shares: sparse.csr_array
    row_weight: FloatArray
    drawn: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ObliqueTrees:
    """Trees of oblique splits, one after the other in flat arrays.

    Parameters
    ----------
    tree_starts : int array of shape (n_trees + 1,)
        First node of each tree.
    left, right : int arrays of shape (n_nodes,)
        Children as indices within their tree, -1 at a leaf.
    weight_starts : int array of shape (n_nodes + 1,)
    weight_features, weight_values : arrays of shape (n_weights,)
    bias : array of shape (n_nodes,)
        A row goes right if the product of its features and the weights, plus the bias, is >= 0.
    share_starts : int array of shape (n_nodes + 1,)
    share_labels, share_values : arrays of shape (n_shares,)
        Positive proportions of each leaf's rows that have a label; other nodes have no entries.
    row_weight : array of shape (n_nodes,)
        Total weight of the training rows in each leaf, 0 at other nodes.
    drawn : bool array of shape (n_trees, n_columns)
        Labels that each tree was grown for.
    """

    tree_starts: LongArray
    left: IntArray
    right: IntArray
    weight_starts: LongArray
    weight_features: IntArray
    weight_values: Singles
    bias: Singles
    share_starts: LongArray
    share_labels: IntArray
    share_values: Singles
    row_weight: FloatArray
    drawn: NDArray[np.bool_]

    # ------------------------------------------------------------------ files

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        for name in ("tree_starts", "weight_starts", "share_starts"):
            numbers(getattr(self, name), np.int64, 1, name)
        for name in ("left", "right", "weight_features", "share_labels"):
            numbers(getattr(self, name), np.int32, 1, name)
        for name in ("bias", "weight_values", "share_values"):
            numbers(getattr(self, name), np.float32, 1, name)
        numbers(self.row_weight, np.float64, 1, "row_weight")
        left, right, n_nodes = self.left, self.right, len(self.left)
        same_shapes(left, right, self.bias, self.row_weight)
        sizes = check_starts(self.tree_starts, None, n_nodes, "tree_starts")
        require(sizes > 0, "a tree has no nodes")
        places = np.arange(n_nodes) - np.repeat(self.tree_starts[:-1], sizes)
        size = np.repeat(sizes, sizes)
        leads_on = (left > places) & (left < size) & (right > places) & (right < size)
        require((left < 0) | leads_on, "a tree has a child that does not exist")
        same_shapes(self.weight_features, self.weight_values)
        check_starts(self.weight_starts, n_nodes, len(self.weight_features), "weight_starts")
        require(self.weight_features >= 0, "a tree uses a feature that does not exist")
        same_shapes(self.share_labels, self.share_values)
        check_starts(self.share_starts, n_nodes, len(self.share_labels), "share_starts")
        drawn = numbers(self.drawn, np.bool_, 2, "drawn")
        require(len(drawn) == len(sizes), "drawn and tree_starts have different numbers of trees")
        require(within(self.share_labels, drawn.shape[1]), "a leaf has a label that does not exist")

    # ------------------------------------------------------------------ construction

    @classmethod
    def of(cls, trees: Sequence[GrownTree], before: ObliqueTrees | None = None) -> ObliqueTrees:
        """Concatenate trees, after those of an earlier forest if given."""
        sizes = [len(tree.left) for tree in trees]
        made = cls(
            tree_starts=_starts(sizes),
            left=np.concatenate([tree.left for tree in trees]),
            right=np.concatenate([tree.right for tree in trees]),
            weight_starts=_joined_starts([tree.weight_starts for tree in trees]),
            weight_features=np.concatenate([tree.weight_features for tree in trees]),
            weight_values=np.concatenate([tree.weight_values for tree in trees]),
            bias=np.concatenate([tree.bias for tree in trees]),
            share_starts=_joined_starts([tree.shares.indptr for tree in trees]),
            share_labels=np.concatenate([tree.shares.indices for tree in trees]).astype(np.int32),
            share_values=np.concatenate([tree.shares.data for tree in trees]).astype(np.float32),
            row_weight=np.concatenate([tree.row_weight for tree in trees]),
            drawn=np.stack([tree.drawn for tree in trees]),
        )
        return made if before is None else before._followed_by(made)

    def _followed_by(self, other: ObliqueTrees) -> ObliqueTrees:
        joined: dict[str, Any] = {}
        for field in fields(self):
            one, two = getattr(self, field.name), getattr(other, field.name)
            join = _joined_starts if field.name.endswith("_starts") else np.concatenate
            joined[field.name] = join([one, two])
        return ObliqueTrees(**joined)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_starts) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees together."""
        return len(self.left)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves, of shape (n_nodes,)."""
        return self.left < 0

    @property
    def parent(self) -> LongArray:
        """Parents as indices among all nodes, -1 for the roots, of shape (n_nodes,)."""
        parent = np.full(self.n_nodes, -1, dtype=np.int64)
        inner = np.flatnonzero(~self.is_leaf)
        first = self._first_of_tree[inner]
        for child in (self.left, self.right):
            parent[first + child[inner]] = inner
        return parent

    @property
    def _first_of_tree(self) -> LongArray:
        return np.repeat(self.tree_starts[:-1], np.diff(self.tree_starts))

    # ------------------------------------------------------------------ prediction

    def apply(self, X: Any, n_jobs: int | None = None) -> IntArray:
        """Return the leaf of every row in every tree.

        Parameters
        ----------
        X : float32 array or CSR array of shape (n_samples, n_features)
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        int array of shape (n_samples, n_trees)
            Indices within the trees.
        """
        from palmette.forest._predict_kernel import find_leaves

        with Threads(n_jobs) as threads:
            parts = threads.map(
                lambda rows: find_leaves(kernel_rows(X[rows]), self._splits()),
                _even_parts(X.shape[0], threads.n_threads),
            )
        return np.concatenate(parts)

    def decision_path(self, X: Any, n_jobs: int | None = None) -> sparse.csr_array:
        """Return the nodes on the path of every row: sparse bool, (n_samples, n_nodes)."""
        reached = (self.apply(X, n_jobs) + self.tree_starts[:-1]).ravel()
        rows = np.repeat(np.arange(X.shape[0]), self.n_trees)
        parent, steps = self.parent, []
        while reached.size:
            steps.append((rows, reached))
            above = parent[reached]
            rows, reached = rows[above >= 0], above[above >= 0]
        at = tuple(np.concatenate(some) for some in zip(*steps, strict=True))
        flags = np.ones(len(at[0]), dtype=bool)
        path = sparse.csr_array((flags, at), shape=(X.shape[0], self.n_nodes))
        path.sort_indices()  # scipy 1.13 does not
        return path

    def proba(
        self,
        X: Any,
        prior: FloatArray,
        votes: Votes,
        n_jobs: int | None = None,
        mask: NDArray[np.bool_] | None = None,
    ) -> FloatArray:
        """Return weighted means of the leaves' label shares and of a prior.

        Parameters
        ----------
        X : float32 array or CSR array of shape (n_samples, n_features)
        prior : array of shape (n_columns,)
            Probabilities of the labels without any features.
        votes : Votes
        n_jobs : int, optional
            Number of threads, which does not change the result.
        mask : bool array of shape (n_samples, n_trees), optional
            Which trees are used per row, at least one; all by default.

        Returns
        -------
        array of shape (n_samples, n_columns)
            From 0 to 1.
        """
        from palmette.forest._predict_kernel import add_votes

        weights = np.where(self.drawn, votes.label, 1.0).astype(np.float32)
        leaf_shares = self.share_starts, self.share_labels, self.share_values
        proba = np.tile(votes.prior * prior, (X.shape[0], 1))

        def add_rows(rows: slice) -> None:
            sums, used = proba[rows], None
            n_used: Any = self.n_trees
            n_drawn: Any = self.drawn.sum(axis=0)
            if mask is not None:
                used = np.ascontiguousarray(mask[rows].T)
                n_used = used.sum(axis=0)[:, None]
                counted = mask[rows].astype(np.float32) @ self.drawn.astype(np.float32)  # exact
                n_drawn = counted.astype(np.float64)
            add_votes(kernel_rows(X[rows]), self._splits(), *leaf_shares, weights, sums, used)
            sums /= votes.prior + n_used + (votes.label - 1.0) * n_drawn
            np.minimum(sums, 1.0, out=sums)  # rounding errors

        with Threads(n_jobs) as threads:
            n_blocks = -(-X.shape[0] * self.n_trees // _CELLS_AT_ONCE)
            threads.map(add_rows, _even_parts(X.shape[0], max(threads.n_threads, n_blocks)))
        return proba

    def _splits(self) -> Any:
        """Return the arrays of the splits, as the kernels take them."""
        from palmette.forest import _predict_kernel

        kind = _predict_kernel.ObliqueTrees
        return kind(*(getattr(self, name) for name in kind._fields))


def kernel_rows(X: Any) -> Any:
    """Return rows as the kernels take them: a C-contiguous array, or a tuple of CSR arrays."""
    if sparse.issparse(X):
        return X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), X.shape[1]
    return np.ascontiguousarray(X)


def _even_parts(n_rows: int, n_parts: int) -> list[slice]:
    bounds = np.linspace(0, n_rows, n_parts + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(bounds) if a < b]


def _starts(sizes: Sequence[int]) -> LongArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _joined_starts(parts: Sequence[NDArray[Any]]) -> LongArray:
    """Concatenate arrays of starts, shifted by the lengths of the parts before."""
    shifts = _starts([int(part[-1]) for part in parts])[:-1]
    moved = [part[1:].astype(np.int64) + shift for part, shift in zip(parts, shifts, strict=True)]
    return np.concatenate([np.zeros(1, dtype=np.int64), *moved])


def split_importances(trees: ObliqueTrees, spread: FloatArray) -> FloatArray:
    """Return feature importances: the gains of all splits, divided among their features.

    The gain of a split is the decrease of the labels' variance from its node to its children,
    summed over the labels and the training rows at the node. It is divided among the features in
    proportion to the absolute values of their weights times their standard deviations.

    Parameters
    ----------
    trees : ObliqueTrees
    spread : array of shape (n_features,)
        Standard deviations of the features that the trees split on.

    Returns
    -------
    array of shape (n_features,)
        Summing to one; all zero if no split has a gain.
    """
    gains = np.concatenate([_gains_of(trees, tree) for tree in range(trees.n_trees)])
    sizes = np.abs(trees.weight_values.astype(np.float64)) * spread[trees.weight_features]
    node = np.repeat(np.arange(trees.n_nodes), np.diff(trees.weight_starts))
    total = np.bincount(node, sizes, minlength=trees.n_nodes)
    parts = np.divide(gains, total, out=np.zeros_like(gains), where=total > 0)
    importances = np.asarray(
        np.bincount(trees.weight_features, sizes * parts[node], minlength=len(spread)),
        dtype=np.float64,
    )
    return np.asarray(importances / importances.sum()) if importances.any() else importances


def _gains_of(trees: ObliqueTrees, tree: int) -> FloatArray:
    """Return the decrease of variance at every node of a tree, 0 at leaves."""
    start, stop = trees.tree_starts[tree : tree + 2]
    left, right = trees.left[start:stop], trees.right[start:stop]
    weight = trees.row_weight[start:stop]
    starts = trees.share_starts[start : stop + 1]
    own = slice(starts[0], starts[-1])
    counts = sparse.csr_array(
        (
            trees.share_values[own] * np.repeat(weight, np.diff(starts)),
            trees.share_labels[own],
            starts - starts[0],
        ),
        shape=(len(left), trees.drawn.shape[1]),
    )
    below = _below(left, right)
    weight = below @ weight
    counts = below @ counts
    # the sum over labels of positives**2 / rows: minus the variance, up to a constant
    explained = np.asarray(counts.power(2).sum(axis=1)).ravel() / weight
    gains = np.zeros(len(left))
    inner = np.flatnonzero(left >= 0)
    gains[inner] = explained[left[inner]] + explained[right[inner]] - explained[inner]
    return np.maximum(gains, 0.0)


def _below(left: IntArray, right: IntArray) -> sparse.csr_array:
    """Return which leaves are below each node: sparse, (n_nodes, n_nodes)."""
    n_nodes, inner = len(left), np.flatnonzero(left >= 0)
    parent = np.full(n_nodes, -1)
    parent[left[inner]] = parent[right[inner]] = inner
    leaf = np.flatnonzero(left < 0)
    node, steps = leaf, []
    while node.size:
        steps.append((node, leaf))
        above = parent[node]
        node, leaf = above[above >= 0], leaf[above >= 0]
    at = tuple(np.concatenate(some) for some in zip(*steps, strict=True))
    return sparse.csr_array((np.ones(len(at[0])), at), shape=(n_nodes, n_nodes))
