"""What is to be shown, judged by what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from papers.multipath.methods import BLEND
from papers.multipath.outcome import Outcome
from papers.multipath.published_figures import PUBLISHED, RIVALS
from papers.result import Claim

__all__ = ["judge"]

_TIE = 0.002  # what seeds do to scores
_ROUNDING = 1e-12


def judge(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Say of every data set, and of all of them, how the blend compares with C-HMCNN."""
    return [*_each(outcomes), *_together(outcomes), *_coherent(outcomes)]


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
