"""Calibration of confidences: reliability, calibration error, coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics._pairs import check_weight

BoolArray = NDArray[np.bool_]


# ---------------------------------------------------------------------- reliability


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Accuracy and mean confidence of predictions, in bins of similar confidence.

    All arrays have the shape (n_filled,): bins without predictions are left out.

    Attributes
    ----------
    lower, upper : float arrays
        Bounds of the bins. A bin includes its upper bound, and the first also its lower bound.
    confidence : float array
        Mean confidence in each bin.
    accuracy : float array
        Share of the predictions in each bin that are correct.
    weight : float array
        Weight of the predictions in each bin; their number if there are no weights.
    """

    lower: FloatArray
    upper: FloatArray
    confidence: FloatArray
    accuracy: FloatArray
    weight: FloatArray


def reliability_curve(
    correct: Any,
    confidence: Any,
    *,
    n_bins: int = 10,
    strategy: str = "uniform",
    sample_weight: Any = None,
) -> ReliabilityCurve:
    """Compare the confidence of predictions with their accuracy, in bins.

    Parameters
    ----------
    correct : array-like of bool or 0/1, of any shape
        Whether each prediction is correct: for example whether the predicted node is true, or
        contains the true one.
    confidence : array-like of the same shape
        Predicted probability, from 0 to 1.
    n_bins : int
    strategy : {"uniform", "quantile"}
        Bins of the same width, or of about the same weight of predictions.
    sample_weight : array-like of shape (n_answers,), optional
        Weights of the predictions, in the order of the flattened arrays.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.8, 1.0], n_bins=2)
    >>> curve.confidence.round(2).tolist(), curve.accuracy.tolist(), curve.weight.tolist()
    ([0.3, 0.9], [0.5, 1.0], [2.0, 2.0])
    """
    right, claimed, weight = _read_answers(correct, confidence, sample_weight)
    edges = _bin_edges(claimed, weight, n_bins, strategy)
    place = np.searchsorted(edges[1:-1], claimed, side="left")
    n_used = len(edges) - 1
    totals, claims, hits = (
        np.bincount(place, each, minlength=n_used)
        for each in (weight, weight * claimed, weight * right)
    )
    filled = np.flatnonzero(totals)
    weights: FloatArray = totals[filled].astype(np.float64)
    return ReliabilityCurve(
        edges[filled], edges[filled + 1], claims[filled] / weights, hits[filled] / weights, weights
    )


def expected_calibration_error(
    correct: Any,
    confidence: Any,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    norm: str = "mean",
    sample_weight: Any = None,
) -> float:
    """Distance between confidence and accuracy, averaged over predictions.

    With several labels per row, pass the pairs of `likely_labels` only: most pairs of a row and a
    label are clearly negative, and with them any model looks calibrated.

    Parameters
    ----------
    correct, confidence, n_bins, strategy, sample_weight
        As in `reliability_curve`.
    norm : {"mean", "max"}
        The mean distance of the bins, weighted by their predictions, or the largest distance.

    Returns
    -------
    float
        From 0, which is perfect, to 1.

    Examples
    --------
    >>> round(expected_calibration_error([0, 1, 1, 1], [0.2, 0.4, 0.8, 1.0], n_bins=2), 2)
    0.15
    """
    curve = reliability_curve(
        correct, confidence, n_bins=n_bins, strategy=strategy, sample_weight=sample_weight
    )
    gaps = np.abs(curve.confidence - curve.accuracy)
    if norm == "max":
        return float(gaps.max())
    if norm != "mean":
        raise PalmetteError(f"norm={norm!r} is unknown: expected 'mean' or 'max'.")
    return float(np.average(gaps, weights=curve.weight))


LIKELY = 0.1


def likely_labels(proba: Any, predicted: Any = None, *, floor: float = LIKELY) -> BoolArray:
    """Pairs of a row and a label whose calibration matters, if rows have several labels.

    A pair is likely if it is predicted, if its probability is at least `floor`, or if it is the
    most probable of its row. The choice depends on the model alone, not on the true labels, so that
    a calibrated model has a calibration error of 0 on these pairs too; every row counts, so that a
    model whose probabilities are all too low is detected.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_labels)
        Probabilities of labels, or of nodes without the root.
    predicted : array-like of shape (n_samples, n_labels), optional
        Whether each label is predicted.
    floor : float

    Returns
    -------
    bool array of shape (n_samples, n_labels)

    Examples
    --------
    >>> proba = np.array([[0.9, 0.3, 0.01], [0.05, 0.02, 0.01]])
    >>> likely = likely_labels(proba)
    >>> likely.tolist()
    [[True, True, False], [True, False, False]]
    >>> truth = np.array([[1, 0, 0], [0, 0, 0]])
    >>> round(expected_calibration_error(truth[likely], proba[likely]), 2)
    0.15
    """
    scores = np.asarray(proba, dtype=np.float64)
    if scores.ndim != 2:
        raise LabelError(f"proba has shape {scores.shape}: expected (n_samples, n_labels).")
    likely: BoolArray = scores >= floor
    if scores.shape[1]:
        likely[np.arange(len(scores)), scores.argmax(axis=1)] = True
    if predicted is not None:
        chosen = np.asarray(predicted, dtype=bool)
        if chosen.shape != scores.shape:
            raise LabelError(f"predicted has shape {chosen.shape}: expected {scores.shape}.")
        likely |= chosen
    return likely


# ---------------------------------------------------------------------- coverage


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """Accuracy of the predictions that are kept, by the share that is kept.

    All arrays have the shape (n_thresholds,), the highest threshold first.

    Attributes
    ----------
    threshold : float array
        Minimum confidence of the predictions that are kept, descending.
    coverage : float array
        Share of the predictions that are kept, ascending; 1 at the end.
    accuracy : float array
        Share of the kept predictions that are correct.
    """

    threshold: FloatArray
    coverage: FloatArray
    accuracy: FloatArray

    @property
    def area(self) -> float:
        """Mean accuracy over all coverages, by steps; 1 if all predictions are correct."""
        return float(self.accuracy @ np.diff(self.coverage, prepend=0.0))


def coverage_curve(correct: Any, confidence: Any, *, sample_weight: Any = None) -> CoverageCurve:
    """Accuracy against coverage: accuracy of the predictions above each confidence.

    Parameters
    ----------
    correct, confidence, sample_weight
        As in `reliability_curve`.

    Returns
    -------
    CoverageCurve
        With one point per distinct confidence.

    Examples
    --------
    >>> curve = coverage_curve([1, 1, 0, 1], [0.9, 0.8, 0.4, 0.4])
    >>> curve.coverage.tolist(), curve.accuracy.tolist()
    ([0.25, 0.5, 1.0], [1.0, 1.0, 0.75])
    """
    right, claimed, weight = _read_answers(correct, confidence, sample_weight)
    order = np.argsort(-claimed, kind="stable")
    claimed, kept = claimed[order], np.cumsum(weight[order])
    kept_right = np.cumsum(weight[order] * right[order])
    last = np.flatnonzero(np.diff(claimed, append=-1.0))  # prediction of each confidence
    accuracy = kept_right[last] / kept[last]
    return CoverageCurve(claimed[last], kept[last] / kept[-1], accuracy)


# ---------------------------------------------------------------------- levels


def level_confidences(
    y_true: Any, node_proba: Any, *, hierarchy: Hierarchy
) -> dict[int, tuple[BoolArray, FloatArray]]:
    """Most probable node of every row at each level: whether it is true, and its probability.

    The result is in the form that `reliability_curve` takes. Rows whose true path ends above a
    level count there too: any node is then wrong, which calibrated probabilities allow for.

    Parameters
    ----------
    y_true : labels of n_samples rows
        In any form that `NodeLabels.encode` takes.
    node_proba : array of shape (n_samples, n_nodes)
        As from `predict_node_proba`: columns are the nodes of `hierarchy`.
    hierarchy : Hierarchy

    Returns
    -------
    dict of int to (correct, confidence)
        For every depth below the root two arrays of shape (n_samples,).

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> proba = [[1.0, 0.9, 0.5, 0.4, 0.1, 0.1]]  # root, animal, cat, dog, plant, oak
    >>> answers = level_confidences([("animal", "dog")], proba, hierarchy=h)
    >>> [(level, *map(np.ndarray.tolist, answer)) for level, answer in answers.items()]
    [(1, [True], [0.9]), (2, [False], [0.5])]
    """
    closed = NodeLabels.encode(y_true, hierarchy).closed
    proba = np.asarray(node_proba, dtype=np.float64)
    if proba.shape != closed.shape:
        raise LabelError(
            f"node_proba has shape {proba.shape}: expected {closed.shape}, one row per label "
            "and one column per node, as from predict_node_proba."
        )
    rows = np.arange(len(proba))
    answers = {}
    for level in range(1, hierarchy.max_depth + 1):
        nodes = np.flatnonzero(hierarchy.depth == level)
        best = nodes[proba[:, nodes].argmax(axis=1)]
        right = np.asarray(closed[rows, best], dtype=bool).ravel()
        answers[level] = (right, proba[rows, best])
    return answers


# ---------------------------------------------------------------------- reading


def _read_answers(
    correct: Any, confidence: Any, sample_weight: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Outcomes, confidences and weights, flat and checked: all of shape (n_answers,)."""
    right, claimed = np.asarray(correct), np.asarray(confidence, dtype=np.float64)
    if right.shape != claimed.shape:
        raise LabelError(
            f"correct has shape {right.shape} and confidence {claimed.shape}: expected the same, "
            "one outcome per confidence."
        )
    if not right.size:
        raise LabelError("correct and confidence are empty: expected at least one prediction.")
    right, claimed = right.ravel().astype(np.float64), claimed.ravel()
    if not np.isin(right, (0.0, 1.0)).all():
        raise LabelError(f"correct has {right[~np.isin(right, (0, 1))][0]}: expected 0 or 1.")
    outside = ~((claimed >= 0) & (claimed <= 1))
    if outside.any():
        raise LabelError(
            f"confidence has {claimed[outside][0]}: expected numbers from 0 to 1. Scores that "
            "are not probabilities have to be calibrated first."
        )
    weight = check_weight(sample_weight, len(right))
    used = weight > 0  # a weight of zero means that the row is absent
    return right[used], claimed[used], weight[used]


def _bin_edges(claimed: FloatArray, weight: FloatArray, n_bins: int, strategy: str) -> FloatArray:
    """Bounds of the bins from 0 to 1: shape (at most n_bins + 1,)."""
    if n_bins < 1:
        raise PalmetteError(f"n_bins={n_bins!r}: expected a positive integer.")
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, n_bins + 1)
    if strategy != "quantile":
        raise PalmetteError(f"strategy={strategy!r} is unknown: expected 'uniform' or 'quantile'.")
    order = np.argsort(claimed, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = reached[-1] * np.arange(1, n_bins) / n_bins
    cuts = claimed[order][np.searchsorted(reached, wanted * (1 - 1e-12))]
    cuts = np.unique(cuts)
    return np.concatenate([[0.0], cuts[(cuts > 0) & (cuts < 1)], [1.0]])
