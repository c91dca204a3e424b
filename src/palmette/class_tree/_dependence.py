"""DependenceTree: groups of classes that depend on the features as much as possible (RDM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.base._class_moments import dense
from palmette.base._grow import ClassProblem, IntArray
from palmette.base._parameters import check_branching, from_paper
from palmette.class_tree._eigenvectors import leading_eigenvectors
from palmette.class_tree._groups import groups_of, near_groups
from palmette.class_tree._learner import ClassTreeLearner
from palmette.exceptions import PalmetteError

_GRAM = 4096  # classes up to which a kernel matrix is formed: 128 MiB
_MAX_STEPS = 100


class DependenceTree(ClassTreeLearner):
    """Divide the classes recursively by dependence maximization (HSIC).

    Groups are chosen to depend as much as possible on the features, by the Hilbert-Schmidt
    independence criterion: the trace of ``P' K P`` for the 0/1 matrix P of classes and groups and
    the kernel matrix K of the classes, centred over the classes of the node. The search starts from
    clusters of the leading eigenvectors, moves classes all at once while the criterion grows, then
    one at a time, the best move first, until no move helps.

    Parameters
    ----------
    branching : int, default=2
        Maximum number of parts of a group: parts that are on the same side of the others are
        merged, as the criterion is larger then.
    kernel : str or callable, default="linear"
        Kernel of class means, as in `sklearn.metrics.pairwise.pairwise_kernels`: "linear", "rbf",
        "cosine", ...
    kernel_params : dict, optional
        Parameters of the kernel, such as ``{"gamma": 0.1}``.
    of : {"mean", "sum"}, default="mean"
        Whether all classes count the same, or by their weights, as rows do in the original. Sums
        give unbalanced trees where the sizes of classes differ.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    min_side : float, default=0.0
        Minimum share of a group's classes outside of the largest part, 0 to .5: a group is divided
        in halves where the parts that are found are smaller.
    max_depth : int, optional
        Groups at this depth are not divided.
    random_state : int, RandomState or None
        For the start of the search.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`

    Notes
    -----
    All rows of a class go to the same group, so that a kernel matrix of classes is enough; a
    clustering of single rows, as in the experiments of the MF-Tree paper, would put a class in many
    leaves. With the linear kernel of sums the criterion is that of the rows themselves.

    Up to 4,096 classes all nodes share one kernel matrix. Nodes of more classes work from the class
    means with the linear kernel, and need the matrix with others.

    Where all classes have the same mean, a node is cut in groups of equal size, in the order of the
    classes.

    References
    ----------
    L. Song, A. Smola, A. Gretton, K. M. Borgwardt (2007). A dependence maximization view of
    clustering. ICML 2007, 815-822. doi:10.1145/1273496.1273599

    Examples
    --------
    >>> tree = DependenceTree(random_state=0).fit([[0.0], [1.0], [7.0], [9.0]], list("abcd"))
    >>> print(tree.hierarchy_.draw())
    root
    ├─ group 1
    │  ├─ a
    │  └─ b
    └─ group 2
       ├─ c
       └─ d
    """

    _one_blas_thread = True

    @from_paper(p="branching")
    def __init__(
        self,
        branching: int = 2,
        *,
        kernel: Any = "linear",
        kernel_params: dict[str, Any] | None = None,
        of: Literal["mean", "sum"] = "mean",
        leaf_size: int = 1,
        min_side: float = 0.0,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.of = of
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth
        self.random_state = random_state

    def _begin(self, problem: ClassProblem) -> _ClassKernel:
        """Gather class means and their kernel; see `Partition.begin`."""
        check_branching(self.branching)
        if not isinstance(self.kernel_params, dict | None):
            raise PalmetteError(f"kernel_params={self.kernel_params!r}: expected a dict, or None.")
        if self.of not in ("mean", "sum"):
            raise PalmetteError(f"of={self.of!r}: expected 'mean' or 'sum'.")
        means = problem.statistics.mean
        if self.kernel == "linear" and not sparse.issparse(means):
            means = means - means.mean(axis=0)  # reduces rounding errors
        weights = problem.statistics.weight
        units = weights / weights.mean() if self.of == "sum" else np.ones_like(weights)
        kernel = _ClassKernel(problem, means, units, self.kernel, self.kernel_params or {})
        if problem.n_classes <= _GRAM:
            kernel.matrix = kernel.between(means)
        return kernel

    def _split(self, state: _ClassKernel, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        k = min(self.branching, len(classes))
        rng = state.problem.rng(node)
        kernel = state.centred(classes)
        values, vectors = leading_eigenvectors(kernel.operator, max(k - 1, 2), rng)
        if values[0] <= 1e-12 * kernel.scale:
            return groups_of(classes, None, k)
        starts = [near_groups(vectors * np.sqrt(np.maximum(values, 0.0)), k, rng)]
        if k == 2:
            starts.append((vectors[:, 0] > 0).astype(np.intp))
        found = [_search(kernel, start, k) for start in starts if start is not None]
        return groups_of(classes, max(found, key=lambda each: each[0])[1], k)


# ---------------------------------------------------------------------- kernels of classes


@dataclass
class _ClassKernel:
    """Kernel of all classes: a matrix, or the means that it is computed from."""

    problem: ClassProblem
    means: Any
    units: NDArray[np.float64]
    kernel: Any
    kernel_params: dict[str, Any]
    matrix: NDArray[np.float64] | None = None

    def between(self, means: Any) -> NDArray[np.float64]:
        """Return the kernel matrix of some means."""
        if self.kernel == "linear":
            return dense(means @ means.T)
        from sklearn.metrics.pairwise import pairwise_kernels

        return np.asarray(pairwise_kernels(means, metric=self.kernel, **self.kernel_params))

    def centred(self, classes: IntArray) -> _Centred:
        """Return the kernel of some classes, centred over them."""
        units = self.units[classes]
        if self.matrix is not None:
            return _centred_matrix(self.matrix[np.ix_(classes, classes)], units)
        means = self.means[classes]
        if self.kernel != "linear" or len(classes) <= _GRAM:
            return _centred_matrix(self.between(means), units)
        return _centred_means(means, units)


@dataclass(frozen=True, eq=False)
class _Centred:
    """A centred kernel, as an operator that multiplies vectors."""

    operator: Any
    diagonal: NDArray[np.float64]
    scale: float  # largest entry of the diagonal before centring


def _centred_matrix(matrix: NDArray[np.float64], units: NDArray[np.float64]) -> _Centred:
    """Centre a kernel matrix."""
    to_all = matrix @ units / units.sum()
    overall = units @ to_all / units.sum()
    centred = (matrix - to_all[:, None] - to_all + overall) * units[:, None] * units
    scale = float(np.abs(np.diagonal(matrix) * units**2).max())
    return _Centred(centred, np.diagonal(centred).copy(), scale)


def _centred_means(means: Any, units: NDArray[np.float64]) -> _Centred:
    """Centre the linear kernel of means, without its matrix."""
    overall = np.asarray(means.T @ units).ravel() / units.sum()

    def times(v: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = units[:, None] * v.reshape(len(units), -1)
        turned = means.T @ scaled - np.outer(overall, scaled.sum(axis=0))
        product = units[:, None] * (means @ turned - overall @ turned)
        return np.asarray(product.reshape(v.shape))

    squares = means.multiply(means) if sparse.issparse(means) else np.square(means)
    lengths = np.asarray(squares.sum(axis=1)).ravel()
    diagonal = units**2 * (lengths - 2.0 * (means @ overall) + overall @ overall)
    operator = sparse.linalg.LinearOperator(
        (len(units), len(units)), matvec=times, matmat=times, dtype=np.float64
    )
    return _Centred(operator, diagonal, float((units**2 * lengths).max()))


# ---------------------------------------------------------------------- search


def _search(kernel: _Centred, labels: NDArray[np.intp], k: int) -> tuple[float, NDArray[np.intp]]:
    """Improve groups until no move of a class helps; return the criterion and the groups."""
    labels = labels.copy()
    every = np.arange(len(labels))
    toward = kernel.operator @ np.eye(k)[labels]  # of every class to every group
    best = float(toward[every, labels].sum())
    for _ in range(_MAX_STEPS):
        # the criterion is convex in P, so that a step along its gradient never lowers it
        moved = np.where(toward.max(axis=1) > toward[every, labels], toward.argmax(axis=1), labels)
        toward_moved = kernel.operator @ np.eye(k)[moved]
        value = float(toward_moved[every, moved].sum())
        if not value > best * (1 + 1e-9):
            break
        labels, toward, best = moved, toward_moved, value
    return _move_singly(kernel, labels, toward, best)


def _move_singly(
    kernel: _Centred, labels: NDArray[np.intp], toward: NDArray[np.float64], best: float
) -> tuple[float, NDArray[np.intp]]:
    """Move the class that gains most until no move helps."""
    every = np.arange(len(labels))
    for _ in range(len(labels)):
        gains = 2.0 * (toward - toward[every, labels][:, None] + kernel.diagonal[:, None])
        gains[every, labels] = 0.0
        i, group = np.unravel_index(gains.argmax(), gains.shape)
        if not gains[i, group] > best * 1e-9:
            break
        one = np.zeros(len(labels))
        one[i] = 1.0
        column = kernel.operator @ one
        toward[:, group] += column
        toward[:, labels[i]] -= column
        best += float(gains[i, group])
        labels[i] = group
    return best, labels
