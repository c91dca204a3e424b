"""Mutual information of binned features."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import mutual_info_score

from palmette.feature_selection._mrmr import mutual_information


def test_it_is_that_of_scikit_learn_for_the_features_wanted():
    rng = np.random.default_rng(0)
    values = rng.integers(4, size=200).astype(np.uint8)
    codes = rng.integers(3, size=(5, 200)).astype(np.uint8)
    codes[1] = values // 2
    codes[2] = 0
    found = np.full(5, -1.0)
    wanted = np.array([0, 1, 2, 4])
    n_bins = codes.max(axis=1).astype(np.int64) + 1
    mutual_information(codes, n_bins, values, 4, np.ones(200), wanted, found)
    expected = [mutual_info_score(codes[j], values) for j in wanted]
    np.testing.assert_allclose(found[wanted], expected, atol=1e-12)
    assert found[3] == -1.0


def test_a_weight_of_k_is_k_copies():
    rng = np.random.default_rng(1)
    values, codes = rng.integers(3, size=50), rng.integers(400, size=(2, 50))
    weights = rng.integers(1, 4, size=50)
    copies = np.repeat(np.arange(50), weights)
    one, other = np.zeros(2), np.zeros(2)
    wanted, n_bins = np.arange(2), np.full(2, 400)
    codes, values = codes.astype(np.int32), values.astype(np.int32)
    mutual_information(codes, n_bins, values, 3, weights.astype(float), wanted, one)
    mutual_information(
        codes[:, copies], n_bins, values[copies], 3, np.ones(len(copies)), wanted, other
    )
    np.testing.assert_allclose(one, other, rtol=1e-10)
