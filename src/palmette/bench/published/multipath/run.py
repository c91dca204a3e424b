"""Compare the blend with the published networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from palmette.bench.measure import environment
from palmette.bench.problems import check_problem
from palmette.bench.published.cells import Cells
from palmette.bench.published.multipath.claims import judge
from palmette.bench.published.multipath.figures import draw_figures, figure_facts
from palmette.bench.published.multipath.methods import Method, find_methods
from palmette.bench.published.multipath.outcome import find_outcome
from palmette.bench.published.multipath.published_figures import REFERENCE
from palmette.bench.published.multipath.sets import MultipathSet, read_set
from palmette.bench.published.multipath.tables import all_tables
from palmette.bench.published.result import PublishedResult
from palmette.bench.store import ResultStore
from palmette.exceptions import PalmetteError

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
    """Read the data sets of the data home and do everything; see `palmette.bench.published.run`."""
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
        As in `palmette.bench.published.run`.
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
