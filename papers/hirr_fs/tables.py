"""Tables 2 to 8 beside what was measured, and ranks over data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from palmette.metrics import compare_over_datasets
from papers.hirr_fs.couplings import CANDIDATES, MAX_ROWS
from papers.hirr_fs.methods import (
    ALL,
    CHOSEN,
    FIVE,
    FIVE_CHOSEN,
    FOUR,
    PAPER_CHOSEN,
    PAPER_DATA,
    PAPER_F1,
    PAPER_GRID,
    PAPER_SECONDS,
    PAPER_TEST_SECONDS,
    PAPER_TIE,
    STRENGTHS,
)
from papers.hirr_fs.outcome import Outcome
from papers.hirr_fs.parity import N_SHOWN, ParityOutcome
from papers.result import Cell, Table

__all__ = ["ALPHA", "BOTH_DATA", "all_tables", "rank_five", "shape_of", "statistic_of"]

# ------------------------------- ranks: Friedman's test, Bonferroni-Dunn's test against one method


ALPHA = 0.1  # as in the paper


def rank_five(
    scores: Mapping[str, Sequence[float | None]],
    control: str,
    *,
    higher_is_better: bool,
    methods: Sequence[str] = FIVE,
) -> dict[str, Any] | None:
    """Rank the five selectors.

    Parameters
    ----------
    scores : mapping of str to five scores
        By data set, in the order of `methods`; None is worse than all others.
    control : str
        The method with which the others are compared.
    higher_is_better : bool
    methods : sequence of 5 str

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
        methods=methods,
        posthoc="bonferroni-dunn",
        control=control,
        higher_is_better=higher_is_better,
        alpha=ALPHA,
    )
    ranks = dict(zip(methods, found.average_ranks.tolist(), strict=True))
    distance = float(found.critical_difference)
    return {
        "control": control,
        "n_datasets": len(scores),
        "average_ranks": ranks,
        "statistic": float(found.iman_davenport_statistic),
        "pvalue": float(found.iman_davenport_pvalue),
        "critical_difference": distance,
        "alpha": ALPHA,
        "alike": [name for name in methods if abs(ranks[name] - ranks[control]) < distance],
    }


def statistic_of(ranks: Sequence[float], n_sets: int) -> float:
    """F of Iman and Davenport, from mean ranks without ties."""
    k = len(ranks)
    chi2 = 12 * n_sets / (k * (k + 1)) * (sum(r * r for r in ranks) - k * (k + 1) ** 2 / 4)
    return (n_sets - 1) * chi2 / (n_sets * (k - 1) - chi2)


# ---------------------------------------------------------------------- tables


BOTH_DATA = {  # in the paper and here, or with a reader
    "protein_dd": "DD",
    "protein_f194_test_only": "F194",
    "protein_f194": "F194",
    "voc": "VOC",
    "cifar100": "Cifar100",
    "sun": "SUN",
    "ilsvrc65": "ILSVRC65",
}
_PROTOCOL = (
    "Features are chosen on training rows only, standardized where they are dense; linear machines "
    "(LinearSVC, C = 1), one per node, are evaluated from the root downwards."
)
_CHOSEN_NOTE = (
    f"{CHOSEN}: strengths relative to the data, of {', '.join(f'{c:g}' for c in CANDIDATES)} each, "
    f"chosen for every part by three folds of at most {MAX_ROWS:,} of its training rows; where "
    "these choose 0 and 0, it is Hier-FS. HiRRfam-FS has alpha = beta = 1 in the units of the "
    "paper, next to nothing against all rows of a node."
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
        rows.append((outcome.name, *shape_of(outcome), outcome.numbers.k))
    rows += [(f"the paper's {name}", *told, None) for name, told in PAPER_DATA.items()]
    notes = [
        "k: features of a node in the tables, as in the paper: 40 of proteins, 300 of texts, a "
        "fifth of others. Nodes count the root. Without test rows: 10-fold cross-validation of "
        "proteins, 3-fold of others, all rows scored together.",
    ]
    return Table("Table 2. The data sets", columns, rows, notes)


def shape_of(outcome: Outcome) -> tuple[int | None, ...]:
    """Return rows, features, nodes, leaves and levels, in the order of Table 2."""
    problem, tree = outcome.problem, outcome.problem.hierarchy
    n_test = len(problem.y_test) if problem.has_split else None
    shape = (len(problem.y_train), n_test, int(problem.X_train.shape[1]))
    return (*shape, int(tree.n_nodes), len(tree.leaves), int(tree.max_depth) + 1)


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
        scaled = parity.standardized[method]
        rows[-1] += (_four_digits(scaled.f1), scaled.tie)
    columns = (
        "selector",
        "TIE, Table 4",
        "printed",
        "F1, Table 5",
        "printed",
        "TIE per row",
        "F1, standardized",
        "TIE per row, standardized",
    )
    notes = [
        f"Features chosen on the training rows, {parity.k} per node; then 10-fold cross-validation "
        "among the test rows, raw values, libsvm. The TIE of Table 4 is the mean of the folds' "
        "sums divided by the rows of all folds, a tenth of the error per row. The last two "
        "columns: the same folds and machines, features standardized and chosen with our settings.",
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
        answers = [outcome.answer(method) for method in (*FIVE, CHOSEN, ALL)]
        values = [None if one is None else float(getattr(one, measure)) for one in answers]
        rows.append((outcome.name, outcome.numbers.k, *(_four_digits(value) for value in values)))
    rows.append(("mean rank", None, *_mean_ranks(outcomes, measure, FIVE), None, None))
    *four, chosen = _mean_ranks(outcomes, measure, FIVE_CHOSEN)
    rows.append(("mean rank, chosen", None, *four, None, chosen, None))
    return Table(title, ("data set", "k", *FIVE, CHOSEN, ALL), rows, [_PROTOCOL, _CHOSEN_NOTE])


def _mean_ranks(outcomes: Sequence[Outcome], measure: str, methods: Sequence[str]) -> list[Cell]:
    from scipy.stats import rankdata

    sign = 1.0 if measure == "tie" else -1.0
    table = []
    for outcome in outcomes:
        answers = [outcome.answer(method) for method in methods]
        if all(answer is not None for answer in answers):
            table.append([sign * float(getattr(answer, measure)) for answer in answers])
    if not table:
        return [None] * len(methods)
    return [f"{rank:.2f}" for rank in rankdata(table, axis=1).mean(axis=0)]


def _four(outcomes: Sequence[Outcome]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        answers = [outcome.answer(method) for method in (*FOUR, CHOSEN)]
        values = [None if one is None else _four_digits(one.f1) for one in answers]
        rows.append((outcome.name, *values))
    columns = ("data set", *FOUR, CHOSEN)
    title = "Figure 9. Hierarchical F1 of the four regularizers"
    return Table(title, columns, rows, [_CHOSEN_NOTE])


def _test_seconds(outcomes: Sequence[Outcome]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        some, every = outcome.answer("Hier-FS"), outcome.answer(ALL)
        told = PAPER_TEST_SECONDS.get(BOTH_DATA.get(outcome.name, ""), (None, None))
        ours = [None if one is None else one.classify_s for one in (some, every)]
        rows.append((outcome.name, *ours, *told))
    columns = ("data set", "k features", ALL, "printed, k", "printed, all")
    notes = ["CPU seconds of fitting the classifiers of one part and predicting its test rows."]
    return Table("Table 3. Seconds of classification", columns, rows, notes)


def _select_seconds(outcomes: Sequence[Outcome]) -> Table:
    six = (*FIVE, CHOSEN)
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        rows.append((outcome.name, *(outcome.select_s.get(method) for method in six)))
        if outcome.parity is not None:
            seconds = (outcome.parity.select_s[method] for method in FIVE)
            rows.append((f"{outcome.name}, authors' protocol", *seconds, None))
        printed = PAPER_SECONDS.get(BOTH_DATA.get(outcome.name, ""))
        if printed is not None:
            rows.append((f"{outcome.name}, printed", *printed, None))
    notes = [
        "CPU seconds of one part; HierMRMR orders as many features as the figures show at most; "
        "HiRRfam-FS stops at a duality gap of .001 of the energy, Hier-FS at a millionth. "
        f"{CHOSEN}: with the choice of strengths, {3 * len(CANDIDATES) ** 2} fits."
    ]
    return Table("Table 7. Seconds of choosing features", ("data set", *six), rows, notes)
