"""How much of the rows a class tree explains: HSIC, and the objective of MF-Tree.

With Y the classes of n rows as zeros and ones, K the centred kernel of the rows and C the
covariance of a tree, MF-Tree maximizes tr(K Y C Y'). A tree's C is the sum of b b' over its nodes
below the root, where b marks the classes below a node: with a linear kernel, the objective is the
sum of the squared lengths of the sums of centred rows of all nodes, which needs no n x n matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length

from palmette._arrays import FloatArray, IntArray, row_chunks
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import node_csr
from palmette.labels._labels import NodeLabels


def hsic(K: Any, L: Any) -> float:
    """Empirical Hilbert-Schmidt independence criterion of two kernels of the same rows.

    Parameters
    ----------
    K, L : arrays of shape (n_samples, n_samples)
        Symmetric kernel matrices; they need not be centred.

    Returns
    -------
    float
        tr(K H L H) / (n - 1)^2 with the centring matrix H: 0 if the rows are independent under
        these kernels, and larger the more they depend on each other.

    References
    ----------
    A. Gretton, O. Bousquet, A. Smola, B. Schölkopf (2005). Measuring statistical dependence with
    Hilbert-Schmidt norms. ALT 2005. doi:10.1007/11564089_7

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [4.0]])
    >>> hsic(rows @ rows.T, np.eye(3))
    2.166...
    """
    first, second = np.asarray(K, dtype=np.float64), np.asarray(L, dtype=np.float64)
    n = len(first)
    if first.shape != (n, n) or second.shape != (n, n) or n < 2:
        raise PalmetteError(
            f"K has shape {first.shape} and L {second.shape}: expected two square matrices of the "
            "same size, of two rows or more."
        )
    means = first.mean(axis=0)
    centred = first - means - means[:, None] + means.mean()
    return float(np.einsum("ij,ji->", centred, second)) / (n - 1) ** 2


def tree_covariance(
    tree: Hierarchy, classes: Any = None, *, lengths: Mapping[Any, float] | None = None
) -> FloatArray:
    """Covariance of the classes of a tree: length that two paths from the root have in common.

    Parameters
    ----------
    tree : Hierarchy
        A tree.
    classes : array-like of names or paths, optional
        By default the leaves.
    lengths : mapping of names or paths to positive numbers, optional
        Length of the edge above a node; 1 for nodes that are not in it.

    Returns
    -------
    array of shape (n_classes, n_classes)
        The distance of the lowest common ancestor of two classes from the root, and that of a class
        itself: Definition 1 of the paper on MF-Tree. Without `lengths` these are depths. Positive
        definite if no class is above another.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning. CIKM 2015. doi:10.1145/2806416.2806540

    Examples
    --------
    >>> tree = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("c",)])
    >>> tree_covariance(tree)
    array([[2., 1., 0.],
           [1., 2., 0.],
           [0., 0., 1.]])
    >>> tree_covariance(tree, lengths={"p": 3.0, "c": 0.5})
    array([[4. , 3. , 0. ],
           [3. , 4. , 0. ],
           [0. , 0. , 0.5]])
    """
    tree.require_tree("tree_covariance")
    nodes = tree.leaves if classes is None else tree.index(list(classes))
    return covariance_of(tree, nodes, _edge_lengths(tree, lengths or {}))


def covariance_of(
    tree: Hierarchy, nodes: IntArray, lengths: FloatArray | None = None
) -> FloatArray:
    """Return the covariance of some nodes of a tree; see `tree_covariance`.

    Parameters
    ----------
    tree : Hierarchy
    nodes : int array of shape (n_classes,)
    lengths : array of shape (n_nodes - 1,), optional
        Of the edges above all nodes but the root.
    """
    above = sparse.csr_array(tree.closure[nodes][:, 1:]).astype(np.float64)
    longer = above if lengths is None else above * lengths
    return np.asarray((sparse.csr_array(longer) @ above.T).toarray())


def _edge_lengths(tree: Hierarchy, lengths: Mapping[Any, float]) -> FloatArray:
    found = np.ones(tree.n_nodes)
    for name, length in lengths.items():
        node = int(tree.index(name))
        if node == 0:
            raise PalmetteError(
                f"lengths has {name!r}, the root, which has no edge above it: expected other nodes."
            )
        if not 0 < length < np.inf:
            raise PalmetteError(f"lengths[{name!r}] is {length!r}: expected a positive number.")
        found[node] = length
    return found[1:]


def tree_hsic(X: Any, y: Any, tree: Hierarchy, *, relative: bool = False) -> float:
    """HSIC of rows and of the classes of a tree, with linear kernels: what MF-Tree maximizes.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    y : labels of n_samples rows
        Nodes of the tree. With label sets, or a 0/1 matrix, a row with several labels counts for
        each of them, as in the learners of trees, and rows without labels are left out. Columns
        without names are the leaves that are called 0, 1, ... as in a tree that was learned from
        the matrix, or else the leaves in the order of the tree.
    tree : Hierarchy
        A tree.
    relative : bool
        Whether to divide by the length of the centred kernel of the classes, the square root of
        its HSIC with itself. Every further level of a tree adds to the sum, so that chains have the
        largest values of all; relative ones can be compared.

    Returns
    -------
    float
        `hsic` of X X' and Y C Y', where C is `tree_covariance`: Equation 5.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning. CIKM 2015. doi:10.1145/2806416.2806540

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [4.0], [6.0]]), ["a", "b", "c", "d"]
    >>> good = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("q", "c"), ("q", "d")])
    >>> bad = Hierarchy.from_paths([("p", "a"), ("p", "c"), ("q", "b"), ("q", "d")])
    >>> round(tree_hsic(X, y, good), 3), round(tree_hsic(X, y, bad), 3)
    (7.028, 3.028)
    """
    tree.require_tree("tree_hsic")
    classes, sums, sizes = _class_sums(X, _labels_in(tree, y))
    below = sparse.csr_array(tree.closure[classes].T).astype(np.float64)[1:]
    below = below[np.flatnonzero(np.diff(below.indptr))]
    total = _squared_sums(below, sums, sizes)
    n = sizes.sum()
    if relative:
        covariance = np.asarray((below.T @ below).toarray())
        return float(total / np.sqrt(_centred_square(covariance, sizes)))
    return float(total / (n - 1) ** 2)


def factorization_loss(X: Any, y: Any, tree: Hierarchy, *, edge: float) -> float:
    """Loss of the matrix factorization of MF-Tree, at the best class vectors: Equation 3.

    The loss is the smallest of ``|X - Z W'|^2 + tr(W R W')`` over W, with centred X, Z the classes
    of the rows and R = `class_regularizer` of the tree. It is ``tr(X X') - tr(X X' Y C Y')``: the
    tree with the largest `tree_hsic` has the smallest loss.

    Parameters
    ----------
    X, y, tree
        As in `tree_hsic`.
    edge : float
        Length of all edges of the tree, small enough for R to be positive definite.

    Returns
    -------
    float

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [4.0], [6.0]]), ["a", "b", "c", "d"]
    >>> good = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("q", "c"), ("q", "d")])
    >>> round(factorization_loss(X, y, good, edge=0.2), 3)
    10.1
    """
    tree.require_tree("factorization_loss")
    labels = _labels_in(tree, y)
    classes, _, sizes = _class_sums(X, labels)
    class_regularizer(edge * covariance_of(tree, classes), sizes)
    n = sizes.sum()
    times = np.diff(labels.specific.indptr).astype(np.float64)
    return float(_spread(X, times) - edge * (n - 1) ** 2 * tree_hsic(X, y, tree))


def class_regularizer(covariance: Any, sizes: Any) -> FloatArray:
    """Return the regularizer of MF-Tree that makes the covariance of a tree the optimal one.

    The factorization with the regularizer R gives the rows the kernel Y (Y'Y + R)^-1 Y'. That is
    Y C Y' with R = C^-1 - Y'Y, which exists if it is positive definite: by Theorem 1 of the paper
    then C is, too. The converse does not hold: edges must be short enough, which the paper does not
    say.

    Parameters
    ----------
    covariance : array of shape (n_classes, n_classes)
        C, such as `tree_covariance` times the length of the edges.
    sizes : array of shape (n_classes,)
        Number of rows of every class.

    Returns
    -------
    array of shape (n_classes, n_classes)

    Examples
    --------
    >>> class_regularizer(0.25 * np.eye(2), [1, 2])
    array([[3., 0.],
           [0., 2.]])
    """
    C, n = np.asarray(covariance, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if C.shape != (len(n), len(n)):
        raise PalmetteError(f"covariance has shape {C.shape}: expected ({len(n)}, {len(n)}).")
    roots = np.sqrt(n)
    largest = float(np.linalg.eigvalsh(roots[:, None] * C * roots)[-1])
    if largest >= 1:
        raise PalmetteError(
            f"no regularizer gives this covariance: its largest eigenvalue, weighted by the sizes "
            f"of the classes, is {largest:.6g}, expected less than 1. Divide the lengths of the "
            f"edges by more than {largest:.6g}."
        )
    return np.asarray(np.linalg.inv(C) - np.diag(n))


# ---------------------------------------------------------------------- sums of rows


def _labels_in(tree: Hierarchy, y: Any) -> NodeLabels:
    """Encode labels: of a tree that was learned from them by their names, else as in all metrics.

    A hierarchy that was learned over label sets or over the columns of a matrix has these as its
    leaves, in an order of its own.
    """
    try:
        labels = NodeLabels.encode(y, flat=True)
    except LabelError:
        return NodeLabels.encode(y, tree)
    leaves = {tree.names[leaf]: leaf for leaf in tree.leaves.tolist()}
    names = labels.hierarchy.names.tolist()[1:]
    if labels.hierarchy.max_depth > 1 or not all(name in leaves for name in names):
        return NodeLabels.encode(y, tree)
    nodes = np.array([0, *(leaves[name] for name in names)], dtype=np.int32)
    given = node_csr(nodes[labels.given.indices], labels.given.indptr, tree.n_nodes)
    return NodeLabels(tree, given, labels.form)


def _class_sums(X: Any, labels: NodeLabels) -> tuple[IntArray, Any, FloatArray]:
    """Return the nodes of the classes, sums of their centred rows, and their sizes."""
    rows = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    check_consistent_length(rows, labels.given)
    pairs = labels.specific
    n = pairs.shape[0]
    classes, codes = np.unique(pairs.indices, return_inverse=True)
    if pairs.nnz < 2:
        raise LabelError(
            f"{pairs.nnz} labels in {n} rows: expected two labels or more, of the same or of "
            "different rows."
        )
    owners = np.repeat(np.arange(n), np.diff(pairs.indptr))
    member = sparse.csr_array(
        (np.ones(len(codes)), (codes, owners)), shape=(len(classes), n), dtype=np.float64
    )
    sizes = np.bincount(codes).astype(np.float64)
    if not sparse.issparse(rows):
        rows = rows - rows.mean(axis=0)  # so that no digits are lost far from zero
    return classes.astype(np.int32), member @ rows, sizes


def _squared_sums(below: sparse.csr_array, sums: Any, sizes: FloatArray) -> float:
    """Return the sum over nodes of the squared lengths of the sums of their centred rows."""
    mean = np.asarray(sums.sum(axis=0)).ravel() / sizes.sum()
    total = 0.0
    for some in row_chunks(below.shape[0], int(sums.shape[1])):
        part = below[some]
        own = part @ sums
        own = own.toarray() if sparse.issparse(own) else np.asarray(own)
        own -= (part @ sizes)[:, None] * mean
        total += float(np.einsum("ij,ij->", own, own))
    return total


def _spread(X: Any, times: FloatArray) -> float:
    """Return the sum of the squared lengths of centred rows, which count several times."""
    n = times.sum()
    if not sparse.issparse(X):
        rows = np.asarray(X, dtype=np.float64)
        rows = rows - times @ rows / n
        return float(times @ np.einsum("ij,ij->i", rows, rows))
    rows = sparse.csr_array(X)
    mean = np.asarray(times @ rows / n).ravel()
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return float(times @ squares - n * (mean @ mean))


def _centred_square(covariance: NDArray[np.float64], sizes: FloatArray) -> float:
    """Return tr(L H L H) of L = Y C Y', from the sizes of the classes."""
    n = sizes.sum()
    towards = covariance @ sizes
    square = sizes @ covariance**2 @ sizes
    return float(square - 2 / n * (sizes @ towards**2) + (sizes @ towards) ** 2 / n**2)
