from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from palmette import PalmetteError
from palmette.multilabel._balanced_k_means import (
    BalancedKMeans,
    LabelSetProblem,
    _distances,
    assign_with_capacity,
)


def label_rows(n_labels, n=60, seed=0):
    return np.random.default_rng(seed).random((n, n_labels)) < 0.4


def test_a_full_cluster_sends_its_farthest_on():
    # all four want the first; it keeps the two nearest
    distances = np.array([[1.0, 5.0, 9.0], [2.0, 9.0, 5.0], [3.0, 4.0, 9.0], [4.0, 9.0, 6.0]])
    assert assign_with_capacity(distances, 2).tolist() == [0, 0, 1, 2]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), k=st.integers(1, 6))
def test_no_cluster_is_too_full_and_none_wants_to_change(seed, n, k):
    distances = np.random.default_rng(seed).random((n, k))
    size = -(-n // k)
    assigned = assign_with_capacity(distances, size)
    counts = np.bincount(assigned, minlength=k)
    assert counts.max() <= size
    for label in range(n):
        for better in np.flatnonzero(distances[label] < distances[label, assigned[label]]):
            inside = np.flatnonzero(assigned == better)
            assert counts[better] == size
            assert (distances[inside, better] <= distances[label, better]).all()


def test_distances_need_no_vectors():
    Y = label_rows(7)
    weights = np.random.default_rng(1).random(60)
    together = LabelSetProblem(sparse.csr_array(Y), weights).together
    assigned = np.array([0, 0, 1, 1, 1, 2, 2])
    vectors = (Y * np.sqrt(weights)[:, None]).T
    means = np.array([vectors[assigned == c].mean(axis=0) for c in range(3)])
    expected = ((vectors[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_allclose(_distances(together, assigned, 3), expected, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(3, 20), k=st.integers(2, 5))
def test_clusters_are_a_balanced_partition(seed, n, k):
    partition = BalancedKMeans(k, n_init=1)
    problem = LabelSetProblem(sparse.csr_array(label_rows(n, seed=seed)), seed=seed)
    groups = partition.split(partition.begin(problem), np.arange(n, dtype=np.int32), 0)
    assert np.array_equal(np.sort(np.concatenate(groups)), np.arange(n))
    assert 2 <= len(groups) <= k
    assert max(map(len, groups)) <= -(-n // k)


def test_labels_that_go_together_are_found():
    blocks = np.repeat(np.eye(3, dtype=bool), 4, axis=1)[
        :, np.random.default_rng(0).permutation(12)
    ]
    problem = LabelSetProblem(sparse.csr_array(np.repeat(blocks, 5, axis=0)))
    partition = BalancedKMeans(3)
    groups = partition.split(partition.begin(problem), np.arange(12, dtype=np.int32), 0)
    found = {tuple(group.tolist()) for group in groups}
    assert found == {tuple(np.flatnonzero(block).tolist()) for block in blocks}


@pytest.mark.parametrize(
    "parameters", [{"branching": 1}, {"branching": 2.5}, {"max_iter": 0}, {"n_init": 0}]
)
def test_bad_parameters_are_refused(parameters):
    name = next(iter(parameters))
    with pytest.raises(PalmetteError, match=f"{name}="):
        BalancedKMeans(**parameters).check()
