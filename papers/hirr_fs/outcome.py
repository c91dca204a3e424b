"""Score all methods on a data set by the honest protocol, and hold what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy import sparse

from palmette.compare import Problem, fingerprint
from papers.cells import Cells
from papers.hirr_fs.methods import ALL, FIVE, METHODS, Maker, Options, described
from papers.hirr_fs.parity import ParityOutcome
from papers.hirr_fs.sets import Numbers, make_parts, numbers_of
from papers.hirr_fs.work import selector_of, work

__all__ = ["Answer", "Outcome", "find_outcome"]

_SWEEPS = 10


@dataclass(frozen=True)
class Answer:
    """Scores of the test rows with k features a node.

    Parameters
    ----------
    method : str
    k : int
    f1 : float
        Hierarchical F1 a row, the root counted.
    f1_rootless : float
    tie : float
        Tree induced error a row.
    accuracy : float
    classify_s : float
        CPU seconds of fitting the classifiers and predicting.
    """

    method: str
    k: int
    f1: float
    f1_rootless: float
    tie: float
    accuracy: float
    classify_s: float


@dataclass(frozen=True)
class Outcome:
    """What was found on a data set.

    Parameters
    ----------
    problem : Problem
    numbers : Numbers
    curves : dict of str to list of Answer
        By method, from few features to many.
    select_s : dict of str to float
        CPU seconds of choosing the most features, by method.
    n_parts : int
        Parts of which scores are taken together.
    objective : list of float or None
        Of HiRRfam-FS at the start and after every sweep, where it was solved so.
    lowest : float or None
        Where block coordinate descent ends, or sweeps do if that is lower.
    parity : ParityOutcome or None
        By the authors' protocol.
    """

    problem: Problem
    numbers: Numbers
    curves: dict[str, list[Answer]]
    select_s: dict[str, float]
    n_parts: int
    objective: list[float] | None = None
    lowest: float | None = None
    parity: ParityOutcome | None = None

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.problem.name

    def answer(self, method: str) -> Answer | None:
        """Return what a method reached with the features of the tables, or with all."""
        wanted = None if method == ALL else self.numbers.k
        for answer in self.curves.get(method, []):
            if wanted is None or answer.k == wanted:
                return answer
        return None


def find_outcome(
    problem: Problem,
    options: Options,
    cells: Cells,
    methods: dict[str, Maker] | None = None,
    parity: ParityOutcome | None = None,
) -> Outcome:
    """Score every method, unless its results are there already.

    Parameters
    ----------
    problem : Problem
    options : Options
    cells : Cells
    methods : dict of str to makers of scores, optional
        All by default.
    parity : ParityOutcome, optional
        To be held beside.

    Returns
    -------
    Outcome
    """
    data, numbers = fingerprint(problem), numbers_of(problem)
    curves, select_s, n_parts = {}, {}, 1
    for key, maker in (METHODS if methods is None else methods).items():
        grid = _grid(key, problem, numbers)
        score = maker()
        found = cells.results(
            _cell(problem, key, score, grid, options.seed, data),
            lambda score=score, grid=grid: work(score, problem, grid, options),
        )
        curves[key] = _answers(key, found)
        select_s[key], n_parts = found["select_s"], found["n_parts"]
    objective, lowest = _objective(problem, options, cells, data)
    return Outcome(problem, numbers, curves, select_s, n_parts, objective, lowest, parity)


def _grid(key: str, problem: Problem, numbers: Numbers) -> tuple[int, ...]:
    """Numbers of features: one outside of Tables 4 and 5, and few where each costs seconds."""
    if key not in FIVE:
        return (numbers.k,)
    if key == "HierMRMR" and sparse.issparse(problem.X_train):
        return tuple(number for number in numbers.grid if number <= numbers.k)
    return numbers.grid


def _cell(
    problem: Problem, key: str, score: Any, grid: Sequence[int], seed: int, data: str
) -> dict[str, Any]:
    return {
        "dataset": problem.name,
        "model": key,
        "data": data,
        "score": described(score),
        "grid": list(grid),
        "seed": seed,
    }


def _answers(key: str, found: dict[str, Any]) -> list[Answer]:
    names = ("k", "f1", "f1_rootless", "tie", "accuracy", "classify_s")
    return [Answer(key, *values) for values in zip(*(found[name] for name in names), strict=True)]


def _objective(
    problem: Problem, options: Options, cells: Cells, data: str
) -> tuple[list[float] | None, float | None]:
    """Ten sweeps of reweighted least squares, which would need too much memory for texts."""
    from palmette.scoring.hirr import HirrScore

    if sparse.issparse(problem.X_train):
        return None, None
    sweeps = HirrScore(parent=1.0, sibling=1.0, solver="irls", max_iter=_SWEEPS, tol=0.0)
    exact = HirrScore(parent=1.0, sibling=1.0, solver="bcd", tol=1e-5)

    def compute() -> dict[str, Any]:
        part = next(make_parts(problem, options.seed))
        reached = []
        for score in (sweeps, exact):
            selector = selector_of(score, problem, 1, options).fit(part.X_train, part.y_train)
            reached.append([float(value) for value in selector.objective_])
        return {"objective": reached[0], "lowest": min(reached[0][-1], reached[1][-1])}

    found = cells.results(_cell(problem, "sweeps", sweeps, (), options.seed, data), compute)
    return found["objective"], found["lowest"]
