"""RNMF and RDM as published: trees of rows, with one-class classifiers at their leaves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette._arrays import take_rows

__all__ = ["RowTreeClassifier", "depend_most", "factor_groups"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

_MOST_DEPTH = 60
_STEPS = 50  # of the search for dependent groups
_NU = 0.1  # share of the rows of a class that its one-class classifier may leave out


class RowTreeClassifier(BaseEstimator):  # type: ignore[misc]
    """Divide the rows in groups, level by level, whatever their classes.

    A node is a leaf if no class but its largest has more than `most_others` rows there; so a class
    may be at many leaves. A linear classifier of the groups routes rows; at a leaf of several
    classes the one whose one-class support vector machine gives the largest value is predicted.

    Parameters
    ----------
    kind : {"nmf", "dependence"}
        Groups are the components of a non-negative factorization of the rows (RNMF), or those that
        depend most on the rows (HSIC, RDM).
    branching : int
        Number of groups, p in the paper.
    most_others : int
        Rows of a class other than the largest at a leaf; five in the paper.
    random_state : int

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    depth_ : int
    n_leaves_ : int
    """

    def __init__(
        self,
        kind: Literal["nmf", "dependence"] = "nmf",
        branching: int = 2,
        *,
        most_others: int = 5,
        random_state: int = 0,
    ) -> None:
        self.kind = kind
        self.branching = branching
        self.most_others = most_others
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> RowTreeClassifier:
        """Grow the tree; see the class."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.depth_ = self.n_leaves_ = 0
        self.root_, gamma = _Node(), _gamma(X)
        waiting = [(self.root_, np.arange(len(codes)), 0)]
        while waiting:
            node, rows, depth = waiting.pop()
            self.depth_ = max(self.depth_, depth)
            groups = self._divide(X, codes, rows, depth)
            if groups is None:
                self.n_leaves_ += 1
                node.make_leaf(X, codes, rows, gamma)
                continue
            node.router = _linear(take_rows(X, rows), groups, self.random_state)
            for group in np.unique(groups).tolist():
                node.children[group] = _Node()
                waiting.append((node.children[group], rows[groups == group], depth + 1))
        return self

    def _divide(self, X: Any, codes: Labels, rows: Labels, depth: int) -> Labels | None:
        """Return the group of every row of a node; None for a leaf."""
        sizes = np.sort(np.bincount(codes[rows]))[::-1]
        if len(sizes) < 2 or sizes[1] <= self.most_others or depth >= _MOST_DEPTH:
            return None
        find = factor_groups if self.kind == "nmf" else depend_most
        groups = find(_without_empty(take_rows(X, rows)), self.branching, self.random_state)
        return groups if len(np.unique(groups)) > 1 else None

    def predict(self, X: Any) -> Any:
        """Route the rows and ask the leaves."""
        return self.classes_[self._answer(X)[0]]

    def count_products(self, X: Any) -> float:
        """Return the dot products of a row with weights or support vectors, on average."""
        return float(self._answer(X, only_count=True)[1].mean())

    def _answer(self, X: Any, only_count: bool = False) -> tuple[Labels, Labels]:
        n = X.shape[0]
        codes, products = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
        waiting = [(self.root_, np.arange(n))]
        while waiting:
            node, rows = waiting.pop()
            if node.router is None:
                products[rows] += node.n_products
                if not only_count:
                    codes[rows] = node.decide(take_rows(X, rows))
                continue
            taken = node.router.predict(take_rows(X, rows))
            products[rows] += len(np.atleast_2d(node.router.coef_))
            for group, child in node.children.items():
                here = rows[taken == group]
                if here.size:
                    waiting.append((child, here))
        return codes, products


@dataclass
class _Node:
    """A node: a router and children, or classes with a classifier each."""

    router: Any = None
    children: dict[int, _Node] = field(default_factory=dict)
    codes: Labels = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    judges: list[Any] = field(default_factory=list)

    def make_leaf(self, X: Any, codes: Labels, rows: Labels, gamma: float) -> None:
        """Fit a one-class classifier to every class, if there are several."""
        from sklearn.svm import OneClassSVM

        self.codes = np.unique(codes[rows])
        if len(self.codes) > 1:
            self.judges = [
                OneClassSVM(nu=_NU, gamma=gamma).fit(take_rows(X, rows[codes[rows] == code]))
                for code in self.codes.tolist()
            ]

    @property
    def n_products(self) -> int:
        """Number of products that the classifiers of a leaf take for a row."""
        # not n_support_, which is wrong where rows are sparse
        return sum(len(each.support_) for each in self.judges)

    def decide(self, X: Any) -> Labels:
        """Return the class of every row of a leaf."""
        if not self.judges:
            return np.full(X.shape[0], self.codes[0])
        # scores in units of the offset, which grows with the rows of the class
        values = [each.score_samples(X) / max(abs(each.offset_[0]), 1e-12) for each in self.judges]
        return np.asarray(self.codes[np.argmax(values, axis=0)])


def _without_empty(X: Any) -> Any:
    """Leave out the columns of a sparse array that have no values: most, of a few texts."""
    if not sparse.issparse(X):
        return X
    used = np.unique(X.indices)
    return X[:, used] if len(used) else X


def _gamma(X: Any) -> float:
    """Return scikit-learn's ``gamma="scale"`` for all rows, so that leaves share a scale."""
    if sparse.issparse(X):
        spread = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        spread = float(np.asarray(X).var())
    return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0


def _linear(X: Any, groups: Labels, seed: int) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(max_iter=100, random_state=seed).fit(X, groups)


# ---------------------------------------------------------------------- groups of rows


def factor_groups(X: Any, n_groups: int, seed: int = 0) -> Labels:
    """Return the largest component of every row in a non-negative factorization.

    Parameters
    ----------
    X : array or CSR array of shape (n, n_features)
        Columns with negative values are moved up to zero; of a sparse X with negative values,
        positive and negative ones become two columns each.
    n_groups : int
        Rank.
    seed : int

    Returns
    -------
    int array of shape (n,)
    """
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning

    rows: Any = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if not sparse.issparse(rows):
        rows = rows - np.minimum(rows.min(axis=0), 0.0)
    elif rows.data.size and rows.data.min() < 0:  # as in NMFTree
        rows = sparse.hstack([rows.maximum(0), (-rows).maximum(0)], format="csr")
    rank = min(n_groups, *rows.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = NMF(rank, init="nndsvda", max_iter=100, tol=1e-3, random_state=seed)
        parts: Floats = np.asarray(found.fit_transform(rows))
    return np.asarray(parts.argmax(axis=1), dtype=np.intp)


def depend_most(X: Any, n_groups: int, seed: int = 0) -> Labels:
    """Return groups of rows with a large tr(P' K P), K the centred linear kernel of the rows.

    The search starts from k-means on the leading components, and moves all rows along the gradient
    of the criterion, which is convex, as long as that raises it. K is never formed.

    Parameters
    ----------
    X : array or CSR array of shape (n, n_features)
    n_groups : int
    seed : int

    Returns
    -------
    int array of shape (n,)
    """
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD

    n = X.shape[0]
    n_groups = min(n_groups, n)
    rows = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    mean = np.asarray(rows.mean(axis=0)).ravel()
    n_parts = max(1, min(n_groups, rows.shape[1] - 1, n - 1))
    leading = TruncatedSVD(n_parts, random_state=seed).fit(
        rows if sparse.issparse(rows) else rows - mean
    )
    points = np.asarray(rows @ leading.components_.T) - mean @ leading.components_.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct rows than groups
        labels = KMeans(n_groups, n_init=3, random_state=seed).fit(points).labels_.astype(np.intp)

    def toward(groups: Labels) -> Floats:
        """Return K P: how near every row is to every group."""
        member = np.eye(n_groups)[groups]
        sums = np.asarray(rows.T @ member) - mean[:, None] * member.sum(axis=0)
        return np.asarray(rows @ sums - mean @ sums, dtype=np.float64)

    every = np.arange(n)
    near = toward(labels)
    best = float(near[every, labels].sum())
    for _ in range(_STEPS):
        moved = near.argmax(axis=1)
        near = toward(moved)
        value = float(near[every, moved].sum())
        if not value > best * (1 + 1e-9):
            break
        labels, best = moved, value
    return np.asarray(labels, dtype=np.intp)
