"""What the paper claims, judged by what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from papers.h_ada_mh.outcome import Outcome
from papers.result import Claim

__all__ = ["judge"]

_TREE_BASELINES = ("local-level", "global-flat", "global-flat-bayes")
_FORESTS = ("local-forest", "global-forest")
_WEAK = ("local-shallow", "global-bayes")
_MEASURES = {
    "micro_f1": "Micro-F1",
    "macro_f1_by_level": "Macro-F1",
    "h_f": "H-F",
    "hmc_loss_unscaled": "HMC-loss",
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
        claims += _smaller_loss(outcome)
        claims += _better_scores(outcome, _WEAK, "the baselines closest to the paper's")
        claims += _better_scores(outcome, _FORESTS, "forests that are not cut short")
        claims += _better_top_k(outcome)
        claims += _better_levels(outcome)
        claims += _more_consistent(outcome)
    return claims


def _verdict(what: str, holds: bool, place: str) -> str:
    return f"the claim of {what} {'holds' if holds else 'does not hold'} {place}"


def _smaller_loss(outcome: Outcome) -> Iterator[Claim]:
    """Figure 4: H-Ada.MH has the smallest test error in all cases."""
    stages = outcome.stages
    if not {"H-Ada.MH", "AdaBoost.MH"} <= stages.keys():
        return
    for loss, words in (
        ("hamming", "share of wrong cells"),
        ("hierarchical_hamming", "share of cells that are wrong or below a wrong one"),
    ):
        ours, other = stages["H-Ada.MH"][loss][-1], stages["AdaBoost.MH"][loss][-1]
        holds = ours < other
        side = "below" if holds else "above" if ours > other else "equal to"
        where = f"Figure 4, {outcome.name}"
        text = (
            f"{where}: {words} {ours:.4g} by H-Ada.MH after {stages['H-Ada.MH']['rounds'][-1]} "
            f"rounds, {side} the {other:.4g} by AdaBoost.MH after "
            f"{stages['AdaBoost.MH']['rounds'][-1]}: {_verdict('Figure 4', holds, 'on the tree')}."
        )
        yield Claim(where, text, holds)


def _better_scores(outcome: Outcome, baselines: Sequence[str], words: str) -> Iterator[Claim]:
    """Table II: H-Ada.MH is better than both baselines, Macro-F1 on ImageCLEF07D excepted."""
    if not {"h-ada-first", *baselines} <= outcome.answers.keys():
        return
    ours = outcome.scores["h-ada-first"]
    lost = []
    for measure, title in _MEASURES.items():
        sign = -1.0 if "loss" in measure else 1.0
        best = max(sign * outcome.scores[key][measure] for key in baselines) * sign
        if sign * ours[measure] <= sign * best:
            lost.append(f"{title} ({ours[measure]:.3f}, the best of them {best:.3f})")
    excepted = outcome.name == "imclef07d" and all(one.startswith("Macro-F1") for one in lost)
    holds = not lost or excepted
    found = f"not better in {', '.join(lost)}" if lost else "better in all four measures"
    where = f"Table II, {outcome.name}"
    verdict = _verdict("Table II", holds, f"against {words}")
    text = f"{where}: H-Ada.MH, first positive class a level, is {found}: {verdict}."
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
            f"{best:.3f} by the best baseline: {_verdict('Figure 5', holds, place)}."
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
            f"best baseline of each: {_verdict('Figure 6', holds, place)}."
        )
        yield Claim(where, text, holds)


def _contests(outcome: Outcome) -> Iterator[tuple[str, Sequence[str], str]]:
    for ours, baselines, place in (
        ("h-ada-first", (*_WEAK, *_FORESTS), "in the collapsed space"),
        ("literal-sign", _TREE_BASELINES, "on the tree"),
    ):
        if {ours, *baselines} <= outcome.answers.keys():
            yield ours, baselines, place


def _more_consistent(outcome: Outcome) -> Iterator[Claim]:
    """Section V.E: H-Ada.MH gives more consistent labels, one path from the root."""
    if not {"literal-sign", "mh-sign"} <= outcome.answers.keys():
        return
    ours, other = (outcome.scores[key]["one_path"] for key in ("literal-sign", "mh-sign"))
    holds = ours > other
    where = f"Section V.E, {outcome.name}"
    verdict = _verdict("more consistent labels", holds, "on the tree")
    text = (
        f"{where}: the signs are one path from the top in {ours:.3f} of the rows by H-Ada.MH, in "
        f"{other:.3f} by AdaBoost.MH: {verdict}."
    )
    yield Claim(where, text, holds)


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
