"""Rules that divide the classes of one node into groups.

Every rule belongs to a learner of `palmette.class_tree`, which documents its parameters. Here it is
an object without `fit`, for a single node:

>>> import numpy as np
>>> problem = ClassProblem(np.array([[0.0], [7.0], [1.0]]), np.arange(3), 3)
>>> partition = AgglomerativePartition("average")
>>> partition
AgglomerativePartition(method='average')
>>> partition.split(partition.begin(problem), np.arange(3), 0)
[array([0, 2]), array([1])]
"""

from __future__ import annotations

from inspect import Signature, signature
from typing import Any, ClassVar

from palmette.base._grow import ClassProblem, IntArray, Partition
from palmette.class_tree._agglomerative import AgglomerativeTree
from palmette.class_tree._confusion import LabelEmbeddingTree
from palmette.class_tree._dependence import DependenceTree
from palmette.class_tree._fisher import BHCTree
from palmette.class_tree._learner import ClassTreeLearner
from palmette.class_tree._margin import MarginTree
from palmette.class_tree._nmf import NMFTree
from palmette.class_tree._relaxed import RelaxedTree
from palmette.class_tree._simple import BalancedTree, RandomTree
from palmette.class_tree._spectral import MFTree
from palmette.forest._parameters import LabelTwoMeans

__all__ = [
    "AgglomerativePartition",
    "BalancedPartition",
    "ClassProblem",
    "ConfusionPartition",
    "DependencePartition",
    "FisherPartition",
    "LabelTwoMeans",
    "MarginPartition",
    "NMFPartition",
    "Partition",
    "RandomPartition",
    "RelaxedPartition",
    "SpectralPartition",
]

# parameters of a learner that concern the whole tree, or that `ClassProblem` has
_OF_TREES = frozenset(["leaf_size", "max_depth", "min_side", "n_jobs", "random_state"])


class _RuleOfLearner(Partition):
    """The rule of a learner, with those of its parameters that concern one node."""

    _learner: ClassVar[type[ClassTreeLearner]]

    def begin(self, problem: ClassProblem) -> Any:
        """Check the parameters and compute what all nodes share; see `Partition.begin`."""
        return self._learner(**self.get_params(deep=False))._begin(problem)

    def split(self, state: Any, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        return self._learner(**self.get_params(deep=False))._split(state, classes, node)


def _rule_of(learner: type[ClassTreeLearner], name: str, **also: Any) -> Any:
    """Return the class of a rule, with the signature of the learner.

    Parameters
    ----------
    learner : subclass of ClassTreeLearner
    name : str
        Name of the class in this module.
    **also
        Parameters of the whole tree that the rule has nevertheless, with their defaults.

    Returns
    -------
    subclass of Partition
    """
    declared = Signature(
        [
            each.replace(default=also.get(each.name, each.default))
            for each in signature(learner.__init__).parameters.values()
            if each.name in also or each.name not in _OF_TREES
        ]
    )

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = declared.bind(self, *args, **kwargs)
        given.apply_defaults()
        for key, value in list(given.arguments.items())[1:]:
            setattr(self, key, value)

    __init__.__signature__ = declared  # type: ignore[attr-defined]  # what scikit-learn reads
    own = ", ".join(list(declared.parameters)[1:])
    names = {
        "__doc__": f"""The rule of `{learner.__name__}`, for one node.

    The parameters are those of `{learner.__name__}`, where they are documented: {own}.
    """,
        "__init__": __init__,
        "__module__": __name__,
        "_learner": learner,
        "may_overlap": learner._may_overlap,
        "one_blas_thread": learner._one_blas_thread,
    }
    return type(name, (_RuleOfLearner,), names)


AgglomerativePartition = _rule_of(AgglomerativeTree, "AgglomerativePartition", min_side=0.0)
BalancedPartition = _rule_of(BalancedTree, "BalancedPartition")
ConfusionPartition = _rule_of(LabelEmbeddingTree, "ConfusionPartition")
DependencePartition = _rule_of(DependenceTree, "DependencePartition")
FisherPartition = _rule_of(BHCTree, "FisherPartition", min_side=0.0)
MarginPartition = _rule_of(MarginTree, "MarginPartition", min_side=0.0)
NMFPartition = _rule_of(NMFTree, "NMFPartition")
RandomPartition = _rule_of(RandomTree, "RandomPartition")
RelaxedPartition = _rule_of(RelaxedTree, "RelaxedPartition")
SpectralPartition = _rule_of(MFTree, "SpectralPartition", min_side=0.0)
