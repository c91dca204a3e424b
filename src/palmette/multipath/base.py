"""What the coherent classifiers share: missing values, and features of one scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.engine.multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.multipath.features import FeatureScaling

__all__ = ["CoherentClassifier"]


class CoherentClassifier(MultilabelClassifier):
    """Base of classifiers that estimate all nodes together, in trees and DAGs.

    A subclass sets the parameter ``missing`` beside those of `MultilabelClassifier`.
    """

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        if self.missing not in ("mean", "error"):
            raise PalmetteError(f"missing={self.missing!r}: expected 'mean' or 'error'.")
        return super()._read_features(X, reset=reset)

    def _scale(self, X: Any, weights: Any) -> Any:
        """Fit ``scaling_`` and return the rows scaled: float32, (n_samples, n_features)."""
        self.scaling_ = FeatureScaling().fit(X, weights)
        return self.scaling_.transform(X)

    def _one_path_a_row(self, Y: Any) -> bool:
        """Whether no row has labels apart: as many true nodes as the deepest of them is deep."""
        if not self.hierarchy_.is_tree:
            return False
        depth = self.hierarchy_.depth[self.nodes_[Y.indices]]
        sizes = np.diff(Y.indptr)
        deepest = np.zeros(len(sizes), dtype=np.int64)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        np.maximum.at(deepest, rows, depth)
        return bool((sizes == deepest).all())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags
