"""Boosting over class hierarchies."""

import palmette.metrics  # noqa: F401 (makes scoring="hierarchical_f1" known to scikit-learn)
from palmette.boosting.hierarchical import HierarchicalBoostingClassifier

__all__ = ["HierarchicalBoostingClassifier"]
