"""Kernel ridge regression of many labels, with leave-one-out predictions in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.utils import check_random_state

from palmette._arrays import take_rows
from palmette.decisions._thresholds import Threshold
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._counts import average_precision_of_cells
from palmette.multipath._base import CoherentClassifier

__all__ = [
    "CoherentKernelClassifier",
    "Decomposed",
    "Matrix",
    "cosine_kernel",
    "nystroem_map",
    "solve_ridge",
    "unit_rows",
]


Matrix = NDArray[np.float32] | NDArray[np.float64]


def unit_rows(X: Any) -> Any:
    """Rows divided by their lengths; rows of zeros stay what they are."""
    if sparse.issparse(X):
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return sparse.csr_array(sparse.diags_array(inverse.astype(X.dtype)) @ X)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0)


def cosine_kernel(A: Any, B: Any, gamma: float) -> Matrix:
    """Return exp(gamma (cos - 1)) between unit rows: shape (n_a, n_b), 1 for equal directions."""
    product = A @ B.T
    kernel: Matrix = product.toarray() if sparse.issparse(product) else product
    kernel -= 1.0
    kernel *= gamma
    return np.exp(kernel, out=kernel)


@dataclass(frozen=True, eq=False)
class Decomposed:
    """A kernel matrix as vectors and values, with the labels along the vectors.

    With weights the rows are scaled by their roots, so that ridge regression minimises the weighted
    squared error.

    Parameters
    ----------
    vectors : array of shape (n, n)
    values : array of shape (n,)
    turned : array of shape (n, n_columns)
        Centred labels along the vectors.
    root : array of shape (n,)
        Roots of the weights.
    """

    vectors: Matrix
    values: Matrix
    turned: Matrix
    root: Matrix

    @classmethod
    def of(cls, kernel: Matrix, labels: Matrix, root: Matrix) -> Decomposed:
        """Decompose; `kernel` is used up."""
        kernel *= root[:, None]
        kernel *= root
        # twice as fast as the driver that scipy takes by itself, where all vectors are asked for
        values, vectors = linalg.eigh(kernel, driver="evd", overwrite_a=True, check_finite=False)
        return cls(vectors, np.maximum(values, 0.0), vectors.T @ (root[:, None] * labels), root)

    def coefficients(self, ridge: float) -> Matrix:
        """Dual coefficients of shape (n, n_columns)."""
        shrunk = self.turned / (self.values + ridge)[:, None]
        return np.asarray(self.root[:, None] * (self.vectors @ shrunk))

    def left_out(self, ridge: float, labels: Matrix) -> Matrix:
        """Predictions for every row by the fit without it: shape (n, n_columns).

        A residual without its row is the residual with it over one less its leverage.
        """
        share = self.values / (self.values + ridge)
        fitted = self.vectors @ (share[:, None] * self.turned)
        fitted /= self.root[:, None]
        leverage = np.einsum("ij,j,ij->i", self.vectors, share, self.vectors)
        rest = np.maximum(1.0 - leverage, 1e-6)[:, None]
        return np.asarray(labels - (labels - fitted) / rest)


def solve_ridge(kernel: Matrix, labels: Matrix, root: Matrix, ridge: float) -> Matrix:
    """Dual coefficients of one ridge by Cholesky: shape (n, n_columns); `kernel` is used up."""
    kernel *= root[:, None]
    kernel *= root
    kernel.flat[:: len(kernel) + 1] += ridge
    factor = linalg.cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    solved = linalg.cho_solve(factor, root[:, None] * labels, check_finite=False)
    return np.asarray(root[:, None] * solved)


def nystroem_map(landmarks: Any, gamma: float) -> Matrix:
    """Matrix that makes features of kernels with landmarks: (n_landmarks, n_kept).

    Products of the features ``cosine_kernel(X, landmarks) @ map`` are kernels, as far as the
    landmarks can tell.
    """
    values, vectors = np.linalg.eigh(cosine_kernel(landmarks, landmarks, gamma).astype(np.float64))
    kept = values > 1e-6 * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]), dtype=np.float32)


FloatArray = NDArray[np.float64]

_RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_GAMMAS = (1.0, 2.0, 4.0)
_ROWS_TO_CHOOSE = 2_000  # enough to choose by: a decomposition takes cubic time
_COLUMNS_TO_CHOOSE = 500


class CoherentKernelClassifier(CoherentClassifier):
    """Ridge regression over a hierarchy with an exponential of cosines as the kernel.

    The kernel is ``exp(gamma (cos(x, x') - 1))`` between scaled rows; what is learnt are the
    centred closed labels. Predictions are cut to [0, 1] and made coherent.

    Parameters
    ----------
    ridge : float or "auto"
        "auto" chooses among .01 to 32 by the micro-averaged precision of leave-one-out predictions,
        which a decomposition of the kernel gives without fitting anew.
    gamma : float or "auto"
        How fast the kernel falls with the angle; "auto" chooses 1, 2 or 4 alike.
    max_rows : int
        Where there are more training rows, a Nystroem approximation stands for the kernel, with
        ``n_landmarks`` of them.
    n_landmarks : int
    missing, hierarchy, decoding, dag_rule
        As in `CoherentForestClassifier`.
    random_state : int, RandomState or None
        Chooses rows where a part of them has to do.
    verbose : int

    Attributes
    ----------
    ridge_, gamma_ : float
    choices_ : dict of (gamma, ridge) to float
        Precision of leave-one-out predictions, where there was a choice.

    Examples
    --------
    >>> from palmette import CoherentKernelClassifier
    >>> X = [[0.0, 1], [0.1, 1], [1, 0.1], [1, 0.0]]
    >>> y = [{"a/b"}, {"a/b"}, {"a/c", "d"}, {"a/c", "d"}]
    >>> kernel = CoherentKernelClassifier(ridge=0.1, gamma=1.0)
    >>> sorted(kernel.fit(X, y).predict([[1, 0.05]])[0])
    ['a/c', 'd']
    """

    def __init__(
        self,
        ridge: float | str = "auto",
        gamma: float | str = "auto",
        *,
        max_rows: int = 12_000,
        n_landmarks: int = 3_000,
        missing: str = "mean",
        hierarchy: Hierarchy | None = None,
        decoding: str | float | Threshold = "auto",
        dag_rule: str = "all",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.ridge = ridge
        self.gamma = gamma
        self.max_rows = max_rows
        self.n_landmarks = n_landmarks
        self.missing = missing
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.dag_rule = dag_rule
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        for name in ("ridge", "gamma"):
            value = getattr(self, name)
            if value != "auto" and not (isinstance(value, Real) and float(value) > 0):
                raise PalmetteError(f"{name}={value!r}: expected 'auto' or a positive number.")

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        rng = check_random_state(self.random_state)
        rows = unit_rows(self._scale(X, weights))
        n_rows = Y.shape[0]
        weights = np.ones(n_rows) if weights is None else weights
        self._mean = np.asarray(Y.T @ weights, dtype=np.float32) / np.float32(weights.sum())
        root = np.sqrt(weights).astype(np.float32)
        self._choose(rows, Y, root, rng)
        if n_rows > self.max_rows:
            self._fit_landmarks(rows, Y, root, rng)
            return
        self._rows = rows
        self._map: Matrix | None = None
        kernel = cosine_kernel(rows, rows, self.gamma_)
        self._coefficients = solve_ridge(kernel, self._centred(Y), root, self.ridge_)

    def _centred(self, Y: sparse.csr_array) -> NDArray[np.float32]:
        return np.asarray(Y.toarray().astype(np.float32) - self._mean)

    def _choose(self, rows: Any, Y: sparse.csr_array, root: Any, rng: Any) -> None:
        """Set ``ridge_`` and ``gamma_`` by leave-one-out on some of the rows and columns."""
        gammas = _GAMMAS if self.gamma == "auto" else (float(self.gamma),)
        ridges = _RIDGES if self.ridge == "auto" else (float(self.ridge),)
        self.choices_ = {}
        self.gamma_, self.ridge_ = gammas[0], ridges[0]
        if len(gammas) * len(ridges) == 1:
            return
        some = np.arange(Y.shape[0])
        if len(some) > _ROWS_TO_CHOOSE:
            some = np.sort(rng.choice(some, _ROWS_TO_CHOOSE, replace=False))
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        columns = np.sort(np.argsort(-counts, kind="stable")[:_COLUMNS_TO_CHOOSE])
        truth = Y[some][:, columns]
        labels = truth.toarray().astype(np.float32) - self._mean[columns]
        chosen = take_rows(rows, some)
        scale = float(
            (root[some] ** 2).sum() / (root**2).sum()
        )  # a kernel's values grow with its rows
        for gamma in gammas:
            kernel = cosine_kernel(chosen, chosen, gamma)
            parts = Decomposed.of(kernel, labels, root[some])
            for ridge in ridges:
                answers = parts.left_out(ridge * scale, labels) + self._mean[columns]
                self.choices_[gamma, ridge] = average_precision_of_cells(truth, answers)
        self.gamma_, self.ridge_ = max(self.choices_, key=lambda pair: self.choices_[pair])

    def _fit_landmarks(self, rows: Any, Y: sparse.csr_array, root: Any, rng: Any) -> None:
        """Ridge regression on features that some of the rows give."""
        marks = np.sort(rng.choice(Y.shape[0], min(self.n_landmarks, Y.shape[0]), replace=False))
        self._rows = take_rows(rows, marks)
        landmark_map = nystroem_map(self._rows, self.gamma_)
        self._map = landmark_map
        n_kept = landmark_map.shape[1]
        gram = np.zeros((n_kept, n_kept), dtype=np.float32)
        right = np.zeros((n_kept, Y.shape[1]), dtype=np.float32)
        for start in range(0, Y.shape[0], 2_000):
            part = slice(start, start + 2_000)
            features = self._features(take_rows(rows, part)) * root[part, None]
            gram += features.T @ features
            right += features.T @ (root[part, None] * self._centred(Y[part]))
        gram.flat[:: n_kept + 1] += self.ridge_
        self._coefficients = np.linalg.solve(gram, right)

    def _features(self, rows: Any) -> NDArray[np.float32]:
        kernel = cosine_kernel(rows, self._rows, self.gamma_)
        return np.asarray(kernel if self._map is None else kernel @ self._map)

    # ------------------------------------------------------------------ answering

    def _node_proba_of(self, X: Any) -> FloatArray:
        rows = unit_rows(self.scaling_.transform(X))
        proba = self._features(rows) @ self._coefficients + self._mean
        return np.clip(proba, 0.0, 1.0).astype(np.float64)

    def _numbers_over_nodes(self) -> int:
        return super()._numbers_over_nodes() + int(self._rows.shape[0])
