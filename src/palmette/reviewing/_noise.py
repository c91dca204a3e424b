"""How likely a given label is wrong: models of label noise, fitted to held-out probabilities.

The probabilities of a classifier say how well a label fits a row, not whether the label was entered
by mistake: that also depends on how often labels are wrong, and on which labels are mistaken for
each other. Both are estimated from the table itself, by maximum likelihood. With one label per row
the result is only one of the signs of a wrong label, and `_planting` calibrates them: the errors of
a model have longer tails than its temperature can describe, and would count as wrong labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit

from palmette._arrays import FloatArray
from palmette.base._temperature import temperature_scaled
from palmette.hierarchy._hierarchy import Hierarchy

IntArray = NDArray[np.integer[Any]]

_TINY = 1e-12  # smallest probability that is scaled
_DOUBT = 1e-5  # added to the probability of a given label: no model is as sure as some claim
_PRIOR = 0.001  # share of the rows that every kind of error gets in advance
_STEPS = 60  # of expectation maximization


def _odds(wrong: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(wrong, 1e-300)) - np.log(np.maximum(right, 1e-300)))


class LabelNoise:
    """Noise of one label per row, by the level at which wrong labels leave the true path.

    A row keeps its true label with probability ``weights_[0]``. With probability
    ``weights_[1 + l]`` its label is drawn from all other labels below the ancestor of the true
    label at depth `l`: for ``l = 0`` from all labels, for the last level from the siblings. The
    probability of the given label is then

        weights_[0] (p(given) + 1e-5)
        + sum over l of weights_[1 + l] (P(ancestor at depth l) - p(given)) / (m - 1)

    where m is the number of labels below the ancestor. So the hierarchy enters in two ways: the
    probability of the branch of the given label counts, and confusions of siblings and of distant
    classes have rates of their own, which are estimated together with a temperature of the
    probabilities.

    Parameters
    ----------
    hierarchy : Hierarchy
        A tree.
    labels : int array of shape (n_labels,)
        Nodes of the labels, ascending.
    by_level : bool
        Whether errors at all levels are estimated; otherwise, wrong labels are drawn from all
        labels, as at level 0. Where a model confuses siblings that are hard to distinguish, its
        errors would count as wrong labels.

    Attributes
    ----------
    inverse_temperature_ : float
        Exponent that calibrates the probabilities for rows with true labels.
    weights_ : array of shape (1 + max_depth,)
        Shares of true labels, and of wrong ones by level.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])
    >>> noise = LabelNoise(h, h.index([("a", "x"), ("a", "y"), ("b", "z")]))
    >>> noise.likelihoods(np.array([[0.2, 0.7, 0.1]]), np.array([0])).round(3).tolist()
    [[0.2, 0.4, 0.7]]
    """

    def __init__(self, hierarchy: Hierarchy, labels: IntArray, by_level: bool = False) -> None:
        self.by_level = by_level
        self.hierarchy, self.labels = hierarchy, np.asarray(labels, dtype=np.int64)
        depth = np.asarray(hierarchy.depth)
        n_levels = max(hierarchy.max_depth, 1)
        # the labels below the ancestor of a label at every depth are an interval; a label above
        # that depth has none
        self._first = np.zeros((len(self.labels), n_levels), dtype=np.int64)
        self._last = np.zeros_like(self._first)
        above = self.labels.copy()
        for level in range(n_levels - 1, -1, -1):
            while (lower := depth[above] > level).any():
                above[lower] = np.asarray(hierarchy.parents)[above[lower]]
            at = depth[above] == level
            self._first[at, level] = np.searchsorted(self.labels, above[at])
            ends = np.asarray(hierarchy.subtree_end)[above[at]]
            self._last[at, level] = np.searchsorted(self.labels, ends)
        self.inverse_temperature_ = 1.0
        self.weights_ = self._first_weights()

    def _first_weights(self) -> FloatArray:
        n_levels = self._first.shape[1]
        return np.concatenate([[0.95], np.full(n_levels, 0.05 / n_levels)])

    def scaled(self, proba: FloatArray) -> FloatArray:
        """Return calibrated probabilities of the labels: (n_samples, n_labels)."""
        floored = np.maximum(proba, _TINY)
        return temperature_scaled(floored, self.inverse_temperature_)

    def below(self, proba: FloatArray, codes: IntArray) -> FloatArray:
        """Return the probabilities of the ancestors of one label per row.

        Parameters
        ----------
        proba : array of shape (n_samples, n_labels)
        codes : int array of shape (n_samples,)
            Places of labels in `labels`.

        Returns
        -------
        array of shape (n_samples, max_depth)
            From the root, whose probability is 1, downwards; 0 below the label itself.
        """
        sums = np.zeros((len(proba), proba.shape[1] + 1))
        np.cumsum(proba, axis=1, out=sums[:, 1:])
        rows = np.arange(len(proba))[:, None]
        found = sums[rows, self._last[codes]] - sums[rows, self._first[codes]]
        return np.asarray(np.clip(found, 0.0, 1.0))

    def likelihoods(self, proba: FloatArray, codes: IntArray) -> FloatArray:
        """Return the probability of the given labels if they are kept, or wrong by level.

        Parameters
        ----------
        proba : array of shape (n_samples, n_labels)
            Calibrated.
        codes : int array of shape (n_samples,)
            Places of the given labels in `labels`.

        Returns
        -------
        array of shape (n_samples, 1 + max_depth)
        """
        own = proba[np.arange(len(proba)), codes]
        others = (self._last - self._first)[codes] - 1
        rest = np.maximum(self.below(proba, codes) - own[:, None], 0.0)
        wrong = np.where(others > 0, rest / np.maximum(others, 1), 0.0)
        return np.column_stack([own + _DOUBT, wrong])

    def fit_temperature(self, proba: FloatArray, codes: IntArray) -> LabelNoise:
        """Estimate the temperature, together with the noise.

        Without the noise, the temperature would have to explain wrong labels, too, and the
        probabilities of all rows would be too careful.

        Parameters
        ----------
        proba : array of shape (n_samples, n_labels)
            Of held-out rows.
        codes : int array of shape (n_samples,)
        """

        def loss(log_inverse: float) -> float:
            self.inverse_temperature_ = float(np.exp(log_inverse))
            found = self.likelihoods(self.scaled(proba), codes)
            self.fit_weights(found)
            return -float(np.log(np.maximum(found @ self.weights_, 1e-300)).mean())

        if len(proba):
            best = minimize_scalar(
                loss, bounds=(np.log(0.1), np.log(10.0)), method="bounded", options={"xatol": 0.02}
            )
            self.inverse_temperature_ = float(np.exp(best.x))
        return self

    def fit_weights(self, likelihoods: FloatArray) -> LabelNoise:
        """Estimate the shares of true and wrong labels, from `likelihoods` of all rows."""
        weights = self._first_weights()
        extra = np.concatenate([[0.0], np.full(len(weights) - 1, _PRIOR * len(likelihoods))])
        if not self.by_level:
            weights[1], weights[2:], extra[2:] = 0.05, 0.0, 0.0
        for _ in range(_STEPS):
            shares = likelihoods * weights
            shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
            weights = shares.sum(axis=0) + extra
            weights /= max(weights.sum(), 1e-300)
        self.weights_ = weights if len(likelihoods) else self._first_weights()
        return self

    def log_odds(self, likelihoods: FloatArray) -> FloatArray:
        """Return the logarithm of the odds that labels are wrong: (n_samples,)."""
        parts = likelihoods * self.weights_
        return _odds(parts[:, 1:].sum(axis=1), parts[:, 0])


class SetNoise:
    """Noise of sets of labels: labels that were added, and labels that were left out.

    A true label is left out with probability ``missing_``, and a false one is added with
    probability ``added_``; both are estimated from held-out probabilities of cells (a row and a
    label), together with a logistic curve that calibrates these.

    Attributes
    ----------
    slope_, bias_ : float
        Calibration: the probability is ``expit(slope_ logit(p) + bias_)``.
    added_, missing_ : float

    Examples
    --------
    >>> proba = np.array([0.9] * 90 + [0.1] * 90 + [0.1] * 10)
    >>> noise = SetNoise().fit(proba, np.array([1] * 90 + [0] * 90 + [1] * 10))
    >>> bool(noise.log_odds(np.array([0.1]), True)[0] > noise.log_odds(np.array([0.9]), True)[0])
    True
    """

    def __init__(self) -> None:
        self.slope_, self.bias_ = 1.0, 0.0
        self.added_ = self.missing_ = 0.01

    def scaled(self, proba: FloatArray) -> FloatArray:
        """Return calibrated probabilities of cells, in the shape of `proba`."""
        inside = np.clip(proba, _TINY, 1.0 - 1e-9)
        return np.asarray(expit(self.slope_ * logit(inside) + self.bias_))

    def fit(self, proba: FloatArray, given: Any) -> SetNoise:
        """Estimate the calibration and the shares of wrong cells.

        Parameters
        ----------
        proba : array of shape (n_cells,)
            Of held-out rows.
        given : bool array of shape (n_cells,)
            Whether the label is given.
        """
        is_given = np.asarray(given, dtype=bool)
        if is_given.all() or not is_given.any():
            return self
        scores = logit(np.clip(proba, _TINY, 1.0 - 1e-9))
        share = float(is_given.mean())

        def loss(values: FloatArray) -> float:
            true = expit(np.exp(values[0]) * scores + values[1])
            added, missing = expit(values[2]), expit(values[3])
            seen = true * (1.0 - missing) + (1.0 - true) * added
            likelihood = np.log(np.where(is_given, seen, 1.0 - seen) + 1e-300).mean()
            # as if there were some errors of either kind already, so that no share becomes zero
            prior = _PRIOR * share * (np.log(added) + np.log(missing))
            return -float(likelihood + prior)

        start = np.array([0.0, 0.0, logit(0.02 * share), logit(0.02)])
        limits = [(-2.0, 2.0), (-10.0, 10.0), (-18.0, -1.0), (-7.0, -0.5)]
        slope, bias, added, missing = minimize(
            loss, start, method="L-BFGS-B", bounds=limits, options={"maxiter": 60}
        ).x
        self.slope_, self.bias_ = float(np.exp(slope)), float(bias)
        self.added_, self.missing_ = float(expit(added)), float(expit(missing))
        return self

    def log_odds(self, proba: FloatArray, given: bool) -> FloatArray:
        """Return the logarithm of the odds that cells are wrong.

        Parameters
        ----------
        proba : array
            Not yet calibrated.
        given : bool
            Whether these cells are given labels, which may be superfluous, or other labels, which
            may be missing.
        """
        return self._log_odds(self.scaled(proba), given)

    def _log_odds(self, scaled: FloatArray, given: bool) -> FloatArray:
        if given:
            return _odds((1.0 - scaled) * self.added_, scaled * (1.0 - self.missing_))
        return _odds(scaled * self.missing_, (1.0 - scaled) * (1.0 - self.added_))
