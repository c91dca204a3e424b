"""Trees of rows: groups against slow versions, leaves, and what a prediction takes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from papers.mf_tree.fits import count_dot_products
from papers.mf_tree.row_trees import RowTreeClassifier, _Node, depend_most, factor_groups


@pytest.fixture
def clouds():
    rng = np.random.default_rng(0)
    y = np.repeat(list("abcd"), 12)
    centres = np.array([[0.0, 0.0], [0.0, 3.0], [9.0, 0.0], [9.0, 3.0]])
    return np.repeat(centres, 12, axis=0) + rng.normal(0, 0.4, (48, 2)), y


def test_groups_have_the_largest_criterion():
    """All divisions of eight rows are tried."""
    X = np.random.default_rng(1).normal(size=(8, 2)) + np.repeat([[0.0], [4.0]], 4, axis=0)
    centred = X - X.mean(axis=0)
    kernel = centred @ centred.T

    def criterion(groups):
        member = np.eye(2)[list(groups)]
        return np.trace(member.T @ kernel @ member)

    best = max(criterion(groups) for groups in product(range(2), repeat=8))
    for form in (np.asarray, sparse.csr_array):
        assert criterion(depend_most(form(X), 2)) == pytest.approx(best)


def test_sparse_rows_may_have_negative_values():
    """Positive and negative values of a column are two columns, as in NMFTree."""
    X = np.array([[5.0, 0.0, 0.0], [4.0, 0.0, 1.0], [-5.0, 0.0, 1.0], [-4.0, 0.5, 0.0]])
    groups = factor_groups(sparse.csr_array(X), 2)
    assert groups[0] == groups[1] != groups[2] == groups[3]
    split = np.hstack([np.maximum(X, 0), np.maximum(-X, 0)])
    assert np.array_equal(groups, factor_groups(sparse.csr_array(split), 2))
    tree = RowTreeClassifier("nmf", most_others=1).fit(sparse.csr_array(X), list("aabb"))
    assert tree.predict(sparse.csr_array(X)).tolist() == list("aabb")


def test_words_that_no_row_has_change_nothing():
    rng = np.random.default_rng(2)
    X = sparse.random_array((60, 30), density=0.2, format="csr", rng=rng)
    y = rng.integers(3, size=60)
    wide = sparse.csr_array(sparse.hstack([X, sparse.csr_array((60, 500))]))
    for kind in ("nmf", "dependence"):
        one, two = (RowTreeClassifier(kind, most_others=1).fit(each, y) for each in (X, wide))
        assert (one.depth_, one.n_leaves_) == (two.depth_, two.n_leaves_)


def test_components_are_groups():
    X = np.array([[5.0, 0.1, 0.0], [4.0, 0.0, 0.1], [0.0, 3.0, 3.0], [0.1, 4.0, 4.0]])
    for rows in (X, sparse.csr_array(X)):
        groups = factor_groups(rows, 2)
        assert groups[0] == groups[1] != groups[2] == groups[3]
    assert len(factor_groups(X - 10.0, 2)) == 4  # negative values are moved


@pytest.mark.parametrize("kind", ["nmf", "dependence"])
def test_rows_are_divided_until_a_class_is_nearly_alone(clouds, kind):
    X, y = clouds
    tree = RowTreeClassifier(kind).fit(X, y)
    assert np.mean(tree.predict(X) == y) > 0.9
    assert tree.depth_ >= 2
    waiting = [(tree.root_, np.arange(len(y)))]
    n_leaves = 0
    while waiting:
        node, rows = waiting.pop()
        if node.router is None:
            n_leaves += 1
            assert len(node.judges) in (0, len(node.codes))
            continue
        taken = node.router.predict(X[rows])
        waiting += [(child, rows[taken == group]) for group, child in node.children.items()]
    assert n_leaves == tree.n_leaves_


def test_a_leaf_has_few_rows_of_other_classes(clouds):
    X, y = clouds
    y = y.copy()
    y[:3] = "d"  # three rows of another class are left to the one-class classifiers
    tree = RowTreeClassifier("dependence").fit(X, y)
    strict = RowTreeClassifier("dependence", most_others=0).fit(X, y)
    assert tree.n_leaves_ <= strict.n_leaves_


def test_products_are_counted(clouds):
    X, y = clouds
    tree = RowTreeClassifier("dependence").fit(X, y)
    assert count_dot_products(tree, X) == tree.count_products(X) >= 1
    wide = RowTreeClassifier("nmf", 4).fit(X, y)
    assert wide.count_products(X) >= 4


def test_the_products_of_sparse_rows_are_counted_as_those_of_dense_ones():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 300)) < 0.1, rng.random((60, 300)), 0.0)
    y = np.arange(60) % 4
    leaves = []
    for rows in (X, sparse.csr_array(X)):
        leaf = _Node()
        leaf.make_leaf(rows, y, np.arange(60), 0.1)
        leaves.append(leaf.n_products)
    assert leaves[0] == leaves[1] <= 60
