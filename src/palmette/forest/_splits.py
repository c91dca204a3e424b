"""Hellinger, LogisticSplit and AxisSplit: how a node of a structured tree splits its rows."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from palmette.base._parameters import (
    check_counts,
    check_not_negative,
    check_positive,
    from_paper,
    is_count,
    is_number,
)
from palmette.exceptions import PalmetteError


class AxisSplit(BaseEstimator):  # type: ignore[misc]
    """Separate two clusters of rows by the feature and cut with the largest information gain.

    The published forest SF uses it.

    References
    ----------
    P. Dollár, C. L. Zitnick (2013). Structured forests for fast edge detection. ICCV 2013.
    doi:10.1109/ICCV.2013.231

    Examples
    --------
    >>> AxisSplit()
    AxisSplit()
    """

    def tree_settings(self) -> dict[str, Any]:
        """Return the values of `TreeSettings` that this object sets, by name."""
        return {"router": "axis"}


class Hellinger(BaseEstimator):  # type: ignore[misc]
    """Separate two clusters of rows by a sparse linear split of maximum Hellinger distance.

    With ``phi = (tanh(alpha X w) + 1) / 2`` as the soft side of each row (Eq. 3), the proportions
    of both clusters that go right are soft too (Eq. 5). The split minimizes minus their squared
    Hellinger distance (Eq. 2 and 6) plus ``gamma |w|_1`` (Eq. 9), starting at the least-squares
    solution; the bias is not penalized. The distance attained without the penalty sets its scale:
    ``gamma = rho distance / |w|_1`` (Eq. 10). The gradient is Eq. 7; Eq. 8 is interpreted as
    ``|w| + (2 / eta) log(1 + exp(-eta |w|))``.

    Parameters
    ----------
    sparsity : "auto" or float
        Rho of Eq. 10. "auto" is ``min(log(1 + features / rows), 0.4)`` of the node.
    alpha, alpha_growth, alpha_max, alpha_every : float, float, float, int
        Slope of the sigmoid: its first value, the factor that it is multiplied by after every
        `alpha_every` iterations, and its maximum.
    solver : {"owlqn", "adam"}
        "owlqn": orthant-wise quasi-Newton method, which sets weights to exactly zero; "adam": as
        published, with the smooth norm of Eq. 8, where weights are small but not zero.
    max_iter : int
        Maximum number of iterations with the penalty, and for "adam" also of those without it.
    scale_iter : int
        Maximum number of iterations without the penalty ("owlqn"), which only set its scale.
    start_iter : int
        Number of conjugate-gradient steps of the least-squares initialization.
    start_rows : int or None
        Largest number of a node's rows, drawn at random, that the initialization is learned from;
        None: all.
    tol : float
        Relative decrease of the loss below which "owlqn" stops.
    learning_rate, batch_size, eta : float, int, float
        Of "adam"; eta is the sharpness of the smooth norm.
    prune : float
        Weights smaller than this fraction of the largest are set to zero at the end ("owlqn"). The
        splits use fewer features and were slightly more accurate in our measurements.
    refit_bias : bool
        Whether to finally set the bias to the value with the largest true Hellinger distance.

    References
    ----------
    Z. A. Daniels, D. N. Metaxas (2017). Addressing imbalance in multi-label classification using
    structured Hellinger forests. AAAI 2017, 1826-1832. doi:10.1609/aaai.v31i1.10908

    G. Andrew, J. Gao (2007). Scalable training of L1-regularized log-linear models. ICML 2007.
    doi:10.1145/1273496.1273501

    Examples
    --------
    >>> Hellinger(sparsity=0.2)
    Hellinger(sparsity=0.2)
    """

    @from_paper(rho="sparsity")
    def __init__(
        self,
        sparsity: float | str = "auto",
        *,
        alpha: float = 1.0,
        alpha_growth: float = 1.5,
        alpha_max: float = 1.0,
        alpha_every: int = 10,
        solver: str = "owlqn",
        max_iter: int = 8,
        scale_iter: int = 2,
        start_iter: int = 4,
        start_rows: int | None = None,
        tol: float = 1e-3,
        learning_rate: float = 0.05,
        batch_size: int = 1000,
        eta: float = 1e6,
        prune: float = 0.1,
        refit_bias: bool = True,
    ) -> None:
        self.sparsity = sparsity
        self.alpha = alpha
        self.alpha_growth = alpha_growth
        self.alpha_max = alpha_max
        self.alpha_every = alpha_every
        self.solver = solver
        self.max_iter = max_iter
        self.scale_iter = scale_iter
        self.start_iter = start_iter
        self.start_rows = start_rows
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.eta = eta
        self.prune = prune
        self.refit_bias = refit_bias

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"start_rows": None, **state})  # a parameter that files may lack

    def tree_settings(self) -> dict[str, Any]:
        """Return the values of `TreeSettings` that this object sets, by name."""
        self._check()
        return {
            "router": f"hellinger-{self.solver}",
            "rho": -1.0 if self.sparsity == "auto" else float(self.sparsity),
            "alpha_first": float(self.alpha),
            "alpha_factor": float(self.alpha_growth),
            "alpha_last": float(self.alpha_max),
            "alpha_stage": int(self.alpha_every),
            "max_iterations": int(self.max_iter),
            "scale_iterations": int(self.scale_iter),
            "start_iterations": int(self.start_iter),
            "start_rows": -1 if self.start_rows is None else int(self.start_rows),
            "tolerance": float(self.tol),
            "learning_rate": float(self.learning_rate),
            "batch_size": int(self.batch_size),
            "eta": float(self.eta),
            "prune": float(self.prune),
            "refit_bias": bool(self.refit_bias),
        }

    def _check(self) -> None:
        if self.solver not in ("owlqn", "adam"):
            raise PalmetteError(f"solver={self.solver!r}: expected 'owlqn' or 'adam'.")
        sparsity: Any = self.sparsity
        if sparsity != "auto" and not (is_number(sparsity) and sparsity >= 0):
            raise PalmetteError(
                f"sparsity={sparsity!r}: expected 'auto' or a number of at least 0."
            )
        check_positive(self, "alpha", "alpha_max", "learning_rate", "eta")
        if not (is_number(self.alpha_growth) and self.alpha_growth > 1):
            raise PalmetteError(
                f"alpha_growth={self.alpha_growth!r}: expected a number greater than 1."
            )
        check_counts(self, "alpha_every", "max_iter", "start_iter", "batch_size")
        if self.start_rows is not None and not is_count(self.start_rows):
            raise PalmetteError(
                f"start_rows={self.start_rows!r}: expected a positive integer or None."
            )
        if not (is_number(self.prune) and 0 <= self.prune < 1):
            raise PalmetteError(
                f"prune={self.prune!r}: expected a number of at least 0 and below 1."
            )
        check_not_negative(self, "tol", "scale_iter")


class LogisticSplit(BaseEstimator):  # type: ignore[misc]
    """Separate two clusters of rows by logistic regression.

    The split minimizes the mean of ``log(1 + exp(-y (x w + b)))`` over the rows, where y is -1 or
    1, plus ``ridge / 2 |w|^2``. The published forests SF-LR and SF-LR-CS use it. The larger cluster
    has more influence, and all features drawn get a weight.

    Parameters
    ----------
    ridge : float
        l2 penalty, which keeps the weights finite if the clusters are linearly separable.
    max_iter : int
        Maximum number of quasi-Newton iterations.
    start_iter : int
        Number of conjugate-gradient steps of the least-squares initialization.
    tol : float
        Relative decrease of the loss below which iterations stop.
    refit_bias : bool
        Whether to finally set the bias to the value with the largest Hellinger distance.

    References
    ----------
    Z. A. Daniels, D. N. Metaxas (2017). Addressing imbalance in multi-label classification using
    structured Hellinger forests. AAAI 2017, 1826-1832. doi:10.1609/aaai.v31i1.10908

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
        """Return the values of `TreeSettings` that this object sets, by name."""
        check_not_negative(self, "ridge", "tol")
        check_counts(self, "max_iter", "start_iter")
        return {
            "router": "logistic",
            "ridge": float(self.ridge),
            "max_iterations": int(self.max_iter),
            "start_iterations": int(self.start_iter),
            "tolerance": float(self.tol),
            "refit_bias": bool(self.refit_bias),
        }
