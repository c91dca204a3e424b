"""AgglomerativeTree: the dendrogram of the means of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

from palmette._arrays import FloatArray
from palmette.base._class_moments import dense
from palmette.base._grow import ClassProblem, IntArray, least_side
from palmette.base._parameters import check_branching
from palmette.class_tree._learner import ClassTreeLearner
from palmette.exceptions import PalmetteError

_METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
_MOST_CLASSES = 46_000  # 8 GiB of distances


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """Merges of classes, as positions in the order of the leaves.

    Parameters
    ----------
    place : int array of shape (n_classes,)
        Position of every class among the leaves.
    merge : int array of shape (n_classes - 1,)
        Number of the merge that joins every leaf and the next; later merges have higher numbers.
    """

    place: IntArray
    merge: IntArray

    @classmethod
    def from_linkage(cls, links: FloatArray) -> Dendrogram:
        """Read the table of merges that scipy's `linkage` returns."""
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
            Minimum number of classes on either side of the first cut.

        Returns
        -------
        list of int arrays, ascending
        """
        order = np.argsort(self.place[classes], kind="stable")
        place = self.place[classes][order]
        # the last merge between neighbours, which need not be adjacent leaves of the dendrogram
        merges = np.maximum.reduceat(self.merge[: place[-1]], place[:-1])
        first = least - 1 + int(np.argmax(merges[least - 1 : len(classes) - least]))
        latest = np.argsort(-merges, kind="stable")[:n_groups].tolist()
        cuts = [first, *(cut for cut in latest if cut != first)][: n_groups - 1]
        groups = np.split(classes[order], np.sort(cuts) + 1)
        return sorted((np.sort(group) for group in groups), key=lambda group: group[0])


class AgglomerativeTree(ClassTreeLearner):
    """Join the nearest classes, then the nearest groups, by the means of their rows.

    Groups are divided as they were joined.

    Parameters
    ----------
    method : str, default="ward"
        Method of `scipy.cluster.hierarchy.linkage`: "ward", "average", "complete", "single",
        "weighted", "centroid" or "median".
    metric : str, default="euclidean"
        Distance between means: a metric of `scipy.spatial.distance.pdist`, such as "cosine".
        "ward", "centroid" and "median" need "euclidean". A class whose mean is zero has a cosine
        distance of 1 to all others.
    branching : int, default=2
        Number of parts of a group: the last ``branching - 1`` merges are undone at once.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    min_side : float, default=0.0
        Minimum share of a group's classes on either side of the first cut, 0 to .5, which bounds
        the depth: the last merge that leaves this share is undone, in the order of the dendrogram's
        leaves. With 0 the tree is the dendrogram, which may be a chain.
    max_depth : int, optional
        Groups at this depth are not divided.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`

    Notes
    -----
    All distances are held at once: 4 * n_classes**2 bytes, 400 MB for 10,000 classes.

    Examples
    --------
    >>> tree = AgglomerativeTree().fit([[0.0], [9.0], [1.0]], ["ant", "whale", "bee"])
    >>> print(tree.hierarchy_.draw())
    root
    ├─ group 1
    │  ├─ ant
    │  └─ bee
    └─ whale
    """

    _one_blas_thread = True

    def __init__(
        self,
        method: str = "ward",
        metric: str = "euclidean",
        *,
        branching: int = 2,
        leaf_size: int = 1,
        min_side: float = 0.0,
        max_depth: int | None = None,
    ) -> None:
        self.method = method
        self.metric = metric
        self.branching = branching
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth

    def _begin(self, problem: ClassProblem) -> Dendrogram:
        """Compute the whole dendrogram."""
        self._check(problem.n_classes)
        distances = _distances(problem.statistics.mean, self.metric)
        return Dendrogram.from_linkage(linkage(distances, self.method))

    def _split(self, state: Dendrogram, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        return state.cut(classes, self.branching, least_side(len(classes), self.min_side))

    def _check(self, n_classes: int) -> None:
        """Raise an error for parameters out of range, or for too many classes."""
        if self.method not in _METHODS:
            raise PalmetteError(f"method={self.method!r}: expected one of {', '.join(_METHODS)}.")
        if self.method in ("ward", "centroid", "median") and self.metric != "euclidean":
            raise PalmetteError(
                f"method={self.method!r} with metric={self.metric!r}: this method needs the metric "
                "'euclidean'. Use method='average' for other metrics."
            )
        check_branching(self.branching)
        if n_classes > _MOST_CLASSES:
            raise PalmetteError(
                f"the distances between {n_classes} classes take {n_classes**2 / 2**28:.0f} GiB. "
                "Use MFTree or BalancedTree, which do not compute them."
            )


def _distances(means: Any, metric: str) -> FloatArray:
    """Return the distances of all pairs of means; "euclidean" and "cosine" keep means sparse."""
    if metric == "cosine":
        means = normalize(means)
        distances = np.clip(1 - dense(means @ means.T), 0, 2)
    elif metric == "euclidean" and sparse.issparse(means):
        distances = euclidean_distances(means)
    else:
        distances = pdist(dense(means), metric)
        return np.asarray(np.nan_to_num(distances, nan=np.nanmax(distances, initial=1.0)))
    return np.asarray(squareform(distances, checks=False))
