"""Boosting over class hierarchies."""

from palmette.boosting.hierarchical import HierarchicalBoostingClassifier

__all__ = ["HierarchicalBoostingClassifier"]
