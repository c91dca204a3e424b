from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.class_tree.clades import groups_of

from palmette.class_tree import _similarity
from palmette.exceptions import PalmetteError
from palmette.partition import BalancedPartition, ClassProblem


def split(X, branching=2, metric="euclidean"):
    partition = BalancedPartition(branching, metric=metric)
    n_classes = X.shape[0]
    state = partition.begin(ClassProblem(X, np.arange(n_classes, dtype=np.int32), n_classes))
    return partition.split(state, np.arange(n_classes), 0)


@given(st.integers(3, 40), st.integers(2, 9), st.integers(0, 99))
def test_sizes_differ_by_one_at_most(n_classes, branching, seed):
    X = np.random.default_rng(seed).integers(3, size=(n_classes, 2)).astype(float)
    sizes = [len(group) for group in split(X, branching)]
    assert len(sizes) == min(branching, n_classes)
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == n_classes


def test_halves_are_near_the_best_of_all():
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(10, 2))

        def spread(group, X=X):
            rest = np.setdiff1d(np.arange(10), group)
            return sum(X[side].var(axis=0).sum() * len(side) for side in (np.array(group), rest))

        best = min(spread(np.array(group)) for group in combinations(range(10), 5))
        assert spread(split(X)[0]) < 1.15 * best


def test_families_of_one_size_are_found():
    rng = np.random.default_rng(0)
    family = np.tile(np.arange(4), 6)
    X = 9 * rng.normal(size=(4, 5))[family] + rng.normal(size=(24, 5))
    expected = {frozenset(np.flatnonzero(family == k).tolist()) for k in range(4)}
    assert groups_of(split(X, 4)) == expected


def test_cosine_looks_at_directions():
    X = np.array([[1.0, 0.1], [0.1, 1.0], [100.0, 0.0], [0.0, 100.0]])
    assert groups_of(split(X, metric="cosine")) == {frozenset([0, 2]), frozenset([1, 3])}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_many_classes_are_halved_as_few_are(monkeypatch, form):
    rng = np.random.default_rng(0)
    X = 9 * rng.normal(size=(2, 5))[np.arange(40) % 2] + rng.normal(size=(40, 5))
    expected = groups_of(split(X))
    monkeypatch.setattr(_similarity, "_BLOCK", 8)
    assert groups_of(split(form(X))) == expected


@pytest.mark.parametrize("wrong", [{"branching": 1}, {"metric": "cityblock"}])
def test_parameters_are_checked(wrong):
    with pytest.raises(PalmetteError, match=next(iter(wrong))):
        split(np.zeros((3, 1)), **wrong)
