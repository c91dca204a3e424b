"""What the paper claims, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from papers.hirr_fs.methods import ALL, FIVE, FOUR, PAPER_DATA
from papers.hirr_fs.outcome import Answer, Outcome
from papers.hirr_fs.parity import judge_parity
from papers.hirr_fs.tables import BOTH_DATA, rank_five, shape_of
from papers.result import Claim

__all__ = ["honest_scores", "judge"]


_NEAR = 0.005  # of F1: what "the same" may mean
_CONVERGED = 1e-3
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
        claims += _best(outcome)
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
    if told is None or not outcome.problem.has_split:
        return
    found = shape_of(outcome)
    words = f"{', '.join(f'{each:,}' for each in found)} training and test rows, features, nodes, "
    words += "leaves and levels"
    where = f"Table 2, {outcome.name}"
    yield claim(where, words, "these are the printed ones", found == told)


def _best(outcome: Outcome) -> Iterator[Claim]:
    """HiRRfam-FS is best."""
    answers = _five(outcome)
    if len(answers) < len(FIVE):
        return
    words = ", ".join(f"{method} {answer.f1:.4f}" for method, answer in answers.items())
    ours = answers["HiRRfam-FS"].f1
    holds = all(ours >= answer.f1 for answer in answers.values())
    where = f"Table 5, {outcome.name}"
    words = f"F1 {words} (standard error {answers['HiRRfam-FS'].error:.4f})"
    yield claim(where, words, "no other is above HiRRfam-FS", holds)


def _as_good_as_all(outcome: Outcome) -> Iterator[Claim]:
    """As few as k features do as well as all."""
    some, every = outcome.answer("Hier-FS"), outcome.answer(ALL)
    if some is None or every is None:
        return
    words = f"F1 {some.f1:.4f} with {some.k} features of Hier-FS, {every.f1:.4f} with all {every.k}"
    words += f" (standard error {some.error:.4f})"
    statement = f"they do as well but for {_NEAR}"
    yield claim(f"Figure 7, {outcome.name}", words, statement, some.f1 >= every.f1 - _NEAR)


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
    where = f"Figure 9, {outcome.name}"
    yield claim(where, words, "the family is above the other three", holds)


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


def _falls(outcome: Outcome) -> Iterator[Claim]:
    """The objective falls in every sweep, and ten are enough."""
    values, lowest = outcome.objective, outcome.lowest
    if values is None or lowest is None:
        return
    falls = all(after <= before * (1 + 1e-9) for before, after in pairwise(values))
    excess = values[-1] / lowest - 1.0
    words = (
        f"the objective of HiRRfam-FS {'falls' if falls else 'does not fall'} in each of "
        f"{len(values) - 1} sweeps, from {values[0]:.4f} to {values[-1]:.4f}, {excess:.1e} above "
        "the lowest found"
    )
    holds = falls and excess <= _CONVERGED
    yield claim(f"Figure 13, {outcome.name}", words, f"it is settled to {_CONVERGED}", holds)


# ---------------------------------------------------------------------- over data sets


def honest_scores(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """F1 of the five, by data set, where all five were scored."""
    found = {outcome.name: _five(outcome) for outcome in outcomes}
    return {
        name: [answers[method].f1 for method in FIVE]
        for name, answers in found.items()
        if len(answers) == len(FIVE)
    }


def _ranks(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    found = rank_five(honest_scores(outcomes), "HiRRfam-FS", higher_is_better=True)
    if found is None:
        return
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in found["average_ranks"].items())
    where = f"Figure 8, {found['n_datasets']} sets"
    words = f"mean ranks {ranks}; F = {found['statistic']:.2f}, p = {found['pvalue']:.3g}"
    yield claim(where, words, "the five differ", found["pvalue"] < found["alpha"])
    own = found["average_ranks"]["HiRRfam-FS"]
    beaten = [
        name for name in FIVE if found["average_ranks"][name] - own >= found["critical_difference"]
    ]
    words = (
        f"critical difference {found['critical_difference']:.2f} at {found['alpha']}; HiRRfam-FS "
        f"is significantly better than {', '.join(beaten) or 'none'}"
    )
    holds = {"HierFisher", "HierFSNM"} <= set(beaten)
    yield claim(where, words, "it is better than HierFisher and HierFSNM", holds)
