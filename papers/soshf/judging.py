"""What the claims of the paper and of its parts have in common."""

from __future__ import annotations

from collections.abc import Sequence

from papers.result import Claim
from papers.soshf.methods import DATASETS, METHODS
from papers.soshf.outcome import Gain, Outcome, gain_of
from papers.soshf.published import PAPER_AUC, PAPER_F

__all__ = ["LITERAL", "MEASURES", "OTHER_SETS", "claim_of", "find_gains", "list_gains"]

MEASURES = (("f_own", "macro-F", PAPER_F), ("auc", "macro-AUC", PAPER_AUC))
LITERAL = "sf-h-cs"
OTHER_SETS = ("tmc2007_500",)  # of TMC2007 our file is not the paper's


def claim_of(where: str, words: str, statement: str, holds: bool) -> Claim:
    """Return a claim; the page of claims leaves its place out, but not its data set or method.

    Examples
    --------
    >>> claim_of("Depth, emotions", "4 and 6", "trees are shallower", True).words
    'Depth, emotions: emotions, 4 and 6; trees are shallower.'
    """
    verdict = statement if holds else f"it does not hold that {statement}"
    last = where.rpartition(", ")[2]
    subject = f"{last}, " if last in DATASETS or last in METHODS else ""
    return Claim(where, f"{where}: {subject}{words}; {verdict}.", holds)


def find_gains(outcomes: Sequence[Outcome], ours: str, other: str, value: str) -> dict[str, Gain]:
    """Return what a method gains over another, by data set."""
    found = {
        o.name: gain_of(o.answers[ours], o.answers[other], value)
        for o in outcomes
        if {ours, other} <= o.answers.keys()
    }
    return {name: gain for name, gain in found.items() if gain is not None}


def list_gains(gains: dict[str, Gain]) -> str:
    """Write gains in one line."""
    return ", ".join(f"{name} {gain}" for name, gain in gains.items())
