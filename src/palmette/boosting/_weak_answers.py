"""Weak learners that fit one binary model per column, and the choice of a weak learner by name.

The binary model is a full classification tree or a scikit-learn classifier. It predicts -1 or +1
for each row.
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
from palmette.base._foreign import fit_foreign, predicted_by
from palmette.base._parameters import check_classifier
from palmette.boosting._class_trees import StumpPerClass, TreePerClass, passes_parents
from palmette.boosting._hypotheses import answer_signs, mask_by_parents
from palmette.boosting._weak import (
    Floats,
    GrownColumns,
    SharedTree,
    TrainingRows,
    WeakLearner,
)
from palmette.exceptions import PalmetteError
from palmette.trees._carts import Carts, CartSettings, draw_rows, grow_cart, weigh_rows

Tree = tuple[NDArray[Any], ...]


class AnswerPerClass(WeakLearner):
    """Base class of weak learners that fit one binary model per column.

    A subclass defines `_fit_one`, `_predict_one` and, if the models are not stored as a list,
    `_collect`.
    """

    votes = "sign"

    @abstractmethod
    def _fit_one(
        self, rows: TrainingRows, column: Floats, used: NDArray[np.bool_] | None, seed: int
    ) -> Any:
        """Fit a model on the signed weights of a column, (n_samples,), with the rows `used`."""

    @abstractmethod
    def _predict_one(self, model: Any, rows: TrainingRows) -> NDArray[np.bool_]:
        """Whether the model predicts +1 for each training row."""

    def _collect(self, models: list[Any]) -> Any:
        return models

    def grow(
        self, rows: TrainingRows, signed: Floats, chosen: NDArray[np.int32] | None, seed: int
    ) -> GrownColumns:
        """Fit one model per column; see `WeakLearner`."""
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
                through = passes_parents(searched, level, signs, places)
                through = through if used is None else through & used[:, None]

            def fit(place: int, level: Any = level, through: Any = through) -> Any:
                column, own = signed[:, level[place]], seed + int(level[place])
                allowed = used if through is None else through[:, place]
                model = self._fit_one(rows, column, allowed, own)
                return model, self._predict_one(model, rows)

            for place, (model, is_positive) in enumerate(rows.threads.map(fit, range(len(level)))):
                models[level[place]] = model
                places[:, level[place]] = 1 + is_positive
            if searched is not None:
                mask_by_parents(places, signs, searched.parents)
        if mask is not None:
            mask_by_parents(places, signs, mask.parents)
        parents = None if mask is None else mask.parents
        return GrownColumns(self._collect(models), signs, places, parents)


class CartPerClass(AnswerPerClass):
    """One classification tree per label, grown until its leaves are pure.

    Such a tree makes no errors on its training rows, so boosting would have no effect. It is
    therefore grown on rows drawn by weight, with few features considered at each split.

    Parameters
    ----------
    max_depth : int, optional
        Maximum depth of a tree; no limit by default.
    max_features : int, float, "sqrt" or None
        Number or share of the features considered at a split; None for all.
    resample : bool or float
        Whether rows are drawn by weight, with replacement, as many as there are or the given share;
        else the tree is grown on all rows with their weights.

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
        """Raise an error for invalid parameters."""
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

    def _predict_one(self, model: Tree, rows: TrainingRows) -> NDArray[np.bool_]:
        return np.asarray(Carts.of([model]).places(rows.codes)[:, 0] == 2)

    def _collect(self, models: list[Tree]) -> Carts:
        return Carts.of(models)


class EstimatorPerClass(AnswerPerClass):
    """One scikit-learn classifier per label, fitted with the weights of the round.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Its `fit` has to accept `sample_weight`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> EstimatorPerClass(DecisionTreeClassifier(max_depth=2))
    EstimatorPerClass(estimator=DecisionTreeClassifier(max_depth=2))
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def check(self) -> None:
        """Raise an error for estimators that do not accept weights."""
        if self.estimator is None:
            raise PalmetteError("estimator is None: expected a scikit-learn classifier.")
        check_classifier(self.estimator)
        weight_keyword(self.estimator)

    def _fit_one(
        self, rows: TrainingRows, column: Floats, used: NDArray[np.bool_] | None, seed: int
    ) -> Any:
        kept = np.flatnonzero(column != 0 if used is None else used & (column != 0))
        target = np.where(column[kept] > 0, 1, -1)
        if not kept.size or (target == target[0]).all():
            only = int(target[0]) if kept.size else -1
            return DummyClassifier(strategy="constant", constant=only).fit([[0.0]], [only])
        model = clone(self.estimator)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=seed % (2**31 - 1))
        # scaled to the number of rows, which regularized estimators expect
        weights = np.abs(column[kept]).astype(np.float64)
        weights *= max(rows.weights[kept].sum(), len(kept)) / weights.sum()
        cells = take_rows(rows.X, kept)
        return fit_foreign(model, cells, target, **{weight_keyword(model): weights})

    def _predict_one(self, model: Any, rows: TrainingRows) -> NDArray[np.bool_]:
        return np.asarray(predicted_by(model, rows.X) > 0)


_BY_NAME = {
    "cart": CartPerClass,
    "shared_tree": SharedTree,
    "stump": StumpPerClass,
    "tree": TreePerClass,
}


def resolve_weak_learner(weak_learner: Any) -> WeakLearner:
    """Return the weak learner for a name, an object or a scikit-learn classifier.

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
