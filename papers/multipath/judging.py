"""How the blend compares with C-HMCNN, and whether H-Ada.MH extends to several paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from papers.multipath.methods import BLEND, BOOSTING, DATASETS, H_ADA, PER_NODE, PUBLISHED, RIVALS
from papers.multipath.outcome import Outcome
from papers.multipath.ranks import mean_ranks
from papers.result import Claim

__all__ = ["judge"]

_ROUNDING = 1e-12
_RIVAL = RIVALS[2]


def judge(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Say of every data set, and of all of them, how the blend compares with C-HMCNN.

    H-Ada.MH, whose paper leaves several paths, DAGs, documents and bioinformatics to future work,
    is compared with what knows the labels only, and with the other methods.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    list of Claim
    """
    return [
        *_each(outcomes),
        *_together(outcomes),
        *_coherent(outcomes),
        *_above_the_prior(outcomes),
        *_competitive(outcomes),
        *_competitive_together(outcomes),
    ]


def _sides(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Say on which side of C-HMCNN the blend is, by data set: level if its interval has both."""
    sides = {}
    for o in outcomes:
        if BLEND in o.scores and o.name in PUBLISHED:
            ours, theirs = o.scores[BLEND], PUBLISHED[o.name][2]
            above, below = ours["low"] > theirs, ours["high"] < theirs
            sides[o.name] = "above" if above else "below" if below else "level with"
    return sides


def _each(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    sides = _sides(outcomes)
    for o in outcomes:
        if o.name in sides:
            words = (
                f"{o.name}: the blend's {_score(o, BLEND)} is {sides[o.name]} {_RIVAL}'s "
                f"{PUBLISHED[o.name][2]:.3f}."
            )
            yield Claim(f"{_RIVAL}, {o.name}", words, sides[o.name] == "above")


def _together(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    sides = _sides(outcomes)
    if not sides:
        return
    margins = {
        o.name: o.scores[BLEND]["auprc"] - PUBLISHED[o.name][2] for o in outcomes if o.name in sides
    }
    n_sets, worst = len(sides), min(margins, key=lambda name: margins[name])
    count = {side: list(sides.values()).count(side) for side in ("above", "level with", "below")}
    told = ", ".join(f"{side} {_RIVAL} on {number}" for side, number in count.items())
    words = (
        f"All sets: of {n_sets} sets ({len(DATASETS)} are published) the blend is {told}; its "
        f"score is larger on {sum(margin > 0 for margin in margins.values())}, and at worst "
        f"{margins[worst]:+.4f} ({worst})."
    )
    yield Claim("All sets", words, count["above"] > n_sets / 2 and not count["below"])


def _coherent(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    steps = {
        (o.name, name): found["incoherence"] for o in outcomes for name, found in o.scores.items()
    }
    if steps:
        worst = max(steps, key=lambda key: steps[key])
        told = "0" if steps[worst] == 0 else f"{steps[worst]:.1e} ({worst[1]} on {worst[0]})"
        n_sets = len(outcomes)
        words = f"Coherence: the most by which a node exceeds a parent on {n_sets} sets is {told}."
        yield Claim("Coherence", words, steps[worst] <= _ROUNDING)


def _above_the_prior(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    for o in outcomes:
        if H_ADA in o.scores:
            holds = o.scores[H_ADA]["low"] > o.prior
            words = (
                f"{o.name}{' (DAG)' if o.is_dag else ''}: H-Ada.MH's {_score(o, H_ADA)} is "
                f"{'above' if holds else 'not above'} the prior's {o.prior:.3f}."
            )
            yield Claim(f"H-Ada.MH, prior, {o.name}", words, holds)


def _competitive(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Compare with a logistic regression per node, the plainest of the methods, and with boosting.

    H-Ada.MH is competitive where its interval reaches the better of both.
    """
    for o in outcomes:
        others = {
            name: o.scores[name]["auprc"] for name in (PER_NODE, BOOSTING) if name in o.scores
        }
        if H_ADA not in o.scores or not others:
            continue
        holds = o.scores[H_ADA]["high"] >= max(others.values())
        told = ", ".join(f"{name} {score:.3f}" for name, score in others.items())
        words = (
            f"{o.name}{' (DAG)' if o.is_dag else ''}: H-Ada.MH {_score(o, H_ADA)}, {told}: "
            f"{'competitive' if holds else 'not competitive'}."
        )
        yield Claim(f"H-Ada.MH, competitive, {o.name}", words, holds)


def _competitive_together(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    n_sets, ranks = mean_ranks(outcomes)
    if H_ADA not in ranks:
        return
    middle = (len(ranks) + 1) / 2
    words = (
        f"H-Ada.MH has the mean rank {ranks[H_ADA]:.2f} of {len(ranks)} methods over {n_sets} sets "
        f"(the middle is {middle:g})."
    )
    yield Claim("H-Ada.MH, competitive, ranks", words, ranks[H_ADA] <= middle)


def _score(outcome: Outcome, name: str) -> str:
    found = outcome.scores[name]
    return f"{found['auprc']:.3f} ({found['low']:.3f} to {found['high']:.3f})"
