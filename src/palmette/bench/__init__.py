"""The comparison harness: models x data sets x splits, timed, kept, and tested for significance."""

from palmette.bench.compare import Comparison, compare
from palmette.bench.models import list_models, make_model, register_model

__all__ = ["Comparison", "compare", "list_models", "make_model", "register_model"]
