"""Any scikit-learn classifier that takes sample weights, one for every column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from palmette.core.rows import take_rows
from palmette.engine.weak.answers import AnswerPerClass
from palmette.engine.weak.base import Floats, TrainingRows
from palmette.engine.weights import weight_keyword

__all__ = ["EstimatorPerClass"]


class EstimatorPerClass(AnswerPerClass):
    """A classifier of another library for every label, fitted with the weights of the round.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Whose `fit` takes `sample_weight`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> EstimatorPerClass(DecisionTreeClassifier(max_depth=2))
    EstimatorPerClass(estimator=DecisionTreeClassifier(max_depth=2))
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def check(self) -> None:
        """Refuse estimators that cannot be boosted."""
        weight_keyword(self.estimator)

    def _fit_one(
        self, rows: TrainingRows, column: Floats, used: NDArray[np.bool_] | None, seed: int
    ) -> Any:
        kept = np.flatnonzero(column != 0 if used is None else used & (column != 0))
        target = np.where(column[kept] > 0, 1, -1)
        if not kept.size or (target == target[0]).all():
            answer = int(target[0]) if kept.size else -1
            return DummyClassifier(strategy="constant", constant=answer).fit([[0.0]], [answer])
        model = clone(self.estimator)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=seed % (2**31 - 1))
        # in the scale of counts, which regularized estimators expect
        weights = np.abs(column[kept]).astype(np.float64)
        weights *= max(rows.weights[kept].sum(), len(kept)) / weights.sum()
        return model.fit(take_rows(rows.X, kept), target, **{weight_keyword(model): weights})

    def _ask(self, model: Any, rows: TrainingRows) -> NDArray[np.bool_]:
        return np.asarray(model.predict(rows.X) > 0)
