"""FsnmScore, compared with the updates in the paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from tests.feature_selection.node_problems import (
    both_forms,
    problem,
    rows_and_classes,
    scores_of,
    two_options,
)

from palmette import PalmetteError
from palmette.feature_selection import _fsnm as fsnm
from palmette.feature_selection._fsnm import FsnmScore

TIGHT = {"tol": 1e-12, "max_iter": 400}
SLOW_AT_THE_END = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def literal(X, codes, lam, n_steps, weights=None):
    """Solve (X'D1X + lam D2) W = X'D1Y repeatedly, from D1 = D2 = I / 2."""
    Y = np.eye(codes.max() + 1)[codes]
    weights = np.ones(len(X)) if weights is None else weights
    d1, d2 = weights / 2, np.full(X.shape[1], 0.5)
    for _ in range(n_steps):
        system = X.T @ np.diag(d1) @ X + lam * np.diag(d2)
        W = np.linalg.solve(system, X.T @ np.diag(d1) @ Y)
        d1 = weights / (2 * np.maximum(np.linalg.norm(X @ W - Y, axis=1), 1e-8))
        d2 = 1 / (2 * np.maximum(np.linalg.norm(W, axis=1), 1e-8))
    return np.linalg.norm(W, axis=1)


@pytest.mark.parametrize("n_features", [9, 150], ids=["more rows", "more features"])
@SLOW_AT_THE_END
def test_steps_are_those_of_the_paper(n_features):
    X, classes = rows_and_classes(n_features=n_features)
    weights = 1.0 + np.arange(len(X)) % 3
    for n_steps in (1, 2, 12):
        setting = FsnmScore(5.0, relative=False, standardize=False, max_iter=n_steps, tol=0.0)
        found = scores_of(setting, X, classes, weights=weights)
        for row, task in zip(found, problem(X, classes).tasks(), strict=True):
            own = weights[task.rows]
            expected = literal(X[task.rows], task.codes, 5.0, n_steps, own)
            np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("n_features", [9, 150])
@SLOW_AT_THE_END
def test_the_objective_never_rises(n_features):
    X, classes = rows_and_classes(n_features=n_features)
    facts = FsnmScore(0.05, tol=1e-12, max_iter=150).score(problem(X, classes))
    norms = list(facts.rows())
    assert len(facts.facts["node_objectives_"]) == len(norms) == 4
    for curve in facts.facts["node_objectives_"]:
        assert len(curve) > 3
        assert (np.diff(curve) <= 1e-7 * curve[0]).all()


@SLOW_AT_THE_END
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("n_features", [9, 100])
def test_sparse_rows_are_dense_rows(standardize, n_features):
    X, classes = rows_and_classes(n_features=n_features)
    dense, packed = both_forms(X)
    setting = FsnmScore(0.1, standardize=standardize, max_iter=40, tol=1e-10)
    one, other = (scores_of(setting, rows, classes) for rows in (dense, packed))
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_a_weight_of_k_is_k_copies():
    X, classes = rows_and_classes()
    weights = np.arange(len(X)) % 3 + 1
    copies = np.repeat(np.arange(len(X)), weights)
    np.testing.assert_allclose(
        scores_of(FsnmScore(), X, classes, weights=weights.astype(float)),
        scores_of(FsnmScore(), X[copies], classes[copies]),
        rtol=1e-5,
        atol=1e-7,
    )


def test_large_systems_are_solved_by_conjugate_gradients(monkeypatch):
    X, classes = rows_and_classes(n_features=60)
    dense, packed = both_forms(X)
    direct = FsnmScore(0.5).score(problem(dense, classes))
    expected = np.array(list(direct.rows()))
    monkeypatch.setattr(fsnm, "_DIRECT", 4)
    for rows in (dense, packed):
        nearly = FsnmScore(0.5).score(problem(rows, classes))
        assert len(list(nearly.rows())) == 4
        curves = (each.facts["node_objectives_"] for each in (direct, nearly))
        for one, other in zip(*curves, strict=True):
            assert other[-1] == pytest.approx(one[-1], rel=0.01)
    monkeypatch.setattr(fsnm, "_ACCURACY", 1e-7)
    monkeypatch.setattr(fsnm, "_MAX_STEPS", 300)
    for rows in (dense, packed):
        np.testing.assert_allclose(scores_of(FsnmScore(0.5), rows, classes), expected, atol=1e-4)


@SLOW_AT_THE_END
def test_at_lambda_max_nothing_is_left():
    X, classes = rows_and_classes()
    assert scores_of(FsnmScore(1.2, **TIGHT), X, classes).max() < 1e-4
    below = scores_of(FsnmScore(0.7, **TIGHT), X, classes)
    assert (below.max(axis=1) > 1e-2).all()


def test_constant_features_have_no_weight():
    X, classes = rows_and_classes()
    assert (scores_of(FsnmScore(), X, classes)[:, 3] < 1e-12).all()
    assert (scores_of(FsnmScore(), np.ones_like(X), classes) == 0.0).all()
    assert (scores_of(FsnmScore(), sparse.csr_array(X), classes)[:, 3] < 1e-6).all()


def test_outlying_rows_count_less_than_in_least_squares():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2))
    X[:, 0] += 2.0 * codes
    X[:3, 1] = -60.0  # of one option all: they make the second feature look good
    [found] = FsnmScore(0.1).score(two_options(X, codes)).rows()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = np.abs(np.linalg.lstsq(Z, codes - 0.5, rcond=None)[0])
    assert found[1] / found[0] < 0.5 * squares[1] / squares[0]


def test_too_few_iterations_are_told():
    X, classes = rows_and_classes()
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        scores_of(FsnmScore(max_iter=2, tol=1e-9), X, classes)


def test_a_penalty_of_zero_raises_an_error():
    X, classes = rows_and_classes()
    with pytest.raises(PalmetteError, match=r"lam=0: expected a positive"):
        scores_of(FsnmScore(0), X, classes)
