from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.base._fitting import Threads
from palmette.class_tree import _eigenvectors
from palmette.class_tree._eigenvectors import (
    fix_signs,
    leading_eigenvectors,
    leading_of_matrix,
    leading_of_rows,
    random_directions,
)


@pytest.mark.parametrize("n", [2, 30, 100])
def test_leading_eigenvectors_of_a_matrix(n):
    half = np.random.default_rng(n).normal(size=(n, n))
    matrix = half @ half.T
    values, vectors = leading_of_matrix(matrix, 2)
    assert values[0] >= values[1]
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-8 * values[0])
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1][:2])


def test_renumbering_rows_renumbers_the_answer():
    rng = np.random.default_rng(0)
    rows = sparse.random_array((200, 50), density=0.2, random_state=rng, format="csr")
    centre, scale = rows.mean(axis=0), np.ones(200)
    order = rng.permutation(200)
    start = random_directions(50, 2)
    values, vectors = leading_of_rows(rows, centre, scale, 2, start)
    again, moved = leading_of_rows(rows[order], centre, scale, 2, start)
    np.testing.assert_allclose(again, values)
    np.testing.assert_allclose(moved, vectors[order], atol=1e-10)


@pytest.mark.parametrize("has_own_centre", [True, False])
@pytest.mark.parametrize("n_vectors", [2, 3])
def test_sparse_rows_have_the_vectors_of_dense_ones(monkeypatch, has_own_centre, n_vectors):
    rng = np.random.default_rng(0)
    rows = sparse.random_array((200, 90), density=0.05, random_state=rng, format="csr")
    rows = sparse.csr_array(rows @ np.diag(rng.random(90) > 0.3))  # some features have no entry
    centre = rows.mean(axis=0) if has_own_centre else rng.random(90) / 20
    scale, start = rng.random(200), random_directions(90, n_vectors)
    expected = leading_of_rows(rows.toarray(), centre, scale, n_vectors, start)
    found = leading_of_rows(rows, centre, scale, n_vectors, start)
    monkeypatch.setattr(_eigenvectors, "_RANGE", 100)
    ranges = leading_of_rows(rows, centre, scale, n_vectors, start)
    with Threads(3) as threads:
        by_threads = leading_of_rows(rows, centre, scale, n_vectors, start, threads.map)
    for k in range(2):
        np.testing.assert_allclose(found[k], expected[k], atol=1e-10)
        np.testing.assert_allclose(ranges[k], expected[k], atol=1e-10)
        assert np.array_equal(by_threads[k], ranges[k])


def test_signs():
    turned = fix_signs(np.array([[1.0, -3.0], [-2.0, 1.0]]))
    assert turned.tolist() == [[-1.0, 3.0], [2.0, -1.0]]


def symmetric(n=30, seed=0):
    half = np.random.default_rng(seed).normal(size=(n, n))
    return half + half.T


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.linalg.aslinearoperator], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("dense_up_to", [512, 5])
def test_eigenvectors_of_every_form(form, dense_up_to, monkeypatch):
    monkeypatch.setattr(_eigenvectors, "_DENSE", dense_up_to)
    matrix = symmetric()
    values, vectors = leading_eigenvectors(form(matrix), 3, np.random.default_rng(0))
    assert np.allclose(values, np.sort(np.linalg.eigvalsh(matrix))[::-1][:3], rtol=1e-4)
    assert np.allclose(matrix @ vectors, vectors * values, atol=1e-2)
    assert (vectors[np.abs(vectors).argmax(axis=0), range(3)] > 0).all()


def test_there_are_no_more_vectors_than_rows():
    values, vectors = leading_eigenvectors(symmetric(3), 5, np.random.default_rng(0))
    assert values.shape == (3,)
    assert vectors.shape == (3, 3)
