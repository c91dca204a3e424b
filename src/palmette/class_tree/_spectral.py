"""MFTree: class trees from the leading eigenvectors of class similarity (MF-Tree)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from palmette._arrays import row_chunks, take_rows
from palmette.base._grow import ClassProblem, IntArray, least_side
from palmette.base._parameters import is_count, is_number
from palmette.base._presets import Preset, preset, presets
from palmette.base._statistics import ClassStatistics
from palmette.class_tree._class_kernel import POWERS, ClassKernel, check_kernel, is_precomputed
from palmette.class_tree._groups import best_cut, k_means, median_cut, two_means, two_sides
from palmette.class_tree._k_means import k_means_compiled
from palmette.class_tree._learner import ClassTreeLearner
from palmette.class_tree._similarity import ClassSimilarity
from palmette.exceptions import PalmetteError
from palmette.hierarchy._names import as_list
from palmette.metrics._dependence import covariance_of

Floats = NDArray[np.float64]

_FEW_CLASSES = 50
_MEASURED = 2000  # number of classes up to which the objective is computed, from all pairs
_MOST_EXPONENT = 1000  # a larger power of two would be infinite
_COMPILED = 5000  # number of classes from which on k-means is compiled, which takes seconds


@dataclass(eq=False)
class SpectralState:
    """Data that all nodes share.

    Parameters
    ----------
    similarity : ClassSimilarity
    depth : int array of shape (n_classes,)
        Number of groups with the class that were divided so far.
    branching : int
        Number of parts of a group.
    k_means : callable
        The function that divides points into groups.
    exponent : int
        The means were multiplied by two to this power.
    quick : ClassSimilarity
        Its distances divide the groups above `tau`.
    """

    similarity: ClassSimilarity
    depth: IntArray
    branching: int
    k_means: Callable[[Floats, int], IntArray]
    exponent: int
    quick: ClassSimilarity


class MFTree(ClassTreeLearner):
    """Divide classes recursively by the leading eigenvectors of their similarity.

    The similarity of two classes is the mean of the kernel over their rows, centred. These
    similarities are the matrix D = Y'KY of the paper. It needs only the means of the classes, which
    stay sparse where X is sparse: rows are read once, and the kernel of all rows, from which the
    paper starts, is never formed.

    Parameters
    ----------
    branching : int or "auto", default=2
        Number of parts of a group. Two are the best of 2-means on the two leading eigenvectors from
        six starts; more are k-means on as many eigenvectors. "auto" is 5 for fewer than 50 classes
        and 8 for more, the best values for classifiers at the nodes in cross-validation.
    leaf_size : int or "auto", default=1
        Maximum number of classes in a group that is not divided. "auto" is 1 for fewer than 50
        classes, and 16 for more.
    min_side : float, default=0.05
        Minimum share of a group's classes on either side, 0 to .5, which bounds the depth by
        log(n_classes) / -log(1 - min_side). The best of the six divisions that has this share is
        taken, else the best cut along an eigenvector. Of more than two parts, it is the share
        outside of the largest part; where it is smaller, the group is divided in two.
    kernel : "linear", transformer, str or callable, default="linear"
        A transformer, such as ``Nystroem()``, is fitted to X and its features are used instead.
        The name of a kernel of `sklearn.metrics.pairwise.pairwise_kernels`, such as "rbf", or a
        function of two blocks of rows, is evaluated for all pairs of rows, a block at a time: for
        up to some ten thousand rows. "precomputed" means that X is the kernel of all pairs.
        Dense rows are centred for kernels that depend on the origin, such as "poly".
    kernel_params : dict, optional
        Parameters of a named kernel: ``gamma``, ``degree`` and ``coef0``. Without ``gamma``, or
        with "scale", it is the inverse of the sum of the variances of all columns.
    weights : {"means", "roots", "sums"}, default="means"
        Whether a class counts once, by the square root of its weight, or by its weight. "sums" is
        published; it gives chains where the sizes of classes differ much.
    centring : {"node", "global"}, default="node"
        Whether similarities are centred at the mean of the node's rows or, as published, of all
        rows.
    rule : {"kmeans", "abs", "max"}, default="kmeans"
        2-means (k-means) on the eigenvectors; or the one of two eigenvectors in which the entry of
        a class has the larger magnitude or, with "max", is larger, where the entry of largest
        magnitude of each is positive. Both are readings of the paper.
    tau : int, default=0
        Groups above this depth are divided around their largest classes instead, by the distance
        of the means of the rows. Published as a short cut; it saves little time here.
    max_depth : int, optional
        Groups at this depth are not divided.
    n_jobs : int, optional
        Number of threads; the tree does not depend on it. Memory grows with it if X is wide: each
        thread holds 20 numbers per feature.
    random_state : int, RandomState or None
        For a transformer that draws random numbers.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`
    objective_ : float or None
        What the paper maximizes: HSIC of the rows and the tree, with the kernel of the learner; see
        `palmette.metrics.tree_hsic`. None for more than 2,000 classes, and infinite where squares
        of the rows are.

    See Also
    --------
    MFTree.preset : "published" are the settings of the paper.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning. CIKM 2015. doi:10.1145/2806416.2806540

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> tree = MFTree().fit(*load_iris(return_X_y=True))
    >>> print(tree.hierarchy_.draw())
    root
    ├─ 0
    └─ group 2
       ├─ 1
       └─ 2
    """

    _one_blas_thread = True
    _takes_any_scale = True  # kernels are of scaled rows

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "published": Preset(
            "magnitudes of eigenvectors of class sums, centred once",
            {"rule": "abs", "weights": "sums", "centring": "global", "min_side": 0.0},
            "Liu, Tan and Liu, CIKM 2015, doi:10.1145/2806416.2806540; Algorithm 1",
        )
    }

    def __init__(
        self,
        branching: int | Literal["auto"] = 2,
        *,
        leaf_size: int | Literal["auto"] = 1,
        min_side: float = 0.05,
        kernel: Any = "linear",
        kernel_params: dict[str, Any] | None = None,
        weights: Literal["means", "roots", "sums"] = "means",
        centring: Literal["node", "global"] = "node",
        rule: Literal["kmeans", "abs", "max"] = "kmeans",
        tau: int = 0,
        max_depth: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.weights = weights
        self.centring = centring
        self.rule = rule
        self.tau = tau
        self.max_depth = max_depth
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"n_jobs": None, **state})  # a parameter that files may lack

    def _leaf_size(self) -> int:
        if self.leaf_size == "auto":
            return 1 if len(self.classes_) < _FEW_CLASSES else 16
        return self.leaf_size

    def _branching(self, n_classes: int) -> int:
        if self.branching == "auto":
            return 5 if n_classes < _FEW_CLASSES else 8
        return self.branching

    def _begin(self, problem: ClassProblem) -> SpectralState:
        """Compute the means of the classes, or products of these under a kernel."""
        branching = self._branching(problem.n_classes)
        self._check(branching)
        classes, exponent = self._of_classes(problem)
        similarity = classes.similarity(self.centring == "node")
        similarity.run = problem.run
        quick = similarity
        if self.tau and classes.rows is not None and classes.rows.kernel != "precomputed":
            ones = np.ones(problem.n_classes)
            quick = ClassSimilarity(ones, ones, True, means=_in_range(problem.statistics.mean)[0])
        depth = np.zeros(problem.n_classes, dtype=np.int32)
        grouping = k_means_compiled if problem.n_classes >= _COMPILED else k_means
        exponent += problem.exponent
        return SpectralState(similarity, depth, branching, grouping, exponent, quick)

    def _of_classes(self, problem: ClassProblem) -> tuple[ClassKernel, int]:
        """Return what the kernel says of the classes, and the power of two of its means."""
        classes = ClassKernel.of(problem, self.kernel, self.kernel_params, self.weights)
        if classes.rows is not None:
            return classes, 0
        if hasattr(self.kernel, "transform"):
            return replace(classes, means=_mapped_means(self.kernel, problem)), 0
        means, exponent = _in_range(classes.means)
        return replace(classes, means=means), exponent

    def _finish(self, state: SpectralState) -> None:
        """Set ``objective_``."""
        self.objective_ = None
        if len(self.classes_) <= _MEASURED and self.hierarchy_.is_tree:
            h = self.hierarchy_
            place = {h.names[leaf]: leaf for leaf in h.leaves.tolist()}
            leaves = np.array([place[name] for name in as_list(self.classes_)], dtype=np.int32)
            total = state.similarity.weight.sum()
            products = state.similarity.of_sums() * covariance_of(h, leaves)
            found = products.sum() / max(total - 1.0, 1.0) ** 2
            with np.errstate(over="ignore", under="ignore"):  # of rows out of range: inf, or 0
                self.objective_ = float(np.ldexp(found, -2 * state.exponent))

    def _fork(self, state: SpectralState) -> tuple[SpectralState, int]:
        """Return a state for another thread, which keeps products of its own."""
        similarity, small = state.similarity.fork()
        return replace(state, similarity=similarity), small

    def _split(self, state: SpectralState, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        depth = state.depth[classes[0]]
        state.depth[classes] += 1
        if depth < self.tau:
            return _around_largest(state, classes)
        values, vectors = state.similarity.leading(classes, max(2, state.branching))
        if not values[0]:
            return []
        if state.branching > 2:
            groups = _groups(classes, vectors * np.sqrt(values), state)
            most = len(classes) - least_side(len(classes), self.min_side)
            if max(map(len, groups)) <= most:
                return groups
        return two_sides(classes, self._right(values, vectors))

    def _right(self, values: Floats, vectors: Floats) -> NDArray[np.bool_]:
        """Return the mask of the classes on one of two sides."""
        if self.rule != "kmeans":
            first, second = self._strengths(vectors).T
            right = first < second
            return median_cut(vectors[:, 0]) if right.all() or not right.any() else right
        points = (vectors * np.sqrt(values))[:, :2]
        least = least_side(len(points), self.min_side)
        lines = _lines(vectors[:, :2][:, values[:2] > 0])
        found = two_means(points, _starts(lines), least)
        return best_cut(points, lines, least) if found is None else found

    def _strengths(self, vectors: Floats) -> Floats:
        """Return how strongly every class belongs to the side of either eigenvector."""
        return vectors if self.rule == "max" else np.abs(vectors)

    def _check(self, branching: int) -> None:
        """Raise an error for parameters out of range."""
        if not is_count(branching, 2):
            raise PalmetteError(
                f"branching={self.branching!r}: expected 'auto' or an integer of at least 2."
            )
        if not (is_number(self.tau) and self.tau >= 0):
            raise PalmetteError(f"tau={self.tau!r}: expected a number of levels, 0 or more.")
        for name, allowed in (
            ("weights", tuple(POWERS)),
            ("centring", ("node", "global")),
            ("rule", ("kmeans", "abs", "max")),
        ):
            if (given := getattr(self, name)) not in allowed:
                raise PalmetteError(f"{name}={given!r}: expected one of {', '.join(allowed)}.")
        if self.rule != "kmeans" and branching != 2:
            raise PalmetteError(f"rule={self.rule!r} divides in two, but branching={branching}.")
        check_kernel(self.kernel, self.kernel_params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


def _lines(vectors: Floats) -> Floats:
    """Return both eigenvectors, their sum and their difference; or the only one."""
    if vectors.shape[1] < 2:
        return vectors
    first, second = vectors.T
    return np.column_stack([first, second, first + second, first - second])


def _starts(lines: Floats) -> NDArray[np.bool_]:
    """Return starts: the signs of both eigenvectors, and the medians of all lines."""
    middle = [(len(lines) - 1) // 2, len(lines) // 2]
    medians = np.sort(lines, axis=0)[middle].mean(axis=0)
    return np.concatenate([lines[:, :2] > 0, lines > medians], axis=1)


def _groups(classes: IntArray, points: Floats, state: SpectralState) -> list[IntArray]:
    """Return groups by k-means, or single classes where there are as few classes as groups."""
    if len(classes) <= state.branching:
        return [classes[i : i + 1] for i in range(len(classes))]
    group = state.k_means(points, state.branching)
    return [classes[group == k] for k in range(group.max() + 1)]


def _around_largest(state: SpectralState, classes: IntArray) -> list[IntArray]:
    """Divide by distance to the means of the largest classes (Algorithm 3)."""
    order = np.argsort(-state.similarity.weight[classes], kind="stable")
    seeds = order[: state.branching]
    distance = state.quick.distances(classes, classes[seeds])
    nearest = distance.argmin(axis=1)
    nearest[seeds] = np.arange(len(seeds))
    return [classes[nearest == k] for k in range(len(seeds))]


# ---------------------------------------------------------------------- kernels


def _in_range(means: Any) -> tuple[Any, int]:
    """Scale very large or very small means by a power of two, so that their squares are finite.

    Returns
    -------
    means : array or CSR array
    exponent : int
        The power.
    """
    values = means.data if sparse.issparse(means) else means
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if largest == 0 or 1e-100 < largest < 1e100:
        return means, 0
    exponent = min(-int(np.floor(np.log2(largest))), _MOST_EXPONENT)
    return means * 2.0**exponent, exponent


def _mapped_means(transformer: Any, problem: ClassProblem) -> Any:
    """Return means of the classes in the features of a transformer, by blocks of rows."""
    transformer = clone(transformer)
    if "random_state" in transformer.get_params() and transformer.random_state is None:
        transformer.set_params(random_state=problem.seed % 2**32)
    transformer.fit(problem.X)

    def blocks() -> Any:
        for block in row_chunks(problem.X.shape[0], problem.X.shape[1] + 1024):
            weights = () if problem.weights is None else (problem.weights[block],)
            yield transformer.transform(take_rows(problem.X, block)), problem.codes[block], *weights

    return ClassStatistics.gather_chunks(blocks(), problem.n_classes).mean
