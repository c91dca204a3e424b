"""LinearRoutes: the fitted linear classifiers of all nodes, and the scores that they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, read_only
from palmette.class_tree._routing import OptionTable, Routes
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import check_starts, numbers, require, same_shapes, within

# for many sparse rows, a product with a dense matrix of all weights is faster, if it fits in memory
_MANY_ROWS = 512
_MAX_DENSE = 2**25  # numbers: 256 MiB
# in the order of `_route_kernel`
LINKS = (
    "squared_hinge",
    "logistic",
    "softmax",
    "pairs",
    "siblings",
    "label_hinge",
    "label_logistic",
)


class LinearRoutes(Routes):
    """Fitted linear classifiers of all nodes.

    Weights are stored node by node, and within a node feature by feature: a feature of a row is
    looked up once per node, and the weights of all options are adjacent in memory. If the model is
    pruned, only the larger weights are stored, each with the number of its classifier in `lanes`;
    otherwise all classifiers of a node have a weight for every feature of its rows, and
    `first_entry` and `lanes` are None.

    Parameters
    ----------
    table : OptionTable
    blocks : sequence of pairs
        Weights, a CSR array of shape (n_features, n_classifiers), and biases, an array of shape
        (n_classifiers,), of every node: no classifier for a node with one option; one per option
        or, of two options, one that is positive for the second; or, with the
        link "pairs", one per pair of options in order, which is positive for the second. With the
        links for label sets, one per option.
    n_features : int
    link : {"squared_hinge", "logistic", "softmax", "pairs", "siblings", "label_hinge", \
"label_logistic"}
        Function from margins to scores: ``-max(0, 1 - margin)^2``; logarithms of the normalized
        sigmoids at a node; logarithms of the softmax at a node; means of the first over all other
        options; twice the first, less half the logarithm of the sum of its exponentials. For label
        sets: the first, and the logarithm of the sigmoid, not normalized.
    n_passes : int
        Maximum number of passes over the rows during training.
    """

    first_entry: NDArray[np.int64] | None
    lanes: IntArray | None

    def __init__(
        self,
        table: OptionTable,
        blocks: Sequence[tuple[sparse.csr_array, FloatArray]],
        n_features: int,
        link: str,
        n_passes: int = 0,
    ) -> None:
        self.n_passes = n_passes
        self.link = link
        self.n_features = n_features
        self.first_option = table.first
        self.bias = np.concatenate([bias for _, bias in blocks])
        self.first_lane = _cumulated([len(bias) for _, bias in blocks])
        self._set_weights([_larger(weights) for weights, _ in blocks])

    @classmethod
    def packed(cls, table: OptionTable, n_features: int, link: str, **arrays: Any) -> LinearRoutes:
        """Return routes with the given arrays, without copies."""
        routes = cls.__new__(cls)
        routes.link, routes.n_features, routes.first_option = link, n_features, table.first
        vars(routes).update(arrays)
        return routes

    def _set_weights(self, nodes: list[_Larger]) -> None:
        """Set the arrays of weights; `nodes` is emptied, so that memory holds them only once."""
        self.first_feature = _cumulated([len(each.features) for each in nodes])
        self.features = np.concatenate([each.features for each in nodes]).astype(np.int32)
        self.first_entry = _cumulated(np.concatenate([each.counts for each in nodes]))
        self.lanes = np.empty(int(self.first_entry[-1]), dtype=np.int32)
        self.weights = np.empty(len(self.lanes))
        end = len(self.lanes)
        while nodes:
            last = nodes.pop()
            here = slice(end - len(last.weights), end)
            self.lanes[here], self.weights[here], end = last.lanes, last.weights, here.start

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(self.link in LINKS, "the link of a linear router is unknown")
        require(
            type(self.n_features) is int and self.n_features >= 0,
            "n_features is not a number of features",
        )
        for name in ("first_option", "first_lane", "first_feature"):
            numbers(getattr(self, name), np.int64, 1, name)
        features = numbers(self.features, np.int32, 1, "features")
        weights = numbers(self.weights, np.float64, 1, "weights")
        n_lanes = len(numbers(self.bias, np.float64, 1, "bias"))
        n_nodes = len(self.first_lane) - 1
        lanes = check_starts(self.first_lane, n_nodes, n_lanes, "first_lane")
        options = check_starts(self.first_option, n_nodes, None, "first_option")
        require(self._may_have(lanes, options), "a node has the wrong number of classifiers")
        used = check_starts(self.first_feature, n_nodes, len(features), "first_feature")
        require(within(features, self.n_features), "a router uses a feature that does not exist")
        if self.first_entry is None and self.lanes is None:
            require(int(used @ lanes) == len(weights), "a node has the wrong number of weights")
            return
        numbers(self.first_entry, np.int64, 1, "first_entry")
        classifiers = numbers(self.lanes, np.int32, 1, "lanes")
        same_shapes(weights, classifiers)
        entries = check_starts(self.first_entry, len(features), len(weights), "first_entry")
        most = np.repeat(np.repeat(lanes, used), entries)
        require(
            (classifiers >= 0) & (classifiers < most),
            "a weight belongs to a classifier that does not exist",
        )

    def _may_have(self, lanes: NDArray[np.int64], options: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether nodes with some numbers of options may have so many classifiers."""
        if self.link == "pairs":
            return np.asarray(lanes == options * (options - 1) // 2)
        if self.link.startswith("label_"):
            return np.asarray(lanes == options)
        # two options have one classifier, or one each: projections, or classes below both
        is_one_each = lanes == np.where(options < 2, 0, options)
        return np.asarray(is_one_each | ((lanes == 1) & (options == 2)))

    @property
    def are_log_proba(self) -> bool:  # type: ignore[override]
        """Whether scores are logarithms of probabilities at every node."""
        return self.link in ("logistic", "softmax")

    @property
    def n_weights(self) -> int:
        """Number of weights that are stored, without biases."""
        return len(self.weights)

    @property
    def coef(self) -> sparse.csr_array:
        """Weights as a sparse array of shape (n_classifiers, n_features), node by node."""
        shape = (len(self.bias), self.n_features)
        found = sparse.coo_array((self.weights, self._places()), shape=shape).tocsr()
        found.eliminate_zeros()
        return found

    def _places(self) -> tuple[NDArray[np.int64], IntArray]:
        """Return the classifier of every weight, numbered over all nodes, and its feature."""
        node_of_feature = np.repeat(
            np.arange(len(self.first_feature) - 1), np.diff(self.first_feature)
        )
        if self.first_entry is None or self.lanes is None:
            counts = np.diff(self.first_lane)[node_of_feature]
            lanes = np.arange(len(self.weights)) - np.repeat(np.cumsum(counts) - counts, counts)
        else:
            counts, lanes = np.diff(self.first_entry), self.lanes
        first = np.repeat(self.first_lane[node_of_feature], counts)
        return np.asarray(first + lanes), np.repeat(self.features, counts)

    def _arguments(self, X: FlatRows, *others: Any, out: Sequence[Any]) -> list[Any]:
        """Return the arguments of the kernels of `_route_kernel` in their order."""
        if self.first_entry is None or self.lanes is None:
            sizes = np.diff(self.first_feature) * np.diff(self.first_lane)
            entries: Any = (_cumulated(sizes), None)
        else:
            entries = self.first_entry, read_only(self.lanes)
        return [
            X.values,
            X.value_starts,
            X.lengths,
            X.columns,
            X.column_starts,
            *others,
            read_only(self.first_option),
            read_only(self.first_lane),
            read_only(self.bias),
            read_only(self.first_feature),
            read_only(self.features),
            read_only(entries[0]),
            entries[1],
            read_only(self.weights),
            LINKS.index(self.link),
            self.n_features,
            *out,
        ]

    def prepare(self, X: Any) -> FlatRows:
        """Return the rows as flat arrays; see `Routes.prepare`."""
        rows = FlatRows.of(X)
        if rows.n_features != self.n_features:
            raise PalmetteError(
                f"X has {rows.n_features} features, but the routes were fitted with "
                f"{self.n_features}."
            )
        return rows

    def score(
        self, X: FlatRows, rows: NDArray[np.int64], nodes: IntArray, starts: NDArray[np.int64]
    ) -> FloatArray:
        """Score the options of a node for every pair of a row and a node; see `Routes.score`."""
        from palmette.class_tree._route_kernel import option_scores

        scores = np.empty(int(starts[-1]))
        option_scores(*self._arguments(X, rows, nodes, starts, out=[scores]))
        return scores

    def follow(
        self, X: FlatRows, table: OptionTable, width: int, most: int | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Follow the best paths of every row in one call of a kernel; see `Routes.follow`.

        At most `most` paths go on at every step, by default all of them.
        """
        from palmette.class_tree._route_kernel import SearchSpace, follow_paths

        labels = np.empty((len(X), width), dtype=np.int32)
        totals = np.empty((len(X), width))
        options = read_only(table.targets), read_only(table.ends)
        starts = self.first_option, self.first_lane
        space = SearchSpace.of(X.lengths, width, *starts, self.n_features)
        most = width if most is None else min(most, width)
        follow_paths(*self._arguments(X, *options, out=[most, labels, totals, space]))
        return labels, totals

    def score_all(self, X: FlatRows) -> FloatArray | None:
        """Score all options by one matrix product; see `Routes.score_all`."""
        n_lanes = len(self.bias)
        if self.link == "pairs" or X.is_dense or len(X) < _MANY_ROWS:
            return None
        if self.n_features * n_lanes > _MAX_DENSE:
            return None
        from palmette.class_tree._route_kernel import link_all

        weights = np.zeros((self.n_features, n_lanes))
        lanes, features = self._places()
        weights[features, lanes] = self.weights
        ends = np.append(X.value_starts, X.value_starts[-1] + X.lengths[-1])
        rows = sparse.csr_array((X.values, X.columns, ends), shape=(len(X), self.n_features))
        margins = rows @ weights
        margins += self.bias
        scores = np.zeros((len(X), int(self.first_option[-1])))
        link_all(margins, self.first_option, self.first_lane, LINKS.index(self.link), scores)
        return scores


# ---------------------------------------------------------------------- packing during training


class _Larger(NamedTuple):
    """Weights of a node that are stored: those of feature ``features[k]`` are ``counts[k]``."""

    features: NDArray[np.integer[Any]]
    counts: NDArray[np.integer[Any]]
    lanes: IntArray
    weights: FloatArray


class WholeNodes:
    """Weights of all nodes, each of which is trained at once and stored as it is.

    The arrays of the model are allocated before training, and every node is written to its place:
    nothing is held twice.

    Parameters
    ----------
    table : OptionTable
    shapes : list of pairs of int
        Node and number of classifiers of every task.
    columns : list of int32 arrays
        Features that the rows of every task have, ascending.
    n_features : int
    prune : float
        0.
    """

    def __init__(
        self,
        table: OptionTable,
        shapes: list[tuple[int, int]],
        columns: list[IntArray],
        n_features: int,
        prune: float,
    ) -> None:
        self.table, self.n_features = table, n_features
        self.nodes = [node for node, _ in shapes]
        n_lanes, n_used = _zeros(table.n_nodes, 2)
        for (node, lanes), used in zip(shapes, columns, strict=True):
            n_lanes[node], n_used[node] = lanes, len(used)
        self.first_lane, self.first_feature = _cumulated(n_lanes), _cumulated(n_used)
        self.first_weight = _cumulated(n_lanes * n_used)
        # tasks are in the order of their nodes
        self.features = np.concatenate([np.empty(0, dtype=np.int32), *columns])
        self.bias, self.weights = np.empty(n_lanes.sum()), np.empty(self.first_weight[-1])

    def columns(self, task: int) -> IntArray:
        """Return the features of a task."""
        node = self.nodes[task]
        return self.features[self.first_feature[node] : self.first_feature[node + 1]]

    def put(self, task: int, weights: FloatArray) -> None:
        """Store the weights of a task, of shape (n_used + 1, n_classifiers)."""
        node = self.nodes[task]
        here = slice(self.first_weight[node], self.first_weight[node + 1])
        self.weights[here].reshape(-1, weights.shape[1])[:] = weights[:-1]
        self.bias[self.first_lane[node] : self.first_lane[node + 1]] = weights[-1]

    def routes(self, link: str, n_passes: int) -> LinearRoutes:
        """Return the routes of all nodes."""
        names = ("bias", "first_lane", "first_feature", "features", "weights")
        arrays = {name: getattr(self, name) for name in names}
        arrays |= {"n_passes": n_passes, "first_entry": None, "lanes": None}
        return LinearRoutes.packed(self.table, self.n_features, link, **arrays)


class PrunedNodes:
    """Weights of all nodes, of which only those above a threshold are stored.

    A task is pruned as soon as it is trained. Parameters are those of `WholeNodes`; several tasks
    may belong to one node, whose classifiers they have in order.
    """

    def __init__(
        self,
        table: OptionTable,
        shapes: list[tuple[int, int]],
        columns: list[IntArray],
        n_features: int,
        prune: float,
    ) -> None:
        self.table, self.shapes, self.n_features, self.prune = table, shapes, n_features, prune
        self._columns: list[Any] = list(columns)
        self._found: list[Any] = [None] * len(shapes)

    def columns(self, task: int) -> IntArray:
        """Return the features of a task."""
        used: IntArray = self._columns[task]
        return used

    def put(self, task: int, weights: FloatArray) -> None:
        """Store the weights of a task, of shape (n_used + 1, n_classifiers)."""
        n_used, n_targets = len(weights) - 1, weights.shape[1]
        flat = np.ascontiguousarray(weights[:-1]).ravel()
        kept = np.flatnonzero(np.abs(flat) > self.prune)
        place, lanes = np.divmod(kept, n_targets)
        counts = np.bincount(place, minlength=n_used).astype(np.int32)
        some = counts > 0
        features = self._columns[task][some]
        larger = _Larger(features, counts[some], lanes.astype(np.int32), flat[kept])
        self._found[task], self._columns[task] = (larger, weights[-1].copy()), None

    def routes(self, link: str, n_passes: int) -> LinearRoutes:
        """Return the routes of all nodes; the weights of this object are given to them."""
        nodes: list[list[tuple[_Larger, int]]] = [[] for _ in range(self.table.n_nodes)]
        n_lanes, biases = _zeros(self.table.n_nodes, 1)[0], [np.empty(0)]
        for k, (node, lanes) in enumerate(self.shapes):
            (larger, bias), self._found[k] = self._found[k], None
            nodes[node].append((larger, int(n_lanes[node])))
            n_lanes[node] += lanes
            biases.append(bias)
        joined = []
        for k, parts in enumerate(nodes):
            joined.append(_joined(parts))
            nodes[k] = []
        arrays = {"bias": np.concatenate(biases), "first_lane": _cumulated(n_lanes)}
        routes = LinearRoutes.packed(self.table, self.n_features, link, n_passes=n_passes, **arrays)
        routes._set_weights(joined)
        return routes


def _zeros(n: int, n_arrays: int) -> Any:
    return np.zeros((n_arrays, n), dtype=np.int64)


def _larger(weights: sparse.csr_array) -> _Larger:
    """Return the stored weights of an array of shape (n_features, n_classifiers)."""
    counts = np.diff(weights.indptr)
    features = np.flatnonzero(counts)
    return _Larger(features, counts[features], weights.indices, weights.data)


def _joined(parts: list[tuple[_Larger, int]]) -> _Larger:
    """Return all classifiers of a node; a part comes with the number of classifiers before it."""
    if len(parts) == 1:
        return parts[0][0]
    nothing = np.empty(0, dtype=np.int32)
    each = [np.repeat(part.features, part.counts) for part, _ in parts]
    places = np.concatenate([nothing, *each])
    order = np.argsort(places, kind="stable")  # the classifiers of a feature stay in order
    features, counts = np.unique(places, return_counts=True)
    lanes = np.concatenate([nothing, *(part.lanes + np.int32(first) for part, first in parts)])
    weights = np.concatenate([np.empty(0), *(part.weights for part, _ in parts)])
    return _Larger(features, counts, lanes[order], weights[order])


# ---------------------------------------------------------------------- rows


class FlatRows(NamedTuple):
    """Rows of a dense or sparse matrix as flat arrays; CSR and C-ordered data are not copied.

    Row ``i`` has ``lengths[i]`` entries: ``values[value_starts[i]:]`` in the columns
    ``columns[column_starts[i]:]``. Rows of a dense matrix share their columns.

    Examples
    --------
    >>> rows = FlatRows.of(np.eye(2))
    >>> rows.columns.tolist(), rows.column_starts.tolist(), rows.value_starts.tolist()
    ([0, 1], [0, 0], [0, 2])
    """

    values: FloatArray
    value_starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    columns: IntArray
    column_starts: NDArray[np.int64]
    n_features: int

    @classmethod
    def of(cls, X: Any) -> FlatRows:
        """Read an array or sparse matrix of shape (n_samples, n_features)."""
        if sparse.issparse(X):
            X = X.tocsr()
            starts = X.indptr.astype(np.int64, copy=False)
            values = X.data.astype(np.float64, copy=False)
            columns = X.indices.astype(np.int32, copy=False)
            starts, lengths = read_only(starts[:-1]), np.diff(starts)
            return cls(
                read_only(values),
                starts,
                read_only(lengths),
                read_only(columns),
                starts,
                X.shape[1],
            )
        X = np.ascontiguousarray(X, dtype=np.float64)
        n_samples, n_features = X.shape
        return cls(
            read_only(X.ravel()),
            read_only(np.arange(n_samples, dtype=np.int64) * n_features),
            read_only(np.full(n_samples, n_features, dtype=np.int64)),
            read_only(np.arange(n_features, dtype=np.int32)),
            read_only(np.zeros(n_samples, dtype=np.int64)),
            n_features,
        )

    @property
    def is_dense(self) -> bool:
        """Whether all rows have the same columns, which are all features in order."""
        return len(self.columns) == self.n_features and not self.column_starts.any()

    def __len__(self) -> int:
        return len(self.lengths)


def check_routes(routes: Any, options: Any, n_features: int | None, n_classes: int) -> None:
    """Check that the routes and options of a model file match.

    Parameters
    ----------
    routes, options : objects
        Objects from a file, of any type.
    n_features : int or None
        Number of features of the rows that the routes get; None if it is not known.
    n_classes : int

    Raises
    ------
    ValueError
        If they do not match.
    """
    require(isinstance(options, OptionTable), "the options of a model are not an OptionTable")
    require(isinstance(routes, Routes), "the routes of a model are not a Routes object")
    require(options.n_classes == n_classes, "the options lead to other classes than the model's")
    width = getattr(routes, "n_features", n_features)
    fits = n_features is None or width == n_features
    require(fits, "the routes have another number of features")
    table = getattr(routes, "table", options)
    require(np.array_equal(table.first, options.first), "routes and options do not fit together")
    if isinstance(routes, LinearRoutes):
        fits = np.array_equal(routes.first_option, options.first)
        require(fits, "routes and options do not fit together")


def _cumulated(counts: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
