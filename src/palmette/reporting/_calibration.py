"""Calibration, coverage and per-node scores: the parts of a report that use probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray
from palmette.labels._labels import NodeLabels
from palmette.metrics import ReliabilityCurve, reliability_curve
from palmette.metrics._calibration import LIKELY
from palmette.metrics._counts import row_overlap
from palmette.metrics._pairs import LabelPair
from palmette.reporting._classes import rows_at_or_below
from palmette.reporting._confidence import CellConfidence, PathConfidence, ancestors_by_level
from palmette.reporting._evaluation import Evaluation
from palmette.reporting._plain import cut, plain_facts, rounded

N_BINS = 10
THRESHOLDS = (0.0, *(round(0.05 * k, 2) for k in range(1, 20)), 0.97, 0.99)
_LONGEST_NAME = 200
_ROWS = "Counted are the rows for which something is predicted."
_CELLS = (
    "Counted are likely pairs of a row and a node: predicted, with a probability of at least "
    f"{LIKELY}, or the most probable of the row and level. The many pairs that are clearly "
    "negative are left out, since with them any model looks calibrated."
)


def calibration_of_paths(evaluation: Evaluation, confidence: PathConfidence) -> dict[str, Any]:
    """Compare confidence with accuracy for models that predict one path per row.

    At each level, the confidence is the probability of the node on the predicted path. The
    prediction is correct at that level if the true path contains the same node. Rows whose
    prediction ends above a level are not counted at that level.

    Parameters
    ----------
    evaluation : Evaluation
    sure : PathConfidence

    Returns
    -------
    dict
        ``of`` and ``words`` name what is counted, ``answer`` is the reliability curve of complete
        predictions, without the rows for which nothing is predicted, ``levels`` has one curve per
        level.
    """
    true, predicted = evaluation.pair.nodes
    ancestors = ancestors_by_level(evaluation.hierarchy)
    levels = []
    for level in range(evaluation.hierarchy.max_depth):
        reached = ancestors[predicted, level] >= 0
        correct = ancestors[true[reached], level] == ancestors[predicted[reached], level]
        levels.append({"level": level + 1, **_curve(correct, confidence.on_path[reached, level])})
    # a prediction that ends above the true node counts as correct here
    is_true = evaluation.overlap.both == evaluation.overlap.pred
    given = ~np.isnan(confidence.answer)
    answer = _curve(is_true[given], confidence.answer[given])
    return plain_facts({"of": "rows", "words": _ROWS, "answer": answer, "levels": levels})


def calibration_of_cells(confidence: CellConfidence) -> dict[str, Any]:
    """Compare the probabilities of likely (row, node) cells with the share that is true.

    Likely are the cells of `palmette.metrics.likely_labels`, at each level. All cells would make
    any model look calibrated, since most of them are clearly negative.
    """
    levels = [
        {"level": place + 1, **_facts(curve)} for place, curve in enumerate(confidence.curves())
    ]
    answer = _facts(confidence.curve_of_all())
    return plain_facts({"of": "cells", "words": _CELLS, "answer": answer, "levels": levels})


def _curve(correct: NDArray[np.bool_], scores: FloatArray) -> dict[str, Any]:
    if not len(correct):
        return {"count": 0, "ece": None, "bins": []}
    return _facts(reliability_curve(correct, scores, n_bins=N_BINS))


def _facts(curve: ReliabilityCurve) -> dict[str, Any]:
    """Return a reliability curve and its expected calibration error as plain values."""
    total = float(curve.weight.sum())
    gaps = np.abs(curve.confidence - curve.accuracy)
    columns = (curve.lower, curve.upper, curve.weight, curve.confidence, curve.accuracy)
    names = ("low", "high", "count", "confidence", "accuracy")
    bins = [
        dict(zip(names, (low, high, int(count), *rest), strict=True))
        for low, high, count, *rest in zip(*columns, strict=True)
    ]
    ece = float(gaps @ curve.weight) / total if total else None
    return {"count": int(total), "ece": ece, "bins": bins}


def coverage_of_paths(evaluation: Evaluation, confidence: PathConfidence) -> dict[str, Any]:
    """Measure coverage and accuracy of selective prediction for a range of thresholds.

    Two rules are compared. ``whole`` keeps the output of `predict` and abstains where its
    probability is below the threshold. ``deepest`` predicts the deepest node whose probability
    reaches the threshold, which may be an inner node, and abstains only where no node below the
    root reaches it.

    Parameters
    ----------
    evaluation : Evaluation
    sure : PathConfidence

    Returns
    -------
    dict
        ``of`` and ``points``, one per threshold: ``whole`` and ``deepest`` with ``coverage``, the
        share of rows with a prediction, and ``accuracy``, the share of those that are correct.
    """
    points = [
        {
            "threshold": threshold,
            "whole": _whole_answers(evaluation, confidence, threshold),
            "deepest": _deepest_confident(evaluation, confidence, threshold),
        }
        for threshold in THRESHOLDS
    ]
    return plain_facts({"of": "rows", "points": points})


def _whole_answers(
    evaluation: Evaluation, confidence: PathConfidence, threshold: float
) -> dict[str, float]:
    answered = confidence.answer >= threshold
    return {"coverage": _mean(answered), "accuracy": _mean(evaluation.is_right[answered])}


def _deepest_confident(
    evaluation: Evaluation, confidence: PathConfidence, threshold: float
) -> dict[str, float]:
    nodes = confidence.deepest_confident(threshold)
    pair = evaluation.pair
    stopped = NodeLabels.from_terminals(nodes, evaluation.hierarchy, pair.true.form)
    overlap = row_overlap(LabelPair(pair.true, stopped, pair.weight))
    answered = nodes > 0
    nodes_predicted = float(overlap.pred.sum())
    nodes_true = float(overlap.true.sum())
    return {
        "coverage": _mean(answered),
        "accuracy": _mean((overlap.both == overlap.pred)[answered]),
        "exact": _mean(overlap.apart == 0),
        "mean_depth": float(evaluation.hierarchy.depth[nodes].mean()),
        "hierarchical_f1": 2 * float(overlap.both.sum()) / (nodes_predicted + nodes_true),
    }


def coverage_of_cells(confidence: CellConfidence) -> dict[str, Any]:
    """Return precision and recall of predicting all nodes with a probability over a threshold."""
    edges, precision, recall = confidence.precision_and_recall()
    places = np.unique(np.searchsorted(edges, THRESHOLDS, side="left").clip(max=len(edges) - 1))
    points = [
        {"threshold": edges[place], "precision": precision[place], "recall": recall[place]}
        for place in places.tolist()
    ]
    return plain_facts({"of": "cells", "points": points})


def _mean(flags: Any) -> float:
    return float(np.mean(flags)) if len(flags) else float("nan")


def node_facts(
    evaluation: Evaluation,
    confidence: PathConfidence | CellConfidence | None,
    training: NDArray[np.int64] | None = None,
) -> dict[str, list[Any]]:
    """Return one column per property of the nodes, the root first, parents before children.

    Parameters
    ----------
    evaluation : Evaluation
    sure : PathConfidence or CellConfidence, optional

    Returns
    -------
    dict of columns, each of length n_nodes
        ``name``, ``parent`` (the one it is displayed under), ``support`` (number of rows whose
        true labels include the node), ``predicted`` (number of rows it is predicted for),
        ``correct`` (both), ``precision``, ``recall``, ``f1``, ``confidence`` (mean probability
        where it is predicted), ``train`` (training rows at or below it, if known). A DAG also has
        ``more_parents``, a list per node; ``unseen`` are the nodes that the model's hierarchy does
        not have.
    """
    hierarchy, counts = evaluation.hierarchy, evaluation.counts
    support, predicted = counts.support, counts.tp + counts.fp
    facts: dict[str, list[Any]] = {
        "name": [cut(str(name), _LONGEST_NAME) for name in evaluation.shown_names],
        "parent": evaluation.parents.tolist(),
        "support": support.astype(int).tolist(),
        "predicted": predicted.astype(int).tolist(),
        "correct": counts.tp.astype(int).tolist(),
        "precision": rounded(_quotient(counts.tp, predicted)),
        "recall": rounded(_quotient(counts.tp, support)),
        "f1": rounded(_quotient(2 * counts.tp, support + predicted)),
        "confidence": rounded(_quotient(_confidence_sums(evaluation, confidence), predicted)),
        "unseen": np.flatnonzero(~evaluation.is_known).tolist(),
    }
    if training is not None:
        facts["train"] = rows_at_or_below(training, evaluation).tolist()
    if not hierarchy.is_tree:
        facts["more_parents"] = [
            np.setdiff1d(hierarchy.parents_of(node), shown).tolist()
            for node, shown in enumerate(evaluation.parents.tolist())
        ]
    return facts


def _confidence_sums(
    evaluation: Evaluation, confidence: PathConfidence | CellConfidence | None
) -> FloatArray:
    """Return the sum of each node's probability over the rows that it is predicted for."""
    n_nodes = evaluation.hierarchy.n_nodes
    if confidence is None:
        return np.full(n_nodes, np.nan)
    if isinstance(confidence, CellConfidence):
        return confidence.node_sums
    on_path = ancestors_by_level(evaluation.hierarchy)[evaluation.pair.nodes[1]]
    reached = on_path >= 0
    sums = np.asarray(
        np.bincount(on_path[reached], confidence.on_path[reached], minlength=n_nodes),
        dtype=np.float64,
    )
    sums[0] = evaluation.n_rows  # the root has probability 1
    return sums


def _quotient(top: FloatArray, bottom: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return quotient
