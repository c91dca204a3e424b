from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from palmette.base._temperature import fit_inverse_temperature, held_out_third, temperature_scaled


def drawn(sharpness, n=400, seed=0):
    """Probabilities, and classes drawn from them after they were raised to a power."""
    rng = np.random.default_rng(seed)
    proba = softmax(rng.normal(size=(n, 4)), axis=1)
    true = temperature_scaled(proba, sharpness)
    return proba, (true.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 4.0])
def test_the_exponent_is_the_most_likely_one(sharpness):
    proba, classes = drawn(sharpness)
    weights = np.random.default_rng(1).random(len(classes))

    def loss(log_exponent):
        return (
            -weights @ np.log(temperature_scaled(proba, np.exp(log_exponent)))[range(400), classes]
        )

    best = minimize_scalar(loss, bounds=(np.log(0.1), np.log(10.0)), method="bounded")
    assert fit_inverse_temperature(proba, classes, weights) == pytest.approx(
        np.exp(best.x), rel=1e-3
    )


def test_it_stays_between_bounds():
    proba, _ = drawn(1.0)
    assert fit_inverse_temperature(proba, proba.argmax(axis=1), np.ones(400)) == pytest.approx(10.0)
    assert fit_inverse_temperature(proba, proba.argmin(axis=1), np.ones(400)) == pytest.approx(0.1)


def test_classes_of_no_probability_do_no_harm():
    proba = np.array([[1.0, 0.0], [0.5, 0.5]])
    exponent = fit_inverse_temperature(proba, np.array([1, 0]), np.ones(2))
    assert np.isfinite(temperature_scaled(proba, exponent)).all()


def test_powers_keep_the_order_and_sum_to_one():
    proba, _ = drawn(1.0)
    for exponent in (0.2, 3.0):
        raised = temperature_scaled(proba, exponent)
        np.testing.assert_allclose(raised.sum(axis=1), 1.0)
        assert np.array_equal(np.argsort(raised), np.argsort(proba))
    np.testing.assert_allclose(temperature_scaled(proba, 1.0), proba)


def test_a_third_of_every_class_is_held_out_but_never_all():
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(5), [1, 2, 3, 7, 30]))
    held = held_out_third(codes, seed=0)
    assert np.bincount(codes[held], minlength=5).tolist() == [0, 0, 1, 2, 10]
    assert not np.array_equal(held, held_out_third(codes, seed=1))
    assert np.array_equal(held, held_out_third(codes, seed=0))
