"""Calibrating nodes one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette import Hierarchy
from palmette.calibration._nodes import NodeCalibration
from palmette.decisions._coherence import NodeColumns

H = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
COLUMNS = NodeColumns(H, np.arange(1, H.n_nodes))


def problem(n_rows=3000, seed=0):
    """Scores whose odds are the true ones to a power of one half; the last node is rare."""
    rng = np.random.default_rng(seed)
    true = rng.random((n_rows, 4)) * np.array([1, 1, 1, 0.05])
    odds = np.sqrt(true / (1 - true))
    return odds / (1 + odds), rng.random((n_rows, 4)) < true, true


@pytest.mark.parametrize("method", ["isotonic", "sigmoid", "temperature"])
def test_calibrated_probabilities_are_closer_to_the_true_ones(method):
    scores, outcome, _ = problem()
    asked, _, true = problem(1000, seed=1)
    truth = sparse.csr_array(outcome)
    fitted = NodeCalibration.fit(method, scores, truth, COLUMNS, np.ones(3000), prior=50.0)
    found = fitted.apply(asked)
    assert found.shape == asked.shape
    assert ((found > 0) & (found < 1)).all()
    assert np.abs(found - true).mean() < 0.4 * np.abs(asked - true).mean()


def test_temperatures_are_those_of_levels():
    scores, outcome, _ = problem()
    truth = sparse.csr_array(outcome)
    fitted = NodeCalibration.fit("temperature", scores, truth, COLUMNS, np.ones(3000), prior=1.0)
    depth = H.depth[COLUMNS.nodes]
    for level in np.unique(depth):
        assert len(np.unique(fitted.exponents[depth == level])) == 1
    np.testing.assert_allclose(fitted.exponents, 2.0, rtol=0.15)


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_a_node_without_positive_rows_gets_the_curve_of_its_level(method):
    scores, outcome, _ = problem()
    outcome[:, 3] = False
    fitted = NodeCalibration.fit(
        method, scores, sparse.csr_array(outcome), COLUMNS, np.ones(3000), prior=50.0
    )
    assert fitted.curves.share[3] == 0.0
    assert (fitted.apply(scores)[:, 3] > 0).all()
