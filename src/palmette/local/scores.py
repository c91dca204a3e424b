"""Scores of a fitted estimator for the options of a task."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from palmette.core.decode import normalize_rows
from palmette.exceptions import PalmetteError

__all__ = ["Scores", "gives_proba", "option_scores"]

FloatArray = NDArray[np.float64]


class Scores(NamedTuple):
    """Scores of options: probabilities, or margins where the estimator has no probabilities.

    Parameters
    ----------
    values : array of shape (n_samples, n_options)
    are_margins : bool
    """

    values: FloatArray
    are_margins: bool

    def shares(self) -> FloatArray:
        """Numbers from 0 to 1 for every option, as the estimator has them; margins by softmax."""
        return _softmax(self.values) if self.are_margins else self.values

    def among(self, cells: Any) -> FloatArray:
        """Shares of some options only, of the rows and columns `cells`, summing to one.

        Margins are compared before they are squashed: far from the best option of all, their
        exponentials would all be zero.
        """
        chosen = self.values[cells]
        return _softmax(chosen) if self.are_margins else normalize_rows(chosen)


def gives_proba(estimator: Any) -> bool:
    """Whether an estimator can give probabilities."""
    return hasattr(estimator, "predict_proba")


def option_scores(estimator: Any, X: Any, options: NDArray[np.int32]) -> Scores:
    """Scores of every option: probabilities, else margins, else bare predictions as 0 and 1.

    Parameters
    ----------
    estimator : fitted scikit-learn classifier
    X : rows
    options : int array of shape (n_options,)
        Node numbers, ascending. Those that the estimator does not know have no chance.

    Returns
    -------
    Scores
    """
    known = np.asarray(estimator.classes_)
    are_margins = False
    if gives_proba(estimator):
        values = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    elif hasattr(estimator, "decision_function"):
        values = _margins(estimator, X, len(known))
        are_margins = True
    else:
        values = (np.asarray(estimator.predict(X))[:, None] == known).astype(np.float64)
    if np.array_equal(known, options):
        return Scores(values, are_margins)
    aligned = np.full((len(values), len(options)), -np.inf if are_margins else 0.0)
    aligned[:, np.searchsorted(options, known)] = values
    return Scores(aligned, are_margins)


def _margins(estimator: Any, X: Any, n_known: int) -> FloatArray:
    margins = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if margins.ndim == 1:  # of the second of two classes
        return np.column_stack([np.zeros(len(margins)), margins])
    if margins.shape[1] != n_known:
        raise PalmetteError(
            f"{type(estimator).__name__}.decision_function gave {margins.shape[1]} columns for "
            f"{n_known} classes: expected one a class. Set decision_function_shape='ovr'."
        )
    return margins


def _softmax(margins: FloatArray) -> FloatArray:
    return np.asarray(softmax(margins, axis=1))
