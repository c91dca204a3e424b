from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from palmette.core.hierarchy import Hierarchy
from palmette.core.path_scores import best_positive_path, path_scores
from palmette.core.space import LabelSpace

EVEN = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])
UNEVEN = Hierarchy.from_paths([("a", "x"), ("a", "y", "u"), ("b",)])


def space_of(tree, classes=None):
    return LabelSpace(tree, tree.leaves if classes is None else tree.index(classes))


@given(st.lists(st.floats(-5, 5), min_size=5, max_size=5))
def test_paths_of_one_length_are_plain_sums(scores):
    a, x, y, b, z = scores
    found = path_scores(np.array([scores]), space_of(EVEN))
    np.testing.assert_allclose(found, [[a + x, a + y, b + z]], atol=1e-12)


def test_a_long_path_is_not_punished_for_its_length():
    scores = np.full((1, UNEVEN.n_nodes - 1), -1.0)
    by_class = dict(
        zip(["a/x", "a/y/u", "b"], path_scores(scores, space_of(UNEVEN))[0], strict=True)
    )
    assert by_class["b"] > by_class["a/x"] > by_class["a/y/u"]
    assert by_class["a/y/u"] > 3 * by_class["b"]  # a plain sum would be three times as low


def test_a_label_is_told_from_its_parent_where_all_scores_agree():
    space = space_of(UNEVEN, ["a", "a/y", "b"])
    sure = np.array([[2.0, 2.0, -2.0]])  # a, a/y, b
    assert path_scores(sure, space)[0].argmax() == 1
    unsure = np.array([[2.0, -2.0, -2.0]])
    assert path_scores(unsure, space)[0].argmax() == 0


def test_the_best_path_of_positive_nodes_ends_where_they_end():
    space = space_of(EVEN)
    scores = np.array(
        [
            [1.0, 0.5, 2.0, -1.0, 9.0],  # a and its better child; z has no positive parent
            [1.0, -0.5, -2.0, -1.0, 9.0],  # a alone
            [-1.0, 5.0, 5.0, -0.5, 5.0],  # no top node: the better one of them
            [0.0, 5.0, 5.0, -0.5, 5.0],  # zero is not positive
        ]
    )
    chosen = EVEN.path_strings[best_positive_path(scores, space)].tolist()
    assert chosen == ["a/y", "a", "b", "a"]
