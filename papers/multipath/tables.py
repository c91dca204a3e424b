"""The tables and the figure: our scores beside the published ones, and their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from papers.drawing import COLOURS, DARK, clean, new_figure, png_of
from papers.multipath.methods import BLEND, MEMBERS, PUBLISHED, RIVALS
from papers.multipath.outcome import N_DRAWS, Outcome
from papers.multipath.ranks import mean_ranks, method_names
from papers.result import Cell, Table

__all__ = ["all_tables", "draw_figures", "figure_facts"]

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


def _scores(outcomes: Sequence[Outcome]) -> Table:
    names = method_names(outcomes)
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
        *_ranks(outcomes),
    ]
    return Table(title, columns, rows, notes)


def _interval(outcome: Outcome) -> str | None:
    found = outcome.scores.get(BLEND)
    return None if found is None else f"{found['low']:.3f} to {found['high']:.3f}"


def _ranks(outcomes: Sequence[Outcome]) -> list[str]:
    """Mean ranks over the data sets where all methods have a score."""
    n_sets, ranks = mean_ranks(outcomes)
    words = ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items())
    return [f"Mean ranks over {n_sets} of {len(PUBLISHED)} sets: {words}."] if ranks else []


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
