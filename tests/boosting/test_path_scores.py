from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.spaces import label_spaces, seeds
from tests.strategies import quick

from palmette.boosting._path_scores import best_positive_path, path_scores
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace

EVEN = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])
UNEVEN = Hierarchy.from_paths([("a", "x"), ("a", "y", "u"), ("b",)])


def space_of(tree, classes=None):
    return LabelSpace(tree, tree.leaves if classes is None else tree.index(classes))


def drawn(space, seed, n_samples=6):
    return np.random.default_rng(seed).normal(size=(n_samples, space.n_active - 1))


def path_to(space, node):
    """Columns on the way to an active node, given by its place."""
    columns = []
    while node > 0:
        columns.append(node - 1)
        node = space.parent[node]
    return columns


# ---------------------------------------------------------------------- scores of paths


@given(st.lists(st.floats(-5, 5), min_size=5, max_size=5))
def test_paths_of_one_length_are_plain_sums(scores):
    a, x, y, b, z = scores
    found = path_scores(np.array([scores]), space_of(EVEN))
    np.testing.assert_allclose(found, [[a + x, a + y, b + z]], atol=1e-12)


@quick
@given(space=label_spaces(), seed=seeds)
def test_a_path_scores_the_sum_of_its_nodes_brought_to_one_length(space, seed):
    scores = drawn(space, seed)
    found = path_scores(scores, space)
    lengths = np.array([len(path_to(space, place)) for place in space.class_place])
    for k, place in enumerate(space.class_place):
        total = scores[:, path_to(space, place)].sum(axis=1)
        np.testing.assert_allclose(found[:, k], total * (lengths.mean() / lengths[k]) ** 0.75)


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


# ---------------------------------------------------------------------- positive paths


@quick
@given(space=label_spaces(), seed=seeds)
def test_the_best_positive_path_is_that_of_brute_force(space, seed):
    scores = drawn(space, seed)
    found = best_positive_path(scores, space)
    for row, answer in zip(scores, found, strict=True):
        sums = {}
        for place in range(1, space.n_active):
            on_path = row[path_to(space, place)]
            if (on_path > 0).all():
                sums[place] = on_path.sum()
        if not sums:
            tops = [place for place in range(1, space.n_active) if space.parent[place] == 0]
            sums = {place: row[place - 1] for place in tops}
        assert answer == space.nodes[max(sums, key=sums.get)]


def test_the_best_path_of_positive_nodes_ends_where_they_end():
    space = space_of(EVEN)
    scores = np.array(
        [
            [1.0, 0.5, 2.0, -1.0, 9.0],  # a and its better child; z has no positive parent
            [1.0, -0.5, -2.0, -1.0, 9.0],  # a alone
            [-1.0, 5.0, 5.0, -0.5, 5.0],  # no top node: the better one of them
            [0.0, 5.0, 5.0, -0.5, 5.0],  # zero is not positive
            [2.0, 0.0, -1.0, 1.0, 0.0],  # nor is it further down
        ]
    )
    chosen = EVEN.path_strings[best_positive_path(scores, space)].tolist()
    assert chosen == ["a/y", "a", "b", "a", "a"]
