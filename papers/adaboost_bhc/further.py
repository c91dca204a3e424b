"""What the paper does not print: MH over copies, N^2 learners, margin trees, hard problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from palmette._arrays import take_rows
from palmette.compare import Problem, fingerprint
from palmette.metrics import node_complexity, problem_complexity
from papers.adaboost_bhc.methods import LEARNERS, Method, paper_set
from papers.adaboost_bhc.outcome import Growth, Outcome
from papers.cells import Cells
from papers.result import Cell, Table

__all__ = [
    "HARDNESS",
    "POSED",
    "Further",
    "find_hardness",
    "further_tables",
    "pair_tables",
    "tree_methods",
]


@dataclass(frozen=True)
class Further:
    """What was measured besides on a data set.

    Parameters
    ----------
    copies : Outcome
        MH over copies, on the first part only, by weak learner.
    same_part : Outcome
        MH and BHC on that part.
    trees : Outcome
        AdaBoost.BHC over other trees, on all parts.
    hardness : dict of str to dict
        Means of the complexity measures over the binary problems, by who poses them.
    """

    copies: Outcome
    same_part: Outcome
    trees: Outcome
    hardness: dict[str, dict[str, float]]


# ---------------------------------------------------------------------- other class trees


def tree_methods() -> list[Method]:
    """Return AdaBoost.BHC with sqrt(d) features per split, over a margin tree and a random tree.

    Examples
    --------
    >>> [method.name for method in tree_methods()]
    ['margin tree', 'random tree']
    """
    few = LEARNERS["few"]
    return [Method(f"{kind} tree", few, partial(_make_over, kind)) for kind in ("margin", "random")]


def _make_over(kind: str, rounds: int, seed: int, n_jobs: int | None) -> Any:
    from palmette.class_tree import AdaBoostBHCClassifier, MarginTree, RandomTree

    return AdaBoostBHCClassifier(
        MarginTree() if kind == "margin" else RandomTree(),
        decoding="greedy",
        n_estimators=rounds,
        random_state=seed,
        n_jobs=n_jobs,
    )


# ---------------------------------------------------------------------- hardness of the problems


HARDNESS = {
    "fisher_ratio": "F1",
    "linear_error": "L2",
    "boundary_share": "N1",
    "neighbor_error": "N3",
}
POSED = ("BHC tree", "margin tree", "random tree", "one against the rest (MI)", "halves (ECC)")
_MOST_ROWS = 1000
_N_HALVES = 5


def find_hardness(problem: Problem, cells: Cells, seed: int) -> dict[str, dict[str, float]]:
    """Measure how hard the binary problems are that the methods solve, on training rows.

    Parameters
    ----------
    problem : Problem
    cells : Cells
    seed : int

    Returns
    -------
    dict of str to dict
        By who poses the problems: means of the measures, every problem counting by its rows.
    """
    cell = {
        "dataset": problem.name,
        "split": "training rows",
        "model": "complexity of the binary problems",
        "data": fingerprint(problem),
        "seed": seed,
        "max_rows": _MOST_ROWS,
    }
    found: dict[str, dict[str, float]] = cells.results(cell, lambda: _hardness(problem, seed))
    return {kind: found[kind] for kind in POSED}


def _hardness(problem: Problem, seed: int) -> dict[str, dict[str, float]]:
    from palmette.class_tree import BHCTree, MarginTree, RandomTree

    X, y = problem.X_train, np.asarray(problem.y_train)
    found = {}
    for kind, learner in zip(
        POSED, (BHCTree(), MarginTree(), RandomTree(random_state=seed)), strict=False
    ):
        tree = learner.fit(X, y).hierarchy_
        found[kind] = _means(list(node_complexity(X, y, tree, max_rows=_MOST_ROWS).values()), [])
    classes = np.unique(y)
    ones = [y == name for name in classes]
    found[POSED[3]] = _sides(X, ones)
    rng = np.random.default_rng(seed)
    halves = [np.isin(y, rng.permutation(classes)[: len(classes) // 2]) for _ in range(_N_HALVES)]
    found[POSED[4]] = _sides(X, halves)
    return found


def _sides(X: Any, sides: Sequence[Any]) -> dict[str, float]:
    every = np.arange(len(sides[0]))
    rows = take_rows(X, every)
    return _means(
        [problem_complexity(rows, side, max_rows=_MOST_ROWS) for side in sides],
        [len(every)] * len(sides),
    )


def _means(found: Sequence[Any], sizes: Sequence[int]) -> dict[str, float]:
    """Return means by the rows of the problems, or by those measured; F1 by its median."""
    weights = np.array(sizes if sizes else [one.n_rows for one in found], dtype=float)
    means = {}
    for name in HARDNESS:
        values = np.array([getattr(one, name) for one in found])
        if name == "fisher_ratio":  # infinite where one feature is enough
            means[name] = float(np.median(values))
        else:
            means[name] = float(np.average(values, weights=weights))
    return means


# ---------------------------------------------------------------------- tables


_NOTE_COPIES = (
    "One fit each, on the first part. 'one tree per class' is the form of Figures 2 to 8: if every "
    "tree over the copies asks for the class first, both are the same algorithm (a test compares "
    "their scores). Over copies one tree is grown over C * N of them, with a 0/1 attribute for "
    "every class. CPU seconds of `fit`; trees over copies are those of scikit-learn, the others "
    "ours, so that their ratio is one of programs, too."
)
_NOTE_TREES = (
    "AdaBoost.BHC, signs at the nodes, the same weak learner over another class tree; means over "
    "all fits. The margin tree is `MarginTree()`."
)
_NOTE_HARD = (
    "Measures of Ho and Basu (the paper's future work) on training rows, at most "
    f"{_MOST_ROWS:,} for a problem: means over the binary problems, weighted by their rows, and "
    f"the median of F1. F1: Fisher's ratio of the best feature, the larger the easier; of the "
    "others, the smaller the easier: L2: error of a linear classifier on its own rows; N1: rows on "
    "the boundary by a minimum spanning tree; N3: error of the nearest neighbour. ECC: "
    f"{_N_HALVES} random halves of the classes. With many classes one against the rest is nearly "
    "always right by these shares, as few rows are of the class."
)
_NOTE_PAIRS = (
    "One round with a weak learner that compares every two rows, in exponents of power laws; "
    "beside them those of the paper's formulas at the same sizes, {few} classes as N grows, {many} "
    "rows as C does. MH has C * N copies. Trees of BHC are learned before the clock starts."
)


def further_tables(found: Sequence[Further]) -> list[Table]:
    """Return the tables of MH over copies, of other class trees, and of hardness."""
    return [_copies_table(found), _tree_table(found), _hardness_table(found)] if found else []


def _copies_table(found: Sequence[Further]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        for key, curves in one.copies.curves.items():
            copied, own = curves["MH over copies"], one.same_part.curves[key]
            errors = [100 * own["MH"].last("test"), 100 * copied.last("test")]
            spread = 100 * one.copies.standard_error(min(errors) / 100)
            seconds = [float(each.seconds.mean()) for each in (own["MH"], copied, own["BHC"])]
            ratio = seconds[1] / seconds[2]
            name = f"{one.copies.name}: {LEARNERS[key].words}"
            rows.append((name, *errors, spread, *seconds, ratio, _paper_ratio(one.copies.name)))
    columns = (
        "data set",
        "one tree per class, %",
        "copies, %",
        "standard error",
        "one tree per class, s",
        "copies, s",
        "BHC, s",
        "copies/BHC",
        "MH/BHC, paper",
    )
    return Table("AdaBoost.MH over C * N copies of the rows", columns, rows, [_NOTE_COPIES])


def _paper_ratio(name: str) -> float | None:
    paper = paper_set(name)
    return None if paper is None or paper.seconds is None else paper.seconds[0] / paper.seconds[3]


def _tree_table(found: Sequence[Further]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        curves = one.trees.curves["few"]
        errors = {name: each.last("test") for name, each in curves.items()}
        spread = one.trees.standard_error(min(errors.values()))
        rows.append((one.trees.name, *(100 * errors[name] for name in _TREES), 100 * spread))
    columns = ("data set", *(f"{name}, %" for name in _TREES), "standard error")
    return Table("AdaBoost.BHC over other class trees: test error", columns, rows, [_NOTE_TREES])


_TREES = ("BHC", "margin tree", "random tree")


def _hardness_table(found: Sequence[Further]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (f"{one.trees.name}: {kind}", *(measured[name] for name in HARDNESS))
        for one in found
        for kind, measured in one.hardness.items()
    ]
    title = "How hard the binary problems are"
    return Table(title, ("data set", *HARDNESS.values()), rows, [_NOTE_HARD])


def pair_tables(growths: Sequence[Growth]) -> list[Table]:
    """Return Table 1 for a weak learner of cost N^2, measured."""
    if not growths:
        return []
    grid = growths[0].grid
    rows: list[tuple[Cell, ...]] = [
        (one.method, one.row_exponent, 2.0, one.class_exponent, one.told_class_exponent(2.0))
        for one in growths
    ]
    columns = ("method", "N: ours", "N: paper", "C: ours", "C: paper")
    note = _NOTE_PAIRS.format(few=grid.few_classes, many=f"{grid.many_rows:,}")
    sizes = [f"N={n}" for n in grid.n_rows] + [f"C={n}" for n in grid.n_classes]
    times: list[tuple[Cell, ...]] = [
        (one.method, *(1000 * seconds for seconds in (*one.by_rows, *one.by_classes)))
        for one in growths
    ]
    title = "Table 1. A weak learner of cost N^2"
    return [
        Table(f"{title}: exponents", columns, rows, [note]),
        Table(f"{title}: CPU milliseconds", ("method", *sizes), times),
    ]
