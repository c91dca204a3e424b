"""Multi-label metrics on 0/1 matrices, from predicted labels, from scores and from rankings.

They equal scikit-learn's, and also take sparse input and labels without positive rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
from scipy import sparse

from palmette._arrays import FloatArray
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import average_precision_of_cells
from palmette.metrics._hierarchical import hierarchical_f1_score
from palmette.metrics._pairs import check_weight, truth_and_scores, two_indicators

Undefined = float | Literal["drop"]
_CELLS_AT_ONCE = 4_000_000  # cells of a sparse truth made dense at a time


# ---------------------------------------------------------------------- from predicted labels


def multilabel_f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    average: Literal["macro", "micro", "weighted", "samples"] | None = "macro",
    undefined: Undefined = 0.0,
    sample_weight: Any = None,
) -> Any:
    """F1 over labels.

    Parameters
    ----------
    y_true, y_pred : 0/1 matrices of shape (n_samples, n_labels), dense or sparse
    average : {"macro", "micro", "weighted", "samples"} or None, default="macro"
        None gives an array of shape (n_labels,).
    undefined : float or "drop", default=0.0
        A number is the value of 0 / 0: of a label that is neither true nor predicted anywhere (0.0,
        1.0; nan leaves it out). "drop" leaves every label without a true row out of "macro", even
        if it is predicted.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float or float array of shape (n_labels,)

    Examples
    --------
    >>> y_true, y_pred = np.array([[1, 0, 0], [1, 1, 0]]), np.array([[1, 0, 0], [1, 0, 0]])
    >>> multilabel_f1_score(y_true, y_pred)
    0.3333333333333333
    >>> multilabel_f1_score(y_true, y_pred, undefined="drop")
    0.5
    """
    true, pred = two_indicators(y_true, y_pred)
    if undefined == "drop":
        if average == "macro":
            kept = np.flatnonzero(check_weight(sample_weight, true.shape[0]) @ true > 0)
            if not len(kept):
                raise LabelError("no label has a true row: there is nothing to average over.")
            true, pred = true[:, kept], pred[:, kept]
        undefined = 0.0
    return hierarchical_f1_score(
        true,
        pred,
        average=average,
        count_absent=True,
        sample_weight=sample_weight,
        zero_division=undefined,
    )


def multilabel_hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of the pairs of a row and a label that are wrong.

    Parameters
    ----------
    y_true, y_pred : 0/1 matrices of shape (n_samples, n_labels), dense or sparse
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> multilabel_hamming_loss(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [1, 0]]))
    0.25
    """
    wrong, weight = _wrong_cells(y_true, y_pred, sample_weight)
    return float(weight @ wrong.sum(axis=1)) / float(weight.sum() * wrong.shape[1])


def subset_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose labels are all right.

    Parameters
    ----------
    y_true, y_pred : 0/1 matrices of shape (n_samples, n_labels), dense or sparse
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> subset_accuracy_score(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [1, 0]]))
    0.5
    """
    wrong, weight = _wrong_cells(y_true, y_pred, sample_weight)
    return float(weight @ (wrong.sum(axis=1) == 0)) / float(weight.sum())


# ---------------------------------------------------------------------- from scores, by label


def multilabel_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: Literal["macro", "micro", "weighted"] | None = "macro",
    undefined: Undefined = "drop",
    sample_weight: Any = None,
) -> Any:
    """Area under the ROC curve over labels.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
    average : {"macro", "micro", "weighted"} or None, default="macro"
    undefined : float or "drop", default="drop"
        A label that no row or every row has, has no area: "drop" leaves it out of the mean, a
        number is its value (0.5 is chance).
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float or float array of shape (n_labels,)
        With ``average=None`` and "drop" undefined labels are NaN.

    Examples
    --------
    >>> y_true, y_score = np.array([[1, 0], [0, 0]]), np.array([[0.9, 0.2], [0.1, 0.3]])
    >>> multilabel_auc_score(y_true, y_score), multilabel_auc_score(y_true, y_score, undefined=0.5)
    (1.0, 0.75)
    """
    from sklearn.metrics import roc_auc_score

    return _by_label(
        roc_auc_score, y_true, y_score, average, undefined, sample_weight, needs_negatives=True
    )


def multilabel_average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    average: Literal["macro", "micro", "weighted"] | None = "macro",
    undefined: Undefined = "drop",
    sample_weight: Any = None,
) -> Any:
    """Average precision (area under the precision-recall curve) over labels.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
    average : {"macro", "micro", "weighted"} or None, default="macro"
    undefined : float or "drop", default="drop"
        A label without a true row has no precision: "drop" leaves it out of the mean, a number is
        its value (scikit-learn gives it 0).
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float or float array of shape (n_labels,)
        With ``average=None`` and "drop" undefined labels are NaN.

    Examples
    --------
    >>> y_true, y_score = np.array([[1, 0], [0, 0]]), np.array([[0.1, 0.2], [0.9, 0.3]])
    >>> multilabel_average_precision_score(y_true, y_score)
    0.5
    """
    from sklearn.metrics import average_precision_score

    return _by_label(
        average_precision_score,
        y_true,
        y_score,
        average,
        undefined,
        sample_weight,
        needs_negatives=False,
    )


def micro_auprc(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy,
    exclude: Iterable[Any] = (),
    sample_weight: Any = None,
) -> float:
    """Area under the precision-recall curve over all pairs of row and node: micro AU(PRC).

    Parameters
    ----------
    y_true : array-like
        In any form that `NodeLabels.encode` takes; labels imply their ancestors.
    y_score : array of shape (n_samples, n_nodes) or (n_samples, n_nodes - 1)
        Scores of all nodes, or of all but the root.
    hierarchy : Hierarchy
        Tree or DAG. The root is left out.
    exclude : iterable of nodes, optional
        More nodes to leave out, by name or path: for the Gene Ontology its three namespace roots,
        which nearly every row has. Nodes that no row has stay in.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    References
    ----------
    C. Vens, J. Struyf, L. Schietgat, S. Dzeroski, H. Blockeel (2008). Decision trees for
    hierarchical multi-label classification. Machine Learning 73. doi:10.1007/s10994-008-5077-3

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("b",)])
    >>> micro_auprc(["x", "b"], np.array([[0.9, 0.8, 0.1], [0.3, 0.2, 0.7]]), hierarchy=h)
    1.0
    """
    labels = NodeLabels.encode(y_true, hierarchy)
    n_nodes = hierarchy.n_nodes
    scores = np.asarray(y_score)
    if scores.shape not in ((labels.n_samples, n_nodes), (labels.n_samples, n_nodes - 1)):
        raise LabelError(
            f"y_score has shape {scores.shape}: expected {labels.n_samples} rows and {n_nodes} "
            f"columns (all nodes) or {n_nodes - 1} (all but the root)."
        )
    dropped = [0, *hierarchy.index(list(exclude)).tolist()]
    nodes = np.setdiff1d(np.arange(n_nodes), dropped)
    weight = None if sample_weight is None else check_weight(sample_weight, labels.n_samples)
    truth = sparse.csr_array(labels.closed[:, nodes])
    return average_precision_of_cells(truth, scores[:, nodes - (n_nodes - scores.shape[1])], weight)


def _wrong_cells(
    y_true: Any, y_pred: Any, sample_weight: Any
) -> tuple[sparse.csr_array, FloatArray]:
    true, pred = two_indicators(y_true, y_pred)
    return sparse.csr_array(true != pred), check_weight(sample_weight, true.shape[0])


def _by_label(
    score: Callable[..., float],
    y_true: Any,
    y_score: Any,
    average: str | None,
    undefined: Undefined,
    sample_weight: Any,
    *,
    needs_negatives: bool,
) -> Any:
    """Score label by label, so that only one column of a sparse truth is dense at a time."""
    if average not in ("macro", "micro", "weighted", None):
        raise PalmetteError(f"average={average!r}: expected 'macro', 'micro', 'weighted' or None.")
    true, scores = truth_and_scores(y_true, y_score)
    n_samples, n_labels = true.shape
    weight = check_weight(sample_weight, n_samples)
    if average == "micro":
        cells = np.repeat(weight, n_labels)
        return float(score(true.toarray().ravel(), scores.ravel(), sample_weight=cells))
    columns = sparse.csc_array(true)
    counted = (weight > 0).astype(np.int64)
    n_positive = counted @ true
    defined = n_positive > 0
    if needs_negatives:
        defined &= n_positive < counted.sum()
    values = np.full(n_labels, np.nan if undefined == "drop" else float(undefined))
    for label in np.flatnonzero(defined):
        truth = columns[:, [label]].toarray().ravel()
        values[label] = score(truth, scores[:, label], sample_weight=weight)
    if average is None:
        return values
    kept = ~np.isnan(values)
    shares = weight @ true if average == "weighted" else np.ones(n_labels)
    if not shares[kept].any():
        raise LabelError("no label has both true and false rows: there is nothing to average over.")
    return float(np.average(values[kept], weights=shares[kept]))


# ---------------------------------------------------------------------- from scores, by row


def one_error(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose highest-scored label is not true; rows without labels are left out.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
        Of equal highest scores the first counts.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> one_error(np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    0.5
    """
    true, scores = truth_and_scores(y_true, y_score)
    weight = check_weight(sample_weight, true.shape[0]) * (np.diff(true.indptr) > 0)
    if not weight.any():
        raise LabelError("no row has a label: one_error needs at least one row with a label.")
    rows = np.arange(true.shape[0])
    hit = np.asarray(true[rows, scores.argmax(axis=1)]).ravel()
    return float(weight @ ~hit) / float(weight.sum())


def coverage_error(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Mean number of top-scored labels that it takes to cover all true ones.

    The best value is the mean number of true labels. Some authors subtract one.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> coverage_error(np.array([[1, 0, 0]]), np.array([[0.5, 0.9, 0.1]]))
    2.0
    """
    from sklearn import metrics

    return _by_row(metrics.coverage_error, y_true, y_score, sample_weight)


def label_ranking_loss(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Share of (true, false) pairs of labels that are scored in the wrong order, mean over rows.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        Rows with no label or all labels count as 0, as in scikit-learn.

    Examples
    --------
    >>> label_ranking_loss(np.array([[1, 0, 0]]), np.array([[0.5, 0.9, 0.1]]))
    0.5
    """
    from sklearn import metrics

    return _by_row(metrics.label_ranking_loss, y_true, y_score, sample_weight)


def label_ranking_average_precision(
    y_true: Any, y_score: Any, *, sample_weight: Any = None
) -> float:
    """Mean over rows and true labels of the share of true ones among those scored as high.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        Rows with no label or all labels count as 1, as in scikit-learn.

    Examples
    --------
    >>> label_ranking_average_precision(np.array([[1, 0, 0]]), np.array([[0.5, 0.9, 0.1]]))
    0.5
    """
    from sklearn import metrics

    return _by_row(metrics.label_ranking_average_precision_score, y_true, y_score, sample_weight)


def _by_row(score: Callable[..., float], y_true: Any, y_score: Any, sample_weight: Any) -> float:
    """Average a row-wise metric of scikit-learn over chunks of a sparse truth."""
    true, scores = truth_and_scores(y_true, y_score)
    if true.shape[1] < 2:
        raise LabelError("y_true has one column: a ranking needs at least two labels.")
    weight = check_weight(sample_weight, true.shape[0])
    size = max(1, _CELLS_AT_ONCE // true.shape[1])
    total = 0.0
    for start in range(0, true.shape[0], size):
        part = slice(start, start + size)
        share = float(weight[part].sum())
        if share:
            truth = true[part].toarray()
            total += share * score(truth, scores[part], sample_weight=weight[part])
    return total / float(weight.sum())
