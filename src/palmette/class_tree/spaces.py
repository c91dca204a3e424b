"""DagSpace: the labels of a hierarchy in which a class may stand below several groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.hierarchy import Hierarchy

__all__ = ["DagSpace"]

IntArray = NDArray[np.int32]


class DagSpace:
    """The classes of a problem in a DAG, with the nodes above them: `LabelSpace` for DAGs.

    Parameters
    ----------
    hierarchy : Hierarchy
    classes : int array of shape (n_classes,)
        Nodes that are labels, ascending.

    Examples
    --------
    >>> h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    >>> DagSpace(h, h.leaves).marginals(np.array([[0.25, 0.75]])).ravel().tolist()
    [1.0, 0.25, 1.0, 0.25, 0.75]
    """

    def __init__(self, hierarchy: Hierarchy, classes: IntArray) -> None:
        self.hierarchy = hierarchy
        self.classes = np.asarray(classes, dtype=np.int32)
        above = sparse.csr_array(hierarchy.closure[self.classes])
        self.nodes = np.unique(above.indices).astype(np.int32)
        self._below = sparse.csr_array(above[:, self.nodes].T, dtype=np.float64)

    @property
    def n_classes(self) -> int:
        """Number of labels."""
        return len(self.classes)

    @property
    def n_active(self) -> int:
        """Number of nodes with a label at or below them."""
        return len(self.nodes)

    def marginals(self, proba: Any) -> NDArray[np.float64]:
        """Probability of every active node, (n_active, n_samples): of all classes below it."""
        return np.minimum(self._below @ np.asarray(proba, dtype=np.float64).T, 1.0)
