"""Hierarchical precision, recall and F: laws, hand-worked cases, agreement with peers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import (
    hierarchical_f1_score,
    hierarchical_fbeta_score,
    hierarchical_precision_recall_fscore,
    hierarchical_precision_score,
    hierarchical_recall_score,
    leaf_accuracy_score,
    level_accuracy_score,
    node_counts,
    path_consistency_score,
)

laws = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(["path", "tree", "dag"])
averages = st.sampled_from(["micro", "macro", "samples", "weighted"])
flat = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12)


def score(case, **options):
    options = {"hierarchy": case.hierarchy, "zero_division": 0.0, **options}
    return hierarchical_precision_recall_fscore(case.y_true, case.y_pred, **options)


# ---------------------------------------------------------------------- laws


@laws
@given(
    flat, st.sampled_from(["micro", "macro", "weighted", None]), st.sampled_from([0.5, 1.0, 2.0])
)
def test_on_a_star_scores_are_those_of_scikit_learn(pairs, average, beta):
    y_true, y_pred = map(list, zip(*pairs, strict=True))
    ours = hierarchical_precision_recall_fscore(
        y_true, y_pred, average=average, beta=beta, zero_division=0.0
    )
    theirs = precision_recall_fscore_support(
        y_true, y_pred, average=average, beta=beta, zero_division=0.0
    )[:3]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@laws
@given(
    seeds, st.sampled_from(["macro", "samples", "micro", "weighted"]), st.sampled_from([0.0, 1.0])
)
def test_several_labels_on_a_star_score_as_in_scikit_learn(seed, average, zero):
    rng = np.random.default_rng(seed)
    y_true, y_pred = rng.random((2, 7, 4)) < 0.4
    weight = rng.integers(1, 4, 7)
    ours = hierarchical_precision_recall_fscore(
        y_true, y_pred, average=average, zero_division=zero, count_absent=True, sample_weight=weight
    )
    theirs = precision_recall_fscore_support(
        y_true, y_pred, average=average, zero_division=zero, sample_weight=weight
    )[:3]
    if average == "weighted" and not y_true.any():
        return  # no weights at all: scikit-learn and we both give zero_division, but to other terms
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@laws
@given(seeds, kinds, averages)
def test_scores_are_those_of_closed_sets(make_case, seed, kind, average):
    case = make_case(seed, kind)
    true, pred = case.closed(case.true)[:, 1:], case.closed(case.pred)[:, 1:]
    kept = (true | pred).any(axis=0)
    if average == "macro":
        true, pred = true[:, kept], pred[:, kept]
    if not kept.any():
        return
    expected = precision_recall_fscore_support(
        _two_columns(true),
        _two_columns(pred),
        average=average,
        zero_division=0.0,
        sample_weight=case.weight,
        labels=np.arange(true.shape[1]),
    )[:3]
    found = score(case, average=average, sample_weight=case.weight)
    if average == "weighted" and not true.any():
        expected = (0.0, 0.0, 0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def _two_columns(matrix):
    """Add an empty column: scikit-learn takes a single one for a binary problem."""
    return np.column_stack([matrix, np.zeros(len(matrix), bool)])


@laws
@given(seeds, kinds, averages)
def test_a_perfect_prediction_scores_one(make_case, seed, kind, average):
    case = make_case(seed, kind)
    if not any(case.true) or (average == "samples" and not all(case.true)):
        return
    scores = hierarchical_precision_recall_fscore(
        case.y_true, case.y_true, hierarchy=case.hierarchy, average=average, zero_division=0.0
    )
    assert scores == (1.0, 1.0, 1.0)


@laws
@given(seeds, kinds, st.sampled_from(["micro", "macro", "samples"]))
def test_swapping_truth_and_prediction_swaps_precision_and_recall(make_case, seed, kind, average):
    case = make_case(seed, kind)
    options = {"hierarchy": case.hierarchy, "average": average, "zero_division": 0.0}
    p, r, f = hierarchical_precision_recall_fscore(case.y_true, case.y_pred, **options)
    back = hierarchical_precision_recall_fscore(case.y_pred, case.y_true, **options)
    np.testing.assert_allclose(back, (r, p, f), rtol=1e-12)


@laws
@given(seeds, kinds, averages)
def test_weight_k_equals_k_copies(make_case, seed, kind, average):
    case = make_case(seed, kind)
    copies = np.repeat(np.arange(len(case.true)), case.weight.astype(int))
    copied = hierarchical_precision_recall_fscore(
        case.y_true[copies],
        case.y_pred[copies],
        hierarchy=case.hierarchy,
        average=average,
        zero_division=0.0,
    )
    np.testing.assert_allclose(
        score(case, average=average, sample_weight=case.weight), copied, rtol=1e-12
    )


@laws
@given(seeds, averages)
def test_new_names_and_another_order_of_siblings_change_nothing(make_case, seed, average):
    case = make_case(seed, "path")
    h = case.hierarchy
    paths = [tuple(f"new {name}" for name in h.path(node))[::1] for node in range(h.n_nodes)]
    other = Hierarchy.from_paths(paths[::-1])
    y_true, y_pred = ([paths[next(iter(row))] for row in side] for side in (case.true, case.pred))
    renamed = hierarchical_precision_recall_fscore(
        y_true, y_pred, hierarchy=other, average=average, zero_division=0.0
    )
    np.testing.assert_allclose(renamed, score(case, average=average), rtol=1e-12)


@laws
@given(seeds, kinds)
def test_levels_have_the_counts_of_their_nodes_and_add_up(make_case, seed, kind):
    case = make_case(seed, kind)
    counts = node_counts(case.y_true, case.y_pred, hierarchy=case.hierarchy)
    p, r, f = score(case, level="each")
    tp = fp = fn = 0.0
    for i in range(case.hierarchy.max_depth):
        nodes = counts.select(i + 1)
        here = counts.tp[nodes].sum(), counts.fp[nodes].sum(), counts.fn[nodes].sum()
        assert p[i] == (here[0] / (here[0] + here[1]) if here[0] else 0.0)
        assert r[i] == (here[0] / (here[0] + here[2]) if here[0] else 0.0)
        assert f[i] == score(case, level=i + 1)[2]
        tp, fp, fn = tp + here[0], fp + here[1], fn + here[2]
    assert score(case)[2] == (2 * tp / (2 * tp + fp + fn) if tp else 0.0)


# ---------------------------------------------------------------------- worked by hand


def test_worked_case():
    y_true = [("animal", "cat"), ("animal", "dog"), ("plant", "oak")]
    y_pred = [("animal", "cat"), ("animal", "cat"), ("animal",)]
    # predicted: 2 + 2 + 1 nodes, of which 2 + 1 + 0 are true; true: 6
    assert hierarchical_precision_score(y_true, y_pred) == 3 / 5
    assert hierarchical_recall_score(y_true, y_pred) == 3 / 6
    assert hierarchical_f1_score(y_true, y_pred) == 6 / 11
    # with the root: 3 + 3 + 2 and 3 + 2 + 1 right of 9 true
    assert hierarchical_precision_score(y_true, y_pred, include_root=True) == 6 / 8
    assert hierarchical_recall_score(y_true, y_pred, include_root=True) == 6 / 9
    # by rows 2/2, 1/2, 0/1 and 2/2, 1/2, 0/2
    assert hierarchical_precision_score(y_true, y_pred, average="samples") == 0.5
    assert hierarchical_f1_score(y_true, y_pred, average="samples") == 0.5
    # by nodes: animal 2/3, cat 1/2, dog 0/0, plant 0/0, oak 0/0
    per_node = hierarchical_precision_score(y_true, y_pred, average=None, zero_division=np.nan)
    np.testing.assert_array_equal(per_node, [2 / 3, 1 / 2, np.nan, np.nan, np.nan])
    recall = hierarchical_recall_score(y_true, y_pred, average="macro")
    assert recall == (1 + 1 + 0 + 0 + 0) / 5
    assert hierarchical_fbeta_score(y_true, y_pred, beta=2.0) == 5 * 3 / (5 * 3 + 4 * 3 + 2)


def test_the_same_name_in_two_branches_is_two_nodes():
    y_true, y_pred = [("cars", "other")], [("ships", "other")]
    assert hierarchical_f1_score(y_true, y_pred) == 0.0
    table = np.array([["cars", "other"]]), np.array([["ships", "other"]])
    assert hierarchical_f1_score(*table) == 0.0


def test_absent_nodes_count_in_macro_only_when_asked():
    h = Hierarchy.star(["a", "b", "c", "d"])
    options = {"hierarchy": h, "average": "macro", "zero_division": 0.0}
    assert hierarchical_f1_score(["a", "b"], ["a", "a"], **options) == (2 / 3 + 0) / 2
    assert hierarchical_f1_score(["a", "b"], ["a", "a"], count_absent=True, **options) == 2 / 3 / 4
    options["zero_division"] = np.nan
    assert hierarchical_f1_score(["a", "b"], ["a", "a"], count_absent=True, **options) == 1 / 3


def test_zero_by_zero_warns_unless_a_value_is_chosen():
    y_true, y_pred = [set(), {"a"}], [set(), {"b"}]
    with pytest.warns(UndefinedMetricWarning, match="hierarchical F is 0 / 0") as caught:
        assert hierarchical_f1_score(y_true, y_pred, average="samples") == 0.0
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for zero, expected in [(0.0, 0.0), (1.0, 0.5), (np.nan, 0.0)]:
            found = hierarchical_f1_score(y_true, y_pred, average="samples", zero_division=zero)
            assert found == expected
        assert hierarchical_f1_score(y_true, y_pred) == 0.0  # micro is 0 / 2


def test_a_level_that_no_row_reaches_is_zero_by_zero():
    h = Hierarchy.from_paths([("a", "x", "y")])
    found = hierarchical_f1_score(["a"], ["a"], hierarchy=h, level="each", zero_division=np.nan)
    np.testing.assert_array_equal(found, [1.0, np.nan, np.nan])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average": "binary"}, "average='binary'"),
        ({"average": None, "level": "each"}, "unequal length"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(PalmetteError, match=message):
        hierarchical_f1_score(["a"], ["a"], **options)


def test_beta_must_be_positive():
    with pytest.raises(PalmetteError, match="beta=0"):
        hierarchical_fbeta_score(["a"], ["a"], beta=0)


# ---------------------------------------------------------------------- peers


@laws
@given(seeds)
def test_agrees_with_hiclass_where_names_are_unique(seed):
    peer = pytest.importorskip("hiclass.metrics", reason="hiclass is not installed")
    rng = np.random.default_rng(seed)
    leaves = [
        ("a", "a1", "a11"),
        ("a", "a1", "a12"),
        ("a", "a2", ""),
        ("b", "b1", "b11"),
        ("c", "", ""),
    ]
    y_true, y_pred = (np.array([leaves[i] for i in rng.integers(5, size=8)]) for _ in range(2))
    assert hierarchical_precision_score(y_true, y_pred) == peer.precision(y_true, y_pred)
    assert hierarchical_recall_score(y_true, y_pred) == peer.recall(y_true, y_pred)
    assert hierarchical_precision_score(y_true, y_pred, average="samples") == pytest.approx(
        peer.precision(y_true, y_pred, average="macro"), rel=1e-12
    )
    if hierarchical_precision_score(y_true, y_pred):
        ours = hierarchical_f1_score(y_true, y_pred)
        assert ours == pytest.approx(peer.f1(y_true, y_pred), rel=1e-12)


def test_differs_from_hiclass_where_names_collide():
    peer = pytest.importorskip("hiclass.metrics", reason="hiclass is not installed")
    y_true, y_pred = np.array([["cars", "other"]]), np.array([["ships", "other"]])
    assert peer.precision(y_true, y_pred) == 0.5  # by bare name
    assert hierarchical_precision_score(y_true, y_pred) == 0.0


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
