"""AxisSplit: a node of a structured tree splits rows by one feature."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["AxisSplit"]


class AxisSplit(BaseEstimator):  # type: ignore[misc]
    """Tell two clusters of rows apart by the feature and the cut of the largest information gain.

    It is what the published forest SF uses.

    References
    ----------
    Dollár and Zitnick, Structured forests for fast edge detection, ICCV 2013.

    Examples
    --------
    >>> AxisSplit()
    AxisSplit()
    """

    def tree_settings(self) -> dict[str, Any]:
        """Return what this says of a tree, by the names of the kernel's settings."""
        return {"router": "axis"}
