"""Multi-output classification: a table of outputs as a hierarchy of columns and their values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import IntArray, is_missing
from palmette.base._answers import NodeSets
from palmette.decisions._coherence import FloatArray, NodeColumns
from palmette.decisions._decode import normalize_rows
from palmette.decisions._thresholds import LabelRule
from palmette.exceptions import LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import object_array, sorted_labels
from palmette.labels._containers import Container, unwrap
from palmette.labels._forms import as_dtype
from palmette.persistence.checks import held


@dataclass(frozen=True, eq=False)
class OutputTable:
    """The columns of a table of outputs, and the hierarchy of columns and values.

    Parameters
    ----------
    hierarchy : Hierarchy
        The children of the root are the outputs; the children of an output are its values.
    values : list of arrays
        Sorted values of each output.
    nodes : list of int arrays
        Nodes of these values.
    container : Container
    dtype : numpy dtype
        Data type of the table, if it is one array.

    Examples
    --------
    >>> outputs, y = OutputTable.read(np.array([["red", "big"], ["blue", "big"]]))
    >>> outputs.hierarchy.path_strings.tolist()
    ['root', '0', '0/blue', '0/red', '1', '1/big']
    >>> y.toarray().astype(int).tolist()
    [[1, 0, 1, 1, 1], [1, 1, 0, 1, 1]]
    """

    hierarchy: Hierarchy
    values: list[NDArray[Any]]
    nodes: list[IntArray]
    container: Container
    dtype: Any

    @classmethod
    def read(cls, y: Any) -> tuple[OutputTable, sparse.csr_array]:
        """Read a table of shape (n_samples, n_outputs).

        Returns
        -------
        OutputTable
        sparse bool array of shape (n_samples, n_nodes - 1)
            Which nodes, without the root, each row has.
        """
        table, container = _table_of(y)
        names = [str(name) for name in container.columns or range(table.shape[1])]
        if len(set(names)) < len(names):
            raise LabelError(
                f"y has several columns of the same name: {sorted(names)}. Expected unique names."
            )
        values = [sorted_labels(list(dict.fromkeys(column.tolist()))) for column in table.T]
        paths = [(name, value) for name, some in zip(names, values, strict=True) for value in some]
        hierarchy = Hierarchy.from_paths(paths)
        places = np.split(hierarchy.index(paths), np.cumsum([len(some) for some in values])[:-1])
        true = np.empty((len(table), 2 * len(names)), dtype=np.int64)
        for j, (some, nodes) in enumerate(zip(values, places, strict=True)):
            node_of = dict(zip(some, nodes.tolist(), strict=True))
            true[:, 2 * j + 1] = [node_of[value] for value in table[:, j].tolist()]
        true[:, ::2] = hierarchy.parents[true[:, 1::2]]
        flags = np.ones(true.size, dtype=bool)
        starts = np.arange(len(true) + 1) * true.shape[1]
        matrix = sparse.csr_array(
            (flags, true.ravel() - 1, starts), shape=(len(true), hierarchy.n_nodes - 1)
        )
        arrays = [as_dtype(object_array(some), table.dtype) for some in values]
        outputs = cls(hierarchy, arrays, places, container, table.dtype)
        return outputs, matrix

    def write(self, codes: NDArray[np.intp], index: Any) -> Any:
        """Return codes of values, of shape (n_samples, n_outputs), as a table in the form of y."""
        table = np.empty(codes.shape, dtype=object)
        for j, values in enumerate(self.values):
            table[:, j] = values[codes[:, j]]
        return self.container.wrap(as_dtype(table, self.dtype), index)

    def proba_of(self, table: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Split the probabilities of all values into one array per output, and normalize rows."""
        bounds = np.cumsum([0, *(len(values) for values in self.values)]).tolist()
        return [normalize_rows(table[:, start:stop]) for start, stop in pairwise(bounds)]

    def are_equal(self, true: Any, predicted: Any) -> NDArray[np.bool_]:
        """Return whether all outputs of a row are equal, of shape (n_samples,)."""
        tables = [_table_of(y)[0].astype(object) for y in (true, predicted)]
        return np.asarray((tables[0] == tables[1]).all(axis=1))


def _table_of(y: Any) -> tuple[NDArray[Any], Container]:
    values, container = unwrap(y)
    if sparse.issparse(values):
        raise LabelError("y is a sparse matrix: with multioutput=True expected a dense table.")
    table = values if isinstance(values, np.ndarray) else _stacked(values)
    if table.ndim != 2 or not table.shape[1]:
        raise LabelError(
            f"y has shape {table.shape}: with multioutput=True expected a table of 2 dimensions "
            "with one column per output."
        )
    missing = [
        (row, j)
        for j, column in enumerate(table.T)
        for row, value in enumerate(column.tolist())
        if is_missing(value)
    ]
    if missing:
        row, column = missing[0]
        raise LabelError(
            f"y[{row}, {column}] is missing ({len(missing)} missing values in all): expected a "
            "value for every output of every row."
        )
    return table, container


def _stacked(rows: list[Any]) -> NDArray[Any]:
    """Stack rows to a table whose columns may have different types."""
    widths = {len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in rows}
    if len(widths) != 1:
        raise LabelError(
            f"the rows of y have {sorted(widths)} values: expected the same number in each row."
        )
    table = np.empty((len(rows), widths.pop()), dtype=object)
    for i, row in enumerate(rows):
        table[i] = row
    return table


class OutputAnswers(NodeSets):
    """Answers of a multi-output model: tables of values in the form of y.

    Parameters
    ----------
    outputs : OutputTable
    nodes : NodeSets
        Answers over the hierarchy of the outputs.
    """

    in_files: ClassVar = {
        "outputs": held(OutputTable),
        "classes": held(object, same="outputs.values"),
    }

    def __init__(self, outputs: OutputTable, nodes: NodeSets) -> None:
        super().__init__(nodes.columns, nodes.form, nodes.class_nodes, nodes.classes)
        self.outputs = outputs
        self.classes: Any = outputs.values

    def write(
        self, chosen: sparse.csr_array, index: Any, listed: sparse.csr_array | None = None
    ) -> Any:
        """Return the chosen value of every output as a table; no output has a second value."""
        # a row has one value of each output, so its indices are the codes
        codes = [sparse.csr_array(chosen[:, nodes]).indices for nodes in self.outputs.nodes]
        return self.outputs.write(np.column_stack(codes), index)

    def label_proba(self, table: FloatArray) -> NDArray[np.float64]:
        """Return the probabilities of the values of all outputs as one array."""
        return self.columns.pick(table, np.concatenate(self.outputs.nodes))

    def arrange(self, proba: FloatArray) -> Any:
        """Return one array of probabilities per output; rows sum to one."""
        return self.outputs.proba_of(np.asarray(proba, dtype=np.float64))

    def are_right(self, chosen: sparse.csr_array, y: Any, *, is_given: bool) -> NDArray[np.bool_]:
        """Return whether all outputs of a row are correct."""
        return self.outputs.are_equal(y, self.write(chosen, None))


class OneValueEach(LabelRule):
    """Predict the most probable value of every output.

    Examples
    --------
    >>> outputs, _ = OutputTable.read(np.array([["red", "big"], ["blue", "big"]]))
    >>> columns = NodeColumns(outputs.hierarchy, np.arange(1, 6))
    >>> proba = np.array([[1.0, 0.4, 0.6, 1.0, 1.0]])
    >>> OneValueEach().choose(proba, columns).toarray().astype(int).tolist()
    [[1, 0, 1, 1, 1]]
    """

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        parents = np.unique(columns.edges[:, 0])
        chosen = np.zeros(proba.shape, dtype=bool)
        rows = np.arange(len(proba))
        for parent in parents:
            values = columns.edges[columns.edges[:, 0] == parent, 1]
            chosen[:, parent] = True
            chosen[rows, values[np.argmax(proba[:, values], axis=1)]] = True
        return sparse.csr_array(chosen)
