"""Measures of the k best labels, for many labels of which few are true: extreme multi-label.

Truth and scores may be sparse: nothing of the size rows x labels is made of sparse input. Rows are
ranked in chunks, and a result does not depend on the size of the chunks.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, row_chunks
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._pairs import check_weight, read_indicator
from palmette.metrics._ranked import (
    Ks,
    Ranked,
    index_of,
    is_matrix,
    mean,
    quotient,
    rank,
    read_rows,
    to_matrix,
)

_CELLS_AT_ONCE = 8_000_000  # nodes of label sets at a time


def precision_at_k(
    y_true: Any,
    y_score: Any,
    *,
    k: Ks = 5,
    labels: Any = None,
    sample_weight: Any = None,
    propensity: Any = False,
) -> Any:
    """Share of the k best labels that are true, mean over rows: P@k.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse, or list of label sets
        Sets may be sets or lists of labels.
    y_score : matrix of shape (n_samples, n_labels), dense or sparse, or list of rankings
        Scores, the highest first; what a sparse matrix does not store is not ranked. A ranking is a
        list of labels, the best first. Of equal scores the label of the earlier column goes first.
    k : int or sequence of int, default=5
    labels : sequence of length n_labels, optional
        Labels of the columns; needed if one of `y_true` and `y_score` is a matrix and the other one
        has labels that are not numbers of its columns.
    sample_weight : array-like of shape (n_samples,), optional
    propensity : bool, array-like of shape (n_labels,), or mapping of label to float, default=False
        Other than False: the result is that of `propensity_scored_precision_at_k`. True estimates
        propensities from `y_true`; `label_propensities` of the training labels are usual.

    Returns
    -------
    float, or float array of the shape of `k`
        Rows with fewer than k ranked labels are divided by k all the same.

    See Also
    --------
    recall_at_k, f1_at_k, ndcg_at_k, propensity_scored_precision_at_k, label_coverage_at_k
    hierarchical_precision_recall_fscore_at_k : Credit for ancestors.

    Examples
    --------
    >>> precision_at_k([{"cat", "pet"}, {"dog"}], [["cat", "dog", "pet"], ["cat", "dog"]], k=[1, 2])
    array([0.5, 0.5])
    >>> y_true, y_score = np.array([[1, 0, 1]]), np.array([[0.2, 0.9, 0.3]])
    >>> precision_at_k(y_true, y_score, k=2)
    0.5
    >>> precision_at_k(y_true, y_score, k=2, propensity=[0.5, 1.0, 0.25])
    0.6666666666666666
    """
    ranked = rank(y_true, y_score, k, labels)
    if _is_scored(propensity):
        return _scored_precision(ranked, propensity, sample_weight)
    weight = check_weight(sample_weight, ranked.n_rows)
    return ranked.answer(mean(weight, ranked.n_hits / ranked.ks))


def recall_at_k(
    y_true: Any,
    y_score: Any,
    *,
    k: Ks = 5,
    labels: Any = None,
    sample_weight: Any = None,
    zero_division: float = 0.0,
) -> Any:
    """Share of the true labels that are among the k best, mean over rows: R@k.

    Parameters
    ----------
    y_true, y_score, k, labels, sample_weight : as in `precision_at_k`
    zero_division : float, default=0.0
        Value of rows without a true label.

    Returns
    -------
    float, or float array of the shape of `k`

    Examples
    --------
    >>> recall_at_k(np.array([[1, 0, 1]]), np.array([[0.2, 0.9, 0.3]]), k=[1, 2, 3])
    array([0. , 0.5, 1. ])
    """
    ranked = rank(y_true, y_score, k, labels)
    weight = check_weight(sample_weight, ranked.n_rows)
    shares = quotient(ranked.n_hits, ranked.n_true[:, None], zero_division)
    return ranked.answer(mean(weight, shares))


def f1_at_k(
    y_true: Any, y_score: Any, *, k: Ks = 5, labels: Any = None, sample_weight: Any = None
) -> Any:
    """F1 of the set of the k best labels, mean over rows.

    Parameters
    ----------
    y_true, y_score, k, labels, sample_weight : as in `precision_at_k`

    Returns
    -------
    float, or float array of the shape of `k`
        Unlike P@k, the precision of a row with fewer than k ranked labels is that of those. A row
        without true and ranked labels counts as 0.

    Examples
    --------
    >>> f1_at_k([{"cat", "pet"}], [["cat", "dog", "pet"]], k=[1, 3])
    array([0.66666667, 0.8       ])
    """
    ranked = rank(y_true, y_score, k, labels)
    weight = check_weight(sample_weight, ranked.n_rows)
    both = ranked.n_ranked + ranked.n_true[:, None]
    return ranked.answer(mean(weight, quotient(2.0 * ranked.n_hits, both)))


def ndcg_at_k(
    y_true: Any,
    y_score: Any,
    *,
    k: Ks = 5,
    labels: Any = None,
    sample_weight: Any = None,
    zero_division: float = 0.0,
    propensity: Any = False,
) -> Any:
    """Discounted gain of the k best labels over the best possible one, mean over rows: nDCG@k.

    A true label at rank r counts 1 / log2(r + 1).

    Parameters
    ----------
    y_true, y_score, k, labels, sample_weight : as in `precision_at_k`
    zero_division : float, default=0.0
        Value of rows without a true label.
    propensity : bool, array-like of shape (n_labels,), or mapping of label to float, default=False
        Other than False: the result is that of `propensity_scored_ndcg_at_k`, to which rows
        without a true label add nothing. True estimates propensities from `y_true`.

    Returns
    -------
    float, or float array of the shape of `k`

    Examples
    --------
    >>> y_true, y_score = [{"cat", "pet"}], [["cat", "dog", "pet"]]
    >>> round(ndcg_at_k(y_true, y_score, k=3), 4)
    0.9197
    >>> round(ndcg_at_k(y_true, y_score, k=3, propensity={"cat": 0.2, "pet": 0.5}), 4)
    0.9582
    """
    ranked = rank(y_true, y_score, k, labels)
    if _is_scored(propensity):
        return _scored_ndcg(ranked, propensity, sample_weight)
    weight = check_weight(sample_weight, ranked.n_rows)
    gains = ranked.sums(ranked.hits * ranked.discounts)
    shares = quotient(gains, ranked.best_discounts(), zero_division)
    return ranked.answer(mean(weight, shares))


# ---------------------------------------------------------------------- propensities


def label_propensities(
    y: Any, *, labels: Any = None, A: float = 0.55, B: float = 1.5
) -> FloatArray | dict[Any, float]:
    """Probability that a true label is marked as such, estimated from training labels.

    The model of Jain et al.: p = 1 / (1 + C (m + B)^-A) for a label of m rows, where
    C = (log n - 1) (B + 1)^A for n rows, and 0 for fewer than three. Rare labels are missed most
    often.

    Parameters
    ----------
    y : 0/1 matrix of shape (n_samples, n_labels), dense or sparse, or list of label sets
        Labels of the training rows.
    labels : sequence, optional
        Further labels, which no row may have, if `y` has sets.
    A, B : float, default=0.55 and 1.5
        Parameters of the model. Jain et al. give 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

    Returns
    -------
    float array of shape (n_labels,), or dict of label to float if `y` has sets

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma (2016). Extreme multi-label loss functions for recommendation,
    tagging, ranking and other missing label applications. KDD 2016. doi:10.1145/2939672.2939756

    Examples
    --------
    >>> label_propensities(np.array([[1, 1], [1, 0], [1, 0], [1, 0]])).round(3)
    array([0.8  , 0.721])
    """
    for name, value in (("A", A), ("B", B)):
        if not np.isfinite(value) or value < 0:
            raise PalmetteError(f"{name}={value!r}: expected a number of at least 0.")
    index = None
    if is_matrix(y):
        true = read_indicator(y, "y")
    else:
        rows = read_rows(y, "y")
        index = index_of(rows if labels is None else [*rows, list(labels)])
        true = to_matrix(rows, index)
    if not true.shape[0]:
        raise LabelError("y is empty: propensities need at least one row.")
    found = _propensities_of(true, A, B)
    return found if index is None else dict(zip(index, found.tolist(), strict=True))


def _propensities_of(true: sparse.csr_array, A: float = 0.55, B: float = 1.5) -> FloatArray:
    counts = np.bincount(true.indices, minlength=true.shape[1])
    scale = max(np.log(true.shape[0]) - 1.0, 0.0) * (B + 1.0) ** A
    with np.errstate(divide="ignore"):  # B = 0 and no row: the propensity is 0
        found: FloatArray = 1.0 / (1.0 + scale * np.float_power(counts + B, -A))
    return found


def propensity_scored_precision_at_k(
    y_true: Any,
    y_score: Any,
    *,
    propensities: Any,
    k: Ks = 5,
    labels: Any = None,
    sample_weight: Any = None,
) -> Any:
    """Precision at k in which a true label counts 1 / propensity, over the best possible: PSP@k.

    Parameters
    ----------
    y_true, y_score, k, labels, sample_weight : as in `precision_at_k`
    propensities : array-like of shape (n_labels,), or mapping of label to float
        From 0, exclusive, to 1; `label_propensities` of the training labels.

    Returns
    -------
    float, or float array of the shape of `k`
        The sum over rows divided by that of the best ranking, as in Jain et al., so that the best
        value is 1.

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma (2016). Extreme multi-label loss functions for recommendation,
    tagging, ranking and other missing label applications. KDD 2016. doi:10.1145/2939672.2939756

    Examples
    --------
    >>> y_true, y_score = np.array([[1, 1, 0]]), np.array([[0.9, 0.1, 0.5]])
    >>> propensity_scored_precision_at_k(y_true, y_score, propensities=[0.5, 0.25, 1.0], k=1)
    0.5
    """
    return _scored_precision(rank(y_true, y_score, k, labels), propensities, sample_weight)


def propensity_scored_ndcg_at_k(
    y_true: Any,
    y_score: Any,
    *,
    propensities: Any,
    k: Ks = 5,
    labels: Any = None,
    sample_weight: Any = None,
) -> Any:
    """Discounted gain in which a true label counts 1 / propensity, over the best possible.

    Parameters
    ----------
    y_true, y_score, k, labels, sample_weight : as in `precision_at_k`
    propensities : as in `propensity_scored_precision_at_k`

    Returns
    -------
    float, or float array of the shape of `k`
        Each row is divided by its best discounted gain without propensities, then the sum over rows
        by that of the best ranking.

    Examples
    --------
    >>> y_true, y_score = np.array([[1, 1, 0]]), np.array([[0.9, 0.1, 0.5]])
    >>> propensity_scored_ndcg_at_k(y_true, y_score, propensities=[0.5, 0.25, 1.0], k=1)
    0.5
    """
    return _scored_ndcg(rank(y_true, y_score, k, labels), propensities, sample_weight)


def _is_scored(propensity: Any) -> bool:
    return not (isinstance(propensity, bool | np.bool_) and not propensity)


def _gains(ranked: Ranked, propensities: Any) -> tuple[FloatArray, FloatArray]:
    """Return 1 / propensity of true labels by rank; True: propensities of the true labels."""
    if isinstance(propensities, bool | np.bool_) and propensities:
        propensities = _propensities_of(ranked.true)
    return ranked.weighted_gains(propensities)


def _scored_precision(ranked: Ranked, propensities: Any, sample_weight: Any) -> Any:
    gains, best = _gains(ranked, propensities)
    return _share_of_best(ranked, ranked.sums(gains), ranked.sums(best), sample_weight)


def _scored_ndcg(ranked: Ranked, propensities: Any, sample_weight: Any) -> Any:
    gains, best = (each * ranked.discounts for each in _gains(ranked, propensities))
    norm = ranked.best_discounts()
    return _share_of_best(
        ranked,
        quotient(ranked.sums(gains), norm),
        quotient(ranked.sums(best), norm),
        sample_weight,
    )


def _share_of_best(ranked: Ranked, gains: FloatArray, best: FloatArray, sample_weight: Any) -> Any:
    weight = check_weight(sample_weight, ranked.n_rows)
    return ranked.answer(quotient(weight @ gains, weight @ best))


# ---------------------------------------------------------------------- labels


def label_coverage_at_k(y_true: Any, y_score: Any, *, k: Ks = 5, labels: Any = None) -> Any:
    """Share of the labels that are rightly among the k best in at least one row.

    Parameters
    ----------
    y_true, y_score, k, labels : as in `precision_at_k`

    Returns
    -------
    float, or float array of the shape of `k`
        Of the labels that some row has; 0 if no row has any.

    Examples
    --------
    >>> label_coverage_at_k([{"cat"}, {"dog"}, {"dog"}], [["dog"], ["dog"], ["dog"]], k=1)
    0.5
    """
    ranked = rank(y_true, y_score, k, labels)
    n_true = len(np.unique(ranked.true.indices))
    found = [len(np.unique(ranked.places[:, :n][ranked.hits[:, :n]])) for n in ranked.ks.tolist()]
    return ranked.answer(quotient(np.array(found, dtype=np.float64), np.float64(n_true)))


def hierarchical_precision_recall_fscore_at_k(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy,
    k: Ks = 5,
    labels: Any = None,
    average: Literal["micro", "samples"] = "micro",
    sample_weight: Any = None,
) -> tuple[Any, Any, Any]:
    """Hierarchical precision, recall and F1 of the k best labels, each with all its ancestors.

    A label stands for its node and those above it, without the root; in a DAG all of them. A wrong
    label with a true parent thus gets credit for the parent.

    Parameters
    ----------
    y_true, y_score, k, sample_weight : as in `precision_at_k`
    hierarchy : Hierarchy
        Tree or DAG.
    labels : sequence of length n_labels, optional
        Labels of the columns. By default the columns of a matrix are all nodes, all but the root,
        or the leaves, whichever their number fits.
    average : {"micro", "samples"}, default="micro"
        Over all pairs of a row and a node, or mean over rows.

    Returns
    -------
    precision, recall, fscore : float, or float array of the shape of `k`
        0 where there is nothing to divide by.

    See Also
    --------
    hierarchical_precision_recall_fscore : The same of predicted labels.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("pet", "cat"), ("pet", "dog"), ("car",)])
    >>> truth, ranking = [{"pet/cat"}], [["pet/dog", "pet/cat", "car"]]
    >>> hierarchical_precision_recall_fscore_at_k(truth, ranking, hierarchy=h, k=1)
    (0.5, 0.5, 0.5)
    """
    if average not in ("micro", "samples"):
        raise PalmetteError(f"average={average!r}: expected 'micro' or 'samples'.")
    nodes = None
    if is_matrix(y_true) or is_matrix(y_score):
        matrix = y_true if is_matrix(y_true) else y_score
        nodes = _columns_of(hierarchy, matrix) if labels is None else hierarchy.index(list(labels))
        nodes = np.asarray(nodes, dtype=np.int64).tolist()
    ranked = rank(_by_number(y_true, hierarchy), _by_number(y_score, hierarchy), k, nodes)
    weight = check_weight(sample_weight, ranked.n_rows)
    true, pred, both = _overlaps(ranked, hierarchy)
    if average == "micro":
        shares = [quotient(weight @ both, weight @ side) for side in (pred, true)]
        f1 = quotient(2.0 * (weight @ both), weight @ (pred + true))
    else:
        shares = [mean(weight, quotient(both, side)) for side in (pred, true)]
        f1 = mean(weight, quotient(2.0 * both, pred + true))
    precision, recall, fscore = (ranked.answer(each) for each in (*shares, f1))
    return precision, recall, fscore


def _columns_of(hierarchy: Hierarchy, matrix: Any) -> NDArray[np.int64]:
    width, n_nodes = np.shape(matrix)[1], hierarchy.n_nodes
    if width in (n_nodes, n_nodes - 1):
        return np.arange(n_nodes - width, n_nodes)
    if width == hierarchy.n_leaves:
        return hierarchy.leaves.astype(np.int64)
    raise LabelError(
        f"a matrix has {width} columns: expected {n_nodes} (all nodes), {n_nodes - 1} (all but the "
        f"root) or {hierarchy.n_leaves} (leaves), or labels= naming them."
    )


def _by_number(y: Any, hierarchy: Hierarchy) -> Any:
    """Replace labels by the numbers of their nodes; a matrix is left unchanged."""
    if is_matrix(y):
        return y
    known: dict[Any, int] = {}
    rows = []
    for row in y:
        if not isinstance(row, list | tuple | set | frozenset | np.ndarray):
            return y  # the error is that of `rank`
        for label in row:
            if label not in known:
                known[label] = int(hierarchy.index(label))
        rows.append([known[label] for label in row])
    return rows


def _overlaps(ranked: Ranked, hierarchy: Hierarchy) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Number of true, predicted and common nodes per row and k; ancestors count, the root not."""
    nodes = np.asarray(ranked.names, dtype=np.int64)
    above = sparse.csr_array(hierarchy.closure[nodes][:, 1:], dtype=np.int32)
    n_rows, n_ks = ranked.n_rows, len(ranked.ks)
    true, pred, both = (np.zeros((n_rows, n_ks)) for _ in range(3))
    per_row = (ranked.places.shape[1] + ranked.true.nnz // max(n_rows, 1) + 1) * (
        hierarchy.max_depth + 1
    )
    for part in row_chunks(n_rows, per_row, _CELLS_AT_ONCE):
        truth = _closed(ranked.true[part], above)
        true[part] = np.diff(truth.indptr)[:, None]
        for column, n in enumerate(ranked.ks.tolist()):
            best = _closed(ranked.best(part, n), above)
            pred[part, column] = np.diff(best.indptr)
            both[part, column] = np.diff(sparse.csr_array(truth.multiply(best)).indptr)
    return true, pred, both


def _closed(given: sparse.csr_array, above: sparse.csr_array) -> sparse.csr_array:
    product = sparse.csr_array(given.astype(np.int32) @ above)
    product.eliminate_zeros()
    return product.astype(bool)
