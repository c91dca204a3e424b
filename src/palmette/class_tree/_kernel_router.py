"""KernelRouter: kernel regression of all classes on landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, eigh, solve_triangular
from scipy.special import softmax

from palmette._arrays import FloatArray, IntArray, count_rows, row_chunks, take_rows
from palmette.base._parameters import check_positive
from palmette.base._temperature import fit_inverse_temperature
from palmette.class_tree._routing import Router, RoutingProblem
from palmette.class_tree._shared_router import SharedModel, SharedRouter
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import numbers, require

_GAMMAS = (0.03125, 0.125, 0.5, 2.0, 8.0)  # tried by gamma="auto"
_RIDGES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # tried by ridge="auto"
_CHOICE_ROWS, _CHOICE_LANDMARKS = 2_000, 500  # used to choose between these
_CHOICE_CELLS = 10**6  # rows x classes: with more than 500 classes, fewer rows, at least
_FEWEST_ROWS = 1_000
_SMALLEST = 1e-10  # eigenvalues below this share of the largest are rounding errors
_SHARPNESS = 8.0  # typical factor between regressions of indicators and log-odds
_CELLS_AT_ONCE = 2**22  # of a kernel matrix


class KernelRouter(SharedRouter):
    """Separate the classes by ridge regression on the features of a Gaussian kernel.

    The kernel is approximated by its values at some of the rows (Nystroem). One system of linear
    equations serves all classes. Scores become probabilities by a softmax whose temperature has
    the maximum likelihood, with every row left out of its own score.

    Parameters
    ----------
    n_landmarks : int
        Number of rows at which the kernel is evaluated; all rows if there are fewer.
    gamma : "auto" or float
        The kernel is ``exp(-gamma * d2 / v)`` for rows of squared distance d2, with v the sum of
        the variances of all features. "auto" takes the best of 1/32, 1/8, 1/2, 2 and 8, together
        with `ridge`, by leave-one-out accuracy on a sample of 2,000 rows (1,000 if there are 1,000
        classes or more) with 500 landmarks.
    ridge : "auto" or float
        Penalty of the squared weights, per row. "auto" takes the best of 1e-7 to 1e-2.

    References
    ----------
    Rifkin, Klautau, In defense of one-vs-all classification, JMLR 5, 2004.
    Williams, Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000.

    Examples
    --------
    >>> KernelRouter(gamma=0.5)
    KernelRouter(gamma=0.5)
    """

    def __init__(
        self, n_landmarks: int = 1000, *, gamma: float | str = "auto", ridge: float | str = "auto"
    ) -> None:
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.ridge = ridge

    def choose(self, problem: RoutingProblem) -> tuple[Router, dict[str, float]]:
        """Return a router with numbers for "auto"; see `Router.choose`."""
        self._check()
        if not isinstance(self.gamma, str) and not isinstance(self.ridge, str):
            return self, {}
        problem = problem.without_copies()
        gammas = _GAMMAS if isinstance(self.gamma, str) else (float(self.gamma),)
        ridges = _RIDGES if isinstance(self.ridge, str) else (float(self.ridge),)
        rows = np.random.default_rng(problem.seed or 0).permutation(len(problem.codes))
        rows = rows[: _n_choice_rows(problem.table.n_classes)]
        data = _RidgeData.of(problem, rows)
        marks = rows[: min(self.n_landmarks, _CHOICE_LANDMARKS)]
        found: dict[tuple[float, float], float] = {}
        for gamma in gammas:
            features = _LandmarkMap.of(take_rows(problem.X, marks), gamma / data.variance)
            for ridge, scores in data.left_out(features(data.X), ridges):
                hits = scores.argmax(axis=1) == data.codes
                found[gamma, ridge] = float(np.average(hits, weights=data.weights))
        gamma, ridge = max(found, key=lambda pair: found[pair])
        return KernelRouter(self.n_landmarks, gamma=gamma, ridge=ridge), {}

    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return the fitted regression."""
        router: Any = self.choose(problem)[0]
        rows = np.random.default_rng(problem.seed or 0).permutation(len(problem.codes))
        whole = _RidgeData.of(problem, np.arange(len(rows)))
        marks = take_rows(problem.X, np.sort(rows[: self.n_landmarks]))
        features = _LandmarkMap.of(marks, router.gamma / whole.variance)
        n_kept = features.matrix.shape[1]
        gram, right = np.zeros((n_kept, n_kept)), np.zeros((n_kept, whole.n_classes))
        some = np.sort(rows[: _n_choice_rows(whole.n_classes)])
        of_some = np.empty((len(some), n_kept))
        for part in row_chunks(len(rows), len(marks), at_once=_CELLS_AT_ONCE):
            mapped = features(whole.X[part])
            here = slice(*np.searchsorted(some, [part.start, part.stop]))
            of_some[here] = mapped[some[here] - part.start]
            right += whole.times_targets(mapped, part)
            mapped *= np.sqrt(whole.weights[part, None])
            gram += mapped.T @ mapped
        factor = cho_factor(gram + router.ridge * whole.weights.sum() * np.eye(n_kept), lower=True)
        coef = cho_solve(factor, right)
        model = KernelModel(
            features.marks, features.gamma, features.matrix @ coef, whole.shares, sharpness=1.0
        )
        solved = solve_triangular(factor[0], of_some.T, lower=True)
        own = whole.weights[some] * np.square(solved).sum(axis=0)
        scores = _without_own(of_some @ coef, whole.codes[some], whole.shares, own)
        proba = np.asarray(softmax(_SHARPNESS * scores, axis=1))
        model.sharpness = _SHARPNESS * fit_inverse_temperature(
            proba, whole.codes[some], whole.weights[some]
        )
        return [model]

    def _check(self) -> None:
        if not isinstance(self.n_landmarks, int | np.integer) or self.n_landmarks < 1:
            raise PalmetteError(f"n_landmarks={self.n_landmarks!r}: expected a positive integer.")
        check_positive(self, "gamma", "ridge", words=("auto",))


class _RidgeData:
    """Rows of a regression of class indicators."""

    def __init__(self, X: FloatArray, codes: IntArray, weights: FloatArray, n_classes: int) -> None:
        self.X, self.codes, self.weights, self.n_classes = X, codes, weights, n_classes
        self.shares = np.bincount(codes, weights, minlength=n_classes) / weights.sum()
        mean = weights @ X / weights.sum()
        variance = float(weights @ np.square(X - mean).sum(axis=1) / weights.sum())
        self.variance = variance if variance > 0 else 1.0

    @classmethod
    def of(cls, problem: RoutingProblem, rows: NDArray[np.int64]) -> _RidgeData:
        """Take some rows of a problem."""
        weights = np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
        X = np.asarray(take_rows(problem.X, rows), dtype=np.float64)
        return cls(X, problem.codes[rows], weights, problem.table.n_classes)

    def times_targets(self, features: FloatArray, rows: slice) -> FloatArray:
        """Return the weighted sums of features times centred indicators of the classes.

        Parameters
        ----------
        features : array of shape (n_rows, n_kept)
        rows : slice

        Returns
        -------
        array of shape (n_kept, n_classes)
        """
        codes, weights = self.codes[rows], self.weights[rows]
        entries = weights, codes, np.arange(len(codes) + 1)
        indicators = sparse.csr_array(entries, shape=(len(codes), self.n_classes))
        return np.asarray((indicators.T @ features).T - np.outer(weights @ features, self.shares))

    def left_out(self, features: FloatArray, ridges: Sequence[float]) -> Any:
        """Yield every ridge with the scores of rows by regressions without them."""
        values, vectors = eigh((features.T * self.weights) @ features)
        turned = features @ vectors
        right = self.times_targets(turned, slice(None))
        squares = np.square(turned)
        for ridge in ridges:
            inverse = 1.0 / (np.maximum(values, 0.0) + ridge * self.weights.sum())
            fitted = turned @ (inverse[:, None] * right)
            own = self.weights * (squares @ inverse)
            yield ridge, _without_own(fitted, self.codes, self.shares, own)


def _n_choice_rows(n_classes: int) -> int:
    """Return the number of rows by which settings are chosen."""
    return min(_CHOICE_ROWS, max(_FEWEST_ROWS, _CHOICE_CELLS // n_classes))


def _without_own(
    fitted: FloatArray, codes: IntArray, shares: FloatArray, own: FloatArray
) -> FloatArray:
    """Return the scores of rows by a linear smoother of class indicators that leaves them out.

    A smoother that gives a row's own target t the weight `own` and fits f to it would fit
    t - (t - f) / (1 - own) without it. Targets are indicators less the shares of the classes.

    Parameters
    ----------
    fitted : array of shape (n_rows, n_classes), overwritten
    codes : int array of shape (n_rows,)
    shares : array of shape (n_classes,)
    own : array of shape (n_rows,)
    """
    rest = np.maximum(1.0 - own, 1e-6)
    fitted += shares
    fitted /= rest[:, None]
    fitted[np.arange(len(codes)), codes] += 1.0 - 1.0 / rest
    return fitted


def _gaussian(X: FloatArray, marks: FloatArray, gamma: float) -> FloatArray:
    """Return the kernel between rows and landmarks."""
    squares = np.square(X).sum(axis=1)[:, None] + np.square(marks).sum(axis=1)
    squares -= 2.0 * (X @ marks.T)
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0.0)))


class _LandmarkMap:
    """Features whose inner products approximate the kernel."""

    def __init__(self, marks: FloatArray, gamma: float, matrix: FloatArray) -> None:
        self.marks, self.gamma, self.matrix = marks, gamma, matrix

    @classmethod
    def of(cls, marks: FloatArray, gamma: float) -> _LandmarkMap:
        values, vectors = eigh(_gaussian(marks, marks, gamma))
        kept = values > _SMALLEST * values[-1]
        return cls(marks, gamma, vectors[:, kept] / np.sqrt(values[kept]))

    def __call__(self, X: FloatArray) -> FloatArray:
        return np.asarray(_gaussian(X, self.marks, self.gamma) @ self.matrix)


class KernelModel(SharedModel):
    """A regression on kernels at landmarks.

    Parameters
    ----------
    marks : array of shape (n_landmarks, n_features)
    gamma : float
    coef : array of shape (n_landmarks, n_classes)
    shares : array of shape (n_classes,)
        Scores of a row that is far from all landmarks.
    sharpness : float
        Factor of the scores in the softmax.
    """

    def __init__(
        self,
        marks: FloatArray,
        gamma: float,
        coef: FloatArray,
        shares: FloatArray,
        sharpness: float,
    ) -> None:
        self.marks = np.ascontiguousarray(marks)
        self.gamma = float(gamma)
        self.coef = np.ascontiguousarray(coef)
        self.shares = shares
        self.sharpness = sharpness

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        marks = numbers(self.marks, np.float64, 2, "marks")
        coef = numbers(self.coef, np.float64, 2, "coef")
        shares = numbers(self.shares, np.float64, 1, "shares")
        fits = coef.shape == (len(marks), len(shares))
        require(fits, "landmarks and coefficients do not fit together")
        require(marks.size > 0, "there are no landmarks")
        are_numbers = isinstance(self.gamma, float) and isinstance(self.sharpness, float)
        require(are_numbers, "gamma and sharpness are not numbers")

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        """Number of classes."""
        return len(self.shares)

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return int(self.marks.shape[1])

    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""
        found = np.empty((count_rows(X), self.n_classes))
        for part in row_chunks(len(found), max(self.marks.shape), at_once=_CELLS_AT_ONCE):
            rows = take_rows(X, part)
            rows = rows.toarray() if sparse.issparse(rows) else rows
            found[part] = _gaussian(rows, self.marks, self.gamma) @ self.coef + self.shares
        return np.asarray(softmax(self.sharpness * found, axis=1))
