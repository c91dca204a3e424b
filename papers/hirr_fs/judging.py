"""What the paper claims, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from papers.hirr_fs.methods import (
    ALL,
    CHOSEN,
    FIVE,
    FIVE_CHOSEN,
    FOUR,
    NEAR,
    PAPER_DATA,
    SETTLED,
)
from papers.hirr_fs.outcome import Answer, Outcome
from papers.hirr_fs.parity import judge_parity
from papers.hirr_fs.tables import BOTH_DATA, rank_five, shape_of
from papers.result import Claim

__all__ = ["honest_scores", "honest_seconds", "judge"]


_FEW_DOCUMENTS = "news20_951"
_TEXTS = ("news20_951", "20newsgroups_bydate", "clinc150")
_SLOWER = ("HierFSNM", "HierMRMR")


def judge(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Judge the statements of the paper.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    list of Claim
    """
    claims: list[Claim] = []
    for outcome in outcomes:
        if outcome.parity is not None:
            claims += judge_parity(outcome.parity)
    for outcome in outcomes:
        claims += _shape(outcome)
        claims += _evenly(outcome)
        claims += _best(outcome)
        claims += _chosen(outcome)
        claims += _as_good_as_all(outcome)
        claims += _few_words(outcome)
        claims += _family(outcome)
        claims += _seconds(outcome)
        claims += _falls(outcome)
    return claims + list(_ranks(outcomes))


def claim(where: str, words: str, statement: str, holds: bool) -> Claim:
    """Write a claim: what was measured, and whether a statement holds."""
    verdict = statement if holds else f"it does not hold that {statement}"
    return Claim(where, f"{where}: {words}; {verdict}.", holds)


def _five(outcome: Outcome) -> dict[str, Answer]:
    found = {method: outcome.answer(method) for method in FIVE}
    return {method: answer for method, answer in found.items() if answer is not None}


def _shape(outcome: Outcome) -> Iterator[Claim]:
    """Table 2, of sets whose training rows we have."""
    told = PAPER_DATA.get(BOTH_DATA.get(outcome.name, ""))
    if told is None:
        return
    found = shape_of(outcome)
    if not outcome.problem.has_split:  # of one set we have the test rows only
        rest, theirs = (found[0], *found[2:]), told[1:]
        words = f"{', '.join(f'{each:,}' for each in rest)} test rows, features, nodes, leaves and "
        words += f"levels; the {told[0]:,} training rows cannot be had"
        yield claim(f"Table 2, {outcome.name}", words, "these are the printed ones", rest == theirs)
        return
    words = f"{', '.join(f'{each:,}' for each in found)} training and test rows, features, nodes, "
    words += "leaves and levels"
    where = f"Table 2, {outcome.name}"
    yield claim(where, words, "these are the printed ones", found == told)


def _evenly(outcome: Outcome) -> Iterator[Claim]:
    """Section 4.4.6: "951 documents evenly distributed across 20 classes"."""
    if outcome.name != _FEW_DOCUMENTS:
        return
    problem = outcome.problem
    _, counts = np.unique(np.asarray(problem.y_train, dtype=str), return_counts=True)
    words = (
        f"{counts.sum()} documents of {len(counts)} classes, {counts.min()} to {counts.max()} of a "
        "class"
    )
    statement = "they are evenly distributed, with at most one more in some classes than in others"
    holds = bool(counts.max() - counts.min() <= 1)
    yield claim(f"Section 4.4.6, {outcome.name}", words, statement, holds)


def _best(outcome: Outcome) -> Iterator[Claim]:
    """HiRRfam-FS is best."""
    answers = _five(outcome)
    if len(answers) < len(FIVE):
        return
    words = ", ".join(f"{method} {answer.f1:.4f}" for method, answer in answers.items())
    ours = answers["HiRRfam-FS"].f1
    holds = all(ours > answer.f1 for name, answer in answers.items() if name != "HiRRfam-FS")
    where = f"Table 5, {outcome.name}"
    words = f"F1 {words} (standard error {answers['HiRRfam-FS'].error:.4f}; a tie is no lead)"
    yield claim(where, words, "HiRRfam-FS is above all others", holds)


def _chosen(outcome: Outcome) -> Iterator[Claim]:
    """HiRRfam-FS with strengths that are chosen on training rows, beside Hier-FS and all five."""
    own, answers = outcome.answer(CHOSEN), _five(outcome)
    if own is None or outcome.strengths is None or len(answers) < len(FIVE):
        return
    pairs = [f"{parent:g} and {sibling:g}" for parent, sibling in outcome.strengths]
    told = "; ".join(f"{pair} in {pairs.count(pair)}" for pair in dict.fromkeys(pairs))
    where = f"Chosen, Table 5, {outcome.name}"
    words = f"strengths of parents and siblings {told} of {len(pairs)} parts"
    coupled = any(map(any, outcome.strengths))
    if not coupled:
        words += ", which is Hier-FS"
    yield claim(where, words, "couplings are chosen", coupled)
    if coupled:
        none = answers["Hier-FS"]
        words = (
            f"F1 {own.f1:.4f}, without couplings {none.f1:.4f}, with alpha = beta = 1 "
            f"{answers['HiRRfam-FS'].f1:.4f} (standard error {own.error:.4f}; a tie is no lead)"
        )
        yield claim(where, words, "chosen couplings are above none", own.f1 > none.f1)
    rivals = [answers[method].f1 for method in FIVE[:3]]
    words = f"F1 {own.f1:.4f}, the best of HierFisher, HierFSNM and HierMRMR {max(rivals):.4f}"
    yield claim(where, words, "chosen couplings beat the three rivals", own.f1 > max(rivals))


def _as_good_as_all(outcome: Outcome) -> Iterator[Claim]:
    """As few as k features do as well as all."""
    some, every = outcome.answer("Hier-FS"), outcome.answer(ALL)
    if some is None or every is None:
        return
    words = f"F1 {some.f1:.4f} with {some.k} features of Hier-FS, {every.f1:.4f} with all {every.k}"
    words += f" (standard error {some.error:.4f})"
    statement = f"they do as well but for {NEAR}"
    yield claim(f"Figure 7, {outcome.name}", words, statement, some.f1 >= every.f1 - NEAR)


def _few_words(outcome: Outcome) -> Iterator[Claim]:
    """Below 1,000 features Hier-FS is above Fisher and FSNM on texts; with 300, above all."""
    if outcome.name not in _TEXTS:
        return
    some, every = outcome.answer("Hier-FS"), outcome.answer(ALL)
    if some is not None and every is not None:
        words = f"F1 {some.f1:.4f} with {some.k} words, {every.f1:.4f} with all {every.k:,}"
        words += f" (standard error {some.error:.4f})"
        statement = "they exceed all words"
        yield claim(f"Figure 12, {outcome.name}", words, statement, some.f1 > every.f1)
    rivals = [outcome.curves[method] for method in ("HierFisher", "HierFSNM")]
    gaps = {}
    for few in (answer for answer in outcome.curves["Hier-FS"] if answer.k < 1000):
        others = [next(one.f1 for one in curve if one.k == few.k) for curve in rivals]
        gaps[few.k] = few.f1 - max(others)
        words = (
            f"F1 with {few.k} features: Hier-FS {few.f1:.4f}, HierFisher {others[0]:.4f}, HierFSNM "
            f"{others[1]:.4f} (standard error {few.error:.4f})"
        )
        yield claim(
            f"Figure 12, {outcome.name}", words, "Hier-FS is above both", few.f1 > max(others)
        )

    if len(gaps) > 1:
        words = "Hier-FS is ahead by " + ", ".join(
            f"{gap:+.4f} with {k}" for k, gap in gaps.items()
        )
        statement = "its advantage is the larger, the fewer words there are"
        values = list(gaps.values())
        holds = values == sorted(values, reverse=True)
        yield claim(f"Figure 12, {outcome.name}", words, statement, holds)


def _family(outcome: Outcome) -> Iterator[Claim]:
    """Both ties together are better than either and than none."""
    answers = {method: outcome.answer(method) for method in FOUR}
    found = {method: answer.f1 for method, answer in answers.items() if answer is not None}
    if len(found) < len(FOUR):
        return
    words = "F1 " + ", ".join(f"{method} {f1:.4f}" for method, f1 in found.items())
    errors = [answer.error for answer in answers.values() if answer is not None]
    words += f" (standard error {max(errors):.4f})"
    if len(set(found.values())) == 1:
        words += ", as alpha = beta = 1 is next to nothing against all rows of a node"
    holds = all(found["HiRRfam-FS"] > found[method] for method in FOUR[:3])
    words += "; a tie is no lead"
    where = f"Figure 9, {outcome.name}"
    yield claim(where, words, "the family is above the other three", holds)
    par, sib, none = (found[method] for method in ("HiRRpar-FS", "HiRRsib-FS", "Hier-FS"))
    words = f"F1 {par:.4f} with parents alone, {sib:.4f} with siblings alone, {none:.4f} with none"
    yield claim(where, words, "parents alone are above siblings alone", par > sib)
    yield claim(where, words, "siblings alone are worse than none", sib < none)


def _seconds(outcome: Outcome) -> Iterator[Claim]:
    """Choosing is quick, and makes classification quicker."""
    some, every = outcome.answer("Hier-FS"), outcome.answer(ALL)
    if some is not None and every is not None:
        words = f"{some.classify_s:.2f} s with {some.k} features, {every.classify_s:.2f} s with all"
        holds = some.classify_s < every.classify_s
        where = f"Table 3, {outcome.name}"
        yield claim(where, words, "classification is quicker with the chosen ones", holds)
    seconds = {method: outcome.select_s[method] for method in FIVE if method in outcome.select_s}
    if len(seconds) == len(FIVE):
        words = ", ".join(f"{method} {value:.2f} s" for method, value in seconds.items())
        holds = all(seconds["Hier-FS"] < seconds[method] for method in _SLOWER)
        where = f"Table 7, {outcome.name}"
        yield claim(where, words, "Hier-FS is quicker than HierFSNM and HierMRMR", holds)
        fisher, ours = outcome.answer("HierFisher"), outcome.answer("Hier-FS")
        if fisher is not None and ours is not None:
            quick = seconds["HierFisher"], seconds["Hier-FS"]
            words = (
                f"HierFisher {quick[0]:.2f} s and F1 {fisher.f1:.4f}, Hier-FS {quick[1]:.2f} s and "
                f"{ours.f1:.4f}"
            )
            holds = quick[0] < quick[1] and fisher.f1 < ours.f1
            yield claim(where, words, "HierFisher is quicker, but worse", holds)


def _falls(outcome: Outcome) -> Iterator[Claim]:
    """The objective falls in every sweep, and ten are enough."""
    values, lowest = outcome.objective, outcome.lowest
    if values is None or lowest is None:
        return
    falls = all(after <= before * (1 + 1e-9) for before, after in pairwise(values))
    excess = values[-1] / lowest - 1.0
    words = (
        f"the objective of HiRRfam-FS {'falls' if falls else 'does not fall'} in each of "
        f"{len(values) - 1} sweeps, from {values[0]:.4f} to {values[-1]:.4f}, {excess:.3e} above "
        "the lowest found"
    )
    holds = falls and excess <= SETTLED
    yield claim(f"Figure 13, {outcome.name}", words, f"it is settled to {SETTLED}", holds)


# ---------------------------------------------------------------------- over data sets


def honest_scores(
    outcomes: Sequence[Outcome], methods: Sequence[str] = FIVE
) -> dict[str, list[float]]:
    """F1 of five methods, by data set, where all five were scored."""
    scores = {}
    for outcome in outcomes:
        answers = [outcome.answer(method) for method in methods]
        found = [answer.f1 for answer in answers if answer is not None]
        if len(found) == len(methods):
            scores[outcome.name] = found
    return scores


def honest_seconds(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """CPU seconds of choosing features by the five, by data set."""
    return {
        outcome.name: [outcome.select_s[method] for method in FIVE]
        for outcome in outcomes
        if all(method in outcome.select_s for method in FIVE)
    }


def _ranks(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    yield from _ranked(honest_scores(outcomes), "HiRRfam-FS", FIVE, "Figure 8")
    yield from _ranked(
        honest_scores(outcomes, FIVE_CHOSEN), CHOSEN, FIVE_CHOSEN, "Chosen, Figure 8"
    )
    found = rank_five(honest_seconds(outcomes), "Hier-FS", higher_is_better=False)
    if found is None:
        return
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in found["average_ranks"].items())
    words = (
        f"mean ranks of seconds {ranks}; F = {found['statistic']:.2f}, p = {found['pvalue']:.3g}, "
        f"critical difference {found['critical_difference']:.2f} at {found['alpha']}"
    )
    own = found["average_ranks"]["Hier-FS"]
    slower = {
        name
        for name, rank in found["average_ranks"].items()
        if rank - own >= found["critical_difference"]
    }
    holds = set(_SLOWER) <= slower and "HierFisher" in found["alike"]
    statement = "Hier-FS is significantly quicker than HierFSNM and HierMRMR, and like HierFisher"
    yield claim(f"Figure 10, {found['n_datasets']} sets", words, statement, holds)


def _ranked(
    scores: dict[str, list[float]], control: str, methods: Sequence[str], place: str
) -> Iterator[Claim]:
    """Friedman's test over sets, and who differs from the family."""
    found = rank_five(scores, control, higher_is_better=True, methods=methods)
    if found is None:
        return
    average = found["average_ranks"]
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in average.items())
    where = f"{place}, {found['n_datasets']} sets"
    words = f"mean ranks {ranks}; F = {found['statistic']:.2f}, p = {found['pvalue']:.3g}"
    yield claim(where, words, "the five differ", found["pvalue"] < found["alpha"])
    own = average[control]
    beaten = [name for name in methods if average[name] - own >= found["critical_difference"]]
    words = (
        f"critical difference {found['critical_difference']:.2f} at {found['alpha']}; {control} "
        f"is significantly better than {', '.join(beaten) or 'none'}"
    )
    holds = {"HierFisher", "HierFSNM"} <= set(beaten)
    yield claim(where, words, "it is better than HierFisher and HierFSNM", holds)
    words = (
        f"within the critical difference of {control} are "
        f"{', '.join(name for name in found['alike'] if name != control) or 'none'}"
    )
    holds = {"Hier-FS", "HierMRMR"} <= set(found["alike"])
    yield claim(where, words, "it is like Hier-FS and HierMRMR", holds)
