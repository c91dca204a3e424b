"""From scores to features: how many per node, which of them, and the transformer of one node."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from palmette._text import caller_level
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

DEFAULT = "default"  # key for all nodes without an entry of their own


def counts_by_node(
    wanted: Any, nodes: NDArray[np.int32], hierarchy: Hierarchy, n_features: int, *, is_given: bool
) -> NDArray[np.int64]:
    """Return the number of features to select at each node; all of them without a limit.

    Parameters
    ----------
    wanted : int, float, dict or None
        As the user passed it; see `HierarchicalFeatureSelector`.
    nodes : int array of shape (n_tasks,)
    hierarchy : Hierarchy
    n_features : int
    is_given : bool
        Whether the user passed the hierarchy, so that a key that is not in it is an error.

    Returns
    -------
    int array of shape (n_tasks,)

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    >>> counts = {"a": 0.5, "default": 3}
    >>> counts_by_node(counts, np.array([0, 1]), h, 10, is_given=True)
    array([3, 5])
    """
    if isinstance(wanted, dict):
        given = [_look_up(wanted, int(node), hierarchy) for node in nodes]
        _check_keys(wanted, hierarchy, is_given)
    else:
        given = [wanted] * len(nodes)
    counts = np.array([_count(each, n_features) for each in given], dtype=np.int64)
    if (counts > n_features).any():
        warnings.warn(
            f"n_features_to_select={int(counts.max())} is more than the {n_features} features of "
            "X: all features are selected.",
            UserWarning,
            stacklevel=caller_level(),
        )
    return np.minimum(counts, n_features)


def _count(wanted: Any, n_features: int) -> int:
    if wanted is None:
        return n_features
    if isinstance(wanted, Integral):
        if not isinstance(wanted, bool) and int(wanted) >= 1:
            return int(wanted)
    elif isinstance(wanted, Real) and 0 < float(wanted) <= 1:
        return max(1, round(float(wanted) * n_features))
    raise PalmetteError(
        f"n_features_to_select={wanted!r}: expected a count of 1 or more, a share above 0.0 and up "
        "to 1.0, a dict of them by node, or None."
    )


def _look_up(wanted: dict[Any, Any], node: int, hierarchy: Hierarchy) -> Any:
    for key, value in wanted.items():
        if not isinstance(key, Integral) and key in hierarchy and hierarchy.index(key) == node:
            return value
    depth = int(hierarchy.depth[node])
    if depth in wanted:
        return wanted[depth]
    if DEFAULT in wanted:
        return wanted[DEFAULT]
    raise PalmetteError(
        f"n_features_to_select has no entry for {hierarchy.path_strings[node]!r} (depth {depth}) "
        f"among {sorted(map(str, wanted))}. Add one, or an entry {DEFAULT!r}."
    )


def _check_keys(wanted: dict[Any, Any], hierarchy: Hierarchy, is_given: bool) -> None:
    for key in wanted:
        known = isinstance(key, Integral) or key == DEFAULT or key in hierarchy
        if not known and is_given:  # a hierarchy taken from y may lack rare nodes
            raise HierarchyError(
                f"n_features_to_select has the key {key!r}, which is not a node of the hierarchy "
                "(or a name of several nodes). Expected the path of a node, a depth as an int, or "
                f"{DEFAULT!r}."
            )


def top_features(
    scores: NDArray[np.float64], count: int, threshold: float | None, positive: bool
) -> NDArray[np.intp]:
    """Return the best features in ascending order; of equal scores, the first are selected.

    Parameters
    ----------
    scores : array of shape (n_features,)
    count : int
    threshold : float or None
        Features with lower scores are not selected.
    positive : bool
        Whether features with score 0 are not selected.

    Returns
    -------
    int array of shape (n_chosen,)

    Examples
    --------
    >>> top_features(np.array([1.0, 3.0, 1.0, 1.0]), 3, None, False)
    array([0, 1, 2])
    """
    if count < len(scores):
        worst = np.partition(scores, len(scores) - count)[len(scores) - count]
        above = scores > worst
        level = np.flatnonzero(scores == worst)[: count - int(above.sum())]
        above[level] = True
    else:
        above = np.ones(len(scores), dtype=bool)
    if threshold is not None:
        above &= scores >= threshold
    if positive:
        above &= scores > 0.0
    return np.flatnonzero(above)


class NodeTransform:
    """Mixin that adds a `transform` with a node as parameter.

    It is a class of its own because scikit-learn wraps the `transform` of a transformer class to
    name the columns of data frames, and here the names depend on the node.
    """

    def transform(self, X: Any, node: Any = None) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        node : int, str or tuple, optional
            Number, name or path of a node, whose features are used. By default, the features
            selected at any node are used.

        Returns
        -------
        array or sparse matrix of shape (n_samples, n_chosen)
        """
        check_is_fitted(self)
        return NodeColumns(self, node).transform(X)


class NodeColumns(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """The features that a fitted selector selected for a node, as a scikit-learn transformer.

    Parameters
    ----------
    selector : fitted HierarchicalFeatureSelector
    node : node, or None for all nodes
    """

    def __init__(self, selector: Any, node: Any) -> None:
        self.selector = selector
        self.node = node
        self.n_features_in_ = selector.n_features_in_
        if hasattr(selector, "feature_names_in_"):
            self.feature_names_in_ = selector.feature_names_in_
        if hasattr(selector, "_sklearn_output_config"):  # set by set_output
            self._sklearn_output_config = selector._sklearn_output_config

    def fit(self, X: Any, y: Any = None) -> NodeColumns:
        """Do nothing, as the selector is fitted already."""
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.selector.get_support(self.node)  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
