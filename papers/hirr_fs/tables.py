"""Tables 2 to 8, and what the paper claims beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from palmette.metrics import compare_over_datasets
from papers.hirr_fs.methods import (
    ALL,
    FIVE,
    FOUR,
    FRIEDMAN_F,
    PAPER_CD,
    PAPER_CHOSEN,
    PAPER_DATA,
    PAPER_F1,
    PAPER_GRID,
    PAPER_SECONDS,
    PAPER_TEST_SECONDS,
    PAPER_TIE,
    STRENGTHS,
)
from papers.hirr_fs.outcome import Answer, Outcome
from papers.hirr_fs.parity import N_SHOWN, ParityOutcome, judge_parity
from papers.result import Cell, Claim, Table

__all__ = ["ALPHA", "all_tables", "honest_scores", "judge", "rank_five"]

# ------------------------------- ranks: Friedman's test, Bonferroni-Dunn's test against one method


ALPHA = 0.1  # as in the paper


def rank_five(
    scores: Mapping[str, Sequence[float | None]], control: str, *, higher_is_better: bool
) -> dict[str, Any] | None:
    """Rank the five selectors.

    Parameters
    ----------
    scores : mapping of str to five scores
        By data set, in the order of `FIVE`; None is worse than all others.
    control : str
        The method with which the others are compared.
    higher_is_better : bool

    Returns
    -------
    dict or None
        ``control``, ``n_datasets``, ``average_ranks`` by method, ``statistic`` (the F of Iman and
        Davenport), ``pvalue``, ``critical_difference``, ``alpha`` and ``alike``: methods that do
        not differ from `control`. None with fewer than two sets.

    Examples
    --------
    >>> scores = {"a": [1, 2, 3, 4, 5], "b": [2, 1, 3, 4, 5], "c": [1, 2, 3, 4, None]}
    >>> found = rank_five(scores, "Hier-FS", higher_is_better=False)
    >>> round(found["critical_difference"], 3), found["average_ranks"]["Hier-FS"]
    (2.894, 4.0)
    """
    if len(scores) < 2:
        return None
    told = [x for row in scores.values() for x in row if x is not None]
    worst = min(told) - 1.0 if higher_is_better else max(told) + 1.0
    table = [[worst if x is None else float(x) for x in row] for row in scores.values()]
    found = compare_over_datasets(
        table,
        methods=FIVE,
        posthoc="bonferroni-dunn",
        control=control,
        higher_is_better=higher_is_better,
        alpha=ALPHA,
    )
    ranks = dict(zip(FIVE, found.average_ranks.tolist(), strict=True))
    distance = float(found.critical_difference)
    return {
        "control": control,
        "n_datasets": len(scores),
        "average_ranks": ranks,
        "statistic": float(found.iman_davenport_statistic),
        "pvalue": float(found.iman_davenport_pvalue),
        "critical_difference": distance,
        "alpha": ALPHA,
        "alike": [name for name in FIVE if abs(ranks[name] - ranks[control]) < distance],
    }


# ---------------------------------------------------------------------- tables


_BOTH_DATA = {"protein_dd": "DD", "protein_f194_test_only": "F194"}  # in the paper and here
_PROTOCOL = (
    "Features are chosen on training rows only, standardised where they are dense; linear machines "
    "(LinearSVC, C = 1), one per node, are evaluated from the root downwards."
)


def all_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Return the tables that the outcomes have something for."""
    return [
        _data(outcomes),
        *(table for one in outcomes if one.parity for table in _parity(one.parity)),
        _honest(outcomes, "Table 4. Tree induced error per row, honest protocol", "tie"),
        _honest(outcomes, "Table 5. Hierarchical F1, honest protocol", "f1"),
        _four(outcomes),
        _test_seconds(outcomes),
        _select_seconds(outcomes),
    ]


def _data(outcomes: Sequence[Outcome]) -> Table:
    columns = ("data set", "train", "test", "features", "nodes", "leaves", "levels", "k")
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        problem, tree = outcome.problem, outcome.problem.hierarchy
        n_test = len(problem.y_test) if problem.has_split else None
        shape = (len(problem.y_train), n_test, int(problem.X_train.shape[1]))
        size = (int(tree.n_nodes), len(tree.leaves), int(tree.max_depth) + 1)
        rows.append((outcome.name, *shape, *size, outcome.numbers.k))
    rows += [(f"the paper's {name}", *told, None) for name, told in PAPER_DATA.items()]
    notes = [
        "k: features of a node in the tables, as in the paper: 40 of proteins, 300 of texts, a "
        "fifth of others. Nodes count the root. Without test rows: 10-fold cross-validation of "
        "proteins, 3-fold of others, all rows scored together.",
    ]
    return Table("Table 2. The data sets", columns, rows, notes)


# ---------------------------------------------------------------------- the authors' protocol


def _parity(parity: ParityOutcome) -> Iterator[Table]:
    methods = (*FIVE[:4], "HiRRpar-FS", "HiRRsib-FS", FIVE[4], ALL)
    printed = {
        name: (tie, f1) for name, tie, f1 in zip(FIVE, PAPER_TIE["DD"], PAPER_F1["DD"], strict=True)
    }
    rows: list[tuple[Cell, ...]] = []
    for method in methods:
        curve = parity.curves[method]
        scores = curve[parity.k] if parity.k in curve else next(iter(curve.values()))
        tie, f1 = printed.get(method, (None, None))
        values = (scores.tie_as_printed, tie, scores.f1, f1)
        rows.append((method, *(_four_digits(value) for value in values), scores.tie))
        scaled = parity.standardised[method]
        rows[-1] += (_four_digits(scaled.f1), scaled.tie)
    columns = (
        "selector",
        "TIE, Table 4",
        "printed",
        "F1, Table 5",
        "printed",
        "TIE per row",
        "F1, standardised",
        "TIE per row, standardised",
    )
    notes = [
        f"Features chosen on the training rows, {parity.k} per node; then 10-fold cross-validation "
        "among the test rows, raw values, libsvm. The TIE of Table 4 is the mean of the folds' "
        "sums divided by the rows of all folds, a tenth of the error per row. The last two "
        "columns: the same folds and machines, features standardised and chosen with our settings.",
    ]
    yield Table("Tables 4 and 5. DD by the authors' protocol", columns, rows, notes)
    yield _chosen(parity)
    if parity.grid:
        yield _grid(parity)


def _four_digits(value: float | None) -> Cell:
    return None if value is None else f"{value:.4f}"


def _chosen(parity: ParityOutcome) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (name, ours), (told, theirs) in zip(
        parity.chosen.items(), PAPER_CHOSEN.items(), strict=True
    ):
        common = len(set(ours) & set(theirs))
        missing = ", ".join(str(feature) for feature in sorted(set(theirs) - set(ours)))
        rows.append((f"{told} ({name})", common, missing or "none"))
    columns = ("node", f"of the printed {N_SHOWN}", "printed, and not found")
    return Table("Table 6. Features that HiRRfam-FS chooses on DD", columns, rows)


def _grid(parity: ParityOutcome) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row, beta in enumerate(STRENGTHS):
        ours = [_four_digits(parity.grid[alpha, beta]) for alpha in STRENGTHS]
        printed = [_four_digits(line[row]) for line in PAPER_GRID]
        rows.append((f"{beta:g}", *ours, "", *printed))
    strengths = tuple(f"{alpha:g}" for alpha in STRENGTHS)
    columns = ("beta \\ alpha", *strengths, "", *(f"printed {name}" for name in strengths))
    notes = ["Printed figures with alpha and beta exchanged, as they are in the paper's table."]
    return Table("Table 8(b). DD, a fifth of the features", columns, rows, notes)


# ---------------------------------------------------------------------- the honest protocol


def _honest(outcomes: Sequence[Outcome], title: str, measure: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        answers = [outcome.answer(method) for method in (*FIVE, ALL)]
        values = [None if one is None else float(getattr(one, measure)) for one in answers]
        rows.append((outcome.name, outcome.numbers.k, *(_four_digits(value) for value in values)))
    rows.append(("mean rank", None, *_mean_ranks(outcomes, measure), None))
    return Table(title, ("data set", "k", *FIVE, ALL), rows, [_PROTOCOL])


def _mean_ranks(outcomes: Sequence[Outcome], measure: str) -> list[Cell]:
    from scipy.stats import rankdata

    sign = 1.0 if measure == "tie" else -1.0
    table = []
    for outcome in outcomes:
        answers = [outcome.answer(method) for method in FIVE]
        if all(answer is not None for answer in answers):
            table.append([sign * float(getattr(answer, measure)) for answer in answers])
    if not table:
        return [None] * len(FIVE)
    return [f"{rank:.2f}" for rank in rankdata(table, axis=1).mean(axis=0)]


def _four(outcomes: Sequence[Outcome]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        answers = [outcome.answer(method) for method in FOUR]
        values = [None if one is None else _four_digits(one.f1) for one in answers]
        rows.append((outcome.name, *values))
    return Table("Figure 9. Hierarchical F1 of the four regularisers", ("data set", *FOUR), rows)


def _test_seconds(outcomes: Sequence[Outcome]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        some, every = outcome.answer("Hier-FS"), outcome.answer(ALL)
        told = PAPER_TEST_SECONDS.get(_BOTH_DATA.get(outcome.name, ""), (None, None))
        ours = [None if one is None else one.classify_s for one in (some, every)]
        rows.append((outcome.name, *ours, *told))
    columns = ("data set", "k features", ALL, "printed, k", "printed, all")
    notes = ["CPU seconds of fitting the classifiers of one part and predicting its test rows."]
    return Table("Table 3. Seconds of classification", columns, rows, notes)


def _select_seconds(outcomes: Sequence[Outcome]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        rows.append((outcome.name, *(outcome.select_s.get(method) for method in FIVE)))
        if outcome.parity is not None:
            seconds = (outcome.parity.select_s[method] for method in FIVE)
            rows.append((f"{outcome.name}, authors' protocol", *seconds))
        printed = PAPER_SECONDS.get(_BOTH_DATA.get(outcome.name, ""))
        if printed is not None:
            rows.append((f"{outcome.name}, printed", *printed))
    notes = [
        "CPU seconds of one part; HierMRMR orders as many features as the figures show at most; "
        "HiRRfam-FS stops at a duality gap of .001 of the energy, Hier-FS at a millionth."
    ]
    return Table("Table 7. Seconds of choosing features", ("data set", *FIVE), rows, notes)


# ---------------------------------------------------------------------- claims


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
    claims = [_printed_ranks()]
    for outcome in outcomes:
        if outcome.parity is not None:
            claims += judge_parity(outcome.parity)
    for outcome in outcomes:
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


def _best(outcome: Outcome) -> Iterator[Claim]:
    """HiRRfam-FS is best."""
    answers = _five(outcome)
    if len(answers) < len(FIVE):
        return
    words = ", ".join(f"{method} {answer.f1:.4f}" for method, answer in answers.items())
    ours = answers["HiRRfam-FS"].f1
    holds = all(ours >= answer.f1 for answer in answers.values())
    where = f"Table 5, {outcome.name}"
    yield claim(where, f"F1 {words}", "no other is above HiRRfam-FS", holds)


def _as_good_as_all(outcome: Outcome) -> Iterator[Claim]:
    """As few as k features do as well as all."""
    some, every = outcome.answer("Hier-FS"), outcome.answer(ALL)
    if some is None or every is None:
        return
    words = f"F1 {some.f1:.4f} with {some.k} features of Hier-FS, {every.f1:.4f} with all {every.k}"
    statement = f"they do as well but for {_NEAR}"
    yield claim(f"Figure 7, {outcome.name}", words, statement, some.f1 >= every.f1 - _NEAR)


def _few_words(outcome: Outcome) -> Iterator[Claim]:
    """Below 1,000 features Hier-FS is above Fisher and FSNM on texts."""
    if outcome.name not in _TEXTS:
        return
    rivals = [outcome.curves[method] for method in ("HierFisher", "HierFSNM")]
    for few in (answer for answer in outcome.curves["Hier-FS"] if answer.k < 1000):
        others = [next(one.f1 for one in curve if one.k == few.k) for curve in rivals]
        words = (
            f"F1 with {few.k} features: Hier-FS {few.f1:.4f}, HierFisher {others[0]:.4f}, HierFSNM "
            f"{others[1]:.4f}"
        )
        yield claim(
            f"Figure 12, {outcome.name}", words, "Hier-FS is above both", few.f1 > max(others)
        )


def _family(outcome: Outcome) -> Iterator[Claim]:
    """Both ties together are better than either and than none."""
    answers = {method: outcome.answer(method) for method in FOUR}
    found = {method: answer.f1 for method, answer in answers.items() if answer is not None}
    if len(found) < len(FOUR):
        return
    words = "F1 " + ", ".join(f"{method} {f1:.4f}" for method, f1 in found.items())
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


def _printed_ranks() -> Claim:
    found = rank_five(PAPER_F1, "HiRRfam-FS", higher_is_better=True)
    assert found is not None  # six sets are printed
    statistic, distance = found["statistic"], found["critical_difference"]
    rough = _statistic_of([round(rank, 2) for rank in found["average_ranks"].values()], 6)
    words = (
        f"the printed Table 5 has an F of {statistic:.2f} (printed {FRIEDMAN_F}; {rough:.2f} with "
        f"mean ranks rounded to two digits) and a critical difference of {distance:.3f} (printed "
        f"{PAPER_CD})"
    )
    near = abs(statistic - FRIEDMAN_F) < 0.005 and abs(distance - PAPER_CD) < 0.0005
    return claim("Figure 8, as printed", words, "both are right", near)


def _statistic_of(ranks: Sequence[float], n_sets: int) -> float:
    """F of Iman and Davenport, from mean ranks without ties."""
    k = len(ranks)
    chi2 = 12 * n_sets / (k * (k + 1)) * (sum(r * r for r in ranks) - k * (k + 1) ** 2 / 4)
    return (n_sets - 1) * chi2 / (n_sets * (k - 1) - chi2)


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
