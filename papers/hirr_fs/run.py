"""Reproduce the tables and figures of the HiRR-FS paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from palmette.compare import Problem, ResultStore, check_problem, environment
from palmette.exceptions import PalmetteError
from papers.cells import Cells
from papers.hirr_fs.complexity import complexity_table, find_curves, judge_curves
from papers.hirr_fs.couplings import coupling_tables, find_couplings, judge_couplings
from papers.hirr_fs.figures import draw_figures, figure_facts
from papers.hirr_fs.judging import judge
from papers.hirr_fs.methods import REFERENCE, Maker, Options, read_set
from papers.hirr_fs.outcome import Outcome, find_outcome
from papers.hirr_fs.parity import find_parity
from papers.hirr_fs.printed import judge_printed, printed_grids
from papers.hirr_fs.tables import all_tables
from papers.result import PublishedResult

__all__ = ["AS_THE_AUTHORS", "make", "reproduce"]

AS_THE_AUTHORS = ("protein_dd",)  # of the paper's sets the only one with its training rows


def make(
    datasets: Sequence[str],
    rounds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    *,
    quick: bool = False,
) -> PublishedResult:
    """Read the data sets of the data home and do everything; see `papers.run`."""
    if rounds is not None:
        raise PalmetteError(
            f"rounds={rounds!r} was given, but hirr-fs boosts nothing and has no rounds. Leave it "
            "out; for a quick look use --quick."
        )
    for name in datasets:
        check_problem(name)
    problems = (read_set(name) for name in datasets)
    return reproduce(problems, seed, n_jobs, store, watch, quick=quick)


def reproduce(
    problems: Iterable[Problem],
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    methods: dict[str, Maker] | None = None,
    *,
    quick: bool = False,
    with_couplings: bool = True,
) -> PublishedResult:
    """Score all methods on some problems.

    Parameters
    ----------
    problems : iterable of Problem
        With numbers as features and one label per row.
    seed, n_jobs, store, watch
        As in `papers.run`.
    methods : dict of str to makers of scores, optional
        All by default.
    quick : bool
        Whether seconds are measured of small generated problems only.
    with_couplings : bool
        Whether couplings are chosen and tried.

    Returns
    -------
    PublishedResult
    """
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch)
    outcomes, couplings = [], []
    for problem in problems:
        parity = find_parity(problem, cells) if problem.name in AS_THE_AUTHORS else None
        outcomes.append(find_outcome(problem, Options(seed, n_jobs), cells, methods, parity))
        found = find_couplings(problem, cells) if with_couplings else None
        couplings += [] if found is None else [found]
    curves = find_curves(cells, quick=quick)
    return PublishedResult(
        "hirr-fs",
        REFERENCE,
        [
            *all_tables(outcomes),
            *coupling_tables(couplings),
            printed_grids(),
            complexity_table(curves),
        ],
        [
            *judge(outcomes),
            *judge_couplings(couplings),
            *judge_printed(),
            *judge_curves(curves),
        ],
        figure_facts(outcomes, curves),
        draw_figures,
        {outcome.name: _scores(outcome) for outcome in outcomes},
        {**made_with, "seed": seed},
        cells.notes,
    )


def _scores(outcome: Outcome) -> dict[str, dict[str, float]]:
    found = {
        f"{answer.method}, {answer.k} features": {
            "f1": answer.f1,
            "f1_rootless": answer.f1_rootless,
            "tie": answer.tie,
            "accuracy": answer.accuracy,
            "standard_error": answer.error,
            "classify_s": answer.classify_s,
            "select_s": outcome.select_s[answer.method],
        }
        for curve in outcome.curves.values()
        for answer in curve
    }
    if outcome.parity is not None:
        for method, curve in outcome.parity.curves.items():
            for k, scores in curve.items():
                found[f"authors: {method}, {k} features"] = vars(scores).copy()
    return found
