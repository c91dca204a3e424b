"""BalancedKMeans: k-means clustering of labels into clusters of nearly equal size."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray
from palmette.base._grow import IntArray, Partition, assign_with_capacity
from palmette.exceptions import PalmetteError

_TOLERANCE = 1e-9  # relative: distances that differ by less are equal


class LabelSetProblem:
    """Label sets of rows, as the input of a partition of labels.

    Parameters
    ----------
    Y : sparse bool array of shape (n_samples, n_labels)
    weights : array of shape (n_samples,), optional
    seed : int
        Seed of partitions that draw random numbers.
    """

    def __init__(
        self, Y: sparse.csr_array, weights: FloatArray | None = None, seed: int = 0
    ) -> None:
        self.n_classes = int(Y.shape[1])
        self.seed = seed
        counts = Y.astype(np.float64)
        weighted = counts if weights is None else counts.multiply(weights[:, None])
        # weight of the rows that have both labels: distances between labels need only this
        self.together = sparse.csr_array(sparse.csc_array(weighted).T @ counts)

    def rng(self, *key: int) -> np.random.Generator:
        """Return a random generator for one node, independent of draws at other nodes."""
        return np.random.default_rng([self.seed, *key])


class BalancedKMeans(Partition):
    """Cluster labels such that labels of the same rows are in the same cluster.

    A label is represented by its column of the indicator matrix. A cluster contains at most
    :math:`\\lceil L / k \\rceil` of the :math:`L` labels: a label is assigned to the nearest mean,
    and if a cluster is too large its farthest labels are assigned to their next nearest mean. Only
    the numbers of rows that two labels have in common are needed, never the columns themselves.

    Parameters
    ----------
    branching : int
        Number of clusters, k; it is smaller if there are fewer labels.
    max_iter : int
        Maximum number of iterations.
    n_init : int
        Number of initializations by k-means++; the result with the smallest sum of squares is kept.

    References
    ----------
    G. Tsoumakas, I. Katakis and I. Vlahavas: Effective and efficient multilabel classification in
    domains with large number of labels. ECML PKDD 2008 workshop on mining multidimensional data.

    Examples
    --------
    >>> Y = sparse.csr_array([[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 1]], dtype=bool)
    >>> partition = BalancedKMeans(2)
    >>> partition.split(partition.begin(LabelSetProblem(Y)), np.arange(4), 0)
    [array([0, 2]), array([1, 3])]
    """

    def __init__(self, branching: int = 4, *, max_iter: int = 50, n_init: int = 3) -> None:
        self.branching = branching
        self.max_iter = max_iter
        self.n_init = n_init

    def check(self) -> None:
        """Raise an error for invalid parameters."""
        if not isinstance(self.branching, Integral) or self.branching < 2:
            raise PalmetteError(f"branching={self.branching!r}: expected an integer of at least 2.")
        for name in ("max_iter", "n_init"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise PalmetteError(f"{name}={value!r}: expected a positive integer.")

    def begin(self, problem: Any) -> LabelSetProblem:
        """Check the parameters, and return the problem, a `LabelSetProblem`."""
        self.check()
        label_sets: LabelSetProblem = problem
        return label_sets

    def split(self, state: LabelSetProblem, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the labels of a node; see `Partition.split`."""
        gram = state.together[classes][:, classes]
        k, rng = min(int(self.branching), len(classes)), state.rng(node)
        best, least = np.zeros(len(classes), dtype=np.int64), np.inf
        for _ in range(self.n_init):
            assigned, spread = self._run(gram, k, rng)
            if spread < least * (1.0 - _TOLERANCE) or least == np.inf:
                best, least = assigned, spread
        groups = [classes[best == cluster] for cluster in range(k)]
        return sorted((group for group in groups if len(group)), key=lambda group: group[0])

    def _run(
        self, gram: sparse.csr_array, k: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], float]:
        size = -(-gram.shape[0] // k)
        distances = _first_distances(gram, k, rng)
        assigned = assign_with_capacity(distances, size)
        for _ in range(self.max_iter):
            distances = _distances(gram, assigned, k)
            moved = assign_with_capacity(distances, size)
            if np.array_equal(moved, assigned):
                break
            assigned = moved
        spread = _distances(gram, assigned, k)[np.arange(len(assigned)), assigned].sum()
        return assigned, float(spread)


def _distances(gram: sparse.csr_array, assigned: NDArray[np.int64], k: int) -> FloatArray:
    """Return squared distances of labels to cluster means, infinite for empty clusters."""
    n_labels = gram.shape[0]
    sizes = np.bincount(assigned, minlength=k)
    shares = np.zeros((n_labels, k))
    shares[np.arange(n_labels), assigned] = 1.0 / sizes[assigned]
    products = gram @ shares
    lengths = np.einsum("lk,lk->k", shares, products)
    squares = gram.diagonal()[:, None] - 2.0 * products + lengths
    return np.where(sizes == 0, np.inf, _rounded(squares, gram))


def _first_distances(gram: sparse.csr_array, k: int, rng: np.random.Generator) -> FloatArray:
    """Return squared distances to k of the labels, drawn by k-means++."""
    own, columns = gram.diagonal(), []
    nearest = np.ones(len(own))
    for _ in range(k):
        total = nearest.sum()
        chances = nearest / total if total > 0 else np.full(len(own), 1.0 / len(own))
        seed = int(np.searchsorted(np.cumsum(chances), rng.random()).clip(max=len(own) - 1))
        column = own + own[seed] - 2.0 * gram[:, [seed]].toarray().ravel()
        columns.append(_rounded(column, gram))
        nearest = columns[0] if len(columns) == 1 else np.minimum(nearest, columns[-1])
    return np.column_stack(columns)


def _rounded(squares: FloatArray, gram: sparse.csr_array) -> FloatArray:
    """Round distances, so that rounding errors decide no tie."""
    unit = max(float(gram.diagonal().max(initial=0.0)), 1e-300) * _TOLERANCE
    return np.maximum(np.rint(squares / unit) * unit, 0.0)
