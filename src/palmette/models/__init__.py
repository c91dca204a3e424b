"""The registry of models by name, for the command line, the tournament and comparisons."""

from palmette.base._adapters import OverLabels
from palmette.models import _catalogue  # noqa: F401 (registers the models)
from palmette.models._registry import (
    ModelContext,
    ModelSpec,
    find_model,
    find_models,
    list_models,
    make_model,
    register_model,
)
from palmette.models._tree_learners import (
    TreeLearner,
    find_tree_learner,
    list_tree_learners,
    make_tree_learner,
)

__all__ = [
    "ModelContext",
    "ModelSpec",
    "OverLabels",
    "TreeLearner",
    "find_model",
    "find_models",
    "find_tree_learner",
    "list_models",
    "list_tree_learners",
    "make_model",
    "make_tree_learner",
    "register_model",
]
