"""Reference implementation of the equations of the HiRR-FS paper, with corrections.

Equation numbers are those of the paper. Corrections: D of a row of length 0 is not eps but
1 / (2 eps) (Equation 3). Equations 12 and 25 lose the children's term: "paper" leaves it out.
"""

from __future__ import annotations

import numpy as np

from palmette.feature_selection._base import ScoringProblem

__all__ = ["data", "literal_objective", "literal_ridge", "literal_sweep", "standardized"]

EPS = 1e-8


def data(problem: ScoringProblem, standardize: bool = False):
    """Rows of every node with d columns of indicators, d the largest number of options."""
    d = max(task.n_options for task in problem.tasks())
    Xs, Ys = [], []
    for task in problem.tasks():
        X, Y = np.asarray(problem.X[task.rows]), np.zeros((len(task.rows), d))
        Y[np.arange(len(Y)), task.codes] = 1
        if standardize:
            X, Y = standardized(X), Y - Y.mean(axis=0)
        Xs.append(X)
        Ys.append(Y)
    return Xs, Ys


def standardized(X):
    deviation = X.std(axis=0)
    flat = deviation < 1e-10
    return np.where(flat, 0, (X - X.mean(axis=0)) / np.where(flat, 1, deviation))


def centring(n):
    return np.eye(n) - np.ones((n, n)) / n


def literal_objective(Xs, Ys, Ws, parents, lams, alpha, beta):
    """Equation 20, with Equation 13 for HSIC; alpha and beta may be arrays, one value per node."""
    value, H = 0.0, centring(len(Ws[0]))
    alpha, beta = (np.broadcast_to(each, len(Ws)) for each in (alpha, beta))
    for i, (X, Y, W) in enumerate(zip(Xs, Ys, Ws, strict=True)):
        value += np.linalg.norm(X @ W - Y) ** 2 + lams[i] * np.linalg.norm(W, axis=1).sum()
        if parents[i] < 0:
            continue
        value += alpha[i] * np.linalg.norm(W - Ws[parents[i]]) ** 2
        for other in siblings(i, parents):
            strength = np.sqrt(beta[i] * beta[other])
            value += strength * np.trace(W @ W.T @ H @ Ws[other] @ Ws[other].T @ H)
    return value


def siblings(i, parents):
    same = [j for j, parent in enumerate(parents) if parent == parents[i]]
    return [j for j in same if j != i and parents[i] >= 0]


def literal_sweep(Xs, Ys, Ws, parents, lams, alpha, beta, coupling):
    """Equations 10 and 25 at every node in turn, with the newest weights; return new ones."""
    Ws, n = list(Ws), len(Ws[0])
    alpha, beta = (np.broadcast_to(each, len(Ws)) for each in (alpha, beta))
    H = centring(n)
    for i, (X, Y) in enumerate(zip(Xs, Ys, strict=True)):
        D = np.diag(1 / (2 * np.maximum(np.linalg.norm(Ws[i], axis=1), EPS)))
        near = [j for j, parent in enumerate(parents) if parent == i]
        if parents[i] >= 0:
            near = [parents[i]] if coupling == "paper" else [parents[i], *near]
        ties = {j: alpha[i] if j == parents[i] else alpha[j] for j in near}
        U = np.zeros((n, n))
        for other in siblings(i, parents):
            U += np.sqrt(beta[i] * beta[other]) * H @ Ws[other] @ Ws[other].T @ H
        matrix = X.T @ X + lams[i] * D + sum(ties.values()) * np.eye(n) + U + U.T
        Ws[i] = np.linalg.inv(matrix) @ (X.T @ Y + sum(ties[j] * Ws[j] for j in near))
    return Ws


def literal_ridge(Xs, Ys, lams):
    n = Xs[0].shape[1]
    return [
        np.linalg.inv(X.T @ X + lam * np.eye(n)) @ X.T @ Y
        for X, Y, lam in zip(Xs, Ys, lams, strict=True)
    ]
