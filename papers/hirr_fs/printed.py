"""What the paper prints and says, checked against itself: Tables 3 to 8 and Figure 10."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from palmette.feature_selection._base import ScoringProblem
from palmette.feature_selection._hirr import HirrScore
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace
from papers.hirr_fs.hierarchies import HIERARCHIES, hierarchy_of
from papers.hirr_fs.methods import (
    FIVE,
    FRIEDMAN_F,
    NEAR,
    PAPER_CD,
    PAPER_CHOSEN,
    PAPER_F1,
    PAPER_GRID,
    PAPER_SECONDS,
    PAPER_TEST_SECONDS,
    PAPER_TIE,
    STRENGTHS,
)
from papers.hirr_fs.tables import rank_five, statistic_of
from papers.result import Cell, Claim, Table

__all__ = ["PAPER_GRIDS", "TIME_F", "judge_printed", "printed_grids"]

Grid = tuple[tuple[float, ...], ...]


def _grid(text: str) -> Grid:
    """Read a grid: a row for every beta, a column for every alpha, in units of .0001."""
    return tuple(tuple(int(cell) / 1e4 for cell in row.split()) for row in text.split("|"))


# Table 8 as printed
PAPER_GRIDS: dict[str, Grid] = {
    "F194": _grid(
        "6752 7176 7176 7176 6329 | 7176 7178 7176 7171 6481 | 7176 7181 7176 7169 6974 | "
        "7171 7176 7176 7169 7190 | 7174 7178 7178 7164 7169"
    ),
    "DD": PAPER_GRID,
    "VOC": _grid(
        "6752 6756 6752 6757 6759 | 6752 6749 6750 6756 6754 | 6737 6738 6740 6745 6749 | "
        "6714 6711 6705 6713 6714 | 6751 6695 6721 6707 6705"
    ),
    "Cifar100": _grid(
        "7883 7885 7886 7884 7881 | 7883 7884 7887 7883 7881 | 7880 7877 7875 7880 7876 | "
        "7881 7877 7879 7876 7879 | 7883 7884 7885 7883 7886"
    ),
    "SUN": _grid(
        "8403 8407 8408 8414 8412 | 8403 8406 8408 8412 8414 | 8409 8411 8412 8412 8418 | "
        "8400 8405 8406 8407 8407 | 8374 8388 8387 8392 8396"
    ),
    "ILSVRC65": _grid(
        "9590 9590 9591 9591 9589 | 9589 9589 9589 9588 9589 | 9587 9587 9588 9589 9590 | "
        "9592 9591 9592 9594 9592 | 9592 9592 9592 9591 9595"
    ),
}
TIME_F = 30.86  # of the seconds of Table 7, in the text of Figure 10
_GLOBAL = range(441, 447)  # features of DD
_LETTERS = dict(zip(PAPER_GRIDS, "abcdef", strict=True))


def printed_grids() -> Table:
    """Return parts (c) to (f) of Table 8, of which we have no data, with their spreads."""
    columns = ("set, beta", *(f"alpha {alpha:g}" for alpha in STRENGTHS), "ours")
    rows: list[tuple[Cell, ...]] = []
    for name in ("VOC", "Cifar100", "SUN", "ILSVRC65"):
        for beta, line in zip(STRENGTHS, PAPER_GRIDS[name], strict=True):
            cells = [f"{value:.4f}" for value in line]
            rows.append((f"({_LETTERS[name]}) {name}, {beta:g}", *cells, None))
    notes = [
        "As printed: the features of these sets cannot be downloaded (docs/data.md). With a copy "
        "of your own in the data home, `palmette.datasets.fetch` reads them."
    ]
    return Table("Table 8(c) to (f). As printed", columns, rows, notes)


def judge_printed() -> Iterator[Claim]:
    """Judge what the paper says of its own figures.

    Yields
    ------
    Claim
    """
    yield _convex()
    yield _equations()
    yield from _first_in_tables()
    yield _printed_ranks()
    yield from _who_differs()
    yield _time_ranks()
    yield from _speed_up()
    yield from _features_of_nodes()
    yield from _sensitivity()
    yield from _shapes()


def _claim(
    where: str, words: str, statement: str, holds: bool, so: tuple[int, int] | None = None
) -> Claim:
    verdict = statement if holds else f"it does not hold that {statement}"
    return Claim(where, f"{where}: {words}; {verdict}.", holds, so)


def _convex() -> Claim:
    """Section 1: "a convex objective function"."""
    weights = np.array([[1.0, 0.0], [0.0, -1.0], [0.5, 0.5]])
    nothing = np.zeros_like(weights)

    def dependence(one: Any, other: Any) -> float:
        """Equation 13."""
        centring = np.eye(len(one)) - 1 / len(one)
        return float(np.trace(one @ one.T @ centring @ other @ other.T @ centring))

    ends = dependence(weights, nothing), dependence(nothing, weights)
    middle = dependence(weights / 2, weights / 2)
    words = (
        f"the sibling term of two matrices of weights is {ends[0]:g} at (W, 0) and {ends[1]:g} at "
        f"(0, W), and {middle:.4f} half way between"
    )
    return _claim("Section 1", words, "the objective is convex if beta is above 0", middle <= 0)


def _equations() -> Claim:
    """Equations 12 and 25: without the children's term, inner nodes are not optimal."""
    rng = np.random.default_rng(0)
    paths = [(a, b, c) for a in "pq" for b in (a + "r", a + "s") for c in (b + "x", b + "y")]
    tree = Hierarchy.from_paths(paths)
    classes = (np.arange(80) % len(paths)).astype(np.int32)
    X = rng.normal(size=(80, 10))
    X[np.arange(80), classes] += 1.0
    problem = ScoringProblem(X, LabelSpace(tree, tree.leaves), classes)
    reached = {}
    for coupling in ("paper", "full"):
        score = HirrScore.preset("hirrpar-fs", lam=1.0, max_iter=100, coupling=coupling)
        reached[coupling] = score.score(problem).facts["objective_"][-1]
    words = (
        "on a generated tree of four levels 100 sweeps by Equation 12 end at "
        f"{reached['paper']:.4f}, with the term of the children of a node at {reached['full']:.4f}"
    )
    holds = reached["paper"] <= reached["full"] * (1 + 1e-6)
    return _claim("Equations 12 and 25", words, "they minimize the objective", bool(holds))


def _first_in_tables() -> Iterator[Claim]:
    """Tables 4 and 5: the family is best "for all datasets", better than Hier-FS in most cases."""
    for number, table, sign in ((4, PAPER_TIE, -1), (5, PAPER_F1, 1)):
        where = f"Table {number}, as printed"
        first = [
            name
            for name, row in table.items()
            if sign * (row[4] or 0) > max(sign * value for value in row[:4] if value is not None)
        ]
        above = [name for name, row in table.items() if sign * (row[4] or 0) > sign * (row[3] or 0)]
        rivals = [
            name
            for name, row in table.items()
            if sign * (row[4] or 0) > max(sign * value for value in row[:3] if value is not None)
        ]
        words = f"HiRRfam-FS is first on {len(first)} of {len(table)} sets ({', '.join(first)})"
        so = len(first), len(table)
        yield _claim(where, words, "it is first on all", len(first) == len(table), so)
        words = f"HiRRfam-FS is better than Fisher, FSNM and mRMR on {len(rivals)} of {len(table)}"
        yield _claim(where, words, "it beats the three rivals on all", len(rivals) == len(table))
        words = f"HiRRfam-FS is better than Hier-FS on {len(above)} of {len(table)} sets"
        yield _claim(where, words, "it is in most cases", len(above) > len(table) / 2)


def _printed_ranks() -> Claim:
    found = rank_five(PAPER_F1, "HiRRfam-FS", higher_is_better=True)
    assert found is not None  # six sets are printed
    statistic, distance = found["statistic"], found["critical_difference"]
    rough = statistic_of([round(rank, 2) for rank in found["average_ranks"].values()], 6)
    words = (
        f"the printed Table 5 has an F of {statistic:.2f} (printed {FRIEDMAN_F}; {rough:.2f} with "
        f"mean ranks rounded to two digits) and a critical difference of {distance:.3f} (printed "
        f"{PAPER_CD})"
    )
    near = abs(statistic - FRIEDMAN_F) < 0.005, abs(distance - PAPER_CD) < 0.0005
    return _claim("Figure 8, as printed", words, "both are right", all(near), (sum(near), 2))


def _who_differs() -> Iterator[Claim]:
    """Figure 8: from whom HiRRfam-FS differs; Table 7: HierFisher is quicker, but worse."""
    found = rank_five(PAPER_F1, "HiRRfam-FS", higher_is_better=True)
    assert found is not None  # six sets are printed
    words = f"within the critical difference are {', '.join(found['alike'])}"
    statement = "HiRRfam-FS does not differ from Hier-FS and HierMRMR"
    holds = {"Hier-FS", "HierMRMR"} <= set(found["alike"])
    yield _claim("Figure 8, as printed, alike", words, statement, holds)
    fisher, ours = FIVE.index("HierFisher"), FIVE.index("Hier-FS")
    quicker = [name for name, row in PAPER_SECONDS.items() if (row[fisher] or 0) < (row[ours] or 0)]
    worse = [name for name, row in PAPER_F1.items() if (row[fisher] or 0) < (row[ours] or 0)]
    both = [name for name in quicker if name in worse]
    words = (
        f"HierFisher is quicker than Hier-FS on {', '.join(quicker)}, and has a lower F1 on "
        f"{len(worse)} of {len(PAPER_F1)} sets"
    )
    so = len(both), len(PAPER_F1)
    statement = "it is quicker and worse on all"
    yield _claim("Table 7, as printed", words, statement, so[0] == so[1], so)


def _time_ranks() -> Claim:
    """Figure 10: Friedman's test of the seconds."""
    found = rank_five(PAPER_SECONDS, "Hier-FS", higher_is_better=False)
    assert found is not None  # six sets are printed
    ranks = [round(rank, 2) for rank in found["average_ranks"].values()]
    rough, exact = statistic_of(ranks, 6), found["statistic"]
    differ = [name for name in FIVE if name not in found["alike"]]
    words = (
        f"the printed Table 7 has an F of {exact:.2f} from exact ranks (printed {TIME_F}, which is "
        f"what mean ranks rounded to two digits give: {rough:.2f}); Hier-FS differs from "
        f"{' and '.join(differ)}"
    )
    return _claim("Figure 10, as printed", words, "F is right", abs(exact - TIME_F) < 0.005)


def _speed_up() -> Iterator[Claim]:
    """Table 3: "an order of magnitude faster" on VOC, SUN and ILSVRC65."""
    ratios = {name: every / some for name, (some, every) in PAPER_TEST_SECONDS.items()}
    shown = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    words = f"all features take {shown} times as long as the chosen ones"
    large = min(ratios[name] for name in ("VOC", "SUN", "ILSVRC65"))
    statement = "classification is an order of magnitude quicker on VOC, SUN and ILSVRC65"
    yield _claim("Table 3, as printed", words, statement, large >= 10)


def _features_of_nodes() -> Iterator[Claim]:
    """Table 6: what the text says of the 24 features of the nodes of DD."""
    chosen = {name: set(features) for name, features in PAPER_CHOSEN.items()}
    root, nodes = chosen["root"], [chosen[f"node {n}"] for n in (1, 2, 3, 4)]
    where = "Table 6, as printed"
    found = sorted(root & set(_GLOBAL))
    words = f"the root has the global features {', '.join(map(str, found))} of 441 to 446"
    yield _claim(where, words, "these are almost all of them", len(found) >= len(_GLOBAL) - 1)
    common = [len(root & node) for node in nodes]
    words = f"root and nodes have {', '.join(map(str, common))} features in common"
    yield _claim(where, words, "these are 9 to 12", min(common) >= 9 and max(common) <= 12)
    differ = [sorted(nodes[0] - nodes[1]), sorted(nodes[1] - nodes[0])]
    words = (
        f"node 1 has {len(differ[0])} features that node 2 has not "
        f"({', '.join(map(str, differ[0]))}), and node 2 {len(differ[1])} "
        f"({', '.join(map(str, differ[1]))})"
    )
    yield _claim(where, words, "10 features differ", len(differ[0]) == 10)
    kinds = [(sum(f <= 440 for f in own), sum(f > 446 for f in own)) for own in differ]
    words = (
        f"of these, {kinds[0][0]} of node 1 and {kinds[1][0]} of node 2 are among 421 to 440 (the "
        f"text: 6 2-gram features), {kinds[0][1]} and {kinds[1][1]} above 446 (4 local ones)"
    )
    right = sum(kind == (6, 4) for kind in kinds)
    yield _claim(where, words, "6 and 4 are right of both", right == 2, (right, 2))
    pairs = [len(one & other) for one, other in combinations(nodes, 2)]
    words = (
        f"of {len(root)} features, root and nodes share {np.mean(common):.1f} on average, pairs of "
        f"the four nodes, which are siblings, {np.mean(pairs):.1f}"
    )
    statement = "parents and children are more alike than siblings"
    yield _claim("Table 6, as printed, overlap", words, statement, sum(common) / 4 > sum(pairs) / 6)


def _sensitivity() -> Iterator[Claim]:
    """Table 8: what the text says of single cells and of spreads."""
    f194, dd = PAPER_GRIDS["F194"], PAPER_GRIDS["DD"]
    words = (
        f"F194 with alpha = beta = .01 has {f194[0][0]:.4f} in the table, which is the first cell "
        f"of VOC ({PAPER_GRIDS['VOC'][0][0]:.4f}), and .7171 in the text"
    )
    where = "Table 8(a), as printed"
    yield _claim(where, words, "text and table agree", f194[0][0] == 0.7171)
    words = f"F194 falls to {f194[0][4]:.4f} with alpha = 100 and beta = .01"
    yield _claim(where, words, "a strong tie to the parent is harmful", f194[0][4] < 0.7)
    words = (
        f"DD falls from {dd[0][0]:.4f} to {dd[4][0]:.4f} with beta = 100, but all cells come out "
        "of the authors' program with alpha and beta exchanged: it is alpha = 100, the tie to the "
        "parent, that harms"
    )
    statement = "too strong a sibling term is not suitable for DD"
    yield _claim("Table 8(b), as printed", words, statement, False)
    for name in ("SUN", "VOC"):
        grid = PAPER_GRIDS[name]
        strong = max(grid[4][1:])
        weak = min(value for line in grid[:2] for value in line)
        where = f"Table 8({_LETTERS[name]}), as printed"
        words = (
            f"{name} has at most {strong:.4f} with beta = 100 and alpha from {STRENGTHS[1]:g} "
            f"({grid[4][0]:.4f} with alpha = {STRENGTHS[0]:g}, of which the text does not speak), "
            f"at least {weak:.4f} with beta of {STRENGTHS[0]:g} and {STRENGTHS[1]:g}"
        )
        statement = f"beta = 100 is harmful with alpha from {STRENGTHS[1]:g}"
        yield _claim(where, words, statement, strong < weak)
    for name in ("Cifar100", "ILSVRC65"):
        values = [value for line in PAPER_GRIDS[name] for value in line]
        where = f"Table 8({_LETTERS[name]}), as printed"
        words = f"{name} lies between {min(values):.4f} and {max(values):.4f}"
        statement = "F1 is not sensitive to alpha and beta"
        words += f" (bar: a range of {NEAR:g})"
        yield _claim(where, words, statement, max(values) - min(values) <= NEAR)


def _shapes() -> Iterator[Claim]:
    """Figures 5, 6 and 11: the trees, and the numbers of Table 2."""
    for figure, (name, _, told) in HIERARCHIES.items():
        tree = hierarchy_of(figure)
        shape = (int(tree.n_nodes), len(tree.leaves))
        where = figure.replace("figure-", "Figure ")
        words = (
            f"the tree of {name} has {shape[0]} nodes and {shape[1]} leaves, {tree.max_depth + 1} "
            "levels"
        )
        if told is None:
            yield _claim(where, words, "it has the 20 groups", shape[1] == 20)
        else:
            yield _claim(where, words, "these are the numbers of Table 2", shape == told)
