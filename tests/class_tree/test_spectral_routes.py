from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.class_tree.routing_literal import random_hierarchy
from tests.class_tree.routing_problems import blobs, problem_of
from tests.persistence.round_trips import again

from palmette.class_tree import MFTreeClassifier
from palmette.class_tree import _routers as module
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.routing import SpectralRouter

N_CLASSES = 9


def centred_kernel(X):
    n = len(X)
    H = np.eye(n) - 1.0 / n
    return H @ X @ X.T @ H


def literal_projections(problem, node, X):
    """Return the projections of Y'Hk(x) on eigenvectors of D = Y'HKHY over a node's classes."""
    classes, within = problem.table.family(node)
    Y = (problem.codes[:, None] == classes).astype(float)
    values, vectors = np.linalg.eigh(Y.T @ centred_kernel(problem.X) @ Y)
    centred = problem.X - problem.X.mean(axis=0)
    products = Y.T @ centred @ X.T  # k(x), centred over the training rows
    return values[::-1], vectors[:, ::-1], products, within.toarray()


@pytest.fixture(scope="module")
def problem():
    X, codes = blobs(N_CLASSES, n_features=12)
    return problem_of(random_hierarchy(np.random.default_rng(3), N_CLASSES), X, codes)


def test_projections_are_those_of_the_explicit_kernel(problem):
    routes = SpectralRouter().train(problem)
    for node in range(problem.table.n_nodes):
        _, vectors, products, within = literal_projections(problem, node, problem.X)
        n_options = len(within)
        leading = np.abs(vectors[:, :n_options].T @ products)  # signs are ours to choose
        lanes = slice(routes.first_lane[node], routes.first_lane[node + 1])
        ours = np.abs(routes.coef[lanes].toarray() @ problem.X.T)
        # a lane projects on one of the leading eigenvectors each, no two on the same
        gaps = np.abs(ours[:, None] - leading[None]).max(axis=2) / leading.max()
        assert sorted(gaps.argmin(axis=1)) == list(range(n_options))
        assert gaps.min(axis=1).max() < 1e-10


def test_an_option_has_the_eigenvector_with_most_of_its_classes(problem):
    routes = SpectralRouter().train(problem)
    _, vectors, _, within = literal_projections(problem, 0, problem.X)
    held = within @ np.abs(vectors[:, : len(within)])
    lanes = routes.coef[routes.first_lane[0] : routes.first_lane[1]].toarray()
    sums = np.array([problem.X[problem.codes == k].sum(axis=0) for k in range(N_CLASSES)])
    centred = sums - np.outer(np.bincount(problem.codes), problem.X.mean(axis=0))
    found = [
        np.linalg.norm(np.abs(vectors.T @ centred) - np.abs(w), axis=1).argmin() for w in lanes
    ]
    total = sum(held[option, vector] for option, vector in enumerate(found))
    from itertools import permutations

    n = len(within)
    best = max(sum(held[k, order[k]] for k in range(n)) for order in permutations(range(n)))
    assert total == pytest.approx(best)


def test_one_hot_adds_up_the_kernel_over_the_options_classes(problem):
    routes = SpectralRouter(one_hot=True).train(problem)
    for node in range(problem.table.n_nodes):
        _, _, products, within = literal_projections(problem, node, problem.X)
        lanes = slice(routes.first_lane[node], routes.first_lane[node + 1])
        ours = routes.coef[lanes].toarray() @ problem.X.T
        np.testing.assert_allclose(ours, within @ products, rtol=1e-10, atol=1e-8)


def test_a_few_eigenvectors_are_those_of_all(problem, monkeypatch):
    whole = SpectralRouter().train(problem).coef.toarray()
    monkeypatch.setattr(module, "_DENSE_CLASSES", 0)
    few = SpectralRouter().train(problem).coef.toarray()
    np.testing.assert_allclose(few, whole, atol=1e-8 * np.abs(whole).max())


def test_sparse_rows_are_dense_rows(problem):
    X = problem.X * (np.abs(problem.X) > 1)
    dense = SpectralRouter().train(problem_of_same(problem, X)).coef.toarray()
    by_sparse = SpectralRouter().train(problem_of_same(problem, sparse.csr_array(X))).coef
    np.testing.assert_allclose(by_sparse.toarray(), dense, atol=1e-8 * np.abs(dense).max())


def problem_of_same(problem, X):
    from palmette.routing import RoutingProblem

    return RoutingProblem(X, problem.codes, problem.table)


def test_scores_are_shares(problem):
    routes = SpectralRouter().train(problem)
    n = int(problem.table.sizes[0])
    rows, nodes = np.arange(5), np.zeros(5, dtype=np.int32)
    scores = routes.score(routes.prepare(problem.X), rows, nodes, np.arange(6) * n)
    np.testing.assert_allclose(np.exp(scores).reshape(5, n).sum(axis=1), 1.0)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_classes_that_are_all_equal_give_finite_weights(value):
    codes = np.repeat(np.arange(4, dtype=np.int32), 3)
    star = Hierarchy.star(list("abcd"))
    routes = SpectralRouter().train(problem_of(star, np.full((12, 2), value), codes))
    assert np.isfinite(routes.weights).all()


def test_models_that_decide_by_projections_are_saved():
    """At a node with two options there are two projections, where other routers have one."""
    X, codes = blobs(N_CLASSES, n_features=12)
    model = MFTreeClassifier.preset("published").fit(X, codes)
    assert 2 in model.options_.sizes
    assert np.array_equal(again(model).predict_proba(X), model.predict_proba(X))
