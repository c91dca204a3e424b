"""Facts of Figures 1 to 8: numbers and text, nothing drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from papers.adaboost_bhc.curves import Outcome
from papers.adaboost_bhc.methods import LEARNERS
from papers.adaboost_bhc.published_figures import paper_set

__all__ = ["figure_facts"]

Facts = dict[str, Any]


def figure_facts(outcomes: Sequence[Outcome], glass: Facts | None = None) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome
    glass : dict, optional
        As `glass_facts` gives it.

    Returns
    -------
    dict
        ``figure-1``: the trees; ``figure-2`` to ``figure-8``, or ``figure-`` and the name of a set
        that is not in the paper: ``rows``, one for every weak learner, each with the ``curves``.
    """
    figures = {} if glass is None else {"figure-1": glass}
    for outcome in outcomes:
        paper = paper_set(outcome.name)
        number = outcome.name if paper is None else paper.figure
        figures[f"figure-{number}"] = {
            "title": f"Training and test errors on {outcome.name}",
            "number": number,
            "rows": [
                {"learner": LEARNERS[key].words, "curves": _curves(by_method)}
                for key, by_method in outcome.curves.items()
            ],
        }
    return figures


def _curves(by_method: Any) -> list[Facts]:
    return [
        {"name": name, "train": one.mean("train").tolist(), "test": one.mean("test").tolist()}
        for name, one in by_method.items()
    ]
