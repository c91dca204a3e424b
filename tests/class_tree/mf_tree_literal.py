"""MF-Tree as its paper prints it, step by step with all kernels in full: slow, and only numpy.

Liu, Tan and Liu, MF-Tree: matrix factorization tree for large multi-class learning, CIKM 2015. What
the paper leaves open is an argument, so that every reading can be compared with the library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["KERNELS", "Reading", "grow", "predict"]


def _linear(A, B, gamma):
    return A @ B.T


def _rbf(A, B, gamma):
    return np.array([np.exp(-gamma * np.sum((a - B) ** 2, axis=1)) for a in A])


def _polynomial(A, B, gamma):
    return (gamma * (A @ B.T) + 1.0) ** 3


KERNELS = {"linear": _linear, "rbf": _rbf, "polynomial": _polynomial}


@dataclass(frozen=True)
class Reading:
    """A reading of the paper.

    Parameters
    ----------
    kernel : str
        "the similarity between the test instance to all the training instances" (Algorithm 2) may
        be any kernel; the derivation has the linear one.
    gamma : float
        Of the kernel.
    tau : int
        Depth of Algorithm 3.
    rule : {"abs", "max"}
        Algorithm 1 divides "based on the magnitude of matrix G": by |G|, or by G itself, which its
        constraint wants to be non-negative.
    signs : {"largest", "side"}
        An eigenvector has no sign: what is positive, its largest entry or, which matters for "abs"
        only, the sum of the entries of the classes on its side. The sum of all entries is zero.
    one_hot : bool
        Whether v.G, the "discriminant function" of a node, are the eigenvectors or the indicators
        of both sides, which G is before it is relaxed.
    centring : {"global", "node"}
        Section 4.1 centres K over all rows, and D_j has a block K_jj of it; the function Partition
        of Algorithm 1 gets the rows of its node, and may centre these.
    """

    kernel: str = "linear"
    gamma: float = 1.0
    tau: int = 0
    rule: str = "abs"
    signs: str = "largest"
    one_hot: bool = False
    centring: str = "global"


@dataclass
class Node:
    """A node v of Algorithms 1 and 2."""

    index: Any  # v.index: the rows of the node
    label: Any = None  # v.class
    classes: Any = None
    G: Any = None
    left: Any = None
    right: Any = None


@dataclass
class Tree:
    """The root, and what a test row is compared with."""

    root: Node
    X: Any  # centred rows
    y: Any
    mean: Any
    K: Any  # kernel of the centred rows, not centred itself
    reading: Reading


def grow(X, y, reading):
    """Algorithm 3, which is Algorithm 1 for tau = 0."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    mean = X.mean(axis=0)
    X = X - mean  # Section 4.1: "let X denote an n x d centered design matrix"
    K = KERNELS[reading.kernel](X, X, reading.gamma)
    tree = Tree(None, X, y, mean, K, reading)
    # Algorithm 3, lines 1 and 2: d = 0, root = TreeGrowthApprox(X_train, Y_train, d, tau)
    tree.root = _grow_approximately(tree, np.arange(len(X)), 0)
    return tree


def _grow_approximately(tree, index, depth):
    """Function TreeGrowthApprox of Algorithm 3."""
    # line 3: "if d < tau and number of classes in Y < 2", a misprint for 2 or more
    if depth < tree.reading.tau and len(np.unique(tree.y[index])) >= 2:
        node = Node(index)  # lines 1 and 2
        is_left = _partition_around_largest(tree, node)  # line 4: Partition2
        # "a simple method to calculate G at the top levels": G of zeros and ones
        node.G = np.column_stack([is_left, ~is_left]).astype(float)
        sides = _sides(tree, node, is_left)
        node.left = _grow_approximately(tree, sides[0], depth + 1)  # line 5
        node.right = _grow_approximately(tree, sides[1], depth + 1)  # line 6
        return node
    return _grow(tree, index)  # line 8


def _partition_around_largest(tree, node):
    """Function Partition2 of Algorithm 3."""
    X, y = tree.X[node.index], tree.y[node.index]
    node.classes, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")  # line 1: Sort(Y)
    first, second = order[:2]  # lines 2 and 3: the largest class left, the second largest right
    means = np.array([X[y == c].mean(axis=0) for c in node.classes])  # line 4
    is_left = np.zeros(len(node.classes), dtype=bool)
    is_left[first] = True
    for c in order[2:]:  # line 5
        m1 = np.linalg.norm(means[c] - means[first])  # line 6
        m2 = np.linalg.norm(means[c] - means[second])  # line 7
        is_left[c] = m1 <= m2  # lines 8 to 12
    return is_left


def _grow(tree, index):
    """Function TreeGrowth of Algorithm 1."""
    node = Node(index)  # lines 1 and 2
    classes = np.unique(tree.y[index])
    if len(classes) < 2:  # line 3
        node.label = classes[0]  # line 4
        return node
    node.classes = classes
    is_left, node.G = _partition(tree, node)  # line 6
    sides = _sides(tree, node, is_left)
    node.left, node.right = _grow(tree, sides[0]), _grow(tree, sides[1])  # lines 7 and 8
    return node


def _partition(tree, node):
    """Function Partition of Algorithm 1: the first two eigenvectors of D = Y'KY."""
    reading = tree.reading
    Y = (tree.y[node.index][:, None] == node.classes).astype(float)
    D = Y.T @ _centred(tree, tree.K[:, node.index], node)[node.index] @ Y
    values, vectors = np.linalg.eigh((D + D.T) / 2)
    G = vectors[:, np.argsort(-values)[:2]]  # "corresponding to the largest eigenvalues of D"
    # K^(1/2) Y g is zero for an eigenvalue of zero, and so is every projection on such a g
    G = np.where(np.sort(values)[::-1][:2] > 1e-12 * values.max(), G, 0.0)
    for k in range(2):
        G[:, k] *= -1.0 if G[np.abs(G[:, k]).argmax(), k] < 0 else 1.0
    strength = np.abs(G) if reading.rule == "abs" else G
    is_left = strength[:, 0] >= strength[:, 1]
    if is_left.all() or not is_left.any():
        # the paper is silent on a side without classes: the upper half of the first eigenvector
        is_left = np.ones(len(G), dtype=bool)
        is_left[np.argsort(G[:, 0], kind="stable")[: len(G) // 2]] = False
        if strength[is_left, 0].sum() + strength[~is_left, 1].sum() < (
            strength[~is_left, 0].sum() + strength[is_left, 1].sum()
        ):
            is_left = ~is_left  # an eigenvector goes to the side on which it is larger
    for k, side in enumerate((is_left, ~is_left)):
        if reading.signs == "side" and G[side, k].sum() < 0:
            G[:, k] *= -1.0
    if reading.one_hot:
        G = np.column_stack([is_left, ~is_left]).astype(float)
    return is_left, G


def _sides(tree, node, is_left):
    """Return the rows of both children: those of a class stay together (Section 4.4)."""
    here = np.isin(tree.y[node.index], node.classes[is_left])
    return node.index[here], node.index[~here]


def _centred(tree, towards, node):
    """Centre similarities to the rows of a node: H K H, with all rows or those of the node.

    Parameters
    ----------
    towards : array of shape (n, n_here)
        Kernel of any rows, and of the rows of the node; rows of the node alone are centred.
    """
    return _centred_rows(tree, tree.K, towards, node)


def _centred_rows(tree, to_all, to_node, node):
    over = np.arange(len(tree.X)) if tree.reading.centring == "global" else node.index
    return (
        to_node
        - to_all[:, over].mean(axis=1, keepdims=True)
        - tree.K[np.ix_(over, node.index)].mean(axis=0)
        + tree.K[np.ix_(over, over)].mean()
    )


def predict(tree, Z):
    """Algorithm 2."""
    Z = np.asarray(Z, dtype=float) - tree.mean  # test rows are centred as X is
    similarity = KERNELS[tree.reading.kernel](Z, tree.X, tree.reading.gamma)
    labels = []
    for k in range(len(Z)):  # line 1
        node = tree.root  # line 2
        while node.label is None:  # line 3
            row = similarity[k : k + 1]
            k_hat = _centred_rows(tree, row, row[:, node.index], node)[0]  # line 4
            Y = (tree.y[node.index][:, None] == node.classes).astype(float)  # line 5
            p = node.G.T @ (Y.T @ k_hat)  # lines 6 and 7
            node = node.left if p[0] >= p[1] else node.right  # line 8: argmax_i (P'k)_i
        labels.append(node.label)
    return np.array(labels)
