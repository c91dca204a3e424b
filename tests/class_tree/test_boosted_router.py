"""BoostedRouter: which problems it solves, and what its scores are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from tests.class_tree.routing_literal import diamond
from tests.class_tree.routing_problems import blobs, problem_of

from palmette.base._fitting import Threads
from palmette.class_tree._boosted_router import BoostedRouter
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

# two options at the root, three and one below
TREE = Hierarchy.from_paths([("g", "a"), ("g", "b"), ("g", "c"), ("h", "only")])


def scores_at(routes, X, node, n_options, rows=None):
    rows = np.arange(len(X)) if rows is None else rows
    nodes = np.full(len(rows), node, dtype=np.int32)
    starts = np.arange(len(rows) + 1, dtype=np.int64) * n_options
    return routes.score(X, rows, nodes, starts).reshape(len(rows), n_options)


def trained(hierarchy=TREE, seed=3, n_estimators=8, data=None, **others):
    X, codes = blobs(4, spread=1.0) if data is None else data
    problem = problem_of(hierarchy, X, codes, seed=seed, **others)
    return BoostedRouter(n_estimators).train(problem), X


def same(one, other, X, table=((0, 2), (1, 3), (2, 1))):
    return all(
        np.array_equal(*(scores_at(each, each.prepare(X), *node) for each in (one, other)))
        for node in table
    )


def test_two_options_need_one_model_and_others_one_each():
    routes, X = trained()
    assert {node: len(models) for node, models in routes.models.items()} == {0: 1, 1: 3}
    codes = routes.prepare(X)
    assert np.array_equal(scores_at(routes, codes, 2, 1), np.zeros((len(X), 1)))


def test_options_that_share_a_class_are_each_told_from_the_rest():
    X, codes = blobs(4)
    problem = problem_of(diamond(), X, codes, seed=0)
    routes = BoostedRouter(10).train(problem)
    below = problem.table.below[: problem.table.sizes[0]].toarray().astype(bool)
    assert len(routes.models[0]) == len(below)
    for model, reached in zip(routes.models[0], below, strict=True):
        assert np.array_equal(model.scores(routes.prepare(X)) > 0, reached[codes])


def test_scores_are_logarithms_of_shares():
    routes, X = trained()
    codes = routes.prepare(X)
    two = routes.models[0][0].scores(codes)
    share = 1 / (1 + np.exp(-4.0 * two))
    expected = np.log(np.column_stack([share, 1 - share]))
    np.testing.assert_allclose(scores_at(routes, codes, 0, 2), expected, rtol=1e-9)
    three = np.column_stack([model.scores(codes) for model in routes.models[1]])
    shares = 1 / (1 + np.exp(-4.0 * three))
    expected = np.log(shares / shares.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(scores_at(routes, codes, 1, 3), expected, rtol=1e-9)
    assert routes.are_log_proba


def test_rows_are_asked_in_any_order_and_number():
    routes, X = trained()
    codes, rows = routes.prepare(X), np.array([5, 2, 2, 40])
    everything = scores_at(routes, codes, 1, 3)
    assert np.array_equal(scores_at(routes, codes, 1, 3, rows), everything[rows])


def test_stages_are_shorter_fits():
    routes, X = trained()
    codes, numbers = routes.prepare(X), np.arange(len(X))[:, None]
    stages = list(routes.stages(codes))
    assert len(stages) == routes.n_rounds == 8
    shorter, _ = trained(n_estimators=3)
    for staged, whole in ((stages[-1], routes), (stages[2], shorter)):
        for node, n_options in ((0, 2), (1, 3), (2, 1)):
            found = scores_at(staged, staged.prepare(numbers), node, n_options)
            assert np.array_equal(found, scores_at(whole, codes, node, n_options))
    part = stages[-1].prepare(numbers[10:20])
    assert np.array_equal(scores_at(stages[-1], part, 0, 2), scores_at(routes, codes, 0, 2)[10:20])


def test_threads_change_nothing_and_seeds_do():
    routes, X = trained()
    with Threads(3) as threads:
        assert same(routes, trained(run=threads.map)[0], X)
    assert not same(routes, trained(seed=4)[0], X)


def test_a_node_does_not_know_of_the_others():
    """The rows of other branches may be anything."""
    routes, _ = trained()
    data, codes = blobs(4, spread=1.0)
    only = codes == np.flatnonzero(TREE.names[TREE.leaves] == "only")[0]
    data[only] = data[only][::-1]
    again = BoostedRouter(8).train(problem_of(TREE, data, codes, seed=3))
    assert np.array_equal(routes.models[1][0].coefficients, again.models[1][0].coefficients)
    assert not np.array_equal(routes.models[1][0].coefficients, routes.models[1][1].coefficients)


def test_a_weight_of_k_is_k_copies():
    X, codes = blobs(4, spread=1.0)
    times = np.random.default_rng(0).integers(1, 4, len(X))
    copies = np.repeat(np.arange(len(X)), times)
    weighted, _ = trained(data=(X, codes), weights=times.astype(float))
    repeated, _ = trained(data=(X[copies], codes[copies]))
    one, other = (scores_at(each, each.prepare(X), 1, 3) for each in (weighted, repeated))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_sparse_rows_are_dense_rows():
    X, codes = blobs(4)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    dense, _ = trained(data=(X, codes))
    thin, _ = trained(data=(sparse.csr_array(X), codes))
    assert np.array_equal(dense.prepare(X), thin.prepare(sparse.csr_array(X)))
    assert same(dense, thin, X)


def test_routes_are_kept_in_files():
    routes, X = trained()
    assert same(routes, pickle.loads(pickle.dumps(routes)), X)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"n_estimators": 2.5}, "n_estimators=2.5"),
        ({"sharpness": 0.0}, "sharpness=0.0"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"max_features": "log"}, "max_features='log'"),
        ({"resample": 2.0}, "resample=2.0"),
        ({"max_bins": 1}, "max_bins=1"),
    ],
)
def test_parameters_that_cannot_be_are_refused_by_name(parameters, told):
    X, codes = blobs(4)
    with pytest.raises(PalmetteError, match=told):
        BoostedRouter(**parameters).train(problem_of(TREE, X, codes))
