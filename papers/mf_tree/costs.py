"""What the paper says of trees beside flat methods: test time, accuracy, rare classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from papers.mf_tree.outcome import Outcome
from papers.mf_tree.theory import claim_of
from papers.result import Claim

__all__ = ["judge_costs"]

_LITERAL, _OURS, _ONE_HOT = "MF-Tree as published", "MF-Tree", "MF-Tree, one-hot router"
_FLAT = ("one-vs-rest", "one-vs-rest, scikit-learn")
_COMPARABLE = 0.05  # of accuracy: our bound
_SLOW = 10  # times the products: our bound
_SETS = 3  # from which on growth is measured


def judge_costs(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Judge trees beside flat methods.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Yields
    ------
    Claim
    """
    yield from _growth(outcomes)
    for outcome in outcomes:
        yield from _quicker(outcome)
        yield from _all_pairs(outcome)
        yield from _relaxed(outcome)
        yield from _rare(outcome)


def _growth(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Test time is sublinear in the number of classes."""
    for name in (_LITERAL, _OURS):
        found = sorted(
            (len(one.classes), one.answers[name].dots) for one in outcomes if name in one.answers
        )
        if len({n for n, _ in found}) < _SETS:
            continue
        sizes, products = np.array(found).T
        power = float(np.polyfit(np.log(sizes), np.log(products), 1)[0])
        told = ", ".join(f"{value:.1f} for {n}" for n, value in found)
        words = (
            f"products a row by {name} are {told} classes, which grow with the power {power:.2f} "
            "of the number of classes"
        )
        yield claim_of("Section 1", words, "they are sublinear", power < 1)


def _quicker(outcome: Outcome) -> Iterator[Claim]:
    """A tree tests quicker than flat methods."""
    flat = [outcome.answers[name] for name in _FLAT if name in outcome.answers]
    where = f"Section 1, {outcome.name}"
    for name in (_LITERAL, _OURS):
        if name not in outcome.answers or not flat:
            continue
        ours = outcome.answers[name]
        best = min(flat, key=lambda answer: answer.us)
        words = f"{ours.us:.1f} µs per row by {name}, {best.us:.1f} by {best.title}"
        yield claim_of(where, words, "it tests quicker than flat methods", ours.us < best.us)
        fewest = min(answer.dots for answer in flat)
        words = f"{ours.dots:.1f} products a row by {name}, {fewest:.0f} by {_FLAT[0]}"
        what = "it takes fewer products than flat methods"
        yield claim_of(where, words, what, ours.dots < fewest)


def _all_pairs(outcome: Outcome) -> Iterator[Claim]:
    """One-versus-one is about as accurate as trees, but much slower."""
    trees = [
        answer for answer in outcome.answers.values() if answer.method not in ("DAGSVM", *_FLAT)
    ]
    if "DAGSVM" not in outcome.answers or _LITERAL not in outcome.answers:
        return
    pairs = outcome.answers["DAGSVM"]
    best = max(trees, key=lambda answer: answer.accuracy)
    where = f"Footnote 2, {outcome.name}"
    words = (
        f"accuracy {pairs.accuracy:.3f} by the classifiers of all pairs (DAGSVM), "
        f"{best.accuracy:.3f} by the best tree, {best.title}"
    )
    what = f"one-versus-one is comparable, within {_COMPARABLE:g} (our bound),"
    holds = abs(pairs.accuracy - best.accuracy) <= _COMPARABLE
    yield claim_of(where, words, what, holds)
    n = len(outcome.classes)
    n_pairs, dots = n * (n - 1) // 2, outcome.answers[_LITERAL].dots
    words = f"a vote of all pairs takes {n_pairs:,} products a row, {_LITERAL} {dots:.1f}"
    what = f"one-versus-one takes at least {_SLOW} times as many (our bound)"
    yield claim_of(where, words, what, n_pairs >= _SLOW * dots)


def _relaxed(outcome: Outcome) -> Iterator[Claim]:
    """The zeros and ones of G are replaced by eigenvectors."""
    if {_LITERAL, _ONE_HOT} <= outcome.answers.keys():
        relaxed, exact = outcome.answers[_LITERAL], outcome.answers[_ONE_HOT]
        words = (
            f"macro F1 {relaxed.f1_words} by {_LITERAL}, {exact.f1_words} by the same tree with "
            "the zeros and ones of G"
        )
        holds = relaxed.macro_f1 >= exact.macro_f1
        where = f"Section 4.3, {outcome.name}"
        yield claim_of(where, words, "the relaxation of G costs no F1", holds)


def _rare(outcome: Outcome) -> Iterator[Claim]:
    """Trees help with imbalanced classes."""
    flat = outcome.answers.get(_FLAT[0])
    for name in (_LITERAL, _OURS):
        if name not in outcome.answers or flat is None:
            continue
        ours = outcome.answers[name].rare_f1
        if ours is None or flat.rare_f1 is None:
            continue
        words = (
            f"mean F1 of the {len(outcome.rare)} rarest of {len(outcome.classes)} classes is "
            f"{ours:.3f} by {name}, {flat.rare_f1:.3f} by {_FLAT[0]}"
        )
        holds = ours > flat.rare_f1
        yield claim_of(f"Section 1, {outcome.name}", words, "the tree helps rare classes", holds)
