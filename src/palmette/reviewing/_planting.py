"""Planted wrong labels: what wrong labels look like to the model, and so, how many there are.

Rows get a label that is wrong for certain, and the model that has not seen them says how doubtful
it looks. No model is fitted for this. The given labels are a mixture: a share of them is wrong and
looks like the planted ones, and the others are right. That share, and the probability that a label
is wrong, follow if right labels rarely look most doubtful of all: the mixture proportion problem
of learning from positive and unlabelled rows (Elkan and Noto, 2008; Garg et al., 2021).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from palmette._arrays import FloatArray

IntArray = NDArray[np.integer[Any]]

_PLANTED = 10_000  # labels of every kind that are planted in a table,
_MOST = 20  # but at most so many in a row
_FITTED = 100_000  # rows on which the order of doubts is learned
_POWERS = np.array([1.0, 2, 3, 5, 9, 17, 33, 65, 129, 257, 1025, 4097, np.inf])
_ADVANCE = 1.0  # wrong labels that are assumed in advance
_BELOW = 3.84  # of twice the log likelihood: an interval at 95 %
_STEPS = 200  # of expectation maximization
_HALVINGS = 12


def n_planted(n_rows: int) -> int:
    """Return how many labels of every kind are planted in each row."""
    return int(np.clip(-(-_PLANTED // max(n_rows, 1)), 1, _MOST))


def any_labels(codes: IntArray, known: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw another label for every row, each with the same probability.

    Parameters
    ----------
    codes : int array of shape (n_samples,)
        The given labels, all of them in `known`.
    known : int array of shape (n_known,)
        Two labels or more, ascending.
    rng : numpy Generator

    Returns
    -------
    int array of shape (n_samples,)
    """
    steps = rng.integers(1, len(known), len(codes))
    return np.asarray(known[(np.searchsorted(known, codes) + steps) % len(known)])


def confused_labels(
    proba: FloatArray, codes: IntArray, known: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw another label for every row, as the model confuses its label.

    The label is drawn from the probabilities of another row with the same label, without that
    label. Where there is none, it is any other label.

    Parameters
    ----------
    proba : array of shape (n_samples, n_labels)
    codes : int array of shape (n_samples,)
    known : int array of shape (n_known,)
    rng : numpy Generator

    Returns
    -------
    int array of shape (n_samples,)
    """
    order = np.argsort(codes, kind="stable")
    _, starts, place, sizes = np.unique(
        codes[order], return_index=True, return_inverse=True, return_counts=True
    )
    size, start = sizes[place], starts[place]
    steps = 1 + rng.integers(0, np.maximum(size - 1, 1))
    donors = np.empty(len(codes), dtype=np.int64)
    donors[order] = order[start + (np.arange(len(codes)) - start + steps) % size]
    weights = proba[donors]
    weights[np.arange(len(codes)), codes] = 0.0
    sums = weights.cumsum(axis=1, out=weights)
    chosen = (sums > (rng.random(len(codes)) * sums[:, -1])[:, None]).argmax(axis=1)
    alone = (donors == np.arange(len(codes))) | (sums[:, -1] <= 0.0)
    return np.where(alone, any_labels(codes, known, rng), chosen)


class Calibration:
    """Probability that labels are wrong, from how doubtful planted ones look.

    A logistic regression separates planted from given labels; its score orders the rows. On the
    scale u of the share of planted labels that look more doubtful, wrong labels are distributed
    evenly by construction. The density of the given labels is ``share_`` for them, plus increasing
    powers of u for the right ones, whose weights are estimated by maximum likelihood, so that the
    density, and with it the probability of a wrong label, is monotone.

    Parameters
    ----------
    doubts : array of shape (n_samples, n_scores)
        How doubtful the given labels look.
    planted : list of arrays of shape (n_planted, n_scores)
        How doubtful planted labels look. Wrong labels are assumed to be of the first kind; the
        others count for the order of the rows, and for the interval.

    Attributes
    ----------
    share_ : float
        Estimated share of wrong labels.
    interval_ : tuple of two floats
        At 95 %: the least lower limit, and the greatest upper one, of all kinds.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> given = np.concatenate([rng.normal(-3, 1, 950), rng.normal(3, 1, 50)])[:, None]
    >>> calibration = Calibration(given, [rng.normal(3, 1, (5000, 1))])
    >>> round(calibration.share_, 2)
    0.05
    >>> calibration.wrong(np.array([[-3.0], [3.0]])).round(1).tolist()
    [0.0, 1.0]
    """

    def __init__(self, doubts: FloatArray, planted: list[FloatArray]) -> None:
        self._fit_order(doubts, np.concatenate(planted))
        scores = self.scores(doubts)
        mixtures = [_Mixture(scores, self.scores(kind)) for kind in planted]
        self._mixture = mixtures[0]
        self.share_ = self._mixture.share
        ends = np.array([mixture.interval() for mixture in mixtures])
        self.interval_ = float(ends[:, 0].min()), float(ends[:, 1].max())

    def _fit_order(self, doubts: FloatArray, planted: FloatArray) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        parts = [part[:: -(-len(part) // _FITTED)] for part in (doubts, planted)]
        is_planted = np.repeat([False, True], [len(part) for part in parts])
        model = make_pipeline(
            StandardScaler(), LogisticRegression(C=100.0, class_weight="balanced", max_iter=500)
        )
        self._order = model.fit(np.concatenate(parts), is_planted)

    def scores(self, doubts: FloatArray) -> FloatArray:
        """Return one number per row, the greater the more doubtful: (n_samples,)."""
        return np.asarray(self._order.decision_function(doubts))

    def wrong(self, doubts: FloatArray) -> FloatArray:
        """Return the probability that labels are wrong: (n_samples,)."""
        return self._mixture.wrong(self.scores(doubts))


class _Mixture:
    """Scores of given labels as a mixture of those of planted ones and of less doubtful ones."""

    def __init__(self, scores: FloatArray, planted: FloatArray) -> None:
        # cells that end at planted scores, so that none is empty; narrow where right labels are
        n = len(planted)
        tail = np.geomspace(0.5, 1.0 / n, 60)
        levels = np.concatenate([np.linspace(0.01, 0.99, 99), 1.0 - tail])
        edges = np.unique(np.quantile(planted, 1.0 - levels, method="higher"))
        self._edges = edges[edges < planted.max()]
        self._counts = self._count(scores)
        shares = np.concatenate([[0.0], np.cumsum(self._count(planted)) / n])
        self._masses = np.maximum(np.diff(shares[:, None] ** _POWERS, axis=0), 1e-300)
        self._weights = self._estimate()
        self.share = float(self._weights[0])

    def _cells(self, scores: FloatArray) -> IntArray:
        """Return the numbers of cells, from the most doubtful one."""
        return np.asarray(len(self._edges) - np.searchsorted(self._edges, scores))

    def _count(self, scores: FloatArray) -> FloatArray:
        counts = np.bincount(self._cells(scores), minlength=len(self._edges) + 1)
        return counts.astype(np.float64)

    def _estimate(self) -> FloatArray:
        """Return the most likely weights of the powers, that of wrong labels first."""
        n = self._counts.sum()

        def loss(weights: FloatArray) -> tuple[float, FloatArray]:
            density = self._masses @ weights + 1e-300
            slope = 1.0 - self._masses.T @ (self._counts / density) / n
            slope[0] -= _ADVANCE / n / weights[0]
            likelihood = self._counts @ np.log(density) + _ADVANCE * np.log(weights[0])
            # with the sum of the weights as penalty the best ones sum to one
            return float(weights.sum() - likelihood / n), slope

        start = np.full(len(_POWERS), 1.0 / len(_POWERS))
        options = {"maxiter": 500, "ftol": 1e-12, "gtol": 1e-8}
        best = minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(1e-9, 1.0)] + [(0.0, 1.0)] * (len(start) - 1),
            options=options,
        ).x
        return np.asarray(best / best.sum())

    def _log_likelihood(self, share: float) -> float:
        """Return the greatest logarithm of the likelihood with a given share of wrong labels."""
        others = self._weights[1:] + 1e-3
        others *= (1.0 - share) / others.sum()
        even, rest = self._masses[:, 0] * share, self._masses[:, 1:]
        for _ in range(_STEPS):
            others = others * (rest.T @ (self._counts / (even + rest @ others)))
            others *= (1.0 - share) / others.sum()
        return float(self._counts @ np.log(even + rest @ others))

    def interval(self) -> tuple[float, float]:
        """Return the shares of wrong labels whose likelihood is not much lower."""
        lowest = float(self._counts @ np.log(self._masses @ self._weights)) - _BELOW / 2

        def limit(inside: float, outside: float) -> float:
            if self._log_likelihood(outside) >= lowest:
                return outside
            for _ in range(_HALVINGS):
                middle = (inside + outside) / 2
                is_inside = self._log_likelihood(middle) >= lowest
                inside, outside = (middle, outside) if is_inside else (inside, middle)
            return outside

        return limit(self.share, 0.0), limit(self.share, 1.0 - 1e-6)

    def wrong(self, scores: FloatArray) -> FloatArray:
        """Return the probability that labels with these scores are wrong."""
        wrong = self._masses[:, 0] * self.share / (self._masses @ self._weights)
        return np.asarray(wrong[self._cells(scores)])
