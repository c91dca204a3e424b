"""Top-k measures, of nodes of all levels and of the classes of one level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import top_k_accuracy_score

from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import _top_k as module
from palmette.metrics import hierarchical_top_k_accuracy_score
from palmette.metrics import level_top_k_accuracy_score as top_k

laws = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)
TREE = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z"), ("c",)])  # leaves x, y, z, c


@laws
@given(seeds, st.integers(1, 3), st.integers(1, 30))
def test_on_a_star_it_is_that_of_scikit_learn_ties_included(seed, k, chunk):
    rng = np.random.default_rng(seed)
    y, scores = rng.integers(0, 4, 8), rng.integers(0, 3, (8, 4)).astype(float)
    weight = rng.integers(1, 4, 8)
    expected = top_k_accuracy_score(y, scores, k=k, labels=range(4), sample_weight=weight)
    h = Hierarchy.star(range(4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS_AT_ONCE", chunk)
        for level in (None, 1):
            found = top_k(y, scores, hierarchy=h, k=k, level=level, sample_weight=weight)
            assert found == pytest.approx(expected, rel=1e-12)


@laws
@given(seeds, st.integers(1, 4), st.sampled_from([None, "each"]))
def test_node_and_leaf_probabilities_say_the_same(make_tree, seed, k, level):
    h = make_tree(seed, 9)
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(h.n_leaves), 6)
    nodes = proba @ h.closure[h.leaves].astype(float)
    y = h.path_strings[rng.integers(1, h.n_nodes, 6)]
    by_leaf = top_k(y, proba, hierarchy=h, k=k, level=level)
    np.testing.assert_array_equal(by_leaf, top_k(y, nodes, hierarchy=h, k=k, level=level))
    np.testing.assert_array_equal(by_leaf, top_k(y, nodes[:, 1:], hierarchy=h, k=k, level=level))
    named = h.path_strings[h.leaves]
    shuffled = rng.permutation(len(named))
    np.testing.assert_array_equal(
        by_leaf,
        top_k(y, proba[:, shuffled], hierarchy=h, k=k, level=level, classes=named[shuffled]),
    )


def test_worked_case():
    proba = np.array([[1, 1, 4, 2], [1, 1, 4, 2]]) / 8
    y = ["x", "z"]
    assert [top_k(y, proba, hierarchy=TREE, k=k) for k in (1, 2, 3, 4)] == [0.5, 0.5, 0.5, 1.0]
    # level 1: a 2, b 4, c 2 (of equals the later first: b, c, a); level 2: z, y, x
    assert top_k(y, proba, hierarchy=TREE, k=1, level="each").tolist() == [0.5, 0.5]
    assert top_k(y, proba, hierarchy=TREE, k=2, level="each").tolist() == [0.5, 0.5]
    assert top_k(y, proba, hierarchy=TREE, k=3, level="each").tolist() == [1.0, 1.0]


def test_a_true_internal_node_is_right_where_a_class_below_it_ranks_high():
    proba = np.array([[0.1, 0.5, 0.4, 0.0]] * 2)
    assert top_k(["a", "b"], proba, hierarchy=TREE, k=1) == 0.5
    assert top_k(["a", "b"], proba, hierarchy=TREE, k=2) == 1.0


def test_an_internal_node_that_is_a_class_is_ranked_itself():
    proba = np.array([[0.1, 0.5, 0.4]])
    assert top_k(["a"], proba, hierarchy=TREE, k=1, classes=["a", "x", "z"]) == 0.0
    assert top_k(["a"], proba, hierarchy=TREE, k=1, classes=["x", "a", "z"]) == 1.0


def test_a_class_that_the_model_does_not_know_is_wrong():
    proba = np.array([[0.6, 0.4]])
    assert top_k(["z"], proba, hierarchy=TREE, k=2, classes=["x", "y"]) == 0.0


def test_only_rows_that_reach_a_level_count_there():
    proba = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    found = top_k(["c", "y"], proba, hierarchy=TREE, k=1, level="each")
    assert found.tolist() == [1.0, 0.0]
    alone = top_k(["c"], proba[:1], hierarchy=TREE, k=1, level="each")
    np.testing.assert_array_equal(alone, [1.0, np.nan])


@pytest.mark.parametrize(
    ("scores", "options", "error", "message"),
    [
        (np.ones((1, 2)), {}, LabelError, "2 columns: expected 7 .* 6 .* 4"),
        (np.ones((2, 4)), {}, LabelError, r"shape \(2, 4\)"),
        (np.full((1, 4), np.nan), {}, LabelError, "NaN"),
        (np.ones((1, 4)), {"k": 0}, PalmetteError, "k=0"),
        (np.ones((1, 4)), {"classes": ["x"]}, LabelError, "4 columns for 1 classes"),
        (np.ones((1, 4)), {"level": 3}, HierarchyError, "level=3"),
    ],
)
def test_bad_arguments_are_named(scores, options, error, message):
    with pytest.raises(error, match=message):
        top_k(["x"], scores, hierarchy=TREE, **options)


def test_levels_of_a_dag_are_refused_by_name():
    h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("b", "d")])
    proba = np.array([[0.3, 0.7]])  # c, d
    assert top_k(["d"], proba, hierarchy=h, k=1) == 1.0
    with pytest.raises(HierarchyError, match="needs a tree"):
        top_k(["d"], proba, hierarchy=h, k=1, level=1)


# ---------------------------------------------------------------------- nodes of all levels


def literal_top_k(y, scores, h, k, weight):
    """Count as the definition says, row by row; scores are of all nodes but the root."""
    total = 0.0
    for path, row, w in zip(y, scores, weight, strict=True):
        ranked = sorted(range(1, h.n_nodes), key=lambda node: (-row[node - 1], node))
        (node,) = h.index([path])
        true = {node, *h.ancestors(node)} - {0}
        total += w * len(true & set(ranked[:k])) / k
    return total / sum(weight)


@laws
@given(seeds, st.sampled_from([None, 1, 2, 3, 20]), st.integers(1, 30))
def test_nodes_of_all_levels_are_counted_as_the_definition_says(make_tree, seed, k, chunk):
    h = make_tree(seed, 9)
    rng = np.random.default_rng(seed)
    y = h.path_strings[rng.integers(1, h.n_nodes, 6)]
    scores = rng.integers(0, 4, (6, h.n_nodes - 1)).astype(float)
    weight = rng.integers(1, 4, 6)
    expected = literal_top_k(y, scores, h, k or h.max_depth, weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS_AT_ONCE", chunk)
        found = hierarchical_top_k_accuracy_score(y, scores, hierarchy=h, k=k, sample_weight=weight)
    assert found == pytest.approx(expected, rel=1e-12)


@laws
@given(seeds)
def test_class_probabilities_are_added_up_to_nodes(make_tree, seed):
    h = make_tree(seed, 9)
    rng = np.random.default_rng(seed)
    proba = rng.integers(0, 8, (6, h.n_leaves)) / 8  # exact sums
    nodes = proba @ h.closure[h.leaves].astype(float)
    y = h.path_strings[rng.integers(1, h.n_nodes, 6)]
    expected = hierarchical_top_k_accuracy_score(y, nodes, hierarchy=h)
    order = rng.permutation(h.n_leaves)
    for scores, classes in (
        (nodes[:, 1:], None),
        (proba, h.path_strings[h.leaves]),
        (proba[:, order], h.path_strings[h.leaves[order]]),
    ):
        found = hierarchical_top_k_accuracy_score(y, scores, hierarchy=h, classes=classes)
        assert found == expected


def test_the_true_path_scored_highest_is_perfect_and_several_paths_are_taken():
    h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("b", "d")])
    scores = np.array([[9, 8, 7, 1], [1, 9, 1, 8]], dtype=float)  # a, b, c, d by their order
    names = h.names[1:].tolist()
    scores = scores[:, [["a", "b", "c", "d"].index(name) for name in names]]
    assert hierarchical_top_k_accuracy_score([{"c"}, {"d"}], scores, hierarchy=h) == 1.0
    assert hierarchical_top_k_accuracy_score([{"c"}, {"d"}], scores, hierarchy=h, k=4) == 0.625


def test_k_must_be_a_positive_integer():
    with pytest.raises(PalmetteError, match="k=0: expected an integer"):
        hierarchical_top_k_accuracy_score(["x"], np.ones((1, 4)), hierarchy=TREE, k=0)
