"""HirrScore(loss="logistic") beside the objective as it is written, and a slow solver of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from tests.feature_selection.literal_hirr import centring, siblings, standardized
from tests.feature_selection.node_problems import problem, rows_and_classes, scores_of, two_options

from palmette import PalmetteError
from palmette.feature_selection._hirr import HirrScore, lambda_path

SETTINGS = [
    {"standardize": True},
    {"standardize": False},
    {"standardize": True, "parent": 0.3},
    {"standardize": False, "relative": "lam", "parent": 2.0},
    {"standardize": True, "sibling": 1.0},
    {"standardize": True, "parent": 0.3, "sibling": 0.3},
]


def literal_parts(rows, hirr, weights, centred):
    """Return the linear functions of all nodes, 0/1 targets and the values of all features."""
    parts = []
    for t, task in enumerate(rows.tasks()):
        Z = np.asarray(rows.X[task.rows])
        Z = standardized(Z) if centred else Z
        width = hirr.designs.nodes[t].y.shape[1]
        Y = np.full((len(Z), width), 0.5)  # of options that a node does not have
        Y[:, : task.n_options] = np.eye(task.n_options)[task.codes]
        W = weights[t].toarray(Z.shape[1])
        f = Z @ W
        if centred:
            f = f + intercepts(f, Y)
        parts.append((Z, Y, W, f, task.n_options))
    return parts


def intercepts(f, Y):
    """Return the intercept of every column, by bisection: the sum of residuals falls with it."""
    low, high = np.full(f.shape[1], -50.0), np.full(f.shape[1], 50.0)
    for _ in range(100):
        middle = (low + high) / 2
        rises = (Y - expit(f + middle)).sum(axis=0) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return (low + high) / 2


def literal_objective(parts, parents, lam, alpha, beta):
    value, H = 0.0, centring(len(parts[0][2]))
    for i, (_, Y, W, f, n_options) in enumerate(parts):
        losses = np.log1p(np.exp(f)) - Y * f
        value += losses[:, :n_options].sum() + (losses[:, n_options:] - np.log(2)).sum()
        value += lam[i] * np.linalg.norm(W, axis=1).sum()
        if parents[i] < 0:
            continue
        if alpha[i] > 0:
            value += alpha[i] * np.sum((W - parts[parents[i]][2]) ** 2)
        for other in siblings(i, parents) if beta[i] > 0 else ():
            V = parts[other][2]
            value += np.sqrt(beta[i] * beta[other]) * np.trace(W @ W.T @ H @ V @ V.T @ H)
    return value


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_objective_is_the_written_one_and_at_its_minimum(settings):
    X, classes = rows_and_classes(n_rows=42)
    rows = problem(X, classes)
    score = HirrScore(0.1, loss="logistic", tol=1e-7, max_iter=3000, **settings)
    hirr, maxima = score.pose(rows)
    solution = score.solve(hirr)
    assert solution.converged
    assert np.all(np.diff(solution.objective) <= 1e-9)
    lam, alpha, beta = hirr.lam / 8, np.array(hirr.ties) / 8, np.array(hirr.repulsions) / 8
    np.testing.assert_allclose(lam, 0.1 * maxima)
    parts = literal_parts(rows, hirr, solution.weights, settings["standardize"])
    value = literal_objective(parts, rows.parents, lam, alpha, beta)
    assert solution.objective[-1] == pytest.approx(value, rel=1e-9)
    # no step of a node along its gradient or to zero rows leads lower
    rng = np.random.default_rng(0)
    for t in range(len(parts)):
        for size in (1e-2, 1e-3):
            changed = list(solution.weights)
            full = parts[t][2] + size * rng.normal(size=parts[t][2].shape)
            changed[t] = type(changed[t])(np.arange(len(full)), full)
            other = literal_parts(rows, hirr, changed, settings["standardize"])
            assert literal_objective(other, rows.parents, lam, alpha, beta) > value - 1e-6


def slow_logistic(Z, Y, lam, n_steps=4000):
    """Minimize by proximal gradient steps, with an intercept."""
    W, b = np.zeros((Z.shape[1], Y.shape[1])), np.zeros(Y.shape[1])
    step = 4.0 / (np.linalg.norm(Z, 2) ** 2 + len(Z))
    for _ in range(n_steps):
        residual = Y - expit(Z @ W + b)
        W, b = W + step * Z.T @ residual, b + step * residual.sum(axis=0)
        norms = np.linalg.norm(W, axis=1, keepdims=True)
        W = W * np.maximum(1.0 - step * lam / np.maximum(norms, 1e-300), 0.0)
    return W


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_are_those_of_a_slow_solver(form):
    X, classes = rows_and_classes(n_rows=30, n_features=8)
    X, codes = np.delete(X, [3, 7], axis=1), classes % 2
    rows = two_options(form(X), codes)
    score = HirrScore(0.1, loss="logistic", standardize=True, tol=1e-11, max_iter=5000)
    hirr, maxima = score.pose(rows)
    found = score.solve(hirr).weights[0].toarray(X.shape[1])
    slow = slow_logistic(standardized(X), np.eye(2)[codes], 0.1 * maxima[0])
    np.testing.assert_allclose(found, slow, atol=1e-4)
    assert 0 < np.sum(np.abs(found).max(axis=1) > 0) < X.shape[1]


def test_sparse_equals_dense_and_weights_are_copies():
    X, classes = rows_and_classes(n_rows=42)
    X[:, 7] = X[::-1, 7]  # equal features may share their weights in any way
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    score = HirrScore(0.1, loss="logistic", standardize=True, tol=1e-7)
    full = scores_of(score, X, classes)
    np.testing.assert_allclose(scores_of(score, sparse.csr_array(X), classes), full, atol=1e-4)
    weights = 1 + np.arange(len(X)) % 2
    copies = np.repeat(np.arange(len(X)), weights)
    weighted = scores_of(score, X, classes, weights=weights.astype(float))
    np.testing.assert_allclose(weighted, scores_of(score, X[copies], classes[copies]), atol=1e-4)


def test_lambda_max_is_where_weights_begin():
    rows = problem(*rows_and_classes())
    for scaling in (True, False):
        score = HirrScore(0.99, loss="logistic", standardize=scaling, support_only=True)
        facts = score.score(rows).facts
        assert np.all(facts["n_nonzero_"] >= 1)
        np.testing.assert_allclose(facts["lam_"], 0.99 * facts["lambda_max_"])
    with pytest.raises(PalmetteError, match="lambda_max is"):
        HirrScore(1.0, loss="logistic").score(rows)
    path = lambda_path(rows, [0.9, 0.2], score=HirrScore(loss="logistic"))
    assert np.all(np.diff(path.n_nonzero, axis=0) >= 0)
    assert path.entered.max() == 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": "irls"}, "expected solver='auto' or 'bcd'"),
        ({"device": "cuda"}, "and device='cpu'"),
    ],
)
def test_what_it_cannot_be_combined_with(settings, message):
    with pytest.raises(PalmetteError, match=message):
        HirrScore(loss="logistic", **settings).score(problem(*rows_and_classes()))


def test_an_unknown_loss_is_named():
    with pytest.raises(PalmetteError, match="loss='hinge' is unknown"):
        HirrScore(loss="hinge").score(problem(*rows_and_classes()))
