"""Kernel ridge regression of all nodes at once."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from palmette.core.hierarchy import Hierarchy
from palmette.core.rows import take_rows
from palmette.core.thresholds import Threshold
from palmette.exceptions import PalmetteError
from palmette.metrics._counts import average_precision_of_cells
from palmette.multipath.base import CoherentClassifier
from palmette.multipath.ridge import (
    Decomposed,
    Matrix,
    cosine_kernel,
    nystroem_map,
    solve_ridge,
    unit_rows,
)

__all__ = ["CoherentKernelClassifier"]

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
