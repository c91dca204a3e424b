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
LINKS = ("squared_hinge", "logistic", "softmax", "pairs", "siblings")


class LinearRoutes(Routes):
    """Fitted linear classifiers of all nodes.

    Weights are stored node by node, and within a node feature by feature: a feature of a row is
    looked up once per node, and the weights of all options are adjacent in memory.

    Parameters
    ----------
    table : OptionTable
    blocks : sequence of pairs
        Weights, a CSR array of shape (n_features, n_classifiers), and biases, an array of shape
        (n_classifiers,), of every node: no classifier for a node with one option; one for a node
        with two options, which is positive for the second; otherwise one per option, or, with the
        link "pairs", one per pair of options in order, which is positive for the second.
    n_features : int
    link : {"squared_hinge", "logistic", "softmax", "pairs", "siblings"}
        Function from margins to scores: ``-max(0, 1 - margin)^2``; logarithms of the normalized
        sigmoids at a node; logarithms of the softmax at a node; means of the first over all other
        options; twice the first, less half the logarithm of the sum of its exponentials.
    n_passes : int
        Maximum number of passes over the rows during training.
    """

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
        counts = [np.diff(weights.indptr) for weights, _ in blocks]
        used = [np.flatnonzero(count).astype(np.int32) for count in counts]
        self.features = np.concatenate(used)
        self.first_feature = _cumulated([len(each) for each in used])
        self.first_entry = _cumulated(
            np.concatenate([c[u] for c, u in zip(counts, used, strict=True)])
        )
        self.lanes = np.concatenate([w.indices for w, _ in blocks]).astype(np.int32, copy=False)
        self.weights = np.concatenate([weights.data for weights, _ in blocks])

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(self.link in LINKS, "the link of a linear router is unknown")
        require(
            type(self.n_features) is int and self.n_features >= 0,
            "n_features is not a number of features",
        )
        for name in ("first_option", "first_lane", "first_feature", "first_entry"):
            numbers(getattr(self, name), np.int64, 1, name)
        features = numbers(self.features, np.int32, 1, "features")
        weights = numbers(self.weights, np.float64, 1, "weights")
        same_shapes(weights, numbers(self.lanes, np.int32, 1, "lanes"))
        n_lanes = len(numbers(self.bias, np.float64, 1, "bias"))
        n_nodes = len(self.first_lane) - 1
        lanes = check_starts(self.first_lane, n_nodes, n_lanes, "first_lane")
        options = check_starts(self.first_option, n_nodes, None, "first_option")
        pairs = options * (options - 1) // 2
        wanted = pairs if self.link == "pairs" else np.where(options < 3, options - 1, options)
        require(lanes == wanted, "a node has the wrong number of classifiers")
        used = check_starts(self.first_feature, n_nodes, len(features), "first_feature")
        require(within(features, self.n_features), "a router uses a feature that does not exist")
        entries = check_starts(self.first_entry, len(features), len(weights), "first_entry")
        most = np.repeat(np.repeat(lanes, used), entries)
        require(
            (self.lanes >= 0) & (self.lanes < most),
            "a weight belongs to a classifier that does not exist",
        )

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
        places = (self._entry_lanes(), self._entry_features())
        shape = (len(self.bias), self.n_features)
        return sparse.coo_array((self.weights, places), shape=shape).tocsr()

    def _entry_lanes(self) -> NDArray[np.int64]:
        """Return the classifier of every weight, numbered over all nodes."""
        node_of_feature = np.repeat(
            np.arange(len(self.first_feature) - 1), np.diff(self.first_feature)
        )
        first = np.repeat(self.first_lane[node_of_feature], np.diff(self.first_entry))
        return np.asarray(first + self.lanes)

    def _entry_features(self) -> IntArray:
        """Return the feature of every weight."""
        return np.repeat(self.features, np.diff(self.first_entry))

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
        option_scores(
            X.values,
            X.value_starts,
            X.lengths,
            X.columns,
            X.column_starts,
            rows,
            nodes,
            starts,
            read_only(self.first_option),
            read_only(self.first_lane),
            read_only(self.bias),
            read_only(self.first_feature),
            read_only(self.features),
            read_only(self.first_entry),
            read_only(self.lanes),
            read_only(self.weights),
            LINKS.index(self.link),
            self.n_features,
            scores,
        )
        return scores

    def score_all(self, X: FlatRows) -> FloatArray | None:
        """Score all options by one matrix product; see `Routes.score_all`."""
        n_lanes = len(self.bias)
        if self.link == "pairs" or X.is_dense or len(X) < _MANY_ROWS:
            return None
        if self.n_features * n_lanes > _MAX_DENSE:
            return None
        from palmette.class_tree._route_kernel import link_all

        weights = np.zeros((self.n_features, n_lanes))
        weights[self._entry_features(), self._entry_lanes()] = self.weights
        ends = np.append(X.value_starts, X.value_starts[-1] + X.lengths[-1])
        rows = sparse.csr_array((X.values, X.columns, ends), shape=(len(X), self.n_features))
        margins = rows @ weights
        margins += self.bias
        scores = np.zeros((len(X), int(self.first_option[-1])))
        link_all(margins, self.first_option, self.first_lane, LINKS.index(self.link), scores)
        return scores


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


def check_routes(routes: Any, options: Any, n_features: int, n_classes: int) -> None:
    """Check that the routes and options of a model file match.

    Parameters
    ----------
    routes, options : objects
        Objects from a file, of any type.
    n_features, n_classes : int
        Numbers of features and classes of the model.

    Raises
    ------
    ValueError
        If they do not match.
    """
    require(isinstance(options, OptionTable), "the options of a model are not an OptionTable")
    require(isinstance(routes, Routes), "the routes of a model are not a Routes object")
    require(options.n_classes == n_classes, "the options lead to other classes than the model's")
    if isinstance(routes, LinearRoutes):
        fits = np.array_equal(routes.first_option, options.first)
        require(fits, "routes and options do not fit together")
        require(routes.n_features == n_features, "the routes have another number of features")


def _cumulated(counts: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
