"""Reading labels of several paths, and routes by nodes."""

from __future__ import annotations

import numpy as np
import pytest

from palmette import Hierarchy, NodeLabels
from palmette.base._answers import (
    NodeRoute,
    closed_on,
    labels_listed,
    lists_as_matrix,
    nodes_in,
)
from palmette.base._fitting import has_several
from palmette.decisions._decode import path_product
from palmette.labels._space import LabelSpace

TREE = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant",)])


@pytest.mark.parametrize(
    "y",
    [
        [[0, 1], [1, 2]],  # paths of numbers
        [[0, 1], [1]],
        [["0", "1"], ["1", "0"]],
        [(0, 1), (1, 0)],  # tuples always are paths
        [[("a",), ("b",)], [("a", "b"), ("c",)]],
        [[0], [1]],
        [[], []],
        [],
        [0, 1],
        np.array([[0, 1], [1, 0]]),
    ],
    ids=str,
)
def test_other_labels_are_left_alone(y):
    assert lists_as_matrix(y, None) is y


def test_lists_of_zeros_and_ones_are_a_matrix_if_they_can_be():
    y = [[0, 1, 1], [1, 0, 0]]
    assert np.array_equal(lists_as_matrix(y, None), y)
    assert np.array_equal(lists_as_matrix(y, TREE), y)  # as many as leaves
    years = Hierarchy.from_paths([(0, 1), (1, 0), (1, 1)])
    assert lists_as_matrix([[0, 1], [1, 0]], years) == [[0, 1], [1, 0]]


def test_what_asks_for_answers_by_node():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])
    assert has_several(NodeLabels.encode(["x", "a"], dag))
    assert has_several(NodeLabels.encode([{"cat", "dog"}], TREE))
    assert has_several(NodeLabels.encode([{"cat"}, set()], TREE))
    assert has_several(NodeLabels.encode(np.array([[1, 0, 0, 0, 0], [1, 1, 1, 0, 0]]), TREE))
    assert not has_several(NodeLabels.encode([{"cat", "animal"}, {"plant"}], TREE))
    assert not has_several(NodeLabels.encode([(), ("plant",)], TREE))  # a path, if an empty one


def test_labels_listed_are_names_in_order_or_the_columns():
    names, nodes = labels_listed(NodeLabels.encode([{"plant", "cat"}, {"animal"}], TREE))
    assert names.tolist() == ["animal", "cat", "plant"]
    assert TREE.names[nodes].tolist() == ["animal", "cat", "plant"]
    names, nodes = labels_listed(NodeLabels.encode([{("plant",), ("animal", "dog")}], TREE))
    assert names.tolist() == [("animal", "dog"), ("plant",)]
    names, nodes = labels_listed(NodeLabels.encode(np.array([[0, 0, 1], [0, 0, 1]]), TREE))
    assert names.tolist() == ["cat", "dog", "plant"]
    assert nodes.tolist() == TREE.leaves.tolist()


def test_labels_that_the_hierarchy_lacks_are_told_by_row():
    closed, known = closed_on(TREE, [{"cat", "wolf"}, {"dog", "plant"}, set(), {("animal", "cat")}])
    assert known.tolist() == [False, True, True, True]
    rows = [nodes.tolist() for nodes in np.split(closed.indices, closed.indptr[1:-1])]
    assert [TREE.names[row].tolist() for row in rows] == [
        ["root", "animal", "cat"],
        ["root", "animal", "dog", "plant"],
        [],
        ["root", "animal", "cat"],
    ]
    closed, known = closed_on(TREE, np.array([[0, 1, 1], [0, 0, 0]]))
    assert known.all()
    assert nodes_in(closed).tolist() == [1, 3, 4]


def test_options_share_and_a_label_takes_what_its_children_leave():
    space = LabelSpace(TREE, TREE.index(["animal", "cat", "dog", "plant"]))
    proba = np.array([[0.8, 0.3, 0.1, 0.2], [0.6, 0.6, 0.6, 0.0], [0.0] * 4])
    shares = path_product(space, NodeRoute(proba), 3)
    np.testing.assert_allclose(shares[0], [0.4, 0.3, 0.1, 0.2])
    np.testing.assert_allclose(shares[1], [0.0, 0.5, 0.5, 0.0])
    np.testing.assert_allclose(shares[2], [1 / 6, 1 / 6, 1 / 6, 0.5])
    some = NodeRoute(proba)(0, np.array([1, 4], dtype=np.int32), np.array([2, 0], dtype=np.int32))
    np.testing.assert_allclose(some, [[0.5, 0.5], [0.8, 0.2]])
