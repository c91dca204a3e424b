"""The comparison harness: models x data sets x splits, timed, kept, and tested for significance."""

from palmette.bench import learnt_models, several_path_models  # noqa: F401 (register theirs)
from palmette.bench.compare import compare
from palmette.bench.comparison import Comparison
from palmette.bench.models import (
    ModelContext,
    ModelSpec,
    list_models,
    make_model,
    register_model,
)
from palmette.bench.problems import find_problem
from palmette.bench.splits import Problem
from palmette.bench.store import ResultStore

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
