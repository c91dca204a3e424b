"""The tables: the data sets, the scores beside the published ones, what they cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.multipath.methods import BLEND, EQUAL, MEMBERS
from papers.multipath.outcome import Outcome
from papers.multipath.published_figures import PUBLISHED, RIVALS
from papers.multipath.work import N_DRAWS
from papers.result import Table

__all__ = ["all_tables"]


def all_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Return all tables of some outcomes."""
    return [_sets(outcomes), _scores(outcomes), _cost(outcomes)]


def _sets(outcomes: Sequence[Outcome]) -> Table:
    rows = [
        (o.name, o.n_train, o.n_test, o.n_features, o.n_nodes, ", ".join(o.left_out) or None)
        for o in outcomes
    ]
    columns = ("set", "rows learnt from", "test rows", "features", "nodes", "left out")
    note = (
        "The root never counts; nodes left out besides are named. Nodes without a test row count. "
        "Validation rows are learnt from, too."
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
    rows = [
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
