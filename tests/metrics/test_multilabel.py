"""Multi-label metrics: scikit-learn's values, sparse input, labels without positives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as peer

from palmette import metrics
from palmette.datasets import fetch
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics import _multilabel as module
from palmette.metrics import (
    coverage_error,
    label_ranking_average_precision,
    label_ranking_loss,
    one_error,
)

laws = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_rows=8, n_labels=4):
    rng = np.random.default_rng(seed)
    y_true, y_pred = rng.random((2, n_rows, n_labels)) < 0.4
    return y_true, y_pred, rng.integers(0, 6, y_true.shape) / 5, rng.integers(1, 4, n_rows)


@laws
@given(seeds, st.sampled_from(["macro", "micro", "weighted", "samples", None]))
def test_f1_is_that_of_scikit_learn(seed, average):
    y_true, y_pred, _, weight = draw(seed)
    expected = peer.f1_score(
        y_true, y_pred, average=average, zero_division=1.0, sample_weight=weight
    )
    if average == "weighted" and not y_true.any():
        return
    for form in (np.asarray, sparse.csr_array, sparse.coo_array):
        found = metrics.multilabel_f1_score(
            form(y_true), form(y_pred), average=average, undefined=1.0, sample_weight=weight
        )
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@laws
@given(seeds)
def test_hamming_and_subset_accuracy_are_those_of_scikit_learn(seed):
    y_true, y_pred, _, weight = draw(seed)
    weighted = {"sample_weight": weight}
    assert metrics.multilabel_hamming_loss(y_true, y_pred, **weighted) == pytest.approx(
        peer.hamming_loss(y_true, y_pred, **weighted), rel=1e-12
    )
    assert metrics.subset_accuracy_score(y_true, y_pred, **weighted) == pytest.approx(
        peer.accuracy_score(y_true, y_pred, **weighted), rel=1e-12
    )


@laws
@given(seeds, st.sampled_from(["macro", "micro", "weighted"]))
def test_auc_and_average_precision_are_those_of_scikit_learn_where_defined(seed, average):
    y_true, _, scores, weight = draw(seed)
    options = {"average": average, "sample_weight": weight}
    pairs = [
        (metrics.multilabel_auc_score, peer.roc_auc_score),
        (metrics.multilabel_average_precision_score, peer.average_precision_score),
    ]
    mixed = y_true.any(axis=0) & ~y_true.all(axis=0)
    if not mixed.all():
        return
    for ours, theirs in pairs:
        expected = theirs(y_true, scores, **options)
        assert ours(y_true, scores, **options) == pytest.approx(expected, rel=1e-12)
        assert ours(sparse.csr_array(y_true), scores, **options) == pytest.approx(
            expected, rel=1e-12
        )


def test_labels_without_positives_are_dropped_or_valued():
    y_true = np.array([[1, 0, 0], [0, 0, 1], [1, 0, 0]])
    y_pred = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0]])
    assert metrics.multilabel_f1_score(y_true, y_pred) == pytest.approx(1 / 3)
    assert metrics.multilabel_f1_score(y_true, y_pred, undefined="drop") == 0.5
    none = np.array([[1, 0], [1, 0]]), np.array([[1, 0], [1, 0]])
    for value, expected in [(0.0, 0.5), (1.0, 1.0), (np.nan, 1.0), ("drop", 1.0)]:
        assert metrics.multilabel_f1_score(*none, undefined=value) == expected
    scores = np.array([[0.9, 0.1, 0.2], [0.8, 0.5, 0.4], [0.7, 0.2, 0.1]])
    assert metrics.multilabel_auc_score(y_true, scores) == (0.5 + 1.0) / 2
    assert metrics.multilabel_auc_score(y_true, scores, undefined=0.5) == (0.5 + 0.5 + 1.0) / 3
    each = metrics.multilabel_auc_score(y_true, scores, average=None)
    np.testing.assert_array_equal(each, [0.5, np.nan, 1.0])
    precision = metrics.multilabel_average_precision_score(y_true, scores, average=None)
    np.testing.assert_allclose(precision, [(1 + 2 / 3) / 2, np.nan, 1.0])


def test_a_label_that_every_row_has_has_a_precision_but_no_auc():
    y_true, scores = np.array([[1, 1], [1, 0]]), np.array([[0.1, 0.9], [0.2, 0.1]])
    assert metrics.multilabel_auc_score(y_true, scores) == 1.0
    assert metrics.multilabel_average_precision_score(y_true, scores) == 1.0
    # equal fractions, which do not add up exactly: still every row has it
    weight = [0.1] * 3
    with pytest.raises(LabelError, match="nothing to average"):
        metrics.multilabel_auc_score(np.ones((3, 2)), np.eye(3)[:, :2], sample_weight=weight)


def test_micro_auprc_is_average_precision_over_the_cells_that_are_left():
    h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("b", "d")], root="r")
    rng = np.random.default_rng(0)
    rows = [{"c"}, {"d"}, {"a", "d"}, set()]
    scores = rng.random((4, h.n_nodes))
    order = h.index(["a", "b", "c", "d"])
    closed = np.array([[1, 1, 1, 0], [0, 1, 0, 1], [1, 1, 0, 1], [0, 0, 0, 0]])
    everything = peer.average_precision_score(closed.ravel(), scores[:, order].ravel())
    assert metrics.micro_auprc(rows, scores, hierarchy=h) == pytest.approx(everything)
    without_root = metrics.micro_auprc(rows, scores[:, 1:], hierarchy=h)
    assert without_root == pytest.approx(everything)
    left = peer.average_precision_score(closed[:, 2:].ravel(), scores[:, order[2:]].ravel())
    found = metrics.micro_auprc(rows, scores, hierarchy=h, exclude=["a", "b"])
    assert found == pytest.approx(left)
    weighted = peer.average_precision_score(
        np.repeat(closed, [1, 2, 3, 4], axis=0).ravel(),
        np.repeat(scores[:, order], [1, 2, 3, 4], axis=0).ravel(),
    )
    found = metrics.micro_auprc(rows, scores, hierarchy=h, sample_weight=[1, 2, 3, 4])
    assert found == pytest.approx(weighted)
    with pytest.raises(LabelError, match=r"y_score has shape \(4, 2\)"):
        metrics.micro_auprc(rows, scores[:, :2], hierarchy=h)
    with pytest.raises(HierarchyError, match="'q' is not in the hierarchy"):
        metrics.micro_auprc(rows, scores, hierarchy=h, exclude=["q"])


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "exclude", "expected"),
    [
        ("cellcycle_fun", [], 0.154),
        ("cellcycle_go", ["GO0003674", "GO0005575", "GO0008150"], 0.341),
    ],
)
def test_micro_auprc_of_the_label_frequencies_of_yeast_genes(data_home, name, exclude, expected):
    data = fetch(name, data_home=data_home)
    parts = [NodeLabels.encode(y, data.hierarchy).closed for y in (data.y_train, data.y_valid)]
    frequency = sum(part.sum(axis=0) for part in parts) / sum(part.shape[0] for part in parts)
    scores = np.tile(frequency, (NodeLabels.encode(data.y_test, data.hierarchy).n_samples, 1))
    found = metrics.micro_auprc(data.y_test, scores, hierarchy=data.hierarchy, exclude=exclude)
    assert found == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        (np.array([[0, 2]]), np.array([[0, 1]]), "y_true has values other than 0 and 1"),
        (np.array([0, 1]), np.array([0, 1]), r"y_true has shape \(2,\)"),
        (np.array([[0, 1]]), np.array([[0, 1, 0]]), r"shape \(1, 2\) and y_pred \(1, 3\)"),
        (np.array([["a", "b"]]), np.array([[0, 1]]), "expected a 0/1 matrix"),
    ],
)
def test_bad_indicators_are_named(y_true, y_pred, message):
    with pytest.raises(LabelError, match=message):
        metrics.multilabel_f1_score(y_true, y_pred)


def test_bad_scores_and_averages_are_named():
    y_true = np.array([[0, 1], [1, 0]])
    with pytest.raises(LabelError, match=r"shape \(2, 2\) and y_score \(1, 2\)"):
        metrics.multilabel_auc_score(y_true, np.ones((1, 2)))
    with pytest.raises(LabelError, match="infinite or NaN"):
        metrics.multilabel_auc_score(y_true, np.full((2, 2), np.nan))
    with pytest.raises(PalmetteError, match="average='samples'"):
        metrics.multilabel_auc_score(y_true, np.ones((2, 2)), average="samples")
    with pytest.raises(LabelError, match="no label has a true row"):
        metrics.multilabel_f1_score(np.zeros((1, 2)), np.ones((1, 2)), undefined="drop")


PAIRS = [
    (coverage_error, peer.coverage_error),
    (label_ranking_loss, peer.label_ranking_loss),
    (label_ranking_average_precision, peer.label_ranking_average_precision_score),
]


@laws
@given(st.integers(0, 2**32 - 1), st.sampled_from(PAIRS), st.integers(1, 40))
def test_values_are_those_of_scikit_learn_whatever_the_chunks(seed, pair, chunk):
    rng = np.random.default_rng(seed)
    y_true = rng.random((9, 4)) < 0.4
    scores, weight = rng.integers(0, 5, y_true.shape) / 4, rng.integers(0, 4, 9)
    weight[0] = 1
    ours, theirs = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS_AT_ONCE", chunk)
        found = ours(sparse.csr_array(y_true), scores, sample_weight=weight)
    assert found == pytest.approx(theirs(y_true, scores, sample_weight=weight), rel=1e-12)
    assert ours(y_true, scores) == pytest.approx(theirs(y_true, scores), rel=1e-12)


def test_one_error_worked_by_hand():
    y_true = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]])
    scores = np.array([[0.2, 0.9, 0.1], [0.5, 0.5, 0.1], [0.9, 0.1, 0.1], [0.1, 0.8, 0.2]])
    # wrong; wrong (first of equals); no label, left out; right
    assert one_error(y_true, scores) == pytest.approx(2 / 3)
    assert one_error(sparse.csc_array(y_true), scores, sample_weight=[1, 1, 9, 2]) == 0.5
    with pytest.raises(LabelError, match="no row has a label"):
        one_error(np.zeros((2, 2)), np.ones((2, 2)))


def test_a_ranking_needs_two_labels():
    with pytest.raises(LabelError, match="at least two"):
        coverage_error(np.ones((2, 1)), np.ones((2, 1)))
