"""Stability of selections: Nogueira's measure and its subsamples."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from tests.feature_selection.problems import planted

from palmette import PalmetteError
from palmette.feature_selection import (
    HierarchicalFeatureSelector,
    node_stability,
    selection_stability,
)


def literal(Z):
    """Return Definition 4: one minus the mean variance over that of random selections."""
    M, d = Z.shape
    mean_size = Z.sum() / M
    variances = [M / (M - 1) * p * (1 - p) for p in Z.mean(axis=0)]
    return 1 - np.mean(variances) / (mean_size / d * (1 - mean_size / d))


def jackknife(Z):
    """Return the jackknife variance of the measure."""
    values = [literal(np.delete(Z, i, axis=0)) for i in range(len(Z))]
    return (len(Z) - 1) / len(Z) * np.sum((values - np.mean(values)) ** 2)


def test_it_is_the_published_definition():
    rng = np.random.default_rng(0)
    Z = rng.random((20, 15)) < np.linspace(0, 1, 15)
    found = selection_stability(Z)
    assert found.value == pytest.approx(literal(Z.astype(float)))
    assert selection_stability(sparse.csr_array(Z)) == pytest.approx(found)


def test_with_sizes_all_equal_it_is_kuncheva():
    rng = np.random.default_rng(1)
    d, k, M = 12, 4, 9
    sets = [set(rng.choice(d, k, replace=False)) for _ in range(M)]
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    kuncheva = np.mean([(len(a & b) - k * k / d) / (k - k * k / d) for a, b in pairs])
    Z = np.array([[j in s for j in range(d)] for s in sets])
    assert selection_stability(Z).value == pytest.approx(kuncheva)


def test_the_same_every_time_is_one_and_chance_is_nothing():
    same = np.tile([True, True, False, False], (5, 1))
    assert selection_stability(same) == (1.0, 1.0, 1.0)
    rng = np.random.default_rng(0)
    chance = selection_stability(rng.random((400, 50)) < 0.3)
    assert abs(chance.value) < 0.01
    assert chance.low < 0.0 < chance.high


def test_the_interval_is_that_of_the_jackknife():
    rng = np.random.default_rng(2)
    Z = rng.random((200, 30)) < rng.random(30)
    found = selection_stability(Z, confidence=0.95)
    half = (found.high - found.low) / 2
    assert half == pytest.approx(1.96 * np.sqrt(jackknife(Z.astype(float))), rel=0.03)
    narrow = selection_stability(Z, confidence=0.5)
    assert narrow.high - narrow.low < found.high - found.low


def test_all_or_no_features_have_no_stability():
    assert np.isnan(selection_stability(np.ones((3, 4))).value)
    assert np.isnan(selection_stability(np.zeros((3, 4))).value)


def test_one_selection_is_refused():
    with pytest.raises(PalmetteError, match="got 1 selection"):
        selection_stability([[1, 0]])
    with pytest.raises(PalmetteError, match="confidence=2"):
        selection_stability([[1, 0], [0, 1]], confidence=2)


def test_planted_features_are_stable_and_noise_is_not():
    X, y = planted()
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select={"a": 4, "default": 1})
    found = node_stability(selector, X, y, n_subsamples=12, random_state=0)
    h = found.hierarchy
    assert h.path_strings[found.nodes].tolist() == ["root", "a", "a/y", "b"]
    values = dict(zip(h.path_strings[found.nodes], found.by_node, strict=True))
    assert values["root"].value == values["a/y"].value == values["b"].value == 1.0
    assert values["a"].value < 0.9  # three of its four are noise
    assert found.frequencies[h.index("a"), 7] == 1.0
    assert found.frequencies[[h.index("a")]].sum() == pytest.approx(4.0)
    table = found.to_frame()
    assert table["n_selections"].tolist() == [12] * 4
    assert found.mean == pytest.approx(table["stability"].mean())


def test_subsamples_do_not_depend_on_n_jobs_and_use_weights():
    X, y = planted()
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=3)
    options = {"n_subsamples": 6, "random_state": 3}
    one = node_stability(selector, X, y, **options)
    with parallel_config(backend="threading"):
        again = node_stability(selector, sparse.csr_array(X), y, n_jobs=2, **options)
    assert one.by_node == again.by_node
    weights = np.where([path[0] == "b" for path in y], 0.0, 1.0)
    without = node_stability(selector, X, y, sample_weight=weights, **options)
    assert without.hierarchy.index("b") not in without.nodes
    with pytest.raises(PalmetteError, match=r"share=1\.5"):
        node_stability(selector, X, y, share=1.5)
