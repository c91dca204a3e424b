"""Laws that every public estimator of a kind obeys, whatever it is made of.

A law takes an unfitted estimator and asserts. `laws_of` yields those that apply to an estimator by
what it is and can; a new law is written once and holds for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from tests.laws.fitted import ON_FITTED
from tests.laws.inputs import ON_INPUT, sparse_rows_are_dense_rows
from tests.laws.labels import ON_LABELS, several_paths_and_dags_are_refused
from tests.laws.learners import ON_LEARNERS
from tests.laws.own_tree import ON_OWN_TREE, learns_over_labels
from tests.laws.probabilities import ON_PROBABILITIES
from tests.laws.selectors import ON_SELECTORS
from tests.laws.several import ON_SEVERAL_PATHS, ON_SEVERAL_PROBABILITIES

from palmette.engine.single_path import SinglePathClassifier
from palmette.engine.tree_learner import ClassTreeLearner
from palmette.feature_selection import HierarchicalFeatureSelector

__all__ = ["laws_of"]


def laws_of(estimator: BaseEstimator) -> Iterator[Callable[[BaseEstimator], None]]:
    """Laws that apply to an estimator."""
    if isinstance(estimator, ClassTreeLearner):
        yield from ON_LEARNERS
    if isinstance(estimator, HierarchicalFeatureSelector):
        yield from ON_SELECTORS
    if not isinstance(estimator, SinglePathClassifier):
        return
    if learns_over_labels(estimator):
        yield from ON_OWN_TREE
        return
    yield from ON_LABELS + ON_INPUT + ON_FITTED
    has_proba = hasattr(estimator, "predict_proba")
    if has_proba:
        yield from ON_PROBABILITIES
    tags = get_tags(estimator)
    if tags.input_tags.sparse:
        yield sparse_rows_are_dense_rows
    if not tags.classifier_tags.multi_label:
        yield several_paths_and_dags_are_refused
        return
    yield from ON_SEVERAL_PATHS
    if has_proba:
        yield from ON_SEVERAL_PROBABILITIES
