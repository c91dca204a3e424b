"""RandomTree, a hierarchy drawn at random, and ShuffledTree, which permutes the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from palmette.class_tree._learner import ClassTreeLearner
from palmette.engine.grow import ClassProblem, IntArray

__all__ = ["RandomTree", "ShuffledTree"]


class RandomTree(ClassTreeLearner):
    """Divide the classes at random into groups of equal size, as a baseline for learnt trees.

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

    def __init__(self, branching: int = 2, *, leaf_size: int = 1, random_state: Any = None) -> None:
        self.branching = branching
        self.leaf_size = leaf_size
        self.random_state = random_state

    def _split(self, state: ClassProblem, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        drawn = state.rng(node).permutation(classes)
        return [np.sort(group) for group in np.array_split(drawn, self.branching) if group.size]


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

    def __init__(self, learner: ClassTreeLearner, *, random_state: Any = None) -> None:
        self.learner = learner
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ShuffledTree:
        """Learn the hierarchy; see `ClassTreeLearner.fit`."""
        rng = check_random_state(self.random_state)
        names, codes = np.unique(y, return_inverse=True)
        order = rng.permutation(len(names))
        learner = clone(self.learner)
        if "random_state" in learner.get_params():
            learner.set_params(random_state=int(rng.randint(2**31 - 1)))
        self.learner_ = learner.fit(X, np.argsort(order)[codes], sample_weight)
        self.hierarchy_ = learner.tree_.to_hierarchy(names[order][learner.classes_])
        return self
