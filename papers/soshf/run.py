"""Reproduce the tables and figures of the paper on structured Hellinger forests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from palmette.compare import Problem, ResultStore, check_problem, environment
from palmette.exceptions import PalmetteError
from papers.cells import Cells
from papers.result import PublishedResult
from papers.soshf.claims import judge
from papers.soshf.figures import draw_figures, figure_facts
from papers.soshf.methods import METHODS, Method, read_set
from papers.soshf.outcome import Outcome, find_outcome
from papers.soshf.published import REFERENCE
from papers.soshf.tables import all_tables

__all__ = ["make", "reproduce"]

_SPLITS = 8  # as in the paper


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
    minutes: float | None = None,
) -> PublishedResult:
    """Read the data sets of the data home and do everything; see `papers.run`."""
    if rounds is not None:
        raise PalmetteError(
            f"rounds={rounds!r} was given, but soshf boosts nothing and has no rounds. Leave it "
            "out; for a quick look use --quick."
        )
    for name in datasets:
        check_problem(name)
    problems = (read_set(name) for name in datasets)
    if splits is None:
        splits = 1 if quick else _SPLITS
    return reproduce(
        problems, seed, n_jobs, store, watch, n_splits=splits, quick=quick, minutes=minutes
    )


def reproduce(
    problems: Iterable[Problem],
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    *,
    n_splits: int = _SPLITS,
    quick: bool = False,
    minutes: float | None = None,
    methods: Sequence[Method] | None = None,
) -> PublishedResult:
    """Score all methods on some problems.

    Parameters
    ----------
    problems : iterable of Problem
        As `papers.soshf.methods.prepare` gives them.
    seed, n_jobs, store, watch
        As in `papers.run`.
    n_splits : int
        Even splits of each.
    quick : bool
        Whether the slowest ensembles are smaller, and thresholds tuned with two folds.
    minutes : float, optional
        After this time only results that are stored are used.
    methods : sequence of Method, optional
        All by default.

    Returns
    -------
    PublishedResult
    """
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch, minutes)
    chosen = list(METHODS.values()) if methods is None else list(methods)
    outcomes = [
        find_outcome(
            problem, chosen, cells, n_splits=n_splits, seed=seed, n_jobs=n_jobs, quick=quick
        )
        for problem in problems
    ]
    return PublishedResult(
        "soshf",
        REFERENCE,
        all_tables(outcomes),
        judge(outcomes, same_sizes=not quick),
        figure_facts(outcomes),
        draw_figures,
        {outcome.name: _scores(outcome) for outcome in outcomes},
        {**made_with, "seed": seed, "splits": n_splits},
        cells.notes,
    )


def _scores(outcome: Outcome) -> dict[str, dict[str, float]]:
    return {key: answer.means() for key, answer in outcome.answers.items()}
