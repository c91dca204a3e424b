"""Claims of the paper on its methods, judged by our scores."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from papers.result import Claim
from papers.soshf.ablation import judge_ablation
from papers.soshf.judging import LITERAL, MEASURES, claim_of, find_gains, list_gains
from papers.soshf.methods import DEFAULT, METHODS
from papers.soshf.outcome import Outcome
from papers.soshf.printed import judge_characteristics, judge_print, judge_printed
from papers.soshf.published import COLUMNS, PAPER_F
from papers.soshf.ranking import rank_methods
from papers.soshf.seconds import RIVAL, judge_default_seconds, judge_seconds

__all__ = ["judge"]


def judge(outcomes: Sequence[Outcome], *, same_sizes: bool = True) -> list[Claim]:
    """Judge the statements.

    Parameters
    ----------
    outcomes : sequence of Outcome
    same_sizes : bool
        Whether ensembles have the sizes of the paper, so that their times can be compared.

    Returns
    -------
    list of Claim
        Those about methods and sets that are not there are left out.
    """
    claims = [*judge_printed()]
    for outcome in outcomes:
        claims += [*judge_characteristics(outcome), *judge_default_seconds(outcome)]
    claims += judge_seconds(outcomes) if same_sizes else []
    claims += [*judge_print(outcomes), *judge_ablation(outcomes)]
    claims += [*_competitive(outcomes), *_significant(outcomes)]
    return [*claims, *_beats_rival(outcomes), *_first(outcomes), *_order(outcomes)]


_COMPETITIVE = 0.02


def _competitive(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """SF-H-CS is competitive with as many trees per label and with COCOA."""
    for other, (value, title, _) in itertools.product(("rf-cost", "cocoa"), MEASURES):
        gains = find_gains(outcomes, LITERAL, other, value)
        if gains:
            near = sum(gain.mean >= -_COMPETITIVE for gain in gains.values())
            words = f"{LITERAL} less {other} in {title}: {list_gains(gains)}"
            statement = f"it is at most {_COMPETITIVE} below on most sets"
            yield claim_of("Text, competitive", words, statement, 2 * near > len(gains))


_ENOUGH_SETS = 5  # for tests over data sets
_NOT_BEATEN = ("cocoa", "rf-cost", "rf-adasyn", "rf-down", "sf-h", LITERAL)


def _significant(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """SF-H-CS is significantly better than all but COCOA and forests, by both tests."""
    for value, title, _ in MEASURES:
        found = rank_methods(outcomes, tuple(PAPER_F), value, LITERAL)
        if found is None or found.n_datasets < _ENOUGH_SETS:
            continue
        others = [key for key in found.mean_ranks if key not in _NOT_BEATEN]
        for test, pvalues in (("mean ranks", found.by_ranks), ("Wilcoxon", found.by_wilcoxon)):
            beaten = [key for key in others if found.is_worse(key, pvalues)]
            words = f"by {test} over {found.n_datasets} sets it is significantly better in {title} "
            words += f"than {len(beaten)} of {len(others)} ({', '.join(beaten) or 'none'})"
            if test == "mean ranks":
                words += f"; ranks must differ by {found.distance:.1f} (with the paper's "
                words += f"{len(COLUMNS)} sets by less)"
            statement = "it is better than all but COCOA and forests per label"
            so = len(beaten), len(others)
            claim = claim_of(f"Text, significance by {test}", words, statement, so[0] == so[1])
            yield replace(claim, so=so)


# ---------------------------------------------------------------------- our default

# sets on which the default was compared with the rival first, and how often it is to be above
_FIRST_SETS = ("emotions", "cal500", "medical", "yeast", "scene", "enron", "corel5k")
_AUC_WINS, _F_WINS = 6, 5


def _beats_rival(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """The default is at or above multi-output extra trees on most sets."""
    both = [o for o in outcomes if {DEFAULT, RIVAL} <= o.answers.keys() and o.name in _FIRST_SETS]
    if not both:
        return
    for value, title, needed in (
        ("auc", "macro-AUC", _AUC_WINS),
        ("f_tuned", "macro-F", _F_WINS),
    ):
        gains = {
            o.name: o.answers[DEFAULT].mean(value) - o.answers[RIVAL].mean(value) for o in both
        }
        n_wins = sum(gain >= 0 for gain in gains.values())
        told = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items())
        words = f"ours less {RIVAL}: {told}"
        share = max(1, round(len(both) * needed / len(_FIRST_SETS)))
        statement = f"it is at or above on at least {share} of {len(both)} sets"
        yield claim_of(f"Our default, {title}", words, statement, n_wins >= share)


def _first(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """The default is first by mean rank."""
    for value, title in (("auc", "macro-AUC"), ("f_tuned", "macro-F, thresholds tuned")):
        found = rank_methods(outcomes, tuple(METHODS), value, DEFAULT)
        if found is None:
            continue
        best = list(found.mean_ranks.items())[:3]
        words = "mean ranks " + ", ".join(f"{key} {rank:.2f}" for key, rank in best)
        statement = f"no other of {len(found.mean_ranks)} is before ours on {found.n_datasets} sets"
        holds = found.mean_ranks[DEFAULT] == best[0][1]
        yield claim_of(f"Our default, {title}", words, statement, holds)


def _order(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Of the paper's methods the Hellinger forests rank first, as in the paper."""
    for value, title in (("f_own", "macro-F"), ("auc", "macro-AUC")):
        found = rank_methods(outcomes, tuple(PAPER_F), value, LITERAL)
        if found is None:
            continue
        order = list(found.mean_ranks)
        words = "best mean ranks " + ", ".join(f"{k} {found.mean_ranks[k]:.2f}" for k in order[:4])
        words += f" of {len(order)} methods on {found.n_datasets} sets"
        missing = [key for key in PAPER_F if key not in order]
        words += f" (without {', '.join(missing)})" if missing else ""
        is_first = [order[0] == LITERAL]
        full = [o for o in outcomes if all(k in o.answers for k in PAPER_F)] if missing else []
        whole = rank_methods(full, tuple(PAPER_F), value, LITERAL)
        if whole is not None:  # nothing is first of all methods where the best ones are missing
            ranks = ", ".join(f"{k} {rank:.2f}" for k, rank in list(whole.mean_ranks.items())[:4])
            words += f"; of all {len(whole.mean_ranks)} on {whole.n_datasets} sets {ranks}"
            is_first.append(next(iter(whole.mean_ranks)) == LITERAL)
        statement = f"{LITERAL} is first of the paper's methods, with its decision rules"
        so = sum(is_first), len(is_first)
        yield replace(claim_of(f"Table 2, {title}", words, statement, all(is_first)), so=so)
