"""Growing a forest of structured trees: sampling per tree, leaf values, out-of-bag scores."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.base._fitting import Threads
from palmette.forest._oblique_trees import GrownTree, ObliqueTrees, Votes, kernel_rows
from palmette.forest._rows import DistinctRows

if TYPE_CHECKING:
    from palmette.forest._tree_kernel import StructuredTree


@dataclass(frozen=True)
class TreeDraws:
    """Proportions (floats above 0 and up to 1) or numbers of what is drawn per tree.

    Parameters
    ----------
    rows : float or int
        Of all rows, copies included.
    features : float, int or "sqrt"
    labels : float or int
        Of the labels that vary.
    bootstrap : bool
        Whether rows are drawn with replacement.
    """

    rows: float
    features: float | str
    labels: float
    bootstrap: bool = False


def part_of(value: Any, total: int) -> int:
    """Convert a proportion, a number or "sqrt" to a number from 1 to the total.

    Examples
    --------
    >>> part_of(0.75, 8), part_of(3, 8), part_of("sqrt", 9), part_of(20, 8)
    (6, 3, 3, 8)
    """
    if isinstance(value, str):
        number = np.rint(np.sqrt(total))
    else:
        number = value if isinstance(value, Integral) else np.rint(value * total)
    return int(np.clip(number, 1, total))


_ENOUGH = 5  # rows with and without a label for it to count in the relevance of features
_SKETCH = 16  # mixtures of labels that relevance and splits of single features are computed from
_LEAST_EXCESS = 0.02  # of a feature without any relation to the labels
_LARGEST_POWER = 10  # of two


class _Draw(NamedTuple):
    """The sample of a tree: how often each distinct row is drawn, features and labels."""

    times: NDArray[np.int64]
    features: IntArray
    labels: IntArray
    seed: int


class ForestGrower:
    """Grow the trees of a forest; a tree depends on its index only, not on order or threads.

    Parameters
    ----------
    X : float32 array or CSR array of shape (n_distinct, n_features)
    Y : sparse bool array of shape (n_distinct, n_columns)
    rows : DistinctRows
    draws : TreeDraws
    settings : mapping
        Values of `TreeSettings` by name.
    seed : int
    relevance : float
        Power of the relevance of the features that their values are multiplied by, per tree.
    mixed : bool
        Whether only the second of every three trees uses the relevance, and the third one splits
        single features.

    Attributes
    ----------
    label_shares : array of shape (n_columns,)
        Proportion of the rows that have each label.
    """

    def __init__(
        self,
        X: Any,
        Y: sparse.csr_array,
        rows: DistinctRows,
        draws: TreeDraws,
        settings: Mapping[str, Any],
        seed: int,
        relevance: float = 0.0,
        mixed: bool = False,
    ) -> None:
        from palmette.forest._tree_kernel import ROUTERS, TreeSettings

        self._rows, self._draws, self._seed = rows, draws, seed
        self._X, self._kernel_X, self._n_features = X, kernel_rows(X), X.shape[1]
        self._Y = Y.astype(np.float64)
        self._kernel_Y = (Y.indptr.astype(np.int64), Y.indices.astype(np.int32), Y.shape[1])
        self._settings = TreeSettings(**{**settings, "router": ROUTERS[settings["router"]]})
        weights = rows.copies * rows.unit
        self.label_shares = (weights @ self._Y) / weights.sum()
        varying = np.flatnonzero(self.label_shares < 1)
        # if no label varies, every tree is a single leaf
        self._varying = varying if varying.size else np.arange(Y.shape[1])
        self._relevance, self._mixed = relevance, mixed
        self._variance = _variances(X, weights / weights.sum()) if relevance else None

    # ------------------------------------------------------------------ sampling

    @property
    def n_rows(self) -> int:
        """Number of rows that samples are drawn from, copies included."""
        return int(self._rows.copies.sum())

    @property
    def leaves_rows_out(self) -> bool:
        """Whether trees are grown on a part of the rows."""
        return self._draws.bootstrap or part_of(self._draws.rows, self.n_rows) < self.n_rows

    def _draw(self, tree: int) -> _Draw:
        rng, draws, varying = self._generator(tree), self._draws, self._varying
        times = self._draw_rows(rng)  # first, so that `out_of_bag` can repeat this draw alone
        features = _sorted_sample(rng, self._n_features, draws.features)
        labels = varying[_sorted_sample(rng, len(varying), draws.labels)]
        seed = int(rng.integers(2**63))
        return _Draw(times, features, labels.astype(np.int32), seed)

    def _generator(self, tree: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, tree))

    def _draw_rows(self, rng: np.random.Generator) -> NDArray[np.int64]:
        copies = self._rows.copies
        total = int(copies.sum())
        n_drawn = part_of(self._draws.rows, total)
        if self._draws.bootstrap:
            return rng.multinomial(n_drawn, copies / total)
        if n_drawn >= total:
            return copies
        if total == len(copies):
            times = np.zeros(total, dtype=np.int64)
            times[rng.permutation(total)[:n_drawn]] = 1
            return times
        return rng.multivariate_hypergeometric(copies, n_drawn)

    # ------------------------------------------------------------------ relevance

    def _factors(self, draw: _Draw) -> NDArray[np.float32] | None:
        """Return what a tree multiplies its features by, of shape (n_features,), or None.

        Sparse splits prefer features with large values. The relevance of a feature is the mean over
        the tree's labels of rows times squared correlation, less 1, its expectation by chance. It
        is computed on the rows of the tree, so that out-of-bag scores remain honest. The factors
        are powers of two: products of features and weights are then the same if the weights, and
        not the features, are multiplied.
        """
        rows = np.flatnonzero(draw.times)
        targets = self._mixtures(draw, rows, _ENOUGH)
        if self._variance is None or targets is None:
            return None
        weights = draw.times[rows] * self._rows.unit[rows]
        targets *= (weights / weights.sum())[:, None]
        products = np.asarray(self._X[rows].T @ targets.astype(np.float32), dtype=np.float64)
        n_rows = draw.times.sum()
        strength = n_rows * np.square(products).mean(axis=1) / self._variance
        excess = np.maximum(strength - 1.0, _LEAST_EXCESS)
        powers = np.rint(self._relevance * np.log2(excess / excess[draw.features].mean()))
        factors = np.exp2(np.clip(powers, -_LARGEST_POWER, _LARGEST_POWER))
        return np.asarray(factors, dtype=np.float32)

    def _mixtures(self, draw: _Draw, rows: NDArray[Any], least: int) -> FloatArray | None:
        """Return the tree's labels in standard units, or a few random mixtures of many labels.

        Parameters
        ----------
        draw : _Draw
        rows : int array of shape (n_drawn,)
            The distinct rows of the tree.
        least : int
            Labels that fewer rows have, or do not have, are left out.

        Returns
        -------
        array of shape (n_drawn, n_mixtures) or None
            None if no label is left.
        """
        counts = draw.times[rows]
        Y = self._Y[rows][:, draw.labels]
        n_true = counts @ Y
        used = np.flatnonzero((n_true >= least) & (n_true <= counts.sum() - least))
        if not used.size:
            return None
        weights = counts * self._rows.unit[rows]
        weights = weights / weights.sum()
        shares = weights @ Y[:, used]
        units = np.diag(1.0 / np.sqrt(shares * (1.0 - shares)))
        if len(used) > _SKETCH:  # the mean over all labels is that over random mixtures of them
            mixed = np.random.default_rng(draw.seed).normal(size=(len(used), _SKETCH))
            units = units @ mixed / np.sqrt(len(used))
        targets = Y[:, used] @ units
        return np.asarray(targets - weights @ targets)

    # ------------------------------------------------------------------ growing

    def grow(self, tree: int) -> GrownTree:
        """Grow the tree of an index."""
        from palmette.forest._tree_kernel import grow_tree

        draw = self._draw(tree)
        drawn_rows = np.flatnonzero(draw.times)
        # each copy counts as one row for the minimum size of a leaf, whatever its weight
        bag = np.repeat(drawn_rows, draw.times[drawn_rows]).astype(np.int32)
        weights = self._rows.unit[bag]
        kind = tree % 3 if self._mixed else 1
        if kind == 2:
            grown = self._grow_on_single_features(draw, bag, weights)
        else:
            factors = self._factors(draw) if kind == 1 else None
            grown = grow_tree(
                self._kernel_X if factors is None else _scaled(self._kernel_X, factors),
                self._kernel_Y,
                bag,
                weights,
                draw.features,
                draw.labels,
                self.label_shares[draw.labels],
                self._settings,
                draw.seed,
            )
            if factors is not None:
                values = grown.weight_values * factors[grown.weight_features]
                grown = grown._replace(weight_values=values)
        drawn = np.zeros(self._Y.shape[1], dtype=bool)
        drawn[draw.labels] = True
        shares, row_weight = self._shares(grown.leaf_of_row, bag, weights, len(grown.left))
        return GrownTree(*grown[:-1], shares=shares, row_weight=row_weight, drawn=drawn)

    def _grow_on_single_features(
        self, draw: _Draw, bag: IntArray, weights: FloatArray
    ) -> StructuredTree:
        """Grow a tree whose splits are cuts of single features, as in a random forest.

        The cuts explain the most variance of the tree's labels in standard units, or of random
        mixtures of many labels. Every node draws as many features as the root of their number.
        """
        from sklearn.tree import DecisionTreeRegressor

        from palmette.forest._tree_kernel import StructuredTree

        rows, place = np.unique(bag, return_inverse=True)
        targets = self._mixtures(draw, rows, 1)
        if targets is None:  # a single leaf
            targets = np.zeros((len(rows), 1))
        X = self._X[bag]
        if len(draw.features) < self._n_features:
            X = X[:, draw.features]
        depth = self._settings.max_depth
        found = DecisionTreeRegressor(
            max_features="sqrt",
            min_samples_leaf=self._settings.min_samples_leaf,
            max_depth=None if depth < 0 else depth,
            random_state=draw.seed % 2**32,
        ).fit(X, targets[place], sample_weight=weights)
        nodes = found.tree_
        splits = nodes.children_left >= 0
        # right if x > cut, hence if x - above >= 0, where `above` is the next larger single
        above = nodes.threshold[splits].astype(np.float32)
        low = above <= nodes.threshold[splits]
        above[low] = np.nextafter(above[low], np.float32(np.inf))
        bias = np.zeros(len(splits), dtype=np.float32)
        bias[splits] = -above
        return StructuredTree(
            nodes.children_left.astype(np.int32),
            nodes.children_right.astype(np.int32),
            np.concatenate([[0], np.cumsum(splits)]).astype(np.int64),
            draw.features[nodes.feature[splits]],
            np.ones(len(above), dtype=np.float32),
            bias,
            found.apply(X).astype(np.int32),
        )

    def _shares(
        self, leaf: IntArray, bag: IntArray, weights: FloatArray, n_nodes: int
    ) -> tuple[sparse.csr_array, FloatArray]:
        """Return the proportion of each leaf's rows that have each label, and their weight."""
        total = np.asarray(np.bincount(leaf, weights, minlength=n_nodes), dtype=np.float64)
        order = np.argsort(leaf, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=n_nodes))])
        parts = weights[order] / total[leaf[order]]
        members = sparse.csr_array((parts, bag[order], starts), shape=(n_nodes, len(self._rows[0])))
        return (members @ self._Y).astype(np.float32), total

    def with_beta(self, beta: float) -> ForestGrower:
        """Return the same grower with another weight of all training rows in Eq. 1."""
        other = copy(self)
        other._settings = self._settings._replace(beta=beta)
        return other

    def grow_all(
        self, first: int, stop: int, n_jobs: int | None = None
    ) -> Generator[GrownTree, None, None]:
        """Yield the trees from `first` to `stop` in order, grown on several threads.

        Only as many trees are grown ahead as keep the threads busy.
        """
        numbers = iter(range(first, stop))
        n_threads = effective_n_jobs(n_jobs)
        if n_threads == 1:
            yield from map(self.grow, numbers)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            waiting = deque(pool.submit(self.grow, tree) for tree in islice(numbers, 2 * n_threads))
            try:
                while waiting:
                    grown = waiting.popleft().result()
                    waiting.extend(pool.submit(self.grow, tree) for tree in islice(numbers, 1))
                    yield grown
            finally:
                for future in waiting:
                    future.cancel()

    def grow_on(self, client: Any, first: int, stop: int) -> Generator[GrownTree, None, None]:
        """Yield the trees from `first` to `stop` in order, grown on the workers of a cluster."""
        from palmette.base._clients import connected
        from palmette.base._cluster import map_on

        with connected(client) as cluster:
            trees = [(tree,) for tree in range(first, stop)]
            yield from map_on(cluster, ForestGrower.grow, (self,), trees)

    # ------------------------------------------------------------------ out of bag

    def out_of_bag(
        self, trees: ObliqueTrees, votes: Votes, n_jobs: int | None = None
    ) -> FloatArray:
        """Return out-of-bag probabilities of the training rows, (n_samples, n_columns).

        A row is predicted by the trees that left out a copy of it, or by all if none did.
        """

        mask = self._left_out(trees.n_trees, n_jobs)
        mask[~mask.any(axis=1)] = True
        proba = trees.proba(self._X, self.label_shares, votes, n_jobs, mask)
        return proba[self._rows.kind]

    def are_left_out(self, n_trees: int, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Return which training rows some of the first trees left out, of shape (n_samples,)."""
        some = np.asarray(self._left_out(n_trees, n_jobs).any(axis=1))
        return np.asarray(some[self._rows.kind])

    def _left_out(self, n_trees: int, n_jobs: int | None) -> NDArray[np.bool_]:
        """Return which trees left out a copy of which row, of shape (n_distinct, n_trees)."""

        def is_left_out(tree: int) -> NDArray[np.bool_]:
            return self._draw_rows(self._generator(tree)) < self._rows.copies

        with Threads(n_jobs) as threads:
            mask = np.stack(threads.map(is_left_out, range(n_trees)))
        return np.ascontiguousarray(mask.T)


def _variances(X: Any, weights: FloatArray) -> FloatArray:
    """Return the variances of columns, infinite if they are constant, of shape (n_features,)."""
    X = X.astype(np.float64)
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    found = np.asarray(weights @ squares - np.square(weights @ X))
    return np.where(found > 1e-12, found, np.inf)


def _scaled(X: Any, factors: NDArray[np.float32]) -> Any:
    """Multiply columns of rows in the form of `kernel_rows`."""
    if isinstance(X, tuple):
        data, columns, *rest = X
        return data * factors[columns], columns, *rest
    return X * factors


def _sorted_sample(rng: np.random.Generator, n: int, part: Any) -> IntArray:
    """Draw some of n indices without replacement, sorted."""
    n_drawn = part_of(part, n)
    if n_drawn >= n:
        return np.arange(n, dtype=np.int32)
    return np.sort(rng.permutation(n)[:n_drawn]).astype(np.int32)
