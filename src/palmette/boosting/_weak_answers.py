"""A binary model for every column: a full classification tree, or any scikit-learn classifier.

The hypothesis of such a learner is an answer, -1 or +1, for every row and column.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier

from palmette._arrays import take_rows
from palmette.base._fitting import weight_keyword
from palmette.boosting._class_trees import StumpPerClass, TreePerClass, let_through
from palmette.boosting._hypotheses import answer_signs, mask_by_parents
from palmette.boosting._weak import (
    Floats,
    GrownColumns,
    SharedTreeLearner,
    TrainingRows,
    WeakLearner,
)
from palmette.exceptions import PalmetteError
from palmette.trees._carts import Carts, CartSettings, draw_rows, grow_cart, weigh_rows

__all__ = ["AnswerPerClass", "CartPerClass", "EstimatorPerClass", "resolve_weak_learner"]

Tree = tuple[NDArray[Any], ...]


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
        searched = mask if mask is not None and mask.in_search else None
        levels = [np.arange(n_columns, dtype=np.int32)] if searched is None else searched.levels
        if chosen is not None:
            used = np.zeros(n_samples, dtype=bool)
            used[chosen] = True
        for level in levels:
            through = None
            if searched is not None:
                through = let_through(searched, level, signs, places)
                through = through if used is None else through & used[:, None]

            def fit(place: int, level: Any = level, through: Any = through) -> Any:
                column, own = signed[:, level[place]], seed + int(level[place])
                allowed = used if through is None else through[:, place]
                model = self._fit_one(rows, column, allowed, own)
                return model, self._ask(model, rows)

            for place, (model, says) in enumerate(rows.threads.map(fit, range(len(level)))):
                models[level[place]] = model
                places[:, level[place]] = 1 + says
            if searched is not None:
                mask_by_parents(places, signs, searched.parents)
        if mask is not None:
            mask_by_parents(places, signs, mask.parents)
        parents = None if mask is None else mask.parents
        return GrownColumns(self._keep(models), signs, places, parents)


class CartPerClass(AnswerPerClass):
    """A classification tree for every label, grown until its leaves are pure.

    Such a tree makes no mistake on the rows that it has seen, and there would be nothing to boost:
    so it sees rows that are drawn by their weights, and few features at every split.

    Parameters
    ----------
    max_depth : int, optional
    max_features : int, float, "sqrt" or None
        Features that compete at a split, of those that vary there; None for all.
    resample : bool or float
        Whether rows are drawn by their weights, with replacement, as many as there are or the
        share given; else the tree sees all of them and their weights.

    Examples
    --------
    >>> CartPerClass(resample=0.5)
    CartPerClass(resample=0.5)
    """

    def __init__(
        self,
        max_depth: int | None = None,
        *,
        max_features: int | float | str | None = "sqrt",
        resample: bool | float = True,
    ) -> None:
        self.max_depth = max_depth
        self.max_features = max_features
        self.resample = resample

    def check(self) -> None:
        """Refuse parameters that cannot be."""
        super().check()
        self._settings.check()

    @property
    def _settings(self) -> CartSettings:
        return CartSettings(self.max_depth, self.max_features, self.resample)

    def _fit_one(
        self, rows: TrainingRows, column: Floats, used: NDArray[np.bool_] | None, seed: int
    ) -> Tree:
        order = rows.by_content if used is None else rows.by_content[used[rows.by_content]]
        signed = np.ascontiguousarray(column, dtype=np.float64)
        state = np.array([seed], dtype=np.uint64)
        if self.resample:
            n_draws = self._settings.n_draws(rows.weights[order])
            seen, weights, positive = draw_rows(signed, order, n_draws, state)
        else:
            seen, weights, positive = weigh_rows(signed, order)
        growth = self._settings.growth(rows.n_features)
        return grow_cart(rows.by_feature, seen, weights, positive, *growth, state)

    def _ask(self, model: Tree, rows: TrainingRows) -> NDArray[np.bool_]:
        return np.asarray(Carts.of([model]).places(rows.codes)[:, 0] == 2)

    def _keep(self, models: list[Tree]) -> Carts:
        return Carts.of(models)


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


_BY_NAME = {
    "cart": CartPerClass,
    "shared_tree": SharedTreeLearner,
    "stump": StumpPerClass,
    "tree": TreePerClass,
}


def resolve_weak_learner(weak_learner: Any) -> WeakLearner:
    """Return the weak learner that a name, an object or a scikit-learn classifier stands for.

    Examples
    --------
    >>> resolve_weak_learner("stump")
    StumpPerClass()
    """
    if isinstance(weak_learner, WeakLearner):
        learner = weak_learner
    elif isinstance(weak_learner, str) and weak_learner in _BY_NAME:
        learner = _BY_NAME[weak_learner]()
    elif hasattr(weak_learner, "fit") and is_classifier(weak_learner):
        learner = EstimatorPerClass(weak_learner)
    else:
        raise PalmetteError(
            f"weak_learner={weak_learner!r} is unknown: expected one of {sorted(_BY_NAME)}, an "
            "object of palmette.weak, or a scikit-learn classifier that takes sample_weight."
        )
    learner.check()
    return learner
