"""Scores of a fitted estimator for the options of a task."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

__all__ = ["gives_proba", "option_scores"]

FloatArray = NDArray[np.float64]


def gives_proba(estimator: Any) -> bool:
    """Whether an estimator can give probabilities."""
    return hasattr(estimator, "predict_proba")


def option_scores(estimator: Any, X: Any, options: NDArray[np.int32]) -> FloatArray:
    """Scores between 0 and 1 for every option.

    Probabilities where the estimator has them; else its margins, squashed so that their order is
    kept; else its bare predictions.

    Parameters
    ----------
    estimator : fitted scikit-learn classifier
    X : rows
    options : int array of shape (n_options,)
        Node numbers, ascending.

    Returns
    -------
    array of shape (n_samples, n_options)
    """
    known = np.asarray(estimator.classes_)
    if gives_proba(estimator):
        scores = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    elif hasattr(estimator, "decision_function"):
        scores = _squash(np.asarray(estimator.decision_function(X), dtype=np.float64))
    else:
        scores = (np.asarray(estimator.predict(X))[:, None] == known).astype(np.float64)
    if np.array_equal(known, options):
        return scores
    aligned = np.zeros((len(scores), len(options)))
    aligned[:, np.searchsorted(options, known)] = scores
    return aligned


def _squash(margins: FloatArray) -> FloatArray:
    if margins.ndim == 1:
        positive = expit(margins)
        return np.column_stack([1.0 - positive, positive])
    return np.asarray(softmax(margins, axis=1))
