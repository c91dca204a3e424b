from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.class_tree.routing_literal import (
    GivenScores,
    all_paths,
    diamond,
    random_hierarchy,
    table_of,
)

from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._routing import RoutingProblem
from palmette.class_tree._search import best_labels, class_scores

N_ROWS = 20


@pytest.fixture(params=[(seed, dag) for seed in range(6) for dag in (False, True)], ids=str)
def case(request):
    seed, dag = request.param
    rng = np.random.default_rng(seed)
    table = table_of(random_hierarchy(rng, 14, dag=dag))
    return table, GivenScores(table, -rng.gamma(1.0, size=(N_ROWS, table.n_options)))


def by_all_paths(table, scores):
    """Return the best sum over the paths to every class."""
    best = np.full((N_ROWS, table.n_classes), -np.inf)
    for label, options in all_paths(table):
        best[:, label] = np.maximum(best[:, label], scores[:, options].sum(axis=1))
    return best


def test_class_scores_are_those_of_the_best_paths(case):
    table, routes = case
    expected = by_all_paths(table, routes.scores)
    np.testing.assert_allclose(class_scores(table, routes, None, N_ROWS), expected, rtol=1e-12)


def test_a_beam_as_wide_as_the_classes_is_exact(case):
    table, routes = case
    # paths that meet in a DAG take no second place, but groups on the way do
    labels, values = best_labels(table, routes, None, N_ROWS, table.n_options)
    expected = by_all_paths(table, routes.scores)
    n = table.n_classes
    assert np.array_equal(labels[:, :n], np.argsort(-expected, axis=1, kind="stable"))
    np.testing.assert_allclose(values[:, :n], -np.sort(-expected, axis=1), rtol=1e-12)
    assert (labels[:, n:] == -1).all()
    assert np.isneginf(values[:, n:]).all()


def test_a_beam_of_one_takes_the_best_option_of_every_node(case):
    table, routes = case
    labels, values = best_labels(table, routes, None, N_ROWS, 1)
    for row in range(N_ROWS):
        node, total = 0, 0.0
        while True:
            options = slice(table.first[node], table.first[node + 1])
            option = table.first[node] + routes.scores[row, options].argmax()
            total += routes.scores[row, option]
            if table.ends[option] >= 0:
                break
            node = table.targets[option]
        assert labels[row, 0] == table.ends[option]
        assert values[row, 0] == pytest.approx(total)


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_a_beam_keeps_the_best_of_what_it_reached(case, width):
    table, routes = case
    labels, values = best_labels(table, routes, None, N_ROWS, width)
    for row in range(N_ROWS):
        assert list(zip(*literal_beam(table, routes.scores[row], width), strict=True)) == [
            (label, pytest.approx(value))
            for label, value in zip(labels[row], values[row], strict=True)
            if label >= 0
        ]


def literal_beam(table, scores, width):
    """Extend every path by every option, level by level, and keep the best distinct paths."""
    paths = [(0.0, 0, -1)]
    while any(label < 0 for _, _, label in paths):
        found = {}
        for value, node, label in paths:
            if label >= 0:
                options = [(value, -1, label)]
            else:
                at = range(table.first[node], table.first[node + 1])
                options = [(value + scores[k], table.targets[k], table.ends[k]) for k in at]
            for total, target, end in options:
                found[target, end] = max(total, found.get((target, end), -np.inf))
        ranked = sorted(found.items(), key=lambda item: -item[1])[:width]
        paths = [(value, target, end) for (target, end), value in ranked]
    return [label for _, _, label in paths], [value for value, _, _ in paths]


def test_a_narrow_beam_asks_only_the_nodes_on_its_way(case):
    table, routes = case
    routes.n_asked = 0
    best_labels(table, routes, None, N_ROWS, 1)
    longest = max(len(options) for _, options in all_paths(table))
    assert routes.n_asked <= N_ROWS * longest


def test_of_equal_paths_the_first_stays_ahead():
    table = table_of(diamond())
    routes = GivenScores(table, np.zeros((N_ROWS, table.n_options)))
    labels, _ = best_labels(table, routes, None, N_ROWS, 1)
    assert len(np.unique(labels)) == 1


class StepByStep:
    """Linear routes that only give scores, so that Python makes every step of the search."""

    def __init__(self, routes):
        self.routes = routes

    def follow(self, X, table, width):
        return None

    def score(self, X, rows, nodes, starts):
        return self.routes.score(X, rows, nodes, starts)


@pytest.mark.parametrize("prune", [0.0, 0.05])
@pytest.mark.parametrize("dag", [False, True])
@pytest.mark.parametrize("form", [sparse.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])
def test_the_search_of_linear_routes_makes_the_same_steps(prune, dag, form):
    rng = np.random.default_rng(3)
    table = table_of(random_hierarchy(rng, 14, dag=dag))
    X = sparse.random_array((90, 60), density=0.2, random_state=rng, format="csr")
    X = sparse.csr_array(sparse.vstack([X[:80], X[:10] * 0.0]))
    routes = LinearRouter(prune=prune).train(RoutingProblem(X, np.arange(90) % 14, table))
    assert (routes.lanes is None) == (prune == 0 and table.sizes.max() <= 16)
    for n_rows in (1, 3, 90):  # few rows search the features of a node, many use a table
        rows = routes.prepare(form(X[:n_rows]))
        for width in (1, 3, 20):
            labels, values = best_labels(table, routes, rows, n_rows, width)
            slow_labels, slow = best_labels(table, StepByStep(routes), rows, n_rows, width)
            assert np.array_equal(labels, slow_labels)
            assert np.array_equal(values, slow)
