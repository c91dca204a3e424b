"""Rows as a reader sees them: a name, and a text that is cut where it is long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import count_rows, is_text, take_rows
from palmette.base._adapters import find_in_parts, hierarchy_of
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import is_padding
from palmette.labels._containers import column_names, row_index
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import NodeCounts, RowOverlap, count_nodes, row_overlap
from palmette.metrics._pairs import LabelPair, extend_hierarchy, pair_labels
from palmette.reporting._plain import cut

__all__ = ["Evaluation", "RowTexts", "evaluate", "places_of", "primary_parents", "rows_with_truth"]


_LENGTH = 240  # characters of a row's text
_VALUE = 120  # characters of one cell in it
_NUMBERS = 8  # features that stand for a row of numbers


class RowTexts:
    """Writes rows of X for a report.

    Parameters
    ----------
    X : rows, as the model takes them
    names : sequence of length n_samples, optional
        What rows are called; by default their index in a pandas table, or their number.
    texts : sequence of length n_samples, optional
        What rows say; by default made from X.
    columns : list, optional
        Columns of a table to show; all by default.
    features : list of str, optional
        Names of the features, where X is an array.

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
                    f"{what} has {len(given)} entries for {count_rows(X)} rows: expected one a row."
                )
        index = row_index(X)
        self._X = X
        self._names = list(index if names is None and index is not None else names or [])
        self._texts = None if texts is None else list(texts)
        self._columns = columns
        self._features = features

    def name(self, row: int) -> str:
        """Return what a row is called."""
        return cut(str(self._names[row] if self._names else row), 80)

    def text(self, row: int) -> str:
        """Return what a row says, cut."""
        if self._texts is not None:
            return _clean(self._texts[row], _LENGTH)
        one = take_rows(self._X, np.array([row], dtype=np.int32))
        if is_text(one):
            return _clean(next(iter(one)), _LENGTH)
        columns = column_names(one)
        if columns is not None:
            return cut(self._of_table(one, columns), _LENGTH)
        return cut(self._of_numbers(one), _LENGTH)

    def _of_table(self, one: Any, columns: list[Any]) -> str:
        shown = [name for name in columns if self._columns is None or name in self._columns]
        parts = []
        for name in shown:
            column = one[name]
            value = column[0].as_py() if hasattr(column, "to_pylist") else next(iter(column))
            if not is_padding(value):
                text = _clean(value, _VALUE)
                parts.append(text if len(shown) == 1 else f"{name}: {text}")
        return " · ".join(parts)

    def _of_numbers(self, one: Any) -> str:
        values = one.toarray()[0] if sparse.issparse(one) else np.asarray(one)[0]
        values = np.ravel(np.asarray(values))
        told = np.flatnonzero(values)[:_NUMBERS] if values.dtype.kind in "fiub" else range(_NUMBERS)
        parts = [f"{self._feature(j)} {_number(values[j])}" for j in told if j < len(values)]
        return " · ".join(parts)

    def _feature(self, column: int) -> str:
        return f"x{column}" if self._features is None else str(self._features[column])


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _clean(value: Any, length: int) -> str:
    """One line of text: white space of any kind becomes a single space."""
    return cut(" ".join(str(value).split()), length)


def rows_with_truth(model: Any, X: Any) -> tuple[Any, Any, NDArray[np.int32] | None]:
    """Take the rows that have a label, and their labels, out of a table.

    Labels that the hierarchy does not know are kept where that can be done, so that the model's
    errors on them count; of a learnt hierarchy, and with several paths a row, such rows are left
    out with those that have no label.

    Parameters
    ----------
    model : TableModel
        A model with `read_target`, which knows its target column.
    X : DataFrame

    Returns
    -------
    X : DataFrame of the rows with a label
    y : their labels
    places : int array, or None where no row is left out
        Their numbers in the table.
    """
    if not hasattr(model, "read_target"):
        raise PalmetteError(
            f"y is missing: {type(model).__name__} cannot read the true labels from X. Pass y, the "
            "true label of every row."
        )
    known = np.asarray(model.labelled_rows(X), dtype=bool)
    if known.all():
        return X, model.read_target(X), None
    written = model.target_.read(X)
    keeps_unknown = not (model.several_paths_ or model.learnt_ or not model.hierarchy_.is_tree)
    kept = known | np.array([keeps_unknown and path is not None for path in written], dtype=bool)
    if not kept.any():
        raise LabelError(
            f"none of the {count_rows(X)} rows has a label that the model can be judged by: "
            f"expected them in {', '.join(model.target_.columns)}."
        )
    places = np.flatnonzero(kept).astype(np.int32)
    read = iter(
        model.read_target(take_rows(X, np.flatnonzero(known).astype(np.int32)))
        if known.any()
        else ()
    )
    labels = [next(read) if known[row] else written[row] for row in places.tolist()]
    return take_rows(X, places), labels, places


IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class Evaluation:
    """True and predicted labels of all rows.

    Parameters
    ----------
    pair : LabelPair
        On the hierarchy of the model, with the labels added that it never saw.
    several : bool
        Whether a row may have several paths, or a node several parents.
    node_place : int array of shape (n_model_nodes,)
        Number of each node of the model's hierarchy in that of `pair`.
    """

    pair: LabelPair
    several: bool
    node_place: IntArray

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of truth and answers."""
        return self.pair.hierarchy

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.pair.true.n_samples

    @cached_property
    def counts(self) -> NodeCounts:
        """True and false positives of every node."""
        return count_nodes(self.pair)

    @cached_property
    def overlap(self) -> RowOverlap:
        """Nodes that each row truly has, is given, and both."""
        return row_overlap(self.pair)

    @cached_property
    def is_right(self) -> NDArray[np.bool_]:
        """Whether the answer is exactly the truth, of shape (n_samples,)."""
        return np.asarray(self.overlap.apart == 0)

    @cached_property
    def parents(self) -> IntArray:
        """The parent under which each node is shown; see `primary_parents`."""
        return primary_parents(self.hierarchy)

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether the model's hierarchy has each node, of shape (n_nodes,)."""
        known = np.zeros(self.hierarchy.n_nodes, dtype=bool)
        known[self.node_place] = True
        return known

    @cached_property
    def n_unseen(self) -> int:
        """Rows with a true label that the model's hierarchy does not have."""
        unknown = (~self.is_known).astype(np.int64)
        return int(np.count_nonzero(self.pair.true.closed @ unknown))


def evaluate(model: Any, X: Any, y: Any) -> Evaluation:
    """Predict the rows and put truth and answers on one hierarchy.

    Parameters
    ----------
    model : fitted classifier
    X : rows, as the model takes them
    y : labels of n_samples rows

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["cat", "dog"])
    >>> found = evaluate(tree, [[0.0], [0.1], [1.0]], ["cat", "dog", "wolf"])
    >>> found.is_right.tolist(), found.n_unseen
    ([True, False, False], 1)
    """
    known = hierarchy_of(model)
    hierarchy = extend_hierarchy(known, y)
    pair = pair_labels(y, model.predict(X), hierarchy)
    several = bool(find_in_parts(model, "several_paths_")) or not (
        hierarchy.is_tree and pair.true.is_single_path and pair.pred.is_single_path
    )
    if not several:
        pair = LabelPair(_one_node_a_row(pair.true), _one_node_a_row(pair.pred), pair.weight)
    return Evaluation(pair, several, _places(known, hierarchy))


def primary_parents(hierarchy: Hierarchy) -> IntArray:
    """Parent of every node, -1 for the root; in a DAG the deepest, of equally deep the first.

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
    parents[below[best_last]] = above[best_last]  # of several, the last one written stays
    return parents


def places_of(hierarchy: Hierarchy, evaluation: Evaluation) -> IntArray:
    """Nodes of a part's hierarchy in that of the report, of shape (n_nodes,); 0 for unknown ones.

    A part may have a hierarchy of its own, such as one that it learnt.
    """
    if hierarchy.n_nodes == len(evaluation.node_place):
        return evaluation.node_place
    known, paths = evaluation.hierarchy, hierarchy.path_strings
    found = [known.index(path) if path in known else 0 for path in paths]
    return np.array(found, dtype=np.int32)


def _one_node_a_row(labels: NodeLabels) -> NodeLabels:
    return NodeLabels.from_terminals(labels.terminals, labels.hierarchy, labels.form)


def _places(known: Hierarchy, hierarchy: Hierarchy) -> IntArray:
    if known is hierarchy:
        return np.arange(known.n_nodes, dtype=np.int32)
    if not known.is_tree:
        return np.asarray(hierarchy.index(known.names.tolist()))
    rest = [known.path(node) for node in range(1, known.n_nodes)]
    return np.asarray(np.r_[np.int32(0), hierarchy.index(rest)])
