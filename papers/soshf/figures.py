"""The facts of the figures: numbers and names, to be drawn or read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from papers.soshf.methods import DEFAULT, METHODS, OF_PAPER
from papers.soshf.outcome import Outcome
from papers.soshf.published_figures import PAPER_AUC, PAPER_F
from papers.soshf.ranks import rank_methods
from papers.soshf.tables import paper_score

__all__ = ["figure_facts"]

Facts = dict[str, Any]

_SHOWN = (DEFAULT, "extra-trees", "sf-h-cs", "sf-h", "sf", "rf-cost", "cocoa", "ecc", "boosting")


def figure_facts(outcomes: Sequence[Outcome]) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    dict
        ``ranks-paper`` and ``ranks-all``: mean ranks by F and by AUC; ``scores``: both by method
        and data set, with CPU seconds. Without what too few sets or methods leave untold.
    """
    figures = {
        "ranks-paper": _ranks(
            outcomes, OF_PAPER, "sf-h-cs", "f_own", "The paper's methods, its decision rules"
        ),
        "ranks-all": _ranks(
            outcomes, tuple(METHODS), DEFAULT, "f_tuned", "All methods, thresholds tuned"
        ),
        "scores": _scores(outcomes),
    }
    return {name: facts for name, facts in figures.items() if facts is not None}


def _ranks(
    outcomes: Sequence[Outcome], methods: Sequence[str], control: str, f: str, title: str
) -> Facts | None:
    panels = []
    for value, words in ((f, "macro-F"), ("auc", "macro-AUC")):
        found = rank_methods(outcomes, methods, lambda a, v=value: a.mean(v), control)
        if found is None:
            return None
        panels.append(
            {
                "title": words,
                "control": control,
                "distance": found.distance,
                "n_datasets": found.n_datasets,
                "ranks": found.mean_ranks,
                "worse_by_wilcoxon": [
                    key for key in found.mean_ranks if found.is_worse(key, found.by_wilcoxon)
                ],
            }
        )
    return {"title": title, "panels": panels}


def _scores(outcomes: Sequence[Outcome]) -> Facts | None:
    panels = []
    for outcome in outcomes:
        points = [
            {
                "method": key,
                "f": answer.mean("f_tuned"),
                "f_deviation": answer.deviation("f_tuned"),
                "auc": answer.mean("auc"),
                "auc_deviation": answer.deviation("auc"),
                "fit_s": answer.mean("fit_s"),
            }
            for key in _SHOWN
            if (answer := outcome.answers.get(key)) is not None
        ]
        paper = {
            "f": paper_score(PAPER_F, "sf-h-cs", outcome.name),
            "auc": paper_score(PAPER_AUC, "sf-h-cs", outcome.name),
        }
        if points:
            panels.append({"dataset": outcome.name, "points": points, "paper": paper})
    title = "Macro-F with tuned thresholds (upwards) and macro-AUC (to the right)"
    return {"title": title, "panels": panels} if panels else None
