"""Curves from scores to probabilities: hand-worked cases and laws."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from palmette.calibration._curves import (
    CURVES,
    Answers,
    CurveTable,
    fit_isotonic,
    fit_sigmoid,
    isotonic_at,
    sigmoid_at,
)


def answers(n=400, seed=0, power=3.0):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    truth = rng.random(n) < score**power
    return Answers(score, truth.astype(float), np.ones(n))


def test_an_isotonic_curve_worked_by_hand():
    curve = fit_isotonic(Answers(np.array([0.2, 0.4, 0.6]), np.array([1.0, 0, 1]), np.ones(3)))
    # the first two change places: both one half; one more row of either kind: 4/5 at most
    np.testing.assert_allclose(curve, [0.2, 0.4, 0.6, 0.5, 0.5, 0.8])
    np.testing.assert_allclose(isotonic_at(curve, np.array([0.0, 0.5, 0.9])), [0.5, 0.65, 0.8])


def test_isotonic_knots_are_those_of_scikit_learn():
    seen = answers()
    mine = isotonic_at(fit_isotonic(seen), seen.score)
    bound = 1 / (len(seen.score) + 2)
    theirs = IsotonicRegression(y_min=bound, y_max=1 - bound).fit(seen.score, seen.truth)
    np.testing.assert_allclose(mine, theirs.predict(seen.score), atol=1e-12)


def test_a_sigmoid_is_a_logistic_regression_on_log_odds():
    seen = answers(4000)
    curve = fit_sigmoid(seen)
    odds = np.log(seen.score / (1 - seen.score))[:, None]
    theirs = LogisticRegression(C=1e8, tol=1e-8).fit(odds, seen.truth)
    np.testing.assert_allclose(curve, [theirs.coef_[0, 0], theirs.intercept_[0]], rtol=0.01)


def test_scores_that_separate_do_not_make_certain():
    seen = Answers(np.repeat([0.1, 0.9], 20), np.repeat([0.0, 1.0], 20), np.ones(40))
    for fit, at in CURVES.values():
        low, high = at(fit(seen), np.array([0.0, 1.0]))
        assert 0 < low < 0.05
        assert 0.95 < high < 1


def test_a_sigmoid_never_falls():
    seen = answers()
    upside_down = seen._replace(truth=1 - seen.truth)
    values = sigmoid_at(fit_sigmoid(upside_down), np.linspace(0, 1, 20))
    assert (np.diff(values) >= 0).all()


@pytest.mark.parametrize("method", sorted(CURVES))
def test_a_weight_of_k_is_k_copies(method):
    fit, at = CURVES[method]
    seen = answers(80)
    weight = 1.0 + np.arange(80) % 3
    copies = np.repeat(np.arange(80), weight.astype(int))
    weighted = fit(seen._replace(weight=weight))
    repeated = fit(Answers(seen.score[copies], seen.truth[copies], np.ones(len(copies))))
    grid = np.linspace(0, 1, 30)
    np.testing.assert_allclose(at(weighted, grid), at(repeated, grid), atol=1e-6)


@pytest.mark.parametrize("method", sorted(CURVES))
def test_places_lean_to_their_group_by_what_was_seen(method):
    much, little = answers(2000, seed=1), answers(20, seed=2, power=0.2)
    none = Answers(np.array([0.3, 0.6]), np.zeros(2), np.ones(2))
    table = CurveTable.fit(method, [[(0, much), (2, little)], [(3, none)]], 5, prior=30.0)
    fit, at = CURVES[method]
    grid = np.linspace(0, 1, 30)
    pooled = Answers(*(np.concatenate(pair) for pair in zip(much, little, strict=True)))
    group, own = at(fit(pooled), grid), at(fit(little), grid)
    share = little.evidence / (little.evidence + 30.0)
    assert 0 < share < 0.5
    np.testing.assert_allclose(table.at(2, grid), share * own + (1 - share) * group)
    np.testing.assert_allclose(table.at(0, grid), at(fit(much), grid), atol=0.05)
    np.testing.assert_allclose(table.at(3, grid), at(fit(none), grid))  # nothing of its own
    assert np.array_equal(table.at(1, grid), grid)  # never seen: as it was
    assert np.array_equal(table.at(4, grid), grid)


def test_evidence_is_the_rarer_outcome():
    weight = np.array([1.0, 2.0, 4.0])
    assert Answers(np.zeros(3), np.array([1.0, 1, 0]), weight).evidence == 3.0
    assert Answers(np.zeros(3), np.array([0.0, 1, 0]), weight).evidence == 2.0
    assert Answers(np.zeros(3), np.ones(3), weight).evidence == 0.0
