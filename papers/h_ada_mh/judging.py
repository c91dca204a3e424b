"""The claims of the paper beside what was found, in both spaces."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from papers.h_ada_mh.outcome import Outcome
from papers.h_ada_mh.tables import paper_set, rows_per_leaf
from papers.result import Claim

__all__ = ["judge"]

_TREE_BASELINES = ("local-tuned", "global-tuned")
_FORESTS = ("local-forest", "global-forest")
_WEAK = ("local-shallow", "global-bayes")
_TUNED = ("local-level-tuned", "global-bayes-tuned")
_CLEAR = 2.0  # standard errors of a difference
_CLOSEST = "the baselines closest to the paper's"
_MEASURES = {
    "micro_f1": "Micro-F1",
    "macro_f1_by_level": "Macro-F1",
    "h_f": "H-F",
    "hmc_loss_unscaled": "HMC-loss",
}
_TREE_MEASURES = {
    "micro_f1": "Micro-F1",
    "macro_f1": "Macro-F1",
    "h_f": "H-F",
    "hmc_loss": "HMC-loss",
}


def judge(outcomes: Iterable[Outcome]) -> list[Claim]:
    """Say of every claim and data set, in words, whether it holds.

    Parameters
    ----------
    outcomes : iterable of Outcome

    Returns
    -------
    list of Claim
        Claims about answers that are not there are left out.
    """
    claims: list[Claim] = []
    for outcome in outcomes:
        claims += _few_rows(outcome)
        claims += _smaller_loss(outcome)
        claims += _better_scores(outcome, _WEAK, _CLOSEST)
        claims += _better_scores(outcome, _FORESTS, "forests that are not cut short")
        claims += _better_scores(outcome, _TUNED, "tuned baselines in the collapsed space")
        claims += _better_scores(
            outcome, _TREE_BASELINES, "tuned baselines on the tree", "literal-sign", _TREE_MEASURES
        )
        claims += _better_top_k(outcome)
        claims += _better_levels(outcome)
        claims += _more_consistent(outcome)
    return claims


def _verdict(what: str, holds: bool, place: str) -> str:
    return f"the claim of {what} {'holds' if holds else 'does not hold'} {place}"


def _few_rows(outcome: Outcome) -> Iterator[Claim]:
    """Figure 3: the classes of the last level have 7.53 +- 7.245 rows; its digits are cut off."""
    paper = paper_set(outcome.name)
    if paper is None or paper.rows_per_leaf is None:
        return
    mean, deviation = rows_per_leaf(outcome)
    told = paper.rows_per_leaf
    holds = abs(mean - told[0]) < 0.01 and abs(deviation - told[1]) < 0.001
    where = f"Figure 3, {outcome.name}"
    text = (
        f"{where}: {mean:.4f} ± {deviation:.4f} training rows per symbol of the last level, "
        f"{told[0]} ± {told[1]} in the paper: {_verdict('Figure 3', holds, 'to its digits')}."
    )
    yield Claim(where, text, holds)


_CONTESTS_OF_BOOSTING = (
    ("H-Ada.MH", "AdaBoost.MH", "on the tree"),
    ("H-Ada.MH, collapsed", "AdaBoost.MH, collapsed", "in the collapsed space"),
)


def _smaller_loss(outcome: Outcome) -> Iterator[Claim]:
    """Figure 4: H-Ada.MH has the smallest test error in all cases."""
    stages = outcome.stages
    losses = (
        ("hamming", "share of wrong cells"),
        ("hierarchical_hamming", "share of cells that are wrong or below a wrong one"),
    )
    contests = itertools.product(_CONTESTS_OF_BOOSTING, enumerate(losses))
    for (mine, theirs, place), (number, (loss, words)) in contests:
        if not {mine, theirs} <= stages.keys():
            continue
        ours, other = stages[mine][loss][-1], stages[theirs][loss][-1]
        holds = ours < other
        side = "below" if holds else "above" if ours > other else "equal to"
        where = f"Figure 4, {outcome.name}"
        text = (
            f"{where}: {words} {_with_error(ours, stages[mine], number)} by H-Ada.MH after "
            f"{_told_rounds(outcome, mine)}, {side} the "
            f"{_with_error(other, stages[theirs], number)} by AdaBoost.MH after "
            f"{_told_rounds(outcome, theirs)}: {_verdict('Figure 4', holds, place)}."
        )
        yield Claim(where, text, holds)


def _told_rounds(outcome: Outcome, method: str) -> str:
    """Say how many rounds there are, and why they are fewer than they should be."""
    reached, asked = int(outcome.stages[method]["rounds"][-1]), outcome.setting.rounds
    if reached == asked:
        return f"{asked} rounds"
    return f"{reached} of {asked} rounds (then no weak learner has an edge)"


def _with_error(loss: float, stages: Mapping[str, Sequence[float]], number: int) -> str:
    """Write a loss with its standard error over the rows."""
    found = stages.get("standard_errors")
    return f"{loss:.4g}" if found is None else f"{loss:.4f} ± {found[number]:.4f}"


def _better_scores(
    outcome: Outcome,
    baselines: Sequence[str],
    words: str,
    key: str = "h-ada-first",
    measures: Mapping[str, str] = _MEASURES,
) -> Iterator[Claim]:
    """Table II: H-Ada.MH is better than both baselines, Macro-F1 on ImageCLEF07D excepted."""
    if not {key, *baselines} <= outcome.answers.keys():
        return
    ours = outcome.scores[key]
    lost = []
    for measure, title in measures.items():
        sign = -1.0 if "loss" in measure else 1.0
        best = max(sign * outcome.scores[key][measure] for key in baselines) * sign
        if sign * ours[measure] <= sign * best:
            lost.append(f"{title} ({ours[measure]:.3f}, the best of them {best:.3f})")
    excepted = outcome.name == "imclef07d" and all(one.startswith("Macro-F1") for one in lost)
    holds = not lost or excepted
    found = f"not better in {', '.join(lost)}" if lost else "better in all four measures"
    where = f"Table II, {outcome.name}"
    verdict = _verdict("Table II", holds, f"against {words}")
    text = (
        f"{where}: {outcome.answers[key].title} (Micro-F1 {ours['micro_f1']:.3f}, 95% "
        f"{ours['micro_f1_low']:.3f} to {ours['micro_f1_high']:.3f}) is {found}: {verdict}."
    )
    yield Claim(where, text, holds)


def _better_top_k(outcome: Outcome) -> Iterator[Claim]:
    """Figure 5: H-Ada.MH has the best top-k accuracy, k being the depth."""
    for ours, baselines, place in _contests(outcome):
        value = outcome.answers[ours].top_k[-1]
        best = max(outcome.answers[key].top_k[-1] for key in baselines)
        where = f"Figure 5, {outcome.name}"
        holds = value > best
        text = (
            f"{where}: top-{len(outcome.answers[ours].top_k)} accuracy {value:.3f} by H-Ada.MH, "
            f"{best:.3f} by the best baseline ({_most_error(outcome)}): "
            f"{_verdict('Figure 5', holds, place)}."
        )
        yield Claim(where, text, holds)


def _better_levels(outcome: Outcome) -> Iterator[Claim]:
    """Figure 6: H-Ada.MH is the most accurate on every level."""
    for ours, baselines, place in _contests(outcome):
        levels = outcome.level_accuracy[ours]
        others = (outcome.level_accuracy[key] for key in baselines)
        best = [max(each) for each in zip(*others, strict=True)]
        holds = all(a > b for a, b in zip(levels, best, strict=True))
        where = f"Figure 6, {outcome.name}"
        text = (
            f"{where}: accuracy by level {_numbers(levels)} by H-Ada.MH, {_numbers(best)} by the "
            f"best baseline of each ({_level_errors(outcome, ours)}): "
            f"{_verdict('Figure 6', holds, place)}."
        )
        yield Claim(where, text, holds)


def _most_error(outcome: Outcome) -> str:
    """Say how large the standard error of a share of the test rows is at most."""
    return f"standard error {0.5 / math.sqrt(len(outcome.setting.tree.truth)):.3f} at most"


def _level_errors(outcome: Outcome, key: str) -> str:
    """Say how large the standard errors of accuracies by level are; rows count where they reach."""
    space = outcome.setting.answers(outcome.answers[key].space)
    found = []
    for level in range(1, int(space.level.max()) + 1):
        n_rows = int(space.truth[:, space.level == level].any(axis=1).sum())
        found.append(0.5 / math.sqrt(max(n_rows, 1)))
    return f"standard errors {_numbers(found)} at most"


def _contests(outcome: Outcome) -> Iterator[tuple[str, Sequence[str], str]]:
    for ours, baselines, place in (
        ("h-ada-first", _WEAK, f"in the collapsed space, against {_CLOSEST}"),
        ("h-ada-first", _FORESTS, "in the collapsed space, against forests that are not cut short"),
        ("h-ada-first", _TUNED, "in the collapsed space, against tuned baselines"),
        ("literal-sign", _TREE_BASELINES, "on the tree, against tuned baselines"),
    ):
        if {ours, *baselines} <= outcome.answers.keys():
            yield ours, baselines, place


def _more_consistent(outcome: Outcome) -> Iterator[Claim]:
    """Section V.E: H-Ada.MH gives more consistent labels, one path from the root.

    The paper says so of the baselines of Table II; AdaBoost.MH on the tree is told besides.
    """
    baselines = (*_WEAK, *_TUNED, *_FORESTS)
    contests = [("h-ada-first", key, "in the collapsed space") for key in baselines]
    contests.append(("literal-sign", "mh-sign", "on the tree"))
    for mine, theirs, place in contests:
        if not {mine, theirs} <= outcome.answers.keys():
            continue
        space = outcome.setting.answers(outcome.answers[mine].space)
        ours, other = (
            space.is_one_path(outcome.answers[key].predicted).astype(float)
            for key in (mine, theirs)
        )
        gain, error = float((ours - other).mean()), _standard_error(ours - other)
        holds = gain > _CLEAR * error
        side = "more" if holds else "fewer" if -gain > _CLEAR * error else "level"
        rival = "AdaBoost.MH" if theirs == "mh-sign" else f"'{outcome.answers[theirs].title}'"
        where = f"Section V.E, consistent, {outcome.name}"
        text = (
            f"{where}: {place} {ours.mean():.3f} of the rows have one path from the top by "
            f"H-Ada.MH, {other.mean():.3f} by {rival} (difference {gain:+.3f} ± {error:.3f}): "
            f"{side}."
        )
        yield Claim(where, text, holds)


def _standard_error(differences: NDArray[np.float64]) -> float:
    """Standard error of a mean over the test rows."""
    return float(differences.std() / math.sqrt(len(differences)))


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
