"""Reproduce the tables and figures of the MF-Tree paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from scipy import sparse

from palmette.compare import Problem, ResultStore, check_problem, environment
from palmette.exceptions import PalmetteError
from papers.cells import Cells, Options
from papers.mf_tree.costs import judge_costs
from papers.mf_tree.figures import draw_figures, figure_facts
from papers.mf_tree.judging import judge
from papers.mf_tree.methods import (
    GENERATED,
    Method,
    approximations,
    kernels,
    methods,
    plain_trees,
    read_set,
    variants,
)
from papers.mf_tree.outcome import Outcome, find_outcome
from papers.mf_tree.samples import (
    Samples,
    halved,
    judge_objectives,
    judge_samples,
    sample_tables,
    tables_of,
)
from papers.mf_tree.tables import REFERENCE, all_tables
from papers.mf_tree.theory import judge_theory
from papers.mf_tree.words import judge_words
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
    splits: int = 0,
) -> PublishedResult:
    """Read the data sets of the data home and do everything; see `papers.registry`."""
    if rounds is not None:
        raise PalmetteError(
            f"rounds={rounds!r} was given, but mf-tree boosts nothing and has no rounds. Leave it "
            "out; for a quick look use --quick."
        )
    for name in datasets:
        if name != GENERATED:
            check_problem(name)
    short = [method for method in methods() if method.key not in _LONG]
    chosen = [*short, *plain_trees()] if quick else None
    problems = (read_set(name) for name in datasets)
    return reproduce(problems, seed, n_jobs, store, watch, chosen, splits)


def reproduce(
    problems: Iterable[Problem],
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Callable[[str, str], None] | None = None,
    chosen: Sequence[Method] | None = None,
    splits: int = 0,
) -> PublishedResult:
    """Fit all methods on some problems with a published split.

    Parameters
    ----------
    problems : iterable of Problem
        With numbers as features, one label per row, and a test part.
    seed, n_jobs, store, watch
        As in `papers.run`.
    chosen : sequence of Method, optional
        All by default; of more than a thousand classes, those that are quick enough.
    splits : int
        Number of random halves on which the methods of Table 2 and of Figure 2 are fitted, too;
        five in the paper.

    Returns
    -------
    PublishedResult
    """
    made_with = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
    cells = Cells(store, made_with, watch)
    if chosen is None:
        chosen = [*methods(), *kernels(), *variants(), *approximations(), *plain_trees()]
    options = Options(seed, n_jobs)
    outcomes, samples = [], []
    for problem in problems:
        usable = [method for method in chosen if _is_feasible(method, problem)]
        outcomes.append(find_outcome(problem, usable, options, cells))
        if splits:
            some = [method for method in usable if method.key in _SAMPLED]
            found = [
                find_outcome(halved(problem, i), some, options, cells, f"half {i}")
                for i in range(splits)
            ]
            samples.append(Samples(problem.name, found))
    return PublishedResult(
        "mf-tree",
        REFERENCE,
        [*all_tables(outcomes), *tables_of(outcomes), *sample_tables(samples)],
        [
            *judge_theory(seed),
            *judge(outcomes),
            *judge_samples(samples),
            *judge_objectives(outcomes),
            *judge_words(outcomes),
            *judge_costs(outcomes),
        ],
        figure_facts(outcomes),
        draw_figures,
        {outcome.name: _scores(outcome) for outcome in outcomes},
        {**made_with, "seed": seed},
        cells.notes,
    )


_LONG = ("DRHL, published starts",)  # left out of a quick look
_SAMPLED = {method.key for method in (*methods(), *variants())}
_MANY = 1000  # classes from which pairs of classes, or all classes at every node, take too long
_SLOW = ("DAGSVM", "DRHL", "RNMF", "RDM", "CMTL", "one-vs-rest")
_QUICK_ENOUGH = ("RNMF", "RDM", "CMTL")  # for so many classes, with their usual settings


_MOST_HULLS = 10_000  # pairs of classes whose hulls are compared, in rows that are not sparse


def _is_feasible(method: Method, problem: Problem) -> bool:
    n = len(set(problem.y_train))
    if method.key.endswith("rbf"):  # of sparse rows a kernel of all pairs takes too long
        return n < _MANY and not sparse.issparse(problem.X_train)
    if method.key == "MarginTree":
        return not sparse.issparse(problem.X_train) and n * (n - 1) // 2 <= _MOST_HULLS
    return n < _MANY or method.key in _QUICK_ENOUGH or not method.key.startswith(_SLOW)


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
