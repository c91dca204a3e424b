"""Looking into the trees of a fitted forest: leaves, paths, importances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from palmette.engine.split_importances import split_importances

if TYPE_CHECKING:
    from collections.abc import Callable

    from palmette.engine.column_scale import ColumnScale
    from palmette.engine.oblique_trees import ObliqueTrees

__all__ = ["ForestLookingMixin"]


class ForestLookingMixin:
    """Gives a forest with ``trees_`` and ``scale_`` ways to look into its trees."""

    # of the forest
    trees_: ObliqueTrees
    scale_: ColumnScale
    n_jobs: int | None
    _read_features: Callable[..., Any]

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Find the leaf of every row in every tree.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        int array of shape (n_samples, n_trees)
            Numbers of nodes within each tree.
        """
        rows = self._rows_for_trees(X)
        return self.trees_.apply(rows, self.n_jobs)

    def decision_path(self, X: Any) -> tuple[sparse.csr_array, NDArray[np.int64]]:
        """Find the nodes that every row goes through.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        indicator : sparse bool array of shape (n_samples, n_nodes)
            Nodes of all trees, one tree after the other.
        n_nodes_ptr : int array of shape (n_trees + 1,)
            Columns of tree t are ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]``.
        """
        rows = self._rows_for_trees(X)
        return self.trees_.decision_path(rows, self.n_jobs), self.trees_.tree_starts.copy()

    def _rows_for_trees(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.scale_.transform(self._read_features(X, reset=False))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importances of the features, of shape (n_features,), summing to one.

        What a split gains is the decrease of the labels' variance among the training rows that it
        sends left and right, summed over labels and rows; it is shared among the split's features
        by the size of their weights, times the features' deviations. All zero where no tree splits.
        """
        check_is_fitted(self)
        return split_importances(self.trees_, self.scale_.spread_)
