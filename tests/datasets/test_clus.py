from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from palmette.datasets._clus import read_clus
from palmette.exceptions import PalmetteError, ReadError
from palmette.labels._labels import NodeLabels

Write = Callable[[str, str | bytes], Path]

TREE = "@relation r\n@attribute a numeric\n@attribute class hierarchical 1,1/2,1/2/7,3,3/2\n@data\n"
DAG = (
    "@RELATION r\n@ATTRIBUTE ID string\n@ATTRIBUTE a {w,n}\n"
    "@ATTRIBUTE CLASS HIERARCHICAL root/g1, root/g2, g1/g3, g2/g3\n@DATA\n"
)


def test_whole_paths_and_most_specific_nodes_give_the_same_labels(write: Write) -> None:
    whole = read_clus(write("whole.arff", TREE + "1,1@1/2@1/2/7\n2,3\n"))
    specific = read_clus(write("specific.arff", TREE + "1,1/2/7\n2,3\n"))
    assert whole.target_form == specific.target_form == "nodes"
    assert whole.y.tolist() == specific.y.tolist() == ["1/2/7", "3"]
    assert whole.hierarchy.path_strings.tolist() == ["root", "1", "1/2", "1/2/7", "3", "3/2"]


def test_several_paths_are_sets(write: Write) -> None:
    bunch = read_clus(write("f.arff", TREE + "1,1/2@3/2\n?,3\n"))
    assert bunch.target_form == "node_sets"
    assert bunch.y == [frozenset({"1/2", "3/2"}), frozenset({"3"})]
    assert NodeLabels.encode(bunch.y, bunch.hierarchy).closed.sum(axis=1).tolist() == [5, 2]
    np.testing.assert_array_equal(bunch.X, [[1], [np.nan]])


def test_a_dag_has_its_own_root_and_bare_names(write: Write) -> None:
    bunch = read_clus(write("f.harff", DAG + "r1, w, g3@g1\nr2, ?, g2\n"))
    assert not bunch.hierarchy.is_tree
    assert bunch.hierarchy.names[0] == "root"
    assert bunch.hierarchy.n_nodes == 4
    assert bunch.y.tolist() == ["g3", "g2"]
    assert bunch.texts["ID"].tolist() == ["r1", "r2"]
    assert bunch.feature_names.tolist() == ["a"]
    assert bunch.categorical_features.tolist() == [True]
    np.testing.assert_array_equal(bunch.X, [[0], [np.nan]])


def test_two_parents_of_a_dag_are_two_paths_to_one_node(write: Write) -> None:
    bunch = read_clus(write("f.arff", DAG + "r1,w,g3\n"))
    assert bunch.target_form == "nodes"
    assert len(bunch.hierarchy.parents_of("g3")) == 2


def test_an_unlabelled_row_has_an_empty_set(write: Write) -> None:
    assert read_clus(write("f.arff", TREE + "1,?\n2,3\n")).y == [frozenset(), frozenset({"3"})]


def test_an_undeclared_class_is_an_error_with_its_line(write: Write) -> None:
    with pytest.raises(ReadError, match="'1/9' is not declared in the header") as caught:
        read_clus(write("f.arff", TREE + "1,3\n2,1@1/9\n"))
    assert caught.value.line == 6


def test_a_file_without_a_hierarchical_class_is_an_error(write: Write) -> None:
    with pytest.raises(ReadError, match="found 0 attributes of type hierarchical"):
        read_clus(write("f.arff", "@relation r\n@attribute a numeric\n@data\n1\n"))


def test_a_cycle_is_an_error(write: Write) -> None:
    text = TREE.replace("1,1/2,1/2/7,3,3/2", "root/a,a/b,b/c,c/b") + "1,a\n"
    with pytest.raises(PalmetteError, match="cycle"):
        read_clus(write("f.arff", text))
