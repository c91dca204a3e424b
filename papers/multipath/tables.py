"""The tables, claims and the figure: our scores beside the published ones, and their cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from papers.drawing import COLOURS, DARK, clean, new_figure, png_of
from papers.multipath.methods import BLEND, BOOSTING, EQUAL, H_ADA, MEMBERS, PUBLISHED, RIVALS
from papers.multipath.outcome import N_DRAWS, Outcome
from papers.result import Cell, Claim, Table

__all__ = ["all_tables", "draw_figures", "figure_facts", "judge"]

# ---------------------------------------------------------------------- tables


def all_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Return all tables of some outcomes."""
    return [_sets(outcomes), _scores(outcomes), _cost(outcomes)]


def _sets(outcomes: Sequence[Outcome]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (o.name, o.n_train, o.n_test, o.n_features, o.n_nodes, ", ".join(o.left_out) or None)
        for o in outcomes
    ]
    columns = ("set", "rows learned from", "test rows", "features", "nodes", "left out")
    note = (
        "The root never counts; nodes left out besides are named. Nodes without a test row count. "
        "Validation rows are learned from, too."
    )
    return Table("Data sets", columns, rows, [note])


def _methods(outcomes: Sequence[Outcome]) -> list[str]:
    first = [*MEMBERS, EQUAL, BLEND]
    others = [name for o in outcomes for name in o.scores if name not in first]
    found = {name for o in outcomes for name in o.scores}
    return [name for name in dict.fromkeys([*first, *others]) if name in found]


def _scores(outcomes: Sequence[Outcome]) -> Table:
    names = _methods(outcomes)
    rows = []
    for o in outcomes:
        published = PUBLISHED.get(o.name, (None, None, None))
        ours = [o.scores[name]["auprc"] if name in o.scores else None for name in names]
        rows.append((o.name, o.prior, *published, *ours, _interval(o)))
    title = "Micro AU(PRC) on the test rows"
    columns = ("set", "prior", *RIVALS, *names, f"95% of {BLEND}")
    notes = [
        f"Intervals: {N_DRAWS} draws of the test rows with replacement. CLUS-ENS, HMCN-F and "
        "C-HMCNN are as published.",
        *_ranks(outcomes, names),
    ]
    return Table(title, columns, rows, notes)


def _interval(outcome: Outcome) -> str | None:
    found = outcome.scores.get(BLEND)
    return None if found is None else f"{found['low']:.3f} to {found['high']:.3f}"


def _ranks(outcomes: Sequence[Outcome], names: list[str]) -> list[str]:
    """Mean ranks over the data sets where all methods have a score."""
    table = [
        [PUBLISHED[o.name][2], *(o.scores[name]["auprc"] for name in names)]
        for o in outcomes
        if o.name in PUBLISHED and all(name in o.scores for name in names)
    ]
    if len(table) < 2:
        return []
    from scipy.stats import rankdata

    ranks = rankdata(-np.asarray(table), axis=1).mean(axis=0)
    words = [f"{name} {rank:.2f}" for name, rank in zip([RIVALS[2], *names], ranks, strict=True)]
    return [f"Mean ranks over {len(table)} sets: {', '.join(words)}."]


def _cost(outcomes: Sequence[Outcome]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            o.name,
            name,
            f"{cost['fit_s']:.1f}",
            f"{cost['predict_s']:.1f}",
            round(cost["peak_mib"]),
            ", ".join(f"{w:.2f}" for w in cost["weights"]) or None,
        )
        for o in outcomes
        for name, cost in o.cost.items()
    ]
    columns = ("set", "method", "fit, CPU s", "predict, CPU s", "peak MiB", "weights")
    note = f"Weights of the blend: {', '.join(MEMBERS)}. It fits its members twice."
    return Table("What it costs", columns, rows, [note])


# ---------------------------------------------------------------------- claims


_TIE = 0.002  # what seeds do to scores
_ROUNDING = 1e-12


def judge(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Say of every data set, and of all of them, how the blend compares with C-HMCNN.

    H-Ada.MH, whose paper leaves several paths, documents and bioinformatics to future work, is
    compared with what knows the labels only.
    """
    return [*_each(outcomes), *_together(outcomes), *_coherent(outcomes), *_extended(outcomes)]


def _margins(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """By how much the blend is above C-HMCNN."""
    return {
        o.name: o.scores[BLEND]["auprc"] - PUBLISHED[o.name][2]
        for o in outcomes
        if BLEND in o.scores and o.name in PUBLISHED
    }


def _each(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    margins = _margins(outcomes)
    for o in outcomes:
        if o.name not in margins:
            continue
        ours, theirs = o.scores[BLEND], PUBLISHED[o.name][2]
        holds = margins[o.name] >= -_TIE
        verdict = "above" if margins[o.name] > _TIE else "level with" if holds else "below"
        words = (
            f"{o.name}: the blend's {ours['auprc']:.3f} ({ours['low']:.3f} to {ours['high']:.3f}) "
            f"is {verdict} {RIVALS[2]}'s {theirs:.3f}."
        )
        yield Claim(o.name, words, holds)


def _together(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    margins = _margins(outcomes)
    if not margins:
        return
    above = sum(margin > 0 for margin in margins.values())
    worst = min(margins, key=lambda name: margins[name])
    words = (
        f"all sets: the blend is above {RIVALS[2]} on {above} of {len(margins)}; at worst it is "
        f"{margins[worst]:+.4f} ({worst})."
    )
    enough = above >= round(10 / 14 * len(margins))
    yield Claim("all sets", words, enough and margins[worst] >= -_TIE)


def _coherent(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    steps = {
        (o.name, name): found["incoherence"] for o in outcomes for name, found in o.scores.items()
    }
    if steps:
        worst = max(steps, key=lambda key: steps[key])
        words = (
            "all sets: the most by which a node exceeds a parent is "
            f"{steps[worst]:.1e} ({worst[1]} on {worst[0]})."
        )
        yield Claim("all sets", words, steps[worst] <= _ROUNDING)


def _extended(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    for o in outcomes:
        if H_ADA not in o.scores:
            continue
        ours = o.scores[H_ADA]
        holds = ours["low"] > o.prior
        other = o.scores.get(BOOSTING)
        beside = "" if other is None else f"; {BOOSTING} has {other['auprc']:.3f}"
        words = (
            f"{o.name}: H-Ada.MH's {ours['auprc']:.3f} ({ours['low']:.3f} to {ours['high']:.3f}) "
            f"is {'above' if holds else 'not above'} the prior's {o.prior:.3f}{beside}."
        )
        yield Claim(o.name, words, holds)


# ---------------------------------------------------------------------- figure


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
    axes.axvline(0.0, color=DARK, linewidth=0.8)
    axes.set_yticks(range(len(facts)), list(facts))
    axes.invert_yaxis()
    axes.set_xlabel("difference, with 95% of the draws of test rows", fontsize=8, color=DARK)
    clean(axes)
    return {"margins.png": png_of(figure)}
