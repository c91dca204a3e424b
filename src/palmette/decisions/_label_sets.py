"""Rules that choose the label set of every row from its probabilities: TopK, ExpectedF."""

from __future__ import annotations

from functools import lru_cache
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import row_chunks
from palmette.decisions._coherence import FloatArray, NodeColumns, threshold_sets
from palmette.decisions._decode import top_classes
from palmette.decisions._thresholds import LabelRule, check_beta
from palmette.exceptions import PalmetteError


class TopK(LabelRule):
    """Predict the k most probable labels of every row.

    In a hierarchy only the most specific labels, those without a child among the columns, are
    counted: a row gets `k` of them and all of their ancestors. Ties go to the first label.

    Parameters
    ----------
    k : int
        If there are fewer labels, all are predicted.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> columns = NodeColumns(h, np.arange(1, h.n_nodes))
    >>> proba = np.array([[0.9, 0.2, 0.7, 0.3, 0.1]])
    >>> h.path_strings[columns.nodes[TopK(1).choose(proba, columns).indices]].tolist()
    ['animal', 'animal/dog']
    """

    def __init__(self, k: int = 1) -> None:
        self.k = k

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 1:
            raise PalmetteError(f"TopK(k={self.k!r}): expected a positive integer.")
        specific = np.setdiff1d(np.arange(columns.n_columns), columns.edges[:, 0])
        chosen = top_classes(proba[:, specific], min(int(self.k), len(specific)))
        n_rows, k = chosen.shape
        sets = sparse.csr_array(
            (np.ones(chosen.size, dtype=bool), chosen.ravel(), np.arange(n_rows + 1) * k),
            shape=(n_rows, len(specific)),
        )
        above = columns.hierarchy.closure[columns.nodes[specific]][:, columns.nodes]
        closed = sparse.csr_array(sets @ above, dtype=bool)
        closed.sort_indices()
        return closed


class ExpectedF(LabelRule):
    """Predict the labels with the best expected F under the predicted probabilities.

    Parameters
    ----------
    beta : float
        Weight of recall relative to precision; 1 is F1.
    by : {"row", "label"}
        ``"row"``: the label set of each row with the best expected F, if labels are independent
        given their probabilities. It is exact among all sets: the best set of each size has the
        most probable labels, and the expectation is an integral over one variable. F of an empty
        prediction is 1 if no label is true. Ancestors count as labels. ``"label"``: for each
        label the threshold F*/(1 + beta^2), where F* is the best ratio of expected counts over
        the rows; so predictions depend on the other rows passed to ``predict``.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a", "b", "c"]), np.arange(1, 4))
    >>> proba = np.array([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]])
    >>> ExpectedF().choose(proba, columns).toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> ExpectedF(by="label").choose(proba, columns).toarray().astype(int).tolist()
    [[1, 1, 1], [0, 0, 1]]
    """

    def __init__(self, beta: float = 1.0, by: str = "row") -> None:
        self.beta = beta
        self.by = by

    @property
    def sees_all_rows(self) -> bool:  # type: ignore[override]
        """Whether the prediction of a row depends on the other rows."""
        return self.by == "label"

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        beta = check_beta(self)
        if self.by == "label":
            return threshold_sets(proba, f_thresholds(proba, beta), columns)
        if self.by != "row":
            raise PalmetteError(f"ExpectedF(by={self.by!r}): expected 'row' or 'label'.")
        # a stable sort puts parents before equally probable children: every prefix is closed
        order = np.argsort(-proba, axis=1, kind="stable")
        falling = proba[np.arange(len(proba))[:, None], order]
        sizes = best_set_sizes(falling, beta)
        taken = np.arange(columns.n_columns) < sizes[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        flags = np.ones(starts[-1], dtype=bool)
        sets = sparse.csr_array((flags, order[taken], starts), shape=proba.shape)
        sets.sort_indices()
        return sets


# ---------------------------------------------------------------------- expected F

_LARGEST_SET = 1000  # largest size tried: the cost of the quadrature grows with its square root
_ROUNDING = 1e-9  # larger than the error of the quadrature
_EXPECTED_AT_ONCE = 2**20


def best_set_sizes(proba: FloatArray, beta: float = 1.0) -> NDArray[np.intp]:
    """Return how many of the most probable labels of each row have the best expected F.

    If a row has S true labels, F of the first k is (1 + b) * hits / (k + b * S) with b = beta^2;
    F of the empty set is 1 if S = 0. As 1 / (k + b S) is the integral of u^(k - 1 + b S) over u
    from 0 to 1, the expectation is that of u^(k - 1) times a product over labels, and for each u
    one cumulative sum serves all k. Gaussian quadrature is exact to nine digits if the number of
    points grows with the square root of the largest power.

    Parameters
    ----------
    proba : array of shape (n_samples, n_labels)
        Descending in every row.
    beta : float

    Returns
    -------
    int array of shape (n_samples,)
        At most 1,000; ties go to the smallest size.

    Examples
    --------
    >>> best_set_sizes(np.array([[0.4], [0.6]]))
    array([0, 1])
    """
    sizes = np.zeros(len(proba), dtype=np.intp)
    for chunk in row_chunks(len(proba), proba.shape[1], at_once=_EXPECTED_AT_ONCE):
        expected = _expected_f(proba[chunk].astype(np.float64), beta * beta)
        none = np.prod(1 - proba[chunk].astype(np.float64), axis=1)
        all_sizes = np.column_stack([none, expected])
        as_good = all_sizes >= all_sizes.max(axis=1, keepdims=True) - _ROUNDING
        sizes[chunk] = np.argmax(as_good, axis=1)
    return sizes


def _expected_f(proba: NDArray[np.float64], square: float) -> NDArray[np.float64]:
    """Return the expected F of the first 1, 2, ... labels, of shape (n_samples, n_sizes)."""
    counts = np.arange(1, min(proba.shape[1], _LARGEST_SET) + 1)
    expected = np.zeros((len(proba), len(counts)))
    first = proba[:, : len(counts)]
    for v, mass in zip(*_quadrature(len(counts), square), strict=True):
        u = v * v  # v makes the integrand smooth at 0 even if beta is small
        lifted = u**square
        factors = np.maximum(1 - proba + proba * lifted, 1e-300)  # with a large beta, u^b vanishes
        all_labels = np.exp(np.log(factors).sum(axis=1, keepdims=True))
        hits = np.cumsum(first * lifted / factors[:, : len(counts)], axis=1) * all_labels
        expected += (mass * 2 * v) * u ** (counts - 1) * hits
    return (1 + square) * expected


@lru_cache(maxsize=8)
def _quadrature(n_sizes: int, square: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points from 0 to 1 and their weights."""
    enough = max(64, int(4 * np.sqrt(n_sizes * (1 + square))))
    points, masses = np.polynomial.legendre.leggauss(min(enough, 1000))
    return (points + 1) / 2, masses / 2


def f_thresholds(proba: FloatArray, beta: float = 1.0) -> NDArray[np.float64]:
    """Return the threshold F*/(1 + beta^2) of each label; F* is the best ratio of expected counts.

    Parameters
    ----------
    proba : array of shape (n_samples, n_labels)
    beta : float

    Returns
    -------
    array of shape (n_labels,)
        The positives of the best ratio are exactly the scores above it.

    Examples
    --------
    >>> f_thresholds(np.array([[0.9], [0.3]])).round(3)
    array([0.409])
    """
    square = beta * beta
    counts = np.arange(1, len(proba) + 1)[:, None]
    best = np.zeros(proba.shape[1])
    for chunk in row_chunks(proba.shape[1], len(proba), at_once=_EXPECTED_AT_ONCE):
        falling = -np.sort(-proba[:, chunk].astype(np.float64), axis=0)
        total = falling.sum(axis=0)
        ratio = (1 + square) * np.cumsum(falling, axis=0) / (square * total + counts)
        best[chunk] = ratio.max(axis=0, initial=0.0)
    return best / (1 + square)
