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
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting._calibration import (
    calibration_of_cells,
    calibration_of_paths,
    coverage_of_paths,
)


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
        likely = metrics.likely_labels(
            proba[:, nodes], evaluation.pair.pred.closed.toarray()[:, nodes]
        )
        cells = truth[:, nodes][likely], proba[:, nodes][likely]
        curve = metrics.reliability_curve(*cells, n_bins=10)
        np.testing.assert_allclose([b["accuracy"] for b in level["bins"]], curve.accuracy)
        np.testing.assert_allclose([b["confidence"] for b in level["bins"]], curve.confidence)
        assert level["count"] == likely.sum()
        assert level["ece"] == pytest.approx(metrics.expected_calibration_error(*cells, n_bins=10))
    assert found["answer"]["count"] == sum(level["count"] for level in found["levels"])
    assert "likely pairs of a row and a node" in found["words"]


@pytest.mark.parametrize(
    ("distort", "low", "high"),
    [(lambda p: p, 0.0, 0.03), (np.square, 0.08, 1.0), (np.sqrt, 0.08, 1.0),
     (lambda p: p / 20, 0.08, 1.0)],
)  # fmt: skip
def test_a_multi_label_model_with_wrong_probabilities_is_detected(distort, low, high):
    """98 of 100 labels are clearly negative in every row: with them, every error is near 0."""
    rng = np.random.default_rng(0)
    star = Hierarchy.star([f"t{i}" for i in range(100)])
    proba = rng.uniform(0, 0.002, (2000, star.n_nodes))
    for row in proba:
        row[rng.choice(100, 2, replace=False) + 1] = rng.uniform(0, 1, 2)
    truth = rng.random(proba.shape) < proba
    proba[:, 0] = 1.0
    claimed = distort(proba)
    names = star.names[1:]
    true, predicted = (
        [set(names[row[1:]].tolist()) for row in table] for table in (truth, claimed > 0.5)
    )
    model = KnownAnswers(star, predicted, claimed, several=True)
    found = calibration_of_cells(cells_of((model, numbered(len(true)), true))[1])
    assert low <= found["answer"]["ece"] <= high
    assert metrics.expected_calibration_error(truth[:, 1:], claimed[:, 1:]) < 0.04  # all pairs


def test_rows_without_a_prediction_have_no_confidence():
    proba = np.array([[1.0, 0.6, 0.6, 0.0, 0.4, 0.4, 0.0]] * 2)
    model = KnownAnswers(ANIMALS, [CAT, ()], proba)
    evaluation, sure = paths_of((model, numbered(2), [CAT, CAT]))
    np.testing.assert_array_equal(sure.answer, [0.6, np.nan])
    found = calibration_of_paths(evaluation, sure)
    assert found["answer"]["count"] == 1
    assert coverage_of_paths(evaluation, sure)["points"][0]["whole"]["coverage"] == 0.5
