"""Pieces that the answers of several readers are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy
from palmette.core.label_forms import sorted_labels

__all__ = ["INDICATOR", "NODES", "NODE_SETS", "flat_target", "numbered_names", "object_array"]

# What `target_form` says of y.
NODES = "nodes"  # 1-D: one node a row, a name or a path string
NODE_SETS = "node_sets"  # list of frozensets: several nodes a row
INDICATOR = "indicator"  # 0/1 matrix: a column for each label


def object_array(values: Iterable[Any]) -> NDArray[np.object_]:
    """Make a 1-D array of Python objects: strings of any length, and nothing is converted."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def numbered_names(n_features: int) -> NDArray[np.object_]:
    """Name nameless features x0, x1, ... as scikit-learn does."""
    return object_array(f"x{i}" for i in range(n_features))


def flat_target(*targets: NDArray[Any]) -> Hierarchy:
    """Build the star over the classes of a flat problem.

    A flat problem is a hierarchy too, so that every estimator and metric takes it as it is.
    """
    return Hierarchy.star(sorted_labels({label for y in targets for label in y.tolist()}))
