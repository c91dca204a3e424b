"""Models of synthetic rows given their classes: Gaussian features, or bags of words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import CountArray, NodeArray
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

_BLOCK = 2**22  # numbers drawn at once
_WORDS = 16  # features per node that are more frequent in its bags of words


class RowModel(Protocol):
    """A distribution of rows given nodes of a hierarchy."""

    @property
    def means(self) -> Any:
        """Expectation of a row per node, minus the background: shape (n_nodes, n_features)."""

    @property
    def background(self) -> CountArray:
        """Part of the expectation that all nodes have in common: shape (n_features,)."""

    def draw(self, sources: NodeArray, dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
        """Draw rows from the equal mixtures of nodes that the rows of `sources` list."""

    def log_likelihood(self, X: Any, nodes: NodeArray) -> CountArray:
        """Log-likelihood of rows under nodes, (n_rows, n_nodes), up to a constant per row."""


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """Rows around the mean of their class, with independent noise of variance one.

    Parameters
    ----------
    means : float array of shape (n_nodes, n_features)
    """

    means: CountArray

    @classmethod
    def make(
        cls,
        h: Hierarchy,
        n_features: int,
        informative: NDArray[np.int64],
        class_sep: float,
        level_decay: float,
        rng: np.random.Generator,
    ) -> GaussianModel:
        """Draw the means down the hierarchy: that of the parents, averaged, and a random step."""
        means = np.zeros((h.n_nodes, n_features))
        # two siblings differ by two steps s in each of d features: 2 d s**2 = (2 class_sep)**2
        scale = class_sep * np.sqrt(2.0 / len(informative))
        parents, children = h.edges.T
        share = 1.0 / np.bincount(children, minlength=h.n_nodes)[children]
        above = sparse.csr_array((share, (children, parents)), shape=(h.n_nodes, h.n_nodes))
        for level in range(1, h.max_depth + 1):
            nodes = np.flatnonzero(h.depth == level)
            means[nodes] = above[nodes] @ means
            steps = rng.standard_normal((len(nodes), len(informative)))
            means[np.ix_(nodes, informative)] += scale * level_decay ** (level - 1) * steps
        return cls(means)

    @property
    def background(self) -> CountArray:
        """Zero for all features."""
        return np.zeros(self.means.shape[1])

    def draw(
        self, sources: NodeArray, dtype: np.dtype[Any], rng: np.random.Generator
    ) -> NDArray[Any]:
        """Draw rows around the average mean of their nodes."""
        if dtype not in (np.float32, np.float64):
            raise PalmetteError(f"got dtype={dtype}: expected float32 or float64.")
        X: NDArray[Any] = np.empty((len(sources), self.means.shape[1]), dtype=dtype)
        for block in row_blocks(len(sources), X.shape[1]):
            X[block] = rng.standard_normal(X[block].shape, dtype=dtype.type)
            for column in sources[block].T:
                X[block] += self.means[column] / sources.shape[1]
        return X

    def log_likelihood(self, X: NDArray[Any], nodes: NodeArray) -> CountArray:
        """Log-likelihood of rows under nodes; features that are NaN are ignored."""
        means = self.means[nodes]
        known = ~np.isnan(X)
        score: CountArray = np.where(known, X, 0.0) @ means.T
        if known.all():
            score -= 0.5 * (means**2).sum(axis=1)
        else:
            score -= 0.5 * known.astype(np.float64) @ (means**2).T
        return score


@dataclass(frozen=True, eq=False)
class WordModel:
    """Bags of words: a draw is any feature, or one of those of the row's node or its ancestors.

    Parameters
    ----------
    words : int array of shape (n_nodes, 16)
        Features of each node, not necessarily distinct.
    shares : CSR array of shape (n_nodes, n_nodes)
        Probability that an informative draw of a row's node comes from each of its ancestors.
    n_features, n_draws : int
        Number of features, and number of draws per row.
    informative : float
        Probability that a draw is informative.
    """

    words: NDArray[np.int64]
    shares: sparse.csr_array
    n_features: int
    n_draws: int
    informative: float

    @classmethod
    def make(
        cls,
        h: Hierarchy,
        n_features: int,
        informative: NDArray[np.int64],
        class_sep: float,
        level_decay: float,
        density: float,
        rng: np.random.Generator,
    ) -> WordModel:
        """Draw every node's words."""
        closure = h.closure
        level = np.maximum(h.depth[closure.indices], 1) - 1.0
        shares = np.where(closure.indices > 0, level_decay**level, 0.0)
        shares[0] = 1.0  # the root has no ancestor; no row is drawn from it
        shares /= np.repeat(np.add.reduceat(shares, closure.indptr[:-1]), np.diff(closure.indptr))
        return cls(
            informative[rng.integers(0, len(informative), (h.n_nodes, _WORDS))],
            sparse.csr_array((shares, closure.indices, closure.indptr), shape=closure.shape),
            n_features,
            max(1, round(density * n_features)),
            class_sep / (1.0 + class_sep),
        )

    @cached_property
    def means(self) -> sparse.csr_array:
        """Expected counts of informative draws, of shape (n_nodes, n_features)."""
        n_nodes = len(self.words)
        each = np.full(self.words.size, self.n_draws * self.informative / _WORDS)
        starts = np.arange(n_nodes + 1) * _WORDS
        own = sparse.csr_array((each, self.words.ravel(), starts), shape=(n_nodes, self.n_features))
        return sparse.csr_array(self.shares @ own)

    @property
    def background(self) -> CountArray:
        """Expected counts of the other draws."""
        return np.full(self.n_features, self.n_draws * (1.0 - self.informative) / self.n_features)

    def draw(
        self, sources: NodeArray, dtype: np.dtype[Any], rng: np.random.Generator
    ) -> sparse.csr_array:
        """Draw counts; each draw comes from one of the row's nodes."""
        ends = np.cumsum(self.shares.data)  # node i's shares fill the interval from i to i + 1
        parts = [sparse.csr_array((0, self.n_features), dtype=dtype)]
        for block in row_blocks(len(sources), 8 * self.n_draws):  # eight numbers per draw
            n_rows = len(sources[block])
            label = rng.integers(0, sources.shape[1], (n_rows, self.n_draws))
            node = np.take_along_axis(sources[block], label, axis=1).ravel()
            feature = self._draw_features(node, ends, rng)
            # scikit-learn needs 32-bit indices
            starts = np.arange(n_rows + 1, dtype=np.int32) * self.n_draws
            counts = sparse.csr_array(
                (np.ones(len(feature), dtype=dtype), feature, starts),
                shape=(n_rows, self.n_features),
            )
            counts.sum_duplicates()
            parts.append(counts)
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def _draw_features(
        self, node: NodeArray, ends: CountArray, rng: np.random.Generator
    ) -> NodeArray:
        starts = self.shares.indptr
        place = np.searchsorted(ends, node + rng.random(len(node)), side="right")
        # rounding may point into a neighbour's shares; a node's own begin with the root's, of zero
        place = np.clip(place, starts[node] + 1, starts[node + 1] - 1)
        above = self.shares.indices[place]
        feature: NodeArray = self.words[above, rng.integers(0, _WORDS, len(node))].astype(np.int32)
        other = rng.random(len(node)) >= self.informative
        feature[other] = rng.integers(0, self.n_features, np.count_nonzero(other))
        return feature

    def log_likelihood(self, X: sparse.csr_array, nodes: NodeArray) -> CountArray:
        """Multinomial log-likelihood: the background is the same for all nodes."""
        if self.informative == 0.0:
            return np.zeros((X.shape[0], len(nodes)))
        ratio = sparse.csr_array(self.means[nodes])
        ratio.data = np.log1p(ratio.data / self.background[0])
        product: CountArray = (X @ ratio.T).toarray()
        return product


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of rows with about four million numbers each."""
    size = max(1, _BLOCK // max(1, n_columns))
    for start in range(0, n_rows, size):
        yield slice(start, start + size)
