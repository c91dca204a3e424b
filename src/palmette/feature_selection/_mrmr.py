"""MrmrScore: maximal relevance and minimal redundancy at every node (HierMRMR)."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from palmette._kernels import inner, kernel
from palmette.base._parameters import check_not_negative
from palmette.exceptions import PalmetteError
from palmette.feature_selection._base import (
    FeatureScore,
    NodeData,
    NodeScores,
    ScoringProblem,
    each_node,
)

Codes: TypeAlias = NDArray[np.uint8] | NDArray[np.int32]
Indices: TypeAlias = NDArray[np.int64]
Sums: TypeAlias = NDArray[np.float64]
FloatArray = NDArray[np.float64]
Bins = int | str
_CRITERIA = ("difference", "quotient")
_MAX_VALUES = 2**16  # maximum number of values of a feature, which bounds the table of pairs
_ROUNDING = 1e-12  # of merits
_AT_ONCE = 2**24  # maximum size of a table of bins by values: 128 MB


class MrmrScore(FeatureScore):
    """Maximal relevance and minimal redundancy at every node: HierMRMR.

    The first feature has the largest mutual information with the options. Each following feature
    maximizes the difference (or quotient) between its relevance, the mutual information with the
    options, and its redundancy, the mean mutual information with the features selected before.
    Scores express this order: 1 for the first feature, then decreasing in equal steps to 0 for
    features that are not selected. Features with only one bin come last.

    Parameters
    ----------
    bins : {"deviation", "round", "values"} or int
        How each feature is binned. ``"deviation"``: three bins with edges `width` standard
        deviations below and above the mean. An int: this number of bins of about equal weight,
        with edges at values of rows. ``"round"``: rounded to whole numbers, as in the code of the
        HiRR-FS paper, which loses features with small values. ``"values"``: each value is a bin,
        for discrete features.
    width : float
        See ``bins="deviation"``.
    per_node : bool
        Whether bins are computed from the rows of every node, or once from all rows.
    criterion : {"difference", "quotient"}
        How relevance and redundancy are combined.

    Notes
    -----
    Of nine binnings, the default had the best mean hierarchical F1 over three data sets, in
    cross-validation on training rows (.713; others .691 to .711). It was the best one on
    protein_dd; on imclef07a and diatoms others were better by .010 and .008. ``per_node=True`` and
    ``width=1.0`` are worth trying too.

    The time to rank k features of n rows is proportional to k n n_features; with sparse X, to k
    times the number of stored values. Sample weights are used as weights in all counts.

    References
    ----------
    H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information: criteria of
    max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27. doi:10.1109/TPAMI.2005.159

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> from palmette.labels._space import LabelSpace
    >>> h = Hierarchy.star("abc")
    >>> X = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    >>> problem = ScoringProblem(X, LabelSpace(h, h.leaves), np.arange(3, dtype=np.int32))
    >>> [row.round(2).tolist() for row in MrmrScore(bins="values").score(problem).rows()]
    [[1.0, 0.33, 0.67]]
    """

    def __init__(
        self,
        bins: int | str = "deviation",
        *,
        width: float = 0.5,
        per_node: bool = False,
        criterion: str = "difference",
    ) -> None:
        self.bins = bins
        self.width = width
        self.per_node = per_node
        self.criterion = criterion

    def score(self, problem: ScoringProblem) -> NodeScores:
        """Score all features at all nodes."""
        if self.criterion not in _CRITERIA:
            raise PalmetteError(
                f"criterion={self.criterion!r}: expected 'difference' or 'quotient'."
            )
        check_not_negative(self, "width")
        X, weights = problem.X, problem.weights
        edges = None
        if not self.per_node:
            weights = np.ones(X.shape[0]) if weights is None else weights
            edges = bin_edges(X, self.bins, self.width, weights)
        return NodeScores(each_node(problem, partial(_node_score, self, edges)), {})


def _node_score(setting: MrmrScore, edges: FloatArray | None, node: NodeData) -> FloatArray:
    weights = node.row_weights()
    if setting.per_node:
        edges = bin_edges(node.X, setting.bins, setting.width, weights)
    binned = bin_rows(node.X, setting.bins, edges, weights)
    order = _greedy_order(binned, node, setting.criterion)
    scores = np.zeros(node.n_features)
    scores[order] = 1.0 - np.arange(len(order)) / max(node.n_wanted, 1)
    return scores


def _greedy_order(binned: BinnedRows, node: NodeData, criterion: str) -> list[int]:
    """Return up to ``n_wanted`` features, in the order in which they are selected."""
    left = np.flatnonzero(binned.varies)
    relevance = binned.information(node.codes, node.n_options, left)
    redundancy = np.zeros(len(left))
    order: list[int] = []
    while len(left) and len(order) < node.n_wanted:
        if not order:
            merit = relevance
        elif criterion == "difference":
            merit = relevance - redundancy / len(order)
        else:
            merit = relevance / np.maximum(redundancy / len(order), 1e-12)
        best = int((merit >= merit.max() - _ROUNDING).argmax())  # the first of equal ones
        selected = int(left[best])
        order.append(selected)
        others = np.arange(len(left)) != best
        left, relevance, redundancy = left[others], relevance[others], redundancy[others]
        if len(order) < node.n_wanted:
            redundancy = redundancy + binned.information(*binned.feature(selected), left)
    return order


def bin_edges(X: Any, bins: Bins, width: float, weights: FloatArray) -> FloatArray | None:
    """Return the edges of the bins of every feature.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
    bins : {"deviation", "round", "values"} or int
        See `MrmrScore`.
    width : float
        For ``"deviation"``: distance of the edges from the mean, in standard deviations.
    weights : array of shape (n_rows,)

    Returns
    -------
    array of shape (n_edges, n_features), ascending; None if each value is a bin
    """
    if bins in ("round", "values"):
        return None
    if bins == "deviation":
        mean, deviation = _moments(X, weights)
        return np.stack([mean - width * deviation, mean + width * deviation])
    if not isinstance(bins, int) or isinstance(bins, bool):
        raise PalmetteError(
            f"bins={bins!r}: expected 'deviation', 'round', 'values' or a number of bins."
        )
    if bins < 2:
        raise PalmetteError(f"bins={bins!r}: expected 2 or more.")
    if not sparse.issparse(X):
        return _quantiles(X, bins, weights)
    columns = sparse.csc_array(X)
    edges = np.empty((bins - 1, columns.shape[1]))
    for j in range(columns.shape[1]):
        cut = slice(columns.indptr[j], columns.indptr[j + 1])
        own = weights[columns.indices[cut]]
        zero = max(weights.sum() - own.sum(), 0.0)  # weight of the rows whose value is not stored
        values, shares = np.r_[columns.data[cut], 0.0], np.r_[own, zero]
        edges[:, j] = _quantiles(values[:, None], bins, shares).ravel()
    return edges


def bin_rows(X: Any, bins: Bins, edges: FloatArray | None, weights: FloatArray) -> BinnedRows:
    """Return the bins of all rows, for every feature.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
    bins : {"deviation", "round", "values"} or int
    edges : array of shape (n_edges, n_features), or None
        As returned by `bin_edges`, for these rows or for all rows.
    weights : array of shape (n_rows,)

    Returns
    -------
    BinnedRows
    """
    if sparse.issparse(X):
        return _sparse_bins(X, bins, edges, weights)
    codes = _by_values(X, rounded=bins) if edges is None else _by_edges(X, edges)
    return DenseBins(codes, weights)


class DenseBins:
    """Bins of dense rows.

    Parameters
    ----------
    codes : int array of shape (n_features, n_rows)
        Bin of every row for each feature, from 0.
    weights : array of shape (n_rows,)
    """

    def __init__(self, codes: NDArray[Any], weights: FloatArray) -> None:
        self._n_bins = codes.max(axis=1).astype(np.int64) + 1
        narrow = self._n_bins.max(initial=0) <= 256
        self._codes: NDArray[np.uint8] | NDArray[np.int32] = (
            np.ascontiguousarray(codes, dtype=np.uint8)
            if narrow
            else np.ascontiguousarray(codes, dtype=np.int32)
        )
        self._weights = weights

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Whether each feature has rows in two bins at least: of shape (n_features,)."""
        return np.asarray((self._codes != self._codes[:, :1]).any(axis=1))

    def feature(self, j: int) -> tuple[NDArray[Any], int]:
        """Return the bin of every row for a feature, and the number of its bins."""
        return self._codes[j], int(self._n_bins[j])

    def information(
        self, values: NDArray[Any], n_values: int, wanted: NDArray[np.intp]
    ) -> FloatArray:
        """Return the mutual information of features with a variable, in nats.

        Parameters
        ----------
        values : int array of shape (n_rows,)
        n_values : int
        wanted : int array of shape (n_wanted,)
            Features.

        Returns
        -------
        array of shape (n_wanted,)
        """
        found = np.zeros(len(self._codes))
        values = np.ascontiguousarray(values, dtype=self._codes.dtype)
        mutual_information(
            self._codes, self._n_bins, values, n_values, self._weights, wanted, found
        )
        return found[wanted]


class SparseBins:
    """Bins of sparse rows; rows in the bin of the value 0 are not stored.

    Parameters
    ----------
    members : CSR array of shape ((n_bins - 1) * n_features, n_rows)
        Weight of every row in bins 1, 2, ... of every feature; bin 0 is that of the value 0. The
        rows of bin 1 of all features come first, then those of bin 2 ...
    n_features : int
    weights : array of shape (n_rows,)
    """

    def __init__(self, members: sparse.csr_array, n_features: int, weights: FloatArray) -> None:
        self._members = members
        self._n_features = n_features
        self._weights = weights
        self._n_bins = members.shape[0] // n_features + 1

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Whether each feature has rows in two bins at least: of shape (n_features,)."""
        kept = np.diff(self._members.indptr).reshape(self._n_bins - 1, self._n_features)
        n_rows = len(self._weights)
        at_zero = kept.sum(axis=0) < n_rows
        return np.asarray((kept > 0).sum(axis=0) + at_zero > 1)

    def feature(self, j: int) -> tuple[NDArray[Any], int]:
        """Return the bin of every row for a feature, and the number of its bins."""
        values = np.zeros(len(self._weights), dtype=np.int32)
        for b in range(1, self._n_bins):
            place = (b - 1) * self._n_features + j
            start, stop = self._members.indptr[place : place + 2]
            values[self._members.indices[start:stop]] = b
        return values, self._n_bins

    def information(
        self, values: NDArray[Any], n_values: int, wanted: NDArray[np.intp]
    ) -> FloatArray:
        """Return the mutual information with a variable; see `DenseBins.information`."""
        is_value = sparse.csr_array(
            (np.ones(len(values)), (np.arange(len(values)), values)), (len(values), n_values)
        )
        # the table is computed for a block of values at a time, as there may be many
        of_values = np.bincount(values, self._weights, minlength=n_values)
        total = of_values.sum()
        joint = np.zeros(self._n_features)
        of_bins = np.zeros((self._n_bins - 1, self._n_features))
        step = max(1, _AT_ONCE // self._members.shape[0])
        for first in range(0, n_values, step):
            block = (self._members @ is_value[:, first : first + step].toarray()).reshape(
                self._n_bins - 1, self._n_features, -1
            )
            rest = np.maximum(of_values[first : first + step] - block.sum(axis=0), 0.0)
            joint += xlogy(block, block).sum(axis=(0, 2)) + xlogy(rest, rest).sum(axis=1)
            of_bins += block.sum(axis=2)
        rest = np.maximum(total - of_bins.sum(axis=0), 0.0)
        alone = xlogy(of_bins, of_bins).sum(axis=0) + xlogy(rest, rest)
        constant = xlogy(total, total) - xlogy(of_values, of_values).sum()
        return np.asarray(np.maximum((constant + joint - alone) / total, 0.0)[wanted])


BinnedRows = DenseBins | SparseBins


def _moments(X: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean and standard deviation of every feature, both of shape (n_features,)."""
    total = weights.sum()
    mean = np.asarray(X.T @ weights).ravel() / total
    if not sparse.issparse(X):
        return mean, np.sqrt(weights @ (X - mean) ** 2 / total)
    columns = sparse.csc_array(X)
    feature = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    own = weights[columns.indices]
    parts = own * (columns.data - mean[feature]) ** 2
    at_zero = np.maximum(total - np.bincount(feature, own, minlength=len(mean)), 0.0)
    power = np.bincount(feature, parts, minlength=len(mean)) + at_zero * mean**2
    return mean, np.sqrt(power / total)


def _quantiles(X: FloatArray, n_bins: int, weights: FloatArray) -> FloatArray:
    """Return weighted quantiles that are values of rows, of shape (n_bins - 1, n_features)."""
    order = X.argsort(axis=0, kind="stable")
    below = weights[order].cumsum(axis=0) * (1.0 + 1e-12)
    shares = np.arange(1, n_bins) / n_bins * weights.sum()
    places = np.stack([(below < share).sum(axis=0) for share in shares])
    return np.take_along_axis(np.take_along_axis(X, order, axis=0), places, axis=0)


def _by_edges(X: FloatArray, edges: FloatArray) -> NDArray[np.uint8]:
    """Return the number of edges below each value, of shape (n_features, n_rows)."""
    codes = np.zeros(X.shape[::-1], dtype=np.uint8 if len(edges) < 256 else np.int32)
    for edge in edges:
        codes += (edge < X).T
    return codes


def _by_values(X: FloatArray, rounded: Bins) -> NDArray[np.int32]:
    """Return the rank of each value among those of the feature, of shape (n_features, n_rows)."""
    codes = np.empty(X.shape[::-1], dtype=np.int32)
    for j, column in enumerate(X.T):
        values, codes[j] = np.unique(_round(column, rounded), return_inverse=True)
        if len(values) > _MAX_VALUES:
            raise PalmetteError(
                f"feature {j} has {len(values)} values, too many for bins={rounded!r}. Use "
                "bins='deviation' or a number of bins."
            )
    return codes


def _round(column: FloatArray, rounded: Bins) -> FloatArray:
    """Round to whole numbers, halves away from zero, if `rounded` is "round"."""
    return np.trunc(column + np.copysign(0.5, column)) if rounded == "round" else column


def _sparse_bins(X: Any, bins: Bins, edges: FloatArray | None, weights: FloatArray) -> SparseBins:
    """Return the bins of a sparse array, of which bin 0 contains the value 0."""
    columns = sparse.csc_array(X)
    n_rows, n_features = columns.shape
    feature = np.repeat(np.arange(n_features), np.diff(columns.indptr))
    if edges is None:
        codes = np.zeros(columns.nnz, dtype=np.int32)
        for j in range(n_features):
            cut = slice(columns.indptr[j], columns.indptr[j + 1])
            values = _round(columns.data[cut], bins)
            others = np.unique(values[values != 0.0])
            codes[cut] = np.where(values == 0.0, 0, np.searchsorted(others, values) + 1)
    else:
        raw = sum((edge[feature] < columns.data).astype(np.int32) for edge in edges)
        at_zero = sum((edge < 0.0).astype(np.int32) for edge in edges)[feature]
        # the bin of 0 comes first, the others keep their order
        codes = np.where(raw == at_zero, 0, np.where(raw < at_zero, raw + 1, raw))
    kept = codes > 0
    place = (codes[kept] - 1).astype(np.int64) * n_features + feature[kept]
    rows = columns.indices[kept]
    n_kinds = max(int(codes.max(initial=0)), 1)
    members = sparse.csr_array((weights[rows], (place, rows)), (n_kinds * n_features, n_rows))
    return SparseBins(members, n_features, weights)


@kernel
def mutual_information(
    codes: Codes,
    n_bins: Indices,
    values: Codes,
    n_values: int,
    weights: Sums,
    wanted: Indices,
    found: Sums,
) -> None:
    """Compute the mutual information, in nats, of some features with a variable.

    Parameters
    ----------
    codes : uint8 or int32 array of shape (n_features, n_rows), IN
        Bin of every row for each feature.
    n_bins : int64 array of shape (n_features,), IN
    values : uint8 or int32 array of shape (n_rows,), IN
        Value of the variable, from 0 to ``n_values - 1``.
    n_values : int, IN
    weights : float64 array of shape (n_rows,), IN
    wanted : int64 array of shape (n_wanted,), IN
        Features whose mutual information is computed.
    found : float64 array of shape (n_features,), OUT
        Only the entries of `wanted` are written.
    """
    n_rows = len(values)
    of_values = np.zeros(n_values)
    for i in range(n_rows):
        of_values[values[i]] += weights[i]
    total = of_values.sum()
    constant = total * np.log(total) - _spread(of_values)
    for j in wanted:
        size = n_bins[j]
        joint = np.zeros(size * n_values)
        of_bins = np.zeros(size)
        for i in range(n_rows):
            joint[codes[j, i] * np.int64(n_values) + values[i]] += weights[i]
        for b in range(size):
            for v in range(n_values):
                of_bins[b] += joint[b * n_values + v]
        # rounding errors may make the information of independent features negative
        found[j] = max((constant + _spread(joint) - _spread(of_bins)) / total, 0.0)


@inner
def _spread(counts: Sums) -> float:
    """Return the sum of ``c log c`` over the positive counts."""
    total = 0.0
    for count in counts:
        if count > 0.0:
            total += count * np.log(count)
    return total
