"""Reproduce the tables and figures of the H-Ada.MH paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from palmette.compare import Problem, ResultStore, check_problem, environment, find_problem
from papers.cells import Cells
from papers.h_ada_mh.collapsed import collapsed_methods
from papers.h_ada_mh.figures import draw_figures, figure_facts
from papers.h_ada_mh.judging import judge
from papers.h_ada_mh.methods import tree_methods
from papers.h_ada_mh.outcome import Method, Outcome, Setting, find_outcome
from papers.h_ada_mh.printed import chosen_table, judge_equation_6, judge_printed
from papers.h_ada_mh.tables import paper_set, score_tables, set_table
from papers.h_ada_mh.words import judge_toys, judge_words
from papers.result import PublishedResult

__all__ = ["make", "reproduce"]

_ROUNDS = 200  # of data sets that are not in the paper
_QUICK_ROUNDS = 30
_REFERENCE = "C. Chelmis, W. Qi (2021). Hierarchical multiclass AdaBoost."


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
    for name in datasets:
        check_problem(name)
    problems = (find_problem(name) for name in datasets)
    if quick and rounds is None:
        rounds = _QUICK_ROUNDS
    return reproduce(problems, rounds, seed, n_jobs, store, watch, quick=quick)


def reproduce(
    problems: Iterable[Problem],
    rounds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    methods: Sequence[Method] | None = None,
    quick: bool = False,
) -> PublishedResult:
    """Fit all methods on some problems with a published split.

    Parameters
    ----------
    problems : iterable of Problem
        One path per row, and a test part.
    rounds, seed, n_jobs, store, watch
        As in `papers.run`.
    methods : sequence of Method, optional
        All by default.
    quick : bool
        Whether forests have 20 trees instead of 100.

    Returns
    -------
    PublishedResult
    """
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch)
    chosen = [*collapsed_methods(), *tree_methods()] if methods is None else methods
    outcomes: list[Outcome] = []
    for problem in problems:
        setting = _setting(problem, rounds, seed, n_jobs, quick)
        outcomes.append(find_outcome(setting, chosen, cells))
    facts: dict[str, Any] = {
        **made_with,
        "seed": seed,
        "rounds": {outcome.name: outcome.setting.rounds for outcome in outcomes},
    }
    return PublishedResult(
        "h-ada-mh",
        _REFERENCE,
        [set_table(outcomes), *score_tables(outcomes), chosen_table(outcomes)],
        [
            *judge_toys(),
            *judge_equation_6(outcomes),
            *judge(outcomes),
            *judge_printed(outcomes),
            *judge_words(outcomes),
        ],
        figure_facts(outcomes),
        draw_figures,
        {outcome.name: _titled_scores(outcome) for outcome in outcomes},
        facts,
        cells.notes,
    )


def _setting(
    problem: Problem, rounds: int | None, seed: int, n_jobs: int | None, quick: bool
) -> Setting:
    paper = paper_set(problem.name)
    own = _ROUNDS if paper is None else paper.rounds
    n_levels = None if paper is None else paper.depth
    n_rounds = own if rounds is None else rounds
    n_trees = 20 if quick else 100
    return Setting(problem, n_rounds, rounds, n_levels, seed, n_jobs, n_trees)


def _titled_scores(outcome: Outcome) -> dict[str, dict[str, float]]:
    return {outcome.answers[key].title: scores for key, scores in outcome.scores.items()}
