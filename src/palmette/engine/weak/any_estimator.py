"""Any scikit-learn classifier that takes sample weights, one for every column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from palmette.core.rows import take_rows
from palmette.engine.hypotheses import mask_by_parents
from palmette.engine.weak.base import Floats, GrownColumns, TrainingRows, WeakLearner
from palmette.engine.weak.class_trees import _let_through
from palmette.engine.weights import weight_keyword

__all__ = ["EstimatorPerClass"]


class EstimatorPerClass(WeakLearner):
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

    votes = "sign"

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def check(self) -> None:
        """Refuse estimators that cannot be boosted."""
        weight_keyword(self.estimator)

    def grow(
        self, rows: TrainingRows, signed: Floats, chosen: NDArray[np.int32] | None, seed: int
    ) -> GrownColumns:
        """Fit a classifier for every column; see `WeakLearner`."""
        n_samples, n_columns = signed.shape
        signs = np.tile(np.array([-1, -1, 1], dtype=np.int8), (n_columns, 1))
        places = np.zeros((n_samples, n_columns), dtype=np.uint8)
        models: list[Any] = [None] * n_columns
        mask = rows.mask
        in_search = mask is not None and mask.in_search
        levels = mask.levels if in_search else [np.arange(n_columns, dtype=np.int32)]
        used = np.zeros(n_samples, dtype=bool)
        used[slice(None) if chosen is None else chosen] = True
        for level in levels:
            through = used[:, None]
            if in_search:
                through = through & _let_through(mask, level, signs, places)
            through = np.broadcast_to(through, (n_samples, len(level)))

            def fit(place: int, level: Any = level, through: Any = through) -> Any:
                column = signed[:, level[place]]
                return self._fit_one(rows, column, through[:, place], seed + int(level[place]))

            for place, model in enumerate(rows.threads.map(fit, range(len(level)))):
                models[level[place]] = model
                places[:, level[place]] = 1 + (model.predict(rows.X) > 0)
            if in_search:
                mask_by_parents(places, signs, mask.parents)
        if mask is not None:
            mask_by_parents(places, signs, mask.parents)
        return GrownColumns(models, signs, places, None if mask is None else mask.parents)

    def _fit_one(
        self, rows: TrainingRows, column: Floats, used: NDArray[np.bool_], seed: int
    ) -> Any:
        kept = np.flatnonzero(used & (column != 0))
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
