"""Reliability, calibration error and coverage, against hand-worked cases and their laws."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from palmette import Hierarchy, PalmetteError
from palmette.exceptions import LabelError
from palmette.metrics import (
    coverage_curve,
    expected_calibration_error,
    level_confidences,
    likely_labels,
    reliability_curve,
)

RIGHT = [0, 1, 1, 0, 1]
CLAIMED = [0.1, 0.3, 0.6, 0.8, 1.0]


def draws(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    claimed = rng.random(n)
    return rng.random(n) < claimed, claimed


# ---------------------------------------------------------------------- reliability


def test_a_curve_worked_by_hand():
    curve = reliability_curve(RIGHT, CLAIMED, n_bins=4)
    # (0, .25]: .1; (.25, .5]: .3; (.5, .75]: .6; (.75, 1]: .8 and 1
    assert curve.lower.tolist() == [0, 0.25, 0.5, 0.75]
    assert curve.upper.tolist() == [0.25, 0.5, 0.75, 1]
    np.testing.assert_allclose(curve.confidence, [0.1, 0.3, 0.6, 0.9])
    assert curve.accuracy.tolist() == [0, 1, 1, 0.5]
    assert curve.weight.tolist() == [1, 1, 1, 2]


def test_the_error_worked_by_hand():
    error = expected_calibration_error(RIGHT, CLAIMED, n_bins=4)
    assert error == pytest.approx((0.1 + 0.7 + 0.4 + 2 * 0.4) / 5)
    assert expected_calibration_error(RIGHT, CLAIMED, n_bins=4, norm="max") == pytest.approx(0.7)


def test_bins_without_answers_are_left_out():
    curve = reliability_curve([1, 0], [0.95, 0.05], n_bins=10)
    assert curve.lower.tolist() == [0.0, 0.9]
    assert np.isfinite(curve.accuracy).all()


def test_bounds_belong_to_the_bin_below_and_zero_to_the_first():
    curve = reliability_curve([1, 0, 1], [0.0, 0.5, 1.0], n_bins=2)
    assert curve.weight.tolist() == [2, 1]


def test_quantile_bins_hold_about_the_same_weight():
    right, claimed = draws()
    curve = reliability_curve(right, claimed**4, n_bins=8, strategy="quantile")
    assert len(curve.weight) == 8
    assert np.ptp(curve.weight) <= 1
    tied = reliability_curve([0, 1, 1, 1], [0.5, 0.5, 0.5, 0.9], n_bins=2, strategy="quantile")
    assert tied.weight.tolist() == [3, 1]


def test_scikit_learn_draws_the_same_curve():
    right, claimed = draws()
    share, mean = calibration_curve(right, claimed, n_bins=7)
    curve = reliability_curve(right, claimed, n_bins=7)
    np.testing.assert_allclose(curve.accuracy, share)
    np.testing.assert_allclose(curve.confidence, mean)


def test_honest_confidence_has_a_small_error_and_boasting_a_large_one():
    right, claimed = draws(20_000)
    assert expected_calibration_error(right, claimed) < 0.02
    assert expected_calibration_error(right, np.sqrt(claimed)) > 0.1


def test_a_weight_of_k_is_k_copies():
    right, claimed = draws(60)
    weight = np.arange(60) % 4
    copies = np.repeat(np.arange(60), weight)
    for strategy in ("uniform", "quantile"):
        one = reliability_curve(right, claimed, strategy=strategy, sample_weight=weight)
        other = reliability_curve(right[copies], claimed[copies], strategy=strategy)
        for name in ("lower", "confidence", "accuracy", "weight"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name))
    one = coverage_curve(right, claimed, sample_weight=weight)
    other = coverage_curve(right[copies], claimed[copies])
    np.testing.assert_allclose(one.accuracy, other.accuracy)
    np.testing.assert_allclose(one.coverage, other.coverage)


def test_tables_of_nodes_are_answers_one_by_one():
    right, claimed = draws(60)
    table = reliability_curve(right.reshape(20, 3), claimed.reshape(20, 3))
    flat = reliability_curve(right, claimed)
    assert np.array_equal(table.accuracy, flat.accuracy)


# ---------------------------------------------------------------------- coverage


def test_coverage_worked_by_hand():
    curve = coverage_curve([1, 0, 1, 1], [0.9, 0.8, 0.8, 0.2])
    assert curve.threshold.tolist() == [0.9, 0.8, 0.2]
    assert curve.coverage.tolist() == [0.25, 0.75, 1.0]
    np.testing.assert_allclose(curve.accuracy, [1, 2 / 3, 3 / 4])
    assert curve.area == pytest.approx(0.25 * 1 + 0.5 * 2 / 3 + 0.25 * 3 / 4)


def test_all_answers_have_the_plain_accuracy():
    right, claimed = draws()
    curve = coverage_curve(right, claimed)
    assert curve.coverage[-1] == 1.0
    assert curve.accuracy[-1] == pytest.approx(right.mean())
    assert (np.diff(curve.coverage) > 0).all()
    assert (np.diff(curve.threshold) < 0).all()


# ---------------------------------------------------------------------- levels


def test_levels_worked_by_hand():
    h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    proba = [[1, 0.7, 0.3, 0.4, 0.3], [1, 0.4, 0.4, 0.0, 0.6]]  # root, a, x, y, b
    answers = level_confidences([("a", "x"), ("b",)], proba, hierarchy=h)
    assert list(answers) == [1, 2]
    assert [part.tolist() for part in answers[1]] == [[True, True], [0.7, 0.6]]
    # the second row has no truth at this level: the most probable node there is wrong
    assert [part.tolist() for part in answers[2]] == [[False, False], [0.4, 0.4]]


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 0], [0.5]), r"correct has shape \(2,\) and confidence \(1,\)"),
        (([], []), "are empty: expected"),
        (([2], [0.5]), "correct has 2.0: expected 0 or 1"),
        (([1], [1.5]), "confidence has 1.5: expected numbers from 0 to 1"),
        (([1], [np.nan]), "confidence has nan"),
    ],
)
def test_answers_that_are_none_are_refused(arguments, message):
    with pytest.raises(LabelError, match=message):
        reliability_curve(*arguments)
    with pytest.raises(LabelError, match=message):
        coverage_curve(*arguments)


def test_unknown_choices_are_refused():
    with pytest.raises(PalmetteError, match="n_bins=0: expected a positive"):
        reliability_curve(RIGHT, CLAIMED, n_bins=0)
    with pytest.raises(PalmetteError, match="strategy='even' is unknown"):
        reliability_curve(RIGHT, CLAIMED, strategy="even")
    with pytest.raises(PalmetteError, match="norm='l2' is unknown"):
        expected_calibration_error(RIGHT, CLAIMED, norm="l2")
    h = Hierarchy.star(["a", "b"])
    with pytest.raises(LabelError, match=r"node_proba has shape \(1, 2\): expected \(1, 3\)"):
        level_confidences(["a"], [[0.5, 0.5]], hierarchy=h)


def test_likely_labels():
    proba = np.array([[0.09, 0.1, 0.02], [0.03, 0.01, 0.05]])
    assert likely_labels(proba).tolist() == [[False, True, False], [False, False, True]]
    predicted = np.array([[1, 0, 0], [0, 0, 0]])
    assert likely_labels(proba, predicted).tolist() == [[True, True, False], [False, False, True]]
    assert likely_labels(proba, floor=0.0).all()
    assert likely_labels(np.empty((2, 0))).shape == (2, 0)
    with pytest.raises(LabelError, match=r"predicted has shape \(1, 3\): expected \(2, 3\)"):
        likely_labels(proba, predicted[:1])
    with pytest.raises(LabelError, match="proba has shape"):
        likely_labels(proba[0])
