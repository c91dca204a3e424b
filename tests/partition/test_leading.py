from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.partition.leading import (
    fix_signs,
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
    rows = sparse.random_array((200, 50), density=0.2, rng=rng, format="csr")
    centre, scale = rows.mean(axis=0), np.ones(200)
    order = rng.permutation(200)
    start = random_directions(50, 2)
    values, vectors = leading_of_rows(rows, centre, scale, 2, start)
    again, moved = leading_of_rows(rows[order], centre, scale, 2, start)
    np.testing.assert_allclose(again, values)
    np.testing.assert_allclose(moved, vectors[order], atol=1e-10)


def test_signs():
    turned = fix_signs(np.array([[1.0, -3.0], [-2.0, 1.0]]))
    assert turned.tolist() == [[-1.0, 3.0], [2.0, -1.0]]
