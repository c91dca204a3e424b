"""LogisticSplit: a node of a structured tree splits rows by logistic regression."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from palmette.exceptions import PalmetteError

__all__ = ["LogisticSplit"]


class LogisticSplit(BaseEstimator):  # type: ignore[misc]
    """Tell two clusters of rows apart by a line, by logistic regression.

    The line minimises the mean of ``log(1 + exp(-y (x w + b)))`` over the rows, y being -1 or 1,
    plus ``ridge / 2 |w|^2``. It is what the published forests SF-LR and SF-LR-CS use; larger
    clusters count for more, and all features drawn have a weight.

    Parameters
    ----------
    ridge : float
        Keeps the weights finite where the clusters can be told apart completely.
    max_iter : int
        Most quasi-Newton iterations.
    start_iter : int
        Steps of conjugate gradients towards the least-squares start.
    tol : float
        Where to stop: what an iteration gains, relative to the loss.
    refit_bias : bool
        Whether to move the bias in the end to where the Hellinger distance is largest.

    References
    ----------
    Daniels and Metaxas, Addressing imbalance in multi-label classification using structured
    Hellinger forests, AAAI 2017.

    Examples
    --------
    >>> LogisticSplit(ridge=0.01)
    LogisticSplit(ridge=0.01)
    """

    def __init__(
        self,
        ridge: float = 1e-4,
        *,
        max_iter: int = 50,
        start_iter: int = 5,
        tol: float = 1e-4,
        refit_bias: bool = False,
    ) -> None:
        self.ridge = ridge
        self.max_iter = max_iter
        self.start_iter = start_iter
        self.tol = tol
        self.refit_bias = refit_bias

    def tree_settings(self) -> dict[str, Any]:
        """Return what this says of a tree, by the names of the kernel's settings."""
        for name in ("ridge", "tol"):
            if not getattr(self, name) >= 0:
                raise PalmetteError(
                    f"{name}={getattr(self, name)!r}: expected a number of at least 0."
                )
        for name in ("max_iter", "start_iter"):
            if not getattr(self, name) >= 1:
                raise PalmetteError(f"{name}={getattr(self, name)!r}: expected a positive integer.")
        return {
            "router": "logistic",
            "ridge": float(self.ridge),
            "max_iterations": int(self.max_iter),
            "start_iterations": int(self.start_iter),
            "tolerance": float(self.tol),
            "refit_bias": bool(self.refit_bias),
        }
