"""What the paper says, what an earlier rebuilding found, and what our default promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from papers.result import Claim
from papers.soshf.methods import DEFAULT, METHODS
from papers.soshf.outcome import Outcome
from papers.soshf.published_figures import (
    COLUMNS,
    EARLIER,
    PAPER_AUC,
    PAPER_AUC_RANKS,
    PAPER_F,
    PAPER_F_RANKS,
    PAPER_SETS,
)
from papers.soshf.ranks import rank_methods, rank_scores

__all__ = ["judge"]

_NEAR = 0.015
_RIVAL = "extra-trees"
_LITERAL = "sf-h-cs"
_AUC_WINS, _F_WINS, _OF = 6, 5, 7  # of the sets of the earlier rebuilding
_TIMES = 2.0  # of the rival's CPU seconds
# our files are not the paper's: of TMC2007 all is different, of the RCV1 subsets the features are
_OTHER_SETS = ("tmc2007_500",)
_OTHER_COLUMNS = {"rcv1subset1_top944": ("features",), "rcv1subset2_top944": ("features",)}
_ROUNDING = 0.25  # of a mean rank: scores of three digits are often equal


def judge(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Judge the statements.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    list of Claim
        Those about methods and sets that are not there are left out.
    """
    claims = [*_printed_ranks()]
    for outcome in outcomes:
        claims += _characteristics(outcome)
        claims += _literal(outcome)
        claims += _seconds(outcome)
    return [*claims, *_beats_rival(outcomes), *_first(outcomes), *_order(outcomes)]


def _claim(where: str, words: str, statement: str, holds: bool) -> Claim:
    verdict = statement if holds else f"it does not hold that {statement}"
    return Claim(where, f"{where}: {words}; {verdict}.", holds)


# ---------------------------------------------------------------------- the paper itself


def _printed_ranks() -> Iterator[Claim]:
    """The mean ranks of Table 2 follow from its scores."""
    for title, scores, ranks in (
        ("macro-F", PAPER_F, PAPER_F_RANKS),
        ("macro-AUC", PAPER_AUC, PAPER_AUC_RANKS),
    ):
        methods = list(scores)
        table = {name: [scores[m][i] for m in methods] for i, name in enumerate(COLUMNS)}
        found = rank_scores(table, methods, _LITERAL)
        if found is None:
            continue
        gap = max(abs(found.mean_ranks[m] - ranks[m].rank) for m in methods)
        same = sum(
            found.is_worse(m, pvalues) == told
            for m in methods
            for pvalues, told in (
                (found.by_ranks, ranks[m].by_ranks),
                (found.by_wilcoxon, ranks[m].by_wilcoxon),
            )
            if m != _LITERAL
        )
        words = (
            f"mean ranks made from the printed scores differ from the printed ones by {gap:.2f} at "
            f"most, and {same} of {2 * (len(methods) - 1)} marks of significance come out"
        )
        statement = "the ranks follow from the scores, but for rounding"
        yield _claim(f"Table 2, {title} as printed", words, statement, gap <= _ROUNDING)


def _characteristics(outcome: Outcome) -> Iterator[Claim]:
    """Table 1 comes out exactly, where the files are those of the paper."""
    if outcome.name not in PAPER_SETS or outcome.name in _OTHER_SETS:
        return
    ours, paper = asdict(outcome.facts.table), asdict(PAPER_SETS[outcome.name])
    judged = [key for key in ours if key not in _OTHER_COLUMNS.get(outcome.name, ())]
    told = [f"{key} {ours[key]} not {paper[key]}" for key in ours if ours[key] != paper[key]]
    words = ", ".join(told) if told else f"all {len(ours)} figures are equal"
    holds = all(ours[key] == paper[key] for key in judged)
    if len(judged) == len(ours):
        statement = "it comes out exactly"
    else:
        statement = "all that does not depend on the features, which are others, comes out exactly"
    yield _claim(f"Table 1, {outcome.name}", words, statement, holds)


# ---------------------------------------------------------------------- the literal method


def _literal(outcome: Outcome) -> Iterator[Claim]:
    """SF-H-CS as published gives what it gave before, and what the paper prints."""
    answer = outcome.answers.get(_LITERAL)
    if answer is None or outcome.name not in EARLIER:
        return
    ours = (answer.mean("f_own"), answer.mean("auc"))
    earlier = EARLIER[outcome.name]
    place = COLUMNS.index(outcome.name)
    paper = (PAPER_F[_LITERAL][place], PAPER_AUC[_LITERAL][place])
    gap = max(abs(a - b) for a, b in zip(ours, earlier, strict=True))
    words = (
        f"{_LITERAL} has macro-F {ours[0]:.3f} and macro-AUC {ours[1]:.3f} (splits: "
        f"{outcome.n_splits}); an earlier rebuilding had {earlier[0]:.3f} and {earlier[1]:.3f}, "
        f"the paper {paper[0]:.3f} and {paper[1]:.3f}"
    )
    statement = f"it is within {_NEAR} of the earlier one"
    yield _claim(f"Table 2, {outcome.name}", words, statement, gap <= _NEAR)


# ---------------------------------------------------------------------- our default


def _seconds(outcome: Outcome) -> Iterator[Claim]:
    """The default takes at most twice the CPU time of as many extra trees."""
    ours, rival = outcome.answers.get(DEFAULT), outcome.answers.get(_RIVAL)
    if ours is None or rival is None:
        return
    ratio = ours.mean("fit_s") / max(rival.mean("fit_s"), 1e-9)
    words = (
        f"fitting takes {ours.mean('fit_s'):.1f} CPU seconds, {rival.mean('fit_s'):.1f} by "
        f"{_RIVAL}: {ratio:.2f} times as many"
    )
    statement = f"our default takes {_TIMES:.0f} times at most"
    yield _claim(f"Seconds, {outcome.name}", words, statement, ratio <= _TIMES)


def _beats_rival(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """The default is at or above multi-output extra trees on most sets."""
    both = [o for o in outcomes if {DEFAULT, _RIVAL} <= o.answers.keys() and o.name in EARLIER]
    if not both:
        return
    for value, title, needed in (
        ("auc", "macro-AUC", _AUC_WINS),
        ("f_tuned", "macro-F", _F_WINS),
    ):
        gains = {
            o.name: o.answers[DEFAULT].mean(value) - o.answers[_RIVAL].mean(value) for o in both
        }
        n_wins = sum(gain >= 0 for gain in gains.values())
        told = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items())
        words = f"ours less {_RIVAL}: {told}"
        share = max(1, round(len(both) * needed / _OF))
        statement = f"it is at or above on {share} of {len(both)} sets"
        yield _claim(f"Our default, {title}", words, statement, n_wins >= share)


def _first(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """The default is first by mean rank."""
    for value, title in (("auc", "macro-AUC"), ("f_tuned", "macro-F, thresholds tuned")):
        found = rank_methods(outcomes, tuple(METHODS), lambda a, v=value: a.mean(v), DEFAULT)
        if found is None:
            continue
        best = list(found.mean_ranks.items())[:3]
        words = "mean ranks " + ", ".join(f"{key} {rank:.2f}" for key, rank in best)
        statement = f"no other of {len(found.mean_ranks)} is before ours on {found.n_datasets} sets"
        holds = found.mean_ranks[DEFAULT] == best[0][1]
        yield _claim(f"Our default, {title}", words, statement, holds)


def _order(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Of the paper's methods the Hellinger forests rank first, as in the paper."""
    for value, title in (("f_own", "macro-F"), ("auc", "macro-AUC")):
        found = rank_methods(outcomes, tuple(PAPER_F), lambda a, v=value: a.mean(v), _LITERAL)
        if found is None:
            continue
        order = list(found.mean_ranks)
        words = "best mean ranks " + ", ".join(f"{k} {found.mean_ranks[k]:.2f}" for k in order[:4])
        statement = f"{_LITERAL} is first of the paper's methods, with its decision rules"
        yield _claim(f"Table 2, {title}", words, statement, order[0] == _LITERAL)
