"""The claims of the paper on its Tables 2 and 3 and Figures 3 and 4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from papers.mf_tree.four_classes import four_class_facts
from papers.mf_tree.outcome import Answer, Outcome
from papers.mf_tree.tables import PAPER_ROWS
from papers.result import Claim

__all__ = ["RIVALS", "judge"]

_LITERAL, _OURS, _FLAT = "MF-Tree as published", "MF-Tree", "one-vs-rest"
RIVALS = ("DAGSVM", "DRHL", "CMTL", "RNMF", "RDM")
_A_THIRD = 1 / 3
_TAUS = (0, 3, 6)
_SAVED = 0.1  # of the training time; the paper tells of .226


def judge(outcomes: Iterable[Outcome]) -> list[Claim]:
    """Say of every claim and data set, in words, whether it holds.

    Parameters
    ----------
    outcomes : iterable of Outcome

    Returns
    -------
    list of Claim
        Claims about methods that are not there are left out.
    """
    claims = [*_example()]
    for outcome in outcomes:
        for name, way in ((_LITERAL, "greedy"), (_OURS, "beam 5")):
            claims += _best_f1(outcome, name, way)
            claims += _quickest(outcome, name, way)
        claims += _times_dag_svm(outcome)
        claims += _left_out(outcome)
        claims += _shallow(outcome)
        claims += _nearer_tree(outcome)
        claims += _depth_measured(outcome)
        claims += _tau(outcome)
    return claims


def _claim(where: str, words: str, what: str, holds: bool) -> Claim:
    verdict = "holds" if holds else "does not hold"
    return Claim(where, f"{where}: {words}: that {what} {verdict}.", holds)


def _rivals(outcome: Outcome, way: str) -> list[Answer]:
    """Answers of the paper's rivals, in one way where they have several."""
    return [
        answer
        for answer in outcome.answers.values()
        if answer.method in RIVALS and answer.way in ("", way)
    ]


# ---------------------------------------------------------------------- Table 2


def _contest(
    outcome: Outcome, name: str, way: str, value: Callable[[Answer], float], best: Any
) -> tuple[Answer, Answer] | None:
    rivals = _rivals(outcome, way)
    if name not in outcome.answers or not rivals:
        return None
    return outcome.answers[name], best(rivals, key=value)


def _best_f1(outcome: Outcome, name: str, way: str) -> Iterator[Claim]:
    """MF-Tree has a higher F1 than all five rivals."""
    found = _contest(outcome, name, way, lambda answer: answer.macro_f1, max)
    if found is not None:
        ours, other = found
        words = (
            f"macro F1 {ours.f1_words} by {ours.title}, {other.f1_words} by the best of its "
            f"rivals, {other.title}"
        )
        holds = ours.macro_f1 > other.macro_f1
        yield _claim(f"Table 2, {outcome.name}", words, "it has the best F1", holds)


def _quickest(outcome: Outcome, name: str, way: str) -> Iterator[Claim]:
    """MF-Tree tests quicker than all five rivals."""
    found = _contest(outcome, name, way, lambda answer: answer.us, min)
    if found is not None:
        ours, other = found
        words = (
            f"{ours.us:.1f} µs per row by {ours.title}, {other.us:.1f} by the quickest of its "
            f"rivals, {other.title}"
        )
        what = "it has the least test time"
        yield _claim(f"Table 2, {outcome.name}", words, what, ours.us < other.us)


def _times_dag_svm(outcome: Outcome) -> Iterator[Claim]:
    """MF-Tree tests five to six times as quick as DAGSVM."""
    told = _paper_ratios()
    for name in (_LITERAL, _OURS):
        if not {name, "DAGSVM"} <= outcome.answers.keys():
            continue
        ours, other = outcome.answers[name], outcome.answers["DAGSVM"]
        times, products = other.us / ours.us, other.dots / ours.dots
        words = (
            f"DAGSVM takes {times:.1f} times the test time of {name} and {products:.1f} times its "
            f"dot products; in the paper {min(told):.1f} to {max(told):.1f} times the time"
        )
        holds = times >= min(told)
        yield _claim(f"Table 2, {outcome.name}", words, "it gains as much over DAGSVM", holds)


def _paper_ratios() -> list[float]:
    seconds = {(row.dataset, row.method): row.seconds for row in PAPER_ROWS}
    names = sorted({row.dataset for row in PAPER_ROWS})
    return [seconds[name, "DAGSVM"] / seconds[name, "MF-Tree"] for name in names]


def _left_out(outcome: Outcome) -> Iterator[Claim]:
    """One-vs-rest, which the paper left out as too slow: ours is as good, for a third of the cost.

    This is no claim of the paper, but what would make its idea worth while.
    """
    if {_OURS, _FLAT} <= outcome.answers.keys():
        ours, flat = outcome.answers[_OURS], outcome.answers[_FLAT]
        share = ours.dots / flat.dots
        words = (
            f"accuracy {ours.accuracy:.3f} by {ours.title} with {ours.dots:.1f} dot products a "
            f"row, {flat.accuracy:.3f} by one-vs-rest with {flat.dots:.0f}, which the paper left "
            "out"
        )
        where = f"Table 2, {outcome.name}"
        yield _claim(where, words, "it is at least as accurate", ours.accuracy >= flat.accuracy)
        products = f"{share:.2f} of the dot products of one-vs-rest by {ours.title}"
        yield _claim(where, products, "it needs a third at most", share <= _A_THIRD)


def _shallow(outcome: Outcome) -> Iterator[Claim]:
    """DRHL and RDM make deeper trees than MF-Tree, as they put classes in several leaves."""
    depths = {key: grown.tree.max_depth for key, grown in outcome.grown.items()}
    if {_LITERAL, "DRHL", "RDM"} <= depths.keys():
        words = (
            f"depth {depths[_LITERAL]} by {_LITERAL}, {depths['DRHL']} by DRHL, {depths['RDM']} by "
            f"RDM (log2 of {len(outcome.classes)} classes is "
            f"{(len(outcome.classes) - 1).bit_length()}, rounded up)"
        )
        holds = depths[_LITERAL] < min(depths["DRHL"], depths["RDM"])
        yield _claim(f"Table 2, {outcome.name}", words, "its tree is smaller", holds)


# ---------------------------------------------------------------------- Figures 3 and 4


def _example() -> Iterator[Claim]:
    """The two values of the example."""
    facts = four_class_facts()
    swapped = facts["trees"][0]
    words = f"tree MSE {swapped['mse']:.5f} of {swapped['tree']} against {facts['actual']}"
    same = round(swapped["mse"], 5) == swapped["told"]
    yield _claim("Figure 3", words, f"it is {swapped['told']:.5f}, as in the paper,", same)
    told = facts["told"][1]
    words = (
        f"of the {facts['n_pairs']} pairs of the {facts['n_trees']} trees over four classes "
        f"{facts['n_equal']} have a tree MSE of {told:.5f} (the nearest value is "
        f"{facts['nearest']:.5f}, and {facts['nearest_to_actual']:.5f} against "
        f"{facts['actual']})"
    )
    yield _claim("Figure 3", words, "the paper's value is one of them", facts["n_equal"] > 0)


def _nearer_tree(outcome: Outcome) -> Iterator[Claim]:
    """The tree of MF-Tree is nearer to the given one than that of CMTL."""
    for name in (_LITERAL, "MF-Tree, binary"):
        if not {name, "CMTL"} <= outcome.qualities.keys():
            continue
        ours, other = outcome.qualities[name], outcome.qualities["CMTL"]
        for measure, title, sign in (("mse", "tree MSE", -1), ("triplets", "triplets", 1)):
            a, b = ours[measure], other[measure]
            words = f"{title} {a:.4f} by {name}, {b:.4f} by CMTL"
            where = f"Figure 4, {outcome.name}"
            yield _claim(where, words, f"MF-Tree is nearer by {title}", sign * a > sign * b)


def _depth_measured(outcome: Outcome) -> Iterator[Claim]:
    """Tree MSE tells learned trees from random ones, as a measure of trees should."""
    if {"MF-Tree, binary", "random"} <= outcome.qualities.keys():
        ours, chance = outcome.qualities["MF-Tree, binary"], outcome.qualities["random"]
        words = (
            f"tree MSE {ours['mse']:.4f} by MF-Tree, binary, {chance['mse']:.4f} by a random tree "
            f"(triplets {ours['triplets']:.3f} and {chance['triplets']:.3f})"
        )
        holds = ours["mse"] < chance["mse"]
        yield _claim(f"Figure 4, {outcome.name}", words, "the MSE is better than by chance", holds)


# ---------------------------------------------------------------------- Table 3


def _tau(outcome: Outcome) -> Iterator[Claim]:
    """A small tau saves training time at little cost; a larger one costs more."""
    found = [
        answer
        for tau in _TAUS
        if (answer := outcome.answers.get(f"MF-Tree, tau={tau}, beam 5")) is not None
    ]
    if len(found) < len(_TAUS):
        return
    exact, some = found[:2]
    tree_s = [outcome.grown[answer.method].seconds or 0.0 for answer in (some, exact)]
    # of a tree and its classifiers tau can shorten the tree only; the rest is noise of the clock
    saved = (tree_s[1] - tree_s[0]) / exact.fit_s
    words = (
        f"with tau = {_TAUS[1]} the tree takes {_numbers(tree_s, ' s instead of ')}, a change of "
        f"{-saved:+.1%} of training as a whole, {exact.fit_s:.3f} s"
    )
    where = f"Table 3, {outcome.name}"
    yield _claim(where, words, "a tenth is saved", saved >= _SAVED)
    values = [answer.macro_f1 for answer in found]
    words = f"macro F1 {_numbers(values)} with tau = {', '.join(map(str, _TAUS))}"
    yield _claim(where, words, "F1 falls as tau grows", values[0] > values[1] > values[2])


def _numbers(values: Sequence[float], between: str = ", ") -> str:
    return between.join(f"{value:.3f}" for value in values)
