"""The figure: the blend's scores, with intervals, beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from papers.multipath.methods import BLEND
from papers.multipath.outcome import Outcome
from papers.multipath.published_figures import PUBLISHED, RIVALS
from papers.pictures import COLOURS, INK, clean, new_figure, png_of

__all__ = ["draw_figures", "figure_facts"]


def figure_facts(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    """Facts of the figure: plain values by data set."""
    facts = {
        o.name: {
            "prior": o.prior,
            "published": PUBLISHED[o.name][2] if o.name in PUBLISHED else None,
            **o.scores[BLEND],
        }
        for o in outcomes
        if BLEND in o.scores
    }
    return {"margins": facts}


def draw_figures(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
    """Draw how far the blend is above C-HMCNN on every data set: PNG files by name."""
    facts = {
        name: fact for name, fact in figures["margins"].items() if fact["published"] is not None
    }
    figure = new_figure(7.0, 1.2 + 0.32 * len(facts), f"The blend less {RIVALS[2]}: micro AU(PRC)")
    axes = figure.add_subplot()
    for place, fact in enumerate(facts.values()):
        margin = fact["auprc"] - fact["published"]
        colour = COLOURS[0] if margin > 0 else COLOURS[1]
        ends = [fact["low"] - fact["published"], fact["high"] - fact["published"]]
        axes.plot(ends, [place, place], color=colour, linewidth=1.2)
        axes.plot([margin], [place], "o", color=colour, markersize=5)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(facts)), list(facts))
    axes.invert_yaxis()
    axes.set_xlabel("difference, with 95% of the draws of test rows", fontsize=8, color=INK)
    clean(axes)
    return {"margins.png": png_of(figure)}
