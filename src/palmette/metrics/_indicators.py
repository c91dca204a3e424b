"""0/1 matrices and scores of labels, checked and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.containers import unwrap
from palmette.exceptions import LabelError

__all__ = ["read_indicator", "truth_and_scores", "two_indicators"]


def read_indicator(y: Any, what: str) -> sparse.csr_array:
    """Read a 0/1 matrix as sparse booleans; `what` names it in errors."""
    values, _ = unwrap(y)
    matrix = values if sparse.issparse(values) else np.asarray(values)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise LabelError(
            f"{what} has shape {matrix.shape} and type {matrix.dtype}: expected a 0/1 matrix of "
            "shape (n_samples, n_labels)."
        )
    table = sparse.csr_array(matrix)
    if not np.isin(table.data, (0, 1)).all():
        raise LabelError(f"{what} holds values other than 0 and 1: threshold scores first.")
    table = table.astype(bool)
    table.eliminate_zeros()
    table.sort_indices()
    return table


def two_indicators(y_true: Any, y_pred: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read two 0/1 matrices of the same shape as sparse booleans."""
    true, pred = read_indicator(y_true, "y_true"), read_indicator(y_pred, "y_pred")
    if true.shape != pred.shape:
        raise LabelError(f"y_true has shape {true.shape} and y_pred {pred.shape}: expected equal.")
    return true, pred


def truth_and_scores(y_true: Any, y_score: Any) -> tuple[sparse.csr_array, NDArray[Any]]:
    """Read a 0/1 matrix and scores of the same shape."""
    true = read_indicator(y_true, "y_true")
    scores = np.asarray(y_score)
    if scores.shape != true.shape:
        raise LabelError(f"y_true has shape {true.shape} and y_score {scores.shape}: must match.")
    if not np.isfinite(scores).all():
        raise LabelError("y_score holds infinite or NaN values.")
    return true, scores
