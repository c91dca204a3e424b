"""The features of one node, or of all, as a transformer of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

__all__ = ["NodeColumns", "NodeTransform"]


class NodeTransform:
    """Gives a selector a `transform` that takes a node.

    It stands apart from the selector since scikit-learn wraps the `transform` that a transformer
    defines, to name the columns of tables; and names depend on the node here.
    """

    def transform(self, X: Any, node: Any = None) -> Any:
        """Reduce X to the chosen features.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        node : int, str or tuple, optional
            Number, name or path of a node: its features. By default those of any node.

        Returns
        -------
        array or sparse matrix of shape (n_samples, n_chosen)
        """
        return NodeColumns(self, node).transform(X)


class NodeColumns(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """The features that a fitted selector chose for a node, in scikit-learn's own terms.

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
        if hasattr(selector, "_sklearn_output_config"):  # what set_output was told
            self._sklearn_output_config = selector._sklearn_output_config

    def fit(self, X: Any, y: Any = None) -> NodeColumns:
        """Do nothing: the selector is fitted already."""
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.selector.get_support(self.node)  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
