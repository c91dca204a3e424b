"""Claims on the paper's own figures, and ours beside them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from papers.result import Claim
from papers.soshf.judging import LITERAL, MEASURES, OTHER_SETS, claim_of
from papers.soshf.outcome import Answer, Outcome
from papers.soshf.published import (
    COLUMNS,
    PAPER_AUC,
    PAPER_AUC_RANKS,
    PAPER_F,
    PAPER_F_RANKS,
    PAPER_SETS,
    column_of,
)
from papers.soshf.ranking import rank_scores
from papers.soshf.tables import paper_score

__all__ = ["judge_characteristics", "judge_print", "judge_printed"]

_ROUNDING = 0.25  # of a mean rank: scores of three digits are often equal


def judge_printed() -> Iterator[Claim]:
    """Judge what the paper says of its own figures."""
    yield from _ranks()
    yield from _counts()
    words = f"Table 2 has {len(COLUMNS)} columns"
    yield claim_of("Text, ten sets as printed", words, "there are ten sets", len(COLUMNS) == 10)


def _ranks() -> Iterator[Claim]:
    """The mean ranks of Table 2, and its marks of significance, follow from its scores."""
    for title, scores, ranks in (
        ("macro-F", PAPER_F, PAPER_F_RANKS),
        ("macro-AUC", PAPER_AUC, PAPER_AUC_RANKS),
    ):
        methods = list(scores)
        table = {name: [scores[m][i] for m in methods] for i, name in enumerate(COLUMNS)}
        found = rank_scores(table, methods, LITERAL)
        if found is None:
            continue
        gap = max(abs(found.mean_ranks[m] - ranks[m].rank) for m in methods)
        words = f"mean ranks made from the printed scores differ from the printed ones by {gap:.2f}"
        statement = "the ranks follow from the scores, but for rounding"
        yield claim_of(
            f"Table 2, {title} as printed", f"{words} at most", statement, gap <= _ROUNDING
        )
        others = [m for m in methods if m != LITERAL]
        off = [
            f"{m} by {test}"
            for m in others
            for test, pvalues, told in (
                ("mean ranks", found.by_ranks, ranks[m].by_ranks),
                ("Wilcoxon's test", found.by_wilcoxon, ranks[m].by_wilcoxon),
            )
            if found.is_worse(m, pvalues) != told
        ]
        words = f"{2 * len(others) - len(off)} of {2 * len(others)} marks of significance come out"
        words += f" (not {', '.join(off)})" if off else ""
        yield claim_of(
            f"Marks of Table 2, {title} as printed", words, "all marks follow from the scores",
            not off,
        )  # fmt: skip


_COUNTS = (  # what the text counts in Table 2: the better one, the other, by F and by AUC
    ("sf-lr-cs", "sf-lr", (7, 7)),
    ("sf-h-cs", "sf-h", (8, 5)),
)


def _counts() -> Iterator[Claim]:
    """The text counts the sets of Table 2 correctly."""
    for (ours, other, counts), place in itertools.product(_COUNTS, (0, 1)):
        _, title, scores = MEASURES[place]
        n_better = sum(a > b for a, b in zip(scores[ours], scores[other], strict=True))
        words = f"{ours} is above {other} in {title} on {n_better} of 11 sets of Table 2"
        statement = f"it is on {counts[place]}, as the text says"
        yield claim_of("Text, counts as printed", words, statement, n_better == counts[place])
    for _, title, scores in MEASURES:
        n_worse = sum(a < b for a, b in zip(scores["sf-lr-cs"], scores["sf"], strict=True))
        words = f"sf-lr-cs is below sf in {title} on {n_worse} of 11 sets of Table 2"
        yield claim_of(
            "Text, counts as printed", words, "it is on about half (4 to 7)", 4 <= n_worse <= 7
        )


# ---------------------------------------------------------------------- Table 1

# our files are not the paper's: of the RCV1 subsets the features differ
_OTHER_COLUMNS = {"rcv1subset1_top944": ("features",), "rcv1subset2_top944": ("features",)}


def judge_characteristics(outcome: Outcome) -> Iterator[Claim]:
    """Judge whether Table 1 comes out exactly, where the files are those of the paper."""
    name = column_of(outcome.name)
    if name not in PAPER_SETS:
        return
    ours, paper = asdict(outcome.facts.table), asdict(PAPER_SETS[name])
    told = [f"{key} {ours[key]} not {paper[key]}" for key in ours if ours[key] != paper[key]]
    words = ", ".join(told) if told else f"all {len(ours)} figures are equal"
    if outcome.name in OTHER_SETS:
        statement = "the file is the paper's"
        yield claim_of(f"Other file of Table 1, {outcome.name}", words, statement, not told)
        return
    judged = [key for key in ours if key not in _OTHER_COLUMNS.get(outcome.name, ())]
    holds = all(ours[key] == paper[key] for key in judged)
    if len(judged) == len(ours):
        statement = "it comes out exactly"
    else:
        statement = "all that does not depend on the features, which are others, comes out exactly"
    yield claim_of(f"Table 1, {outcome.name}", words, statement, holds)


# ---------------------------------------------------------------------- every method against print

_AS_PRINTED = 0.03
_WHY = {
    "sf": "what gives the printed scores: 'Table 2, SF' of soshf-parts",
    "sf-lr": "no setting that we tried gives the printed scores of all sets: 'Table 2, logistic' "
    "of soshf-parts",
    "sf-lr-cs": "as sf-lr",
}


def judge_print(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Judge whether every method does as printed, on most of the paper's sets that we have."""
    for key in PAPER_F:
        told, n_near, n_all = [], 0, 0
        for outcome in outcomes:
            answer = outcome.answers.get(key)
            printed = [paper_score(scores, key, outcome.name) for *_, scores in MEASURES]
            if answer is None or None in printed or outcome.name in OTHER_SETS:
                continue
            ours = [answer.mean(value) for value, *_ in MEASURES]
            gaps = [abs(a - b) for a, b in zip(ours, printed, strict=True) if b is not None]
            n_near, n_all = n_near + (max(gaps) <= _AS_PRINTED), n_all + 1
            pairs = "/".join(_with_error(answer, value) for value, *_ in MEASURES)
            pairs += f" ({len(answer.splits)}; printed {printed[0]:.3f}/{printed[1]:.3f})"
            told.append(f"{outcome.name} {pairs}")
        if told:
            words, holds = f"macro-F/AUC {', '.join(told)}", 2 * n_near > n_all
            words += f" ({_WHY[key]})" if key in _WHY and not holds else ""
            statement = f"it is within {_AS_PRINTED} of print on most sets"
            yield claim_of(f"Against print, {key}", words, statement, holds)


def _with_error(answer: Answer, value: str) -> str:
    """Write a mean over splits with its standard error."""
    deviation, n_splits = answer.deviation(value), len(answer.by_split(value))
    error = "" if deviation is None else f" ± {deviation / n_splits**0.5:.3f}"
    return f"{answer.mean(value):.3f}{error}"
