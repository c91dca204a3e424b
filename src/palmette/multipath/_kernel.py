"""CoherentKernelClassifier: kernel ridge regression, with closed-form leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.utils import check_random_state

from palmette._arrays import FloatArray, take_rows
from palmette.base._parameters import check_counts
from palmette.decisions._thresholds import Threshold
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._counts import average_precision_of_cells
from palmette.multipath._base import CoherentClassifier

Matrix = NDArray[np.float32] | FloatArray

_RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_GAMMAS = (1.0, 2.0, 4.0)
_ROWS_TO_CHOOSE = 2_000  # of the choice of gamma and ridge: a decomposition takes cubic time
_COLUMNS_TO_CHOOSE = 500


class CoherentKernelClassifier(CoherentClassifier):
    """Kernel ridge regression over a hierarchy with an exponential cosine kernel.

    The kernel is ``exp(gamma (cos(x, x') - 1))`` between scaled rows; the targets are the centred
    labels with their ancestors. Predictions are clipped to [0, 1] and made coherent.

    Parameters
    ----------
    ridge : float or "auto"
        l2 penalty. "auto" chooses among 0.01 to 32 by the micro-averaged average precision of
        leave-one-out predictions, which follow from one eigendecomposition of the kernel.
    gamma : float or "auto"
        Decay of the kernel with the angle; "auto" chooses 1, 2 or 4 in the same way.
    max_rows : int
        With more training rows, the kernel is replaced by a Nystroem approximation.
    n_landmarks : int
        Number of training rows used by the Nystroem approximation.
    missing, categorical_features, hierarchy, decoding, dag_rule
        As in `CoherentForestClassifier`.
    random_state : int, RandomState or None
        Seed of the samples of rows, for "auto" and for the Nystroem approximation.
    verbose : int
        Whether to print the scores of the values among which "auto" chooses.

    Attributes
    ----------
    ridge_, gamma_ : float
        Values used.
    choices_ : dict of (gamma, ridge) to float
        Average precision of leave-one-out predictions; empty if nothing was chosen.

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
        categorical_features: Any = "from_dtype",
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
        self.categorical_features = categorical_features
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
        check_counts(self, "max_rows", "n_landmarks")

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
        # eigenvalues of a kernel grow with its number of rows
        scale = float((root[some] ** 2).sum() / (root**2).sum())
        for gamma in gammas:
            kernel = cosine_kernel(chosen, chosen, gamma)
            parts = Decomposed.of(kernel, labels, root[some])
            for ridge in ridges:
                answers = parts.left_out(ridge * scale, labels) + self._mean[columns]
                found = average_precision_of_cells(truth, answers)
                self.choices_[gamma, ridge] = found
                if self.verbose:
                    print(f"gamma {gamma:g}, ridge {ridge:g}: {found:.4f}", flush=True)
        self.gamma_, self.ridge_ = max(self.choices_, key=lambda pair: self.choices_[pair])

    def _fit_landmarks(self, rows: Any, Y: sparse.csr_array, root: Any, rng: Any) -> None:
        """Fit ridge regression on the features of a Nystroem approximation."""
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

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        rows = unit_rows(self.scaling_.transform(X))
        proba = self._features(rows) @ self._coefficients + self._mean
        return np.clip(proba, 0.0, 1.0).astype(np.float64)

    def _numbers_over_nodes(self) -> int:
        return super()._numbers_over_nodes() + int(self._rows.shape[0])


def cosine_kernel(A: Any, B: Any, gamma: float) -> Matrix:
    """Return exp(gamma (cos - 1)) between unit rows, of shape (n_a, n_b)."""
    product = A @ B.T
    kernel: Matrix = product.toarray() if sparse.issparse(product) else product
    kernel -= 1.0
    kernel *= gamma
    return np.exp(kernel, out=kernel)


def unit_rows(X: Any) -> Any:
    """Return rows divided by their norms; rows of zeros are unchanged."""
    if sparse.issparse(X):
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return sparse.csr_array(sparse.diags_array(inverse.astype(X.dtype)) @ X)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0)


def solve_ridge(kernel: Matrix, labels: Matrix, root: Matrix, ridge: float) -> Matrix:
    """Return dual coefficients by Cholesky, (n, n_columns); `kernel` is overwritten."""
    kernel *= root[:, None]
    kernel *= root
    kernel.flat[:: len(kernel) + 1] += ridge
    factor = linalg.cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    solved = linalg.cho_solve(factor, root[:, None] * labels, check_finite=False)
    return np.asarray(root[:, None] * solved)


@dataclass(frozen=True, eq=False)
class Decomposed:
    """Eigendecomposition of a kernel matrix, and the labels in the basis of its eigenvectors.

    Rows are scaled by the square roots of their weights, so that ridge regression minimizes the
    weighted squared error.

    Parameters
    ----------
    vectors : array of shape (n, n)
        Eigenvectors.
    values : array of shape (n,)
        Eigenvalues.
    turned : array of shape (n, n_columns)
        Centred labels in the basis of the eigenvectors.
    root : array of shape (n,)
        Square roots of the weights.
    """

    vectors: Matrix
    values: Matrix
    turned: Matrix
    root: Matrix

    @classmethod
    def of(cls, kernel: Matrix, labels: Matrix, root: Matrix) -> Decomposed:
        """Decompose a kernel matrix, which is overwritten."""
        kernel *= root[:, None]
        kernel *= root
        # for all eigenvectors this driver is twice as fast as scipy's default
        values, vectors = linalg.eigh(kernel, driver="evd", overwrite_a=True, check_finite=False)
        return cls(vectors, np.maximum(values, 0.0), vectors.T @ (root[:, None] * labels), root)

    def coefficients(self, ridge: float) -> Matrix:
        """Return the dual coefficients, of shape (n, n_columns)."""
        shrunk = self.turned / (self.values + ridge)[:, None]
        return np.asarray(self.root[:, None] * (self.vectors @ shrunk))

    def left_out(self, ridge: float, labels: Matrix) -> Matrix:
        """Return leave-one-out predictions, of shape (n, n_columns).

        A leave-one-out residual is the residual divided by one minus the leverage of the row.
        """
        share = self.values / (self.values + ridge)
        fitted = self.vectors @ (share[:, None] * self.turned)
        fitted /= self.root[:, None]
        leverage = np.einsum("ij,j,ij->i", self.vectors, share, self.vectors)
        rest = np.maximum(1.0 - leverage, 1e-6)[:, None]
        return np.asarray(labels - (labels - fitted) / rest)


def nystroem_map(landmarks: Any, gamma: float) -> Matrix:
    """Return the matrix that maps kernels with landmarks to features: (n_landmarks, n_kept).

    Products of the features ``cosine_kernel(X, landmarks) @ map`` approximate the kernel.
    """
    values, vectors = np.linalg.eigh(cosine_kernel(landmarks, landmarks, gamma).astype(np.float64))
    kept = values > 1e-6 * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]), dtype=np.float32)
