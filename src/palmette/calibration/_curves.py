"""Calibration curves: temperature, Platt's sigmoid, isotonic regression, and tables of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

from palmette._arrays import FloatArray, IntArray

_UNIFORM_SHARE = 1e-3  # weight of the uniform distribution: no option has probability zero
_PADDING = -1e9  # log probability in padded columns
_LOWEST, _HIGHEST, _BISECTIONS = 0.1, 10.0, 40  # of the inverse temperature


class FamilyScores(NamedTuple):
    """Conditional probabilities of the options of a family, for rows that truly belong to it.

    Parameters
    ----------
    share : float array of shape (n_rows, n_options)
    chosen : int array of shape (n_rows,)
        The true option.
    weight : array of shape (n_rows,)
    """

    share: NDArray[np.floating]
    chosen: IntArray
    weight: FloatArray


def not_zero(share: FloatArray) -> FloatArray:
    """Mix probabilities with a little of the uniform distribution, so that all odds are finite.

    Parameters
    ----------
    share : array of shape (n_rows, n_options)

    Returns
    -------
    array of shape (n_rows, n_options)
    """
    return np.asarray((1 - _UNIFORM_SHARE) * share + _UNIFORM_SHARE / share.shape[1])


def fit_family_temperature(families: Iterable[FamilyScores]) -> float:
    """Return the inverse temperature that maximizes the likelihood of the true options.

    Probabilities are raised to this power and normalized. Targets are smoothed as Platt's are, by
    the weight of one more row, so that the result is finite where no row is wrong.

    Parameters
    ----------
    families : iterable of FamilyScores
        All with the same temperature.

    Returns
    -------
    float
        From 0.1 to 10.

    Examples
    --------
    >>> nine_of_ten = FamilyScores(np.tile([0.6, 0.4], (1000, 1)), np.arange(1000) % 10 // 9,
    ...     np.ones(1000))
    >>> odds = (0.6 / 0.4) ** fit_family_temperature([nine_of_ten])
    >>> round(odds / (1 + odds), 2)
    0.9
    """
    blocks = _padded_blocks(families)
    if not blocks:
        return 1.0
    any_option = 1 / (sum(float(block.weight.sum()) for block in blocks) + 2)

    def slope(power: float) -> float:
        """Return the slope of the log likelihood, which decreases in the power."""
        total = 0.0
        for block in blocks:
            expected = (softmax(power * block.log, axis=1) * block.log).sum(axis=1)
            target = (1 - any_option) * block.own + any_option * block.mean
            total += float(block.weight @ (target - expected))
        return total

    low, high = np.log(_LOWEST), np.log(_HIGHEST)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if slope(float(np.exp(middle))) > 0:
            low = middle
        else:
            high = middle
    return float(np.exp(0.5 * (low + high)))


class _Block(NamedTuple):
    """Log probabilities of several families, padded to one width."""

    log: FloatArray  # (n_rows, width)
    own: FloatArray  # of the true option, (n_rows,)
    mean: FloatArray  # over the options, (n_rows,)
    weight: FloatArray


def _padded_blocks(families: Iterable[FamilyScores]) -> list[_Block]:
    """Group families of up to 2, 4, 8, ... options: few arrays, and little padding."""
    by_width: dict[int, list[_Block]] = defaultdict(list)
    for family in families:
        width = 1 << (family.share.shape[1] - 1).bit_length()
        log = np.log(not_zero(family.share.astype(np.float64)))
        own = log[np.arange(len(log)), family.chosen]
        filled = np.pad(log, ((0, 0), (0, width - log.shape[1])), constant_values=_PADDING)
        by_width[width].append(_Block(filled, own, log.mean(axis=1), family.weight))
    return [
        _Block(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))
        for _, blocks in sorted(by_width.items())
    ]


# ---------------------------------------------------------------------- one curve

_MIN_SCORE = 1e-4  # scores are clipped here and at one minus it: the log-odds of 0 are infinite
_NEWTON_STEPS, _TOLERANCE, _RIDGE = 50, 1e-7, 1e-9


class Answers(NamedTuple):
    """Scores and true outcomes of one node: arrays of shape (n_rows,)."""

    score: FloatArray
    truth: FloatArray
    weight: FloatArray

    @property
    def evidence(self) -> float:
        """Weight of the rarer outcome: the amount of data that a curve is fitted on."""
        positive = float(self.weight @ self.truth)
        return max(min(positive, float(self.weight.sum()) - positive), 0.0)


def fit_sigmoid(answers: Answers) -> FloatArray:
    """Fit Platt's sigmoid: log-odds times a slope, plus an intercept.

    Platt's smoothed targets, inside of 0 and 1, keep probabilities away from 0 and 1 where scores
    separate the outcomes.

    Returns
    -------
    array of shape (2,)
        Slope and intercept.

    Examples
    --------
    >>> score = np.repeat([0.2, 0.8], 100)
    >>> truth = np.r_[np.repeat([0.0, 1.0], [60, 40]), np.repeat([1.0, 0.0], [60, 40])]
    >>> curve = fit_sigmoid(Answers(score, truth, np.ones(200)))
    >>> sigmoid_at(curve, np.array([0.2, 0.8])).round(2)
    array([0.4, 0.6])
    """
    n_true = float(answers.weight @ answers.truth)
    n_false = float(answers.weight.sum()) - n_true
    target = np.where(answers.truth > 0, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))
    odds = _log_odds(answers.score)
    curve = _logistic_fit(np.column_stack([odds, np.ones(len(odds))]), target, answers.weight)
    return np.array([max(curve[0], 0.0), curve[1]])  # the curve never decreases


def sigmoid_at(curve: FloatArray, score: FloatArray) -> FloatArray:
    """Return probabilities of shape (n_rows,) from a curve of `fit_sigmoid`."""
    return np.asarray(expit(curve[0] * _log_odds(score) + curve[1]))


def _isotonic_steps(answers: Answers) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return distinct scores with their weights and non-decreasing values."""
    from sklearn.isotonic import isotonic_regression  # a prediction does not need it

    score, place = np.unique(answers.score, return_inverse=True)
    weight = np.bincount(place, answers.weight).astype(np.float64)
    share = np.bincount(place, answers.weight * answers.truth) / weight
    margin = 1 / (float(weight.sum()) + 2)
    value = isotonic_regression(share, sample_weight=weight, y_min=margin, y_max=1 - margin)
    return score, weight, value


def fit_isotonic(answers: Answers) -> FloatArray:
    """Fit an isotonic regression, linear between its knots.

    Values stay away from 0 and 1 by the weight of one more row of either outcome.

    Returns
    -------
    array of shape (2 * n_knots,)
        Knots, then their values.

    Examples
    --------
    >>> answers = Answers(np.array([0.1, 0.4, 0.6, 0.9]), np.array([0.0, 1, 0, 1]), np.ones(4))
    >>> isotonic_at(fit_isotonic(answers), np.array([0.1, 0.5, 0.9])).round(2)
    array([0.17, 0.5 , 0.83])
    """
    score, _, value = _isotonic_steps(answers)
    kept = np.ones(len(value), dtype=bool)  # points inside a step are redundant
    kept[1:-1] = (value[1:-1] != value[:-2]) | (value[1:-1] != value[2:])
    return np.concatenate([score[kept], value[kept]])


def fit_centred(answers: Answers) -> FloatArray:
    """Fit an isotonic regression, linear between the medians of its steps, which are lines then.

    So rows with different scores keep different probabilities, but for the ends of the curve.

    Returns
    -------
    array of shape (2 * n_knots,)
        Knots, then their values.

    Examples
    --------
    >>> answers = Answers(np.arange(6.0), np.array([0.0, 0, 1, 0, 1, 1]), np.ones(6))
    >>> isotonic_at(fit_centred(answers), np.arange(6)).round(2)
    array([0.12, 0.31, 0.5 , 0.69, 0.88, 0.88])
    """
    score, weight, value = _isotonic_steps(answers)
    step = np.cumsum(np.diff(value, prepend=value[0]) > 0)
    ends = np.cumsum(np.bincount(step, weight))
    half = ends - 0.5 * np.diff(ends, prepend=0.0)
    centre = score[np.searchsorted(np.cumsum(weight), half - 1e-9)]
    first = np.unique(step, return_index=True)[1]
    knots = np.concatenate([score[:1], centre, score[-1:]])
    values = np.concatenate([value[:1], value[first], value[-1:]])
    return np.concatenate([knots, values])


def isotonic_at(curve: FloatArray, score: FloatArray) -> FloatArray:
    """Return probabilities of shape (n_rows,) from a curve of `fit_isotonic`."""
    knots, values = curve.reshape(2, -1)
    return np.interp(score, knots, values)


def _logistic_fit(design: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the coefficients that minimize the log loss, by Newton's method: (n_columns,)."""

    def loss(params: FloatArray) -> float:
        margin = design @ params
        return float(weight @ (np.logaddexp(0.0, margin) - target * margin))

    params = np.zeros(design.shape[1])
    value = loss(params)
    for _ in range(_NEWTON_STEPS):
        proba = expit(design @ params)
        gradient = design.T @ (weight * (proba - target))
        hessian = design.T @ (design * (weight * proba * (1 - proba))[:, None])
        hessian[np.diag_indices(len(params))] += _RIDGE * (1 + np.diag(hessian))
        step = np.linalg.solve(hessian, gradient)
        while (lower := loss(params - step)) > value and np.abs(step).max() > _TOLERANCE:
            step = step / 2
        params, value = params - step, lower
        if np.abs(step).max() <= _TOLERANCE:
            break
    return params


def _log_odds(score: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(score, _MIN_SCORE, 1 - _MIN_SCORE)))


CURVES: dict[
    str, tuple[Callable[[Answers], FloatArray], Callable[[FloatArray, FloatArray], FloatArray]]
] = {
    "isotonic": (fit_isotonic, isotonic_at),
    "centred": (fit_centred, isotonic_at),
    "sigmoid": (fit_sigmoid, sigmoid_at),
}


# ---------------------------------------------------------------------- many curves


@dataclass(eq=False)
class CurveTable:
    """A curve per place, each shrunk towards the curve of its group.

    The weight of a place's own curve is m / (m + prior), where m is the weight of the rarer
    outcome: places with few rows get the curve of their group.

    Parameters
    ----------
    method : {"isotonic", "centred", "sigmoid"}
    numbers : array of shape (n_numbers,)
        Parameters of all curves: first of the groups, then of the places.
    starts : int array of shape (n_groups + n_places + 1,)
        Start of each curve in `numbers`.
    group : int array of shape (n_places,)
        Group of every place; -1 for places without rows, whose scores stay unchanged.
    share : array of shape (n_places,)
        Weight of the place's own curve.
    """

    method: str
    numbers: FloatArray
    starts: NDArray[np.int64]
    group: IntArray
    share: FloatArray

    @classmethod
    def fit(
        cls, method: str, groups: Iterable[list[tuple[int, Answers]]], n_places: int, prior: float
    ) -> CurveTable:
        """Fit all curves.

        Parameters
        ----------
        method : {"isotonic", "centred", "sigmoid"}
        groups : iterable of lists of (place, Answers)
            The places of every group.
        n_places : int
        prior : float
            Evidence at which a place's own curve and that of its group weigh the same.
        """
        fit_curve, _ = CURVES[method]
        group, share = np.full(n_places, -1, dtype=np.int32), np.zeros(n_places)
        shared, own = [], {}
        for number, members in enumerate(groups):
            columns = zip(*(answers for _, answers in members), strict=True)
            shared.append(fit_curve(Answers(*(np.concatenate(column) for column in columns))))
            for place, answers in members:
                group[place], evidence = number, answers.evidence
                if evidence > 0:
                    share[place] = evidence / (evidence + prior)
                    own[place] = fit_curve(answers)
        none = np.empty(0)
        curves = [*shared, *(own.get(place, none) for place in range(n_places))]
        starts = np.concatenate([[0], np.cumsum([len(curve) for curve in curves])])
        return cls(method, np.concatenate([none, *curves]), starts, group, share)

    def at(self, place: int, score: FloatArray) -> FloatArray:
        """Return probabilities of one place for some rows: (n_rows,)."""
        group, share = int(self.group[place]), float(self.share[place])
        if group < 0:
            return score
        _, curve_at = CURVES[self.method]
        proba = curve_at(self._curve(group), score)
        if share > 0:
            n_groups = len(self.starts) - 1 - len(self.group)
            own = curve_at(self._curve(n_groups + place), score)
            proba = share * own + (1 - share) * proba
        return proba

    def _curve(self, number: int) -> FloatArray:
        return self.numbers[self.starts[number] : self.starts[number + 1]]
