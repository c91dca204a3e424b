"""What the trees, copies and covariances of the paper need: rows, memory, and rows again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from palmette.compare import Problem, fingerprint, measure
from papers.adaboost_bhc.copies import round_problems
from papers.adaboost_bhc.outcome import make_clouds
from papers.cells import Cells
from papers.result import Cell, Table

__all__ = [
    "Sizes",
    "find_clouds",
    "find_memory",
    "find_nodes",
    "find_shortage",
    "find_sizes",
    "size_tables",
]

Sizes = dict[str, Any]

# ---------------------------------------------------------------- rows of the nodes of a class tree


def find_sizes(problem: Problem, cells: Cells) -> Sizes:
    """Return the rows of all binary problems of the BHC tree over the rows, and sizes of classes.

    Parameters
    ----------
    problem : Problem
    cells : Cells

    Returns
    -------
    dict
        ``name``, ``n_rows``, ``n_classes``, ``node_rows`` (of all inner nodes together),
        ``smallest`` and ``largest`` class.
    """
    cell = {
        "dataset": problem.name,
        "split": "training rows",
        "model": "rows of the nodes of the BHC tree",
        "data": fingerprint(problem),
    }

    def compute() -> Sizes:
        y = np.asarray(problem.y_train)
        counts = np.unique(y, return_counts=True)[1]
        problems = round_problems("BHC", problem.X_train, y)
        return {
            "name": problem.name,
            "n_rows": len(y),
            "n_classes": len(counts),
            "node_rows": sum(len(signs) for _, signs in problems),
            "smallest": int(counts.min()),
            "largest": int(counts.max()),
        }

    return cells.results(cell, compute)


# ------------------------------------------------------------------------- memory, and few rows


_MEMORY_GRID = ((10_000, 4), (10_000, 16), (40_000, 16))  # rows and classes
_N_REPEATS = 3


def find_memory(
    cells: Cells, grid: Sequence[tuple[int, int]] = _MEMORY_GRID, seed: int = 0
) -> list[Sizes]:
    """Measure the memory of a round of MI and of MH over copies, with the same classification tree.

    Parameters
    ----------
    cells : Cells
    grid : sequence of (n_rows, n_classes)
    seed : int

    Returns
    -------
    list of dict
        ``n_rows``, ``n_classes`` and the MiB of ``MI`` and ``MH``; None where the system does not
        tell.
    """

    def of_size(n_rows: int, n_classes: int) -> Sizes:
        cell = {
            "dataset": "clouds",
            "split": f"{n_rows} rows, {n_classes} classes",
            "model": "memory of a round, MI and MH over copies",
            "seed": seed,
            "n_repeats": _N_REPEATS,
        }
        return cells.results(cell, lambda: _memory(n_rows, n_classes, seed))

    return [of_size(*size) for size in grid]


def _memory(n_rows: int, n_classes: int, seed: int) -> Sizes:
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_clouds(n_rows, n_classes, seed)
    found: Sizes = {"n_rows": n_rows, "n_classes": n_classes}
    for method in ("MI", "MH"):
        peaks = []
        for _ in range(_N_REPEATS):
            with measure() as usage:
                for rows, signs in round_problems(method, X, y, seed):
                    DecisionTreeClassifier(max_features="sqrt", random_state=seed).fit(rows, signs)
            peaks.append(usage.peak_mib)
        told = [peak for peak in peaks if peak is not None]
        found[method] = float(np.median(told)) if told else None
    return found


_NODE_GRID = (4, 8, 16, 32, 64)  # classes, as in Table 1
_NODE_ROWS = 8000


def find_nodes(
    cells: Cells, n_classes: Sequence[int] = _NODE_GRID, n_rows: int = _NODE_ROWS, seed: int = 0
) -> list[Sizes]:
    """Count the nodes of classification trees that ECC and BHC grow in the first round.

    Parameters
    ----------
    cells : Cells
    n_classes : sequence of int
    n_rows : int
    seed : int

    Returns
    -------
    list of dict
        ``n_classes``, and the nodes of the tree of ``ECC`` and of the ``largest`` tree of BHC.
    """

    def of_size(size: int) -> Sizes:
        cell = {
            "dataset": "clouds",
            "split": f"{n_rows} rows, {size} classes",
            "model": "nodes of the trees of a round, ECC and BHC",
            "seed": seed,
        }
        return cells.results(cell, lambda: _nodes(n_rows, size, seed))

    return [of_size(size) for size in n_classes]


def _nodes(n_rows: int, n_classes: int, seed: int) -> Sizes:
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_clouds(n_rows, n_classes, seed)
    largest = {}
    for method in ("ECC", "BHC"):
        grown = (
            DecisionTreeClassifier(max_features="sqrt", random_state=seed).fit(rows, signs)
            for rows, signs in round_problems(method, X, y, seed)
        )
        largest[method] = max(int(tree.tree_.node_count) for tree in grown)
    return {"n_classes": n_classes, "ECC": largest["ECC"], "largest": largest["BHC"]}


def find_clouds(cells: Cells, seed: int = 0) -> tuple[list[Sizes], list[Sizes], list[Sizes]]:
    """Measure all that needs generated data: memory, nodes of trees, and few rows."""
    return find_memory(cells, seed=seed), find_nodes(cells, seed=seed), find_shortage(cells)


_SHORT_GRID = ((40, 200), (80, 200), (400, 200))  # rows and features
_N_DRAWS = 20


def find_shortage(
    cells: Cells, grid: Sequence[tuple[int, int]] = _SHORT_GRID, n_draws: int = _N_DRAWS
) -> list[Sizes]:
    """Count how often a BHC tree finds the two groups of four classes, from few rows or many.

    Parameters
    ----------
    cells : Cells
    grid : sequence of (n_rows, n_features)
    n_draws : int
        Samples of each size, drawn anew.

    Returns
    -------
    list of dict
        ``n_rows``, ``n_features``, ``n_found`` and ``n_draws``.
    """

    def of_size(n_rows: int, n_features: int) -> Sizes:
        cell = {
            "dataset": "clouds",
            "split": f"{n_rows} rows, {n_features} features",
            "model": "groups of the BHC tree",
            "n_draws": n_draws,
        }
        return cells.results(cell, lambda: _shortage(n_rows, n_features, n_draws))

    return [of_size(*size) for size in grid]


def _shortage(n_rows: int, n_features: int, n_draws: int) -> Sizes:
    from palmette.class_tree import BHCTree

    n_found = 0
    for seed in range(n_draws):
        X, y = make_clouds(n_rows, 4, seed, n_features)
        groups = {tuple(sorted(map(int, group))) for group in BHCTree().fit(X, y).tree_.groups}
        n_found += {(0, 2), (1, 3)} <= groups  # the branches of `make_clouds`
    return {
        "n_rows": n_rows,
        "n_features": n_features,
        "n_found": n_found,
        "n_draws": n_draws,
    }


# ---------------------------------------------------------------------- tables


_NOTE_NODES = (
    "The BHC tree over all rows of Table 2's training column. 'rows of all nodes / N' is the cost "
    "of a round in units of N for a weak learner of cost N, which is log2 C in a balanced tree "
    "whose classes have as many rows each."
)
_NOTE_MEMORY = (
    "Largest increase of resident memory while the binary problems of one round are built and a "
    f"classification tree of scikit-learn is grown for each, median of {_N_REPEATS}: C problems "
    "of N rows, one after the other (MI), or one of C * N copies with a 0/1 attribute for every "
    "class (MH). Data: Gaussian clouds, 16 features."
)
_NOTE_TREES = (
    "Nodes of classification trees of scikit-learn, grown until their leaves are pure, for a "
    f"random half of the classes (ECC) and for the nodes of the BHC tree; {_NODE_ROWS:,} rows."
)
_NOTE_SHORT = (
    "Four classes as Gaussian clouds in two groups, drawn anew for every tree. The within-class "
    "covariance of `BHCTree` has a ridge, so that it can be inverted whatever the number of rows."
)


def size_tables(
    sizes: Sequence[Sizes],
    memory: Sequence[Sizes] = (),
    nodes: Sequence[Sizes] = (),
    shortage: Sequence[Sizes] = (),
) -> list[Table]:
    """Return the tables of what was measured; none where nothing was."""
    tables = []
    if sizes:
        tables.append(_node_table(sizes))
    if memory:
        rows: list[tuple[Cell, ...]] = [
            (f"N={one['n_rows']}, C={one['n_classes']}", one["MI"], one["MH"]) for one in memory
        ]
        named = ("clouds", "MI, MiB", "MH over copies, MiB")
        tables.append(Table("Memory of a round", named, rows, [_NOTE_MEMORY]))
    if nodes:
        rows = [(f"C={one['n_classes']}", one["ECC"], one["largest"]) for one in nodes]
        named = ("clouds", "ECC", "BHC, largest")
        tables.append(Table("Nodes of the trees of a round", named, rows, [_NOTE_TREES]))
    if shortage:
        rows = [
            (f"{one['n_rows']} rows", one["n_features"], one["n_found"], one["n_draws"])
            for one in shortage
        ]
        columns = ("clouds", "features", "trees with both groups", "trees")
        title = "BHC trees from fewer rows than features"
        tables.append(Table(title, columns, rows, [_NOTE_SHORT]))
    return tables


def _node_table(sizes: Sequence[Sizes]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            one["name"],
            one["n_rows"],
            one["node_rows"] / one["n_rows"],
            math.log2(one["n_classes"]),
            one["smallest"],
            one["largest"],
        )
        for one in sizes
    ]
    columns = ("data set", "N", "rows of all nodes / N", "log2 C", "smallest class", "largest")
    return Table("Rows of the nodes and of the classes", columns, rows, [_NOTE_NODES])
