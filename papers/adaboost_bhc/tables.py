"""Tables 1 to 3, the splits of Figure 1, and the errors of Figures 2 to 8."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from papers.adaboost_bhc.figures import GLASS_KINDS, GLASS_MEASURES, Facts
from papers.adaboost_bhc.methods import LEARNERS, METHODS, paper_set
from papers.adaboost_bhc.outcome import Curves, Growth, Outcome
from papers.result import Cell, Table

__all__ = [
    "EARLY",
    "UNBALANCED",
    "error_tables",
    "glass_table",
    "growth_tables",
    "least_tables",
    "set_table",
    "time_table",
]

# ---------------------------------------------------------------------- tables


EARLY = 10  # rounds that count as the beginning
UNBALANCED = ("yeast_uci", "page_blocks")  # where MI has problems, says the paper

_NOTE_GROWTH = (
    "Exponents of power laws fitted to the cost of a round, as rows N and classes C grow; beside "
    "them those of the paper's formulas, fitted at the same sizes, for weak learners of cost N, "
    "N^2 and N^a, a being the exponent measured for ECC, which grows one tree per round. MH here "
    "grows one tree per class, under one distribution of all (row, class) pairs, so that a class "
    "costs it what it costs MI; the paper's grows one tree over C * N copies of rows, which is "
    "measured in a table of its own. Data: Gaussian clouds in a binary tree, {few} classes as N "
    "grows, {many} rows as C does."
)
_NOTE_SECONDS = (
    "Ours: CPU seconds of `fit`, the mean of all fits; the paper's are those of MATLAB in 2009, so "
    "that ratios can be compared, and seconds cannot."
)
_NOTE_GLASS = (
    "Complexity of the two sides of a node (the paper's future work): F1: Fisher's ratio of the "
    "best feature, the larger the easier; N1: share of rows on the boundary, N3: error of the "
    "nearest neighbour, the smaller the easier."
)
_NOTE_ERRORS = (
    "Means over all fits. The paper prints curves only, without figures. 'standard error' is that "
    "of the smallest of the four over the rows tested: sqrt(e (1 - e) / n). MH grows one "
    "tree per class in a round, as in Table 1; the form of the paper is in a table of its own."
)


def growth_tables(growths: Sequence[Growth]) -> list[Table]:
    """Return Table 1, measured: the exponents, and the milliseconds that they were fitted to.

    Parameters
    ----------
    growths : sequence of Growth

    Returns
    -------
    list of Table
        None where there is nothing.
    """
    if not growths:
        return []
    grid = growths[0].grid
    power = next((one.row_exponent for one in growths if one.method == "ECC"), 1.0)
    columns = (
        "method",
        "N: ours",
        "N",
        "N^2",
        "C: ours",
        "C, if N",
        "C, if N^2",
        f"C, if N^{power:.2f}",
    )
    rows: list[tuple[Cell, ...]] = []
    for one in growths:
        told = [one.told_class_exponent(exponent) for exponent in (1.0, 2.0, power)]
        rows.append((one.method, one.row_exponent, 1.0, 2.0, one.class_exponent, *told))
    note = _NOTE_GROWTH.format(few=grid.few_classes, many=f"{grid.many_rows:,}")
    sizes = [f"N={n}" for n in grid.n_rows] + [f"C={n}" for n in grid.n_classes]
    times: list[tuple[Cell, ...]] = [
        (one.method, *(1000 * seconds for seconds in (*one.by_rows, *one.by_classes)))
        for one in growths
    ]
    return [
        Table("Table 1. Cost of a round: exponents", columns, rows, [note]),
        Table("Table 1. Cost of a round: CPU milliseconds", ("method", *sizes), times),
    ]


def set_table(outcomes: Sequence[Outcome]) -> Table:
    """Return Table 2: the data sets as in the files, beside the paper's figures."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for outcome in outcomes:
        problem, paper = outcome.problem, paper_set(outcome.name)
        n_train, n_features = problem.X_train.shape
        n_test = int(problem.X_test.shape[0]) if problem.has_split else None
        n_classes = len(np.unique(np.asarray(problem.y_train)))
        ours = (n_train, n_test, n_features, n_classes)
        if paper is not None:
            told = (paper.n_train, paper.n_test, paper.n_features, paper.n_classes)
            rows.append((f"{outcome.name}: paper", *_with_cv(told)))
            if told != ours:
                notes.append(_difference(outcome.name, ours, told))
        rows.append((f"{outcome.name}: file", *_with_cv(ours)))
    columns = ("data set", "train", "test", "attributes", "classes")
    return Table("Table 2. The data sets", columns, rows, notes)


def _with_cv(sizes: tuple[int | None, ...]) -> tuple[Cell, ...]:
    return tuple("CV" if size is None else size for size in sizes)


def _difference(name: str, ours: tuple[int | None, ...], told: tuple[int | None, ...]) -> str:
    words = ("training rows", "test rows", "attributes", "classes")
    found = [
        f"{b} {word} in the paper, {a} in the file"
        for word, a, b in zip(words, ours, told, strict=True)
        if a != b
    ]
    hint = " (the number of the row is no attribute here)" if name == "glass" else ""
    return f"{name}: {'; '.join(found)}{hint}."


def time_table(outcomes: Sequence[Outcome]) -> Table:
    """Return Table 3: training times and their ratios, ours beside the paper's."""
    rows: list[tuple[Cell, ...]] = []
    rounds = max((outcome.rounds for outcome in outcomes), default=0)
    for outcome in outcomes:
        paper = paper_set(outcome.name)
        if paper is None or paper.seconds is None:  # few rows: nobody waits for them
            continue
        rows.append((f"{outcome.name}: paper, 100 rounds", *_with_ratios(paper.seconds)))
        for key, by_method in outcome.curves.items():
            seconds = [float(by_method[name].seconds.mean()) for name in METHODS]
            rows.append((f"{outcome.name}: {LEARNERS[key].words}", *_with_ratios(seconds)))
    columns = ("data set", *METHODS, *(f"{name}/BHC" for name in METHODS[:-1]))
    title = f"Table 3. Training time of {rounds} rounds, s"
    return Table(title, columns, rows, [_NOTE_SECONDS] if rows else [])


def _with_ratios(seconds: Sequence[float]) -> tuple[float, ...]:
    return (*seconds, *(one / seconds[-1] for one in seconds[:-1]))


def glass_table(facts: Facts) -> Table:
    """Return the splits of Figure 1, node by node, and how hard each is."""
    rows: list[tuple[Cell, ...]] = []
    for tree in facts["trees"]:
        children: dict[int, list[str]] = {}
        for node in tree["nodes"][1:]:
            children.setdefault(node["parent"], []).append(node["name"])
        for node in tree["nodes"]:
            if not node["is_leaf"]:
                names = " | ".join(_kind(name) for name in children[node["node"]])
                measured = (node["complexity"][short] for short in GLASS_MEASURES)
                rows.append((f"{tree['start']}: {node['name']}", names, *measured))
    notes = [f"{tree['words']}: {tree['newick']}" for tree in facts["trees"]]
    columns = ("node", "divided into", *GLASS_MEASURES)
    return Table("Figure 1. The class tree of Glass", columns, rows, [*notes, _NOTE_GLASS])


def _kind(name: str) -> str:
    return f"{name} ({GLASS_KINDS[name]})" if name in GLASS_KINDS else name


def error_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Return where the curves of Figures 2 to 8 end, and how they begin, in per cent."""
    rounds = max((outcome.rounds for outcome in outcomes), default=0)
    after = f"after {rounds} rounds, %"
    early = min(EARLY, rounds)
    return [
        _errors(outcomes, f"Figures 2 to 8. Test error {after}", lambda c: c.last("test"), True),
        _errors(outcomes, f"Figures 2 to 8. Training error {after}", lambda c: c.last("train")),
        _errors(
            outcomes,
            f"Figures 2 to 8. Test error, mean of the first {early} rounds, %",
            lambda c: float(c.mean("test")[:early].mean()),
        ),
        *least_tables(outcomes),
    ]


def least_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Return the lowest points of the curves of Figures 2 to 8, in per cent."""

    def least(part: str) -> Callable[[Curves], float]:
        return lambda curves: float(curves.mean(part).min())

    titles = {"test": "Least test error of a round", "train": "Least training error of a round"}
    return [
        _errors(outcomes, f"Figures 2 to 8. {title}, %", least(part))
        for part, title in titles.items()
    ]


def _errors(
    outcomes: Sequence[Outcome],
    title: str,
    value: Callable[[Curves], float],
    with_error: bool = False,
) -> Table:
    def rows() -> Iterator[tuple[Cell, ...]]:
        for outcome in outcomes:
            for key, by_method in outcome.curves.items():
                values = [value(by_method[name]) for name in METHODS]
                percent = [100 * one for one in values]
                error = [100 * outcome.standard_error(min(values))] if with_error else []
                yield (f"{outcome.name}: {LEARNERS[key].words}", *percent, *error)

    columns = ("data set", *METHODS, *(["standard error"] if with_error else []))
    return Table(title, columns, list(rows()), [_NOTE_ERRORS] if with_error else [])
