"""How hard the nodes of a learned tree are to divide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.compare import Problem, learn_tree
from palmette.compare._node_complexity import measure_nodes
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import node_complexity


@pytest.fixture
def clouds():
    """Six classes of 30 rows each, whose names are numbers, two of them mixed."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(6), 30)
    X = rng.normal(size=(180, 3)) + 6.0 * np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0],
                                                    [0, 2, 0], [0, 2, 1]])[codes]  # fmt: skip
    names = [50, 40, 30, 20, 10, 0]
    return Problem("clouds", Hierarchy.star(names), X, [names[code] for code in codes])


def test_all_rows_give_the_measures_of_node_complexity(clouds):
    learned = learn_tree(clouds, "agglomerative")
    found = measure_nodes(clouds, learned)
    tree = learned.hierarchy
    expected = node_complexity(clouds.X_train, clouds.y_train, tree)
    assert {each.node for each in found.nodes} == {str(tree.names[node]) for node in expected}
    for node, complexity in expected.items():
        each = next(each for each in found.nodes if each.node == str(tree.names[node]))
        assert each.boundary_share == complexity.boundary_share
        assert each.fisher_ratio == pytest.approx(complexity.fisher_ratio)
        assert sum(each.n_rows) == each.n_measured == complexity.n_rows
    assert set(found.nodes[0].sides) == {"50", "40"}  # the mixed ones are the hardest
    assert found.n_drawn == found.n_small == 0


def test_rows_and_nodes_are_bounded(clouds):
    learned = learn_tree(clouds, "agglomerative")
    found = measure_nodes(clouds, learned, max_rows=40, max_nodes=2)
    assert len(found.nodes) == 2
    assert found.n_nodes == 5
    assert all(each.n_measured <= 44 for each in found.nodes)
    assert found.n_drawn == 2
    assert max(sum(each.n_rows) for each in found.nodes) == 180  # those with the most rows
    again = measure_nodes(clouds, learned, max_rows=40, max_nodes=2)
    assert again == found


def test_sides_are_bounded(clouds):
    learned = learn_tree(clouds, "random", parameters={"branching": 6})
    found = measure_nodes(clouds, learned, max_sides=3)
    assert found.n_wide == 1
    assert len(found.nodes[0].sides) == len(found.nodes[0].n_rows) == 3


def test_small_nodes_are_left_out_unless_all_are_small(clouds):
    learned = learn_tree(clouds, "agglomerative")
    assert measure_nodes(clouds, learned, min_rows=100).n_small > 0
    assert len(measure_nodes(clouds, learned, min_rows=1000).nodes) == 5


def test_sparse_rows_of_many_columns(clouds):
    wide = sparse.csr_array(np.hstack([np.zeros((180, 500)), np.abs(clouds.X_train)]))
    problem = Problem("wide", clouds.hierarchy, wide, clouds.y_train)
    learned = learn_tree(problem, "agglomerative")
    assert len(measure_nodes(problem, learned).nodes) == 5


def test_rows_with_labels_on_several_sides_are_left_out():
    X = np.arange(12.0)[:, None]
    y = [{"a"}] * 4 + [{"b"}] * 4 + [{"a", "b"}] * 4
    problem = Problem("sets", Hierarchy.star(["a", "b"]), X, y)
    found = measure_nodes(problem, learn_tree(problem, "agglomerative"))
    assert found.overlap
    assert found.nodes[0].n_rows == [4, 4]


def test_a_dag_is_not_measured(clouds):
    parameters = {"rho": 0.0, "max_copies": 3.0}
    learned = learn_tree(clouds, "relaxed", parameters=parameters)
    assert not learned.hierarchy.is_tree
    assert measure_nodes(clouds, learned) is None


def test_numbers_are_those_of_json(clouds):
    facts = measure_nodes(clouds, learn_tree(clouds, "bhc")).to_dict()
    assert facts["n_measured"] == len(facts["nodes"]) == 5
    assert set(facts["nodes"][0]) == {
        *("node", "sides", "n_rows", "n_measured", "boundary_share", "fisher_ratio")
    }
