"""Claims on structured forests beside each other: what their parts gain."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from papers.result import Claim
from papers.soshf.judging import MEASURES, OTHER_SETS, claim_of, find_gains, list_gains
from papers.soshf.outcome import Gain, Outcome

__all__ = ["judge_ablation"]

_ABLATION = (
    ("Ablation, Hellinger splits", "sf-h", "sf-lr"),
    ("Ablation, Hellinger splits against logistic ones and rarity", "sf-h", "sf-lr-cs"),
    ("Ablation, Hellinger splits against single features", "sf-h", "sf"),
    ("Ablation, clusters by rarity, Hellinger", "sf-h-cs", "sf-h"),
    ("Ablation, clusters by rarity, logistic", "sf-lr-cs", "sf-lr"),
    ("Text, oblique splits", "sf-lr", "sf"),
    ("Text, oblique splits", "sf-h", "sf"),
)
_NOTABLY = ("medical", "yeast", "mediamill")  # and TMC2007, of which our file is another one
_NOTABLE = 0.02
_ENOUGH_SETS = 3  # for an interval over sets
_HALF = 0.15  # "about half" is at most so far from it


def judge_ablation(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Judge what the text says of the five structured forests."""
    yield from _parts(outcomes)
    yield from _single_to_oblique(outcomes)
    yield from _below_base(outcomes)
    yield from _harm(outcomes)
    yield from _less_useful(outcomes)


def _parts(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Each part of the method gains, on most sets."""
    for (where, ours, other), (value, title, _) in itertools.product(_ABLATION, MEASURES):
        gains = find_gains(outcomes, ours, other, value)
        if not gains:
            continue
        n_gains = sum(gain.mean > 0 for gain in gains.values())
        n_clear = sum(gain.mean > gain.margin for gain in gains.values())
        found = f"{ours} less {other} in {title}: {list_gains(gains)}"
        found += f"; above on {n_gains} of {len(gains)}, significantly (t, 95%) on {n_clear}"
        statement = f"{ours} is above {other} on most sets"
        yield claim_of(where, found, statement, 2 * n_gains > len(gains))


def _single_to_oblique(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Logistic splits gain notably over single features on four sets, and lose on others."""
    for value, title, _ in MEASURES:
        gains = find_gains(outcomes, "sf-lr", "sf", value)
        named = {name: gain for name, gain in gains.items() if name in _NOTABLY}
        others = {name: gain for name, gain in gains.items() if name in OTHER_SETS}
        if named:
            words = f"sf-lr less sf in {title}, of Med and Yeast: {list_gains(named)}"
            words += f" (not judged, as the file is another: {list_gains(others)})" * bool(others)
            statement = f"they gain at least {_NOTABLE}"
            notable = all(gain.mean >= _NOTABLE for gain in named.values())
            yield claim_of("Text, logistic splits", words, statement, notable)
        lost = [gain.mean < 0 for name, gain in gains.items() if name not in _NOTABLY]
        if lost:
            words = f"sf-lr less sf in {title}: {list_gains(gains)}"
            statement = "they lose on some of the other sets"
            yield claim_of("Text, logistic splits are mixed", words, statement, any(lost))


def _below_base(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """SF-LR-CS is below SF on about half of the sets."""
    for value, title, _ in MEASURES:
        gains = find_gains(outcomes, "sf-lr-cs", "sf", value)
        if gains:
            n_below = sum(gain.mean < 0 for gain in gains.values())
            words = f"sf-lr-cs is below sf in {title} on {n_below} of {len(gains)} sets: "
            words += list_gains(gains)
            holds = abs(n_below / len(gains) - 0.5) <= _HALF
            yield claim_of("Text, SF-LR-CS below SF", words, "it is on about half", holds)


def _harm(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Where clusters by rarity lose, it is usually not by a significant amount."""
    for value, title, _ in MEASURES:
        gains = find_gains(outcomes, "sf-h-cs", "sf-h", value)
        worse = {name: gain for name, gain in gains.items() if gain.mean < 0}
        if gains:
            clearly = [name for name, gain in worse.items() if gain.mean < -gain.margin]
            words = f"sf-h-cs is below sf-h in {title} on {len(worse)} of {len(gains)} sets"
            words += f": {list_gains(worse)}" if worse else f" ({list_gains(gains)})"
            words += f"; significantly (t, 95%) on {', '.join(clearly) or 'none'}"
            statement = "it usually is not significant where it loses"
            holds = not worse or 2 * len(clearly) < len(worse)
            yield claim_of("Text, clusters by rarity usually do not harm", words, statement, holds)


def _less_useful(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Clusters by rarity gain less with Hellinger than with logistic splits."""
    for value, title, printed in MEASURES:
        hellinger = find_gains(outcomes, "sf-h-cs", "sf-h", value)
        logistic = find_gains(outcomes, "sf-lr-cs", "sf-lr", value)
        names = [name for name in hellinger if name in logistic]
        if len(names) < _ENOUGH_SETS:
            continue
        pairs = np.array([(hellinger[name].mean, logistic[name].mean) for name in names])
        theirs = [
            float(np.mean(np.subtract(printed[one], printed[other])))
            for one, other in (("sf-h-cs", "sf-h"), ("sf-lr-cs", "sf-lr"))
        ]
        less = pairs[:, 0] - pairs[:, 1]
        error = float(np.std(less, ddof=1) / np.sqrt(len(less)))
        gap = Gain(float(less.mean()), error, len(less))
        words = (
            f"in {title} they gain {pairs[:, 0].mean():+.4f} with Hellinger splits and "
            f"{pairs[:, 1].mean():+.4f} with logistic ones in the mean over {len(names)} sets, a "
            f"difference of {gap.mean:+.4f} ± {gap.margin:.4f} (t, 95%); printed {theirs[0]:+.4f} "
            f"and {theirs[1]:+.4f}"
        )
        statement = "they gain significantly less with Hellinger splits"
        yield claim_of("Text, rarity and Hellinger", words, statement, gap.mean < -gap.margin)
