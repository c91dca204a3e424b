"""Which node is meant by each column of a 0/1 matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

PETS = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
NUMBERED = Hierarchy.from_paths([("odd", 1), ("odd", 3), ("even", 0), ("even", 2)])


def nodes(y, hierarchy=PETS):
    labels = NodeLabels.encode(y, hierarchy)
    return [
        labels.hierarchy.path_strings[row].tolist()
        for row in np.split(labels.given.indices, labels.given.indptr[1:-1])
    ]


def test_the_width_tells_the_columns():
    assert nodes(np.eye(6)[[0, 2]]) == [["root"], ["animal/cat"]]
    assert nodes(np.eye(5)[[0, 2]]) == [["animal"], ["animal/dog"]]
    assert nodes(np.eye(3)[[0, 2]]) == [["animal/cat"], ["plant/oak"]]
    assert nodes(sparse.coo_array(np.eye(3, dtype=bool))) == [
        ["animal/cat"],
        ["animal/dog"],
        ["plant/oak"],
    ]


def test_names_of_columns_go_before_the_width():
    y = pd.DataFrame([[1, 0, 0], [0, 1, 1]], columns=["oak", "animal/cat", "plant"])
    assert nodes(y) == [["plant/oak"], ["animal/cat", "plant"]]
    y = pd.DataFrame([[1, 0]], columns=["oak", "dog"])  # some nodes only
    assert nodes(y) == [["plant/oak"]]
    y = pd.DataFrame(
        [[1, 0]], columns=pd.MultiIndex.from_tuples([("animal", "cat"), ("plant", "oak")])
    )
    assert nodes(y) == [["animal/cat"]]


def test_other_names_of_columns_leave_it_to_the_width():
    y = pd.DataFrame([[1, 0, 0]], columns=["y0", "y1", "y2"])
    assert nodes(y) == [["animal/cat"]]


def test_running_numbers_are_no_names_but_chosen_numbers_are():
    array = np.array([[1, 0, 0, 0]])
    assert nodes(array, NUMBERED) == [["odd/1"]]
    assert nodes(pd.DataFrame(array), NUMBERED) == [["odd/1"]]
    assert nodes(pd.get_dummies(pd.Series([0, 3, 1, 2])), NUMBERED)[:2] == [["even/0"], ["odd/3"]]


def test_zeros_and_ones_that_cannot_be_columns_are_names():
    h = Hierarchy.from_paths([(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)])
    y = np.array([[0, 1], [1, 0]])
    assert nodes(y, h) == [["0/1"], ["1/0"]]
    assert NodeLabels.encode(y).form.kind == "indicator"


def test_without_a_hierarchy_columns_are_classes():
    assert NodeLabels.encode(np.eye(3)).hierarchy == Hierarchy.star([0, 1, 2])
    y = pd.DataFrame([[1, 0]], columns=["x", "y"])
    assert NodeLabels.encode(y).hierarchy == Hierarchy.star(["x", "y"])


def test_stored_zeros_and_repeats_are_no_labels_of_their_own():
    y = sparse.csr_array((np.array([0, 1, 1]), ([0, 0, 1], [0, 1, 2])), shape=(2, 3))
    assert y.nnz == 3
    assert nodes(y) == [["animal/dog"], ["plant/oak"]]
    repeated = sparse.csr_array(([1, 1], [1, 1], [0, 2, 2]), shape=(2, 3))
    assert nodes(repeated) == [["animal/dog"], []]
    assert repeated.nnz == 2  # as it came


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            np.ones((2, 4), dtype=bool),
            r"has 4 columns: expected 6 \(all nodes\), 5 .* or 3 \(leaves\)",
        ),
        (sparse.csr_array(np.ones((2, 7))), "has 7 columns"),
        (sparse.csr_array(np.full((2, 3), 2)), "contains 2: expected 0 and 1 only"),
        (sparse.csr_array(np.full((2, 3), 0.5)), "contains 0.5"),
        (sparse.csr_array(np.full((2, 3), np.nan)), "contains nan"),
        (sparse.csr_array(np.full((2, 3), -1)), "contains -1"),
        (
            pd.DataFrame([[1, 0, 0]], columns=["cat", "dgo", "oak"]),
            r"1 of the 3 columns .* not in the hierarchy, e.g. 'dgo'",
        ),
        (
            pd.DataFrame([[1, 0, 0]], columns=["cat", "animal/cat", "oak"]),
            r"the columns 'cat', 'animal/cat' .* stand for the same node",
        ),
        (pd.DataFrame([[1, 0]], columns=["cat", "cat"]), "stand for the same node"),
    ],
)
def test_wrong_widths_values_and_names(y, message):
    with pytest.raises(LabelError, match=message):
        NodeLabels.encode(y, PETS)


def test_classes_twice():
    with pytest.raises(PalmetteError, match="two children of 'root' have the name 'x'"):
        NodeLabels.encode(pd.DataFrame([[1, 0]], columns=["x", "x"]))
    with pytest.raises(LabelError, match="contains 2"):
        NodeLabels.encode(sparse.csr_array([[2, 0]]))
