"""Reproduce the tables and figures of the AdaBoost.BHC paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from palmette.compare import Problem, ResultStore, check_problem, environment, find_problem
from papers.adaboost_bhc.copies import PAIR_GRID, copies_methods, find_pair_growth
from papers.adaboost_bhc.figures import draw_figures, figure_facts, glass_facts
from papers.adaboost_bhc.further import (
    Further,
    find_hardness,
    further_tables,
    pair_tables,
    tree_methods,
)
from papers.adaboost_bhc.judging import judge_tables
from papers.adaboost_bhc.methods import (
    LEARNERS,
    METHODS,
    PAPER_PROTOCOL,
    Method,
    Protocol,
    find_methods,
)
from papers.adaboost_bhc.outcome import Grid, Outcome, find_growth, find_outcome
from papers.adaboost_bhc.sizes import (
    Sizes,
    find_clouds,
    find_sizes,
    size_tables,
)
from papers.adaboost_bhc.tables import (
    error_tables,
    glass_table,
    growth_tables,
    set_table,
    time_table,
)
from papers.cells import Cells
from papers.result import PublishedResult

__all__ = ["GLASS", "REFERENCE", "ROUNDS", "make", "reproduce"]

ROUNDS = 100  # as in the paper
_QUICK_ROUNDS = 20
REFERENCE = "G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009."
GLASS = "glass"


def make(
    datasets: Sequence[str],
    rounds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    *,
    quick: bool = False,
    splits: int | None = None,
) -> PublishedResult:
    """Read the data sets of the data home and do everything; see `papers.run`."""
    for name in datasets:
        check_problem(name)
    problems = (find_problem(name) for name in datasets)
    if quick and rounds is None:
        rounds = _QUICK_ROUNDS
    protocol = Protocol()
    if quick or splits is not None:
        n_repeats = 1 if splits is None else splits
        # 10 are the protocol of the paper: 10 x 4-fold, or 40 fits
        protocol = Protocol(n_repeats=n_repeats, n_seeds=protocol.n_folds * n_repeats)
    # the cost of a round takes long to measure, and is noise at small sizes
    timed = not quick
    return reproduce(problems, rounds, seed, n_jobs, store, watch, protocol=protocol, timed=timed)


def reproduce(
    problems: Iterable[Problem],
    rounds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    *,
    protocol: Protocol | None = None,
    grid: Grid | None = None,
    pair_grid: Grid = PAIR_GRID,
    timed: bool = True,
) -> PublishedResult:
    """Fit the four methods on some problems, and time their rounds as problems grow.

    Parameters
    ----------
    problems : iterable of Problem
        One label per row, numbers as features.
    rounds, seed, n_jobs, store, watch
        As in `papers.run`.
    protocol : Protocol, optional
        How often a set is fitted; by default less often than in the paper.
    grid : Grid, optional
        Sizes of Table 1.
    pair_grid : Grid
        Sizes of Table 1 for a weak learner of cost N^2.
    timed : bool
        Whether Table 1 is measured.

    Returns
    -------
    PublishedResult
    """
    n_rounds = ROUNDS if rounds is None else rounds
    protocol = Protocol() if protocol is None else protocol
    grid = _grid(Grid() if grid is None else grid, n_rounds)
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch)
    methods = [method for learner in LEARNERS for method in find_methods(learner)]
    of_one_learner = methods[: len(METHODS)] if timed else []
    growths = find_growth(of_one_learner, cells, grid, seed, n_jobs)
    pairs = find_pair_growth(cells, pair_grid, seed) if timed else []
    outcomes: list[Outcome] = []
    further: list[Further] = []
    sizes: list[Sizes] = []
    glass = None
    for problem in problems:
        options: dict[str, Any] = {
            "rounds": n_rounds,
            "protocol": protocol,
            "seed": seed,
            "n_jobs": n_jobs,
        }
        outcomes.append(find_outcome(problem, methods, cells, **options))
        further.append(_further(problem, methods, cells, options))
        sizes.append(find_sizes(problem, cells))
        if problem.name == GLASS:
            glass = glass_facts(problem)
    tables = [*(growth_tables(growths) if timed else []), set_table(outcomes), time_table(outcomes)]
    tables += [] if glass is None else [glass_table(glass)]
    tables += [*error_tables(outcomes), *further_tables(further), *pair_tables(pairs)]
    tables += size_tables(sizes, *(find_clouds(cells, seed) if timed else ()))
    scores = {outcome.name: _scores(outcome) for outcome in outcomes}
    claims = judge_tables([table.to_dict() for table in tables], scores)
    facts: dict[str, Any] = {
        **made_with,
        "seed": seed,
        "rounds": n_rounds,
        "protocol": f"{protocol.words()} (the paper: {PAPER_PROTOCOL.words()})",
    }
    return PublishedResult(
        "adaboost-bhc",
        REFERENCE,
        tables,
        claims,
        figure_facts(outcomes, glass),
        draw_figures,
        scores,
        facts,
        cells.notes,
    )


def _further(
    problem: Problem, methods: Sequence[Method], cells: Cells, options: dict[str, Any]
) -> Further:
    """Fit MH over copies and BHC over other trees; measure how hard the binary problems are."""
    few = [method for method in methods if method.key == "BHC, sqrt(d) features per split"]
    some = [method for method in methods if method.name in ("MH", "BHC")]
    return Further(
        find_outcome(problem, copies_methods(), cells, **options, n_parts=1),
        find_outcome(problem, some, cells, **options, n_parts=1),
        find_outcome(problem, [*few, *tree_methods()], cells, **options),
        find_hardness(problem, cells, options["seed"]),
    )


def _grid(grid: Grid, rounds: int) -> Grid:
    """Time no more rounds than are asked for."""
    return replace(grid, rounds=min(grid.rounds, rounds))


def _scores(outcome: Outcome) -> dict[str, dict[str, float]]:
    return {
        f"{name}, {LEARNERS[key].words}": {
            "train_error": one.last("train"),
            "test_error": one.last("test"),
            "fit_s": float(one.seconds.mean()),
        }
        for key, by_method in outcome.curves.items()
        for name, one in by_method.items()
    }
