"""D = Y'KY by rows: the kernel of all rows, centred by H on both sides."""

from __future__ import annotations

import numpy as np

__all__ = ["literal_similarity"]


def literal_similarity(kernel, codes, classes, power, per_node):
    """D of some classes; `power` 1 for sums of classes, 0 for means."""
    here = np.isin(codes, classes)
    n = len(codes)
    centring = np.eye(n) - np.ones((n, n)) / n
    if per_node:  # the rows of the node alone
        kernel, codes, n = kernel[np.ix_(here, here)], codes[here], here.sum()
        centring = np.eye(n) - np.ones((n, n)) / n
    indicator = (codes[:, None] == classes).astype(float)
    D = indicator.T @ centring @ kernel @ centring @ indicator
    scale = indicator.sum(axis=0) ** (power - 1.0)
    return scale[:, None] * D * scale
