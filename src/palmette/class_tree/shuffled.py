"""ShuffledTree: a learner of hierarchies that meets the classes in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from palmette.engine.tree_learner import ClassTreeLearner

__all__ = ["ShuffledTree"]


class ShuffledTree(BaseEstimator):
    """Learn a hierarchy over the classes in a random order, with a random seed.

    Learners that start from the first class, or break draws by the order, give another tree.

    Parameters
    ----------
    learner : learner of palmette.class_tree
    random_state : int, RandomState or None

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    learner_ : learner
        Fitted on numbers of classes in the order drawn.

    Examples
    --------
    >>> from palmette.class_tree.bhc import BHCTree
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
