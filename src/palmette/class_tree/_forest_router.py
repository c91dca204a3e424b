"""ForestRouter: extremely randomized trees of all classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import (
    FloatArray,
    IntArray,
    check_single_precision,
    count_rows,
    read_only,
    row_chunks,
    take_rows,
)
from palmette._kernels import inner, int64, kernel
from palmette.class_tree._routing import RoutingProblem
from palmette.class_tree._shared_router import SharedModel, SharedRouter
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import check_starts, numbers, require, same_shapes, within
from palmette.trees._binning import count_features
from palmette.trees._random import State, next_below

_CELLS_AT_ONCE = 2**22  # of rows and of their leaves
_MANY_CLASSES = 50  # scikit-learn's trees visit all classes at every cut; with more, ours are grown
_NEARLY_CONSTANT = 1e-7  # a narrower range of values is not cut, as in scikit-learn
_FINE: Any = np.int64(2**31 - 1)  # number of equally likely places of a cut


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
    P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning 63.
    doi:10.1007/s10994-006-6226-1

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

        n_classes, n_features = problem.table.n_classes, int(X.shape[1])

        if n_classes > _MANY_CLASSES and not sparse.issparse(X):
            grow = _grower(X, problem, self._n_tried(n_features))
        else:
            grow = self._sklearn_grower(X, problem)
        grown = problem.run(grow, seeds)
        return [ForestModel.join(grown, n_classes, n_features)]

    def _n_tried(self, n_features: int) -> int:
        """Return the number of features drawn at a node."""
        if isinstance(self.max_features, str) and self.max_features == "log2":
            return max(1, int(np.log2(n_features)))
        return count_features(self.max_features, n_features)

    def _sklearn_grower(self, X: Any, problem: RoutingProblem) -> Callable[[int], _Grown]:
        """Return a function that grows the tree of a seed."""

        from sklearn.tree import ExtraTreeClassifier  # which imports half of scikit-learn

        def grow(seed: int) -> _Grown:
            tree = ExtraTreeClassifier(max_features=self.max_features, random_state=seed)
            tree.fit(X, problem.codes, sample_weight=problem.weights, check_input=False)
            return _grown(tree.tree_)

        return grow


def _grower(
    X: NDArray[np.float32], problem: RoutingProblem, n_tried: int
) -> Callable[[int], _Grown]:
    """Return a function that grows the tree of a seed by the kernel below."""
    n_classes, n_rows = problem.table.n_classes, len(problem.codes)
    columns = read_only(np.ascontiguousarray(X.T))
    codes = read_only(np.ascontiguousarray(problem.codes, dtype=np.int32))
    given = np.ones(n_rows) if problem.weights is None else problem.weights
    weights = read_only(np.ascontiguousarray(given, dtype=np.float64))

    def grow(seed: int) -> _Grown:
        state = np.array([seed], dtype=np.uint64)
        grown: _Grown = grow_extra_tree(columns, codes, weights, n_classes, n_tried, state)
        return grown

    return grow


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


@inner
def _spread(column: Any, rows: IntArray) -> tuple[float, float]:
    """Return the least and the largest value of some rows."""
    low = column[rows[0]]
    high = low
    for row in rows:
        value = column[row]
        low = min(low, value)
        high = max(high, value)
    return low, high


@inner
def _gain(
    column: Any,
    codes: IntArray,
    weights: FloatArray,
    rows: IntArray,
    cut: float,
    sums: FloatArray,
    below: FloatArray,
    weight: float,
    squares: float,
) -> float:
    """Return the purity after a cut: sums of squared class weights by the weight of each side."""
    squares_left, squares_right, left = 0.0, squares, 0.0
    for row in rows:
        if column[row] <= cut:
            code, size = codes[row], weights[row]
            squares_left += size * (2.0 * below[code] + size)
            squares_right -= size * (2.0 * (sums[code] - below[code]) - size)
            below[code] += size
            left += size
    for row in rows:
        below[codes[row]] = 0.0
    return squares_left / left + squares_right / (weight - left)


@kernel
def grow_extra_tree(
    columns: NDArray[np.float32],
    codes: IntArray,
    weights: FloatArray,
    n_classes: int,
    n_tried: int,
    state: State,
) -> Any:
    """Grow one extremely randomized tree by the Gini impurity, down to leaves of one class.

    At every node, `n_tried` features are drawn, more while all are constant; each is cut at a
    random place between its least and its largest value, and the best cut is taken. It is the
    algorithm of scikit-learn's `ExtraTreeClassifier`, but a cut takes time in proportion to the
    rows of the node only, not to the number of classes.

    Parameters
    ----------
    columns : float32 array of shape (n_features, n_rows), IN
    codes : int32 array of shape (n_rows,), IN
    weights : float64 array of shape (n_rows,), IN
        Positive.
    n_classes, n_tried : int
    state : uint64 array of shape (1,), IN and OUT

    Returns
    -------
    _Grown
    """
    n_features, n_rows = columns.shape
    n_most = 2 * n_rows
    features, cuts = np.zeros(n_most, np.int32), np.empty(n_most, np.float64)
    left, right = np.empty(n_most, np.int32), np.empty(n_most, np.int32)
    counts = np.zeros(n_most, np.int32)
    labels, shares = np.empty(n_rows, np.int32), np.empty(n_rows, np.float64)
    sums, below = np.zeros(n_classes, np.float64), np.zeros(n_classes, np.float64)
    rows, moved = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    order = np.empty(n_features, np.int32)
    # of the nodes that wait: the places of their rows, and where their number is to be written
    first, last = np.empty(n_most, np.int32), np.empty(n_most, np.int32)
    parents, is_left = np.empty(n_most, np.int32), np.empty(n_most, np.bool_)
    for row in range(n_rows):
        rows[row] = row
    for feature in range(n_features):
        order[feature] = feature
    first[0], last[0], parents[0], is_left[0] = 0, n_rows, 0, True
    n_nodes, n_waiting, n_shares = int64(0), int64(1), int64(0)
    while n_waiting > 0:
        n_waiting -= 1
        start, end = int64(first[n_waiting]), int64(last[n_waiting])
        node = n_nodes
        n_nodes += 1
        if is_left[n_waiting]:
            left[parents[n_waiting]] = node
        else:
            right[parents[n_waiting]] = node
        weight, squares, n_distinct = 0.0, 0.0, int64(0)
        for place in range(start, end):
            code, size = codes[rows[place]], weights[rows[place]]
            n_distinct += sums[code] == 0.0
            squares += size * (2.0 * sums[code] + size)
            sums[code] += size
            weight += size
        best, best_feature, best_cut = -1.0, int64(-1), 0.0
        n_left_over = int64(n_features)
        while (
            n_distinct > 1
            and n_left_over > 0
            and (best_feature < 0 or n_features - n_left_over < n_tried)
        ):
            drawn = next_below(state, n_left_over)
            n_left_over -= 1
            feature = order[drawn]
            order[drawn] = order[n_left_over]
            order[n_left_over] = feature
            here = rows[start:end]
            low, high = _spread(columns[feature], here)
            if high <= low + np.float32(_NEARLY_CONSTANT):
                continue
            cut = low + (high - low) * (next_below(state, _FINE) / 2.0**31)
            cut = np.float64(low) if cut >= high else np.float64(cut)
            gain = _gain(columns[feature], codes, weights, here, cut, sums, below, weight, squares)
            if gain > best:
                best, best_feature, best_cut = gain, int64(feature), cut
        if best_feature < 0:  # a leaf, which is its own child
            left[node], right[node], cuts[node] = node, node, np.inf
            for place in range(start, end):
                code = codes[rows[place]]
                if sums[code] > 0.0:
                    labels[n_shares], shares[n_shares] = code, sums[code] / weight
                    n_shares += 1
                    counts[node] += 1
                    sums[code] = 0.0
            continue
        column, n_low, n_high = columns[best_feature], start, int64(0)
        for place in range(start, end):
            row = rows[place]
            sums[codes[row]] = 0.0
            if column[row] <= best_cut:
                rows[n_low] = row
                n_low += 1
            else:
                moved[n_high] = row
                n_high += 1
        for place in range(n_high):
            rows[n_low + place] = moved[place]
        features[node], cuts[node] = best_feature, best_cut
        first[n_waiting], last[n_waiting] = n_low, end
        first[n_waiting + 1], last[n_waiting + 1] = start, n_low
        for child in range(2):
            parents[n_waiting + child], is_left[n_waiting + child] = node, child == 1
        n_waiting += 2
    return (
        features[:n_nodes],
        cuts[:n_nodes],
        left[:n_nodes],
        right[:n_nodes],
        labels[:n_shares],
        shares[:n_shares],
        counts[:n_nodes],
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
