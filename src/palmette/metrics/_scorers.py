"""Scorers for scikit-learn that use the hierarchy of the fitted model."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, MutableMapping
from types import FunctionType
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics._hierarchical import (
    hierarchical_f1_score,
    hierarchical_precision_score,
    hierarchical_recall_score,
    leaf_accuracy_score,
)
from palmette.metrics._lca import lca_f1_score
from palmette.metrics._losses import h_loss, hierarchical_hamming_loss, hmc_loss, tree_induced_error
from palmette.metrics._pairs import extend_hierarchy

Metric = Callable[..., Any]


class HierarchicalScorer(BaseEstimator):  # type: ignore[misc]
    """A metric as a scorer ``scorer(estimator, X, y)``; the greater, the better.

    The hierarchy is that of the scorer, else the `hierarchy_` of the fitted estimator (or of the
    last step of a pipeline, or of what a search found best), else that of the labels. Labels of `y`
    that the model has not seen, as happens in folds, are added to it and count as wrong.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_pred, *, hierarchy, sample_weight, **options)``.
    greater_is_better : bool, default=True
        False for losses, which are multiplied by -1.
    hierarchy : Hierarchy, optional
    options : dict, optional
        Further keyword arguments of the metric.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = [[0], [1], [2]], ["animal/cat", "animal/dog", "animal/cat"]
    >>> model = DummyClassifier(strategy="most_frequent").fit(X, y)
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog")])
    >>> scorer = HierarchicalScorer(hierarchical_f1_score, hierarchy=h)
    >>> round(scorer(model, X, y), 4)
    0.8333
    """

    # metadata routing reads what a scorer takes from the arguments of `score`
    __metadata_request__score: ClassVar[dict[str, Any]] = {"estimator": UNUSED}

    def __init__(
        self,
        metric: Metric,
        *,
        greater_is_better: bool = True,
        hierarchy: Hierarchy | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.metric = metric
        self.greater_is_better = greater_is_better
        self.hierarchy = hierarchy
        self.options = options

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Predict and score."""
        return self.score(estimator, X, y, sample_weight=sample_weight)

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Predict and score.

        Parameters
        ----------
        estimator : fitted classifier
        X : array-like of shape (n_samples, n_features)
        y : array-like
            True labels in any form.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return self.score_labels(estimator, y, estimator.predict(X), sample_weight)

    def score_labels(
        self, estimator: Any, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> float:
        """Score labels that were predicted already."""
        hierarchy = self.hierarchy if self.hierarchy is not None else hierarchy_of(estimator)
        if hierarchy is not None:
            hierarchy = _covering(hierarchy, y_true)
        value = float(
            self.metric(
                y_true,
                y_pred,
                hierarchy=hierarchy,
                sample_weight=sample_weight,
                **(self.options or {}),
            )
        )
        return value if self.greater_is_better else -value

    def _accept_sample_weight(self) -> bool:
        # asked by scikit-learn's searches, where metadata routing is off
        return True


class MultiScorer(BaseEstimator):  # type: ignore[misc]
    """Several scorers with one call of `predict`, for `cross_validate` and searches.

    Parameters
    ----------
    scorers : sequence of str, or dict of str to HierarchicalScorer
        Names from `SCORERS`, or scorers by name.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier(strategy="most_frequent").fit([[0], [1], [2]], ["a", "b", "a"])
    >>> scorer = MultiScorer(["leaf_accuracy", "neg_tree_induced_error"])
    >>> scores = scorer(model, [[0], [1], [2], [3]], ["a", "b", "a", "b"])
    >>> scores["leaf_accuracy"], scores["neg_tree_induced_error"]
    (0.5, -1.0)
    """

    __metadata_request__score: ClassVar[dict[str, Any]] = {"estimator": UNUSED}

    def __init__(self, scorers: Any) -> None:
        self.scorers = scorers

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None
    ) -> dict[str, float]:
        """Predict once and score."""
        return self.score(estimator, X, y, sample_weight=sample_weight)

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> dict[str, float]:
        """Predict once and score."""
        named = self.scorers
        if not isinstance(named, dict):
            named = {name: get_scorer(name) for name in named}
        y_pred = estimator.predict(X)
        return {
            name: scorer.score_labels(estimator, y, y_pred, sample_weight)
            for name, scorer in named.items()
        }

    def _accept_sample_weight(self) -> bool:
        return True


def hierarchy_of(estimator: Any) -> Hierarchy | None:
    """Find the hierarchy of a fitted estimator, also inside pipelines and searches.

    Parameters
    ----------
    estimator : fitted estimator

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> hierarchy_of(DummyClassifier()) is None
    True
    """
    found = getattr(estimator, "hierarchy_", None)
    if isinstance(found, Hierarchy):
        return found
    for inner in ("best_estimator_", "estimator_"):
        if hasattr(estimator, inner):
            return hierarchy_of(getattr(estimator, inner))
    steps = getattr(estimator, "steps", None)
    return hierarchy_of(steps[-1][1]) if steps else None


def get_scorer(name: str) -> HierarchicalScorer:
    """Return the scorer of a name in `SCORERS`.

    Examples
    --------
    >>> get_scorer("neg_h_loss").metric.__name__
    'h_loss'
    """
    if name not in SCORERS:
        raise PalmetteError(
            f"name={name!r} is unknown: expected one of {', '.join(sorted(SCORERS))}."
        )
    return SCORERS[name]


def _covering(hierarchy: Hierarchy, y: Any) -> Hierarchy:
    """Add labels of `y` that the model has not seen."""
    try:
        NodeLabels.encode(y, hierarchy)
    except HierarchyError:
        return extend_hierarchy(hierarchy, y)
    return hierarchy


_SILENT = {"zero_division": 0.0}

SCORERS: dict[str, HierarchicalScorer] = {
    "hierarchical_f1": HierarchicalScorer(hierarchical_f1_score, options=_SILENT),
    "hierarchical_f1_macro": HierarchicalScorer(
        hierarchical_f1_score, options={**_SILENT, "average": "macro"}
    ),
    "hierarchical_f1_samples": HierarchicalScorer(
        hierarchical_f1_score, options={**_SILENT, "average": "samples"}
    ),
    "hierarchical_precision": HierarchicalScorer(hierarchical_precision_score, options=_SILENT),
    "hierarchical_recall": HierarchicalScorer(hierarchical_recall_score, options=_SILENT),
    "lca_f1": HierarchicalScorer(lca_f1_score),
    "leaf_accuracy": HierarchicalScorer(leaf_accuracy_score),
    "neg_h_loss": HierarchicalScorer(h_loss, greater_is_better=False),
    "neg_hierarchical_hamming_loss": HierarchicalScorer(
        hierarchical_hamming_loss, greater_is_better=False
    ),
    "neg_hmc_loss": HierarchicalScorer(hmc_loss, greater_is_better=False),
    "neg_tree_induced_error": HierarchicalScorer(tree_induced_error, greater_is_better=False),
}


# ---------------------------------------------------------------------- names in scikit-learn
#
# scikit-learn keeps the names of scorers in a private table and copies them into the argument
# checks of its functions when these are first imported. This is the only place that touches both.
# If they are moved, the names no longer work, but the scorer objects still do.


def register_scorers() -> bool:
    """Register the names in `SCORERS`, so that ``scoring="hierarchical_f1"`` works.

    Names that scikit-learn already has are kept.

    Returns
    -------
    bool
        Whether the names can be used.

    Examples
    --------
    >>> register_scorers()
    True
    >>> from sklearn.metrics import get_scorer
    >>> get_scorer("hierarchical_f1").metric.__name__
    'hierarchical_f1_score'
    """
    try:
        table = importlib.import_module("sklearn.metrics._scorer")._SCORERS
    except (ImportError, AttributeError):
        return False
    if not isinstance(table, MutableMapping):
        return False
    for name, scorer in SCORERS.items():
        table.setdefault(name, scorer)
    _allow_names(SCORERS)
    return True


def _allow_names(names: Iterable[str]) -> None:
    """Add names to the checks of `scoring` in the modules that are already imported."""
    for place, module in list(sys.modules.items()):
        if not place.startswith("sklearn."):
            continue
        for thing in list(vars(module).values()):
            for options in _scoring_options(thing):
                options.update(names)


def _scoring_options(thing: Any) -> list[set[str]]:
    if not isinstance(thing, type | FunctionType):
        return []
    where = "_parameter_constraints" if isinstance(thing, type) else "_skl_parameter_constraints"
    constraints = getattr(thing, where, None)
    if not isinstance(constraints, dict):
        return []
    found = [getattr(one, "options", None) for one in constraints.get("scoring", ())]
    return [options for options in found if isinstance(options, set) and "accuracy" in options]
