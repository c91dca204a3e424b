"""HSIC, the covariance of a tree, and the objective of MF-Tree, against n x n matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette import BHCTree, Hierarchy, MFTree, PalmetteError, RandomTree
from palmette.metrics import (
    class_regularizer,
    factorization_loss,
    hsic,
    tree_covariance,
    tree_hsic,
)

TREE = Hierarchy.from_paths([("p", "a"), ("p", "q", "b"), ("p", "q", "c"), ("d",), ("e", "f")])
NAMES = TREE.names[TREE.leaves].tolist()


def problem(seed=0, n=40):
    rng = np.random.default_rng(seed)
    y = rng.choice(NAMES, size=n)
    X = rng.normal(size=(n, 3)) + 3.0
    X[:, 0] += [NAMES.index(label) for label in y]
    return X, y


def kernels(X, y, C):
    """The centred kernel of the rows and that of the classes, as the paper writes them."""
    n = len(X)
    H = np.eye(n) - np.ones((n, n)) / n
    Y = np.array([[label == name for name in NAMES] for label in y], dtype=float)
    return H @ (X @ X.T) @ H, Y @ C @ Y.T, H, Y


def literal_covariance(tree, names):
    paths = [tree.path(tree.index(name)) for name in names]
    C = np.zeros((len(names), len(names)))
    for i, one in enumerate(paths):
        for j, other in enumerate(paths):
            shared = [a == b for a, b in zip(one, other, strict=False)]
            C[i, j] = shared.index(False) if False in shared else len(shared)
    return C


def test_hsic_is_the_trace_of_centred_kernels():
    X, y = problem()
    K, L, H, _ = kernels(X, y, literal_covariance(TREE, NAMES))
    expected = np.trace(X @ X.T @ H @ L @ H) / (len(X) - 1) ** 2
    assert hsic(X @ X.T, L) == pytest.approx(expected)
    assert hsic(K, L) == pytest.approx(expected)
    assert hsic(np.ones((5, 5)), np.eye(5)) == pytest.approx(0.0)
    with pytest.raises(PalmetteError, match="expected two square matrices"):
        hsic(np.eye(3), np.eye(4))


def test_the_covariance_of_a_tree_counts_shared_edges():
    expected = literal_covariance(TREE, NAMES)
    assert np.array_equal(tree_covariance(TREE), expected)
    assert np.array_equal(tree_covariance(TREE, NAMES[::-1]), expected[::-1, ::-1])
    assert np.linalg.eigvalsh(expected)[0] > 0


def test_figure_1_of_the_paper():
    four = Hierarchy.from_paths([("l", 1), ("l", 2), ("r", 3), ("r", 4)])
    assert tree_covariance(four).tolist() == [
        [2, 1, 0, 0],
        [1, 2, 0, 0],
        [0, 0, 2, 1],
        [0, 0, 1, 2],
    ]


def test_figure_1_with_lengths_of_edges():
    """The matrix on the right-hand side of Figure 1: a, b above the groups, c to f above leaves."""
    a, b, c, d, e, f = (0.3, 0.7, 1.1, 1.3, 1.7, 1.9)
    four = Hierarchy.from_paths([("l", 1), ("l", 2), ("r", 3), ("r", 4)])
    lengths = {"l": a, "r": b, ("l", 1): c, ("l", 2): d, ("r", 3): e, ("r", 4): f}
    expected = [[a + c, a, 0, 0], [a, a + d, 0, 0], [0, 0, b + e, b], [0, 0, b, b + f]]
    assert tree_covariance(four, lengths=lengths) == pytest.approx(np.array(expected))
    some = tree_covariance(four, [("r", 4), ("l", 1)], lengths={"l": a})
    assert some == pytest.approx(np.diag([2.0, a + 1]))
    with pytest.raises(PalmetteError, match=r"lengths\['l'\] is 0: expected a positive number"):
        tree_covariance(four, lengths={"l": 0})
    with pytest.raises(PalmetteError, match="the root, which has no edge above it"):
        tree_covariance(four, lengths={four.names[0]: 1.0})
    with pytest.raises(PalmetteError, match="'new' is not in the hierarchy"):
        tree_covariance(four, lengths={"new": 1.0})


@pytest.mark.parametrize("form", ["sets", "matrix", "sparse matrix"])
def test_label_sets_count_as_in_the_learner(form):
    """A row counts for each of its labels, and columns are those that the tree was learned from."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4)) * 3
    Y = (X @ rng.normal(size=(4, 7)) + rng.normal(size=(60, 7)) > 2).astype(int)
    assert (Y.sum(axis=1) == 0).any()
    assert (Y.sum(axis=1) > 1).any()
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    y = {"sets": sets, "matrix": Y, "sparse matrix": sparse.csr_array(Y)}[form]
    tree = MFTree().fit(X, y)
    rows, columns = np.nonzero(Y)
    leaves = tree.hierarchy_.names[tree.hierarchy_.leaves].tolist()
    assert leaves != sorted(leaves)  # columns are not leaves in their order
    pairs = columns.tolist()
    assert tree_hsic(X, y, tree.hierarchy_) == pytest.approx(tree.objective_)
    assert tree_hsic(X, y, tree.hierarchy_) == pytest.approx(
        tree_hsic(X[rows], pairs, tree.hierarchy_)
    )
    assert factorization_loss(X, y, tree.hierarchy_, edge=1e-4) == pytest.approx(
        factorization_loss(X[rows], pairs, tree.hierarchy_, edge=1e-4)
    )
    assert factorization_loss(sparse.csr_array(X), y, tree.hierarchy_, edge=1e-4) == pytest.approx(
        factorization_loss(X, y, tree.hierarchy_, edge=1e-4)
    )
    with pytest.raises(PalmetteError, match="0 labels in 2 rows: expected two labels or more"):
        tree_hsic(X[:2], np.zeros((2, 7), dtype=int), tree.hierarchy_)


def test_columns_of_a_matrix_may_be_the_leaves_of_any_tree():
    X, y = problem()
    Y = np.array([[label == name for name in NAMES] for label in y], dtype=int)
    assert tree_hsic(X, Y, TREE) == pytest.approx(tree_hsic(X, y, TREE))


def test_paths_are_labels():
    X, y = problem()
    paths = [TREE.path(TREE.index(label)) for label in y]
    assert tree_hsic(X, paths, TREE) == pytest.approx(tree_hsic(X, y, TREE))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_objective_needs_no_kernel_matrix(as_sparse):
    X, y = problem()
    _, L, H, _ = kernels(X, y, literal_covariance(TREE, NAMES))
    rows = sparse.csr_array(X) if as_sparse else X
    expected = hsic(X @ X.T, L)
    assert tree_hsic(rows, y, TREE) == pytest.approx(expected)
    length = np.linalg.norm(H @ L @ H)
    scaled = (len(X) - 1) ** 2 * expected / length
    assert tree_hsic(rows, y, TREE, relative=True) == pytest.approx(scaled)


def test_classes_without_rows_count_for_nothing():
    X, y = problem()
    larger = Hierarchy.from_paths([*[TREE.path(leaf) for leaf in TREE.leaves], ("p", "new")])
    for relative in (False, True):
        assert tree_hsic(X, y, larger, relative=relative) == pytest.approx(
            tree_hsic(X, y, TREE, relative=relative)
        )


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_loss_is_that_of_the_best_factorization(as_sparse):
    X, y = problem()
    C = 1e-3 * literal_covariance(TREE, NAMES)
    _, _, H, Y = kernels(X, y, C)
    R = class_regularizer(C, Y.sum(axis=0))
    Z, centred = Y, H @ X
    W = centred.T @ Z @ np.linalg.inv(Z.T @ Z + R)

    def loss(W):
        return ((centred - Z @ W.T) ** 2).sum() + np.trace(W @ R @ W.T)

    rows = sparse.csr_array(X) if as_sparse else X
    found = factorization_loss(rows, y, TREE, edge=1e-3)
    assert found == pytest.approx(loss(W))
    rng = np.random.default_rng(0)
    assert all(loss(W + 0.1 * rng.normal(size=W.shape)) > found for _ in range(5))


def test_theorem_1():
    X, y = problem()
    sizes = np.array([np.count_nonzero(y == name) for name in NAMES], dtype=float)
    C = 1e-3 * tree_covariance(TREE)
    R = class_regularizer(C, sizes)
    assert np.linalg.eigvalsh(R)[0] > 0
    assert np.linalg.inv(np.diag(sizes) + R) == pytest.approx(C)
    # with edges of length 1 there is no such regularizer
    with pytest.raises(PalmetteError, match="Divide the lengths of the edges by more than"):
        class_regularizer(tree_covariance(TREE), sizes)
    with pytest.raises(PalmetteError, match="no regularizer gives this covariance"):
        factorization_loss(X, y, TREE, edge=1.0)
    with pytest.raises(PalmetteError, match="covariance has shape"):
        class_regularizer(C, sizes[1:])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("weights", [None, "copies"])
def test_the_objective_of_a_fitted_tree(kernel, weights):
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = problem()
    given = None if weights is None else np.arange(len(X)) % 3 + 1
    tree = MFTree(kernel=kernel, kernel_params={"gamma": 0.3}).fit(X, y, given)
    rows = np.repeat(np.arange(len(X)), 1 if given is None else given)
    X, y = X[rows], y[rows]
    K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.3)
    _, L, _, _ = kernels(X, y, tree_covariance(tree.hierarchy_, NAMES))
    assert tree.objective_ == pytest.approx(hsic(K, L))


@pytest.mark.parametrize("power", [-336, -40, 0, 336])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_objective_of_very_large_and_small_rows(power, as_sparse):
    """Means whose squares are out of range are scaled, which the objective does not show."""
    X, y = problem()
    rows = np.ldexp(X, power)
    found = MFTree().fit(sparse.csr_array(rows) if as_sparse else rows, y)
    expected = tree_hsic(X, y, found.hierarchy_)
    assert np.ldexp(found.objective_, -2 * power) == pytest.approx(expected)


@pytest.mark.parametrize(("power", "expected"), [(-700, 0.0), (700, np.inf), (-1060, 0.0)])
def test_an_objective_that_no_number_is(power, expected):
    X, y = problem()
    assert MFTree().fit(np.ldexp(X, power), y).objective_ == expected


def test_chains_have_the_largest_objectives():
    X, y = problem(n=100)
    chain = Hierarchy.from_paths(
        [(*"xyz"[:i], name) for i, name in enumerate(NAMES[:3])]
        + [(*"xyz", name) for name in NAMES[3:]]
    )
    found = MFTree().fit(X, y)
    star = tree_hsic(X, y, Hierarchy.star(NAMES))
    assert tree_hsic(X, y, chain) > star
    assert found.objective_ == pytest.approx(tree_hsic(X, y, found.hierarchy_))
    for learner in (BHCTree(), RandomTree(random_state=0)):
        assert tree_hsic(X, y, learner.fit(X, y).hierarchy_) > star
