"""Claims of the paper on its methods, judged by our scores."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from papers.result import Claim
from papers.soshf.methods import DATASETS, DEFAULT, METHODS
from papers.soshf.outcome import Answer, Gain, Outcome, gain_of
from papers.soshf.published import (
    COLUMNS,
    EARLIER,
    PAPER_AUC,
    PAPER_AUC_RANKS,
    PAPER_F,
    PAPER_F_RANKS,
    PAPER_SETS,
    column_of,
)
from papers.soshf.ranking import rank_methods, rank_scores
from papers.soshf.tables import paper_score

__all__ = ["claim_of", "judge"]

_MEASURES = (("f_own", "macro-F", PAPER_F), ("auc", "macro-AUC", PAPER_AUC))

_NEAR = 0.015
_RIVAL = "extra-trees"
_LITERAL = "sf-h-cs"
_AUC_WINS, _F_WINS, _OF = 6, 5, 7  # of the sets of the earlier rebuilding
_TIMES = 2.0  # of the rival's CPU seconds
# our files are not the paper's: of TMC2007 all is different, of the RCV1 subsets the features are
_OTHER_SETS = ("tmc2007_500",)
_OTHER_COLUMNS = {"rcv1subset1_top944": ("features",), "rcv1subset2_top944": ("features",)}
_ROUNDING = 0.25  # of a mean rank: scores of three digits are often equal


def judge(outcomes: Sequence[Outcome], *, same_sizes: bool = True) -> list[Claim]:
    """Judge the statements.

    Parameters
    ----------
    outcomes : sequence of Outcome
    same_sizes : bool
        Whether ensembles have the sizes of the paper, so that their times can be compared.

    Returns
    -------
    list of Claim
        Those about methods and sets that are not there are left out.
    """
    claims = [*_printed_ranks(), *_printed_counts()]
    for outcome in outcomes:
        claims += _characteristics(outcome)
        claims += _literal(outcome)
        claims += _seconds(outcome)
        claims += [*_slower(outcome), *_slow_on_small(outcome)] if same_sizes else []
    claims += [*_against_print(outcomes), *_ablation(outcomes), *_single_to_oblique(outcomes)]
    claims += [*_worse_by_little(outcomes), *_competitive(outcomes), *_significant(outcomes)]
    return [*claims, *_beats_rival(outcomes), *_first(outcomes), *_order(outcomes)]


def claim_of(where: str, words: str, statement: str, holds: bool) -> Claim:
    """Return a claim; the page of claims leaves its place out, but not its data set or method.

    Examples
    --------
    >>> claim_of("Depth, emotions", "4 and 6", "trees are shallower", True).words
    'Depth, emotions: emotions, 4 and 6; trees are shallower.'
    """
    verdict = statement if holds else f"it does not hold that {statement}"
    last = where.rpartition(", ")[2]
    subject = f"{last}, " if last in DATASETS or last in METHODS else ""
    return Claim(where, f"{where}: {subject}{words}; {verdict}.", holds)


# ---------------------------------------------------------------------- the paper itself


def _printed_ranks() -> Iterator[Claim]:
    """The mean ranks of Table 2 follow from its scores."""
    for title, scores, ranks in (
        ("macro-F", PAPER_F, PAPER_F_RANKS),
        ("macro-AUC", PAPER_AUC, PAPER_AUC_RANKS),
    ):
        methods = list(scores)
        table = {name: [scores[m][i] for m in methods] for i, name in enumerate(COLUMNS)}
        found = rank_scores(table, methods, _LITERAL)
        if found is None:
            continue
        gap = max(abs(found.mean_ranks[m] - ranks[m].rank) for m in methods)
        same = sum(
            found.is_worse(m, pvalues) == told
            for m in methods
            for pvalues, told in (
                (found.by_ranks, ranks[m].by_ranks),
                (found.by_wilcoxon, ranks[m].by_wilcoxon),
            )
            if m != _LITERAL
        )
        words = (
            f"mean ranks made from the printed scores differ from the printed ones by {gap:.2f} at "
            f"most, and {same} of {2 * (len(methods) - 1)} marks of significance come out"
        )
        statement = "the ranks follow from the scores, but for rounding"
        yield claim_of(f"Table 2, {title} as printed", words, statement, gap <= _ROUNDING)


_COUNTS = (  # what the text counts in Table 2: the better one, the other, by F and by AUC
    ("sf-lr-cs", "sf-lr", (7, 7)),
    ("sf-h-cs", "sf-h", (8, 5)),
)


def _printed_counts() -> Iterator[Claim]:
    """The text counts the sets of Table 2 correctly."""
    for (ours, other, counts), place in itertools.product(_COUNTS, (0, 1)):
        _, title, scores = _MEASURES[place]
        n_better = sum(a > b for a, b in zip(scores[ours], scores[other], strict=True))
        words = f"{ours} is above {other} in {title} on {n_better} of 11 sets of Table 2"
        statement = f"it is on {counts[place]}, as the text says"
        yield claim_of("Text, counts as printed", words, statement, n_better == counts[place])
    for _, title, scores in _MEASURES:
        n_worse = sum(a < b for a, b in zip(scores["sf-lr-cs"], scores["sf"], strict=True))
        words = f"sf-lr-cs is below sf in {title} on {n_worse} of 11 sets of Table 2"
        yield claim_of(
            "Text, counts as printed", words, "it is on about half (4 to 7)", 4 <= n_worse <= 7
        )


def _characteristics(outcome: Outcome) -> Iterator[Claim]:
    """Table 1 comes out exactly, where the files are those of the paper."""
    name = column_of(outcome.name)
    if name not in PAPER_SETS or outcome.name in _OTHER_SETS:
        return
    ours, paper = asdict(outcome.facts.table), asdict(PAPER_SETS[name])
    judged = [key for key in ours if key not in _OTHER_COLUMNS.get(outcome.name, ())]
    told = [f"{key} {ours[key]} not {paper[key]}" for key in ours if ours[key] != paper[key]]
    words = ", ".join(told) if told else f"all {len(ours)} figures are equal"
    holds = all(ours[key] == paper[key] for key in judged)
    if len(judged) == len(ours):
        statement = "it comes out exactly"
    else:
        statement = "all that does not depend on the features, which are others, comes out exactly"
    yield claim_of(f"Table 1, {outcome.name}", words, statement, holds)


# ---------------------------------------------------------------------- the literal method


def _literal(outcome: Outcome) -> Iterator[Claim]:
    """SF-H-CS as published gives what it gave before, and what the paper prints."""
    answer = outcome.answers.get(_LITERAL)
    if answer is None or outcome.name not in EARLIER:
        return
    ours = (answer.mean("f_own"), answer.mean("auc"))
    earlier = EARLIER[outcome.name]
    place = COLUMNS.index(outcome.name)
    paper = (PAPER_F[_LITERAL][place], PAPER_AUC[_LITERAL][place])
    gap = max(abs(a - b) for a, b in zip(ours, earlier, strict=True))
    words = (
        f"{_LITERAL} has macro-F {ours[0]:.3f} and macro-AUC {ours[1]:.3f} (splits: "
        f"{len(answer.splits)}); an earlier rebuilding had {earlier[0]:.3f} and {earlier[1]:.3f}, "
        f"the paper {paper[0]:.3f} and {paper[1]:.3f}"
    )
    statement = f"it is within {_NEAR} of the earlier one"
    yield claim_of(f"Table 2, {outcome.name}", words, statement, gap <= _NEAR)


_ABLATION = (
    ("Hellinger splits", "sf-h", "sf-lr"),
    ("Hellinger splits, clusters by rarity", "sf-h-cs", "sf-lr-cs"),
    ("Hellinger splits against single features", "sf-h", "sf"),
    ("clusters by rarity, Hellinger", "sf-h-cs", "sf-h"),
    ("clusters by rarity, logistic", "sf-lr-cs", "sf-lr"),
)


def _ablation(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Each part of the method gains, on most sets."""
    for (words, ours, other), (value, title, _) in itertools.product(_ABLATION, _MEASURES):
        gains = _gains(outcomes, ours, other, value)
        if not gains:
            continue
        n_gains = sum(gain.mean > 0 for gain in gains.values())
        n_clear = sum(gain.mean > 2 * gain.error for gain in gains.values())
        found = f"{ours} less {other} in {title}: {_listed(gains)}"
        found += f"; above on {n_gains} of {len(gains)}, on {n_clear} by two standard errors"
        statement = f"{ours} is above {other} on most sets"
        yield claim_of(f"Ablation, {words}", found, statement, 2 * n_gains > len(gains))


def _gains(outcomes: Sequence[Outcome], ours: str, other: str, value: str) -> dict[str, Gain]:
    """Return what a method gains over another, by data set."""
    found = {
        o.name: gain_of(o.answers[ours], o.answers[other], value)
        for o in outcomes
        if {ours, other} <= o.answers.keys()
    }
    return {name: gain for name, gain in found.items() if gain is not None}


def _listed(gains: dict[str, Gain]) -> str:
    return ", ".join(f"{name} {gain}" for name, gain in gains.items())


_NOTABLY = ("medical", "yeast", "mediamill")  # and TMC2007, of which our file is another one
_NOTABLE = 0.02


def _single_to_oblique(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Logistic splits gain notably over single features on four sets, and lose on others."""
    for value, title, _ in _MEASURES:
        gains = _gains(outcomes, "sf-lr", "sf", value)
        named = {name: gain for name, gain in gains.items() if name in _NOTABLY}
        if named:
            words = f"sf-lr less sf in {title}, of Med and Yeast: {_listed(named)}"
            statement = f"they gain at least {_NOTABLE}"
            notable = all(gain.mean >= _NOTABLE for gain in named.values())
            yield claim_of("Text, logistic splits", words, statement, notable)
        lost = [gain.mean < 0 for name, gain in gains.items() if name not in _NOTABLY]
        if lost:
            words = f"sf-lr less sf in {title}: {_listed(gains)}"
            statement = "they lose on some of the other sets"
            yield claim_of("Text, logistic splits are mixed", words, statement, any(lost))


def _worse_by_little(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Where clusters by rarity lose, they do not lose by a significant amount."""
    for value, title, _ in _MEASURES:
        gains = _gains(outcomes, "sf-h-cs", "sf-h", value)
        worse = {name: gain for name, gain in gains.items() if gain.mean < 0}
        if gains:
            clearly = [gain for gain in worse.values() if gain.mean < -2 * gain.error]
            words = f"sf-h-cs is below sf-h in {title} on {len(worse)} of {len(gains)} sets"
            words += f": {_listed(worse)}" if worse else f" ({_listed(gains)})"
            statement = "it is below by more than two standard errors on none"
            yield claim_of("Text, clusters by rarity rarely harm", words, statement, not clearly)


_COMPETITIVE = 0.02


def _competitive(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """SF-H-CS is competitive with as many trees per label and with COCOA."""
    for other, (value, title, _) in itertools.product(("rf-cost", "cocoa"), _MEASURES):
        gains = _gains(outcomes, _LITERAL, other, value)
        if gains:
            near = sum(gain.mean >= -_COMPETITIVE for gain in gains.values())
            words = f"{_LITERAL} less {other} in {title}: {_listed(gains)}"
            statement = f"it is at most {_COMPETITIVE} below on most sets"
            yield claim_of("Text, competitive", words, statement, 2 * near > len(gains))


_ENOUGH_SETS = 5  # for tests over data sets
_NOT_BEATEN = ("cocoa", "rf-cost", "rf-adasyn", "rf-down", "sf-h", _LITERAL)


def _significant(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """SF-H-CS is significantly better than all but COCOA and forests."""
    for value, title, _ in _MEASURES:
        found = rank_methods(outcomes, tuple(PAPER_F), value, _LITERAL)
        if found is None or found.n_datasets < _ENOUGH_SETS:
            continue
        others = [key for key in found.mean_ranks if key not in _NOT_BEATEN]
        beaten = [key for key in others if found.is_worse(key, found.by_ranks)]
        words = f"by mean ranks over {found.n_datasets} sets it is significantly better in {title} "
        words += f"than {len(beaten)} of {len(others)} ({', '.join(beaten) or 'none'}); ranks must "
        words += f"differ by {found.distance:.1f} (with the paper's 11 sets by less)"
        statement = "it is better than all but COCOA and forests per label"
        so = len(beaten), len(others)
        yield replace(claim_of("Text, significance", words, statement, so[0] == so[1]), so=so)


# ---------------------------------------------------------------------- every method against print


_AS_PRINTED = 0.03


def _against_print(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Every method does as printed, on most of the paper's sets that we have."""
    for key in PAPER_F:
        told, n_near, n_all = [], 0, 0
        for outcome in outcomes:
            answer = outcome.answers.get(key)
            printed = [paper_score(scores, key, outcome.name) for *_, scores in _MEASURES]
            if answer is None or None in printed or outcome.name in _OTHER_SETS:
                continue
            ours = [answer.mean(value) for value, *_ in _MEASURES]
            gaps = [abs(a - b) for a, b in zip(ours, printed, strict=True) if b is not None]
            n_near, n_all = n_near + (max(gaps) <= _AS_PRINTED), n_all + 1
            pairs = "/".join(_with_error(answer, value) for value, *_ in _MEASURES)
            pairs += f" ({len(answer.splits)}; printed {printed[0]:.3f}/{printed[1]:.3f})"
            told.append(f"{outcome.name} {pairs}")
        if told:
            words = f"macro-F/AUC {', '.join(told)}"
            if key == "sf":
                words += " (why it is above print: 'Table 2, SF' of soshf-parts)"
            statement = f"it is within {_AS_PRINTED} of print on most sets"
            yield claim_of(f"Against print, {key}", words, statement, 2 * n_near > n_all)


def _with_error(answer: Answer, value: str) -> str:
    """Write a mean over splits with its standard error."""
    deviation, n_splits = answer.deviation(value), len(answer.by_split(value))
    error = "" if deviation is None else f" ± {deviation / n_splits**0.5:.3f}"
    return f"{answer.mean(value):.3f}{error}"


# ---------------------------------------------------------------------- seconds


_SMALL_SET = 1000  # rows


def _slow_on_small(outcome: Outcome) -> Iterator[Claim]:
    """On small sets SF-H-CS is slower than the other methods."""
    ours, n_rows = outcome.answers.get(_LITERAL), outcome.facts.table.instances
    others = {
        key: answer.mean("fit_s")
        for key, answer in outcome.answers.items()
        if key in PAPER_F and not key.startswith("sf")
    }
    if ours is None or not others or n_rows > _SMALL_SET:
        return
    quicker = [key for key, seconds in others.items() if seconds < ours.mean("fit_s")]
    words = f"fitting takes {ours.mean('fit_s'):.1f} CPU seconds; {len(quicker)} of {len(others)} "
    words += "other methods take fewer, each as published"
    statement = "it is slower than most others"
    holds = 2 * len(quicker) > len(others)
    yield claim_of(f"Small sets, {outcome.name}", words, statement, holds)


def _slower(outcome: Outcome) -> Iterator[Claim]:
    """COCOA takes longer than SF-H-CS."""
    ours, other = outcome.answers.get(_LITERAL), outcome.answers.get("cocoa")
    if ours is None or other is None:
        return
    seconds = ours.mean("fit_s"), other.mean("fit_s")
    words = f"fitting takes {seconds[1]:.1f} CPU seconds by COCOA, {seconds[0]:.1f} by {_LITERAL}"
    yield claim_of(f"Speed, {outcome.name}", words, "COCOA is slower", seconds[1] > seconds[0])


# ---------------------------------------------------------------------- our default


def _seconds(outcome: Outcome) -> Iterator[Claim]:
    """The default takes at most twice the CPU time of as many extra trees."""
    ours, rival = outcome.answers.get(DEFAULT), outcome.answers.get(_RIVAL)
    if ours is None or rival is None:
        return
    ratio = ours.mean("fit_s") / max(rival.mean("fit_s"), 1e-9)
    words = (
        f"fitting takes {ours.mean('fit_s'):.1f} CPU seconds, {rival.mean('fit_s'):.1f} by "
        f"{_RIVAL}: {ratio:.2f} times as many"
    )
    statement = f"our default takes {_TIMES:.0f} times at most"
    yield claim_of(f"Seconds, {outcome.name}", words, statement, ratio <= _TIMES)


def _beats_rival(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """The default is at or above multi-output extra trees on most sets."""
    both = [o for o in outcomes if {DEFAULT, _RIVAL} <= o.answers.keys() and o.name in EARLIER]
    if not both:
        return
    for value, title, needed in (
        ("auc", "macro-AUC", _AUC_WINS),
        ("f_tuned", "macro-F", _F_WINS),
    ):
        gains = {
            o.name: o.answers[DEFAULT].mean(value) - o.answers[_RIVAL].mean(value) for o in both
        }
        n_wins = sum(gain >= 0 for gain in gains.values())
        told = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items())
        words = f"ours less {_RIVAL}: {told}"
        share = max(1, round(len(both) * needed / _OF))
        statement = f"it is at or above on at least {share} of {len(both)} sets"
        yield claim_of(f"Our default, {title}", words, statement, n_wins >= share)


def _first(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """The default is first by mean rank."""
    for value, title in (("auc", "macro-AUC"), ("f_tuned", "macro-F, thresholds tuned")):
        found = rank_methods(outcomes, tuple(METHODS), value, DEFAULT)
        if found is None:
            continue
        best = list(found.mean_ranks.items())[:3]
        words = "mean ranks " + ", ".join(f"{key} {rank:.2f}" for key, rank in best)
        statement = f"no other of {len(found.mean_ranks)} is before ours on {found.n_datasets} sets"
        holds = found.mean_ranks[DEFAULT] == best[0][1]
        yield claim_of(f"Our default, {title}", words, statement, holds)


def _order(outcomes: Sequence[Outcome]) -> Iterator[Claim]:
    """Of the paper's methods the Hellinger forests rank first, as in the paper."""
    for value, title in (("f_own", "macro-F"), ("auc", "macro-AUC")):
        found = rank_methods(outcomes, tuple(PAPER_F), value, _LITERAL)
        if found is None:
            continue
        order = list(found.mean_ranks)
        words = "best mean ranks " + ", ".join(f"{k} {found.mean_ranks[k]:.2f}" for k in order[:4])
        words += f" of {len(order)} methods on {found.n_datasets} sets"
        missing = [key for key in PAPER_F if key not in order]
        words += f" (without {', '.join(missing)})" if missing else ""
        is_first = [order[0] == _LITERAL]
        full = [o for o in outcomes if all(k in o.answers for k in PAPER_F)] if missing else []
        whole = rank_methods(full, tuple(PAPER_F), value, _LITERAL)
        if whole is not None:  # nothing is first of all methods where the best ones are missing
            ranks = ", ".join(f"{k} {rank:.2f}" for k, rank in list(whole.mean_ranks.items())[:4])
            words += f"; of all {len(whole.mean_ranks)} on {whole.n_datasets} sets {ranks}"
            is_first.append(next(iter(whole.mean_ranks)) == _LITERAL)
        statement = f"{_LITERAL} is first of the paper's methods, with its decision rules"
        so = sum(is_first), len(is_first)
        yield replace(claim_of(f"Table 2, {title}", words, statement, all(is_first)), so=so)
