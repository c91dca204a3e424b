from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from tests.class_tree.clades import groups_of
from tests.class_tree.literal_similarity import literal_similarity

from palmette.class_tree import MFTree
from palmette.exceptions import PalmetteError
from palmette.partition import ClassProblem, SpectralPartition


def families(n_families=2, n_classes=12, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    family = np.arange(n_classes) % n_families
    means = 9 * rng.normal(size=(n_families, n_features))[family]
    means += rng.normal(size=(n_classes, n_features))
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=80)])
    X = means[codes] + 0.1 * rng.normal(size=(len(codes), n_features))
    return (
        X,
        codes.astype(np.int32),
        {frozenset(np.flatnonzero(family == k).tolist()) for k in range(n_families)},
    )


def root(partition, X, codes):
    n_classes = codes.max() + 1
    state = partition.begin(ClassProblem(X, codes, n_classes))
    return groups_of(partition.split(state, np.arange(n_classes), 0))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", ["linear", "poly", Nystroem(n_components=40, random_state=0)])
def test_two_families_are_found(form, kernel):
    X, codes, expected = families()
    assert root(SpectralPartition(kernel=kernel), form(X), codes) == expected


def test_four_families_are_found_at_once():
    X, codes, expected = families(4)
    assert root(SpectralPartition(4), X, codes) == expected


def test_no_more_classes_than_groups():
    X, codes, _ = families(n_classes=5)
    assert root(SpectralPartition(8), X, codes) == {frozenset([k]) for k in range(5)}


def test_the_published_rule_takes_the_larger_magnitude():
    X, codes, _ = families(3)
    D = literal_similarity(X @ X.T, codes, np.arange(12), 1.0, False)
    vectors = np.abs(np.linalg.eigh(D)[1][:, ::-1][:, :2])
    left = vectors[:, 0] >= vectors[:, 1]
    partition = SpectralPartition(rule="abs", weights="sums", centring="global")
    expected = {frozenset(np.flatnonzero(side).tolist()) for side in (left, ~left)}
    assert 0 < left.sum() < 12
    assert root(partition, X, codes) == expected


def test_the_published_rule_falls_back_on_the_median():
    vectors = np.array([[0.4, 0.1], [-0.6, 0.2], [0.7, -0.3], [0.5, 0.0]])
    right = MFTree(rule="abs")._right(np.array([2.0, 1.0]), vectors)
    assert right.tolist() == [False, False, True, True]


def test_tau_divides_around_the_largest_classes():
    codes = np.repeat(np.arange(4), [5, 1, 7, 2]).astype(np.int32)
    X = np.array([0.0, 1.0, 10.0, 4.0])[codes][:, None]
    partition = SpectralPartition(tau=1)
    assert root(partition, X, codes) == {frozenset([0, 1, 3]), frozenset([2])}


def test_tau_counts_depth():
    X, codes, _ = families(4, n_classes=16)
    state = SpectralPartition(tau=2).begin(ClassProblem(X, codes, 16))
    plain, short = SpectralPartition(), SpectralPartition(tau=2)
    classes = np.arange(16)
    for depth in range(4):
        fresh = plain.begin(ClassProblem(X, codes, 16))
        same = groups_of(plain.split(fresh, classes, 0)) == groups_of(
            short.split(state, classes, 0)
        )
        if depth >= 2:
            assert same
    assert state.depth.tolist() == [4] * 16


@pytest.mark.parametrize("branching", [2, 5])
@pytest.mark.parametrize("min_side", [0.1, 0.3, 0.5])
def test_the_least_share_outside_of_the_largest_group(branching, min_side):
    codes = np.arange(20, dtype=np.int32)
    X = np.column_stack([10.0 ** np.arange(20), np.arange(20)])  # one class away from all others
    sizes = [
        len(group) for group in root(SpectralPartition(branching, min_side=min_side), X, codes)
    ]
    assert max(sizes) <= 20 - 20 * min_side


def test_sums_make_chains_where_means_do_not():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(60), (600 / (1 + np.arange(60))).astype(int)).astype(np.int32)
    X = rng.normal(size=(60, 20))[codes] + rng.normal(size=(len(codes), 20))
    sizes = {
        weights: min(map(len, root(SpectralPartition(weights=weights), X, codes)))
        for weights in ("means", "sums")
    }
    assert sizes["sums"] < 5 < sizes["means"]


def test_a_feature_map_that_draws_follows_the_seed():
    X, codes, _ = families(3)
    partition = SpectralPartition(kernel=Nystroem(n_components=5))
    one, two, other = (
        partition.begin(ClassProblem(X, codes, 12, seed=seed)).similarity.matrix(np.arange(12))
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
    assert partition.kernel.random_state is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"branching": 1},
        {"weights": "medians"},
        {"centring": "none"},
        {"rule": "sign"},
        {"kernel": 3},
        {"rule": "abs", "branching": 3},
    ],
)
def test_parameters_are_checked(wrong):
    X, codes, _ = families()
    with pytest.raises(PalmetteError, match=next(iter(wrong))):
        SpectralPartition(**wrong).begin(ClassProblem(X, codes, 12))
