"""BalancedKMeans: k-means of labels by the rows that have them, in clusters of one size."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.base._grow import IntArray, Partition
from palmette.exceptions import PalmetteError

__all__ = ["BalancedKMeans", "LabelSetProblem"]

FloatArray = NDArray[np.float64]

_CLEARLY = 1e-9  # relative: rounding does not move a label to a cluster that is equally near


class LabelSetProblem:
    """Rows with several labels each: what a partition of labels sees.

    Parameters
    ----------
    Y : sparse bool array of shape (n_samples, n_labels)
    weights : array of shape (n_samples,), optional
    seed : int
        For partitions that draw.
    """

    def __init__(
        self, Y: sparse.csr_array, weights: FloatArray | None = None, seed: int = 0
    ) -> None:
        self.n_classes = int(Y.shape[1])
        self.seed = seed
        counts = Y.astype(np.float64)
        weighted = counts if weights is None else counts.multiply(weights[:, None])
        # weight of the rows that have both labels: all that distances between labels need
        self.together = sparse.csr_array(sparse.csc_array(weighted).T @ counts)

    def rng(self, *key: int) -> np.random.Generator:
        """Return a generator for one place of the tree: the same whatever was drawn elsewhere."""
        return np.random.default_rng([self.seed, *key])


class BalancedKMeans(Partition):
    """Divide labels into clusters of labels that are true of the same rows.

    A label is a vector with a place for every row, 1 where the row has it. Clusters hold at most
    :math:`\\lceil L / k \\rceil` of the :math:`L` labels: a label goes to the nearest mean, and
    where a cluster is full its farthest label goes on to the next nearest. Rows that have none of
    the labels of a node count for nothing, so that only the numbers of rows that labels share are
    needed, and never the vectors.

    Parameters
    ----------
    branching : int
        Number of clusters, k; there are fewer where fewer hold all labels.
    max_iter : int
        Rounds of assigning labels and moving means.
    n_init : int
        Starts, by k-means++; the one with the least sum of squares is kept.

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
        """Refuse bad parameters."""
        if not isinstance(self.branching, Integral) or self.branching < 2:
            raise PalmetteError(f"branching={self.branching!r}: expected an integer from 2.")
        for name in ("max_iter", "n_init"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise PalmetteError(f"{name}={value!r}: expected a positive integer.")

    def begin(self, problem: Any) -> LabelSetProblem:
        """Check the parameters; the problem is a `LabelSetProblem`."""
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
            if spread < least * (1.0 - _CLEARLY) or least == np.inf:
                best, least = assigned, spread
        groups = [classes[best == cluster] for cluster in range(k)]
        return sorted((group for group in groups if len(group)), key=lambda group: group[0])

    def _run(
        self, gram: sparse.csr_array, k: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], float]:
        size = -(-gram.shape[0] // k)
        distances = _first_distances(gram, k, rng)
        assigned = assign_within(distances, size)
        for _ in range(self.max_iter):
            distances = _distances(gram, assigned, k)
            moved = assign_within(distances, size)
            if np.array_equal(moved, assigned):
                break
            assigned = moved
        spread = _distances(gram, assigned, k)[np.arange(len(assigned)), assigned].sum()
        return assigned, float(spread)


def assign_within(distances: FloatArray, size: int) -> NDArray[np.int64]:
    """Assign labels to near clusters that hold at most `size` of them.

    Every label asks its nearest cluster; one that is too full sends the farthest on to the next
    nearest of theirs. The outcome does not depend on who asks first.

    Parameters
    ----------
    distances : array of shape (n_labels, k)
        Of equally near ones the first is asked first, and the first label stays.
    size : int

    Returns
    -------
    int array of shape (n_labels,)

    Examples
    --------
    >>> assign_within(np.array([[1.0, 9.0], [2.0, 3.0], [3.0, 9.0]]), 2).tolist()
    [0, 0, 1]
    """
    n_labels, k = distances.shape
    wishes = np.argsort(distances, axis=1, kind="stable")
    asked = np.zeros(n_labels, dtype=np.int64)  # how many clusters have refused the label
    while True:
        assigned = wishes[np.arange(n_labels), asked]
        crowded = np.flatnonzero(np.bincount(assigned, minlength=k) > size)
        if not len(crowded):
            return assigned
        for cluster in crowded.tolist():
            members = np.flatnonzero(assigned == cluster)
            order = np.argsort(distances[members, cluster], kind="stable")
            asked[members[order[size:]]] += 1


def _distances(gram: sparse.csr_array, assigned: NDArray[np.int64], k: int) -> FloatArray:
    """Squared distances of labels to the means of clusters, infinite to those without labels."""
    n_labels = gram.shape[0]
    sizes = np.bincount(assigned, minlength=k)
    shares = np.zeros((n_labels, k))
    shares[np.arange(n_labels), assigned] = 1.0 / sizes[assigned]
    products = gram @ shares
    lengths = np.einsum("lk,lk->k", shares, products)
    squares = gram.diagonal()[:, None] - 2.0 * products + lengths
    return np.where(sizes == 0, np.inf, _rounded(squares, gram))


def _first_distances(gram: sparse.csr_array, k: int, rng: np.random.Generator) -> FloatArray:
    """Squared distances to k of the labels, drawn by k-means++."""
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
    """Bring distances that differ by rounding to one number, so that it decides nothing."""
    unit = max(float(gram.diagonal().max(initial=0.0)), 1e-300) * _CLEARLY
    return np.maximum(np.rint(squares / unit) * unit, 0.0)
