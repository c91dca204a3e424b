"""J48 with its defaults, literally: one rule at a time, with the rows of every node at hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[Any]
SMALL = 1e-6


class Node:
    """A node with its rows; a leaf has no children."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self.feature, self.cut = -1, 0.0
        self.children: list[Node] = []


def entropy(masses: Array) -> float:
    """Return the entropy of weights in bits, times their sum."""
    total, masses = masses.sum(), masses[masses > 0]
    return float(total * np.log2(total) - (masses * np.log2(masses)).sum())


class J48:
    """The tree of some rows of single precision, their classes 0, 1, ... and weights."""

    def __init__(
        self, X: Array, y: Array, weights: Array | None = None, *, confidence: float = 0.25
    ) -> None:
        self.X, self.y = np.float64(np.float32(X)), np.asarray(y)
        self.weights = np.ones(len(y)) if weights is None else np.float64(weights)
        self.least, self.confidence, self.n_classes = 2.0, confidence, int(np.max(y)) + 1
        self.root = self.grown(np.arange(len(y)))
        self.collapse(self.root)
        self.prune(self.root)

    def masses(self, rows: Array) -> Array:
        return np.bincount(self.y[rows], self.weights[rows], minlength=self.n_classes)

    # ------------------------------------------------------------------ growing

    def grown(self, rows: Array) -> Node:
        node, masses = Node(rows), self.masses(rows)
        if masses.sum() + SMALL < 2 * self.least or masses.sum() - masses.max() < SMALL:
            return node
        models = {}
        for j in range(self.X.shape[1]):
            model = self.best_cut(rows, j)
            if model is not None:
                models[j] = model
        if not models:
            return node
        average, highest = np.mean([gain for gain, _, _ in models.values()]), 0.0
        for j, (gain, ratio, cut) in models.items():
            if gain >= average - 1e-3 and ratio - highest > SMALL:
                highest, node.feature, node.cut = ratio, j, cut
        if node.feature < 0:
            return node
        column = self.X[:, node.feature]
        node.cut = column[column <= node.cut].max()
        node.children = [self.grown(part) for part in self.parts(node, rows)]
        return node

    def best_cut(self, rows: Array, j: int) -> tuple[float, float, float] | None:
        """Return gain, gain ratio and cut of a feature."""
        total, is_flag = self.weights[rows].sum(), np.isin(self.X[:, j], (0, 1)).all()
        least = 0.1 * total / self.n_classes
        if is_flag or least - self.least < SMALL:
            least = self.least
        elif least - 25 > SMALL:
            least = 25.0
        values, before = np.unique(self.X[rows, j]), entropy(self.masses(rows))
        best, found, n_cuts = -np.inf if is_flag else 0.0, None, 0
        for low, high in itertools.pairwise(values):
            sides = [rows[self.X[rows, j] <= low], rows[self.X[rows, j] > low]]
            sums = np.array([self.weights[side].sum() for side in sides])
            if low + 1e-5 >= high or sums.min() - least <= -SMALL:
                continue
            n_cuts += 1
            gain = before - sum(entropy(self.masses(side)) for side in sides)
            gain = 0.0 if abs(gain) < SMALL else gain / total
            if gain - best > SMALL:
                best, found = gain, (sums, (low + high) / 2)
        if found is None:
            return None
        best -= np.log2(n_cuts) / total
        if best < SMALL and not is_flag:
            return None
        return best, best * total / entropy(found[0]), found[1]

    def parts(self, node: Node, rows: Array) -> tuple[Array, Array]:
        column = self.X[rows, node.feature]
        return rows[column <= node.cut], rows[column > node.cut]

    # ------------------------------------------------------------------ pruning

    def errors(self, rows: Array) -> float:
        masses = self.masses(rows)
        return float(masses.sum() - masses.max())

    def training_errors(self, node: Node) -> float:
        if not node.children:
            return self.errors(node.rows)
        return sum(self.training_errors(child) for child in node.children)

    def collapse(self, node: Node) -> None:
        if node.children and self.training_errors(node) >= self.errors(node.rows) - 1e-3:
            node.children = []
        for child in node.children:
            self.collapse(child)

    def expected(self, node: Node, rows: Array) -> float:
        """Return the errors to be expected below a node that has some rows."""
        if node.children:
            parts = self.parts(node, rows)
            pairs = zip(node.children, parts, strict=True)
            return sum(self.expected(child, part) for child, part in pairs)
        if not len(rows):
            return 0.0
        errors = self.errors(rows)
        return errors + self.added(self.weights[rows].sum(), errors)

    def added(self, n: float, e: float) -> float:
        if e < 1:
            base = n * (1 - self.confidence ** (1 / n))
            return base if e == 0 else base + e * (self.added(n, 1.0) - base)
        if e + 0.5 >= n:
            return max(n - e, 0.0)
        z, f = ndtri(1 - self.confidence), (e + 0.5) / n
        root = np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        return (f + z * z / (2 * n) + z * root) / (1 + z * z / n) * n - e

    def prune(self, node: Node) -> None:
        if not node.children:
            return
        for child in node.children:
            self.prune(child)
        sums = [self.weights[child.rows].sum() for child in node.children]
        branch = node.children[1 if sums[1] - sums[0] > -SMALL else 0]
        raised, tree = self.expected(branch, node.rows), self.expected(node, node.rows)
        leaf = self.expected(Node(node.rows), node.rows)
        if max(leaf - tree, leaf - raised) - 0.1 < SMALL:
            node.children = []
        elif raised - tree - 0.1 < SMALL:
            node.feature, node.cut, node.children = branch.feature, branch.cut, branch.children
            self.redistribute(node, node.rows)
            self.prune(node)

    def redistribute(self, node: Node, rows: Array) -> None:
        node.rows = rows
        if node.children:
            for child, part in zip(node.children, self.parts(node, rows), strict=True):
                self.redistribute(child, part)

    # ------------------------------------------------------------------ predicting

    def predict_proba(self, X: Array) -> Array:
        found = np.zeros((len(X), self.n_classes))
        for i, row in enumerate(np.float64(np.float32(X))):
            node = self.root
            while node.children:
                node = node.children[int(row[node.feature] > node.cut)]
            found[i] = self.masses(node.rows)
        return found / found.sum(axis=1, keepdims=True)

    def n_nodes(self, node: Node | None = None) -> int:
        node = node or self.root
        return 1 + sum(self.n_nodes(child) for child in node.children)
