from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from tests.class_tree.clades import groups_of

from palmette.class_tree import _dependence
from palmette.exceptions import PalmetteError
from palmette.partition import ClassProblem, DependencePartition


def problem(X, codes, **kwargs):
    codes = np.asarray(codes, dtype=np.int32)
    return ClassProblem(X, codes, int(codes.max()) + 1, **kwargs)


def gaussians(n_classes=7, n_features=4, seed=0, n_samples=60):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_samples)])
    return rng.normal(size=(len(codes), n_features)) + rng.normal(size=(n_classes, n_features))[
        codes
    ], codes


def all_classes(here):
    return np.arange(here.n_classes, dtype=np.int32)


def root(partition, here):
    return partition.split(partition.begin(here), all_classes(here), 0)


def labels_of(parts):
    labels = np.empty(sum(map(len, parts)), dtype=int)
    for i, part in enumerate(parts):
        labels[part] = i
    return labels


def hsic_of_rows(X, groups):
    """Return tr(H K H L) from kernels of all rows, the definition."""
    H = np.eye(len(X)) - 1.0 / len(X)
    return np.trace(H @ (X @ X.T) @ H @ (groups[:, None] == groups))


def best_of_all(matrix, k):
    return max(
        sum(matrix[np.ix_(at, at)].sum() for at in (np.flatnonzero(labels == g) for g in range(k)))
        for labels in map(np.array, product(range(k), repeat=len(matrix)))
    )


def criterion(matrix, labels):
    return float((matrix * (labels[:, None] == labels)).sum())


def test_the_criterion_of_sums_is_that_of_the_rows():
    X, codes = gaussians()
    here = problem(X, codes)
    kernel = DependencePartition(of="sum").begin(here).centred(all_classes(here))
    for seed in range(5):
        labels = np.random.default_rng(seed).integers(3, size=7)
        ours = criterion(kernel.operator, labels) * here.statistics.weight.mean() ** 2
        assert np.isclose(ours, hsic_of_rows(X, labels[codes]), rtol=1e-10)


@pytest.mark.parametrize("of", ["mean", "sum"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_means_multiply_as_their_matrix_does(of, layout, monkeypatch):
    X, codes = gaussians()
    here = problem(layout(X), codes)
    classes = np.array([0, 2, 3, 6], dtype=np.int32)
    matrix = DependencePartition(of=of).begin(here).centred(classes)
    monkeypatch.setattr(_dependence, "_GRAM", 2)
    means = DependencePartition(of=of).begin(here).centred(classes)
    assert not isinstance(means.operator, np.ndarray)
    assert np.allclose(means.operator @ np.eye(4), matrix.operator, atol=1e-10)
    assert np.allclose(means.operator @ np.ones(4), matrix.operator @ np.ones(4), atol=1e-10)
    assert np.allclose(means.diagonal, matrix.diagonal, atol=1e-10)
    assert np.allclose(matrix.operator.sum(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_two_groups_are_the_best_there_are(seed):
    X, codes = gaussians(seed=seed)
    here = problem(X, codes)
    partition = DependencePartition()
    matrix = partition.begin(here).centred(all_classes(here)).operator
    found = criterion(matrix, labels_of(root(partition, here)))
    assert found == pytest.approx(best_of_all(matrix, 2), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_no_move_of_a_class_makes_three_groups_better(seed):
    here = problem(*gaussians(n_classes=9, seed=seed))
    partition = DependencePartition(3)
    matrix = partition.begin(here).centred(all_classes(here)).operator
    labels = labels_of(root(partition, here))
    found = criterion(matrix, labels)
    for i, group in product(range(9), range(3)):
        moved = labels.copy()
        moved[i] = group
        assert criterion(matrix, moved) <= found * (1 + 1e-6)


def test_hand_worked_line():
    # two far pairs, and a class nearer to the second
    parts = root(DependencePartition(), problem([[0.0], [1.0], [9.0], [10.0], [6.0]], range(5)))
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3, 4]]


def test_branching():
    X = np.repeat(np.eye(3), 2, axis=0) + 0.01 * np.arange(6)[:, None]
    parts = root(DependencePartition(3), problem(X, range(6)))
    assert groups_of(parts) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}


def test_a_kernel_sees_what_a_line_cannot():
    # a ring around a point: by any line the ring is cut
    angles = np.linspace(0, 2 * np.pi, 6, endpoint=False)
    X = np.vstack([np.column_stack([np.cos(angles), np.sin(angles)]) * 0.1, [[3.0, 0], [3.1, 0]]])
    here = problem(X, range(8))
    state = DependencePartition(kernel="rbf", kernel_params={"gamma": 2.0}).begin(here)
    assert np.allclose(state.matrix, rbf_kernel(X, gamma=2.0))
    parts = root(DependencePartition(kernel="rbf", kernel_params={"gamma": 2.0}), here)
    assert groups_of(parts) == {frozenset(range(6)), frozenset({6, 7})}


def test_sums_follow_the_large_classes_and_means_do_not():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    codes = np.repeat(np.arange(4), [500, 500, 1, 1])
    here = problem(X[codes], codes)
    assert groups_of(root(DependencePartition(), here)) == {frozenset({0, 1}), frozenset({2, 3})}
    assert frozenset({0}) in groups_of(root(DependencePartition(of="sum"), here))


def test_sparse_rows_and_an_offset_change_nothing():
    X, codes = gaussians()
    expected = groups_of(root(DependencePartition(), problem(X, codes)))
    assert groups_of(root(DependencePartition(), problem(sparse.csr_array(X), codes))) == expected
    assert groups_of(root(DependencePartition(), problem(X + 1e6, codes))) == expected


def test_large_nodes_find_the_same_groups(monkeypatch):
    here = problem(*gaussians(n_classes=30))
    expected = groups_of(root(DependencePartition(), here))
    monkeypatch.setattr(_dependence, "_GRAM", 2)
    assert groups_of(root(DependencePartition(), here)) == expected


def test_equal_classes_are_halved_in_order():
    parts = root(DependencePartition(), problem(np.ones((5, 2)), range(5)))
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4]]


def test_bad_parameters():
    with pytest.raises(PalmetteError, match="of='rows': expected 'mean' or 'sum'"):
        DependencePartition(of="rows").begin(problem(*gaussians()))
