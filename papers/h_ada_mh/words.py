"""What the paper on H-Ada.MH says in words and toy examples: Figures 1 and 2, Table I, depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from palmette.hierarchy._hierarchy import Hierarchy
from papers.h_ada_mh.outcome import Outcome
from papers.h_ada_mh.tables import paper_set
from papers.result import Claim

__all__ = ["judge_toys", "judge_words"]

_CONTEST = {"h-ada-first": "H-Ada.MH", "local-shallow": "Local", "global-bayes": "Global"}
_LEVELS = {"diatoms": (85, 258)}  # classes of the levels, Section V.E


def _claim(where: str, words: str, what: str, holds: bool) -> Claim:
    verdict = "holds" if holds else "does not hold"
    return Claim(where, f"{where}: {words}: that {what} {verdict}.", holds)


def judge_toys() -> Iterator[Claim]:
    """Compute the toy examples of Figures 1 and 2 on a binary tree of seven nodes."""
    tree = Hierarchy.from_paths([("1", "3"), ("1", "4"), ("2", "5"), ("2", "6")])
    parents = tree.parents.tolist()
    # node 5 is labelled rightly below node 2, which is not
    wrong = np.array([str(name) == "2" for name in tree.names])
    below = wrong.copy()
    for node in range(1, tree.n_nodes):  # children come after their parents
        below[node] |= below[parents[node]]
    words = (
        f"with node 2 wrong and node 5 below it right, {int(wrong.sum())} node counts by the "
        f"Hamming loss and {int(below.sum())} by Equation 3, which has node 6 as well"
    )
    counts_5 = bool(below[[str(name) for name in tree.names].index("5")])
    yield _claim("Figure 1", words, "a right label below a wrong one counts as wrong", counts_5)
    weights = np.ones(tree.n_nodes)
    for node in range(1, tree.n_nodes):
        weights[node] = weights[parents[node]] / parents.count(parents[node])
    shares = weights / weights.sum()
    by_level = [float(shares[tree.depth == depth][0]) for depth in range(3)]
    words = f"weights by level {', '.join(f'{each:.4f}' for each in by_level)}, uniform {1 / 7:.2f}"
    falls = by_level[0] > by_level[1] > by_level[2] and round(1 / 7, 2) == 0.14
    yield _claim("Figure 2", words, "weights decrease with depth from a uniform 0.14", falls)


def judge_words(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Judge the counts of Table I and of Section V.E, and what is said of depth and of Diatoms.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Yields
    ------
    Claim
    """
    for outcome in outcomes:
        yield from _counts(outcome)
        yield from _deeper(outcome)
        yield from _falling(outcome)
        yield from _less_affected(outcome)
    yield from _prominent(outcomes)
    yield from _smaller_gain(outcomes)


def _counts(outcome: Outcome) -> Iterator[Claim]:
    paper = paper_set(outcome.name)
    if paper is None:
        return
    space, tree = outcome.setting.space, outcome.setting.problem.hierarchy
    told = (paper.n_classes, paper.n_leaves)
    symbols, nodes = (len(space.classes), space.n_leaves), (tree.n_nodes - 1, tree.n_leaves)
    words = (
        f"{told[0]} classes and {told[1]} leaves are printed; there are {symbols[0]} and "
        f"{symbols[1]} symbols of levels, and {nodes[0]} nodes and {nodes[1]} leaves"
    )
    where = f"Table I, {outcome.name}"
    yield _claim(where, words, "these are the symbols of levels", told == symbols)
    yield _claim(where, words, "these are the nodes of the tree", told == nodes)
    if outcome.name in _LEVELS:
        found = tuple(len({c for c in space.classes if c[0] == level}) for level in (1, 2))
        words = f"{found[0]} and {found[1]} classes in levels 1 and 2, in the paper "
        words += " and ".join(map(str, _LEVELS[outcome.name]))
        where = f"Section V.E, levels, {outcome.name}"
        yield _claim(where, words, "there are as many", found == _LEVELS[outcome.name])


def _deeper(outcome: Outcome) -> Iterator[Claim]:
    """H-Ada.MH broadens its lead over the baselines as depth increases."""
    for ours, baselines, place in (
        ("h-ada-first", ("local-shallow", "global-bayes"), "in the collapsed space"),
        ("literal-sign", ("local-tuned", "global-tuned"), "on the tree"),
    ):
        if not {ours, *baselines} <= outcome.answers.keys():
            continue
        others = [outcome.level_accuracy[key] for key in baselines]
        leads = [
            mine - max(each)
            for mine, *each in zip(outcome.level_accuracy[ours], *others, strict=True)
        ]
        words = f"{place} H-Ada.MH leads by {', '.join(f'{lead:+.3f}' for lead in leads)} by level"
        holds = leads[-1] > leads[0] and min(leads) > 0
        yield _claim(f"Figure 6, depth, {outcome.name}", words, "its lead grows with depth", holds)


def _prominent(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """The advantage over AdaBoost.MH is most prominent on Diatoms."""
    gains = {}
    for outcome in outcomes:
        pair = ("H-Ada.MH, collapsed", "AdaBoost.MH, collapsed")
        if set(pair) <= outcome.stages.keys():
            ours, other = (outcome.stages[key]["hamming"][-1] for key in pair)
            gains[outcome.name] = (other - ours) / other
    if "diatoms" in gains and len(gains) > 1:
        told = ", ".join(f"{name} {gain:+.1%}" for name, gain in gains.items())
        words = (
            f"share of AdaBoost.MH's wrong cells that H-Ada.MH saves in the collapsed space "
            f"(below zero: it adds some): {told}"
        )
        holds = gains["diatoms"] == max(gains.values()) and gains["diatoms"] > 0
        yield _claim("Section V.E, Diatoms", words, "the gain is largest on Diatoms", holds)


def _falling(outcome: Outcome) -> Iterator[Claim]:
    """The accuracy of all methods tends to decrease as the hierarchy deepens."""
    if not set(_CONTEST) <= outcome.answers.keys():
        return
    found = {title: outcome.level_accuracy[key] for key, title in _CONTEST.items()}
    told = "; ".join(
        f"{title} {', '.join(f'{value:.3f}' for value in values)}"
        for title, values in found.items()
    )
    n_falling = sum(values[-1] < values[0] for values in found.values())
    words = f"accuracy by level: {told}; it falls from the first to the last of {n_falling} methods"
    where = f"Section V.E, falling, {outcome.name}"
    holds = n_falling == len(found)
    yield Claim(where, f"{where}: {words}.", holds, (n_falling, len(found)))


def _less_affected(outcome: Outcome) -> Iterator[Claim]:
    """H-Ada.MH loses less than the baselines from the level with fewest classes to that with most.

    What is compared is the share of the accuracy that is lost.
    """
    if not set(_CONTEST) <= outcome.answers.keys():
        return
    sizes = Counter(level for level, _ in outcome.setting.space.classes)
    few = min(sizes, key=lambda n: sizes[n])
    many = max(sizes, key=lambda n: (sizes[n], n))  # the deepest of equal ones
    lost = {}
    for key, title in _CONTEST.items():
        accuracy = outcome.level_accuracy[key]
        lost[title] = float(1 - accuracy[many - 1] / accuracy[few - 1])
    ours, *others = lost.values()
    told = ", ".join(f"{title} {share:.1%}" for title, share in lost.items())
    words = (
        f"from level {few} ({sizes[few]} classes) to level {many} ({sizes[many]}) accuracy loses: "
        f"{told}"
    )
    where = f"Section V.E, classes in a level, {outcome.name}"
    yield _claim(where, words, "H-Ada.MH loses least", ours < min(others))


def _smaller_gain(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """The advantage by HMC-loss is smaller on ImageCLEF07A than on the other sets."""
    saved = {}
    for outcome in outcomes:
        if set(_CONTEST) <= outcome.answers.keys():
            ours, *others = (outcome.scores[key]["hmc_loss_unscaled"] for key in _CONTEST)
            saved[outcome.name] = (min(others) - ours) / min(others)
    if "imclef07a" in saved and len(saved) > 1:
        told = ", ".join(f"{name} {share:+.1%}" for name, share in saved.items())
        words = f"share of the HMC-loss of the better baseline that H-Ada.MH saves: {told}"
        holds = 0 < saved["imclef07a"] == min(saved.values())
        what = "it is smaller on ImageCLEF07A"
        yield _claim("Section V.E, HMC-loss", words, what, holds)
