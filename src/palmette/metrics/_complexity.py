"""How hard a classification problem is, before any classifier is fitted: whole or node by node.

T. K. Ho, M. Basu, "Complexity measures of supervised classification problems", IEEE Transactions on
Pattern Analysis and Machine Intelligence 24, 2002: F1, F2, F3, L2, N1, N2 and N3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length, check_random_state

from palmette._arrays import FloatArray, read_rows, take_rows
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

_BLOCK = 2**21  # numbers of a block of dense columns
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
    rows, codes, _ = _read(X, y)
    means, variances, _, _ = _moments(rows, codes)

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
    rows, codes, _ = _read(X, y)
    _, _, low, high = _moments(rows, codes)

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
    rows, codes, n_classes = _read(X, y)
    _, _, low, high = _moments(rows, codes)
    sizes = np.bincount(codes)
    best: dict[tuple[int, int], float] = {}
    for columns, block in _blocks(rows):
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
        Share of the rows that `LinearSVC`, on standardized columns, puts on the wrong side; zero
        where a hyperplane separates the classes widely.

    Examples
    --------
    >>> linear_error([[0.0], [2.0], [8.0], [10.0]], ["a", "a", "b", "b"])
    0.0
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    rows, codes, _ = _read(X, y)
    scaled = _standardized(rows)
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
    Dense columns are standardized. Distances are computed row by row, so that memory grows with
    the rows and time with their square. Of equal distances the first row counts.

    Examples
    --------
    >>> boundary_share([[0.0], [1.0], [2.0], [4.0], [5.0]], ["a", "a", "a", "b", "b"])
    0.4
    """
    rows, codes, _ = _read(X, y)
    first, second = _spanning_tree(_standardized(rows))
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
        other row are left out. Dense columns are standardized.

    Examples
    --------
    >>> round(distance_ratio([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]), 3)
    0.286
    """
    from sklearn.neighbors import NearestNeighbors

    rows, codes, n_classes = _read(X, y)
    scaled = _standardized(rows)
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
        From 0 to 1; the smaller, the easier. Dense columns are standardized.

    Examples
    --------
    >>> neighbor_error([[0.0], [1.0], [2.4], [4.0], [5.0]], ["a", "a", "b", "b", "b"])
    0.2
    """
    from sklearn.neighbors import NearestNeighbors

    rows, codes, _ = _read(X, y)
    nearest = NearestNeighbors(n_neighbors=1).fit(_standardized(rows)).kneighbors()[1][:, 0]
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

    Examples
    --------
    >>> print(problem_complexity([[0.0], [2.0], [8.0], [10.0]], ["a", "a", "b", "b"]))
    F1 32, N1 0.5, N3 0
    """
    rows, codes, _ = _read(X, y)
    if max_rows is not None and max_rows < 2:
        raise PalmetteError(f"max_rows={max_rows!r}: expected 2 or more, or None for all rows.")
    drawn = _drawn(codes, max_rows, check_random_state(random_state))
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
    X: Any, y: Any, tree: Hierarchy, *, max_rows: int | None = 2000, random_state: Any = 0
) -> dict[int, ProblemComplexity]:
    """Return how hard it is to separate the children of every node.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    y : labels of n_samples rows
        One per row, nodes of the tree.
    tree : Hierarchy
        A tree, given or learned.
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
    tree.require_tree("node_complexity")
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


def _read(X: Any, y: Any) -> tuple[Any, NDArray[np.intp], int]:
    """Check rows and classes; return the rows, codes of the classes and their number."""
    rows = read_rows(X, named="the complexity of a problem", dtype=np.float64)
    check_consistent_length(rows, y)
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise LabelError(
            f"y has {labels.ndim} dimensions: expected one class per row. For paths and label sets "
            "measure one node or label at a time, or use node_complexity."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise LabelError(f"y has one class only, {classes[0]!r}: expected two classes or more.")
    return rows, codes, len(classes)


def _over_pairs(measure: Any, n_classes: int) -> float:
    return float(np.mean([measure(i, j) for i, j in combinations(range(n_classes), 2)]))


def _blocks(rows: Any) -> Iterator[tuple[slice, FloatArray]]:
    """Yield slices of columns, and these columns as dense arrays."""
    columns = rows.tocsc() if sparse.issparse(rows) else rows
    width = max(1, _BLOCK // max(1, rows.shape[0]))
    for start in range(0, rows.shape[1], width):
        part = slice(start, start + width)
        block = columns[:, part]
        yield part, block.toarray() if sparse.issparse(block) else block


def _moments(rows: Any, codes: NDArray[np.intp]) -> tuple[FloatArray, ...]:
    """Return means, variances, minima and maxima, each of shape (n_classes, n_features)."""
    n_classes = int(codes.max()) + 1
    found = np.empty((4, n_classes, rows.shape[1]))
    for columns, block in _blocks(rows):
        for code in range(n_classes):
            # every column adjacent in memory, so that numpy adds it alike in any block
            own = np.ascontiguousarray(block[codes == code].T)
            found[:, code, columns] = own.mean(axis=1), own.var(axis=1), own.min(1), own.max(1)
    return found[0], found[1], found[2], found[3]


def _standardized(rows: Any) -> Any:
    """Return dense columns with mean zero and variance one; sparse rows as they are."""
    if sparse.issparse(rows):
        return rows
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(rows)


def _sides(mask: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return mask, ~mask


def _spanning_tree(rows: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the ends of the edges of a minimum spanning tree, by Prim's algorithm.

    It needs the distances from one row at a time: n passes over the rows, and no n x n array.
    """
    n = rows.shape[0]
    lengths = _squared_lengths(rows)
    nearest = np.zeros(n, dtype=np.intp)  # row of the tree that each row outside is nearest to
    best = np.full(n, np.inf)
    outside = np.ones(n, dtype=bool)
    edges = np.empty((n - 1, 2), dtype=np.intp)
    last = 0
    for step in range(n - 1):
        outside[last] = False
        row = rows[[last]].toarray().ravel() if sparse.issparse(rows) else rows[last]
        distances = np.maximum(lengths - 2.0 * np.asarray(rows @ row) + lengths[last], 0.0)
        closer = distances < best
        nearest[closer], best[closer] = last, distances[closer]
        last = int(np.argmin(np.where(outside, best, np.inf)))
        edges[step] = nearest[last], last
    return edges[:, 0], edges[:, 1]


def _squared_lengths(rows: Any) -> FloatArray:
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _drawn(codes: NDArray[np.intp], max_rows: int | None, rng: Any) -> NDArray[np.intp]:
    """Return the rows that are measured, ascending."""
    n = len(codes)
    if max_rows is None or n <= max_rows:
        return np.arange(n)
    parts = []
    for code in range(int(codes.max()) + 1):
        own = np.flatnonzero(codes == code)
        wanted = min(len(own), max(2, round(len(own) * max_rows / n)))
        parts.append(rng.choice(own, wanted, replace=False))
    return np.sort(np.concatenate(parts))
