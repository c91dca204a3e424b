"""What the paper on MF-Tree says in words: its theory, sizes of trees, Figure 2 and Figure 5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import class_regularizer, factorization_loss, tree_covariance
from papers.mf_tree.outcome import Answer, Outcome
from papers.result import Claim

__all__ = ["judge_theory", "judge_words"]

_LITERAL, _OURS, _BINARY = "MF-Tree as published", "MF-Tree", "MF-Tree, binary"
_ROWS = ("RNMF as published", "RDM as published")


def _claim(where: str, words: str, what: str, holds: bool) -> Claim:
    verdict = "holds" if holds else "does not hold"
    return Claim(where, f"{where}: {words}: that {what} {verdict}.", holds)


# ---------------------------------------------------------------------- theory, in numbers


def judge_theory(seed: int = 0) -> Iterator[Claim]:
    """Check Equations 3 to 10 and Theorem 1 on drawn rows of four classes in a tree of two levels.

    Parameters
    ----------
    seed : int

    Yields
    ------
    Claim
    """
    rng = np.random.default_rng(seed)
    tree = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("q", "c"), ("q", "d")])
    codes = np.repeat(np.arange(4), [3, 5, 4, 6])
    X = rng.normal(size=(18, 3)) + rng.normal(size=(4, 3))[codes]
    X = X - X.mean(axis=0)
    y = np.array(list("abcd"))[codes]
    member = np.eye(4)[codes]
    edge = 0.05
    covariance = edge * tree_covariance(tree)
    regularizer = class_regularizer(covariance, np.bincount(codes).astype(float))
    # the best W of Equation 3, by its normal equations
    weights = np.linalg.solve(member.T @ member + regularizer, member.T @ X).T
    loss = np.sum((X - member @ weights.T) ** 2) + np.trace(weights @ regularizer @ weights.T)
    by_hsic = factorization_loss(X, y, tree, edge=edge)
    words = f"the least loss of Equation 3 is {loss:.6f}, tr(K) less the HSIC {by_hsic:.6f}"
    same = bool(np.isclose(loss, by_hsic))
    yield _claim("Equations 3 to 5", words, "the least loss is the largest HSIC", same)
    kernel = X @ X.T
    whole = np.trace(kernel @ member @ tree_covariance(tree) @ member.T)
    below = tree.closure[tree.leaves].toarray()[:, 1:].astype(float)  # leaves x nodes
    parts = sum(float(v @ kernel @ v) for v in (member @ below).T)
    words = f"tr(K L) is {whole:.6f}, the sum over the nodes {parts:.6f}"
    yield _claim(
        "Equations 6 to 10", words, "HSIC is a sum over nodes", bool(np.isclose(whole, parts))
    )
    least = float(np.linalg.eigvalsh(member.T @ member + regularizer).min())
    words = f"the least eigenvalue of Z'Z + lambda A is {least:.4f}"
    yield _claim("Theorem 1", words, "it is positive definite", least > 0)
    try:
        class_regularizer(tree_covariance(tree), np.bincount(codes).astype(float))
        feasible = True
    except PalmetteError:
        feasible = False
    words = (
        "with edges of length 1, as in the examples, there is "
        f"{'a' if feasible else 'no'} positive definite A for classes of {len(codes)} rows; there "
        f"is one with edges of {edge:g}"
    )
    yield _claim("Theorem 1, edges", words, "an A can be chosen for any tree", feasible)


# ---------------------------------------------------------------------- sizes, times and F1


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


def _rows_of_leaves(outcome: Outcome) -> Iterator[Claim]:
    """RNMF has a shorter tree than MF-Tree, but takes longer; RDM has a larger one."""
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
            yield _claim(where, words, "RNMF is shorter and slower", holds)
    if {_LITERAL, _ROWS[1]} <= outcome.answers.keys():
        mf, rdm = outcome.answers[_LITERAL], outcome.answers[_ROWS[1]]
        words = f"depth {mf.depth} by {_LITERAL}, {rdm.depth} by RDM as published"
        yield _claim(where, words, "RDM over rows is larger", mf.depth < rdm.depth)


def _largest(outcome: Outcome) -> Iterator[Claim]:
    """DAGSVM has the largest tree: as deep as there are classes."""
    if "DAGSVM" not in outcome.answers:
        return
    depth = outcome.answers["DAGSVM"].depth
    others = max(one.depth for one in outcome.answers.values() if one.method != "DAGSVM")
    words = (
        f"depth {depth} by DAGSVM for {len(outcome.classes)} classes, {others} at most by others"
    )
    yield _claim(f"Table 2, {outcome.name}", words, "DAGSVM has the largest tree", depth > others)


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
        yield _claim(where, words, "trees are less deep with a larger p", holds)
        yield _claim(where, words, "F1 is lowest with p = 2", found[0].macro_f1 == _least(found))


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
            f"{len(better)} of {len(rivals)} settings of the others have a higher F1 in less time "
            f"than {name} (macro F1 {ours.macro_f1:.3f}, {ours.us:.1f} µs)"
        )
        yield _claim(f"Figure 2, {outcome.name}", words, "it is better than the others", not better)


def _related(outcome: Outcome) -> Iterator[Claim]:
    """Related classes are often close together in the tree."""
    for name in (_LITERAL, _BINARY):
        if {name, "random"} <= outcome.qualities.keys():
            ours, chance = outcome.qualities[name], outcome.qualities["random"]
            words = (
                f"of three classes {name} puts the right two together in {ours['triplets']:.3f} of "
                f"the cases, a random tree in {chance['triplets']:.3f}"
            )
            holds = ours["triplets"] > chance["triplets"]
            yield _claim(f"Figure 5, {outcome.name}", words, "related classes are close", holds)
