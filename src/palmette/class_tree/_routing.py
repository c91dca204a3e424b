"""Routers of a class tree: the problem that they are given, and the routes that they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette._arrays import FloatArray, IntArray, canonical_rows, take_rows
from palmette.base._class_moments import Run
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence.checks import check_starts, numbers, require, same_shapes, within


@dataclass(frozen=True, eq=False)
class OptionTable:
    """The nodes of a class tree or DAG, and the options of each.

    Every node has a class below it. An option leads to another node, or ends at a class: at a leaf,
    or at the node itself if it is a label.

    Parameters
    ----------
    nodes : int array of shape (n_nodes,)
        Node numbers in the hierarchy, the root first, parents before children.
    first : int64 array of shape (n_nodes + 1,)
        Options of node ``i`` are ``first[i]:first[i + 1]``.
    targets : int array of shape (n_options,)
        Node that an option leads to, as a position in `nodes`; -1 if it ends at a class.
    ends : int array of shape (n_options,)
        Class at which an option ends; -1 if it leads to a node.
    below : sparse bool array of shape (n_options, n_classes)
        Classes that every option leads to.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant",)])
    >>> table = OptionTable.of(h, h.leaves)
    >>> table.first.tolist(), table.targets.tolist(), table.ends.tolist()
    ([0, 2, 4], [1, -1, -1, -1], [-1, 2, 0, 1])
    """

    nodes: IntArray
    first: NDArray[np.int64]
    targets: IntArray
    ends: IntArray
    below: sparse.csr_array

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        targets = numbers(self.targets, np.int32, 1, "targets")
        ends = numbers(self.ends, np.int32, 1, "ends")
        same_shapes(targets, ends)
        numbers(self.first, np.int64, 1, "first")
        n_nodes = len(numbers(self.nodes, np.int32, 1, "nodes"))
        sizes = check_starts(self.first, n_nodes, len(targets), "first")
        require(sizes > 0, "a node has no options")
        require(sparse.issparse(self.below), "the classes below options are not a sparse array")
        owner = np.repeat(np.arange(len(sizes)), sizes)
        leads_on = (targets > owner) & (targets < len(sizes)) & (ends == -1)
        stops = (targets == -1) & within(ends, self.n_classes)
        require(leads_on | stops, "an option leads to a node or class that does not exist")

    @classmethod
    def of(cls, hierarchy: Hierarchy, classes: IntArray) -> OptionTable:
        """Return the table of a hierarchy.

        Parameters
        ----------
        hierarchy : Hierarchy
        classes : int array of shape (n_classes,)
            Nodes that are labels, ascending.
        """
        reached = sparse.csr_array(hierarchy.closure[classes])  # ancestors of every class
        active = np.zeros(hierarchy.n_nodes, dtype=bool)
        active[reached.indices] = True
        edges = hierarchy.edges[active[hierarchy.edges[:, 1]]]
        nodes = np.unique(np.append(edges[:, 0], 0)).astype(np.int32)
        place = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        code = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
        code[classes] = np.arange(len(classes), dtype=np.int32)
        here = nodes[code[nodes] >= 0]  # nodes at which a path may end
        parents = np.concatenate([here, edges[:, 0]])
        children = np.concatenate([here, edges[:, 1]])
        order = np.lexsort((children, parents))
        parents, children = parents[order], children[order]
        stops = (parents == children) | (place[children] < 0)
        below = sparse.csr_array(reached.T)[children]
        if here.size:
            below = _only_itself(below, parents == children, code[children])
        return cls(
            nodes,
            np.concatenate([[0], np.cumsum(np.bincount(place[parents], minlength=len(nodes)))]),
            np.where(stops, -1, place[children]).astype(np.int32),
            np.where(stops, code[children], -1).astype(np.int32),
            below,
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes with options."""
        return len(self.nodes)

    @property
    def n_options(self) -> int:
        """Number of options of all nodes."""
        return len(self.targets)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.below.shape[1])

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of options of every node."""
        return np.diff(self.first)

    def family(self, node: int) -> tuple[IntArray, sparse.csr_array]:
        """Return the classes below a node, ascending, and those that each option leads to."""
        starts = self.below.indptr[self.first[node] : self.first[node + 1] + 1]
        entries = slice(starts[0], starts[-1])  # a slice of a sparse array takes much longer
        classes, members = np.unique(self.below.indices[entries], return_inverse=True)
        shape = (len(starts) - 1, len(classes))
        content = self.below.data[entries], members, starts - starts[0]
        within = sparse.csr_array(content, shape=shape)
        return classes.astype(np.int32), within


def _only_itself(below: sparse.csr_array, ends: NDArray[np.bool_], codes: IntArray) -> Any:
    """Restrict options that end at an inner node to the label of this node."""
    option = np.repeat(np.arange(below.shape[0]), np.diff(below.indptr))
    kept = ~ends[option] | (below.indices == codes[option])
    indptr = np.concatenate([[0], np.cumsum(kept)])[below.indptr]
    return sparse.csr_array((below.data[kept], below.indices[kept], indptr), shape=below.shape)


def _one_by_one(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    return [function(item) for item in items]


@dataclass(eq=False)
class RoutingProblem:
    """Rows, their classes, and the options that lead to them.

    Parameters
    ----------
    X : rows
        In any form that the router accepts.
    codes : int array of shape (n_samples,)
        Class of every row; every class has at least one row.
    table : OptionTable
    weights : array of shape (n_samples,), optional
    seed : int or None
        None leaves the seeds of estimators unchanged.
    run : callable, optional
        Applies a function to items and returns the results in order, such as in threads.
    learner : ClassTreeLearner, optional
        The fitted learner of the tree, if it was learned.
    """

    X: Any
    codes: IntArray
    table: OptionTable
    weights: FloatArray | None = None
    seed: int | None = None
    run: Run = _one_by_one
    learner: Any = None

    def restrict(self, rows: NDArray[np.int64]) -> RoutingProblem:
        """Return the problem of some rows, which must include one of every class."""
        weights = None if self.weights is None else self.weights[rows]
        X, codes = take_rows(self.X, rows), self.codes[rows]
        return replace(self, X=X, codes=codes, weights=weights)

    def without_copies(self) -> RoutingProblem:
        """Return the problem in which copies of a row in one class are one row.

        It has the sum of their weights, and the place of the first of them.
        """
        first, group = _distinct(self.X, self.codes)
        if len(first) == len(self.codes):
            return self
        merged = self.restrict(first)
        merged.weights = np.bincount(group, self.weights, len(first)).astype(np.float64)
        return merged

    @cached_property
    def _rows_by_class(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.codes, kind="stable").astype(np.int64)
        counts = np.bincount(self.codes, minlength=self.table.n_classes)
        return order, np.concatenate([[0], np.cumsum(counts)])

    def count_rows(self, classes: IntArray) -> int:
        """Return the number of rows of some classes."""
        _, starts = self._rows_by_class
        return int((starts[classes + 1] - starts[classes]).sum())

    def rows_of(self, classes: IntArray) -> tuple[NDArray[np.int64], IntArray]:
        """Return the rows of some classes, in their order, and each row's position in `classes`."""
        order, starts = self._rows_by_class
        sizes = starts[classes + 1] - starts[classes]
        member = np.repeat(np.arange(len(classes), dtype=np.int32), sizes)
        within = np.arange(len(member)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return order[starts[classes][member] + within], member


def _distinct(X: Any, codes: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of all copies of every row, ascending, and each row's position in these."""
    if sparse.issparse(X):
        X = canonical_rows(X)
        cells: Any = (
            X.indices[start:end].tobytes() + X.data[start:end].tobytes()
            for start, end in pairwise(X.indptr.tolist())
        )
    else:
        cells = ((row + 0.0).tobytes() for row in X)  # -0 is 0
    places: dict[tuple[int, bytes], int] = {}
    group = np.empty(len(codes), dtype=np.int64)
    for row, (code, content) in enumerate(zip(codes.tolist(), cells, strict=True)):
        key = code, blake2b(content, digest_size=16).digest()  # copies of X would fill the memory
        group[row] = places.setdefault(key, len(places))
    return np.unique(group, return_index=True)[1], group


class Routes(ABC):
    """Fitted classifiers of all nodes, which score the options of a node.

    Scores are summed along a path, and the path with the largest sum is the best.
    """

    are_log_proba = True  # whether scores are logarithms of probabilities at every node

    def prepare(self, X: Any) -> Any:
        """Return the rows in the form that `score` expects."""
        return X

    @abstractmethod
    def score(
        self, X: Any, rows: NDArray[np.int64], nodes: IntArray, starts: NDArray[np.int64]
    ) -> FloatArray:
        """Score the options of a node for every pair of a row and a node.

        Parameters
        ----------
        X : object
            Rows as returned by `prepare`.
        rows, nodes : int arrays of shape (n_pairs,)
            Ordered by node.
        starts : int array of shape (n_pairs + 1,)
            The scores of pair ``p`` are at ``starts[p]:starts[p + 1]`` of the result.

        Returns
        -------
        array of shape (starts[-1],)
        """

    def follow(self, X: Any, table: OptionTable, width: int) -> tuple[IntArray, FloatArray] | None:
        """Follow the best paths of every row, if the routes can do so without calls of `score`.

        Parameters
        ----------
        X : object
            Rows as returned by `prepare`.
        table : OptionTable
        width : int
            Number of paths.

        Returns
        -------
        labels, values : as of `best_labels`; or None
        """
        return None

    def score_all(self, X: Any) -> FloatArray | None:
        """Score the options of all nodes for every row, if that is faster than node by node.

        Parameters
        ----------
        X : object
            Rows as returned by `prepare`.

        Returns
        -------
        array of shape (n_samples, n_options), or None if it is not faster
        """
        return None


class Router(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that trains the classifiers of the nodes of a class tree.

    A router is a scikit-learn estimator without `fit`: it stores nothing but the parameters of
    ``__init__``. The fitted classifiers are returned by `train`.
    """

    takes_any_rows = False  # whether rows may be data frames or texts
    takes_sparse = True  # whether rows may be a sparse matrix

    def choose(self, problem: RoutingProblem) -> tuple[Router, dict[str, float]]:
        """Return the router to train, if it is chosen by the data; by default this one.

        Parameters
        ----------
        problem : RoutingProblem

        Returns
        -------
        router : Router
        scores : dict of str to float
            Estimated accuracies of the routers that were compared, by name.
        """
        return self, {}

    @abstractmethod
    def train(self, problem: RoutingProblem) -> Routes:
        """Train the classifiers of all nodes.

        Parameters
        ----------
        problem : RoutingProblem

        Returns
        -------
        Routes
        """
