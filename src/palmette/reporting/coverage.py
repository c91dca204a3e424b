"""Accuracy against coverage: what is gained by answering only where the model is sure."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.core.labels import NodeLabels
from palmette.metrics._counts import row_overlap
from palmette.metrics._pairs import LabelPair
from palmette.reporting.cell_confidence import CellConfidence
from palmette.reporting.evaluation import Evaluation
from palmette.reporting.path_confidence import PathConfidence
from palmette.reporting.plain import plain_facts

__all__ = ["THRESHOLDS", "coverage_of_cells", "coverage_of_paths"]

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
