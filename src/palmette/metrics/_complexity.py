"""How hard a classification problem is, before any classifier is fitted: whole or node by node.

T. K. Ho, M. Basu, "Complexity measures of supervised classification problems", IEEE Transactions on
Pattern Analysis and Machine Intelligence 24, 2002: F1, F2, F3, L2, N1, N2 and N3.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, check_random_state

from palmette._arrays import read_rows, take_rows
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics._complexity_rows import (
    blocks,
    check_max_rows,
    draw_rows,
    moments,
    read_problem,
    require_hierarchy,
    spanning_tree,
    standardized,
)

_SHOWN = (("F1", "fisher_ratio"), ("N1", "boundary_share"), ("N3", "neighbor_error"))


@dataclass(frozen=True)
class ProblemComplexity:
    """Complexity of a classification problem.

    Attributes
    ----------
    n_rows : int
    fisher_ratio, range_overlap, feature_efficiency, linear_error, boundary_share : float
    distance_ratio, neighbor_error : float
        As the functions of these names give them.
    """

    n_rows: int
    fisher_ratio: float
    range_overlap: float
    feature_efficiency: float
    linear_error: float
    boundary_share: float
    distance_ratio: float
    neighbor_error: float

    def __str__(self) -> str:
        return ", ".join(f"{short} {getattr(self, name):.3g}" for short, name in _SHOWN)


# ---------------------------------------------------------------------- single features


def fisher_ratio(X: Any, y: Any) -> float:
    """Fisher's discriminant ratio of the best feature: F1.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class of every row.

    Returns
    -------
    float
        Largest (m1 - m2)^2 / (s1^2 + s2^2) of a feature, with the means and variances of the two
        classes; with more than two classes, the mean over all pairs of them. The larger, the
        easier; infinite if a feature has one value in each class, and these values differ.

    Examples
    --------
    >>> fisher_ratio([[0.0], [2.0], [8.0], [10.0]], ["a", "a", "b", "b"])
    32.0
    """
    rows, codes, _ = read_problem(X, y)
    means, variances, _, _ = moments(rows, codes)

    def ratio(i: int, j: int) -> float:
        apart, spread = (means[i] - means[j]) ** 2, variances[i] + variances[j]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(apart > 0, apart / spread, 0.0)
        return float(ratios.max())

    return _over_pairs(ratio, len(means))


def range_overlap(X: Any, y: Any) -> float:
    """Share of the box of all rows in which the ranges of both classes overlap: F2.

    Parameters
    ----------
    X, y : as in `fisher_ratio`

    Returns
    -------
    float
        Product over the features of the length that both ranges share over the length of both
        together; the mean over all pairs of more than two classes. 0 where a feature separates the
        classes. Features that are constant in both classes are left out.

    Examples
    --------
    >>> range_overlap([[0.0, 0.0], [4.0, 2.0], [3.0, 0.0], [5.0, 2.0]], ["a", "a", "b", "b"])
    0.2
    """
    rows, codes, _ = read_problem(X, y)
    _, _, low, high = moments(rows, codes)

    def volume(i: int, j: int) -> float:
        shared = np.minimum(high[i], high[j]) - np.maximum(low[i], low[j])
        whole = np.maximum(high[i], high[j]) - np.minimum(low[i], low[j])
        kept = whole > 0
        return float(np.prod(np.maximum(shared[kept], 0.0) / whole[kept]))

    return _over_pairs(volume, len(low))


def feature_efficiency(X: Any, y: Any) -> float:
    """Share of the rows that the best feature alone separates: F3.

    Parameters
    ----------
    X, y : as in `fisher_ratio`

    Returns
    -------
    float
        Largest share of rows outside of the range that both classes have in a feature; the mean
        over all pairs of more than two classes. 1 where a feature separates the classes.

    Examples
    --------
    >>> feature_efficiency([[0.0], [4.0], [3.0], [5.0]], ["a", "a", "b", "b"])
    0.5
    """
    rows, codes, n_classes = read_problem(X, y)
    _, _, low, high = moments(rows, codes)
    sizes = np.bincount(codes)
    best: dict[tuple[int, int], float] = {}
    for columns, block in blocks(rows):
        for i, j in combinations(range(n_classes), 2):
            from_, to = np.maximum(low[i], low[j])[columns], np.minimum(high[i], high[j])[columns]
            of_pair = block[(codes == i) | (codes == j)]
            inside = ((of_pair >= from_) & (of_pair <= to)).sum(axis=0).min()
            share = 1.0 - float(inside) / float(sizes[i] + sizes[j])
            best[i, j] = max(best.get((i, j), 0.0), share)
    return float(np.mean(list(best.values())))


def linear_error(X: Any, y: Any) -> float:
    """Error of a linear classifier on the rows that it is fitted to: L2.

    Parameters
    ----------
    X, y : as in `fisher_ratio`

    Returns
    -------
    float
        Share of the rows that `LinearSVC` puts on the wrong side; zero where a hyperplane separates
        the classes widely.

    Notes
    -----
    Dense columns are standardized and sparse rows are not, so that the two forms of the same rows
    differ. Scale the columns of sparse rows before, `MaxAbsScaler` for instance.

    Examples
    --------
    >>> linear_error([[0.0], [2.0], [8.0], [10.0]], ["a", "a", "b", "b"])
    0.0
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    rows, codes, _ = read_problem(X, y)
    scaled = standardized(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few rows more or less
        model = LinearSVC(random_state=0).fit(scaled, codes)
    return float(np.mean(model.predict(scaled) != codes))


# ---------------------------------------------------------------------- neighbours


def boundary_share(X: Any, y: Any) -> float:
    """Share of the rows that a minimum spanning tree joins to a row of another class: N1.

    Parameters
    ----------
    X, y : as in `fisher_ratio`

    Returns
    -------
    float
        From 0 to 1; the smaller, the easier.

    Notes
    -----
    Dense columns are standardized and sparse rows are not, so that the two forms of the same rows
    differ. Distances are computed row by row, so that memory grows with
    the rows and time with their square. Of equal distances the first row counts.

    Examples
    --------
    >>> boundary_share([[0.0], [1.0], [2.0], [4.0], [5.0]], ["a", "a", "a", "b", "b"])
    0.4
    """
    rows, codes, _ = read_problem(X, y)
    first, second = spanning_tree(standardized(rows))
    crossing = codes[first] != codes[second]
    touched = np.zeros(len(codes), dtype=bool)
    touched[first[crossing]] = touched[second[crossing]] = True
    return float(touched.mean())


def distance_ratio(X: Any, y: Any) -> float:
    """Distances to the nearest row of the same class over those to another class: N2.

    Parameters
    ----------
    X, y : as in `fisher_ratio`

    Returns
    -------
    float
        Sum of the distances of all rows to the nearest row of their class, divided by the sum of
        those to the nearest row of another class; the smaller, the easier. Rows whose class has no
        other row are left out.

    Notes
    -----
    Dense columns are standardized and sparse rows are not, so that the two forms of the same rows
    differ.

    Examples
    --------
    >>> round(distance_ratio([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]), 3)
    0.286
    """
    from sklearn.neighbors import NearestNeighbors

    rows, codes, n_classes = read_problem(X, y)
    scaled = standardized(rows)
    same = other = 0.0
    for code in range(n_classes):
        own, others = (take_rows(scaled, np.flatnonzero(each)) for each in _sides(codes == code))
        if own.shape[0] > 1:
            same += float(NearestNeighbors(n_neighbors=1).fit(own).kneighbors()[0].sum())
            other += float(NearestNeighbors(n_neighbors=1).fit(others).kneighbors(own)[0].sum())
    if other == 0.0:
        return float(np.inf) if same > 0 else float(np.nan)
    return same / other


def neighbor_error(X: Any, y: Any) -> float:
    """Share of the rows whose nearest other row has another class: N3.

    Parameters
    ----------
    X, y : as in `fisher_ratio`

    Returns
    -------
    float
        From 0 to 1; the smaller, the easier.

    Notes
    -----
    Dense columns are standardized and sparse rows are not, so that the two forms of the same rows
    differ.

    Examples
    --------
    >>> neighbor_error([[0.0], [1.0], [2.4], [4.0], [5.0]], ["a", "a", "b", "b", "b"])
    0.2
    """
    from sklearn.neighbors import NearestNeighbors

    rows, codes, _ = read_problem(X, y)
    nearest = NearestNeighbors(n_neighbors=1).fit(standardized(rows)).kneighbors()[1][:, 0]
    return float(np.mean(codes[nearest] != codes))


# ---------------------------------------------------------------------- all of them


def problem_complexity(
    X: Any, y: Any, *, max_rows: int | None = 2000, random_state: Any = 0
) -> ProblemComplexity:
    """Return all measures of a classification problem.

    Parameters
    ----------
    X, y : as in `fisher_ratio`
    max_rows : int, optional
        If there are more rows, about this many are drawn: the same share of every class, but at
        least two rows. None uses all rows.
    random_state : int, RandomState or None
        Seed of the draw.

    Returns
    -------
    ProblemComplexity

    Notes
    -----
    L2, N1, N2 and N3 of sparse rows are those of rows that are not scaled; F1, F2 and F3 do not
    depend on the scale.

    Examples
    --------
    >>> print(problem_complexity([[0.0], [2.0], [8.0], [10.0]], ["a", "a", "b", "b"]))
    F1 32, N1 0.5, N3 0
    """
    rows, codes, _ = read_problem(X, y)
    check_max_rows(max_rows)
    drawn = draw_rows(codes, max_rows, check_random_state(random_state))
    rows, codes = take_rows(rows, drawn), codes[drawn]
    measures = (
        fisher_ratio,
        range_overlap,
        feature_efficiency,
        linear_error,
        boundary_share,
        distance_ratio,
        neighbor_error,
    )
    return ProblemComplexity(len(codes), *(measure(rows, codes) for measure in measures))


def node_complexity(
    X: Any,
    y: Any,
    tree: Hierarchy | None = None,
    *,
    hierarchy: Hierarchy | None = None,
    max_rows: int | None = 2000,
    random_state: Any = 0,
) -> dict[int, ProblemComplexity]:
    """Return how hard it is to separate the children of every node.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    y : labels of n_samples rows
        One per row, nodes of the tree.
    tree : Hierarchy
        A tree, given or learned: of a learner, its ``hierarchy_``.
    hierarchy : Hierarchy
        Another name of `tree`, that of other functions.
    max_rows, random_state : as in `problem_complexity`
        For every node.

    Returns
    -------
    dict of int to ProblemComplexity
        By node, for nodes that have rows below two children or more. Rows that end at a node itself
        do not count there.

    Examples
    --------
    >>> tree = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("c",)])
    >>> X = [[0.0], [1.0], [2.5], [3.5], [9.0], [9.5]]
    >>> found = node_complexity(X, list("aabbcc"), tree)
    >>> print(tree.draw(annotations=[str(found.get(i, "")) for i in range(tree.n_nodes)]))
    root  F1 30, N1 0.333, N3 0
    ├─ p  F1 12.5, N1 0.5, N3 0
    │  ├─ a
    │  └─ b
    └─ c
    """
    tree = require_hierarchy(tree, hierarchy)
    check_max_rows(max_rows)
    rows = read_rows(X, named="node_complexity", dtype=np.float64)
    labels = NodeLabels.encode(y, tree).terminals
    check_consistent_length(rows, labels)
    parents = np.asarray(tree.parents)
    size = np.ones(tree.n_nodes, dtype=np.int64)
    for node in range(tree.n_nodes - 1, 0, -1):  # children have higher numbers
        size[parents[node]] += size[node]
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(tree.n_nodes + 1))  # a subtree is a slice
    found = {}
    for node in range(tree.n_nodes):
        below = order[ends[node + 1] : ends[node + size[node]]] if size[node] > 1 else order[:0]
        children = np.flatnonzero(parents[1:] == node) + 1
        below = np.sort(below)
        sides = np.searchsorted(children, labels[below], side="right")
        if len(np.unique(sides)) > 1:
            found[node] = problem_complexity(
                take_rows(rows, below), sides, max_rows=max_rows, random_state=random_state
            )
    return found


# ---------------------------------------------------------------------- helpers


def _over_pairs(measure: Any, n_classes: int) -> float:
    return float(np.mean([measure(i, j) for i, j in combinations(range(n_classes), 2)]))


def _sides(mask: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return mask, ~mask
