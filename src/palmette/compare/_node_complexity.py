"""How hard the nodes of a learned tree are to divide, on some of their rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import take_rows
from palmette.compare._compare import LearntTree
from palmette.compare._preparing import prepare
from palmette.compare._problems import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import boundary_share, fisher_ratio
from palmette.metrics._complexity_rows import draw_rows
from palmette.models._registry import ModelSpec

IntArray = NDArray[np.intp]

_SHOWN_LEAVES = 3  # of a side
_FEW_ROWS = 20  # with fewer, a share of rows says little


@dataclass(frozen=True)
class DividedNode:
    """A node whose children were compared.

    Attributes
    ----------
    node : str
    sides : list of str
        Its children with rows: a leaf by its name, a group by some of its leaves.
    n_rows : list of int
        Rows on each side; those with labels on several sides are not counted.
    n_measured : int
        Rows that were measured: all, or a draw.
    boundary_share, fisher_ratio : float
        N1 and F1; see `palmette.metrics`.
    """

    node: str
    sides: list[str]
    n_rows: list[int]
    n_measured: int
    boundary_share: float
    fisher_ratio: float


@dataclass(frozen=True)
class TreeComplexity:
    """How hard the nodes of a tree are to divide.

    Attributes
    ----------
    nodes : list of DividedNode
        The hardest first: those with the largest share of rows on the boundary.
    n_nodes : int
        Number of nodes that are no leaves, measured or not.
    n_small : int
        Number of these that were left out, since they have fewer rows than `min_rows`.
    n_drawn : int
        Number of measured nodes of which not all rows were measured.
    n_wide : int
        Number of measured nodes of which not all sides were measured.
    overlap : bool
        Whether there are rows with labels on several sides of a node; they are not measured there.
    min_rows, max_rows, max_sides : int
        The limits of a node.
    """

    nodes: list[DividedNode]
    n_nodes: int
    n_small: int
    n_drawn: int
    n_wide: int
    overlap: bool
    min_rows: int
    max_rows: int
    max_sides: int

    @property
    def mean_boundary_share(self) -> float:
        """Mean N1 of the measured nodes."""
        return float(np.mean([each.boundary_share for each in self.nodes]))

    @property
    def median_fisher_ratio(self) -> float:
        """Median F1 of the measured nodes: one node may have an infinite one."""
        return float(np.median([each.fisher_ratio for each in self.nodes]))

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and texts for JSON, in which an infinite ratio is None."""
        nodes = [asdict(each) for each in self.nodes]
        for each in nodes:
            each["fisher_ratio"] = _finite(each["fisher_ratio"])
        return {
            "n_nodes": self.n_nodes,
            "n_measured": len(self.nodes),
            "min_rows": self.min_rows,
            "max_rows": self.max_rows,
            "max_sides": self.max_sides,
            "mean_boundary_share": _finite(self.mean_boundary_share),
            "median_fisher_ratio": _finite(self.median_fisher_ratio),
            "nodes": nodes,
        }


def measure_nodes(
    problem: Problem,
    learned: LearntTree,
    *,
    min_rows: int = _FEW_ROWS,
    max_rows: int = 400,
    max_nodes: int = 300,
    max_sides: int = 20,
    random_state: int = 0,
) -> TreeComplexity | None:
    """Measure how hard it is to separate the children of every node, on the training rows.

    Parameters
    ----------
    problem : Problem
        The one that the tree was learned from.
    learned : LearntTree
    min_rows : int
        Nodes with fewer rows are left out, unless all have fewer.
    max_rows : int
        Of a node with more rows, about this many are drawn: the same share of every side.
    max_nodes : int
        If there are more, those with the most rows are measured.
    max_sides : int
        Of a node with more children, those with the most rows are measured: F1 compares all pairs.
    random_state : int

    Returns
    -------
    TreeComplexity or None
        None for a DAG, in which a class may be on both sides of a node, and for a tree none of
        whose nodes divides rows.

    Examples
    --------
    >>> from palmette.compare import learn_tree
    >>> h = Hierarchy.star(["ant", "bee", "whale"])
    >>> X, y = np.array([[0.0], [1.0], [9.0]] * 5), ["ant", "bee", "whale"] * 5
    >>> toy = Problem("animals", h, X, y)
    >>> found = measure_nodes(toy, learn_tree(toy, "agglomerative"))
    >>> [each.sides for each in found.nodes]
    [['ant', 'bee'], ['ant, bee', 'whale']]
    """
    tree = learned.hierarchy
    if not tree.is_tree:
        return None
    below = learned.members.tocsc()  # rows by nodes
    rng = np.random.RandomState(random_state)
    children_of = _children(tree)
    order = np.argsort(-learned.counts, kind="stable").tolist()
    inner = [node for node in order if children_of[node].size]
    if learned.counts[inner[0]] < min_rows:
        min_rows = 2
    large = [node for node in inner if learned.counts[node] >= min_rows]
    parts: list[tuple[int, IntArray, IntArray, IntArray, IntArray]] = []
    overlap, n_wide = False, 0
    for node in large:
        children = children_of[node]
        own, sides, several = _one_side_each(below[:, children])
        overlap = overlap or several
        kept, n_rows = np.unique(sides, return_counts=True)
        if len(kept) > max_sides:
            n_wide += 1
            kept = np.sort(kept[np.argsort(-n_rows, kind="stable")[:max_sides]])
            measured = np.isin(sides, kept)
            own, sides = own[measured], sides[measured]
        codes = np.searchsorted(kept, sides)
        if len(kept) > 1 and len(parts) < max_nodes:
            drawn = draw_rows(codes, max_rows, rng)
            parts.append((node, children[kept], np.bincount(codes), own[drawn], codes[drawn]))
        if len(parts) == max_nodes:
            break
    if not parts:
        return None
    used = np.unique(np.concatenate([own for *_, own, _ in parts]))
    rows = _numbers(problem, used)
    names = _names_of_sides(tree)
    found = []
    for node, sides, n_rows, own, y in parts:
        X = _used_columns(take_rows(rows, np.searchsorted(used, own)))
        found.append(
            DividedNode(
                str(tree.names[node]),
                [names[child] for child in sides.tolist()],
                n_rows.tolist(),
                len(y),
                boundary_share(X, y),
                fisher_ratio(X, y),
            )
        )
    found.sort(key=lambda each: (-each.boundary_share, each.fisher_ratio))
    n_drawn = sum(each.n_measured < sum(each.n_rows) for each in found)
    n_small = len(inner) - len(large)
    limits = min_rows, max_rows, max_sides
    return TreeComplexity(found, len(inner), n_small, n_drawn, n_wide, overlap, *limits)


def _children(tree: Hierarchy) -> list[IntArray]:
    """Return the children of every node, by numbers: names of classes may be numbers, too."""
    above = np.asarray(tree.parents)[1:]
    order = np.argsort(above, kind="stable")
    ends = np.searchsorted(above[order], np.arange(1, tree.n_nodes))
    return [part.astype(np.intp) + 1 for part in np.split(order, ends)]


def _numbers(problem: Problem, kept: IntArray) -> Any:
    """Return the features of some training rows as numbers, as learners of trees get them."""
    from sklearn.preprocessing import FunctionTransformer

    same = FunctionTransformer(accept_sparse=True)
    spec = ModelSpec("rows", lambda _: same, "", scale=False)
    given = take_rows(problem.X_train, kept)
    made = prepare(same, spec, given, categorical=problem.categorical, schema=problem.schema)
    if problem.schema is None:
        rows = made.fit_transform(given)
    else:
        rows = made.fit(problem.X_train).transform(given)
    return sparse.csr_array(rows) if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64)


def _one_side_each(below: Any) -> tuple[IntArray, IntArray, bool]:
    """Return the rows below one child only, the position of that child, and if there are others."""
    by_row = sparse.csr_array(below)
    n_sides = np.diff(by_row.indptr)
    rows = np.flatnonzero(n_sides == 1)
    sides = by_row.indices[by_row.indptr[rows]].astype(np.intp)
    return rows, sides, bool((n_sides > 1).any())


def _used_columns(rows: Any) -> Any:
    """Return sparse rows without the columns that are zero in all of them."""
    if not sparse.issparse(rows):
        return rows
    used = np.unique(rows.indices)
    return rows[:, used] if used.size else rows[:, :1]


def _names_of_sides(tree: Hierarchy) -> list[str]:
    """Return the name of every leaf, and some of the leaves below every other node."""
    leaves: list[list[str]] = [[] for _ in range(tree.n_nodes)]
    counts = np.zeros(tree.n_nodes, dtype=np.int64)
    parents = np.asarray(tree.parents)
    for leaf in tree.leaves.tolist():
        node = leaf
        while True:
            counts[node] += 1
            if len(leaves[node]) < _SHOWN_LEAVES:
                leaves[node].append(str(tree.names[leaf]))
            if node == 0:
                break
            node = int(parents[node])
    return [
        ", ".join(shown) + (f", … {count - len(shown):,} more" if count > len(shown) else "")
        for shown, count in zip(leaves, counts.tolist(), strict=True)
    ]


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None
