from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.partition import _embedding as module
from palmette.partition._embedding import groups_of, leading_eigenvectors, near_groups


def symmetric(n=30, seed=0):
    half = np.random.default_rng(seed).normal(size=(n, n))
    return half + half.T


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.linalg.aslinearoperator], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("dense_up_to", [512, 5])
def test_eigenvectors_of_every_form(form, dense_up_to, monkeypatch):
    monkeypatch.setattr(module, "_DENSE", dense_up_to)
    matrix = symmetric()
    values, vectors = leading_eigenvectors(form(matrix), 3, np.random.default_rng(0))
    assert np.allclose(values, np.sort(np.linalg.eigvalsh(matrix))[::-1][:3], rtol=1e-4)
    assert np.allclose(matrix @ vectors, vectors * values, atol=1e-2)
    assert (vectors[np.abs(vectors).argmax(axis=0), range(3)] > 0).all()


def test_there_are_no_more_vectors_than_rows():
    values, vectors = leading_eigenvectors(symmetric(3), 5, np.random.default_rng(0))
    assert values.shape == (3,)
    assert vectors.shape == (3, 3)


def test_points_that_differ_by_rounding_are_one():
    points = np.ones((6, 2)) + 1e-14 * np.arange(12).reshape(6, 2)
    assert near_groups(points, 2, np.random.default_rng(0)) is None


def test_no_more_groups_than_points():
    points = np.repeat([[0.0], [1.0]], 3, axis=0)
    labels = near_groups(points, 5, np.random.default_rng(0))
    assert [g.tolist() for g in groups_of(np.arange(6), labels, 5)] == [[0, 1, 2], [3, 4, 5]]
