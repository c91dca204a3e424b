"""What the paper on MF-Tree states without data: its figures and equations, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import class_regularizer, factorization_loss, tree_covariance
from papers.mf_tree.row_trees import RowTreeClassifier
from papers.result import Claim

__all__ = ["claim_of", "judge_theory"]


def claim_of(where: str, words: str, what: str, holds: bool) -> Claim:
    """Return a claim whose words end with what holds or does not."""
    verdict = "holds" if holds else "does not hold"
    return Claim(where, f"{where}: {words}: that {what} {verdict}.", bool(holds))


def judge_theory(seed: int = 0) -> Iterator[Claim]:
    """Check Figure 1, Equations 3 to 10 and Theorem 1 on drawn rows of four classes in a tree.

    Parameters
    ----------
    seed : int

    Yields
    ------
    Claim
    """
    rng = np.random.default_rng(seed)
    tree = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("q", "c"), ("q", "d")])
    codes = np.repeat(np.arange(4), [3, 5, 4, 6])
    X = rng.normal(size=(18, 3)) + rng.normal(size=(4, 3))[codes]
    X = X - X.mean(axis=0)
    y = np.array(list("abcd"))[codes]
    member = np.eye(4)[codes]
    edge = 0.05
    covariance = edge * tree_covariance(tree)
    regularizer = class_regularizer(covariance, np.bincount(codes).astype(float))
    # the best W of Equation 3, by its normal equations
    weights = np.linalg.solve(member.T @ member + regularizer, member.T @ X).T
    loss = np.sum((X - member @ weights.T) ** 2) + np.trace(weights @ regularizer @ weights.T)
    by_hsic = factorization_loss(X, y, tree, edge=edge)
    words = f"the least loss of Equation 3 is {loss:.6f}, tr(K) less the HSIC {by_hsic:.6f}"
    same = bool(np.isclose(loss, by_hsic))
    yield claim_of("Equations 3 to 5", words, "the least loss is the largest HSIC", same)
    kernel = X @ X.T
    whole = np.trace(kernel @ member @ tree_covariance(tree) @ member.T)
    below = tree.closure[tree.leaves].toarray()[:, 1:].astype(float)  # leaves x nodes
    parts = sum(float(v @ kernel @ v) for v in (member @ below).T)
    words = f"tr(K L) is {whole:.6f}, the sum over the nodes {parts:.6f}"
    yield claim_of(
        "Equations 6 to 10", words, "HSIC is a sum over nodes", bool(np.isclose(whole, parts))
    )
    least = float(np.linalg.eigvalsh(member.T @ member + regularizer).min())
    words = f"the least eigenvalue of Z'Z + lambda A is {least:.4f}"
    yield claim_of("Theorem 1", words, "it is positive definite", least > 0)
    try:
        class_regularizer(tree_covariance(tree), np.bincount(codes).astype(float))
        feasible = True
    except PalmetteError:
        feasible = False
    words = (
        "with edges of length 1, as in the examples, there is "
        f"{'a' if feasible else 'no'} positive definite A for four classes of {len(codes)} rows in "
        f"all; there is one with edges of {edge:g}"
    )
    yield claim_of("Theorem 1, edges", words, "an A can be chosen for any tree", feasible)
    yield _figure_1(rng)
    yield _equation_6()
    yield _stump(X, y, seed)


def _figure_1(rng: np.random.Generator) -> Claim:
    """The covariance of four classes, with drawn lengths a to f of the edges."""
    a, b, c, d, e, f = lengths = rng.uniform(0.5, 2.0, size=6)
    tree = Hierarchy.from_paths([("l", 1), ("l", 2), ("r", 3), ("r", 4)])
    names = ["l", "r", ("l", 1), ("l", 2), ("r", 3), ("r", 4)]
    found = tree_covariance(tree, lengths=dict(zip(names, lengths.tolist(), strict=True)))
    expected = [[a + c, a, 0, 0], [a, a + d, 0, 0], [0, 0, b + e, b], [0, 0, b, b + f]]
    words = f"C(1,2) is {found[0, 1]:.4f} for a = {a:.4f}, C(3,3) {found[2, 2]:.4f} for b + e = "
    words += f"{b + e:.4f}"
    what = "Definition 1 gives the matrix of the figure"
    return claim_of("Figure 1", words, what, np.allclose(found, expected))


def _equation_6() -> Claim:
    """The covariance of eight leaves as a sum of block-diagonal matrices."""
    paths = [(f"p{i // 4}", f"q{i // 2}", f"c{i}") for i in range(8)]
    covariance = tree_covariance(Hierarchy.from_paths(paths))
    blocks = [np.kron(np.eye(2**m), np.ones((8 // 2**m, 8 // 2**m))) for m in (1, 2, 3)]
    largest = float(np.abs(covariance - sum(blocks)).max())
    words = f"the entries differ by {largest:g} at most"
    what = "the covariance of 8 leaves is the sum of three Kronecker products"
    return claim_of("Equations 6 and 7", words, what, largest == 0)


def _stump(X: NDArray[np.float64], y: NDArray[Any], seed: int) -> Claim:
    """With p = 1, RNMF has one node, with a one-class classifier for every class."""
    tree = RowTreeClassifier("nmf", 1, most_others=0, random_state=seed).fit(X, y)
    n_judges, n_classes = len(tree.root_.judges), len(tree.classes_)
    words = f"depth {tree.depth_}, {n_judges} one-class classifiers for {n_classes} classes"
    holds = tree.depth_ == 0 and n_judges == n_classes
    return claim_of("Figure 2, p = 1", words, "RNMF is a stump of c classifiers", holds)
