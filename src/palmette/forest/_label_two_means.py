"""LabelTwoMeans: the label sets at a node of a structured tree fall into two clusters."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from palmette.exceptions import PalmetteError

__all__ = ["LabelTwoMeans"]


class LabelTwoMeans(BaseEstimator):  # type: ignore[misc]
    """Split the label sets at a node in two by 2-means, labels weighed by how rare they are.

    A label i weighs ``beta g_i + (1 - beta) l_i`` (Eq. 1), where g_i is ``log(1 + N / n_i)`` over
    the rows of the tree, relative to its largest value over the labels, and l_i the same over the
    rows at the node; a label without positives weighs 1. Equal label sets are clustered as one that
    counts for its rows.

    Parameters
    ----------
    weights : {"idf", "none"}
        "none": all labels weigh 1.
    beta : float
        How much the rows of the whole tree count, against those at the node.
    n_starts : int
        Starts by k-means++; the tightest clusters are taken.
    max_iter : int
        Most rounds from a start.

    References
    ----------
    Daniels and Metaxas, Addressing imbalance in multi-label classification using structured
    Hellinger forests, AAAI 2017.

    Examples
    --------
    >>> LabelTwoMeans(weights="none")
    LabelTwoMeans(weights='none')
    """

    def __init__(
        self, weights: str = "idf", *, beta: float = 0.5, n_starts: int = 3, max_iter: int = 20
    ) -> None:
        self.weights = weights
        self.beta = beta
        self.n_starts = n_starts
        self.max_iter = max_iter

    def tree_settings(self) -> dict[str, Any]:
        """Return what this says of a tree, by the names of the kernel's settings."""
        if self.weights not in ("idf", "none"):
            raise PalmetteError(f"weights={self.weights!r}: expected 'idf' or 'none'.")
        if not 0 <= self.beta <= 1:
            raise PalmetteError(f"beta={self.beta!r}: expected a number from 0 to 1.")
        for name in ("n_starts", "max_iter"):
            if not getattr(self, name) >= 1:
                raise PalmetteError(f"{name}={getattr(self, name)!r}: expected a positive integer.")
        return {
            "idf": self.weights == "idf",
            "beta": float(self.beta),
            "n_starts": int(self.n_starts),
            "cluster_iterations": int(self.max_iter),
        }
