"""Feature selection inside a local classifier: fitting the selector, the columns of a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from palmette._arrays import is_text, seed_each
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

ColumnsOf = Callable[..., NDArray[np.intp] | None]


def hierarchy_setting(own: Any, selector: Any) -> Any:
    """Return the hierarchy parameter of the classifier, or else of its selector."""
    fitted = isinstance(selector, FrozenEstimator)
    other = getattr(selector, "hierarchy_" if fitted else "hierarchy", None)
    if own is not None and hasattr(other, "fit"):
        raise HierarchyError(
            f"feature_selector has hierarchy={other!r}, to be learned, but the classifier has one "
            "too. Pass it to the classifier only."
        )
    return other if own is None else own


def fit_selector(
    selector: Any,
    X: Any,
    labels: NodeLabels,
    weights: NDArray[np.float64] | None,
    *,
    n_jobs: int | None,
    random_state: Any,
) -> Any:
    """Fit a clone of a selector with the hierarchy of the classifier.

    Parameters
    ----------
    selector : HierarchicalFeatureSelector, or anything with its parameter ``hierarchy`` and its
        methods ``fit(X, y, sample_weight)`` and ``get_support(node, indices)``
        A fitted one in a FrozenEstimator is returned unchanged.
    X : array, sparse matrix or table of shape (n_samples, n_features)
    labels : NodeLabels
        Passed to the selector as y.
    weights : array of shape (n_samples,), optional
    n_jobs : int, optional
        Used if the selector sets none.
    random_state : int, RandomState or None
        Seeds the selector if it sets none.

    Returns
    -------
    fitted selector
    """
    hierarchy = labels.hierarchy
    if isinstance(selector, FrozenEstimator):
        _check_frozen(selector, hierarchy, X.shape[1])
        return selector
    _check_kind(selector)
    if is_text(X):
        raise PalmetteError(
            "feature_selector selects numeric columns, but X has texts. Convert them to "
            "numbers first: make_pipeline(TfidfVectorizer(), classifier)."
        )
    copy = clone(selector)
    if isinstance(copy.hierarchy, Hierarchy) and copy.hierarchy != hierarchy:
        raise HierarchyError(
            f"feature_selector has hierarchy={copy.hierarchy!r}, but the classifier has "
            f"{hierarchy!r}. Pass it to one of them only, or the same to both."
        )
    known = copy.get_params(deep=False)
    own: dict[str, Any] = {"hierarchy": hierarchy}
    if known.get("n_jobs", 1) is None:
        own["n_jobs"] = n_jobs
    copy.set_params(**own)
    if random_state is not None and known.get("random_state", 0) is None:
        seed_each([copy], random_state)
    if weights is None:
        return copy.fit(X, labels)
    return copy.fit(X, labels, sample_weight=weights)


def _check_kind(selector: Any) -> None:
    needs = ("fit", "get_support", "get_params")
    if not all(hasattr(selector, name) for name in needs) or isinstance(selector, type):
        raise PalmetteError(
            f"feature_selector is {selector!r}: expected an object such as "
            "HierarchicalFeatureSelector('fisher')."
        )
    if "hierarchy" not in selector.get_params(deep=False):
        raise PalmetteError(
            f"feature_selector is a {type(selector).__name__}, which selects one set of features "
            "for all nodes: put it before the classifier in a pipeline, or use "
            "HierarchicalFeatureSelector, whose score can be any score function of scikit-learn."
        )


def _check_frozen(selector: Any, hierarchy: Hierarchy, n_features: int) -> None:
    if selector.hierarchy_ != hierarchy:
        raise HierarchyError(
            f"feature_selector was fitted with {selector.hierarchy_!r}, but the classifier has "
            f"{hierarchy!r}. Fit it with the same hierarchy."
        )
    if selector.n_features_in_ != n_features:
        raise PalmetteError(
            f"feature_selector was fitted on {selector.n_features_in_} features, but X has "
            f"{n_features}: expected the same features."
        )


def columns_of(selector: Any, nodes: Sequence[int] | None) -> NDArray[np.intp]:
    """Return the features selected at any of some nodes, or of all if None, ascending."""
    if nodes is None:
        return np.asarray(selector.get_support(indices=True))
    chosen = [selector.get_support(node, indices=True) for node in nodes]
    return chosen[0] if len(chosen) == 1 else np.unique(np.concatenate(chosen))
