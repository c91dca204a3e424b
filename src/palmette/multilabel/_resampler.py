"""What resamplers share: imbalanced-learn's interface, without need of that package."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from palmette.core.labels import NodeLabels
from palmette.core.rows import count_rows, take_rows
from palmette.exceptions import LabelError, PalmetteError

__all__ = ["Resampler", "check_share", "chosen_rows", "is_minority"]


class Resampler(BaseEstimator):  # type: ignore[misc]
    """Base of resamplers of multi-label data.

    imbalanced-learn's pipelines know a sampler by its method `fit_resample`. A subclass gives
    `_fit_resample`.
    """

    _estimator_type = "sampler"

    def _check_parameters(self) -> None:
        """Refuse bad parameters."""

    def _check_features(self, X: Any) -> None:
        """Refuse bad features; rows of any kind will do where they are only chosen among."""
        if len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, skip_check_array=True)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        """Resample data that are checked; X and y are as they came."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Any:
        """Check parameters and data; `fit_resample` does the work.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : labels of n_samples rows, in any form that `NodeLabels.encode` reads

        Returns
        -------
        self
        """
        self._check(X, y)
        return self

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Resample.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : labels of n_samples rows, in any form that `NodeLabels.encode` reads

        Returns
        -------
        X_resampled, y_resampled : in the form of X and of y
        """
        return self._fit_resample(X, y, self._check(X, y))

    def _check(self, X: Any, y: Any) -> NodeLabels:
        self._check_parameters()
        if y is None:
            name = type(self).__name__
            raise LabelError(f"{name} requires y to be passed, but the target y is None.")
        self._check_features(X)
        labels = NodeLabels.encode(y)
        if count_rows(X) != labels.n_samples:
            raise LabelError(f"X has {count_rows(X)} rows and y {labels.n_samples}: must match.")
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.no_validation = True
        return tags


def check_share(share: Any, *, below_one: bool = False) -> None:
    """Refuse what is no share of the rows."""
    number = float(share) if isinstance(share, Real) else np.nan
    if not number > 0 or (below_one and number >= 1):
        expected = "between 0 and 1" if below_one else "above 0"
        raise PalmetteError(f"got share={share!r}: expected a number {expected}.")


def is_minority(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Labels that are rarer than usual: IRLbl above MeanIR, of those that some row has."""
    present = np.asarray(counts > 0)
    if not present.any():
        return present
    ratios = np.where(present, counts.max() / np.maximum(counts, 1), 0.0)
    # equal ratios are not above their mean, whatever rounding says
    return np.asarray(present & (ratios > ratios[present].mean() * (1 + 1e-12)))


def chosen_rows(X: Any, y: Any, rows: NDArray[np.intp]) -> tuple[Any, Any]:
    """Take rows of X and y, numbered anew where they have an index."""
    tables = (table.tocsr() if sparse.issparse(table) else table for table in (X, y))
    taken = (take_rows(table, rows) for table in tables)
    X_rows, y_rows = (t.reset_index(drop=True) if hasattr(t, "iloc") else t for t in taken)
    return X_rows, y_rows
