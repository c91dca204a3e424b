"""Models of label noise: a literal version of the formula, and shares that are found again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from palmette import Hierarchy
from palmette.reviewing._noise import LabelNoise, SetNoise

PATHS = [("a",), ("a", "x"), ("a", "y"), ("a", "y", "u"), ("a", "y", "v"), ("b",), ("c", "z")]


@pytest.fixture
def noise():
    h = Hierarchy.from_paths(PATHS)
    return LabelNoise(h, np.sort(h.index(PATHS)), by_level=True)


def test_likelihoods_are_those_of_drawing_a_wrong_label(noise):
    rng = np.random.default_rng(0)
    n_labels = len(noise.labels)
    proba = rng.dirichlet(np.ones(n_labels), size=40)
    codes = rng.integers(0, n_labels, size=40)
    found = noise.likelihoods(proba, codes)
    h = noise.hierarchy
    paths = [h.path(node) for node in noise.labels.tolist()]
    for row in range(40):
        given = paths[codes[row]]
        assert found[row, 0] == pytest.approx(proba[row, codes[row]], abs=2e-5)
        for level in range(h.max_depth):
            total = 0.0
            for true, path in enumerate(paths):
                if len(path) < level:
                    continue
                pool = [q for q in paths if q[:level] == path[:level] and q != path]
                pool = [q for q in pool if len(q) >= level]
                if given in pool:
                    total += proba[row, true] / len(pool)
            assert found[row, 1 + level] == pytest.approx(total, abs=1e-12)


def planted(noise, rates, n_rows=2500, seed=0):
    """Return probabilities that are too careful by a power of 2, given labels, and errors."""
    rng = np.random.default_rng(seed)
    n_labels = len(noise.labels)
    sharp = rng.dirichlet(np.full(n_labels, 0.05), size=n_rows) + 1e-9
    sharp /= sharp.sum(axis=1, keepdims=True)
    true = (sharp.cumsum(axis=1) > rng.random((n_rows, 1))).argmax(axis=1)
    given = true.copy()
    level = rng.choice(len(rates) + 1, size=n_rows, p=[1 - sum(rates), *rates]) - 1
    for row in np.flatnonzero(level >= 0).tolist():
        first, last = noise._first[true[row], level[row]], noise._last[true[row], level[row]]
        pool = [c for c in range(first, last) if c != true[row]]
        if pool:
            given[row] = rng.choice(pool)
    careful = np.sqrt(sharp)
    return careful / careful.sum(axis=1, keepdims=True), given, given != true


@pytest.mark.parametrize("rates", [(0.1, 0.0, 0.0), (0.0, 0.1, 0.0)], ids=["far", "near"])
def test_shares_of_wrong_labels_and_the_temperature_are_found_again(noise, rates):
    proba, given, wrong = planted(noise, rates)
    noise.fit_temperature(proba, given)
    assert noise.inverse_temperature_ == pytest.approx(2.0, rel=0.15)
    found = noise.likelihoods(noise.scaled(proba), given)
    noise.fit_weights(found)
    share = 1 - noise.weights_[0]
    assert share == pytest.approx(wrong.mean(), abs=0.02)
    odds = noise.log_odds(found)
    assert expit(odds).mean() == pytest.approx(wrong.mean(), abs=0.02)
    kinds = noise.weights_[1:]
    assert kinds.argmax() == np.argmax(rates)


def test_the_level_of_the_noise_improves_the_order(noise):
    proba, given, wrong = planted(noise, (0.0, 0.15, 0.0), seed=1)
    noise.fit_temperature(proba, given)
    found = noise.likelihoods(noise.scaled(proba), given)
    odds = noise.fit_weights(found).log_odds(found)
    star = Hierarchy.star([str(i) for i in range(len(noise.labels))])
    flat = LabelNoise(star, np.arange(1, len(noise.labels) + 1))
    flat.fit_temperature(proba, given)
    flat_found = flat.likelihoods(flat.scaled(proba), given)
    flat_odds = flat.fit_weights(flat_found).log_odds(flat_found)
    k = int(wrong.sum())
    first = [wrong[np.argsort(-each)[:k]].mean() for each in (odds, flat_odds)]
    assert first[0] > first[1] + 0.01


def test_no_rows_keep_the_first_weights(noise):
    before = noise.weights_.copy()
    noise.fit_temperature(np.zeros((0, 7)), np.zeros(0, dtype=int))
    noise.fit_weights(np.zeros((0, 4)))
    assert noise.inverse_temperature_ == 1.0
    np.testing.assert_array_equal(noise.weights_, before)


def test_added_and_missing_labels_are_found_again():
    rng = np.random.default_rng(0)
    scores = rng.normal(-3.0, 2.5, 40_000)
    true = rng.random(40_000) < expit(1.5 * scores)
    given = np.where(true, rng.random(40_000) > 0.05, rng.random(40_000) < 0.004)
    noise = SetNoise().fit(expit(scores), given)
    assert noise.slope_ == pytest.approx(1.5, rel=0.1)
    assert noise.missing_ == pytest.approx(0.05, rel=0.3)
    assert noise.added_ == pytest.approx(0.004, abs=0.002)
    wrong = given != true
    proba = expit(scores)
    odds = np.where(given, noise.log_odds(proba, True), noise.log_odds(proba, False))
    assert expit(odds).sum() == pytest.approx(wrong.sum(), rel=0.25)


def test_cells_that_are_all_given_change_nothing():
    noise = SetNoise().fit(np.array([0.2, 0.9]), np.array([True, True]))
    assert (noise.slope_, noise.bias_) == (1.0, 0.0)
