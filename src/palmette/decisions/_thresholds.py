"""Thresholds: the simplest decision rule for several paths per row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette._arrays import IntArray, row_chunks
from palmette.decisions._coherence import FloatArray, NodeColumns, threshold_sets
from palmette.decisions._decode import top_classes
from palmette.exceptions import PalmetteError


class LabelRule(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that chooses any number of nodes for every row from the probabilities of the nodes."""

    sees_all_rows = False  # whether the prediction of a row depends on the other rows

    @abstractmethod
    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Coherent probabilities.
        columns : NodeColumns

        Returns
        -------
        sparse bool array of shape (n_samples, n_columns)
            With the ancestors that coherence requires.
        """

    def choose_labels(self, proba: FloatArray, columns: NodeColumns, labels: IntArray) -> IntArray:
        """Choose one label per row, by default as `Threshold(0.5)` does.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Coherent probabilities.
        columns : NodeColumns
        labels : int array of shape (n_labels,)
            Nodes to choose from.

        Returns
        -------
        int array of shape (n_samples,)
            Node numbers.
        """
        return Threshold().choose_labels(proba, columns, labels)


class Threshold(LabelRule):
    """Predict every node whose probability is above a threshold.

    The probabilities are coherent, and hence the predictions too.

    Parameters
    ----------
    value : float or array of shape (n_nodes,)
        From 0 to 1; one for all nodes, or one per node of the hierarchy. A threshold below that of
        an ancestor is raised to it.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> columns = NodeColumns(h, np.arange(1, h.n_nodes))
    >>> proba = np.array([[0.9, 0.6, 0.7, 0.2, 0.1]])
    >>> h.path_strings[columns.nodes[Threshold(0.5).choose(proba, columns).indices]].tolist()
    ['animal', 'animal/cat', 'animal/dog']
    """

    def __init__(self, value: float | ArrayLike = 0.5) -> None:
        self.value = value

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        return threshold_sets(proba, self._values(columns), columns)

    def choose_labels(self, proba: FloatArray, columns: NodeColumns, labels: IntArray) -> IntArray:
        """Choose the label per row whose path exceeds the thresholds the most in total.

        The excess of a node is its probability minus its threshold. With a threshold of 0.5, the
        chosen label has the smallest expected number of missed and wrong nodes.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Coherent probabilities.
        columns : NodeColumns
        labels : int array of shape (n_labels,)
            Nodes to choose from; ties go to the first.

        Returns
        -------
        int array of shape (n_samples,)
            Node numbers.
        """
        below = columns.hierarchy.closure[labels][:, columns.nodes].astype(proba.dtype)
        excess = below @ (proba - self._values(columns)).T.astype(proba.dtype)
        return np.asarray(labels[np.argmax(excess, axis=0)], dtype=np.int32)

    def _values(self, columns: NodeColumns) -> Any:
        values = np.asarray(self.value, dtype=np.float64)
        n_nodes = columns.hierarchy.n_nodes
        if values.shape not in ((), (n_nodes,)):
            raise PalmetteError(
                f"the threshold has shape {values.shape}: expected one number, or one per node of "
                f"the hierarchy ({n_nodes})."
            )
        if not ((values >= 0) & (values <= 1)).all():
            raise PalmetteError(f"Threshold({self.value!r}): expected numbers from 0 to 1.")
        return values[columns.nodes] if values.ndim else float(values)


def is_threshold(decoding: Any) -> bool:
    """Whether a rule is a threshold, given as an object or a number."""
    is_number = isinstance(decoding, Real) and not isinstance(decoding, bool | np.bool_)
    return is_number or isinstance(decoding, Threshold)


def resolve_threshold(decoding: Any) -> Threshold:
    """Return the threshold given by a number, an object, or ``"auto"``.

    Examples
    --------
    >>> resolve_threshold(0.3)
    Threshold(value=0.3)
    """
    if isinstance(decoding, Threshold):
        return decoding
    if is_threshold(decoding):
        return Threshold(float(decoding))
    if isinstance(decoding, str) and decoding == "auto":
        return Threshold()
    raise PalmetteError(
        f"decoding={decoding!r} is not a rule for several paths per row or a DAG: expected 'auto', "
        "a number from 0 to 1, or palmette.decoding.Threshold, TopK, ExpectedF, BestF ('f1'), "
        "ShrunkF ('shrunk_f1') or Youden ('youden')."
    )


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


def best_cuts(
    proba: FloatArray,
    truth: sparse.csr_array,
    value_of: CutValue,
    weights: NDArray[np.float64] | None = None,
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
    return _cuts_by_column(proba, truth, weights, lambda falling: _best_cuts_of(falling, value_of))


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


def _best_cuts_of(falling: _Falling, value_of: CutValue) -> NDArray[np.float64]:
    """Return the thresholds with the largest values, 0.5 if none is above 0."""
    hits, alarms = falling.hits, falling.alarms
    with np.errstate(divide="ignore", invalid="ignore"):
        values = value_of(hits, alarms, hits[:, -1:], alarms[:, -1:])
    # no threshold separates equal scores
    values = np.where(falling.scores > falling.following, values, -np.inf)
    top = values.max(axis=1)
    is_open = ~falling.has_one_value & (top > 0)
    at = np.argmax(values >= np.where(is_open, top * _AS_GOOD, -np.inf)[:, None], axis=1)
    return np.where(is_open, _cuts_after(falling, at), 0.5)


def _lowest_cuts(falling: _Falling, most: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lowest thresholds with at most a given weight of rows above them."""
    fits = falling.chosen <= most[:, None] * _AT_MOST
    fits &= falling.scores > falling.following
    at = fits.shape[1] - 1 - np.argmax(fits[:, ::-1], axis=1)
    return np.where(fits.any(axis=1), _cuts_after(falling, at), falling.scores[:, 0])


def _cuts_after(falling: _Falling, at: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the thresholds between the scores at some places and the following ones."""
    above = np.take_along_axis(falling.scores, at[:, None], axis=1)[:, 0]
    below = np.take_along_axis(falling.following, at[:, None], axis=1)[:, 0]
    middle = (above + below) / 2
    return np.where(middle < above, middle, below)  # no float lies between adjacent floats


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


_LARGEST_SET = 1000  # largest size tried: the cost of the quadrature grows with its square root
_ROUNDING = 1e-9  # larger than the error of the quadrature
_EXPECTED_AT_ONCE = 2**20


def best_set_sizes(proba: FloatArray, beta: float = 1.0) -> NDArray[np.intp]:
    """Return how many of the most probable labels of each row have the best expected F.

    If a row has S true labels, F of the first k is (1 + b) * hits / (k + b * S) with b = beta^2;
    F of the empty set is 1 if S = 0. As 1 / (k + b S) is the integral of u^(k - 1 + b S) over u
    from 0 to 1, the expectation is that of u^(k - 1) times a product over labels, and for each u
    one cumulative sum serves all k. Gaussian quadrature is exact to nine digits if the number of
    points grows with the square root of the largest power.

    Parameters
    ----------
    proba : array of shape (n_samples, n_labels)
        Descending in every row.
    beta : float

    Returns
    -------
    int array of shape (n_samples,)
        At most 1,000; ties go to the smallest size.

    Examples
    --------
    >>> best_set_sizes(np.array([[0.4], [0.6]]))
    array([0, 1])
    """
    sizes = np.zeros(len(proba), dtype=np.intp)
    for chunk in row_chunks(len(proba), proba.shape[1], at_once=_EXPECTED_AT_ONCE):
        expected = _expected_f(proba[chunk].astype(np.float64), beta * beta)
        none = np.prod(1 - proba[chunk].astype(np.float64), axis=1)
        all_sizes = np.column_stack([none, expected])
        as_good = all_sizes >= all_sizes.max(axis=1, keepdims=True) - _ROUNDING
        sizes[chunk] = np.argmax(as_good, axis=1)
    return sizes


def _expected_f(proba: NDArray[np.float64], square: float) -> NDArray[np.float64]:
    """Return the expected F of the first 1, 2, ... labels, of shape (n_samples, n_sizes)."""
    counts = np.arange(1, min(proba.shape[1], _LARGEST_SET) + 1)
    expected = np.zeros((len(proba), len(counts)))
    first = proba[:, : len(counts)]
    for v, mass in zip(*_quadrature(len(counts), square), strict=True):
        u = v * v  # v makes the integrand smooth at 0 even if beta is small
        lifted = u**square
        factors = np.maximum(1 - proba + proba * lifted, 1e-300)  # with a large beta, u^b vanishes
        all_labels = np.exp(np.log(factors).sum(axis=1, keepdims=True))
        hits = np.cumsum(first * lifted / factors[:, : len(counts)], axis=1) * all_labels
        expected += (mass * 2 * v) * u ** (counts - 1) * hits
    return (1 + square) * expected


@lru_cache(maxsize=8)
def _quadrature(n_sizes: int, square: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points from 0 to 1 and their weights."""
    enough = max(64, int(4 * np.sqrt(n_sizes * (1 + square))))
    points, masses = np.polynomial.legendre.leggauss(min(enough, 1000))
    return (points + 1) / 2, masses / 2


def f_thresholds(proba: FloatArray, beta: float = 1.0) -> NDArray[np.float64]:
    """Return the threshold F*/(1 + beta^2) of each label; F* is the best ratio of expected counts.

    Parameters
    ----------
    proba : array of shape (n_samples, n_labels)
    beta : float

    Returns
    -------
    array of shape (n_labels,)
        The positives of the best ratio are exactly the scores above it.

    Examples
    --------
    >>> f_thresholds(np.array([[0.9], [0.3]])).round(3)
    array([0.409])
    """
    square = beta * beta
    counts = np.arange(1, len(proba) + 1)[:, None]
    best = np.zeros(proba.shape[1])
    for chunk in row_chunks(proba.shape[1], len(proba), at_once=_EXPECTED_AT_ONCE):
        falling = -np.sort(-proba[:, chunk].astype(np.float64), axis=0)
        total = falling.sum(axis=0)
        ratio = (1 + square) * np.cumsum(falling, axis=0) / (square * total + counts)
        best[chunk] = ratio.max(axis=0, initial=0.0)
    return best / (1 + square)


# ---------------------------------------------------------------------- rules without tuning


class TopK(LabelRule):
    """Predict the k most probable labels of every row.

    In a hierarchy only the most specific labels, those without a child among the columns, are
    counted: a row gets `k` of them and all of their ancestors. Ties go to the first label.

    Parameters
    ----------
    k : int
        If there are fewer labels, all are predicted.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> columns = NodeColumns(h, np.arange(1, h.n_nodes))
    >>> proba = np.array([[0.9, 0.2, 0.7, 0.3, 0.1]])
    >>> h.path_strings[columns.nodes[TopK(1).choose(proba, columns).indices]].tolist()
    ['animal', 'animal/dog']
    """

    def __init__(self, k: int = 1) -> None:
        self.k = k

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 1:
            raise PalmetteError(f"TopK(k={self.k!r}): expected a positive integer.")
        specific = np.setdiff1d(np.arange(columns.n_columns), columns.edges[:, 0])
        chosen = top_classes(proba[:, specific], min(int(self.k), len(specific)))
        n_rows, k = chosen.shape
        sets = sparse.csr_array(
            (np.ones(chosen.size, dtype=bool), chosen.ravel(), np.arange(n_rows + 1) * k),
            shape=(n_rows, len(specific)),
        )
        above = columns.hierarchy.closure[columns.nodes[specific]][:, columns.nodes]
        closed = sparse.csr_array(sets @ above, dtype=bool)
        closed.sort_indices()
        return closed


class ExpectedF(LabelRule):
    """Predict the labels with the best expected F under the predicted probabilities.

    Parameters
    ----------
    beta : float
        Weight of recall relative to precision; 1 is F1.
    by : {"row", "label"}
        ``"row"``: the label set of each row with the best expected F, if labels are independent
        given their probabilities. It is exact among all sets: the best set of each size has the
        most probable labels, and the expectation is an integral over one variable. F of an empty
        prediction is 1 if no label is true. Ancestors count as labels. ``"label"``: for each
        label the threshold F*/(1 + beta^2), where F* is the best ratio of expected counts over
        the rows; so predictions depend on the other rows passed to ``predict``.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a", "b", "c"]), np.arange(1, 4))
    >>> proba = np.array([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]])
    >>> ExpectedF().choose(proba, columns).toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> ExpectedF(by="label").choose(proba, columns).toarray().astype(int).tolist()
    [[1, 1, 1], [0, 0, 1]]
    """

    def __init__(self, beta: float = 1.0, by: str = "row") -> None:
        self.beta = beta
        self.by = by

    @property
    def sees_all_rows(self) -> bool:  # type: ignore[override]
        """Whether the prediction of a row depends on the other rows."""
        return self.by == "label"

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        beta = _check_beta(self)
        if self.by == "label":
            return threshold_sets(proba, f_thresholds(proba, beta), columns)
        if self.by != "row":
            raise PalmetteError(f"ExpectedF(by={self.by!r}): expected 'row' or 'label'.")
        # a stable sort puts parents before equally probable children: every prefix is closed
        order = np.argsort(-proba, axis=1, kind="stable")
        falling = proba[np.arange(len(proba))[:, None], order]
        sizes = best_set_sizes(falling, beta)
        taken = np.arange(columns.n_columns) < sizes[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        flags = np.ones(starts[-1], dtype=bool)
        sets = sparse.csr_array((flags, order[taken], starts), shape=proba.shape)
        sets.sort_indices()
        return sets


# ---------------------------------------------------------------------- rules that are tuned


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
        :math:`m`, the largest number of predictions per positive row. With larger values more
        rows are predicted for labels that the scores hardly separate, which raises macro-F and
        lowers micro-F.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a"]), np.array([1]))
    >>> proba = np.array([[0.3], [0.25], [0.2], [0.2], [0.1], [0.1]])
    >>> truth = sparse.csr_array([[False]] * 5 + [[True]])
    >>> BestF().tune(proba, truth, columns).value.round(3).tolist()  # predicts all rows
    [0.5, 0.05]
    >>> ShrunkF().tune(proba, truth, columns).value.round(3).tolist()
    [0.5, 0.225]
    """

    def __init__(self, beta: float = 1.0, *, strength: float = 20.0, most: float = 3.0) -> None:
        self.beta = beta
        self.strength = strength
        self.most = most

    def _cuts(
        self, proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        beta = _check_beta(self)
        for name in ("strength", "most"):
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0:
                raise PalmetteError(f"{self!r}: expected {name} to be a positive number.")
        return shrunk_cuts(proba, truth, beta, float(self.strength), float(self.most), weights)


class BestF(TunedRule):
    """Tune one threshold per label to the best F on held-out rows; its name is ``"f1"``.

    A threshold is the midpoint between two neighbouring scores; ties go to the highest. It is 0.5
    if no threshold has an F above 0. `ShrunkF` is better for labels with few positive rows.

    Parameters
    ----------
    beta : float
        Weight of recall relative to precision; 1 is F1.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a", "b"]), np.arange(1, 3))
    >>> proba = np.array([[0.1, 0.6], [0.2, 0.5], [0.3, 0.2]])
    >>> truth = sparse.csr_array([[False, False], [True, False], [True, False]])
    >>> BestF().tune(proba, truth, columns).value.round(3).tolist()
    [0.5, 0.15, 0.5]
    """

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def _cuts(
        self, proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        return best_cuts(proba, truth, _f_value(_check_beta(self) ** 2), weights)


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


def _check_beta(rule: ExpectedF | BestF | ShrunkF) -> float:
    beta = rule.beta
    if not isinstance(beta, Real) or isinstance(beta, bool) or not 0 < beta < np.inf:
        raise PalmetteError(f"{rule!r}: expected beta to be a positive number.")
    return float(beta)


# ---------------------------------------------------------------------- by name

_BY_NAME: dict[str, type[TunedRule]] = {"f1": BestF, "shrunk_f1": ShrunkF, "youden": Youden}


def is_label_rule(decoding: Any) -> bool:
    """Whether an object, number or name is a rule for several labels per row.

    Examples
    --------
    >>> is_label_rule("f1"), is_label_rule(0.3), is_label_rule("best_path")
    (True, True, False)
    """
    is_name = isinstance(decoding, str) and decoding in _BY_NAME
    return is_name or isinstance(decoding, LabelRule | TunedRule) or is_threshold(decoding)


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
