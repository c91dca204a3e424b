"""The claims of the paper on its Tables 2 and 3 and Figures 3 and 4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.mf_tree.four_classes import four_class_facts
from papers.mf_tree.methods import BEAM
from papers.mf_tree.outcome import N_RANDOM, Answer, Outcome
from papers.mf_tree.tables import PAPER_ROWS
from papers.result import Claim

__all__ = ["CLEAR", "CONTESTS", "Contest", "by_chance", "judge"]

_LITERAL, _OURS, _FLAT = "MF-Tree as published", "MF-Tree", "one-vs-rest"
_BINARY = "MF-Tree, binary"
_A_THIRD = 1 / 3
_TAUS = (0, 3, 6)
_SAVED = 0.1  # of the training time: our bound; the paper has .226
CLEAR = 2.0  # standard deviations of random trees, which a learned one is to be better by


@dataclass(frozen=True)
class Contest:
    """What MF-Tree is compared with in Table 2.

    Parameters
    ----------
    ours : str
        Title of its answer.
    rivals : tuple of str
        Titles of the others.
    against : str
        What these are, in words.
    """

    ours: str
    rivals: tuple[str, ...]
    against: str


_NAMES = ("DRHL", "CMTL", "RNMF", "RDM")
CONTESTS = (
    Contest(
        _LITERAL,
        (
            "DAGSVM",
            "DRHL, published starts, greedy",
            "CMTL, greedy",
            "RNMF as published",
            "RDM as published",
        ),
        "of the methods as published",
    ),
    Contest(
        _LITERAL,
        ("DAGSVM", *(f"{name}, greedy" for name in _NAMES)),
        "beside our versions of its rivals, greedy",
    ),
    Contest(
        _OURS,
        ("DAGSVM", *(f"{name}, beam {BEAM}" for name in _NAMES)),
        f"beside our versions of its rivals, with a beam of {BEAM}",
    ),
)


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
        for contest in CONTESTS:
            claims += _best_f1(outcome, contest)
            claims += _quickest(outcome, contest)
        claims += _times_dag_svm(outcome)
        claims += _left_out(outcome)
        claims += _shallow(outcome)
        claims += _nearer_tree(outcome)
        claims += _depth_measured(outcome)
        claims += _tau(outcome)
        claims += _training_time(outcome)
    return claims


def _claim(where: str, words: str, what: str, holds: bool) -> Claim:
    verdict = "holds" if holds else "does not hold"
    return Claim(where, f"{where}: {words}: that {what} {verdict}.", holds)


# ---------------------------------------------------------------------- Table 2


def _met(
    outcome: Outcome, contest: Contest, value: Callable[[Answer], float], best: Any
) -> tuple[Answer, Answer, int] | None:
    """Return our answer, the best of the rivals', and how many of these there are."""
    rivals = [outcome.answers[title] for title in contest.rivals if title in outcome.answers]
    if contest.ours not in outcome.answers or not rivals:
        return None
    return outcome.answers[contest.ours], best(rivals, key=value), len(rivals)


def _best_f1(outcome: Outcome, contest: Contest) -> Iterator[Claim]:
    """MF-Tree has a higher F1 than all five rivals."""
    found = _met(outcome, contest, lambda answer: answer.macro_f1, max)
    if found is not None:
        ours, other, n = found
        words = (
            f"macro F1 {ours.f1_words} by {ours.title}, {other.f1_words} by {other.title}, the "
            f"best of {n} rivals"
        )
        what = f"it has the best F1 {contest.against},"
        yield _claim(f"Table 2, {outcome.name}", words, what, ours.macro_f1 > other.macro_f1)


def _quickest(outcome: Outcome, contest: Contest) -> Iterator[Claim]:
    """MF-Tree tests quicker than all five rivals."""
    found = _met(outcome, contest, lambda answer: answer.us, min)
    if found is not None:
        ours, other, n = found
        words = (
            f"{ours.us:.1f} µs per row by {ours.title}, {other.us:.1f} by {other.title}, the "
            f"quickest of {n} rivals"
        )
        what = f"it has the least test time {contest.against},"
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
    for kind, others in (
        ("as published", ("DRHL, published starts, greedy", "RDM as published")),
        ("in our versions", ("DRHL, greedy", "RDM, greedy")),
    ):
        if {_LITERAL, *others} <= outcome.answers.keys():
            depths = [outcome.answers[title].depth for title in (_LITERAL, *others)]
            words = (
                f"depth {depths[0]} by {_LITERAL}, {depths[1]} by {others[0]}, {depths[2]} by "
                f"{others[1]} (log2 of {len(outcome.classes)} classes is "
                f"{(len(outcome.classes) - 1).bit_length()}, rounded up)"
            )
            what = f"its tree is smaller than those of DRHL and RDM {kind}"
            holds = depths[0] < min(depths[1:])
            yield _claim(f"Table 2, {outcome.name}", words, what, holds)


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
    misplaced = [tree["mse"] for tree in facts["trees"][1:]]
    values = " or ".join(f"{value:.5f}" for value in sorted(misplaced))
    words = f"tree MSE {values} with c2 misplaced, {swapped['mse']:.5f} with c2 and c3 exchanged"
    holds = max(misplaced) < swapped["mse"]
    yield _claim("Figure 3", words, "result 2 is nearer than result 1", holds)


def _nearer_tree(outcome: Outcome) -> Iterator[Claim]:
    """The tree of MF-Tree is nearer to the given one than that of CMTL."""
    for name in (_LITERAL, _BINARY):
        if not {name, "CMTL"} <= outcome.qualities.keys():
            continue
        ours, other = outcome.qualities[name], outcome.qualities["CMTL"]
        for measure, title, sign in (("mse", "tree MSE", -1), ("triplets", "triplets", 1)):
            a, b = ours[measure], other[measure]
            words = f"{title} {a:.4f} by {name}, {b:.4f} by CMTL"
            where = f"Figure 4, {outcome.name}"
            yield _claim(where, words, f"MF-Tree is nearer by {title}", sign * a > sign * b)


def by_chance(outcome: Outcome, measure: str, digits: int = 3) -> tuple[float, float, str]:
    """Return mean and standard deviation of a measure of random trees, and words for them."""
    values = outcome.chance[measure]
    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
    return mean, deviation, f"{mean:.{digits}f} ± {deviation:.{digits}f}"


def _depth_measured(outcome: Outcome) -> Iterator[Claim]:
    """Tree MSE tells learned trees from random ones, as a measure of trees should."""
    if _BINARY in outcome.qualities and outcome.chance:
        ours = outcome.qualities[_BINARY]
        mean, deviation, told = by_chance(outcome, "mse", 4)
        words = (
            f"tree MSE {ours['mse']:.4f} by {_BINARY}, {told} by {N_RANDOM} random trees "
            f"(triplets {ours['triplets']:.3f} and {by_chance(outcome, 'triplets')[2]})"
        )
        what = "the MSE is better than by chance, by two deviations,"
        holds = ours["mse"] < mean - CLEAR * deviation
        yield _claim(f"Figure 4, {outcome.name}", words, what, holds)


# ---------------------------------------------------------------------- Table 3


def _with_tau(outcome: Outcome, taus: Sequence[int]) -> list[Answer]:
    titles = [f"MF-Tree, tau={tau}, beam {BEAM}" for tau in taus]
    return [outcome.answers[title] for title in titles if title in outcome.answers]


def _tau(outcome: Outcome) -> Iterator[Claim]:
    """A small tau saves training time at little cost; a larger one costs more."""
    where = f"Table 3, {outcome.name}"
    for small in (2, 3):
        pair = _with_tau(outcome, (0, small))
        if len(pair) == 2 and (interval := pair[0].f1_interval) is not None:
            words = (
                f"macro F1 {pair[1].macro_f1:.3f} with tau = {small}, {pair[0].f1_words} with 0 "
                f"({_SUBJECT})"
            )
            what = "it is within the interval, and no significant F1 is lost,"
            yield _claim(where, words, what, pair[1].macro_f1 >= interval[0])
    found = _with_tau(outcome, _TAUS)
    if len(found) < len(_TAUS):
        return
    exact, some = found[:2]
    tree_s = [outcome.grown[answer.method].seconds or 0.0 for answer in (some, exact)]
    # of a tree and its classifiers tau can shorten the tree only; the rest is noise of the clock
    saved = (tree_s[1] - tree_s[0]) / exact.fit_s
    words = (
        f"with tau = {_TAUS[1]} the tree takes {_numbers(tree_s, ' s instead of ')}, a change of "
        f"{-saved:+.1%} of training as a whole, {exact.fit_s:.3f} s ({_SUBJECT})"
    )
    yield _claim(where, words, f"at least {_SAVED:.0%} is saved (our bound)", saved >= _SAVED)
    values = [answer.macro_f1 for answer in found]
    words = f"macro F1 {_numbers(values)} with tau = {', '.join(map(str, _TAUS))} ({_SUBJECT})"
    yield _claim(where, words, "F1 falls as tau grows", values[0] > values[1] > values[2])


_SUBJECT = f"{_BINARY}: 2-means, linear classifiers, a beam of {BEAM}"
_SWEPT = (0, 3, 4, 5, 6)


def _training_time(outcome: Outcome) -> Iterator[Claim]:
    """The time of the tree falls with tau from 3 to 6, and the last step saves least."""
    found = _with_tau(outcome, _SWEPT)
    if len(found) < len(_SWEPT):
        return
    seconds = [outcome.grown[answer.method].seconds or 0.0 for answer in found]
    where = f"Table 3, {outcome.name}"
    words = (
        f"the tree takes {_numbers(seconds)} s with tau = {', '.join(map(str, _SWEPT))} ({_BINARY})"
    )
    falls = bool(np.all(np.diff(seconds) < 0))
    yield _claim(where, words, "training time continues to improve", falls)
    steps = -np.diff(seconds[1:])
    holds = bool(steps[-1] < steps[:-1].mean())
    yield _claim(where, words, "the gain tapers off at tau = 6", holds)


def _numbers(values: Sequence[float], between: str = ", ") -> str:
    return between.join(f"{value:.3f}" for value in values)
