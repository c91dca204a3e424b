"""What the paper on MF-Tree says in words of sizes of trees, Figure 2 and Figure 5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from papers.mf_tree.judging import CLEAR, by_chance
from papers.mf_tree.outcome import N_RANDOM, Answer, Outcome
from papers.mf_tree.theory import claim_of
from papers.result import Claim

__all__ = ["judge_words"]

_LITERAL, _OURS, _BINARY = "MF-Tree as published", "MF-Tree", "MF-Tree, binary"
_ROWS = ("RNMF as published", "RDM as published")


def judge_words(outcomes: Iterable[Outcome]) -> Iterator[Claim]:
    """Judge what is said of trees of rows, of Figure 2 and of Figure 5.

    Parameters
    ----------
    outcomes : iterable of Outcome

    Yields
    ------
    Claim
    """
    for outcome in outcomes:
        yield from _rows_of_leaves(outcome)
        yield from _largest(outcome)
        yield from _branching(outcome)
        yield from _front(outcome)
        yield from _related(outcome)
        yield from _one_leaf_each(outcome)


def _rows_of_leaves(outcome: Outcome) -> Iterator[Claim]:
    """RNMF has a shorter tree than MF-Tree, but takes longer."""
    where = f"Table 2, {outcome.name}"
    for ours in (_LITERAL, _OURS):
        if {ours, _ROWS[0]} <= outcome.answers.keys():
            mf, nmf = outcome.answers[ours], outcome.answers[_ROWS[0]]
            words = (
                f"RNMF as published has a depth of {nmf.depth} and takes {nmf.us:.1f} µs and "
                f"{nmf.dots:.1f} products a row, {ours} {mf.depth}, {mf.us:.1f} µs and "
                f"{mf.dots:.1f}"
            )
            holds = nmf.depth < mf.depth and nmf.us > mf.us
            yield claim_of(where, words, "RNMF is shorter and slower", holds)


def _largest(outcome: Outcome) -> Iterator[Claim]:
    """DAGSVM has the largest tree: as deep as there are classes."""
    if "DAGSVM" not in outcome.answers:
        return
    depth = outcome.answers["DAGSVM"].depth
    others = max(one.depth for one in outcome.answers.values() if one.method != "DAGSVM")
    words = (
        f"depth {depth} by DAGSVM for {len(outcome.classes)} classes, {others} at most by others"
    )
    yield claim_of(f"Table 2, {outcome.name}", words, "DAGSVM has the largest tree", depth > others)


def _branching(outcome: Outcome) -> Iterator[Claim]:
    """The depth falls with p; with depth, test time grows and F1 falls."""
    for name in _ROWS:
        keys = [name, *(f"{name}, p={p}" for p in (3, 4, 5))]
        if not set(keys) <= outcome.answers.keys():
            continue
        found = [outcome.answers[key] for key in keys]
        words = f"depth {_listed(found, 'depth')}, products {_listed(found, 'dots')}, macro F1 "
        words += f"{_listed(found, 'macro_f1')} by {name} with p = 2, 3, 4, 5"
        where = f"Figure 2, {outcome.name}"
        holds = all(a.depth >= b.depth for a, b in pairwise(found))
        yield claim_of(where, words, "trees are less deep with a larger p", holds)
        yield claim_of(where, words, "F1 is lowest with p = 2", found[0].macro_f1 == _least(found))
        words = f"{_listed(found, 'us')} µs per row by {name} with p = 2, 3, 4, 5"
        slowest = max(one.us for one in found) == found[0].us
        yield claim_of(where, words, "tests take longest with p = 2, the deepest tree,", slowest)


def _listed(found: Sequence[Answer], name: str) -> str:
    return ", ".join(f"{getattr(one, name):.3g}" for one in found)


def _least(found: Sequence[Answer]) -> float:
    return min(one.macro_f1 for one in found)


def _front(outcome: Outcome) -> Iterator[Claim]:
    """MF-Tree is nearest to the upper left corner: none has a higher F1 in less time."""
    rivals = [
        one
        for one in outcome.answers.values()
        if one.method.startswith(("DRHL", "CMTL", "RNMF", "RDM", "DAGSVM"))
    ]
    for name in (_LITERAL, _OURS):
        if name not in outcome.answers or not rivals:
            continue
        ours = outcome.answers[name]
        better = [
            one.title for one in rivals if one.macro_f1 >= ours.macro_f1 and one.us <= ours.us
        ]
        words = (
            f"settings of the others with a higher F1 in less time: {len(better)} of {len(rivals)} "
            f"beside {name} (macro F1 {ours.macro_f1:.3f}, {ours.us:.1f} µs)"
        )
        yield claim_of(
            f"Figure 2, {outcome.name}", words, "it is better than the others", not better
        )


def _related(outcome: Outcome) -> Iterator[Claim]:
    """Related classes are often close together in the tree."""
    for name in (_LITERAL, _BINARY):
        if name in outcome.qualities and outcome.chance:
            ours = outcome.qualities[name]["triplets"]
            mean, deviation, told = by_chance(outcome, "triplets")
            words = (
                f"of three classes {name} puts the right two together in {ours:.3f} of the cases, "
                f"{N_RANDOM} random trees in {told} (at most {max(outcome.chance['triplets']):.3f})"
            )
            what = "related classes are closer than by chance, by two deviations,"
            holds = ours > mean + CLEAR * deviation
            yield claim_of(f"Figure 5, {outcome.name}", words, what, holds)


def _one_leaf_each(outcome: Outcome) -> Iterator[Claim]:
    """Every class resides in exactly one leaf."""
    if _LITERAL in outcome.grown:
        tree = outcome.grown[_LITERAL].tree
        n, n_leaves = len(outcome.classes), len(tree.leaves)
        words = f"{n_leaves} leaves for {n} classes by {_LITERAL}"
        same = set(tree.names[tree.leaves].tolist()) == set(outcome.classes.tolist())
        holds = tree.is_tree and n_leaves == n and same
        yield claim_of(f"Section 1, {outcome.name}", words, "every class has one leaf", holds)
