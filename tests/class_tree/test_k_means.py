"""The compiled k-means finds what the one of arrays finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.class_tree.test_groups import spread

from palmette.class_tree import MFTree, _similarity, _spectral
from palmette.class_tree._groups import k_means
from palmette.class_tree._k_means import k_means_compiled


@pytest.mark.parametrize("seed", range(20))
def test_both_find_the_same_groups(seed):
    rng = np.random.default_rng(seed)
    n, n_dims, n_groups = rng.integers([9, 1, 2], [120, 9, 9])
    points = rng.normal(size=(n, n_dims)) * rng.gamma(1.0, size=n_dims) + rng.normal(size=n_dims)
    assert k_means_compiled(points, n_groups).tolist() == k_means(points, n_groups).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_equal_points_share_a_group(seed):
    rng = np.random.default_rng(seed)
    distinct = rng.normal(size=(4, 3))
    chosen = np.concatenate([np.arange(4), rng.integers(4, size=30)])
    group = k_means_compiled(distinct[chosen], 8)
    assert group.tolist() == k_means(distinct[chosen], 8).tolist() == chosen.tolist()
    assert spread(distinct[chosen], group) == pytest.approx(0)


def test_points_that_are_all_equal_are_one_group():
    assert not k_means_compiled(np.ones((12, 2)), 5).any()
    assert not k_means_compiled(np.zeros((12, 2)), 5).any()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_trees_do_not_depend_on_what_is_compiled(monkeypatch, n_jobs):
    rng = np.random.default_rng(0)
    X = sparse.random_array((900, 70), density=0.2, random_state=rng, format="csr")
    y = np.arange(900) % 300
    trees = []
    for least in (10, 1000):
        monkeypatch.setattr(_spectral, "_COMPILED", least)
        monkeypatch.setattr(_similarity, "_COMPILED", least)
        trees.append(MFTree(8, leaf_size=4, n_jobs=n_jobs).fit(X, y).tree_)
    assert trees[0].parents == trees[1].parents
    assert all(map(np.array_equal, trees[0].groups, trees[1].groups))
