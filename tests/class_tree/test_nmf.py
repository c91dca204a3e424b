from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.class_tree.clades import groups_of

from palmette.class_tree import NMFTree
from palmette.partition import ClassProblem, NMFPartition

HALVES = [[0, 1, 2], [3, 4]]
WORDS = np.array([[9, 0, 1, 0], [8, 0, 0, 2], [7, 1, 0, 0], [0, 9, 1, 0], [1, 8, 0, 0]])


def problem(X, codes=None):
    codes = np.arange(X.shape[0]) if codes is None else codes
    return ClassProblem(X, np.asarray(codes, dtype=np.int32), int(np.max(codes)) + 1)


def root(partition, here):
    return partition.split(partition.begin(here), np.arange(here.n_classes, dtype=np.int32), 0)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_classes_go_where_their_features_are(layout):
    parts = root(NMFPartition(), problem(layout(WORDS.astype(float))))
    assert [part.tolist() for part in parts] == HALVES


def test_branching():
    X = np.kron(np.eye(3), [[4.0, 3], [3, 4]])
    expected = {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}
    assert groups_of(root(NMFPartition(3), problem(X))) == expected


def test_an_offset_of_dense_features_changes_nothing():
    X = np.random.default_rng(0).normal(size=(12, 5))
    expected = groups_of(root(NMFPartition(), problem(X)))
    assert groups_of(root(NMFPartition(), problem(X - 8.0))) == expected


def test_negative_sparse_values_become_features_of_their_own():
    X = sparse.csr_array(np.array([[5.0, 0], [4, 0], [-5, 0], [-4, 0], [0, 0]]))
    _, means = NMFPartition().begin(problem(X))
    assert sparse.issparse(means)
    assert means.shape == (5, 4)
    assert means.nnz == X.nnz
    assert means.min() >= 0
    parts = root(NMFPartition(), problem(X))
    for pair in ({0, 1}, {2, 3}):
        assert any(pair <= set(part.tolist()) for part in parts)


def test_the_scale_of_a_class_does_not_matter():
    X = WORDS * np.array([1.0, 10.0, 0.1, 5.0, 1.0])[:, None]
    parts = root(NMFPartition(), problem(sparse.csr_array(X)))
    assert [part.tolist() for part in parts] == HALVES


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_equal_classes_are_halved_in_order(layout, value):
    parts = root(NMFPartition(), problem(layout(np.full((5, 3), value))))
    assert [part.tolist() for part in parts] == HALVES


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_a_single_feature_is_cut_in_its_order(layout):
    parts = root(NMFPartition(), problem(layout(np.array([[1.0], [9.0], [3.0], [2.0], [8.0]]))))
    assert [part.tolist() for part in parts] == [[0, 2, 3], [1, 4]]


def test_there_are_no_more_parts_than_features():
    parts = root(NMFPartition(4), problem(WORDS[:, :2].astype(float)))
    assert [part.tolist() for part in parts] == HALVES


def test_where_one_part_leads_everywhere_its_share_decides(monkeypatch):
    here = problem(WORDS.astype(float))
    shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2], [0.7, 0.3], [0.95, 0.05]])
    monkeypatch.setattr(NMFTree, "_shares_of_parts", lambda *_: shares)
    assert [part.tolist() for part in root(NMFPartition(), here)] == [[0, 2, 4], [1, 3]]


def test_the_same_seed_makes_the_same_groups():
    here = problem(np.random.default_rng(1).random((40, 6)))
    first, second = (groups_of(root(NMFPartition(4), here)) for _ in range(2))
    assert first == second
