"""Laws that every public estimator of a kind obeys, whatever it is made of.

A law takes an unfitted estimator and asserts. `laws_of` yields those that apply to an estimator by
what it is and can; a new law is written once and holds for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter
from tests.laws.arrays import ON_ARRAYS
from tests.laws.fitted import ON_FITTED
from tests.laws.inputs import ON_INPUT, sparse_rows_are_dense_rows
from tests.laws.labels import ON_LABELS, several_paths_and_dags_are_refused
from tests.laws.learners import ON_LEARNERS
from tests.laws.own_tree import ON_OWN_TREE, learns_over_labels
from tests.laws.poor_rows import ON_POOR_ROWS
from tests.laws.probabilities import ON_PROBABILITIES
from tests.laws.same_content import ON_SAME_CONTENT, ON_SETS_OF_SAME_CONTENT
from tests.laws.selectors import ON_SELECTORS
from tests.laws.several import ON_SEVERAL_PATHS, ON_SEVERAL_PROBABILITIES
from tests.laws.units import ON_UNITS
from tests.laws.weights import ON_WEIGHTS

from palmette.base._classifier import HierarchicalClassifier
from palmette.class_tree import ClassTreeLearner
from palmette.feature_selection import HierarchicalFeatureSelector

__all__ = ["EXCUSED", "laws_of"]

_DRAWS_ROWS = dict.fromkeys(
    ("a_weight_of_k_is_k_copies", "a_weight_of_k_is_k_copies_of_a_set"),
    "rows are drawn: copies of a row each by itself, a row with a weight once",
)
_SCALES_SPARSE_ROWS = {
    "sparse_rows_are_dense_rows": "sparse rows are scaled but not centred, lest they fill up"
}
_STANDARDIZES_DENSE_ROWS = {
    "sparse_rows_are_dense_rows": "dense columns are standardized, sparse ones are left as they are"
}
_HOLDS_OUT_SETS = {
    "a_weight_of_k_is_k_copies_of_a_set": (
        "settings are chosen on held-out rows: copies of a row may be on both sides"
    )
}
_SINGLE_PRECISION = {
    "probabilities_do_not_depend_on_the_other_rows": (
        "products in single precision differ in the seventh digit by the number of rows"
    )
}

# laws that an estimator cannot obey, and why
EXCUSED: dict[str, dict[str, str]] = {
    "CalibratedHierarchicalClassifier": _DRAWS_ROWS,
    "ClassTreeClassifier": _STANDARDIZES_DENSE_ROWS | _HOLDS_OUT_SETS,
    "ClassTreeEnsemble": _STANDARDIZES_DENSE_ROWS | _HOLDS_OUT_SETS,
    "CoherentBlendClassifier": {**_DRAWS_ROWS, **_SCALES_SPARSE_ROWS, **_SINGLE_PRECISION},
    "CoherentForestClassifier": {**_DRAWS_ROWS, **_SCALES_SPARSE_ROWS},
    "CoherentKernelClassifier": {**_SCALES_SPARSE_ROWS, **_SINGLE_PRECISION},
    "CoherentNetworkClassifier": {**_DRAWS_ROWS, **_SCALES_SPARSE_ROWS, **_SINGLE_PRECISION},
    "ConformalHierarchicalClassifier": _DRAWS_ROWS,
    "ThresholdedMultilabel": _DRAWS_ROWS,
    "TreesMultilabel": _DRAWS_ROWS,
}


def laws_of(estimator: BaseEstimator) -> Iterator[Callable[[BaseEstimator], None]]:
    """Laws that apply to an estimator."""
    yield from ON_ARRAYS + ON_POOR_ROWS + ON_SAME_CONTENT + ON_UNITS
    if has_fit_parameter(estimator, "sample_weight"):
        yield from ON_WEIGHTS
    if isinstance(estimator, ClassTreeLearner) or hasattr(estimator, "learns_from_label_sets"):
        yield from ON_LEARNERS
    if isinstance(estimator, HierarchicalFeatureSelector):
        yield from ON_SELECTORS
    if not isinstance(estimator, HierarchicalClassifier):
        return
    if learns_over_labels(estimator):
        yield from ON_OWN_TREE
        return
    excused = EXCUSED.get(type(estimator).__name__, {})
    if not getattr(estimator, "standardize", True):
        standard = _STANDARDIZES_DENSE_ROWS.items()
        excused = {law: why for law, why in excused.items() if (law, why) not in standard}
    yield from (law for law in _classifier_laws(estimator) if law.__name__ not in excused)


def _classifier_laws(estimator: BaseEstimator) -> Iterator[Callable[[BaseEstimator], None]]:
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
    yield from ON_SEVERAL_PATHS + ON_SETS_OF_SAME_CONTENT
    if has_proba:
        yield from ON_SEVERAL_PROBABILITIES
