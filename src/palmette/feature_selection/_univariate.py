"""Scores of single features: FisherScore (HierFisher), and UnivariateScore for scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray
from palmette.base._column_units import Kind
from palmette.base._statistics import ClassStatistics
from palmette.exceptions import PalmetteError
from palmette.feature_selection._base import (
    FeatureScore,
    NodeData,
    NodeScores,
    ScoringProblem,
    each_node,
)

_LARGEST = 1e12  # score of a feature that is constant within every option
_NAMES = ("f_classif", "chi2", "mutual_info_classif")


class FisherScore(FeatureScore):
    """Fisher score of every feature at every node: HierFisher.

    At a node, it is the sum over options of ``n_c (mean_c - mean)^2`` divided by the sum of
    ``n_c variance_c``, with sample weights as counts. It depends neither on the scale of a feature
    nor on other features. A constant feature has score 0; a feature that is constant within every
    option, but not overall, has the maximum score 1e12.

    References
    ----------
    Duda, Hart and Stork, "Pattern classification" (2001). Gu, Li and Han, "Generalized Fisher score
    for feature selection", UAI (2011).

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> from palmette.labels._space import LabelSpace
    >>> h = Hierarchy.star("ab")
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0], [6.0, 1.0]])
    >>> codes = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> problem = ScoringProblem(X, LabelSpace(h, h.leaves), codes)
    >>> [row.tolist() for row in FisherScore().score(problem).rows()]
    [[4.0, 0.0]]
    """

    def score(self, problem: ScoringProblem) -> NodeScores:
        """Score all features at all nodes."""
        return NodeScores(each_node(problem, _fisher_score), {})


def _fisher_score(node: NodeData) -> FloatArray:
    stats = ClassStatistics.gather(node.X, node.codes, node.n_options, node.weights, "diagonal")
    between, within = _between(stats), _column_sums(stats.scatter)
    # the means of a constant feature differ by rounding errors only, relative to its size
    size = within + between + stats.weight.sum() * _grand_mean(stats) ** 2
    between = np.where(between <= 1e-24 * size, 0.0, between)
    floor = np.where(between > 0.0, between / _LARGEST, 1.0)
    return np.asarray(between / np.maximum(within, floor))


def _grand_mean(stats: ClassStatistics) -> FloatArray:
    return np.asarray(_column_sums(stats.sum) / stats.weight.sum())


def _between(stats: ClassStatistics) -> FloatArray:
    """Return the weighted squares of the options' means, centred, of shape (n_features,)."""
    centre, means, weight = _grand_mean(stats), stats.mean, stats.weight
    if not sparse.issparse(means):
        return np.asarray(weight @ (means - centre) ** 2)
    # only means that are not zero are stored
    means = sparse.csr_array(means)
    of_option = np.repeat(weight, np.diff(means.indptr))
    n_features, total = means.shape[1], weight.sum()
    terms = of_option * (means.data - centre[means.indices]) ** 2
    visited = np.bincount(means.indices, of_option, minlength=n_features)
    others = np.where(visited >= (1.0 - 1e-12) * total, 0.0, total - visited)
    return np.bincount(means.indices, terms, minlength=n_features) + others * centre**2


def _column_sums(matrix: Any) -> FloatArray:
    return np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()


class UnivariateScore(FeatureScore):
    """A score function of scikit-learn, applied to the rows and the options of every node.

    Parameters
    ----------
    function : callable or str
        Function of X and y that returns scores, or scores and p-values, of shape (n_features,):
        ``f_classif``, ``chi2`` or ``mutual_info_classif`` of `sklearn.feature_selection`, by name,
        or any similar function. ``sample_weight`` and ``random_state`` are passed if it accepts
        them; sample weights that it does not accept are an error. Features that are constant at the
        node are not passed and have score 0. Negative scores and NaN are replaced by 0, infinite
        scores by the largest score of the node.
    options : dict, optional
        Further keyword arguments, such as ``{"n_neighbors": 5}``.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> from palmette.labels._space import LabelSpace
    >>> h = Hierarchy.star("ab")
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0], [6.0, 1.0]])
    >>> codes = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> problem = ScoringProblem(X, LabelSpace(h, h.leaves), codes)
    >>> [row.tolist() for row in UnivariateScore("f_classif").score(problem).rows()]
    [[8.0, 0.0]]
    """

    def __init__(
        self,
        function: Callable[..., Any] | str = "f_classif",
        options: dict[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.options = options

    def _kind_of_units(self) -> Kind:
        is_of_counts = getattr(_resolve(self.function), "__name__", "") == "chi2"
        return "own" if is_of_counts else "columns"

    def score(self, problem: ScoringProblem) -> NodeScores:
        """Score all features at all nodes."""
        function = _resolve(self.function)
        if self.options is not None and not isinstance(self.options, Mapping):
            raise PalmetteError(
                f"options={self.options!r}: expected a dict of arguments of the function, or None."
            )
        if problem.weights is not None and not _accepts(function, "sample_weight"):
            raise PalmetteError(
                f"sample_weight was given, but the score function {_name(function)} does not "
                "accept it. Omit the weights, or use a score that accepts them, such as 'fisher', "
                "'hirr' or 'mrmr'."
            )
        rule = partial(_univariate_score, function, dict(self.options or {}))
        return NodeScores(each_node(problem, rule), {})


def _univariate_score(
    function: Callable[..., Any], options: dict[str, Any], node: NodeData
) -> FloatArray:
    given: dict[str, Any] = {}
    if node.weights is not None:
        given["sample_weight"] = node.weights
    if _accepts(function, "random_state"):
        given["random_state"] = node.seed
    varies = _varies(node.X)
    if not varies.any():
        return np.zeros(node.n_features)
    X = node.X if varies.all() else node.X[:, np.flatnonzero(varies)]
    # older score functions expect sparse matrices instead of arrays
    X = sparse.csr_matrix(X) if sparse.issparse(X) else X
    with np.errstate(invalid="ignore", divide="ignore"):  # _finite replaces such values
        result = function(X, node.codes, **{**given, **options})
    found = np.asarray(result[0] if isinstance(result, tuple) else result, dtype=np.float64)
    if found.shape != (X.shape[1],):
        raise PalmetteError(
            f"the score function {_name(function)} returned scores of shape {found.shape}: "
            f"expected ({X.shape[1]},), one per feature."
        )
    scores = np.zeros(node.n_features)
    scores[varies] = _finite(found)
    return scores


def _varies(X: Any) -> NDArray[np.bool_]:
    """Return whether each feature has more than one value."""
    if sparse.issparse(X):
        highest, lowest = X.max(axis=0), X.min(axis=0)
        return np.asarray((highest - lowest).toarray()).ravel() > 0
    return np.asarray(X.max(axis=0) > X.min(axis=0))


def _finite(scores: FloatArray) -> FloatArray:
    finite = np.where(np.isfinite(scores), scores, 0.0)
    best = max(float(finite.max(initial=0.0)), 1.0)
    return np.maximum(np.where(np.isposinf(scores), best, finite), 0.0)


def _resolve(function: Any) -> Callable[..., Any]:
    if callable(function):
        return function  # type: ignore[no-any-return]
    from sklearn import feature_selection

    if function in _NAMES:
        return getattr(feature_selection, function)  # type: ignore[no-any-return]
    raise PalmetteError(
        f"function={function!r} is unknown: expected a callable f(X, y), or one of "
        f"{', '.join(map(repr, _NAMES))}."
    )


def _accepts(function: Callable[..., Any], name: str) -> bool:
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == name or p.kind is Parameter.VAR_KEYWORD for p in parameters)


def _name(function: Any) -> str:
    return getattr(function, "__name__", repr(function))
