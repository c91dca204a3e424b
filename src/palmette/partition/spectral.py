"""SpectralPartition: groups from the leading eigenvectors of the similarity of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from palmette.core.rows import row_chunks, take_rows
from palmette.core.statistics import ClassStatistics
from palmette.exceptions import PalmetteError
from palmette.partition.base import ClassProblem, IntArray, Partition, least_side
from palmette.partition.class_similarity import ClassSimilarity
from palmette.partition.lloyd import best_cut, k_means, two_means
from palmette.partition.sides import median_cut, two_sides

__all__ = ["SpectralPartition", "SpectralState"]

Floats = NDArray[np.float64]

_POWER = {"means": 0.0, "roots": 0.5, "sums": 1.0}


@dataclass(eq=False)
class SpectralState:
    """What all nodes share.

    Parameters
    ----------
    similarity : ClassSimilarity
    depth : int array of shape (n_classes,)
        How often each class has been in a group that was split.
    """

    similarity: ClassSimilarity
    depth: IntArray


class SpectralPartition(Partition):
    """Divide classes by the spectrum of their similarity, as MF-Tree does.

    The similarity of two classes is the mean of the kernel over their rows, centred. The matrix of
    these is D = Y'KY of the paper, of which only class means are needed: never a kernel of rows.

    Parameters
    ----------
    branching : int
        Number of groups. Two are the best of 2-means on the two leading eigenvectors from six
        starts; more are k-means on as many eigenvectors.
    kernel : "linear", transformer, str or callable
        A transformer, such as ``Nystroem()``, is fitted to X and its features are taken instead.
        The name of a kernel of `sklearn.metrics.pairwise.pairwise_kernels`, such as "rbf", or a
        function of two blocks of rows, is evaluated for all pairs of rows: for a few thousand.
    kernel_params : dict, optional
        Of a named kernel.
    weights : {"means", "roots", "sums"}
        Whether a class counts once, by the root of its weight, or by its weight. "sums" is
        published; where sizes are skewed it leads to chains.
    centring : {"node", "global"}
        At the mean of the node's rows, or of all rows.
    rule : {"kmeans", "abs"}
        "abs" is published: a class goes with the eigenvector in which its entry is larger.
    tau : int
        Groups above this depth are divided around their largest classes, by distance, instead. It
        saves little time and costs accuracy; published.
    min_side : float
        Least share of a node's classes on a side, 0 to .5: the best of the six that has it, else
        the best cut along an eigenvector. Of wider divisions it is the share outside of the largest
        group; less makes a division in two.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning. CIKM 2015.

    Examples
    --------
    >>> from palmette.partition.base import ClassProblem
    >>> X = np.array([[0.0, 1.0], [9.0, 9.0], [1.0, 0.0], [8.0, 9.0]])
    >>> partition = SpectralPartition()
    >>> state = partition.begin(ClassProblem(X, np.arange(4), 4))
    >>> partition.split(state, np.arange(4), 0)
    [array([0, 2]), array([1, 3])]
    """

    one_blas_thread = True

    def __init__(
        self,
        branching: int = 2,
        *,
        kernel: Any = "linear",
        kernel_params: dict[str, Any] | None = None,
        weights: Literal["means", "roots", "sums"] = "means",
        centring: Literal["node", "global"] = "node",
        rule: Literal["kmeans", "abs"] = "kmeans",
        tau: int = 0,
        min_side: float = 0.0,
    ) -> None:
        self.branching = branching
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.weights = weights
        self.centring = centring
        self.rule = rule
        self.tau = tau
        self.min_side = min_side

    def begin(self, problem: ClassProblem) -> SpectralState:
        """Find what D is made of: means of the classes, or products of these under a kernel."""
        self._check()
        if isinstance(self.kernel, str) and self.kernel == "linear":
            parts = {"means": _in_range(problem.statistics.mean)}
        elif hasattr(self.kernel, "transform"):
            parts = {"means": _mapped_means(self.kernel, problem)}
        else:
            parts = {"products": _kernel_products(self._kernel_function(), problem)}
        weight = problem.statistics.weight
        scale = weight ** _POWER[self.weights]
        similarity = ClassSimilarity(weight, scale, self.centring == "node", **parts)
        return SpectralState(similarity, np.zeros(problem.n_classes, dtype=np.int32))

    def split(self, state: SpectralState, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        depth = state.depth[classes[0]]
        state.depth[classes] += 1
        if depth < self.tau:
            return _around_largest(state.similarity, classes, self.branching)
        values, vectors = state.similarity.leading(classes, max(2, self.branching))
        if not values[0]:
            return []
        if self.branching > 2:
            groups = _groups(classes, vectors * np.sqrt(values), self.branching)
            most = len(classes) - least_side(len(classes), self.min_side)
            if max(map(len, groups)) <= most:
                return groups
        return two_sides(classes, self._right(values, vectors))

    def _right(self, values: Floats, vectors: Floats) -> NDArray[np.bool_]:
        """Mask of the classes on one of two sides."""
        if self.rule == "abs":
            right = np.abs(vectors[:, 0]) < np.abs(vectors[:, 1])
            return median_cut(vectors[:, 0]) if right.all() or not right.any() else right
        points = (vectors * np.sqrt(values))[:, :2]
        least = least_side(len(points), self.min_side)
        lines = _lines(vectors[:, :2][:, values[:2] > 0])
        right = two_means(points, _starts(lines), least)
        return best_cut(points, lines, least) if right is None else right

    def _kernel_function(self) -> Callable[[Any, Any], Floats]:
        if callable(self.kernel):
            return self.kernel
        from sklearn.metrics.pairwise import pairwise_kernels

        return lambda a, b: pairwise_kernels(a, b, self.kernel, **(self.kernel_params or {}))

    def _check(self) -> None:
        if not self.branching >= 2:
            raise PalmetteError(f"branching={self.branching!r}: expected 2 or more.")
        for name, allowed in (
            ("weights", tuple(_POWER)),
            ("centring", ("node", "global")),
            ("rule", ("kmeans", "abs")),
        ):
            if (given := getattr(self, name)) not in allowed:
                raise PalmetteError(f"{name}={given!r}: expected one of {', '.join(allowed)}.")
        if self.rule == "abs" and self.branching != 2:
            raise PalmetteError(f"rule='abs' divides in two, but branching={self.branching}.")
        known = isinstance(self.kernel, str) or callable(self.kernel)
        if not known and not hasattr(self.kernel, "transform"):
            raise PalmetteError(
                f"kernel={self.kernel!r}: expected 'linear', a transformer, the name of a kernel "
                "of scikit-learn or a function of two blocks of rows."
            )


def _lines(vectors: Floats) -> Floats:
    """Both eigenvectors, their sum and their difference; or the one that there is."""
    if vectors.shape[1] < 2:
        return vectors
    first, second = vectors.T
    return np.column_stack([first, second, first + second, first - second])


def _starts(lines: Floats) -> NDArray[np.bool_]:
    """Six ways to divide (two by one line): signs of both eigenvectors, medians of all lines."""
    middle = [(len(lines) - 1) // 2, len(lines) // 2]
    medians = np.sort(lines, axis=0)[middle].mean(axis=0)
    return np.concatenate([lines[:, :2] > 0, lines > medians], axis=1)


def _groups(classes: IntArray, points: Floats, n_groups: int) -> list[IntArray]:
    """Groups of k-means, or single classes where there are no more than groups."""
    if len(classes) <= n_groups:
        return [classes[i : i + 1] for i in range(len(classes))]
    group = k_means(points, n_groups)
    return [classes[group == k] for k in range(group.max() + 1)]


def _around_largest(
    similarity: ClassSimilarity, classes: IntArray, n_groups: int
) -> list[IntArray]:
    """Divide by distance to the means of the largest classes (Algorithm 3)."""
    order = np.argsort(-similarity.weight[classes], kind="stable")
    seeds = order[:n_groups]
    distance = similarity.distances(classes, classes[seeds])
    nearest = distance.argmin(axis=1)
    nearest[seeds] = np.arange(len(seeds))
    return [classes[nearest == k] for k in range(len(seeds))]


# ---------------------------------------------------------------------- kernels


def _in_range(means: Any) -> Any:
    """Means whose squares are numbers: a power of two brings back those that are very far out."""
    values = means.data if sparse.issparse(means) else means
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if largest == 0 or 1e-100 < largest < 1e100:
        return means
    return means * 2.0 ** -np.floor(np.log2(largest))


def _mapped_means(transformer: Any, problem: ClassProblem) -> Any:
    """Means of the classes among the features of a transformer, a block of rows at a time."""
    transformer = clone(transformer)
    if "random_state" in transformer.get_params() and transformer.random_state is None:
        transformer.set_params(random_state=problem.seed % 2**32)
    transformer.fit(problem.X)

    def blocks() -> Any:
        for block in row_chunks(problem.X.shape[0], problem.X.shape[1] + 1024):
            weights = () if problem.weights is None else (problem.weights[block],)
            yield transformer.transform(take_rows(problem.X, block)), problem.codes[block], *weights

    return ClassStatistics.gather_chunks(blocks(), problem.n_classes).mean


def _kernel_products(kernel: Callable[[Any, Any], Floats], problem: ClassProblem) -> Floats:
    """Mean of a kernel over the rows of every two classes; rows by rows only in blocks."""
    n_rows = problem.X.shape[0]
    weights = np.ones(n_rows) if problem.weights is None else problem.weights
    total = problem.statistics.weight
    member = sparse.csr_array(
        (weights / total[problem.codes], (problem.codes, np.arange(n_rows))),
        shape=(problem.n_classes, n_rows),
    )
    products = np.zeros((problem.n_classes, problem.n_classes))
    for block in row_chunks(n_rows, n_rows):
        towards = member @ np.asarray(kernel(problem.X, take_rows(problem.X, block)))
        products += towards @ member[:, block].T
    return (products + products.T) / 2
