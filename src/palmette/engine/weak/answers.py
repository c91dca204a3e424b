"""What learners share whose hypothesis is an answer, -1 or +1, for every row and column."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.engine.hypotheses import answer_signs, mask_by_parents
from palmette.engine.weak.base import Floats, GrownColumns, TrainingRows, WeakLearner
from palmette.engine.weak.class_trees import _let_through

__all__ = ["AnswerPerClass"]


class AnswerPerClass(WeakLearner):
    """Base of weak learners that fit a binary model for every column.

    A subclass gives `_fit_one`, `_ask` and, where models are kept in another way than as a list,
    `_keep`.
    """

    votes = "sign"

    @abstractmethod
    def _fit_one(
        self, rows: TrainingRows, column: Floats, used: NDArray[np.bool_] | None, seed: int
    ) -> Any:
        """Fit a model on the signed weights of a column, (n_samples,), by the rows used."""

    @abstractmethod
    def _ask(self, model: Any, rows: TrainingRows) -> NDArray[np.bool_]:
        """Whether the model says +1 to each training row."""

    def _keep(self, models: list[Any]) -> Any:
        return models

    def grow(
        self, rows: TrainingRows, signed: Floats, chosen: NDArray[np.int32] | None, seed: int
    ) -> GrownColumns:
        """Fit a model for every column; see `WeakLearner`."""
        n_samples, n_columns = signed.shape
        signs, places = answer_signs(n_columns), np.zeros((n_samples, n_columns), dtype=np.uint8)
        models: list[Any] = [None] * n_columns
        mask, used = rows.mask, None
        in_search = mask is not None and mask.in_search
        levels = mask.levels if in_search else [np.arange(n_columns, dtype=np.int32)]
        if chosen is not None:
            used = np.zeros(n_samples, dtype=bool)
            used[chosen] = True
        for level in levels:
            through = None
            if in_search:
                through = _let_through(mask, level, signs, places)
                through = through if used is None else through & used[:, None]

            def fit(place: int, level: Any = level, through: Any = through) -> Any:
                column, own = signed[:, level[place]], seed + int(level[place])
                allowed = used if through is None else through[:, place]
                model = self._fit_one(rows, column, allowed, own)
                return model, self._ask(model, rows)

            for place, (model, says) in enumerate(rows.threads.map(fit, range(len(level)))):
                models[level[place]] = model
                places[:, level[place]] = 1 + says
            if in_search:
                mask_by_parents(places, signs, mask.parents)
        if mask is not None:
            mask_by_parents(places, signs, mask.parents)
        parents = None if mask is None else mask.parents
        return GrownColumns(self._keep(models), signs, places, parents)
