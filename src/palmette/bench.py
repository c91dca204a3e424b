"""Comparison of models on data sets: the registry of models, and functions to compare them."""

from palmette.compare import Comparison, Problem, ResultStore, compare, find_problem
from palmette.models import ModelContext, ModelSpec, list_models, make_model, register_model

__all__ = [
    "Comparison",
    "ModelContext",
    "ModelSpec",
    "Problem",
    "ResultStore",
    "compare",
    "find_problem",
    "list_models",
    "make_model",
    "register_model",
]
