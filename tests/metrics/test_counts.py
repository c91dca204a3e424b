"""The count table: its laws, and hand-worked counts."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import average_precision_score

from palmette import _arrays as rows
from palmette.exceptions import HierarchyError, LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import _counts
from palmette.metrics._counts import (
    average_precision_of_cells,
    count_nodes,
    node_counts,
    row_overlap,
    select_nodes,
)
from palmette.metrics._pairs import pair_labels

laws = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(["path", "tree", "dag"])


@laws
@given(seeds, kinds)
def test_the_four_counts_of_every_node_add_up_to_the_total_weight(make_case, seed, kind):
    case = make_case(seed, kind)
    counts = node_counts(
        case.y_true, case.y_pred, hierarchy=case.hierarchy, sample_weight=case.weight
    )
    whole = counts.tp + counts.fp + counts.fn + counts.tn
    assert whole.tolist() == [case.weight.sum()] * case.hierarchy.n_nodes
    assert min(counts.tp.min(), counts.fp.min(), counts.fn.min(), counts.tn.min()) >= 0


@laws
@given(seeds, kinds)
def test_counts_are_those_of_the_closed_sets(make_case, seed, kind):
    case = make_case(seed, kind)
    counts = node_counts(
        case.y_true, case.y_pred, hierarchy=case.hierarchy, sample_weight=case.weight
    )
    true, pred = case.closed(case.true), case.closed(case.pred)
    assert np.array_equal(counts.tp, case.weight @ (true & pred))
    assert np.array_equal(counts.fp, case.weight @ (~true & pred))
    assert np.array_equal(counts.fn, case.weight @ (true & ~pred))
    assert np.array_equal(counts.support, case.weight @ true)


@laws
@given(seeds)
def test_one_node_a_row_counts_as_its_indicator_does(make_case, seed):
    case = make_case(seed, "path")
    names = case.hierarchy.path_strings
    y_true, y_pred = ([names[next(iter(row))] for row in side] for side in (case.true, case.pred))
    quick = pair_labels(y_true, y_pred, case.hierarchy, case.weight)
    spelled = pair_labels(
        case.closed(case.true), case.closed(case.pred), case.hierarchy, case.weight
    )
    assert quick.has_one_node_per_row
    a, b = count_nodes(quick), count_nodes(spelled)
    assert np.array_equal(a.tp, b.tp)
    assert np.array_equal(a.fp, b.fp)
    assert np.array_equal(a.fn, b.fn)
    for level in (None, 1):
        one, other = row_overlap(quick, level), row_overlap(spelled, level)
        assert np.array_equal(one.true, other.true)
        assert np.array_equal(one.pred, other.pred)
        assert np.array_equal(one.both, other.both)


@laws
@given(seeds, kinds, st.integers(1, 5))
def test_counts_of_parts_add_up_to_the_counts_of_the_whole(make_case, seed, kind, cut):
    case = make_case(seed, kind)
    whole = node_counts(case.y_true, case.y_pred, hierarchy=case.hierarchy)
    parts = [
        node_counts(case.y_true[rows], case.y_pred[rows], hierarchy=case.hierarchy)
        for rows in (slice(None, cut), slice(cut, None))
    ]
    added = parts[0] + parts[1]
    assert np.array_equal(added.tp, whole.tp)
    assert np.array_equal(added.fp, whole.fp)
    assert np.array_equal(added.fn, whole.fn)
    assert added.total == whole.total


@laws
@given(seeds, kinds)
def test_weight_k_equals_k_copies(make_case, seed, kind):
    case = make_case(seed, kind)
    copies = np.repeat(np.arange(len(case.true)), case.weight.astype(int))
    weighted = node_counts(
        case.y_true, case.y_pred, hierarchy=case.hierarchy, sample_weight=case.weight
    )
    copied = node_counts(case.y_true[copies], case.y_pred[copies], hierarchy=case.hierarchy)
    assert np.array_equal(weighted.tp, copied.tp)
    assert np.array_equal(weighted.fp, copied.fp)
    assert np.array_equal(weighted.fn, copied.fn)


@laws
@given(seeds, kinds)
def test_levels_share_out_all_nodes_but_the_root(make_case, seed, kind):
    h = make_case(seed, kind).hierarchy
    levels = [select_nodes(h, level) for level in range(1, h.max_depth + 1)]
    assert sorted(np.concatenate(levels)) == select_nodes(h).tolist() == list(range(1, h.n_nodes))
    assert select_nodes(h, include_root=True).tolist() == list(range(h.n_nodes))


def test_fractional_weights_leave_no_residue_on_nodes_that_never_occur():
    h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    counts = node_counts(
        ["x", "x", "y"], ["x", "y", "x"], hierarchy=h, sample_weight=[0.1, 0.2, 0.7]
    )
    b = h.index("b")
    assert counts.tp[b] == counts.fp[b] == counts.fn[b] == 0.0  # else 0 / 0 would go unseen
    assert counts.fp.min() >= 0
    assert counts.fn.min() >= 0


def test_counts_worked_by_hand_in_a_dag():
    h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("b", "d")])
    counts = node_counts(["c", "d"], ["d", "c"], hierarchy=h)
    by_name = dict(zip(h.names, zip(counts.tp, counts.fp, counts.fn, strict=True), strict=True))
    assert by_name == {
        "r": (2, 0, 0), "a": (0, 1, 1), "b": (2, 0, 0), "c": (0, 1, 1), "d": (0, 1, 1),
    }  # fmt: skip


def test_counts_of_different_hierarchies_do_not_add_up():
    with pytest.raises(HierarchyError, match="different hierarchies"):
        node_counts(["a"], ["a"]) + node_counts(["b"], ["b"])


@pytest.mark.parametrize("level", [0, 3, -1, 1.0, True, "one"])
def test_a_level_that_is_not_there_is_named(level):
    counts = node_counts([("a", "x")], [("a", "x")])
    with pytest.raises(HierarchyError, match=r"level=.* from 1 .* to 2"):
        counts.select(level)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], r"shape \(1,\), expected \(2,\)"),
        ([1.0, -1.0], "negative"),
        ([1.0, np.nan], "NaN"),
        ([0.0, 0.0], "zero everywhere"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(LabelError, match=message):
        node_counts(["a", "b"], ["a", "b"], sample_weight=weight)


def test_rows_must_match_and_be_there():
    with pytest.raises(LabelError, match="y_true has 2 rows and y_pred has 1"):
        node_counts(["a", "b"], ["a"])
    with pytest.raises(LabelError, match="empty"):
        node_counts([], [], hierarchy=Hierarchy.star(["a"]))


def a_table(seed: int, n_levels: int, shape: tuple[int, int] = (9, 7)):
    rng = np.random.default_rng(seed)
    truth = rng.random(shape) < 0.3
    truth[0, 0] = True
    scores = rng.integers(n_levels, size=shape) / n_levels
    return truth, scores, rng.integers(0, 4, size=shape[0]).astype(float) + 0.5


@given(st.integers(0, 10**6), st.sampled_from([1, 3, 1000]))
def test_it_is_that_of_scikit_learn(seed, n_levels):
    truth, scores, _ = a_table(seed, n_levels)
    found = average_precision_of_cells(sparse.csr_array(truth), scores)
    assert found == pytest.approx(average_precision_score(truth.ravel(), scores.ravel()), abs=1e-12)


@given(st.integers(0, 10**6))
def test_rows_may_be_weighted(seed):
    truth, scores, weight = a_table(seed, 5)
    each = np.repeat(weight, truth.shape[1])
    expected = average_precision_score(truth.ravel(), scores.ravel(), sample_weight=each)
    found = average_precision_of_cells(sparse.csr_array(truth), scores, weight)
    assert found == pytest.approx(expected, abs=1e-12)


def test_chunks_change_nothing():
    truth, scores, _ = a_table(0, 50, (100, 20))
    whole = average_precision_of_cells(sparse.csr_array(truth), scores)

    def small_chunks(n_rows, numbers_a_row, at_once=0):
        return rows.row_chunks(n_rows, numbers_a_row, 60)

    with patch.object(_counts, "row_chunks", small_chunks):
        assert average_precision_of_cells(sparse.csr_array(truth), scores) == whole


def test_without_a_true_cell_it_is_zero():
    assert average_precision_of_cells(sparse.csr_array((2, 2), dtype=bool), np.eye(2)) == 0.0
