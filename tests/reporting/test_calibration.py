"""Reliability and calibration error, by level."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    KnownAnswers,
    cells_of,
    numbered,
    paths_of,
    random_case,
)

from palmette import metrics
from palmette.reporting._calibration import calibration_of_cells, calibration_of_paths


def test_calibration_is_that_of_the_metrics():
    evaluation, sure = paths_of(random_case(2))
    found = calibration_of_paths(evaluation, sure)
    wanted = metrics.expected_calibration_error(
        evaluation.overlap.both == evaluation.overlap.pred, sure.answer, n_bins=10
    )
    assert found["answer"]["ece"] == pytest.approx(wanted)
    for level in found["levels"]:
        there = ~np.isnan(sure.on_path[:, level["level"] - 1])
        assert level["count"] == there.sum()
        assert sum(each["count"] for each in level["bins"]) == there.sum()
        assert all(each["low"] <= each["confidence"] <= each["high"] for each in level["bins"])


def test_a_model_that_knows_its_chances_is_calibrated():
    rng = np.random.default_rng(0)
    proba = np.zeros((4000, ANIMALS.n_nodes))
    proba[:, 0] = proba[:, 1] = 1.0
    proba[:, 2] = rng.uniform(0.5, 1.0, len(proba))
    proba[:, 3] = 1 - proba[:, 2]
    true = [CAT if rng.random() < p else ("animal", "dog") for p in proba[:, 2]]
    model = KnownAnswers(ANIMALS, [CAT] * len(true), proba)
    evaluation, sure = paths_of((model, numbered(len(true)), true))
    found = calibration_of_paths(evaluation, sure)
    assert [round(each["ece"], 1) for each in found["levels"]] == [0.0, 0.0]
    assert found["levels"][1]["ece"] < 0.03


def test_calibration_of_cells_is_that_of_the_metrics():
    evaluation, sure = cells_of(random_case(5, several=True))
    model, X, _ = random_case(5, several=True)
    proba, truth = model.predict_node_proba(X), evaluation.pair.true.closed.toarray()
    found = calibration_of_cells(sure)
    for level in found["levels"]:
        nodes = evaluation.hierarchy.depth == level["level"]
        curve = metrics.reliability_curve(truth[:, nodes], proba[:, nodes], n_bins=10)
        np.testing.assert_allclose([b["accuracy"] for b in level["bins"]], curve.accuracy)
        np.testing.assert_allclose([b["confidence"] for b in level["bins"]], curve.confidence)
        assert level["count"] == truth[:, nodes].size
    assert found["answer"]["count"] == truth[:, 1:].size
