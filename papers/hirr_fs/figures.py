"""The facts of Figures 7, 8, 9, 10, 12 and 13, and of Table 6 as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from papers.hirr_fs.claims import honest_scores
from papers.hirr_fs.methods import ALL, FIVE, FOUR
from papers.hirr_fs.outcome import Outcome
from papers.hirr_fs.published_figures import PAPER_F1
from papers.hirr_fs.ranks import rank_five

__all__ = ["figure_facts"]

Facts = dict[str, Any]

_TEXTS = ("news20_951", "20newsgroups_bydate")
_WORDS = "authors' protocol"
# columns of the protein sets, numbered from 1: where they begin, and what they are
_COLUMN_GROUPS = ((1, "1-420"), (421, "421-440"), (441, "global, 441-446"), (447, "local, 447-473"))


def figure_facts(outcomes: Sequence[Outcome]) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    dict
    """
    figures = {
        "table-6": _chosen(outcomes),
        "figure-7": _curves(outcomes, "F1 by number of features a node"),
        "figure-8": _ranks(outcomes),
        "figure-9": _four(outcomes),
        "figure-12": _curves(
            [one for one in outcomes if one.name in _TEXTS], "20 Newsgroups: F1 by features a node"
        ),
        "figure-13": _sweeps(outcomes),
    }
    return {name: facts for name, facts in figures.items() if facts is not None}


def _curves(outcomes: Sequence[Outcome], title: str) -> Facts | None:
    panels = []
    for outcome in outcomes:
        if outcome.parity is not None:
            told = outcome.parity.curves
            curves = {m: {k: scores.f1 for k, scores in told[m].items()} for m in (*FIVE, ALL)}
            panels.append(_panel(f"{outcome.name}, {_WORDS}", outcome.parity.k, curves))
        ours = {m: {a.k: a.f1 for a in curve} for m, curve in outcome.curves.items()}
        ours = {method: ours[method] for method in (*FIVE, ALL) if method in ours}
        panels.append(_panel(outcome.name, outcome.numbers.k, ours))
    return {"title": title, "panels": panels} if panels else None


def _panel(name: str, k: int, curves: dict[str, dict[int, float]]) -> Facts:
    return {
        "dataset": name,
        "k": k,
        "curves": [
            {"method": method, "k": list(curve), "f1": list(curve.values())}
            for method, curve in curves.items()
        ],
    }


def _four(outcomes: Sequence[Outcome]) -> Facts | None:
    panels = []
    for outcome in outcomes:
        if outcome.parity is not None:
            k = outcome.parity.k
            told = {method: outcome.parity.curves[method][k].f1 for method in FOUR}
            panels.append({"dataset": f"{outcome.name}, {_WORDS}", "f1": told})
        answers = {method: outcome.answer(method) for method in FOUR}
        found = {method: one.f1 for method, one in answers.items() if one is not None}
        if found:
            panels.append({"dataset": outcome.name, "f1": found})
    return {"title": "F1 of the four regularisers", "panels": panels} if panels else None


def _ranks(outcomes: Sequence[Outcome]) -> Facts | None:
    seconds = {
        outcome.name: [outcome.select_s[method] for method in FIVE]
        for outcome in outcomes
        if all(method in outcome.select_s for method in FIVE)
    }
    panels = [
        {"words": words, **found}
        for words, found in (
            ("Table 5 as printed", rank_five(PAPER_F1, "HiRRfam-FS", higher_is_better=True)),
            (
                "F1, honest protocol",
                rank_five(honest_scores(outcomes), "HiRRfam-FS", higher_is_better=True),
            ),
            (
                "seconds of choosing (Figure 10)",
                rank_five(seconds, "Hier-FS", higher_is_better=False),
            ),
        )
        if found is not None
    ]
    return {"title": "Mean ranks, and who differs from whom", "panels": panels}


def _sweeps(outcomes: Sequence[Outcome]) -> Facts | None:
    panels = []
    for outcome in outcomes:
        if outcome.parity is not None:
            told = outcome.parity
            curves = {"random start, as published": told.objective, "ridge start": told.from_ridge}
            name = f"{outcome.name}, {_WORDS}"
            panels.append({"dataset": name, "curves": curves, "lowest": told.lowest})
        if outcome.objective is not None:
            curves = {"ridge start": outcome.objective}
            panels.append({"dataset": outcome.name, "curves": curves, "lowest": outcome.lowest})
    return {"title": "Objective of HiRRfam-FS by sweep", "panels": panels} if panels else None


def _chosen(outcomes: Sequence[Outcome]) -> Facts | None:
    for outcome in outcomes:
        if outcome.parity is not None:
            return {
                "title": f"Features that HiRRfam-FS chooses for the nodes of {outcome.name}",
                "n_features": int(outcome.problem.X_train.shape[1]),
                "groups": [list(group) for group in _COLUMN_GROUPS],
                "chosen": outcome.parity.chosen,
            }
    return None
