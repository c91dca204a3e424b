"""Calibrating the options of families."""

from __future__ import annotations

import numpy as np
import pytest

from palmette import Hierarchy
from palmette.calibration._nodes import (
    CalibratedRoute,
    FamilyCalibration,
    merge_scores,
    scores_on_true_paths,
)
from palmette.decisions._decode import RouteByMarginals, path_product
from palmette.labels._space import LabelSpace

# "b" is a label that has others below it; "d" has an only child
H = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z"), ("b", "w"), ("d", "only")])
SPACE = LabelSpace(H, H.index(["x", "y", "b", "z", "w", "only"]))
METHODS = ("isotonic", "sigmoid", "temperature")


def problem(n_rows=3000, seed=0, power=2.0):
    """Shares of classes, and classes drawn by what these are worth: to a power."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(6, 0.7), size=n_rows)
    true = proba**power / (proba**power).sum(axis=1, keepdims=True)
    codes = (np.cumsum(true, axis=1) < rng.random((n_rows, 1))).sum(axis=1).clip(max=5)
    return proba, codes.astype(np.int32), true


def calibrated(method, proba, codes, asked):
    scores = scores_on_true_paths(SPACE, proba, codes, np.ones(len(codes)))
    calibration = FamilyCalibration.fit(method, scores, SPACE, 50.0)
    route = CalibratedRoute(RouteByMarginals(SPACE, asked), calibration, SPACE)
    return path_product(SPACE, route, len(asked))


def test_scores_are_those_of_the_families_on_the_true_path():
    proba = np.array([[0.1, 0.2, 0.1, 0.2, 0.2, 0.2]] * 3)  # x, y, b, z, w, only
    codes = np.array([1, 2, 4], dtype=np.int32)  # y, b and w
    found = scores_on_true_paths(SPACE, proba, codes, np.array([1.0, 2.0, 3.0]))
    names = {H.names[SPACE.nodes[place]]: family for place, family in found.items()}
    assert set(names) == {"root", "a", "b"}  # nothing is to be chosen below "d"
    root, a, b = names["root"], names["a"], names["b"]
    np.testing.assert_allclose(root.share, [[0.3, 0.5, 0.2]] * 3, rtol=1e-6)
    assert root.chosen.tolist() == [0, 1, 1]
    np.testing.assert_allclose(a.share, [[1 / 3, 2 / 3]], rtol=1e-6)
    assert a.chosen.tolist() == [1]
    np.testing.assert_allclose(b.share, [[0.2, 0.4, 0.4]] * 2, rtol=1e-6)  # ends, z, w
    assert b.chosen.tolist() == [0, 2]
    assert b.weight.tolist() == [2.0, 3.0]


def test_parts_of_the_rows_are_put_together():
    proba, codes, _ = problem(60)
    whole = scores_on_true_paths(SPACE, proba, codes, np.ones(60))
    parts = [
        scores_on_true_paths(SPACE, proba[rows], codes[rows], np.ones(20))
        for rows in np.split(np.arange(60), 3)
    ]
    merged = merge_scores(parts)
    assert set(merged) == set(whole)
    for parent in whole:
        for one, other in zip(merged[parent], whole[parent], strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("method", METHODS)
def test_calibrated_probabilities_are_closer_to_the_true_ones(method):
    proba, codes, _ = problem()
    asked, _, true = problem(1000, seed=1)
    found = calibrated(method, proba, codes, asked)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert np.abs(found - true).mean() < 0.4 * np.abs(asked - true).mean()


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_that_were_right_stay_about_what_they_were(method):
    proba, codes, _ = problem(power=1.0)
    found = calibrated(method, proba, codes, proba[:500])
    assert np.abs(found - proba[:500]).mean() < 0.02


def test_a_temperature_changes_no_rank_among_siblings():
    proba, codes, _ = problem()
    found = calibrated("temperature", proba, codes, proba)
    for options in ([0, 1], [2, 3, 4]):
        before, after = proba[:, options].argsort(axis=1), found[:, options].argsort(axis=1)
        assert np.array_equal(before, after)


@pytest.mark.parametrize("method", METHODS)
def test_families_that_no_row_came_to_keep_their_shares(method):
    proba, codes, _ = problem()
    kept = np.flatnonzero(~np.isin(codes, [2, 3, 4]))  # nothing of "b"
    found = calibrated(method, proba[kept], codes[kept], proba[:200])
    below = found[:, 2:5] / found[:, 2:5].sum(axis=1, keepdims=True)
    before = proba[:200, 2:5] / proba[:200, 2:5].sum(axis=1, keepdims=True)
    assert np.array_equal(below.argsort(axis=1), before.argsort(axis=1))
