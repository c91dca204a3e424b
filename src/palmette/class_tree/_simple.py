"""RandomTree and BalancedTree, whose groups have equal sizes, and ShuffledTree, a wrapper."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from palmette.base._fitting import label_column, sorted_classes
from palmette.base._grow import ClassProblem, IntArray
from palmette.base._label_sets import LabelSets, encode_label_sets, read_label_sets
from palmette.base._parameters import check_branching
from palmette.class_tree._learner import ClassTreeLearner
from palmette.class_tree._similarity import ClassSimilarity
from palmette.exceptions import PalmetteError
from palmette.labels._labels import NodeLabels

Floats = NDArray[np.float64]
_ITERATIONS = 50


class RandomTree(ClassTreeLearner):
    """Divide the classes at random into groups of equal size, as a baseline for learned trees.

    Parameters
    ----------
    branching : int, default=2
        Number of parts of a group.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    random_state : int, RandomState or None
        For the groups.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree
        The groups of classes, as positions in ``classes_``.

    Examples
    --------
    >>> import numpy as np
    >>> tree = RandomTree(random_state=0).fit(np.zeros((4, 1)), list("abcd"))
    >>> sorted(tree.hierarchy_.names[tree.hierarchy_.leaves].tolist())
    ['a', 'b', 'c', 'd']
    """

    _takes_any_scale = True  # X is not used
    _kind_of_units = "own"

    def __init__(self, branching: int = 2, *, leaf_size: int = 1, random_state: Any = None) -> None:
        self.branching = branching
        self.leaf_size = leaf_size
        self.random_state = random_state

    def _begin(self, problem: ClassProblem) -> ClassProblem:
        check_branching(self.branching)
        return problem

    def _split(self, state: ClassProblem, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        drawn = state.rng(node).permutation(classes)
        return [np.sort(group) for group in np.array_split(drawn, self.branching) if group.size]


class BalancedTree(ClassTreeLearner):
    """Divide classes by their means into groups of equal size, so that all leaves are equally deep.

    Groups are halved by 2-means repeatedly: classes are sorted by how much nearer they are to one
    mean than to the other, and cut where the sizes are right. The search starts from the leading
    eigenvector, so that it needs no random numbers.

    Parameters
    ----------
    branching : int, default=2
        Number of parts of a group; their sizes differ by one at most.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales all means to length one first.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    max_depth : int, optional
        Groups at this depth are not divided.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`

    Examples
    --------
    >>> tree = BalancedTree().fit([[0.0], [9.0], [1.0], [7.0]], list("abcd"))
    >>> print(tree.hierarchy_.draw())
    root
    ├─ group 1
    │  ├─ a
    │  └─ c
    └─ group 2
       ├─ b
       └─ d
    """

    _one_blas_thread = True

    def __init__(
        self,
        branching: int = 2,
        *,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        leaf_size: int = 1,
        max_depth: int | None = None,
    ) -> None:
        self.branching = branching
        self.metric = metric
        self.leaf_size = leaf_size
        self.max_depth = max_depth

    def _begin(self, problem: ClassProblem) -> ClassSimilarity:
        """Take the means of the classes."""
        check_branching(self.branching)
        if self.metric not in ("euclidean", "cosine"):
            raise PalmetteError(f"metric={self.metric!r}: expected 'euclidean' or 'cosine'.")
        means = problem.statistics.mean
        if self.metric == "cosine":
            means = preprocessing.normalize(means)
        ones = np.ones(problem.n_classes)
        return ClassSimilarity(ones, ones, True, means=means)

    def _split(self, state: ClassSimilarity, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        n_groups = min(self.branching, len(classes))
        groups, waiting = [], [(classes, n_groups)]
        while waiting:
            here, parts = waiting.pop()
            if parts == 1:
                groups.append(here)
                continue
            sizes = _sizes(len(here), parts)
            upper = _cut(state, here, sum(sizes[: parts // 2]))
            waiting += [(here[~upper], parts - parts // 2), (here[upper], parts // 2)]
        return sorted(groups, key=lambda group: group[0])


def _sizes(n_classes: int, n_groups: int) -> list[int]:
    """Return sizes of groups that differ by one at most, the larger first."""
    size, larger = divmod(n_classes, n_groups)
    return [size + (k < larger) for k in range(n_groups)]


def _cut(similarity: ClassSimilarity, classes: IntArray, n_upper: int) -> NDArray[np.bool_]:
    """Return the mask of the `n_upper` classes on one side of a balanced 2-means."""
    if len(classes) <= 2:
        return np.arange(len(classes)) < n_upper
    _, vectors = similarity.leading(classes, 1)
    upper = _highest(vectors[:, 0], n_upper)
    times = similarity.times(classes)
    for _ in range(_ITERATIONS):
        # the sizes are fixed, so that only the order along the line through both means counts
        line = upper / n_upper - (~upper) / (len(classes) - n_upper)
        moved = _highest(times(line), n_upper)
        if np.array_equal(moved, upper):
            break
        upper = moved
    return upper


def _highest(scores: Floats, count: int) -> NDArray[np.bool_]:
    """Return the mask of the highest scores; of equal scores the first are taken."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(-scores, kind="stable")[:count]] = True
    return mask


class ShuffledTree(BaseEstimator):  # type: ignore[misc]
    """Learn a hierarchy over the classes in a random order, with a random seed.

    Learners that start from the first class, or break ties by the order, give another tree.

    Parameters
    ----------
    learner : ClassTreeLearner
    random_state : int, RandomState or None
        For the order of the classes and the seed of the learner.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    learner_ : learner
        The learner, fitted on the numbers of the classes in their random order.

    Examples
    --------
    >>> from palmette.class_tree import BHCTree
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> tree = ShuffledTree(BHCTree(), random_state=0).fit(X, list("abcd"))
    >>> sorted(tree.hierarchy_.names[tree.hierarchy_.leaves].tolist())
    ['a', 'b', 'c', 'd']
    """

    learns_from_label_sets = True

    def __init__(self, learner: ClassTreeLearner, *, random_state: Any = None) -> None:
        self.learner = learner
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ShuffledTree:
        """Learn the hierarchy; see `ClassTreeLearner.fit`."""
        rng = check_random_state(self.random_state)
        others = None
        if isinstance(y, NodeLabels):
            names, members, others = LabelSets.of(read_label_sets(y))
        else:
            names, codes = sorted_classes(label_column(y))
        order = rng.permutation(len(names))
        learner = clone(self.learner)
        if "random_state" in learner.get_params():
            learner.set_params(random_state=int(rng.randint(2**31 - 1)))
        shuffled = members[:, order] if isinstance(y, NodeLabels) else np.argsort(order)[codes]
        self.learner_ = learner.fit(X, shuffled, sample_weight)
        self.hierarchy_ = learner.tree_.to_hierarchy(names[order][learner.classes_], others)
        return self

    def encode(self, y: Any, *, skip_unknown: bool = False) -> NodeLabels:
        """Encode labels as nodes of ``hierarchy_``; see `ClassTreeLearner.encode`."""
        return encode_label_sets(self.hierarchy_, y, skip_unknown=skip_unknown)
