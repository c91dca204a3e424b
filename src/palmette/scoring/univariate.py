"""UnivariateScore: any score function of scikit-learn, node by node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.exceptions import PalmetteError
from palmette.scoring.base import FeatureScore, NodeScores, ScoringProblem
from palmette.scoring.each_node import NodeData, each_node

__all__ = ["UnivariateScore"]

FloatArray = NDArray[np.float64]

_NAMES = ("f_classif", "chi2", "mutual_info_classif")


class UnivariateScore(FeatureScore):
    """A score function of scikit-learn, applied to the rows and the options of every node.

    Parameters
    ----------
    function : callable or str
        Takes X and y and gives scores, or scores and p-values, of shape (n_features,):
        ``f_classif``, ``chi2``, ``mutual_info_classif`` of `sklearn.feature_selection`, by name, or
        any function like them. It gets ``sample_weight`` and ``random_state`` if it takes them;
        weights that it does not take are an error. It sees no features that are constant at the
        node: they have score 0. Other scores count as 0 if they are negative or NaN, and as the
        largest of the node if infinite.
    options : dict, optional
        Further arguments by name, such as ``{"n_neighbors": 5}``.

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> from palmette.core.space import LabelSpace
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

    def score(self, problem: ScoringProblem) -> NodeScores:
        """Score all features at all nodes."""
        function = _resolve(self.function)
        if problem.weights is not None and not _takes(function, "sample_weight"):
            raise PalmetteError(
                f"sample_weight was given, but the score function {_name(function)} does not take "
                "it. Leave the weights out, or choose a score that takes them, such as 'fisher', "
                "'hirr' or 'mrmr'."
            )
        rule = partial(_node_score, function, dict(self.options or {}))
        return NodeScores(each_node(problem, rule), {})


def _node_score(
    function: Callable[..., Any], options: dict[str, Any], node: NodeData
) -> FloatArray:
    given: dict[str, Any] = {}
    if node.weights is not None:
        given["sample_weight"] = node.weights
    if _takes(function, "random_state"):
        given["random_state"] = node.seed
    varies = _varies(node.X)
    if not varies.any():
        return np.zeros(node.n_features)
    X = node.X if varies.all() else node.X[:, np.flatnonzero(varies)]
    # score functions written before sparse arrays expect matrices
    X = sparse.csr_matrix(X) if sparse.issparse(X) else X
    with np.errstate(invalid="ignore", divide="ignore"):  # what is not finite is dealt with below
        answer = function(X, node.codes, **{**given, **options})
    found = np.asarray(answer[0] if isinstance(answer, tuple) else answer, dtype=np.float64)
    if found.shape != (X.shape[1],):
        raise PalmetteError(
            f"the score function {_name(function)} gave scores of shape {found.shape}: expected "
            f"({X.shape[1]},), one a feature."
        )
    scores = np.zeros(node.n_features)
    scores[varies] = _finite(found)
    return scores


def _varies(X: Any) -> NDArray[np.bool_]:
    """Whether each feature has more than one value: constant ones tell nothing apart."""
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


def _takes(function: Callable[..., Any], name: str) -> bool:
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == name or p.kind is Parameter.VAR_KEYWORD for p in parameters)


def _name(function: Any) -> str:
    return getattr(function, "__name__", repr(function))
