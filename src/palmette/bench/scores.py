"""Scores that comparisons can name: functions of (y_true, y_pred, hierarchy)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from palmette import metrics
from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import PalmetteError

__all__ = ["DEFAULT_SCORES", "SCORES", "Score", "find_scores"]


@dataclass(frozen=True)
class Score:
    """A score, the title of its column, and whether more of it is better."""

    title: str
    function: Callable[[Any, Any, Hierarchy], float]
    greater_is_better: bool = True


def _of(name: str, **options: Any) -> Callable[[Any, Any, Hierarchy], float]:
    function = getattr(metrics, name)

    def score(y_true: Any, y_pred: Any, hierarchy: Hierarchy) -> float:
        return float(function(y_true, y_pred, hierarchy=hierarchy, **options))

    return score


SCORES: dict[str, Score] = {
    "hierarchical_f1": Score("hier. F1", _of("hierarchical_f1_score")),
    "hierarchical_precision": Score("hier. precision", _of("hierarchical_precision_score")),
    "hierarchical_recall": Score("hier. recall", _of("hierarchical_recall_score")),
    "hierarchical_f1_macro": Score("macro hier. F1", _of("hierarchical_f1_score", average="macro")),
    "tree_induced_error": Score("tree error", _of("tree_induced_error"), False),
    "leaf_accuracy": Score("leaf accuracy", _of("leaf_accuracy_score")),
    "lca_f1": Score("LCA F1", _of("lca_f1_score")),
    "hmc_loss": Score("HMC-loss", _of("hmc_loss"), False),
    "h_loss": Score("H-loss", _of("h_loss"), False),
}

DEFAULT_SCORES = ("hierarchical_f1", "tree_induced_error", "leaf_accuracy")


def find_scores(names: Any) -> dict[str, Score]:
    """Return scores by name, in the order asked for."""
    unknown = [name for name in names if name not in SCORES]
    if unknown:
        raise PalmetteError(f"unknown score {unknown[0]!r}: expected some of {', '.join(SCORES)}.")
    return {name: SCORES[name] for name in names}
