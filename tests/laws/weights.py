"""Laws of estimators that take sample weights: only the ratios of the weights count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.laws.learners import families, seeded
from tests.laws.own_tree import learns_over_labels
from tests.laws.problems import problem
from tests.laws.shared import one_of

from palmette import PalmetteError
from palmette.base._classifier import HierarchicalClassifier

__all__ = ["ON_WEIGHTS"]


def rows_for(estimator: BaseEstimator) -> tuple[np.ndarray, Any]:
    """Return rows and paths, or labels where the hierarchy is learned."""
    if isinstance(estimator, HierarchicalClassifier) and not learns_over_labels(estimator):
        return problem(n_each=6)
    return families(n_each=6)


def answers(fitted: BaseEstimator, X: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the predictions, or what was learned instead, and the probabilities if there are."""
    if hasattr(fitted, "get_support"):
        return fitted.get_support().tolist(), np.empty(0)
    if not hasattr(fitted, "predict"):
        return fitted.hierarchy_, np.empty(0)
    proba = fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else np.empty(0)
    return list(fitted.predict(X)), proba


def the_scale_of_weights_changes_nothing(estimator: BaseEstimator) -> None:
    X, y = rows_for(estimator)
    weights = np.random.default_rng(0).random(len(X)) + 0.5
    scales = (1e-6, *one_of((1e-300, 1e6, 1e300), estimator))
    fits = [seeded(estimator).fit(X, y, sample_weight=scale * weights) for scale in scales]
    labels, proba = answers(fits[0], X)
    assert np.isfinite(proba).all()
    for fitted in fits[1:]:
        other_labels, other = answers(fitted, X)
        assert other_labels == labels
        np.testing.assert_allclose(other, proba, rtol=0, atol=1e-9)


def weights_far_apart_are_refused_or_give_numbers(estimator: BaseEstimator) -> None:
    X, y = rows_for(estimator)
    is_light = np.arange(len(X)) % 3 == 0
    for unit in (1.0, 1e300):
        with pytest.raises(PalmetteError, match=r"sample_weight\[0\] = .* Set smaller ones to 0"):
            seeded(estimator).fit(X, y, sample_weight=np.where(is_light, 1e-300, unit))
    light = (1e-20, 1e-18, 1e-12, 1e-6)
    for weight in one_of(light, estimator):
        fitted = seeded(estimator).fit(X, y, sample_weight=np.where(is_light, 2 * weight, 1.3))
        assert np.isfinite(answers(fitted, X)[1]).all()


ON_WEIGHTS: list[Callable[[BaseEstimator], None]] = [
    the_scale_of_weights_changes_nothing,
    weights_far_apart_are_refused_or_give_numbers,
]
