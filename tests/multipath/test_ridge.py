"""Kernel ridge regression, in closed form and by leave-one-out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge

from palmette.multipath._kernel import (
    Decomposed,
    cosine_kernel,
    nystroem_map,
    solve_ridge,
    unit_rows,
)


def problem(seed: int = 0, n: int = 25):
    rng = np.random.default_rng(seed)
    rows = unit_rows(rng.normal(size=(n, 4)))
    return rows, rng.normal(size=(n, 3)), rng.random(n) + 0.5


def test_the_kernel_is_an_exponential_of_cosines():
    rows, _, _ = problem()
    cosines = rows @ rows.T
    assert cosine_kernel(rows, rows, 2.0) == pytest.approx(np.exp(2 * (cosines - 1)), abs=1e-12)
    sparse_rows = sparse.csr_array(rows)
    assert cosine_kernel(sparse_rows, sparse_rows, 2.0) == pytest.approx(
        cosine_kernel(rows, rows, 2.0), abs=1e-12
    )


def test_rows_of_zeros_stay_zeros():
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert unit_rows(X).tolist() == [[0.6, 0.8], [0.0, 0.0]]
    assert unit_rows(sparse.csr_array(X)).toarray() == pytest.approx(unit_rows(X))


@pytest.mark.parametrize("way", ["decomposed", "cholesky"])
def test_coefficients_are_those_of_scikit_learn(way):
    rows, labels, weights = problem()
    kernel, root = cosine_kernel(rows, rows, 2.0), np.sqrt(weights)
    rival = KernelRidge(alpha=0.7, kernel="precomputed").fit(kernel, labels, sample_weight=weights)
    if way == "decomposed":
        found = Decomposed.of(kernel.copy(), labels, root).coefficients(0.7)
    else:
        found = solve_ridge(kernel.copy(), labels, root, 0.7)
    assert found == pytest.approx(rival.dual_coef_, abs=1e-8)


def test_predictions_without_a_row_are_those_of_a_fit_without_it():
    rows, labels, weights = problem()
    kernel, root = cosine_kernel(rows, rows, 2.0), np.sqrt(weights)
    found = Decomposed.of(kernel.copy(), labels, root).left_out(0.7, labels)
    for i in range(len(rows)):
        rest = np.delete(np.arange(len(rows)), i)
        part = solve_ridge(kernel[np.ix_(rest, rest)], labels[rest], root[rest], 0.7)
        assert kernel[i, rest] @ part == pytest.approx(found[i], abs=1e-8)


def test_all_rows_as_landmarks_give_the_kernel():
    rows, _, _ = problem()
    features = cosine_kernel(rows, rows, 2.0) @ nystroem_map(rows, 2.0)
    assert features @ features.T == pytest.approx(cosine_kernel(rows, rows, 2.0), abs=1e-4)
