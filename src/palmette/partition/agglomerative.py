"""AgglomerativePartition: a dendrogram of class means, followed from its top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

from palmette.core.class_moments import dense
from palmette.exceptions import PalmetteError
from palmette.partition.base import ClassProblem, IntArray, Partition, least_side

__all__ = ["AgglomerativePartition", "Dendrogram"]

Floats = NDArray[np.float64]

_METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
_MOST_CLASSES = 46_000  # 8 GiB of distances


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """Merges of classes, as places in the order of the leaves.

    Parameters
    ----------
    place : int array of shape (n_classes,)
        Of every class among the leaves.
    merge : int array of shape (n_classes - 1,)
        Number of the merge that joins a leaf's left and right neighbourhoods, between every leaf
        and the next; later merges have higher numbers.
    """

    place: IntArray
    merge: IntArray

    @classmethod
    def from_linkage(cls, links: Floats) -> Dendrogram:
        """Read scipy's table of merges."""
        n_classes = len(links) + 1
        order = leaves_list(links)
        place = np.empty(n_classes, dtype=np.int32)
        place[order] = np.arange(n_classes)
        # a cluster is an interval of leaves; a merge is the boundary between two of these
        first = np.concatenate([place, np.zeros(n_classes - 1, dtype=np.int32)])
        merge = np.empty(n_classes - 1, dtype=np.int32)
        for number, pair in enumerate(links[:, :2].astype(np.int64).tolist()):
            left, right = sorted(first[pair].tolist())
            first[n_classes + number] = left
            merge[right - 1] = number
        return cls(place, merge)

    def cut(self, classes: IntArray, n_groups: int, least: int) -> list[IntArray]:
        """Undo the last merges within a group of classes.

        Parameters
        ----------
        classes : int array of shape (n_here,)
        n_groups : int
        least : int
            Fewest classes on either side of the first cut.
        """
        order = np.argsort(self.place[classes], kind="stable")
        place = self.place[classes][order]
        # the last merge between neighbours that may lie apart, as when others were parted before
        merges = np.maximum.reduceat(self.merge[: place[-1]], place[:-1])
        first = least - 1 + int(np.argmax(merges[least - 1 : len(classes) - least]))
        latest = np.argsort(-merges, kind="stable")[:n_groups].tolist()
        cuts = [first, *(cut for cut in latest if cut != first)][: n_groups - 1]
        groups = np.split(classes[order], np.sort(cuts) + 1)
        return sorted((np.sort(group) for group in groups), key=lambda group: group[0])


class AgglomerativePartition(Partition):
    """Join the nearest classes, then the nearest groups, and divide as they were joined.

    Parameters
    ----------
    method : str
        Of `scipy.cluster.hierarchy.linkage`: "ward", "average", "complete", "single", "weighted",
        "centroid" or "median".
    metric : str
        Between means of classes: of `scipy.spatial.distance.pdist`. "ward", "centroid" and "median"
        need "euclidean". A class whose mean is zero has a cosine distance of 1 to all.
    branching : int
        Number of groups: the last ``branching - 1`` merges within a node are undone at once.
    min_side : float
        Least share of a node's classes on either side of the first cut, 0 to .5: the last merge
        that leaves as much is undone, in the order of the dendrogram's leaves.

    Notes
    -----
    All distances are held at once: 4 * n_classes**2 bytes, 400 MB for 10,000 classes.

    Examples
    --------
    >>> from palmette.partition.base import ClassProblem
    >>> partition = AgglomerativePartition("average")
    >>> problem = ClassProblem(np.array([[0.0], [7.0], [1.0]]), np.arange(3), 3)
    >>> partition.split(partition.begin(problem), np.arange(3), 0)
    [array([0, 2]), array([1])]
    """

    one_blas_thread = True

    def __init__(
        self,
        method: str = "ward",
        metric: str = "euclidean",
        *,
        branching: int = 2,
        min_side: float = 0.0,
    ) -> None:
        self.method = method
        self.metric = metric
        self.branching = branching
        self.min_side = min_side

    def begin(self, problem: ClassProblem) -> Dendrogram:
        """Compute the whole dendrogram."""
        self._check(problem.n_classes)
        distances = _distances(problem.statistics.mean, self.metric)
        return Dendrogram.from_linkage(linkage(distances, self.method))

    def split(self, state: Dendrogram, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        return state.cut(classes, self.branching, least_side(len(classes), self.min_side))

    def _check(self, n_classes: int) -> None:
        if self.method not in _METHODS:
            raise PalmetteError(f"method={self.method!r}: expected one of {', '.join(_METHODS)}.")
        if self.method in ("ward", "centroid", "median") and self.metric != "euclidean":
            raise PalmetteError(
                f"method={self.method!r} with metric={self.metric!r}: it works in the space of the "
                "means, and needs 'euclidean'. Take method='average' for other metrics."
            )
        if not self.branching >= 2:
            raise PalmetteError(f"branching={self.branching!r}: expected 2 or more.")
        if n_classes > _MOST_CLASSES:
            raise PalmetteError(
                f"the distances between {n_classes} classes take {n_classes**2 / 2**28:.0f} GiB. "
                "MFTree and BalancedTree need none of them."
            )


def _distances(means: Any, metric: str) -> Floats:
    """Distances between all means, one for every pair; sparse means stay sparse where they can."""
    if metric == "cosine":
        means = normalize(means)
        distances = np.clip(1 - dense(means @ means.T), 0, 2)
    elif metric == "euclidean" and sparse.issparse(means):
        distances = euclidean_distances(means)
    else:
        distances = pdist(dense(means), metric)
        return np.nan_to_num(distances, nan=np.nanmax(distances, initial=1.0))
    return squareform(distances, checks=False)
