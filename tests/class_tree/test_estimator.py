from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.class_tree.routing_literal import diamond
from tests.class_tree.routing_problems import blobs, problem_of

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.routing import EstimatorRouter

TREE = Hierarchy.from_paths([("g", "a"), ("g", "b"), ("c",)])


def scores_at(routes, node, X, n_options):
    nodes = np.full(len(X), node, dtype=np.int32)
    starts = np.arange(len(X) + 1, dtype=np.int64) * n_options
    return routes.score(routes.prepare(X), np.arange(len(X)), nodes, starts).reshape(len(X), -1)


def test_every_node_has_a_clone_of_its_own():
    X, codes = blobs(3)
    problem = problem_of(TREE, X, codes)
    routes = EstimatorRouter(GaussianNB()).train(problem)
    option = problem.table.below[:2].toarray().argmax(axis=0)[codes]
    expected = GaussianNB().fit(X, option).predict_log_proba(X)
    np.testing.assert_allclose(scores_at(routes, 0, X, 2), expected, atol=1e-6)
    in_group = np.isin(codes, problem.table.family(1)[0])
    inner = GaussianNB().fit(X[in_group], codes[in_group]).predict_log_proba(X)
    np.testing.assert_allclose(scores_at(routes, 1, X, 2), inner, atol=1e-6)
    assert routes.are_log_proba


def test_rows_of_a_class_below_two_options_are_shown_for_both():
    X, codes = blobs(4)
    problem = problem_of(diamond(), X, codes)
    routes = EstimatorRouter(GaussianNB()).train(problem)
    below = problem.table.below[: problem.table.sizes[0]].toarray().astype(bool)
    option, row = np.nonzero(below[:, codes])
    expected = GaussianNB().fit(X[row], option).predict_log_proba(X)
    np.testing.assert_allclose(scores_at(routes, 0, X, len(below)), expected, atol=1e-6)


@pytest.mark.parametrize("estimator", [RidgeClassifier(), Perceptron()])
def test_margins_score_by_what_they_lack(estimator):
    X, codes = blobs(2)
    routes = EstimatorRouter(estimator).train(problem_of(Hierarchy.star(["a", "b"]), X, codes))
    margins = routes.estimators[0].decision_function(X)
    expected = -(np.maximum(0.0, 1.0 - np.column_stack([-margins, margins])) ** 2)
    assert np.array_equal(scores_at(routes, 0, X, 2), expected)
    assert not routes.are_log_proba


def test_weights_reach_the_estimators():
    X, codes = blobs(3)
    weights = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    copies = np.repeat(np.arange(len(X)), weights.astype(int))
    router = EstimatorRouter(GaussianNB())
    weighted = router.train(problem_of(TREE, X, codes, weights=weights))
    copied = router.train(problem_of(TREE, X[copies], codes[copies]))
    one, other = scores_at(weighted, 0, X, 2), scores_at(copied, 0, X, 2)
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_weights_that_an_estimator_does_not_take_are_refused():
    X, codes = blobs(3)
    problem = problem_of(TREE, X, codes, weights=np.ones(len(X)))
    with pytest.raises(PalmetteError, match=r"KNeighborsClassifier\.fit does not accept it"):
        EstimatorRouter(KNeighborsClassifier()).train(problem)


def test_seeds_are_drawn_for_every_node():
    X, codes = blobs(3)
    router = EstimatorRouter(DecisionTreeClassifier(max_features=1))
    routes = router.train(problem_of(TREE, X, codes, seed=3))
    seeds = [each.random_state for each in routes.estimators.values()]
    assert len(set(seeds)) == 2
    again = router.train(problem_of(TREE, X, codes, seed=3))
    assert [each.random_state for each in again.estimators.values()] == seeds
    free = router.train(problem_of(TREE, X, codes))
    assert {each.random_state for each in free.estimators.values()} == {None}


def test_says_whether_sparse_rows_will_do():
    assert EstimatorRouter(Perceptron()).takes_sparse
    assert not EstimatorRouter(GaussianNB()).takes_sparse
