"""Accuracy of levels and of whole labels, and consistency."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import accuracy_score

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError
from palmette.metrics import leaf_accuracy_score, level_accuracy_score, path_consistency_score

laws = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(["path", "tree", "dag"])


@laws
@given(seeds, kinds)
def test_accuracies_are_those_of_closed_sets(make_case, seed, kind):
    case = make_case(seed, kind)
    true, pred = case.closed(case.true), case.closed(case.pred)
    options = {"hierarchy": case.hierarchy, "sample_weight": case.weight}
    right = (true == pred)[:, 1:].all(axis=1)
    found = leaf_accuracy_score(case.y_true, case.y_pred, **options)
    assert found == pytest.approx(np.average(right, weights=case.weight), rel=1e-12)
    by_level = level_accuracy_score(case.y_true, case.y_pred, **options)
    assert by_level.shape == (case.hierarchy.max_depth,)
    for i, value in enumerate(by_level):
        at = case.hierarchy.depth == i + 1
        there = (true | pred)[:, at].any(axis=1)
        same = (true == pred)[:, at].all(axis=1) & there
        if there.any():
            assert value == pytest.approx(case.weight[same].sum() / case.weight[there].sum())
        else:
            assert np.isnan(value)
        again = level_accuracy_score(case.y_true, case.y_pred, level=i + 1, **options)
        assert again == value or np.isnan(again)


@laws
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9))
def test_on_a_star_accuracy_is_that_of_scikit_learn(pairs):
    y_true, y_pred = map(list, zip(*pairs, strict=True))
    assert leaf_accuracy_score(y_true, y_pred) == accuracy_score(y_true, y_pred)
    assert level_accuracy_score(y_true, y_pred).tolist() == [accuracy_score(y_true, y_pred)]


def test_stopping_short_and_going_too_deep_are_errors():
    y_true = [("a", "x"), ("a",), ("b", "z")]
    y_pred = [("a",), ("a", "x"), ("b", "z")]
    assert level_accuracy_score(y_true, y_pred).tolist() == [1.0, 1 / 3]
    assert leaf_accuracy_score(y_true, y_pred) == 1 / 3
    with pytest.raises(HierarchyError, match="level=3"):
        level_accuracy_score(y_true, y_pred, level=3)


def test_consistency_of_indicators():
    h = Hierarchy.from_paths([("a", "x"), ("b",)])
    rows = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1]])  # a, x, b
    assert path_consistency_score(rows, hierarchy=h) == 0.75
    assert path_consistency_score(sparse.csr_array(rows), hierarchy=h) == 0.75
    with_root = np.column_stack([[1, 1, 0, 0], rows])  # the root may be there or not
    assert path_consistency_score(with_root, hierarchy=h) == 0.75
    assert path_consistency_score(rows, hierarchy=h, sample_weight=[1, 5, 1, 1]) == 3 / 8


def test_consistency_in_a_dag_asks_for_all_parents():
    h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    assert path_consistency_score([{"a", "b", "c"}, {"a", "c"}], hierarchy=h) == 0.5


@laws
@given(seeds, kinds)
def test_closed_rows_are_consistent(make_case, seed, kind):
    case = make_case(seed, kind)
    assert path_consistency_score(case.closed(case.pred), hierarchy=case.hierarchy) == 1.0
