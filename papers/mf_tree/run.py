"""Reproduce the tables and figures of the MF-Tree paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from palmette.compare import Problem, ResultStore, check_problem, environment
from palmette.exceptions import PalmetteError
from papers.cells import Cells
from papers.mf_tree.figures import draw_figures, figure_facts
from papers.mf_tree.methods import (
    Method,
    Options,
    approximations,
    methods,
    plain_trees,
    read_set,
    variants,
)
from papers.mf_tree.outcome import Outcome, find_outcome
from papers.mf_tree.tables import REFERENCE, all_tables, judge
from papers.result import PublishedResult

__all__ = ["make", "reproduce"]


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
            f"rounds={rounds!r} was given, but mf-tree boosts nothing and has no rounds. Leave it "
            "out; for a quick look use --quick."
        )
    for name in datasets:
        check_problem(name)
    chosen = [*methods(), *plain_trees()] if quick else None
    problems = (read_set(name) for name in datasets)
    return reproduce(problems, seed, n_jobs, store, watch, chosen)


def reproduce(
    problems: Iterable[Problem],
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    chosen: Sequence[Method] | None = None,
) -> PublishedResult:
    """Fit all methods on some problems with a published split.

    Parameters
    ----------
    problems : iterable of Problem
        With numbers as features, one label per row, and a test part.
    seed, n_jobs, store, watch
        As in `papers.run`.
    chosen : sequence of Method, optional
        All by default.

    Returns
    -------
    PublishedResult
    """
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch)
    if chosen is None:
        chosen = [*methods(), *variants(), *approximations(), *plain_trees()]
    options = Options(seed, n_jobs)
    outcomes = [find_outcome(problem, chosen, options, cells) for problem in problems]
    return PublishedResult(
        "mf-tree",
        REFERENCE,
        all_tables(outcomes),
        judge(outcomes),
        figure_facts(outcomes),
        draw_figures,
        {outcome.name: _scores(outcome) for outcome in outcomes},
        {**made_with, "seed": seed},
        cells.notes,
    )


def _scores(outcome: Outcome) -> dict[str, dict[str, float]]:
    return {
        title: {
            "macro_f1": answer.macro_f1,
            "accuracy": answer.accuracy,
            "us_a_row": answer.us,
            "dot_products": answer.dots,
            "depth": float(answer.depth),
            "fit_s": answer.fit_s,
        }
        for title, answer in outcome.answers.items()
    }
