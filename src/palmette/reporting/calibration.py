"""Calibration: how often a model is right when it says how sure it is, level by level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.metrics import ReliabilityCurve, reliability_curve
from palmette.reporting.cell_confidence import CellConfidence
from palmette.reporting.evaluation import Evaluation
from palmette.reporting.path_confidence import PathConfidence, ancestors_by_level
from palmette.reporting.plain import plain_facts

__all__ = ["calibration_of_cells", "calibration_of_paths"]

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
