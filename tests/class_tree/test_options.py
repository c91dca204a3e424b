from __future__ import annotations

import numpy as np
import pytest
from tests.class_tree.routing_literal import all_paths, diamond, random_hierarchy, table_of

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.routing import OptionTable


def test_an_inner_label_is_an_option_of_its_own():
    h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    labels = np.sort(h.index([("a",), ("a", "x"), ("b",)]))
    table = OptionTable.of(h, labels)
    names = [h.path_strings[node] for node in labels]
    assert table.n_nodes == 2
    assert [names[k] for k in table.ends if k >= 0] == ["b", "a", "a/x"]
    assert table.below.toarray().astype(int).tolist() == [
        [1, 1, 0],
        [0, 0, 1],
        [1, 0, 0],
        [0, 1, 0],
    ]


def test_nodes_without_a_label_are_left_out():
    h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])
    table = OptionTable.of(h, np.sort(h.index([("a", "x"), ("a", "y")])))
    assert table.sizes.tolist() == [1, 2]
    assert table.n_classes == 2


def test_an_option_of_a_dag_reaches_what_others_reach_too():
    h = diamond()
    table = table_of(h)
    names = h.names[h.leaves]
    below = {
        (h.names[table.nodes[node]], tuple(sorted(names[classes])))
        for node in range(table.n_nodes)
        for classes in [table.family(node)[0]]
    }
    assert below == {
        ("r", ("w", "x", "y", "z")),
        ("a", ("x", "y", "z")),
        ("b", ("w", "x", "y", "z")),
        ("c", ("y", "z")),
    }


@pytest.mark.parametrize("dag", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_below_are_the_ends_of_all_paths(seed, dag):
    table = table_of(random_hierarchy(np.random.default_rng(seed), 12, dag=dag))
    expected = np.zeros((table.n_options, table.n_classes), dtype=bool)
    for label, options in all_paths(table):
        expected[options, label] = True
    assert np.array_equal(table.below.toarray().astype(bool), expected)
    for node in range(table.n_nodes):
        classes, within = table.family(node)
        rows = expected[table.first[node] : table.first[node + 1]]
        assert np.array_equal(classes, np.flatnonzero(rows.any(axis=0)))
        assert np.array_equal(within.toarray().astype(bool), rows[:, classes])
