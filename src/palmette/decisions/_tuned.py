"""Rules whose thresholds, one per label, are tuned on held-out rows: ShrunkF, BestF, Youden."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette._arrays import row_chunks
from palmette.decisions._coherence import FloatArray, NodeColumns
from palmette.decisions._thresholds import (
    LabelRule,
    Threshold,
    check_beta,
    is_threshold,
    resolve_threshold,
)
from palmette.exceptions import PalmetteError


class TunedRule(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule whose thresholds, one per node, are chosen on held-out probabilities.

    A threshold is 0.5 if the label or its score is constant.
    """

    def tune(
        self,
        proba: FloatArray,
        truth: sparse.csr_array,
        columns: NodeColumns,
        weights: NDArray[np.float64] | None = None,
    ) -> Threshold:
        """Choose the thresholds.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Probabilities of rows that the model was not fitted on, coherent like those of
            ``predict``.
        truth : sparse bool array of shape (n_samples, n_columns)
            Nodes that are true.
        columns : NodeColumns
        weights : array of shape (n_samples,), optional

        Returns
        -------
        Threshold
            With one value per node of the hierarchy, 0.5 for those that are not columns.
        """
        values = np.full(columns.hierarchy.n_nodes, 0.5)
        values[columns.nodes] = self._cuts(proba, truth, weights)
        return Threshold(values)

    @abstractmethod
    def _cuts(
        self, proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the threshold of every column, of shape (n_columns,)."""


class ShrunkF(TunedRule):
    """Tune one threshold per label to the best F on held-out rows, cautiously for rare labels.

    Its name is ``"shrunk_f1"``. With few positive rows, the threshold with the best F (`BestF`) is
    a matter of chance, and often so low that most rows are predicted. The threshold :math:`t` of a
    label with :math:`n` positive rows is therefore shrunk towards the threshold :math:`e` that has
    the best expected F if the scores are probabilities, and raised if it predicts too many rows:

    .. math:: \\max\\Bigl(\\frac{n t + s e}{n + s},\\ c\\Bigr)

    where :math:`c` is the lowest threshold that predicts at most :math:`m n` held-out rows.

    Parameters
    ----------
    beta : float
        Weight of recall relative to precision; 1 is F1.
    strength : float
        :math:`s`, the number of positive rows at which both thresholds have the same weight.
    most : float
        :math:`m`, the largest number of predictions per positive row. It matters for labels that
        the scores hardly separate: the best F predicts most rows. With 3, their macro-F is
        higher, and micro-F lower.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a"]), np.array([1]))
    >>> proba = np.array([[0.3], [0.25], [0.2], [0.2], [0.1], [0.1]])
    >>> truth = sparse.csr_array([[False]] * 5 + [[True]])
    >>> BestF().tune(proba, truth, columns).value.round(3).tolist()  # predicts all rows
    [0.5, 0.05]
    >>> ShrunkF().tune(proba, truth, columns).value.round(3).tolist()
    [0.5, 0.275]
    """

    def __init__(self, beta: float = 1.0, *, strength: float = 20.0, most: float = 1.5) -> None:
        self.beta = beta
        self.strength = strength
        self.most = most

    def _cuts(
        self, proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        beta = check_beta(self)
        for name in ("strength", "most"):
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0:
                raise PalmetteError(f"{self!r}: expected {name} to be a positive number.")
        return shrunk_cuts(proba, truth, beta, float(self.strength), float(self.most), weights)


class BestF(TunedRule):
    """Tune one threshold per label to the best F on held-out rows; its name is ``"f1"``.

    It is 0.5 if no threshold has an F above 0. `ShrunkF` is better for labels with few positive
    rows.

    Parameters
    ----------
    beta : float
        Weight of recall relative to precision; 1 is F1.
    cut : {"middle", "lowest"}
        Which of the thresholds with the best F: the midpoint between two neighbouring scores, of
        the highest ones in case of a tie, or just above the lowest one. That is better where the
        scores are those of rows that the model was fitted on, which are too high for positive rows.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a", "b"]), np.arange(1, 3))
    >>> proba = np.array([[0.1, 0.6], [0.2, 0.5], [0.3, 0.2]])
    >>> truth = sparse.csr_array([[False, False], [True, False], [True, False]])
    >>> BestF().tune(proba, truth, columns).value.round(3).tolist()
    [0.5, 0.15, 0.5]
    >>> BestF(cut="lowest").tune(proba, truth, columns).value.round(3).tolist()
    [0.5, 0.1, 0.5]
    """

    def __init__(self, beta: float = 1.0, *, cut: str = "middle") -> None:
        self.beta = beta
        self.cut = cut

    def _cuts(
        self, proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        value_of = _f_value(check_beta(self) ** 2)
        if self.cut not in ("middle", "lowest"):
            raise PalmetteError(f"{self!r}: expected cut to be 'middle' or 'lowest'.")
        return best_cuts(proba, truth, value_of, weights, lowest=self.cut == "lowest")


class Youden(TunedRule):
    """Tune one threshold per label to the largest difference of true and false positive rate.

    Its name is ``"youden"``.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a"]), np.array([1]))
    >>> proba = np.array([[0.1], [0.2], [0.3], [0.4]])
    >>> truth = sparse.csr_array([[False], [True], [False], [True]])
    >>> Youden().tune(proba, truth, columns).value.round(3).tolist()
    [0.5, 0.35]
    """

    def _cuts(
        self, proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        def difference_of(hits: Any, alarms: Any, positives: Any, negatives: Any) -> Any:
            return hits / positives - alarms / negatives

        return best_cuts(proba, truth, difference_of, weights)


# ---------------------------------------------------------------------- by name

_BY_NAME: dict[str, type[TunedRule]] = {"f1": BestF, "shrunk_f1": ShrunkF, "youden": Youden}


def is_label_rule(decoding: Any) -> bool:
    """Whether an object, number or name is a rule for several labels per row.

    Examples
    --------
    >>> is_label_rule("f1"), is_label_rule(0.3), is_label_rule("best_path")
    (True, True, False)
    """
    if isinstance(decoding, str):
        return decoding in _BY_NAME
    return isinstance(decoding, LabelRule | TunedRule) or is_threshold(decoding)


def resolve_label_rule(decoding: Any) -> LabelRule | TunedRule:
    """Return the rule for several labels per row: a threshold of 0.5 for ``"auto"``.

    Examples
    --------
    >>> resolve_label_rule("f1")
    BestF()
    """
    if isinstance(decoding, LabelRule | TunedRule):
        return decoding
    if isinstance(decoding, str) and decoding in _BY_NAME:
        return _BY_NAME[decoding]()
    return resolve_threshold(decoding)


# ---------------------------------------------------------------------- the best thresholds

# value of thresholds, given weights of (true positives, false positives, positives, negatives)
CutValue = Callable[
    [NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    NDArray[np.float64],
]


def _f_value(square: float) -> CutValue:
    """Return the function that values thresholds by F; `square` is the square of beta."""

    def f_of(hits: Any, alarms: Any, positives: Any, negatives: Any) -> Any:
        return (1 + square) * hits / (square * positives + hits + alarms)

    return f_of


_SORTED_AT_ONCE = 2**22  # scores that are sorted together: 32 MiB
_AS_GOOD = 1 - 1e-12  # differences below rounding errors do not make a threshold better
_AT_MOST = 1 + 1e-12  # nor do they make a number of rows too large
_JUST_ABOVE = 1e-6  # share of a gap: the same score, computed again, may differ by rounding


def best_cuts(
    proba: FloatArray,
    truth: sparse.csr_array,
    value_of: CutValue,
    weights: NDArray[np.float64] | None = None,
    *,
    lowest: bool = False,
) -> NDArray[np.float64]:
    """Return the best threshold of each column.

    Scores above a threshold are predicted positive. The candidates are the midpoints between
    neighbouring scores, and between the lowest score and 0; ties go to the highest threshold.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
        From 0 to 1.
    truth : sparse bool array of shape (n_samples, n_columns)
    value_of : callable
        Value of each threshold, computed from the weights of its true and false positives, of
        shape (n_columns, n_samples), and of all positives and negatives, of shape (n_columns, 1).
    weights : array of shape (n_samples,), optional
    lowest : bool
        Whether the lowest of the best thresholds is taken, which is just above a score.

    Returns
    -------
    array of shape (n_columns,)
        0.5 where all labels or all scores are equal, or no threshold has a value above 0.

    Examples
    --------
    >>> truth = sparse.csr_array([[True], [False], [True]])
    >>> best_cuts(np.array([[0.9], [0.5], [0.7]]), truth, lambda tp, fp, p, n: tp / p - fp / n)
    array([0.6])
    """
    return _cuts_by_column(
        proba, truth, weights, lambda falling: _best_cuts_of(falling, value_of, lowest)
    )


def shrunk_cuts(
    proba: FloatArray,
    truth: sparse.csr_array,
    beta: float,
    strength: float,
    most: float,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the threshold of the best F of each column, shrunk towards the expected one.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
        From 0 to 1.
    truth : sparse bool array of shape (n_samples, n_columns)
    beta, strength, most : float
        See `ShrunkF`.
    weights : array of shape (n_samples,), optional

    Returns
    -------
    array of shape (n_columns,)
        0.5 where all labels or all scores are equal.

    Examples
    --------
    >>> truth = sparse.csr_array([[False]] * 5 + [[True]])
    >>> proba = np.array([[0.3], [0.25], [0.2], [0.2], [0.1], [0.1]])
    >>> shrunk_cuts(proba, truth, 1.0, 20.0, 3.0)  # the best F1 has to predict all rows
    array([0.225])
    """
    value_of = _f_value(beta * beta)

    def cuts_of(falling: _Falling) -> NDArray[np.float64]:
        best, positives = _best_cuts_of(falling, value_of), falling.hits[:, -1]
        expected = (falling.mass / (beta * beta * falling.mass[:, -1:] + falling.chosen)).max(
            axis=1
        )
        shrunk = (positives * best + strength * expected) / (positives + strength)
        bounded = np.maximum(shrunk, _lowest_cuts(falling, most * positives))
        return np.where(falling.has_one_value, 0.5, bounded)

    return _cuts_by_column(proba, truth, weights, cuts_of)


class _Falling(NamedTuple):
    """Scores of a few columns in falling order; arrays have shape (n_columns, n_samples)."""

    scores: NDArray[np.float64]
    following: NDArray[np.float64]  # the next score, and 0 after the last one
    hits: NDArray[np.float64]  # weight of the positive rows up to here
    alarms: NDArray[np.float64]  # weight of the negative rows up to here
    mass: NDArray[np.float64]  # weight times score up to here

    @property
    def chosen(self) -> NDArray[np.float64]:
        """Weight of the rows up to here."""
        return self.hits + self.alarms

    @property
    def has_one_value(self) -> NDArray[np.bool_]:
        """Whether all labels or all scores of a column are equal, of shape (n_columns,)."""
        one_label = (self.hits[:, -1] == 0) | (self.alarms[:, -1] == 0)
        return np.asarray(one_label | (self.scores[:, 0] == self.scores[:, -1]))


def _cuts_by_column(
    proba: FloatArray,
    truth: sparse.csr_array,
    weights: NDArray[np.float64] | None,
    cuts_of: Callable[[_Falling], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return one threshold per column, chosen by a function of some sorted columns."""
    _check(proba, truth, weights)
    if weights is not None and not weights.all():
        used = np.flatnonzero(weights)
        proba, truth, weights = proba[used], truth[used], weights[used]
    cuts = np.full(proba.shape[1], 0.5)
    if not len(proba):
        return cuts
    by_column = sparse.csc_array(truth)
    for chunk in row_chunks(proba.shape[1], len(proba), at_once=_SORTED_AT_ONCE):
        flags = by_column[:, chunk].toarray().T.astype(bool)
        scores = proba[:, chunk].T.astype(np.float64)
        cuts[chunk] = cuts_of(_in_falling_order(scores, flags, weights))
    return cuts


def _in_falling_order(
    scores: NDArray[np.float64], flags: NDArray[np.bool_], weights: NDArray[np.float64] | None
) -> _Falling:
    order = np.argsort(-scores, axis=1, kind="stable")
    scores = np.take_along_axis(scores, order, axis=1)
    flags = np.take_along_axis(flags, order, axis=1)
    each: Any = 1.0 if weights is None else weights[order]
    return _Falling(
        scores,
        np.concatenate([scores[:, 1:], np.zeros((len(scores), 1))], axis=1),
        np.cumsum(np.where(flags, each, 0.0), axis=1),
        np.cumsum(np.where(flags, 0.0, each), axis=1),
        np.cumsum(scores * each, axis=1),
    )


def _best_cuts_of(
    falling: _Falling, value_of: CutValue, lowest: bool = False
) -> NDArray[np.float64]:
    """Return the thresholds with the largest values, 0.5 if none is above 0."""
    hits, alarms = falling.hits, falling.alarms
    with np.errstate(divide="ignore", invalid="ignore"):
        values = value_of(hits, alarms, hits[:, -1:], alarms[:, -1:])
    # no threshold separates equal scores
    values = np.where(falling.scores > falling.following, values, -np.inf)
    top = values.max(axis=1)
    is_open = ~falling.has_one_value & (top > 0)
    is_best = values >= np.where(is_open, top * _AS_GOOD, -np.inf)[:, None]
    if lowest:
        at = is_best.shape[1] - 1 - np.argmax(is_best[:, ::-1], axis=1)
        return np.where(is_open, _cuts_after(falling, at, _JUST_ABOVE), 0.5)
    return np.where(is_open, _cuts_after(falling, np.argmax(is_best, axis=1)), 0.5)


def _lowest_cuts(falling: _Falling, most: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lowest thresholds with at most a given weight of rows above them."""
    fits = falling.chosen <= most[:, None] * _AT_MOST
    fits &= falling.scores > falling.following
    at = fits.shape[1] - 1 - np.argmax(fits[:, ::-1], axis=1)
    return np.where(fits.any(axis=1), _cuts_after(falling, at), falling.scores[:, 0])


def _cuts_after(falling: _Falling, at: NDArray[np.intp], share: float = 0.5) -> NDArray[np.float64]:
    """Return the thresholds between the scores at some places and the following ones.

    They are the given share of the way up from the lower score.
    """
    above = np.take_along_axis(falling.scores, at[:, None], axis=1)[:, 0]
    below = np.take_along_axis(falling.following, at[:, None], axis=1)[:, 0]
    between = share * above + (1 - share) * below
    return np.where(between < above, between, below)  # no float lies between adjacent floats


def _check(proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None) -> None:
    if proba.ndim != 2 or proba.shape != truth.shape:
        raise PalmetteError(
            f"proba has shape {proba.shape} and truth has shape {truth.shape}: expected equal "
            "shapes."
        )
    if not ((proba >= 0) & (proba <= 1)).all():
        raise PalmetteError("proba has values outside [0, 1] or NaN: expected probabilities.")
    if weights is not None and weights.shape != (len(proba),):
        raise PalmetteError(
            f"weights have shape {weights.shape}: expected ({len(proba)},), one weight per row."
        )
