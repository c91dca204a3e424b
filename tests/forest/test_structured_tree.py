"""Trees against a literal implementation; growing, prediction and single features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.forest import literal_soshf as literal
from tests.forest.test_hellinger import BLOCKS
from tests.strategies import quick

from palmette.forest import _tree_kernel as tree_kernel
from palmette.forest._label_clusters import overall_weights
from palmette.forest._node_split import best_axis
from palmette.forest._predict_kernel import ObliqueTrees, add_votes, find_leaves
from palmette.forest._split_losses import row_shares
from palmette.forest._tree_kernel import ROUTERS, TreeSettings, grow_tree

LITERAL = TreeSettings(
    router=ROUTERS["hellinger-adam"],
    n_starts=30,
    cluster_iterations=50,
    feature_share=1.0,
    alpha_first=0.1,
    alpha_last=4.0,
    max_iterations=100,
    start_iterations=200,
    start_tolerance=1e-6,
    refit_bias=False,
)


def problem(seed, n_rows=60, n_features=6, n_labels=4, density=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < density)
    Y = (
        X @ rng.normal(size=(n_features, n_labels)) + 0.3 * rng.normal(size=(n_rows, n_labels))
        > 0.5
    )
    return X, Y


def sparse_labels(Y):
    Y = sparse.csr_array(Y)
    return Y.indptr.astype(np.int64), Y.indices.astype(np.int32), Y.shape[1]


def sparse_rows(X):
    X = sparse.csr_array(X.astype(np.float32))
    return X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), X.shape[1]


def grow(X, Y, settings=None, seed=0, rows=None, weights=None, kind=np.float32, as_sparse=False):
    rows = np.arange(len(X), dtype=np.int32) if rows is None else rows
    weights = np.ones(len(rows)) if weights is None else weights
    features = np.arange(X.shape[1], dtype=np.int32)
    labels = np.arange(Y.shape[1], dtype=np.int32)
    given = sparse_rows(X) if as_sparse else np.ascontiguousarray(X, dtype=kind)
    settings = TreeSettings() if settings is None else settings
    shares = np.asarray(Y, dtype=float).mean(axis=0)
    drawn = features, labels, shares
    return grow_tree(given, sparse_labels(Y), rows, weights, *drawn, settings, seed)


def together(trees):
    weights = np.cumsum([0, *(len(tree.weight_values) for tree in trees)])
    parts = [tree.weight_starts[:-1] + first for tree, first in zip(trees, weights, strict=False)]
    join = lambda name: np.concatenate([getattr(tree, name) for tree in trees])  # noqa: E731
    return ObliqueTrees(
        np.cumsum([0, *(len(tree.left) for tree in trees)]),
        join("left"),
        join("right"),
        np.concatenate([*parts, weights[-1:]]),
        join("weight_features"),
        join("weight_values"),
        join("bias"),
    )


def leaves_as_sets(leaf_of_row):
    return {frozenset(np.flatnonzero(leaf_of_row == leaf)) for leaf in set(leaf_of_row.tolist())}


def random_settings(router, seed):
    rng = np.random.default_rng(seed)
    return TreeSettings(
        router=ROUTERS[router],
        feature_share=float(rng.choice([0.3, 1.0])),
        min_samples_leaf=int(rng.integers(1, 5)),
        refit_bias=bool(rng.random() < 0.5),
        max_iterations=10,
    )


# ---------------------------------------------------------------------- the literal tree


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_is_that_of_the_equations(seed):
    X, Y = problem(seed, n_rows=80, n_labels=3)
    rows = np.sort(np.argsort(Y[:, 0], kind="stable")[:60]).astype(np.int32)
    tree = grow(X, Y, LITERAL, seed, rows=rows)
    features, labels = np.arange(X.shape[1]), np.arange(3)
    leaves = literal.grow(X, Y.astype(float), rows, features, labels)
    assert len(leaves) > 2
    found = {frozenset(rows[list(leaf)].tolist()) for leaf in leaves_as_sets(tree.leaf_of_row)}
    assert found == {frozenset(leaf.tolist()) for leaf in leaves}


def test_the_global_term_is_that_of_all_rows():
    _, Y = problem(0)
    expected = literal.idf(Y.sum(axis=0), len(Y))
    np.testing.assert_allclose(overall_weights(Y.mean(axis=0)), expected)
    assert overall_weights(np.zeros(2)).tolist() == [1, 1]
    assert overall_weights(np.empty(0)).size == 0


# ---------------------------------------------------------------------- laws


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("router", ROUTERS)
@given(st.integers(0, 10**6))
@quick
def test_training_rows_reach_the_leaf_they_were_put_in(router, as_sparse, seed):
    X, Y = problem(seed, density=0.4 if as_sparse else 1.0)
    settings = random_settings(router, seed)
    tree = grow(X, Y, settings, seed, as_sparse=as_sparse)
    found = find_leaves(X.astype(np.float32), together([tree]))[:, 0]
    np.testing.assert_array_equal(found, tree.leaf_of_row)
    sizes = np.bincount(tree.leaf_of_row, minlength=len(tree.left))
    assert (sizes[tree.left >= 0] == 0).all()
    if len(tree.left) > 1:
        assert sizes[tree.left < 0].min() >= settings.min_samples_leaf


@pytest.mark.parametrize("router", ROUTERS)
def test_a_tree_is_well_formed(router):
    X, Y = problem(1, n_rows=200)
    tree = grow(X, Y, TreeSettings(router=ROUTERS[router]), 1)
    inner, n_nodes = tree.left >= 0, len(tree.left)
    assert n_nodes > 10
    np.testing.assert_array_equal(inner, tree.right >= 0)
    children = np.concatenate([tree.left[inner], tree.right[inner]])
    assert sorted(children.tolist()) == list(range(1, n_nodes))
    n_weights = np.diff(tree.weight_starts)
    assert (n_weights[~inner] == 0).all()
    assert (n_weights[inner] > 0).all()
    assert (tree.weight_values != 0).all()
    for node in np.flatnonzero(inner):
        own = tree.weight_features[tree.weight_starts[node] : tree.weight_starts[node + 1]]
        assert (np.diff(own) > 0).all()


@pytest.mark.parametrize("router", ROUTERS)
def test_sparse_and_dense_features_grow_trees_as_good(router):
    X, Y = problem(2, n_rows=150, density=0.5)
    settings = TreeSettings(router=ROUTERS[router], max_depth=1)
    dense, thin = (grow(X, Y, settings, 3, as_sparse=s) for s in (False, True))
    np.testing.assert_array_equal(dense.leaf_of_row, thin.leaf_of_row)
    np.testing.assert_array_equal(dense.weight_features, thin.weight_features)
    np.testing.assert_allclose(dense.weight_values, thin.weight_values, rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("router", ROUTERS)
def test_compiled_splits_are_those_of_python(router, as_sparse, monkeypatch):
    X, Y = problem(2, density=0.5 if as_sparse else 1.0)
    settings = TreeSettings(router=ROUTERS[router], max_depth=2, max_iterations=20)
    compiled = grow(X, Y, settings, 3, as_sparse=as_sparse)
    monkeypatch.setattr(tree_kernel, "split_nodes", tree_kernel.split_nodes.py_func)
    with np.errstate(over="ignore"):  # random numbers are made by products modulo 2**64
        expected = grow(X, Y, settings, 3, as_sparse=as_sparse)
    assert len(expected.left) >= 5
    for name in ("left", "right", "weight_starts", "weight_features", "leaf_of_row"):
        np.testing.assert_array_equal(getattr(compiled, name), getattr(expected, name))
    np.testing.assert_allclose(compiled.weight_values, expected.weight_values, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(compiled.bias, expected.bias, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("router", ["hellinger-adam", "logistic", "axis"])
def test_weights_are_copies_of_rows(router):  # owlqn stops early, where rounding has a say
    X, Y = problem(3, n_rows=40)
    times = np.random.default_rng(0).integers(1, 3, len(X))
    settings = TreeSettings(router=ROUTERS[router], max_depth=1, n_starts=20, min_samples_leaf=1)
    rows = np.arange(len(X), dtype=np.int32)
    weighed = grow(X, Y, settings, 5, rows, times.astype(float))
    copied = grow(X, Y, settings, 5, np.repeat(rows, times))
    merged = np.repeat(weighed.leaf_of_row, times)
    assert leaves_as_sets(merged) == leaves_as_sets(copied.leaf_of_row)


def test_the_same_seed_grows_the_same_tree_and_another_one_another():
    X, Y = problem(4, n_rows=120)
    one, again, other = (grow(X, Y, None, seed) for seed in (7, 7, 8))
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.weight_values.tolist() != other.weight_values.tolist()


def test_limits_are_kept():
    X, Y = problem(5, n_rows=120)
    assert len(grow(X, Y, TreeSettings(max_depth=0)).left) == 1
    assert len(grow(X, Y, TreeSettings(max_depth=2)).left) <= 7
    assert len(grow(X, Y, TreeSettings(min_samples_split=121)).left) == 1
    sizes = np.bincount(grow(X, Y, TreeSettings(min_samples_leaf=20)).leaf_of_row)
    assert sizes[sizes > 0].min() >= 20


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_what_cannot_be_split_is_a_leaf(router, as_sparse):
    X, Y = problem(6)
    settings = TreeSettings(router=ROUTERS[router])
    same_labels = grow(X, np.ones_like(Y), settings, as_sparse=as_sparse)
    same_rows = grow(np.zeros_like(X), Y, settings, as_sparse=as_sparse)
    no_labels = grow(X, Y[:, :0], settings, as_sparse=as_sparse)
    for tree in (same_labels, same_rows, no_labels):
        assert tree.left.tolist() == [-1]
        assert not tree.leaf_of_row.any()


def test_only_drawn_features_have_weights():
    X, Y = problem(7, n_rows=100)
    drawn, labels = np.array([1, 4], dtype=np.int32), np.array([0], dtype=np.int32)
    rows = np.arange(100, dtype=np.int32)
    data = np.ascontiguousarray(X, dtype=np.float32), sparse_labels(Y)
    tree = grow_tree(
        *data, rows, np.ones(100), drawn, labels, Y[:, :1].mean(axis=0), TreeSettings(), 0
    )
    assert set(tree.weight_features.tolist()) <= {1, 4}


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_small_weights_are_dropped(part):
    X, Y = problem(10, n_rows=150)
    tree = grow(X, Y, TreeSettings(prune=part, min_samples_leaf=10))
    inner = np.flatnonzero(tree.left >= 0)
    smallest = np.inf
    for node in inner:
        sizes = np.abs(tree.weight_values[tree.weight_starts[node] : tree.weight_starts[node + 1]])
        assert sizes.min() >= part * sizes.max()
        smallest = min(smallest, sizes.min() / sizes.max())
        if part == 1.0:
            assert len(sizes) == 1
    assert smallest < 0.5 or part > 0.0


@pytest.mark.parametrize("n_least", [1, 8])
def test_sparse_features_need_rows(n_least):
    X, Y = problem(12, n_rows=40, n_features=30, density=0.15)
    settings = TreeSettings(min_column_rows=n_least, prune=0.0, feature_share=1.0, max_depth=1)
    tree = grow(X, Y, settings, as_sparse=True)
    n_rows = (X != 0).sum(axis=0)[tree.weight_features]
    assert n_rows.min() >= n_least
    assert (n_rows.min() < 8) == (n_least == 1)


def test_clusters_of_few_labels_fall_back_on_all():
    X, Y = problem(11, n_rows=100, n_labels=8)
    Y[:, 1:] = True  # seven of eight labels say nothing, and one is drawn at a node
    tree = grow(X, Y, TreeSettings(label_share=0.125, max_depth=1))
    all_labels = grow(X, Y, TreeSettings(max_depth=1))
    assert len(tree.left) == 3
    # the random draws differ, the separated clusters do not
    for grown in (tree, all_labels):
        right = Y[grown.leaf_of_row == 2, 0].mean()
        left = Y[grown.leaf_of_row == 1, 0].mean()
        assert abs(right - left) > 0.3


# ---------------------------------------------------------------------- prediction


@pytest.mark.parametrize("n_rows", [1, 5, 700])
def test_votes_are_weighted_sums_of_what_leaves_say(n_rows):
    X, Y = problem(8, n_rows=80)
    trees = together([grow(X, Y, None, seed) for seed in range(5)])
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_rows, X.shape[1])).astype(np.float32)
    n_nodes, n_labels = len(trees.left), 4
    said = sparse.random_array((n_nodes, n_labels), density=0.6, random_state=rng, format="csr")
    shares = said.indptr.astype(np.int64), said.indices.astype(np.int32)
    vote_weights = rng.choice([1, 5], (5, n_labels)).astype(np.float32)
    counts = rng.random((5, n_rows)) < 0.6
    leaves = find_leaves(rows, trees) + trees.tree_starts[:-1]
    for mask in (None, counts):
        votes = np.full((n_rows, n_labels), 0.25)
        add_votes(rows, trees, *shares, said.data.astype(np.float32), vote_weights, votes, mask)
        expected = np.full((n_rows, n_labels), 0.25)
        for tree in range(5):
            part = said.toarray()[leaves[:, tree]] * vote_weights[tree]
            expected += part if mask is None else part * mask[tree][:, None]
        np.testing.assert_allclose(votes, expected, rtol=1e-6)


def test_sparse_rows_reach_the_same_leaves_as_dense_rows():
    X, Y = problem(9, n_rows=300, density=0.3)
    trees = together([grow(X, Y, None, seed, as_sparse=True) for seed in range(3)])
    leaves = find_leaves(X.astype(np.float32), trees)
    np.testing.assert_array_equal(find_leaves(sparse_rows(X), trees), leaves)
    assert leaves.shape == (300, 3)
    assert find_leaves(np.empty((0, 6), dtype=np.float32), trees).shape == (0, 3)


# ---------------------------------------------------------------------- single features


def entropy(second, weights):
    shares = np.array([weights[second].sum(), weights[~second].sum()]) / weights.sum()
    shares = shares[shares > 0]
    return -(shares * np.log(shares)).sum()


@pytest.mark.parametrize("form", BLOCKS)
@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
@quick
def test_the_best_feature_gains_most(form, seed, min_rows, ties):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 3)) * (rng.random((14, 3)) < 0.6)
    X = (np.round(X) if ties else X).astype(np.float32)
    second, weights = rng.random(14) < 0.5, rng.integers(1, 4, 14).astype(float)
    shares = np.empty((2, 14), dtype=np.float32)
    row_shares(second, weights, shares)
    column, cut, gain = best_axis(BLOCKS[form](X), 3, shares, min_rows)
    best = 0.0
    for j in range(3):
        for threshold in np.unique(X[:, j])[1:]:
            right = X[:, j] >= threshold
            if min_rows <= right.sum() <= 14 - min_rows:
                parts = [
                    (weights[s].sum(), entropy(second[s], weights[s])) for s in (right, ~right)
                ]
                left_over = sum(w * e for w, e in parts) / weights.sum()
                best = max(best, entropy(second, weights) - left_over)
    assert gain == pytest.approx(best, abs=5e-6)  # the kernel adds in single precision
    if column >= 0:
        right = X[:, column] >= cut
        assert min_rows <= right.sum() <= 14 - min_rows
