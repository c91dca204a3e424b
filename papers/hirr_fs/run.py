"""Reproduce the tables and figures of the HiRR-FS paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from palmette.compare import Problem, ResultStore, check_problem, environment
from palmette.exceptions import PalmetteError
from papers.cells import Cells, Options, OutOfTime
from papers.hirr_fs.algorithms import descent_table, find_descents, judge_algorithms
from papers.hirr_fs.complexity import complexity_table, find_curves, judge_curves
from papers.hirr_fs.coupling_claims import coupling_tables, judge_couplings
from papers.hirr_fs.couplings import find_couplings
from papers.hirr_fs.figures import draw_figures, figure_facts
from papers.hirr_fs.future import (
    LABEL_SETS,
    extension_table,
    find_extensions,
    judge_extensions,
    read_digits,
    read_label_sets,
)
from papers.hirr_fs.judging import judge
from papers.hirr_fs.methods import REFERENCE, Maker, read_set
from papers.hirr_fs.outcome import Outcome, find_outcome
from papers.hirr_fs.overlap import OVERLAP_SETS, find_overlap, judge_overlaps, overlap_table
from papers.hirr_fs.parity import find_parity
from papers.hirr_fs.printed import judge_printed, printed_grids
from papers.hirr_fs.tables import all_tables
from papers.result import PublishedResult

__all__ = ["AS_THE_AUTHORS", "make", "reproduce"]

_Found = TypeVar("_Found")

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
    minutes: float | None = None,
) -> PublishedResult:
    """Read the data sets of the data home and do everything; see `papers.run`."""
    if rounds is not None:
        raise PalmetteError(
            f"rounds={rounds!r} was given, but hirr-fs boosts nothing and has no rounds. Leave it "
            "out; for a quick look use --quick."
        )
    for name in (*datasets, *(() if quick else (LABEL_SETS,))):
        check_problem(name)
    problems = [read_set(name) for name in datasets]
    extensions = [read_digits(), *(() if quick else (read_label_sets(),))]
    return reproduce(
        problems,
        seed,
        n_jobs,
        store,
        watch,
        quick=quick,
        extensions=extensions,
        minutes=minutes,
    )


def reproduce(
    problems: Sequence[Problem],
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    methods: dict[str, Maker] | None = None,
    *,
    quick: bool = False,
    with_couplings: bool = True,
    extensions: Sequence[Problem] = (),
    minutes: float | None = None,
) -> PublishedResult:
    """Score all methods on some problems.

    Parameters
    ----------
    problems : sequence of Problem
        With numbers as features and one label per row.
    seed, n_jobs, store, watch
        As in `papers.run`.
    methods : dict of str to makers of scores, optional
        All by default.
    quick : bool
        Whether seconds are measured of small generated problems only.
    with_couplings : bool
        Whether couplings are chosen and tried.
    extensions : sequence of Problem
        On which what the paper plans is measured.
    minutes : float, optional
        After this time only results that are stored are used. All methods are fitted on all sets
        before couplings are chosen and tried.

    Returns
    -------
    PublishedResult
    """
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch, minutes)
    options = Options(seed, n_jobs)
    outcomes, couplings, overlaps = [], [], []
    for problem in problems:
        as_authors = problem.name in AS_THE_AUTHORS
        parity = _in_time(partial(find_parity, problem, cells)) if as_authors else None
        found = find_outcome(problem, options, cells, methods, parity)
        outcomes += [found] if found.curves else []
    curves = _in_time(partial(find_curves, cells, quick=quick)) or []
    measured = _in_time(partial(find_extensions, extensions, cells)) or []
    for problem in problems if with_couplings else ():
        couple = _in_time(partial(find_couplings, problem, cells))
        couplings += [] if couple is None else [couple]
        if problem.name in OVERLAP_SETS:
            overlap = _in_time(partial(find_overlap, problem, cells))
            overlaps += [] if overlap is None else [overlap]
    descents = find_descents()
    return PublishedResult(
        "hirr-fs",
        REFERENCE,
        [
            *all_tables(outcomes),
            *coupling_tables(couplings),
            *([overlap_table(overlaps)] if overlaps else []),
            printed_grids(),
            descent_table(descents),
            *([complexity_table(curves)] if curves else []),
            *([extension_table(measured)] if measured else []),
        ],
        [
            *judge(outcomes),
            *judge_couplings(couplings),
            *judge_overlaps(overlaps),
            *judge_printed(),
            *judge_algorithms(descents),
            *judge_curves(curves),
            *judge_extensions(measured),
        ],
        figure_facts(outcomes, curves),
        draw_figures,
        {outcome.name: _scores(outcome) for outcome in outcomes},
        {**made_with, "seed": seed},
        cells.notes,
    )


def _in_time(compute: Callable[[], _Found]) -> _Found | None:
    """Return what is computed, or None if the time is up before."""
    try:
        return compute()
    except OutOfTime:
        return None


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
