"""True and predicted labels on one hierarchy, and the rows as text for examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import IntArray, count_rows, is_text, take_rows
from palmette.base._adapters import find_in_parts, hierarchy_of
from palmette.base._scratch import Frames
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import is_padding
from palmette.labels._containers import column_names, row_index
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import NodeCounts, RowOverlap, count_nodes, row_overlap
from palmette.metrics._pairs import LabelPair, check_weight, pair_labels
from palmette.reporting._parts import predict_in_parts
from palmette.reporting._plain import cut
from palmette.reporting._stored import (
    CodedLabels,
    StoredTable,
    encode_labels,
    extend_by,
    labels_of_rows,
    no_labels,
)

_LENGTH = 240  # maximum characters in the text of a row
_VALUE = 120  # maximum characters of one value in it
_NUMBERS = 8  # number of features shown for a row of numbers


class RowTexts:
    """Names and texts of the rows of X for the examples of a report.

    Parameters
    ----------
    X : rows, in the form that the model accepts, or `Frames`
    names : sequence of length n_samples, optional
        Names of the rows; by default their index in a pandas table, or their number.
    texts : sequence of length n_samples, optional
        Texts of the rows; by default made from X.
    columns : list, optional
        Columns of a table to include; all by default.
    features : list of str, optional
        Names of the features if X is an array.

    Examples
    --------
    >>> rows = RowTexts(np.array([[0.0, 1.5], [2.0, 0.0]]), features=["width", "height"])
    >>> rows.name(1), rows.text(1)
    ('1', 'width 2')
    """

    def __init__(
        self,
        X: Any,
        names: Sequence[Any] | None = None,
        texts: Sequence[Any] | None = None,
        *,
        columns: list[Any] | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        for what, given in (("sample_names", names), ("sample_texts", texts)):
            if given is not None and len(given) != count_rows(X):
                raise PalmetteError(
                    f"{what} has {len(given)} entries for {count_rows(X)} rows: "
                    "expected one per row."
                )
        self._X = X
        is_array = names is None or isinstance(names, range | np.ndarray)
        self._names: Any = names if is_array else list(names or ())
        if names is None:
            self._names = row_index(X)
        self._held: Any = None  # some rows of a table on disk, by their number
        self._texts = None if texts is None else list(texts)
        self._columns = columns
        self._features = features

    def name(self, row: int) -> str:
        """Return the name of a row."""
        return cut(str(row if self._names is None else self._names[row]), 80)

    def hold(self, rows: NDArray[Any]) -> None:
        """Read some rows at once whose texts are asked for next; rows in memory need not be."""
        if isinstance(self._X, Frames) and len(rows):
            self._held = self._X[np.unique(rows)]

    def text(self, row: int) -> str:
        """Return the text of a row, truncated."""
        if self._texts is not None:
            return _clean(self._texts[row], _LENGTH)
        if isinstance(self._X, Frames):
            if self._held is None or row not in self._held.index:
                self.hold(np.array([row]))
            cells = {name: self._held[name] for name in self._shown(self._X.columns)}
            return cut(self._table_text(int(self._held.index.get_loc(row)), cells), _LENGTH)
        if self._cells is not None:
            return cut(self._table_text(row, self._cells), _LENGTH)
        one = take_rows(self._X, np.array([row], dtype=np.int32))
        if is_text(one):
            return _clean(next(iter(one)), _LENGTH)
        return cut(self._numeric_text(one), _LENGTH)

    @cached_property
    def _cells(self) -> dict[Any, Any] | None:
        """Columns of a table that are shown; None for other rows."""
        names = column_names(self._X)
        if names is None:
            return None
        return {name: self._X[name] for name in self._shown(names)}

    def _shown(self, names: Sequence[Any]) -> list[Any]:
        return [name for name in names if self._columns is None or name in self._columns]

    def _table_text(self, row: int, cells: dict[Any, Any]) -> str:
        parts = []
        for name, column in cells.items():
            value = _cell(column, row)
            if not is_padding(value):
                text = _clean(value, _VALUE)
                parts.append(text if len(cells) == 1 else f"{name}: {text}")
        return " · ".join(parts)

    def _numeric_text(self, one: Any) -> str:
        values = one.toarray()[0] if sparse.issparse(one) else np.asarray(one)[0]
        values = np.ravel(np.asarray(values))
        is_numeric = values.dtype.kind in "fiub"
        chosen = np.flatnonzero(values)[:_NUMBERS] if is_numeric else range(_NUMBERS)
        parts = [f"{self._feature(j)} {_number(values[j])}" for j in chosen if j < len(values)]
        return " · ".join(parts)

    def _feature(self, column: int) -> str:
        return f"x{column}" if self._features is None else str(self._features[column])


def _cell(column: Any, row: int) -> Any:
    """Return a value of a column of pandas, polars or pyarrow."""
    if hasattr(column, "iloc"):
        return column.iloc[row]
    value = column[row]
    return value.as_py() if hasattr(value, "as_py") else value


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _clean(value: Any, length: int) -> str:
    """Return a value as one line of text, with runs of white space replaced by one space."""
    return cut(" ".join(str(value).split()), length)


def rows_with_truth(model: Any, X: Any) -> tuple[Any, Any, IntArray | None]:
    """Return the labelled rows of a table and their labels.

    See `labels_of_rows`.

    Parameters
    ----------
    model : TableModel
        A model with the method `read_target`.
    X : DataFrame or StoredTable

    Returns
    -------
    X : DataFrame of the rows with a label, or `Frames`
    y : labels of these rows, or `CodedLabels`
    places : int array, or None if no row is left out
        Positions of these rows in the table.
    """
    if not hasattr(model, "read_target"):
        raise PalmetteError(
            f"y is missing: {type(model).__name__} cannot read the true labels from X. Pass y, "
            "one true label per row."
        )
    if isinstance(X, StoredTable):
        return X.rows, X.labels, X.places
    kept, labels = labels_of_rows(model, X)
    if kept.all():
        return X, labels, None
    if not kept.any():
        raise no_labels(count_rows(X), model)
    places = np.flatnonzero(kept).astype(np.int32)
    return take_rows(X, places), labels, places


@dataclass(frozen=True)
class Evaluation:
    """True and predicted labels of all rows.

    Parameters
    ----------
    pair : LabelPair
        On the hierarchy of the model, extended by labels that it has never seen.
    several : bool
        Whether rows may have several paths, or nodes several parents.
    node_place : int array of shape (n_model_nodes,)
        Node number in the hierarchy of `pair` for each node of the model's hierarchy.
    language : str or sequence of str, optional
        Language in which nodes with labels are shown; see `Hierarchy.in_language`.
    """

    pair: LabelPair
    several: bool
    node_place: IntArray
    language: str | Sequence[str] | None = None

    @property
    def hierarchy(self) -> Hierarchy:
        """Hierarchy of the true and predicted labels."""
        return self.pair.hierarchy

    @cached_property
    def shown_names(self) -> list[Any]:
        """Names of the nodes, or their labels where there are labels."""
        names: list[Any] = self.hierarchy.in_language(self.language).names.tolist()
        return names

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.pair.true.n_samples

    @cached_property
    def counts(self) -> NodeCounts:
        """True positives, false positives and false negatives per node."""
        return count_nodes(self.pair)

    @cached_property
    def overlap(self) -> RowOverlap:
        """Number of true nodes, predicted nodes, and nodes that are both, per row."""
        return row_overlap(self.pair)

    @cached_property
    def is_right(self) -> NDArray[np.bool_]:
        """Whether the prediction equals the true label, of shape (n_samples,)."""
        return np.asarray(self.overlap.apart == 0)

    @cached_property
    def parents(self) -> IntArray:
        """Parent under which each node is displayed; see `primary_parents`."""
        return primary_parents(self.hierarchy)

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether the model's hierarchy has each node, of shape (n_nodes,)."""
        known = np.zeros(self.hierarchy.n_nodes, dtype=bool)
        known[self.node_place] = True
        return known

    @cached_property
    def is_unseen(self) -> NDArray[np.bool_]:
        """Whether each row has a true label that is not in the model's hierarchy."""
        unknown = (~self.is_known).astype(np.int64)
        if not self.several:
            return np.asarray(self.hierarchy.closure @ unknown > 0)[self.pair.nodes[0]]
        return np.asarray(self.pair.true.closed @ unknown > 0)

    @property
    def n_unseen(self) -> int:
        """Number of rows with a true label that is not in the model's hierarchy."""
        return int(np.count_nonzero(self.is_unseen))

    def answering(self, predicted: NodeLabels) -> Evaluation:
        """Return the evaluation of other predictions for the same rows."""
        pair = LabelPair(self.pair.true, predicted, self.pair.weight)
        return Evaluation(pair, self.several, self.node_place, self.language)


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    predicted: Any = None,
    others: Sequence[Any] = (),
    client: Any = None,
) -> Evaluation:
    """Predict the rows and encode true and predicted labels on one hierarchy.

    Parameters
    ----------
    model : fitted classifier
    X : rows, in the form that the model accepts
    y : labels of n_samples rows
    predicted : labels of n_samples rows, optional
        Predictions of the model, if they are already known.
    others : sequence of labels of n_samples rows
        Predictions of other models, whose nodes the hierarchy then has as well.
    client : distributed.Client, optional
        The cluster whose workers predict.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["cat", "dog"])
    >>> found = evaluate(tree, [[0.0], [0.1], [1.0]], ["cat", "dog", "wolf"])
    >>> found.is_right.tolist(), found.n_unseen
    ([True, False, False], 1)
    """
    known = hierarchy_of(model)
    hierarchy = extend_by(known, y)
    for labels in others:
        hierarchy = extend_by(hierarchy, labels)
    if predicted is None:
        predicted = predict_in_parts(model, X, known.n_nodes, client)
    if isinstance(y, CodedLabels):
        true, pred = (encode_labels(labels, hierarchy) for labels in (y, predicted))
        pair = LabelPair(true, pred, check_weight(None, len(y)))
    else:
        pair = pair_labels(y, predicted, hierarchy)
    several = bool(find_in_parts(model, "several_paths_")) or not (
        hierarchy.is_tree and pair.true.is_single_path and pair.pred.is_single_path
    )
    if not several:
        pair = LabelPair(_one_node_per_row(pair.true), _one_node_per_row(pair.pred), pair.weight)
    return Evaluation(pair, several, _places(known, hierarchy))


def primary_parents(hierarchy: Hierarchy) -> IntArray:
    """Return one parent per node, -1 for the root; in a DAG the deepest, then the first.

    Examples
    --------
    >>> dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "a"), ("r", "c")])
    >>> dag.names.tolist(), primary_parents(dag).tolist()
    (['r', 'b', 'a', 'c'], [-1, 0, 1, 2])
    """
    if hierarchy.is_tree:
        return hierarchy.parents
    above, below = hierarchy.edges[:, 0], hierarchy.edges[:, 1]
    best_last = np.lexsort((-above, hierarchy.depth[above]))
    parents = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
    parents[below[best_last]] = above[best_last]  # the last assignment wins
    return parents


def places_of(hierarchy: Hierarchy, evaluation: Evaluation) -> IntArray:
    """Return the report's node number per node of another hierarchy; 0 for unknown nodes.

    A wrapped model may have its own hierarchy, for example one that it learned.
    """
    if hierarchy.n_nodes == len(evaluation.node_place):
        return evaluation.node_place
    known, paths = evaluation.hierarchy, hierarchy.path_strings
    found = [known.index(path) if path in known else 0 for path in paths]
    return np.array(found, dtype=np.int32)


def _one_node_per_row(labels: NodeLabels) -> NodeLabels:
    return NodeLabels.from_terminals(labels.terminals, labels.hierarchy, labels.form)


def _places(known: Hierarchy, hierarchy: Hierarchy) -> IntArray:
    if known is hierarchy:
        return np.arange(known.n_nodes, dtype=np.int32)
    if not known.is_tree:
        return np.asarray(hierarchy.index(known.names.tolist()))
    rest = [known.path(node) for node in range(1, known.n_nodes)]
    return np.asarray(np.r_[np.int32(0), hierarchy.index(rest)])
