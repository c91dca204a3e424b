"""Compare the blend with the published networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from palmette.compare import ResultStore, check_problem, environment
from palmette.exceptions import PalmetteError
from papers.cells import Cells
from papers.multipath.judging import judge
from papers.multipath.methods import REFERENCE, Method, MultipathSet, find_methods, read_set
from papers.multipath.outcome import find_outcome
from papers.multipath.tables import all_tables, draw_figures, figure_facts
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
            f"rounds={rounds!r} was given, but multipath has no rounds. Leave it out; for a quick "
            "look use --quick or choose some of the data sets."
        )
    for name in datasets:
        check_problem(name)
    sets = (read_set(name) for name in datasets)
    return reproduce(sets, seed, n_jobs, store, watch, find_methods(quick))


def reproduce(
    sets: Iterable[MultipathSet],
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    methods: Sequence[Method] | None = None,
) -> PublishedResult:
    """Fit methods on some data sets.

    Parameters
    ----------
    sets : iterable of MultipathSet
    seed, n_jobs, store, watch
        As in `papers.run`.
    methods : sequence of Method, optional
        All by default.

    Returns
    -------
    PublishedResult
    """
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch)
    chosen = find_methods(False) if methods is None else methods
    outcomes = [find_outcome(data, chosen, seed, n_jobs, cells) for data in sets]
    return PublishedResult(
        "multipath",
        REFERENCE,
        all_tables(outcomes),
        judge(outcomes),
        figure_facts(outcomes),
        draw_figures,
        {outcome.name: outcome.scores for outcome in outcomes},
        {**made_with, "seed": seed},
        cells.notes,
    )
