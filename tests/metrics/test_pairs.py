"""Truth and prediction on one hierarchy, given or not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from palmette.exceptions import HierarchyError, LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._pairs import extend_hierarchy, pair_labels


def test_without_a_hierarchy_names_make_a_star_over_both():
    pair = pair_labels(["a", "b"], ["c", "a"])
    assert pair.hierarchy.names.tolist() == ["root", "a", "b", "c"]
    assert [n.tolist() for n in pair.nodes] == [[1, 2], [3, 1]]


def test_without_a_hierarchy_paths_make_the_union_of_both():
    pair = pair_labels([("a", "x"), ("b",)], [("a", "y"), ("b", "x")])
    assert pair.hierarchy.path_strings.tolist() == ["root", "a", "a/x", "a/y", "b", "b/x"]
    assert [n.tolist() for n in pair.nodes] == [[2, 4], [3, 5]]


def test_sets_of_paths_keep_several_labels_on_the_union():
    pair = pair_labels([{("a", "x"), ("b",)}], [{("c",)}])
    names = pair.hierarchy.path_strings
    assert names[pair.true.closed.indices].tolist() == ["root", "a", "a/x", "b"]
    assert names[pair.pred.closed.indices].tolist() == ["root", "c"]


def test_names_are_looked_up_on_the_paths_of_the_other_side():
    for y_true, y_pred in [([("a", "x")], ["x"]), (["x"], [("a", "x")])]:
        pair = pair_labels(y_true, y_pred)
        assert pair.nodes[0].tolist() == pair.nodes[1].tolist() == [2]
    with pytest.raises(LabelError, match=r"gives paths, the other names.*'y'.*give both as paths"):
        pair_labels([("a", "x")], ["y"])


def test_integers_stay_integers():
    pair = pair_labels(np.array([3, 1]), [1, 2])
    assert pair.hierarchy.names.tolist() == ["root", 1, 2, 3]


@pytest.mark.parametrize(
    "form",
    [
        lambda rows: np.array(rows, dtype=object),
        lambda rows: pd.DataFrame(rows),
        lambda rows: [tuple(row) for row in rows],
    ],
)
def test_every_form_of_paths_makes_the_same_pair(form):
    pair = pair_labels(form([["a", "x"], ["b", None]]), form([["a", "y"], ["a", None]]))
    assert pair.hierarchy.path_strings.tolist() == ["root", "a", "a/x", "a/y", "b"]
    assert [n.tolist() for n in pair.nodes] == [[2, 4], [3, 1]]


def test_indicators_need_the_same_columns():
    pair = pair_labels(sparse.csr_array(np.eye(2)), np.eye(2))
    assert np.array_equal(pair.true.closed.toarray(), pair.pred.closed.toarray())
    with pytest.raises(LabelError, match="2 labels and y_pred those of 3"):
        pair_labels(np.eye(2), np.array([[1, 0, 0], [0, 1, 0]]))


def test_an_unknown_label_is_an_error_where_the_hierarchy_is_given():
    with pytest.raises(HierarchyError, match=r"y\[1\] = 'wolf' is not in the hierarchy"):
        pair_labels(["cat", "cat"], ["cat", "wolf"], Hierarchy.star(["cat"]))


def test_unseen_paths_are_put_where_they_belong():
    h = Hierarchy.from_paths([("a", "x"), ("b", "x")])
    grown = extend_hierarchy(h, [("a", "y"), ("b",), ("c", "z")])
    assert grown.path_strings.tolist() == ["root", "a", "a/x", "a/y", "b", "b/x", "c", "c/z"]
    assert extend_hierarchy(h, [("a", "x"), ("b",)]) is h


def test_unseen_names_go_under_the_root():
    h = Hierarchy.from_paths([("a", "x"), ("b", "x")])
    grown = extend_hierarchy(h, ["a", "a/y", "new", "q/r"])
    assert set(grown.path_strings) - set(h.path_strings) == {"a/y", "new", "q/r"}
    assert grown.parents[grown.index(("q/r",))] == 0
    with pytest.raises(HierarchyError, match="'x' is ambiguous"):
        extend_hierarchy(h, ["x", "new"])


def test_a_dag_takes_unseen_names_too():
    h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    grown = extend_hierarchy(h, [{"c", "new"}])
    assert not grown.is_tree
    assert grown.parents_of("new").tolist() == [0]
    assert grown.names[grown.parents_of("c")].tolist() == ["a", "b"]
