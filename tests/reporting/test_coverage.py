"""Accuracy against coverage, precision against recall."""

from __future__ import annotations

import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    KnownAnswers,
    animals,
    cells_of,
    paths_of,
    random_case,
)

from palmette.reporting._calibration import THRESHOLDS, coverage_of_cells, coverage_of_paths


def test_coverage_falls_as_thresholds_rise():
    found = coverage_of_paths(*paths_of(random_case(3)))
    assert [point["threshold"] for point in found["points"]] == list(THRESHOLDS)
    for key in ("whole", "deepest"):
        shares = [point[key]["coverage"] for point in found["points"]]
        assert shares[0] == 1.0
        assert shares == sorted(shares, reverse=True)
    depths = [point["deepest"]["mean_depth"] for point in found["points"]]
    assert depths == sorted(depths, reverse=True)


def test_coverage_by_hand():
    evaluation, sure = paths_of(animals())
    point = next(p for p in coverage_of_paths(evaluation, sure)["points"] if p["threshold"] == 0.6)
    # whole answers: rows 0, 2, 3, 4, 5, of which 0 and 5 are right
    assert point["whole"] == {"coverage": 5 / 7, "accuracy": 2 / 5}
    # deepest: cat, animal, oak, plant, cat, fern, nothing: of six four are true
    assert point["deepest"]["coverage"] == 6 / 7
    assert point["deepest"]["accuracy"] == 4 / 6
    assert point["deepest"]["mean_depth"] == (2 + 1 + 2 + 1 + 2 + 2 + 0) / 7


def test_nothing_is_so_sure():
    evaluation, sure = paths_of((KnownAnswers(ANIMALS, [CAT], [[1.0] + [0.2] * 6]), [[0]], [CAT]))
    last = coverage_of_paths(evaluation, sure)["points"][-1]
    assert last["whole"] == {"coverage": 0.0, "accuracy": None}
    assert last["deepest"]["accuracy"] is None


def test_precision_and_recall_of_cells():
    evaluation, sure = cells_of(random_case(6, several=True))
    model, X, _ = random_case(6, several=True)
    proba, truth = model.predict_node_proba(X)[:, 1:], evaluation.pair.true.closed.toarray()[:, 1:]
    for point in coverage_of_cells(sure)["points"]:
        told = proba >= point["threshold"]
        if told.any():
            assert point["precision"] == pytest.approx(truth[told].mean())
        assert point["recall"] == pytest.approx((truth & told).sum() / truth.sum())
