"""Leading directions keep the distances between label sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.multipath._forest import leading_directions


def labels(n_rows: int = 150, n_columns: int = 70, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    parts = rng.random((n_rows, 8)) < 0.4
    return (parts @ (rng.random((8, n_columns)) < 0.3)) | (rng.random((n_rows, n_columns)) < 0.02)


def test_all_directions_keep_all_distances():
    Y = labels(40, 30)
    found = leading_directions(sparse.csr_array(Y), 100)
    gaps = np.linalg.norm(found[:, None] - found[None], axis=2) ** 2
    assert gaps == pytest.approx((Y[:, None] != Y[None]).sum(axis=2), abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_few_are_those_of_the_singular_value_decomposition(weighted):
    Y = labels()
    weights = np.random.default_rng(1).random(len(Y)) + 0.5 if weighted else None
    each = np.ones(len(Y)) if weights is None else weights / weights.mean()
    centred = Y - np.average(Y, axis=0, weights=each)
    right = np.linalg.svd(np.sqrt(each)[:, None] * centred, full_matrices=False)[2][:5]
    found = leading_directions(sparse.csr_array(Y), 5, weights)
    assert np.abs(found) == pytest.approx(np.abs(centred @ right.T), abs=1e-6)


def test_the_same_seed_gives_the_same_directions():
    Y = sparse.csr_array(labels())
    assert np.array_equal(leading_directions(Y, 5, seed=3), leading_directions(Y, 5, seed=3))
