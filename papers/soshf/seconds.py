"""Claims on CPU seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from papers.result import Claim
from papers.soshf.judging import LITERAL, MEASURES, claim_of
from papers.soshf.methods import DEFAULT, METHODS, Options
from papers.soshf.outcome import Outcome
from papers.soshf.published import PAPER_F
from papers.soshf.ranking import ALPHA, rank_methods

__all__ = ["RIVAL", "judge_default_seconds", "judge_seconds"]

RIVAL = "extra-trees"
_TIMES = 2.0  # of the rival's CPU seconds
_SMALL_SET, _LARGE_SET, _MANY_LABELS = 1000, 5000, 40  # rows, rows, labels


def judge_seconds(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Judge what the paper says of seconds; ensembles must have its sizes."""
    for outcome in outcomes:
        yield from _beside_cocoa(outcome)
        yield from _slow_on_small(outcome)
    yield from _traded(outcomes)


def _beside_cocoa(outcome: Outcome) -> Iterator[Claim]:
    """On large sets, and with many labels, SF-H-CS can be faster than COCOA."""
    ours, other = outcome.answers.get(LITERAL), outcome.answers.get("cocoa")
    table = outcome.facts.table
    is_large = table.instances >= _LARGE_SET or table.labels >= _MANY_LABELS
    if ours is None or other is None or not is_large:
        return
    words = f"{table.instances:,} rows and {table.labels} labels: fitting takes "
    n_models = METHODS["cocoa"].make(Options(outcome.name)).n_models  # as published
    words += f"{ours.mean('fit_s'):.1f} CPU seconds, {other.mean('fit_s'):.1f} by COCOA with "
    words += f"{n_models} models per ensemble"
    holds = other.mean("fit_s") > ours.mean("fit_s")
    yield claim_of(f"Speed, {outcome.name}", words, f"{LITERAL} is faster than COCOA", holds)


def _slow_on_small(outcome: Outcome) -> Iterator[Claim]:
    """On small sets SF-H-CS is slower than the other methods."""
    ours, n_rows = outcome.answers.get(LITERAL), outcome.facts.table.instances
    others = {
        key: answer.mean("fit_s")
        for key, answer in outcome.answers.items()
        if key in PAPER_F and not key.startswith("sf")
    }
    if ours is None or not others or n_rows > _SMALL_SET:
        return
    quicker = [key for key, seconds in others.items() if seconds < ours.mean("fit_s")]
    words = f"fitting takes {ours.mean('fit_s'):.1f} CPU seconds; {len(quicker)} of {len(others)} "
    words += "other methods take fewer, each as published"
    statement = "it is slower than most others"
    holds = 2 * len(quicker) > len(others)
    yield claim_of(f"Small sets, {outcome.name}", words, statement, holds)


def _traded(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Methods with better mean ranks take more seconds."""
    from scipy.stats import spearmanr

    by_cost = rank_methods(outcomes, tuple(PAPER_F), "fit_s", LITERAL)
    for value, title, _ in MEASURES:
        by_score = rank_methods(outcomes, tuple(PAPER_F), value, LITERAL)
        if by_cost is None or by_score is None:
            continue
        methods = [key for key in by_score.mean_ranks if key in by_cost.mean_ranks]
        pairs = [(by_score.mean_ranks[key], by_cost.mean_ranks[key]) for key in methods]
        found = spearmanr(*zip(*pairs, strict=True))
        words = f"mean ranks of {len(methods)} methods by {title} and by CPU seconds of fitting on "
        words += f"{by_score.n_datasets} sets: Spearman's rho {found.statistic:+.2f} "
        words += f"(p = {found.pvalue:.2g})"
        statement = "better methods take significantly more time"
        holds = bool(found.statistic > 0 and found.pvalue < ALPHA)
        yield claim_of("Text, cost of performance", words, statement, holds)


def judge_default_seconds(outcome: Outcome) -> Iterator[Claim]:
    """Judge whether our default takes at most twice the CPU time of as many extra trees."""
    ours, rival = outcome.answers.get(DEFAULT), outcome.answers.get(RIVAL)
    if ours is None or rival is None:
        return
    ratio = ours.mean("fit_s") / max(rival.mean("fit_s"), 1e-9)
    words = (
        f"fitting takes {ours.mean('fit_s'):.1f} CPU seconds, {rival.mean('fit_s'):.1f} by "
        f"{RIVAL}: {ratio:.2f} times as many"
    )
    statement = f"our default takes {_TIMES:.0f} times at most"
    yield claim_of(f"Our default, seconds, {outcome.name}", words, statement, ratio <= _TIMES)
