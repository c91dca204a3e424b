"""What AdaBoost.MH and AdaBoost.MI share: labels that are boosted alike, without a hierarchy."""

from __future__ import annotations

from typing import Any, ClassVar

from palmette.boosting.ada import NodeBoostingClassifier
from palmette.core.binning import MAX_BINS
from palmette.core.hierarchy import Hierarchy
from palmette.engine.presets import preset, presets

__all__ = ["FlatAdaBoostClassifier"]


class FlatAdaBoostClassifier(NodeBoostingClassifier):
    """Base of AdaBoost over labels; a subclass says whose the coefficients are."""

    preset, presets = classmethod(preset), classmethod(presets)
    _coefficient: ClassVar[str]

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        weak_learner: Any = "stump",
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        dag_rule: str = "all",
        subsample: float = 1.0,
        weight_trim: float = 0.0,
        max_bins: int = MAX_BINS,
        decoding: Any = "auto",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.dag_rule = dag_rule
        self.subsample = subsample
        self.weight_trim = weight_trim
        self.max_bins = max_bins
        self.decoding = decoding
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settings(self) -> dict[str, Any]:
        return {"initial_weights": "uniform", "mask": "none", "coefficient": self._coefficient}
