"""Clusters of label sets against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.forest import literal_soshf as literal
from tests.strategies import quick

from palmette._kernels import kernel
from palmette.forest import _label_clusters as label_clusters
from palmette.forest._label_clusters import (
    count_labels,
    distinct_sets,
    idf_weights,
    select_labels,
)

cluster_sets = kernel(error_model="numpy")(label_clusters.cluster_sets.py_func)


def label_sets(Y):
    Y = sparse.csr_array(Y)
    return Y.indptr.astype(np.int64), Y.indices.astype(np.int32)


def clusters_of(Y, weights, masses=None, n_starts=20, seed=0):
    """Cluster of every row, and the sum of squares that the centres explain."""
    starts, labels = label_sets(Y)
    set_of, row_of = distinct_sets(starts, labels)
    masses = np.ones(len(Y)) if masses is None else masses
    of_set = np.bincount(set_of, masses)
    second, state = np.empty(len(row_of), dtype=bool), np.array([seed], dtype=np.uint64)
    explained = cluster_sets(
        starts, labels, row_of, of_set, np.asarray(weights, float), n_starts, 50, state, second
    )
    return second[set_of], explained


small = st.integers(0, 10**6).map(
    lambda seed: (np.random.default_rng(seed).random((12, 4)) < 0.4).astype(float)
)


@given(small, st.booleans())
@quick
def test_two_means_comes_close_to_the_best_clusters_and_rests(Y, weighed):
    weights = literal.label_weights(Y, Y, 0.5) if weighed else np.ones(4)
    second, explained = clusters_of(Y, weights)
    points = Y * weights
    expected = literal.two_means(points)
    if expected is None:
        assert explained == -1.0
        return
    loss = literal.sum_of_squares(points, second)
    best = literal.sum_of_squares(points, expected)
    assert best - 1e-9 <= loss <= 1.1 * best + 1e-9
    centres = np.stack([points[~second].mean(axis=0), points[second].mean(axis=0)])
    far = ((points[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_less(far[np.arange(len(Y)), second.astype(int)], far.min(axis=1) + 1e-9)
    assert explained == pytest.approx((points**2).sum() - loss)


@given(small)
@quick
def test_masses_are_copies(Y):
    times = np.random.default_rng(1).integers(1, 4, len(Y))
    _, weighed = clusters_of(Y, np.ones(4), times.astype(float))
    _, copied = clusters_of(np.repeat(Y, times, axis=0), np.ones(4))
    assert weighed == pytest.approx(copied)


def test_equal_sets_have_no_two_clusters():
    second, explained = clusters_of(np.ones((5, 3)), np.ones(3))
    assert explained == -1.0
    assert not second.any()


def test_a_start_is_drawn_by_the_state_alone():
    Y = (np.random.default_rng(0).random((40, 8)) < 0.4).astype(float)
    runs = [clusters_of(Y, np.ones(8), n_starts=1, seed=s)[0] for s in (5, 5)]
    np.testing.assert_array_equal(*runs)
    found = {clusters_of(Y, np.ones(8), n_starts=1, seed=s)[1] for s in range(10)}
    assert len(found) > 1


@given(small)
@quick
def test_label_weights_are_those_of_equation_1(Y):
    starts, labels = label_sets(Y)
    rows = np.arange(len(Y), dtype=np.int32)
    weights = np.empty(4)
    count_labels(starts, labels, rows, np.ones(len(Y)), weights)
    np.testing.assert_array_equal(weights, Y.sum(axis=0))
    idf_weights(float(len(Y)), weights)
    np.testing.assert_allclose(weights, literal.idf(Y.sum(0), len(Y)))


def test_labels_without_positives_weigh_most():
    some, none = np.array([0.0, 2.0, 4.0]), np.zeros(2)
    idf_weights(4.0, some)
    assert some.tolist() == pytest.approx([1.0, 1.0, np.log(2) / np.log(3)])
    idf_weights(4.0, none)
    assert none.tolist() == [1.0, 1.0]


def test_only_drawn_labels_are_kept_in_the_order_drawn():
    starts, labels = label_sets(np.array([[1, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 1]]))
    rows, drawn = np.array([2, 1], dtype=np.int32), np.array([3, 0], dtype=np.int32)
    own_starts, own = select_labels(starts, labels, rows, drawn, 4)
    assert own_starts.tolist() == [0, 2, 2]
    assert own.tolist() == [1, 0]


def test_sets_are_the_same_in_whatever_order_their_labels_come():
    starts = np.array([0, 2, 4, 5, 5, 7])
    set_of, row_of = distinct_sets(starts, np.array([3, 1, 1, 3, 1, 0, 3], dtype=np.int32))
    assert len(row_of) == 4
    assert set_of[0] == set_of[1]
    assert len(set(set_of.tolist())) == 4
    assert set_of[row_of].tolist() == [0, 1, 2, 3]
