"""One sweep against the equations as they are written, with inverses and all."""

from __future__ import annotations

import numpy as np
import pytest

from papers.hirr_fs.authors import MatlabStream, Parity, authors_order, authors_weights


def literal_sweep(X, tasks, stream, parent, sibling, lam=10.0):
    """Update the root and its children once, by Equations 23 and 25 as the authors run them."""
    n, width = X.shape[1], max(task.n_options for task in tasks)
    W = [None] * len(tasks)
    for t in (*range(1, len(tasks)), 0):
        W[t] = stream.matrix(n, width)
    D = [np.diag(0.5 / np.maximum(np.linalg.norm(w, axis=1), 1e-8)) for w in W]
    H = np.eye(n) - np.ones((n, n)) / n
    for t, task in enumerate(tasks):
        A, Y = X[task.rows], np.zeros((len(task.rows), width))
        Y[np.arange(len(task.rows)), task.codes] = 1.0
        matrix, right = A.T @ A + lam * D[t], A.T @ Y
        if t == 0 and sibling > 0:
            matrix = matrix + parent * (len(tasks) - 1) * np.eye(n)
            right = right + parent * sum(W[1:])
        if t > 0:
            U = sum(H @ W[s] @ W[s].T @ H for s in range(1, len(tasks)) if s != t)
            matrix = matrix + parent * np.eye(n) + sibling * (U + U.T)
            right = right + parent * W[0]
        W[t] = np.linalg.inv(matrix) @ right
    return W, H


@pytest.mark.parametrize("ties", [(0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (1.0, 2.0)])
def test_a_sweep_is_that_of_the_equations(problem, ties):
    parity = Parity(problem)
    X, tasks = problem.X_train, parity.tasks
    found = authors_weights(X, tasks, MatlabStream(), parent=ties[0], sibling=ties[1], sweeps=1)
    W, H = literal_sweep(X, tasks, MatlabStream(), *ties)
    for ours, theirs in zip(found.weights, W, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
    value = 0.0
    for t, task in enumerate(tasks):
        Y = np.eye(W[0].shape[1])[task.codes]
        value += np.sum((X[task.rows] @ W[t] - Y) ** 2) + 10 * np.linalg.norm(W[t], axis=1).sum()
        if t > 0:
            value += ties[0] * np.sum((W[t] - W[0]) ** 2)
            for s in range(1, len(tasks)):
                if s != t:
                    value += ties[1] * np.trace(W[t] @ W[t].T @ H @ W[s] @ W[s].T @ H)
    assert found.objective == [pytest.approx(value, rel=1e-9)]


def test_the_root_is_not_coupled_without_siblings(problem):
    parity = Parity(problem)
    plain, with_parents = (parity.sweep(parent, 0.0).weights for parent in (0.0, 1.0))
    np.testing.assert_array_equal(plain[0], with_parents[0])
    assert not np.allclose(plain[1], with_parents[1])


def test_features_of_equal_length_stay_in_order():
    weights = np.array([[1.0, 9.0], [2.0, 0.0], [-1.0, 0.0], [3.0, 0.0]])
    assert authors_order(weights, 1).tolist() == [3, 1, 0, 2]
