"""C45Tree: a decision tree with the stopping and pruning of C4.5, on columns sorted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import NODE_DTYPE, Tree
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from palmette._arrays import (
    FloatArray,
    canonical_rows,
    check_single_precision,
    read_rows,
    short_indices,
)
from palmette.base._column_units import ColumnUnits
from palmette.base._fitting import check_weights
from palmette.base._parameters import check_not_negative
from palmette.base._presets import Preset, preset, presets
from palmette.exceptions import PalmetteError
from palmette.multilabel._c45_cuts import SortedColumns
from palmette.multilabel._c45_flags import grow_flag_tree, has_flags_only
from palmette.multilabel._c45_kernel import EntropyTree, grow_entropy_tree, take_sorted
from palmette.multilabel._c45_raising import prune_and_raise
from palmette.persistence.checks import array, held

_MAX_LOGS = 2**24  # up to this total of integer weights, logarithms are tabulated
_UNDEFINED = -2  # scikit-learn's value for the feature and threshold of a leaf
_LEAF = -1  # scikit-learn's value for the children of a leaf
_CRITERIA = ("gain", "gain_ratio")
# Spreads of 2^-14 are six times the 1e-5 that J48 takes for no difference, in any unit.
_FINEST_OF_J48 = -14
_SLACK = 0.1  # number of errors by which a leaf may be worse than the subtree it replaces
_ALMOST_ONE = 1.0 - 1e-9  # allows for rounding errors in the total weight of a leaf


class C45Tree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Decision tree with the stopping and pruning of C4.5, the usual base of label ensembles.

    Splits are binary. By default they are those of scikit-learn's trees with criterion "entropy",
    found several times faster: columns are sorted once for all nodes, and once for all trees of an
    ensemble. A subtree is replaced by a leaf if the expected errors of the leaf do not exceed those
    of the subtree. With :math:`e` errors among rows of weight :math:`n`, the expected rate is the
    upper limit of a confidence interval of :math:`f = (e + 0.5) / n`,

    .. math:: \\frac{f + z^2 / 2n + z \\sqrt{f / n - f^2 / n + z^2 / 4n^2}}{1 + z^2 / n}.

    Parameters
    ----------
    confidence : float or None
        Confidence level of the pruning, up to 0.5; lower values prune more. None: no pruning.
    min_weight : float
        Minimum total weight of the rows in a leaf, relative to the mean weight (whole numbers
        count as copies of rows); without weights, their minimum number.
    smoothing : float
        Weight :math:`s` of the prior in a leaf: in a leaf of weight :math:`n`, the proportion
        :math:`f` of a class is replaced by :math:`(n f + s \\, p) / (n + s)`, where :math:`p` is
        its proportion among all rows. Scores of rare classes then differ between pure leaves. With
        values up to one, the majority of two classes is unchanged. C4.5 itself has no smoothing.
    mdl_correction : bool
        Whether the gain of a split is reduced by :math:`\\log_2(m) / n`, where :math:`m` is the
        number of cuts of its feature in a node of weight :math:`n`, as in release 8 of C4.5 and in
        J48 of Weka: features with many values have to gain more, and splits that gain nothing are
        left out.
    criterion : {"gain", "gain_ratio"}
        How splits are chosen. "gain": by information gain. "gain_ratio": as in J48, release 8 of
        C4.5 in Weka. Each feature has the cut of its highest gain. Of the features that gain at
        least the average, less 0.001 bits, the one with the highest ratio of gain and entropy of
        the sides' weights splits the node. On each side, a cut leaves at least a tenth of the
        weight per class, but no less than `min_weight` and no more than 25. It is placed at a
        value of the training rows, values up to 1e-5 apart are not split, and the first of
        equally good splits is taken. Features with no other values than 0 and 1 are treated as
        J48 treats nominal ones: only `min_weight` bounds their cut, and they count in the average
        where they gain nothing.
    subtree_raising : bool
        Whether subtrees may also be replaced by their larger branch, which then receives the rows
        of the other one, as in C4.5. Subtrees that make as many errors on the training rows as a
        leaf become leaves before. Without pruning (``confidence=None``) it has no effect.
    random_state : int, RandomState or None
        Breaks ties between equally good splits.

    Notes
    -----
    ``C45Tree.preset("j48")`` gives the trees of Weka's J48 with its defaults, for numeric features
    of single precision without missing values, and for nominal ones with the values 0 and 1.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    tree_ : DecisionTreeClassifier
    column_units_ : ColumnUnits or None
        Units in which the tree has seen the columns, where single precision cannot hold theirs.

    References
    ----------
    J. R. Quinlan: C4.5: Programs for Machine Learning. Morgan Kaufmann, 1993.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> C45Tree(random_state=0).fit(X, [0, 0, 0, 1, 1, 1]).predict([[1.5], [9.0]])
    array([0, 1])

    The trees of Weka's J48:

    >>> C45Tree.preset("j48").fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0], [2.5]])
    array([0, 1])
    """

    _kind_of_units: ClassVar[str] = "order"

    in_files: ClassVar = {
        "column_units_": held(ColumnUnits, or_none=True, or_absent=True),
        "column_units_.centres": array("f", "n_features_in_", or_absent=True),
    }
    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "j48": Preset(
            "J48 of Weka with its defaults, C4.5 release 8",
            {
                "criterion": "gain_ratio",
                "mdl_correction": True,
                "smoothing": 0.0,
                "subtree_raising": True,
            },
            "Frank, Hall and Witten (2016), The WEKA Workbench",
        )
    }

    def __init__(
        self,
        confidence: float | None = 0.25,
        *,
        min_weight: float = 2.0,
        smoothing: float = 0.1,
        mdl_correction: bool = False,
        criterion: str = "gain",
        subtree_raising: bool = False,
        random_state: Any = None,
    ) -> None:
        self.confidence = confidence
        self.min_weight = min_weight
        self.smoothing = smoothing
        self.mdl_correction = mdl_correction
        self.criterion = criterion
        self.subtree_raising = subtree_raising
        self.random_state = random_state

    def __setstate__(self, state: dict[str, Any]) -> None:
        # parameters that files may lack
        added = {"mdl_correction": False, "criterion": "gain", "subtree_raising": False}
        super().__setstate__({**added, **state})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> C45Tree:
        """Grow and prune the tree.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        if self.confidence is not None and not 0.0 < self.confidence <= 0.5:
            raise PalmetteError(
                f"confidence={self.confidence!r}: expected a number above 0 and up to 0.5, or None."
            )
        check_not_negative(self, "min_weight", "smoothing")
        if self.criterion not in _CRITERIA:
            raise PalmetteError(f"criterion={self.criterion!r}: expected one of {_CRITERIA}.")
        kinds = {"accept_sparse": "csr", "accept_large_sparse": False}
        X, y = validate_data(self, canonical_rows(X), y, **kinds)
        check_classification_targets(y)
        weights = check_weights(sample_weight, X.shape[0])
        finest = _FINEST_OF_J48 if self.criterion == "gain_ratio" else None
        self.column_units_ = ColumnUnits.of(X, finest=finest)
        if self.column_units_ is not None:
            X = self.column_units_.apply(X)
        return self._fit_sorted(SortedRows.of(X), y, weights)

    def _fit_sorted(self, rows: SortedRows, y: Any, weights: FloatArray | None) -> C45Tree:
        """Grow and prune the tree on validated rows with sorted columns."""
        self.n_features_in_ = rows.shape[1]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            rows, codes, weights = rows.take(kept), codes[kept], weights[kept]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.tree_ = grow_tree(
            rows,
            codes,
            weights,
            self.classes_,
            self.min_weight * _ALMOST_ONE,
            seed,
            mdl=bool(self.mdl_correction),
            by_ratio=self.criterion == "gain_ratio",
            raising=self.confidence if self.subtree_raising else None,
        )
        if self.confidence is not None and not self.subtree_raising:
            _prune(self.tree_.tree_, self.confidence)
        if self.smoothing:
            _smooth(self.tree_.tree_, self.smoothing)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the smoothed proportions of the classes in the leaf of each row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        # scikit-learn's trees require 32-bit indices of sparse rows
        X = read_rows(X, self, reset=False, dtype="numeric", accept_large_sparse=False)
        units: ColumnUnits | None = getattr(self, "column_units_", None)
        X = rows_of_trees(X if units is None else units.apply(X))
        shares: FloatArray = self.tree_.predict_proba(X, check_input=False)
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most frequent class of each row's leaf, of shape (n_samples,)."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def rows_of_trees(X: Any) -> Any:
    """Return rows as scikit-learn's trees get them: float32, in C order or CSR."""
    check_single_precision(X)
    if sparse.issparse(X):
        return short_indices(sparse.csr_array(X, dtype=np.float32))
    return np.ascontiguousarray(X, dtype=np.float32)


MULAN = "Tsoumakas, Spyromitros-Xioufis, Vilcek and Vlahavas (2011), MULAN: a Java library"
SOSHF_TABLE = (
    "Daniels and Metaxas, Addressing imbalance in multi-label classification using structured "
    "Hellinger forests, AAAI 2017, doi:10.1609/aaai.v31i1.10908; Table 2"
)


def j48() -> C45Tree:
    """Return the tree of J48, the base of the multi-label methods of MULAN."""
    tree: C45Tree = C45Tree.preset("j48")
    return tree


def _prune(tree: Any, confidence: float) -> None:
    """Replace subtrees by leaves if that does not increase the expected errors; in place."""
    weights = tree.weighted_n_node_samples
    errors = weights * (1.0 - tree.value[:, 0, :].max(axis=1))
    as_leaf = errors + _further_errors(weights, errors, confidence)
    left, right = tree.children_left, tree.children_right
    expected, bound = as_leaf.tolist(), (as_leaf - _SLACK).tolist()
    first, second = left.tolist(), right.tolist()
    pruned = []
    for node in range(tree.node_count - 1, -1, -1):  # children come after their parents
        if first[node] == _LEAF:
            continue
        below = expected[first[node]] + expected[second[node]]
        if bound[node] <= below:
            pruned.append(node)
        else:
            expected[node] = below
    left[pruned] = right[pruned] = _LEAF


def _smooth(tree: Any, smoothing: float) -> None:
    """Smooth the class proportions of all nodes towards those of the root; in place."""
    shares, weights = tree.value[:, 0, :], tree.weighted_n_node_samples[:, None]
    shares[...] = (weights * shares + smoothing * shares[0]) / (weights + smoothing)


def _further_errors(weights: FloatArray, errors: FloatArray, confidence: float) -> FloatArray:
    """Return the expected errors on new rows minus the training errors, per node.

    Below one error the normal approximation fails: the limit is exact at zero errors, and linearly
    interpolated between zero errors and one.
    """
    z = -float(ndtri(confidence))
    at_none = weights * (1.0 - confidence ** (1.0 / weights))
    at_one = _normal_limit(weights, np.ones_like(errors), z) - 1.0
    few = at_none + errors * (at_one - at_none)
    further = np.where(errors < 1.0, few, _normal_limit(weights, errors, z) - errors)
    return np.where(errors + 0.5 >= weights, np.maximum(weights - errors, 0.0), further)


def _normal_limit(weights: FloatArray, errors: FloatArray, z: float) -> FloatArray:
    """Return the upper limit of the errors by the normal approximation."""
    rate = np.minimum((errors + 0.5) / weights, 1.0)
    spread = z * np.sqrt(rate / weights - rate**2 / weights + (z / weights) ** 2 / 4)
    limit: FloatArray = (rate + z**2 / (2 * weights) + spread) / (1 + z**2 / weights)
    return weights * limit


@dataclass(frozen=True, eq=False)
class SortedRows:
    """A table as `C45Tree` uses it: the nonzero values of every column in ascending order.

    Parameters
    ----------
    columns : SortedColumns
    n_rows : int

    Examples
    --------
    >>> rows = SortedRows.of(np.array([[3.0, 0.0], [1.0, 5.0]]))
    >>> rows.columns.rows.tolist(), rows.columns.values.tolist()
    ([1, 0, 1], [1.0, 3.0, 5.0])
    >>> rows.take(np.array([0, 0])).columns.rows.tolist()
    [0, 1]
    """

    columns: SortedColumns
    n_rows: int

    @classmethod
    def of(cls, X: Any) -> SortedRows:
        """Sort the columns of an array or a sparse matrix."""
        check_single_precision(X)
        if sparse.issparse(X):
            return cls(_sort_sparse(X), X.shape[0])
        X = np.asarray(X, dtype=np.float32).T
        order = np.argsort(X, axis=1, kind="stable")
        values = np.take_along_axis(X, order, axis=1)
        there = values != 0.0
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        columns = SortedColumns(starts, order[there].astype(np.uint32), values[there])
        return cls(columns, X.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.n_rows, len(self.columns.starts) - 1

    def take(self, rows: NDArray[np.intp]) -> SortedRows:
        """Return the rows of some indices, which may repeat."""
        order = np.argsort(rows, kind="stable").astype(np.uint32)
        counts = np.bincount(rows, minlength=self.n_rows)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return SortedRows(take_sorted(self.columns, starts, order), len(rows))

    def with_flags(self, flags: Sequence[NDArray[Any]]) -> SortedRows:
        """Return the rows with additional 0/1 columns, given by the rows that are 1."""
        starts, rows, values = self.columns
        ends = starts[-1] + np.cumsum([len(ones) for ones in flags], dtype=np.int64)
        both = np.concatenate([rows, *flags]).astype(np.uint32)
        ones = np.ones(len(both) - len(rows), dtype=np.float32)
        columns = SortedColumns(
            np.concatenate([starts, ends]), both, np.concatenate([values, ones])
        )
        return SortedRows(columns, self.n_rows)

    def first_columns(self, n_columns: int) -> SortedRows:
        """Return the rows with the values of the first columns; the other columns are zero."""
        starts, rows, values = self.columns
        end = starts[n_columns]
        columns = SortedColumns(np.minimum(starts, end), rows[:end], values[:end])
        return SortedRows(columns, self.n_rows)


def _sort_sparse(X: Any) -> SortedColumns:
    by_column = sparse.csc_array(X, dtype=np.float32, copy=True)
    by_column.sum_duplicates()
    by_column.eliminate_zeros()
    starts = by_column.indptr.astype(np.int64)
    column = np.repeat(np.arange(X.shape[1]), np.diff(starts))
    order = np.lexsort((by_column.data, column))
    return SortedColumns(starts, by_column.indices[order].astype(np.uint32), by_column.data[order])


def grow_tree(
    rows: SortedRows,
    codes: NDArray[Any],
    weights: FloatArray | None,
    classes: NDArray[Any],
    min_weight: float,
    seed: int,
    *,
    mdl: bool = False,
    by_ratio: bool = False,
    raising: float | None = None,
) -> DecisionTreeClassifier:
    """Grow a tree until leaves are pure or too small to split.

    Parameters
    ----------
    rows : SortedRows
    codes : int array of shape (n_rows,)
        Indices of the rows' classes.
    weights : array of shape (n_rows,), optional
        All positive.
    classes : array of shape (n_classes,)
    min_weight : float
        Minimum total weight of the rows in a leaf.
    seed : int
        Breaks ties between equally good cuts.
    mdl : bool
        Whether features with many cuts have to gain more; see `C45Tree`.
    by_ratio : bool
        Whether splits are chosen by gain ratio.
    raising : float, optional
        Confidence level of a pruning that raises subtrees; None: no pruning.

    Returns
    -------
    DecisionTreeClassifier, fitted
    """
    if weights is None:
        amounts: NDArray[Any] = np.ones(len(codes), dtype=np.int64)
    elif weights.sum() < _MAX_LOGS and np.array_equal(weights, np.rint(weights)):
        amounts = weights.astype(np.int64)
    else:
        amounts = np.asarray(weights, dtype=np.float64)
    logs = np.zeros(0)
    if amounts.dtype == np.int64:
        logs = np.arange(int(amounts.sum()) + 1, dtype=np.float64)
        logs[1:] *= np.log(logs[1:])
    columns, codes = rows.columns, codes.astype(np.uint32)
    settings = (amounts, logs, len(classes), float(min_weight), seed, mdl, by_ratio)
    if has_flags_only(columns, len(classes)):
        grown = grow_flag_tree(columns, codes, *settings)
    else:  # which overwrites its columns
        columns = SortedColumns(columns.starts, columns.rows.copy(), columns.values.copy())
        grown = grow_entropy_tree(columns, codes, *settings)
    if raising is not None:
        z = -float(ndtri(raising))
        grown = prune_and_raise(columns, grown, codes, amounts, float(raising), z)
    return _as_classifier(grown, rows.shape[1], classes)


def _as_classifier(
    grown: EntropyTree, n_features: int, classes: NDArray[Any]
) -> DecisionTreeClassifier:
    """Return a scikit-learn classifier with the tree, set as unpickling sets it."""
    nodes = np.zeros(len(grown.left), dtype=NODE_DTYPE)
    inner, weights = grown.left >= 0, grown.masses.sum(axis=1).astype(np.float64)
    shares = grown.masses / weights[:, None]
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    nodes["left_child"] = grown.left
    nodes["right_child"] = np.where(inner, grown.left + 1, -1)
    nodes["feature"] = np.where(inner, grown.features, _UNDEFINED)
    nodes["threshold"] = np.where(inner, grown.cuts, _UNDEFINED)
    nodes["impurity"] = -(shares * logs).sum(axis=1)
    nodes["n_node_samples"] = grown.n_rows
    nodes["weighted_n_node_samples"] = weights
    tree = Tree(n_features, np.array([len(classes)], dtype=np.intp), 1)
    state = {"max_depth": _depth(grown.left), "node_count": len(nodes), "nodes": nodes}
    tree.__setstate__({**state, "values": np.ascontiguousarray(shares[:, None, :])})
    model = DecisionTreeClassifier(criterion="entropy")
    model.tree_, model.classes_, model.n_classes_ = tree, classes, np.int64(len(classes))
    model.n_features_in_ = model.max_features_ = n_features
    model.n_outputs_ = 1
    return model


def _depth(left: NDArray[np.int32]) -> int:
    depth = [0] * len(left)
    for node, child in enumerate(left.tolist()):  # children come after their parents
        if child >= 0:
            depth[child] = depth[child + 1] = depth[node] + 1
    return max(depth)
