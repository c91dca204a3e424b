"""Tables 1 and 2 on our data sets beside those of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple

from papers.result import Cell, Table
from papers.soshf.methods import DEFAULT, METHODS, OF_PAPER, short_name
from papers.soshf.outcome import Answer, Outcome
from papers.soshf.published import (
    COLUMNS,
    PAPER_AUC,
    PAPER_AUC_RANKS,
    PAPER_F,
    PAPER_F_RANKS,
    PAPER_SETS,
    PaperRank,
    column_of,
)
from papers.soshf.ranking import Ranking, rank_methods

__all__ = ["all_tables", "paper_score"]

# ---------------------------------------------------------------------- tables


_WORDS = {
    "f_own": "Table 2 at a glance: macro-F, decision rules as in the paper",
    "f_tuned": "Table 2 at a glance: macro-F, thresholds tuned for every method",
    "auc": "Table 2 at a glance: macro-AUC",
    "fit_s": "CPU seconds of fitting, as published",
    "predict_s": "CPU seconds of asking for probabilities",
    "peak_mib": "Memory that fitting needs, MiB",
}
_DIGITS = {"fit_s": 1, "predict_s": 2, "peak_mib": 0}  # three of all others


def all_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Return Table 1, Table 2 at a glance, its ranks, Table 2 by data set, and the costs.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    list of Table
    """
    return [
        _set_table(outcomes),
        _imbalance_table(outcomes),
        *(_overview(outcomes, value) for value in ("f_own", "f_tuned", "auc")),
        *_rank_tables(outcomes),
        *(_score_table(outcome, i == 0) for i, outcome in enumerate(outcomes)),
        *(_overview(outcomes, value) for value in _DIGITS),
    ]


def paper_score(scores: Mapping[str, tuple[float, ...]], method: str, dataset: str) -> float | None:
    """Return a figure of Table 2; None where the paper has none."""
    column = column_of(dataset)
    if method not in scores or column not in COLUMNS:
        return None
    return scores[method][COLUMNS.index(column)]


# ---------------------------------------------------------------------- Table 1


def _set_table(outcomes: Sequence[Outcome]) -> Table:
    columns = (
        "data set",
        *("rows", "features", "labels", "LD", "PDL", "min IR", "max IR", "mean IR"),
    )
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        ours, paper = astuple(outcome.facts.table), PAPER_SETS.get(column_of(outcome.name))
        theirs = ours if paper is None else astuple(paper)
        cells = [_beside(a, b) for a, b in zip(ours, theirs, strict=True)]
        rows.append((outcome.name, *cells))
    return Table("Table 1. The data sets", columns, rows, [_SET_WORDS])


def _beside(ours: float, theirs: float) -> str:
    text, other = (f"{x:,}" if isinstance(x, int) else f"{x:.2f}" for x in (ours, theirs))
    return text if ours == theirs else f"{text} ({other})"


_SET_WORDS = (
    "In brackets the paper's figures where they differ: its RCV1 subsets have more features than "
    "the versions that we have, and its TMC2007 is another one. LD: label density, PDL: proportion "
    "of distinct label sets, IR: the larger side of a label over the smaller one. Labels with "
    "fewer than 20 rows, or an IR above 50, are left out."
)


def _imbalance_table(outcomes: Sequence[Outcome]) -> Table:
    columns = ("data set", "MeanIR", "SCUMBLE")
    rows: list[tuple[Cell, ...]] = [
        (outcome.name, f"{outcome.facts.mean_imbalance:.2f}", outcome.facts.scumble)
        for outcome in outcomes
    ]
    note = "MeanIR: how much rarer labels are than the most frequent one, on average. SCUMBLE: how "
    note += "far rare and frequent ones stand in the same rows."
    return Table("Imbalance between labels, not in the paper", columns, rows, [note])


# ---------------------------------------------------------------------- Table 2 at a glance


def _overview(outcomes: Sequence[Outcome], value: str) -> Table:
    columns = ("method", *(short_name(outcome.name) for outcome in outcomes))
    rows: list[tuple[Cell, ...]] = []
    for key in METHODS:
        found = [outcome.answers.get(key) for outcome in outcomes]
        if any(found):
            rows.append((key, *(_rounded(answer, value) for answer in found)))
    return Table(_WORDS[value], columns, rows, _notes(outcomes) if value == "auc" else [])


def _rounded(answer: Answer | None, value: str) -> str | None:
    """Write a mean; None where there is none."""
    mean = None if answer is None else answer.mean(value)
    return None if mean is None or math.isnan(mean) else f"{mean:.{_DIGITS.get(value, 3)}f}"


def _notes(outcomes: Sequence[Outcome]) -> list[str]:
    """Say how many splits there were, and what failed."""
    numbers = sorted({len(a.splits) for outcome in outcomes for a in outcome.answers.values()})
    words = " or ".join(map(str, numbers)) + (" even split." if numbers == [1] else " even splits.")
    return [f"Means over {words}"] + [
        f"{outcome.name}: {key} failed, {why}"
        for outcome in outcomes
        for key, why in outcome.failures.items()
    ]


# ---------------------------------------------------------------------- ranks


def _rank_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    tables = []
    for title, methods, control, f in (
        ("The methods of the paper, its decision rules", OF_PAPER, "sf-h-cs", "f_own"),
        ("All methods, tuned thresholds", tuple(METHODS), DEFAULT, "f_tuned"),
    ):
        by_f = rank_methods(outcomes, methods, f, control)
        by_auc = rank_methods(outcomes, methods, "auc", control)
        if by_f is not None and by_auc is not None:
            tables.append(_rank_table(title, by_f, by_auc))
    return tables


def _rank_table(title: str, by_f: Ranking, by_auc: Ranking) -> Table:
    columns = ("method", "rank by F", "F, paper", "rank by AUC", "AUC, paper")
    rows: list[tuple[Cell, ...]] = []
    for key in {**by_auc.mean_ranks, **by_f.mean_ranks}:
        paper_f, paper_auc = PAPER_F_RANKS.get(key), PAPER_AUC_RANKS.get(key)
        rows.append(
            (
                key,
                _marked(by_f, key),
                None if paper_f is None else _marked_paper(paper_f, key),
                _marked(by_auc, key),
                None if paper_auc is None else _marked_paper(paper_auc, key),
            )
        )
    sets = f"{by_f.n_datasets} sets"
    if by_auc.n_datasets != by_f.n_datasets:
        sets += f" (by AUC {by_auc.n_datasets})"
    words = (
        f"Mean ranks over {sets} and the splits that all these methods have, "
        f"compared with {by_f.control}: ● by mean ranks, "
        "▲ by Wilcoxon's test it is significantly better (p < .05, Bonferroni's correction), ○ and "
        f"△ it is not. Friedman's test: p = {by_f.friedman_p:.2g} for F, {by_auc.friedman_p:.2g} "
        f"for AUC. Mean ranks differ significantly from {by_f.distance:.2f} on."
    )
    return Table(f"Table 2, ranks. {title}", columns, rows, [words])


def _marked(ranking: Ranking, key: str) -> str | None:
    if key not in ranking.mean_ranks:
        return None
    marks = _marks(
        ranking.is_worse(key, ranking.by_ranks), ranking.is_worse(key, ranking.by_wilcoxon)
    )
    rank = ranking.mean_ranks[key]
    return f"{rank:.1f}" if key == ranking.control else f"{rank:.1f} {marks}"


def _marked_paper(rank: PaperRank, key: str) -> str:
    marks = _marks(rank.by_ranks, rank.by_wilcoxon)
    return f"{rank.rank:.1f}" if key == "sf-h-cs" else f"{rank.rank:.1f} {marks}"


def _marks(by_ranks: bool, by_wilcoxon: bool) -> str:
    return ("●" if by_ranks else "○") + ("▲" if by_wilcoxon else "△")


# ---------------------------------------------------------------------- Table 2 by data set


def _score_table(outcome: Outcome, explain: bool) -> Table:
    columns = ("method", "splits", "F tuned", "F", "F, paper", "AUC", "AUC, paper", "fit s")
    rows: list[tuple[Cell, ...]] = [
        (
            key,
            len(answer.splits),
            _spread(answer, "f_tuned"),
            _spread(answer, "f_own"),
            paper_score(PAPER_F, key, outcome.name),
            _spread(answer, "auc"),
            paper_score(PAPER_AUC, key, outcome.name),
            _rounded(answer, "fit_s"),
        )
        for key, answer in outcome.answers.items()
    ]
    notes = [f"{key} failed, {why}" for key, why in outcome.failures.items()]
    return Table(f"Table 2. {outcome.name}", columns, rows, notes + [_SCORE_WORDS] * explain)


def _spread(answer: Answer, value: str) -> str | None:
    """Write mean and deviation; the number of splits too where some of them have no value."""
    n_splits, deviation = len(answer.by_split(value)), answer.deviation(value)
    if not n_splits:
        return None
    told = f"{answer.mean(value):.3f}"
    if deviation is not None:
        told += f"±{deviation:.3f}".replace("±0.", "±.")
    return told if n_splits == len(answer.splits) else f"{told} ({n_splits})"


_SCORE_WORDS = (
    "Macro-F with thresholds tuned on out-of-bag scores or by cross-validation of three folds (a "
    "quick look: two), and by the decision rule that the paper uses with the method; macro-AUC is "
    "the same for both. Means over the splits with their standard deviations; the number of splits "
    "in brackets where only some were tuned. CPU seconds are those of fitting as published, "
    "without our tuning (a quick look: with it). "
    + "; ".join(f"{method.key}: {method.words}" for method in METHODS.values())
    + "."
)
