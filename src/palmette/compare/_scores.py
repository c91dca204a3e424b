"""Scores of comparisons by name: functions of (y_true, y_pred, hierarchy)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._scorers import SCORERS, HierarchicalScorer


@dataclass(frozen=True)
class Score:
    """A score as a column of a table.

    Parameters
    ----------
    title : str
        Title of the column.
    scorer : HierarchicalScorer
        The metric with its options. Losses are shown without a change of sign.
    """

    title: str
    scorer: HierarchicalScorer

    @property
    def greater_is_better(self) -> bool:
        """Whether a higher score is better."""
        return self.scorer.greater_is_better

    def __call__(self, y_true: Any, y_pred: Any, hierarchy: Hierarchy) -> float:
        """Score labels."""
        options = self.scorer.options or {}
        return float(self.scorer.metric(y_true, y_pred, hierarchy=hierarchy, **options))


_TITLES = {
    "hierarchical_f1": "hier. F1",
    "hierarchical_f1_macro": "macro F1",
    "hierarchical_f1_samples": "samples F1",
    "hierarchical_precision": "hier. prec.",
    "hierarchical_recall": "hier. recall",
    "lca_f1": "LCA F1",
    "leaf_accuracy": "leaf acc.",
    "neg_h_loss": "H-loss",
    "neg_hierarchical_hamming_loss": "hier. Hamming",
    "neg_hmc_loss": "HMC-loss",
    "neg_tree_induced_error": "tree error",
}

# scorers without a title in `_TITLES` are shown under their name
SCORES: dict[str, Score] = {
    name.removeprefix("neg_"): Score(_TITLES.get(name, name.replace("_", " ")), scorer)
    for name, scorer in SCORERS.items()
}

DEFAULT_SCORES = ("hierarchical_f1", "tree_induced_error", "leaf_accuracy")


def find_scores(names: Iterable[str]) -> dict[str, Score]:
    """Return scores by name, in the given order.

    Examples
    --------
    >>> [score.title for score in find_scores(["leaf_accuracy", "h_loss"]).values()]
    ['leaf acc.', 'H-loss']
    """
    names = list(names)
    for name in names:
        if name not in SCORES:
            raise PalmetteError(
                f"there is no score {name!r}: expected some of {', '.join(SCORES)}."
            )
    if not names or len(set(names)) < len(names):
        raise PalmetteError(f"got the scores {names!r}: expected at least one, and each once.")
    return {name: SCORES[name] for name in names}
