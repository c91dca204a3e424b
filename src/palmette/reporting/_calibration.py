"""Calibration: how often a model is right when it says how sure it is, level by level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.labels._labels import NodeLabels
from palmette.metrics import ReliabilityCurve, reliability_curve
from palmette.metrics._counts import row_overlap
from palmette.metrics._pairs import LabelPair
from palmette.reporting._confidence import CellConfidence, PathConfidence, ancestors_by_level
from palmette.reporting._evaluation import Evaluation
from palmette.reporting._plain import cut, plain_facts, rounded

__all__ = [
    "THRESHOLDS",
    "calibration_of_cells",
    "calibration_of_paths",
    "coverage_of_cells",
    "coverage_of_paths",
    "node_facts",
]


N_BINS = 10


def calibration_of_paths(evaluation: Evaluation, sure: PathConfidence) -> dict[str, Any]:
    """Compare confidence with accuracy where a row has one path.

    At a level the confidence is that of the predicted path's node, which is right where the true
    path goes through it too. Rows whose prediction ends above a level do not count there.

    Parameters
    ----------
    evaluation : Evaluation
    sure : PathConfidence

    Returns
    -------
    dict
        ``of`` says what is counted, ``answer`` is the curve of whole answers, ``levels`` has one
        for each level.
    """
    true, predicted = evaluation.pair.nodes
    above = ancestors_by_level(evaluation.hierarchy)
    levels = []
    for place in range(evaluation.hierarchy.max_depth):
        there = above[predicted, place] >= 0
        right = above[true[there], place] == above[predicted[there], place]
        levels.append({"level": place + 1, **_curve(right, sure.on_path[there, place])})
    # an answer is right where it is true, even if the truth goes on below it
    is_true = evaluation.overlap.both == evaluation.overlap.pred
    return plain_facts({"of": "rows", "answer": _curve(is_true, sure.answer), "levels": levels})


def calibration_of_cells(sure: CellConfidence) -> dict[str, Any]:
    """Compare the probabilities of all cells of rows and nodes with how many are true."""
    levels = [{"level": place + 1, **_facts(curve)} for place, curve in enumerate(sure.curves())]
    return plain_facts({"of": "cells", "answer": _facts(sure.curve_of_all()), "levels": levels})


def _curve(right: NDArray[np.bool_], confidence: NDArray[np.float64]) -> dict[str, Any]:
    if not len(right):
        return {"count": 0, "ece": None, "bins": []}
    return _facts(reliability_curve(right, confidence, n_bins=N_BINS))


def _facts(curve: ReliabilityCurve) -> dict[str, Any]:
    """Write a curve down, with the expected calibration error."""
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


THRESHOLDS = (0.0, *(round(0.05 * k, 2) for k in range(1, 20)), 0.97, 0.99)


def coverage_of_paths(evaluation: Evaluation, sure: PathConfidence) -> dict[str, Any]:
    """Stop every path where the model is no longer sure enough, for a range of thresholds.

    Two ways to be careful are followed. One keeps the answers of `predict` and gives none where
    their probability is below the threshold. The other answers with the deepest node that is sure
    enough, an inner one perhaps, and gives no answer only where no node below the root is.

    Parameters
    ----------
    evaluation : Evaluation
    sure : PathConfidence

    Returns
    -------
    dict
        ``of`` and ``points``, one a threshold: ``whole`` and ``deepest`` with ``coverage``, the
        share of rows answered, and ``accuracy``, the share of those that are true.
    """
    points = [
        {
            "threshold": threshold,
            "whole": _whole_answers(evaluation, sure, threshold),
            "deepest": _deepest_sure(evaluation, sure, threshold),
        }
        for threshold in THRESHOLDS
    ]
    return plain_facts({"of": "rows", "points": points})


def _whole_answers(
    evaluation: Evaluation, sure: PathConfidence, threshold: float
) -> dict[str, float]:
    told = sure.answer >= threshold
    return {"coverage": _mean(told), "accuracy": _mean(evaluation.is_right[told])}


def _deepest_sure(
    evaluation: Evaluation, sure: PathConfidence, threshold: float
) -> dict[str, float]:
    nodes = sure.deepest_sure(threshold)
    pair = evaluation.pair
    stopped = NodeLabels.from_terminals(nodes, evaluation.hierarchy, pair.true.form)
    overlap = row_overlap(LabelPair(pair.true, stopped, pair.weight))
    told = nodes > 0
    nodes_told = float(overlap.pred.sum())
    nodes_true = float(overlap.true.sum())
    return {
        "coverage": _mean(told),
        "accuracy": _mean((overlap.both == overlap.pred)[told]),
        "exact": _mean(overlap.apart == 0),
        "mean_depth": float(evaluation.hierarchy.depth[nodes].mean()),
        "hierarchical_f1": 2 * float(overlap.both.sum()) / (nodes_told + nodes_true),
    }


def coverage_of_cells(sure: CellConfidence) -> dict[str, Any]:
    """Tell only the nodes that are as probable as a threshold: precision against recall."""
    edges, precision, recall = sure.precision_and_recall()
    places = np.unique(np.searchsorted(edges, THRESHOLDS, side="left").clip(max=len(edges) - 1))
    points = [
        {"threshold": edges[place], "precision": precision[place], "recall": recall[place]}
        for place in places.tolist()
    ]
    return plain_facts({"of": "cells", "points": points})


def _mean(flags: Any) -> float:
    return float(np.mean(flags)) if len(flags) else float("nan")


FloatArray = NDArray[np.float64]
_LONGEST_NAME = 200


def node_facts(
    evaluation: Evaluation, sure: PathConfidence | CellConfidence | None
) -> dict[str, list[Any]]:
    """List all nodes, the root first, parents before their children.

    Parameters
    ----------
    evaluation : Evaluation
    sure : PathConfidence or CellConfidence, optional

    Returns
    -------
    dict of columns, each of length n_nodes
        ``name``, ``parent`` (the one it is shown under), ``support`` (rows that have the node),
        ``predicted`` (rows that are given it), ``correct`` (both), ``precision``, ``recall``,
        ``f1``, ``confidence`` (mean probability where it is predicted). A DAG also has
        ``more_parents``, a list for each node; ``unseen`` are the nodes that the model's hierarchy
        does not have.
    """
    hierarchy, counts = evaluation.hierarchy, evaluation.counts
    support, predicted = counts.support, counts.tp + counts.fp
    facts: dict[str, list[Any]] = {
        "name": [cut(str(name), _LONGEST_NAME) for name in hierarchy.names.tolist()],
        "parent": evaluation.parents.tolist(),
        "support": support.astype(int).tolist(),
        "predicted": predicted.astype(int).tolist(),
        "correct": counts.tp.astype(int).tolist(),
        "precision": rounded(_quotient(counts.tp, predicted)),
        "recall": rounded(_quotient(counts.tp, support)),
        "f1": rounded(_quotient(2 * counts.tp, support + predicted)),
        "confidence": rounded(_quotient(_confidence_sums(evaluation, sure), predicted)),
        "unseen": np.flatnonzero(~evaluation.is_known).tolist(),
    }
    if not hierarchy.is_tree:
        facts["more_parents"] = [
            np.setdiff1d(hierarchy.parents_of(node), shown).tolist()
            for node, shown in enumerate(evaluation.parents.tolist())
        ]
    return facts


def _confidence_sums(
    evaluation: Evaluation, sure: PathConfidence | CellConfidence | None
) -> FloatArray:
    """Probabilities of each node summed over the rows that it is predicted for."""
    n_nodes = evaluation.hierarchy.n_nodes
    if sure is None:
        return np.full(n_nodes, np.nan)
    if isinstance(sure, CellConfidence):
        return sure.node_sums
    on_path = ancestors_by_level(evaluation.hierarchy)[evaluation.pair.nodes[1]]
    there = on_path >= 0
    sums = np.asarray(
        np.bincount(on_path[there], sure.on_path[there], minlength=n_nodes), dtype=np.float64
    )
    sums[0] = evaluation.n_rows  # the root is certain
    return sums


def _quotient(top: FloatArray, bottom: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return quotient
