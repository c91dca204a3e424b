"""Labels that come apart from their table: as cells of a target, and predictions written as they.

`TableModel.fit` takes `y` in the forms of other estimators. A table has a target column of texts,
so labels are written into one, or into a column per level; `AnswerForm` writes predictions back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import object_array, sorted_labels
from palmette.hierarchy._separators import SEPARATORS, join_path
from palmette.labels._forms import LabelForm, as_dtype
from palmette.labels._labels import NodeLabels, carried_hierarchy
from palmette.persistence.checks import held

_NAME = "target"  # of the column of labels without a name


class GivenLabels(NamedTuple):
    """The labels of a table's rows, as cells of its target.

    Parameters
    ----------
    columns : dict of str to list of n_samples cells
        One column, or the levels of paths.
    separator : str or None
        Separator of the names of a path in a cell; None if it is to be found.
    hierarchy : Hierarchy or None
        That of labels of `palmette.datasets`.
    form : LabelForm
    values : list of n_labels objects
        The distinct labels as they came: names, or tuples.
    rows : list of n_labels int
        A row with each of them.
    cells : list of n_labels cells
        Each of them as the only label of a cell; empty for levels.
    """

    columns: dict[str, list[Any]]
    separator: str | None
    hierarchy: Hierarchy | None
    form: LabelForm
    values: list[Any]
    rows: list[int]
    cells: list[Any]

    @classmethod
    def read(
        cls, y: Any, n_rows: int, taken: Iterable[str], separator: str | None = None
    ) -> GivenLabels:
        """Read labels in a form of `NodeLabels.encode`, other than a 0/1 matrix.

        Parameters
        ----------
        y : labels of n_samples rows
        n_rows : int
            Number of rows of the table.
        taken : iterable of str
            Names of its columns.
        separator : str, optional
            Separator of the names in texts; see `fit_table`.

        Examples
        --------
        >>> given = GivenLabels.read([3, 5, 3], 3, ["a"])
        >>> given.columns, given.values
        ({'target': [3, 5, 3]}, [3, 5])
        >>> GivenLabels.read([("a", "b"), ("c",)], 2, []).columns
        {'level_1': ['a', 'c'], 'level_2': ['b', None]}
        """
        if y is None:
            raise LabelError("TableModel requires y to be passed, but the target y is None.")
        labels = NodeLabels.encode(y, flat=True)
        form, h = labels.form, labels.hierarchy
        if len(labels) != n_rows:
            raise LabelError(
                f"X and y have inconsistent numbers of samples: {n_rows:,} rows and "
                f"{len(labels):,} labels. Pass one label per row."
            )
        if form.kind == "indicator":
            raise LabelError(
                "y is a 0/1 matrix: expected sets of labels. Pass what "
                "MultiLabelBinarizer.inverse_transform returns, as a list of sets."
            )
        nodes = labels.given.indices.tolist()
        known = np.unique(labels.given.indices)
        first = np.full(h.n_nodes, -1, dtype=np.int64)
        row_of = np.repeat(np.arange(n_rows), np.diff(labels.given.indptr))
        first[labels.given.indices[::-1]] = row_of[::-1]
        is_path = form.kind in ("table", "paths") or (form.several and h.max_depth > 1)
        values = [h.path(n) if is_path else h.names[n] for n in known.tolist()]
        if form.kind == "names" and form.dtype is not None and form.dtype.kind in "fc":
            check_classification_targets(as_dtype(object_array(values), form.dtype))
        hierarchy = carried_hierarchy(y)
        rows = first[known].tolist()
        names = _column_names(form, h.max_depth, set(taken))
        if form.kind in ("table", "paths"):
            paths = {n: (*h.path(n), *[None] * (len(names) - h.depth[n])) for n in known.tolist()}
            levels = zip(*(paths[n] for n in nodes), strict=True)
            columns = dict(zip(names, map(list, levels), strict=True))
            return cls(columns, "" if len(names) == 1 else None, hierarchy, form, values, rows, [])
        cells, separator = _cells_of(values, separator)
        cell_at = dict(zip(known.tolist(), cells, strict=True))
        column: list[Any] = [cell_at[n] for n in nodes]
        if form.several:
            ends = labels.given.indptr.tolist()
            column = [column[a:b] for a, b in pairwise(ends)]
        single = [[cell] for cell in cells] if form.several else cells
        return cls({names[0]: column}, separator, hierarchy, form, values, rows, single)

    def paths(self) -> list[Any] | None:
        """Return the paths of the rows if there are columns of levels, else None."""
        if self.cells:
            return None
        rows = zip(*self.columns.values(), strict=True)
        return [tuple(str(name) for name in row if name is not None) for row in rows]


def _cells_of(values: list[Any], separator: str | None) -> tuple[list[Any], str | None]:
    """Return labels as cells, and the separator of their names; None if it is to be found."""
    if not any(isinstance(value, tuple) for value in values):
        has_texts = any(isinstance(value, str) for value in values)
        return values, separator if has_texts else ""  # numbers and flags are names
    for joiner in SEPARATORS:
        texts = [join_path(value, joiner) for value in values]
        if None not in texts:
            return texts, joiner
    raise LabelError(
        "the names of y have all marks that separate the names of a path, such as '>' and '/': "
        "rename some."
    )


def _column_names(form: LabelForm, depth: int, taken: set[str]) -> list[str]:
    """Return names of target columns that the table does not have."""
    box = form.container
    if form.kind in ("table", "paths"):
        width = max(form.width, depth, 1)
        names = [] if box.columns is None or box.is_numbered else [str(n) for n in box.columns]
        names += [f"level_{i + 1}" for i in range(len(names), width)]
    else:
        names = [_NAME if box.name is None or box.name == "" else str(box.name)]
    for place in range(len(names)):
        while names[place] in taken or names[place] in names[:place]:
            names[place] += "_"
    return names


@dataclass(frozen=True)
class AnswerForm:
    """How predictions are written as the labels that a model was fitted on.

    Parameters
    ----------
    form : LabelForm
        What held the labels; its nodes are not used.
    values : dict
        The label as it came, by its path in the hierarchy of the model; by its name in a DAG.
    """

    form: LabelForm
    values: dict[Any, Any]

    in_files: ClassVar = {"form": held(LabelForm), "values": held(dict)}

    @classmethod
    def of(cls, form: LabelForm, values: Mapping[Any, Any]) -> AnswerForm:
        """Make the form of predictions: an array for labels in a list."""
        return cls(replace(form.as_answer(), spelling={}, columns=None), dict(values))

    @property
    def several(self) -> bool:
        """Whether a row may have several labels."""
        return self.form.several

    def label(self, path: Any, text: Callable[[Any], str]) -> Any:
        """Return the label of a path; of one that no row had, its text or itself."""
        try:
            return self.values[path]
        except KeyError:
            is_tuple = any(isinstance(value, tuple) for value in self.values.values())
            return path if is_tuple and isinstance(path, tuple) else text(path)

    def sorted_classes(self, paths: Any, text: Callable[[Any], str]) -> tuple[Any, Any]:
        """Return the labels of classes and their places among the paths.

        Names are sorted, as in scikit-learn; paths stay in the order of the hierarchy.
        """
        labels = [self.label(path, text) for path in paths]
        order = list(range(len(labels)))
        if self.form.kind == "names":
            place = {label: i for i, label in enumerate(labels)}
            labels = sorted_labels(labels)
            order = [place[label] for label in labels]
        classes = object_array(labels)
        if self.form.kind == "names":
            classes = as_dtype(classes, self.form.dtype)
        return classes, np.array(order, dtype=np.int64)

    def write(self, answers: list[Any], text: Callable[[Any], str], index: Any = None) -> Any:
        """Write a path per row, or a set of them, in the form of the labels.

        Parameters
        ----------
        answers : list of n_samples paths, or sets of paths
        text : callable
            Writes a path that no row had.
        index : pandas.Index, optional
        """
        form = self.form
        if form.several:
            # a model of sets of one label predicts paths
            sets = (row if isinstance(row, set) else {row} for row in answers)
            rows = [
                form.row_type(sorted((self.label(path, text) for path in row), key=str))
                for row in sets
            ]
            return form.container.wrap(object_array(rows), index)
        labels = [self.label(path, text) for path in answers]
        if form.kind == "names":
            values = as_dtype(object_array(labels), form.dtype)
            return form.container.wrap(values[:, None] if form.width else values, index)
        if form.kind == "table":
            return form.container.wrap(as_dtype(_table_of(labels, form), form.dtype), index)
        rows = [form.row_type((*label, *form.padding[len(label) :])) for label in labels]
        return form.container.wrap(object_array(rows), index)


def _table_of(labels: list[tuple[Any, ...]], form: LabelForm) -> NDArray[np.object_]:
    """Return paths as rows of a table, filled up as those of `y` were."""
    width = max([form.width, *map(len, labels)])
    padding = [*form.padding, *form.padding[-1:] * (width - form.width)]
    table = np.empty((len(labels), width), dtype=object)
    for i, label in enumerate(labels):
        for j in range(width):  # cell by cell, since a name may be a tuple
            table[i, j] = label[j] if j < len(label) else padding[j]
    return table


# ---------------------------------------------------------------------- rows


def frame_of_rows(rows: Any, names: Iterable[str] | None) -> Any:
    """Return rows without names of columns as a DataFrame; anything else as it is.

    Parameters
    ----------
    rows : array of shape (n_samples, n_columns), list of rows, or any table
    names : iterable of str, optional
        Names of the columns that the rows have in this order; x0, x1, ... by default.

    Examples
    --------
    >>> frame_of_rows([["red apple", 1.5], ["saw", 2.0]], None).columns.tolist()
    ['x0', 'x1']
    """
    import pandas as pd
    from scipy import sparse

    if sparse.issparse(rows):
        raise PalmetteError(
            f"X is a sparse {type(rows).__name__}, which is no table: expected a DataFrame or an "
            "array. Fit a classifier of Palmette on a sparse X itself."
        )
    named = isinstance(rows, dict | str) or hasattr(rows, "columns") or hasattr(rows, "to_pandas")
    if named or not (isinstance(rows, list) or hasattr(rows, "__array__")):
        return rows  # which is refused where tables are read
    if isinstance(rows, list) and rows and np.iterable(rows[0]):
        rows = pd.DataFrame(rows)
    table = np.asarray(rows)
    if table.ndim != 2:
        raise PalmetteError(
            f"X has {table.ndim} dimensions: expected 2, rows and columns. Reshape your data with "
            "X.reshape(-1, 1) if it is one column, or X.reshape(1, -1) if it is one row."
        )
    if not table.shape[1]:
        raise PalmetteError(
            f"X has 0 feature(s) (shape={table.shape}) while a minimum of 1 is required."
        )
    known = [f"x{i}" for i in range(table.shape[1])] if names is None else list(names)
    if len(known) != table.shape[1]:
        raise PalmetteError(
            f"X has {table.shape[1]} features, but TableModel is expecting {len(known)} features "
            "as input: those of the table that it was fitted on, in this order."
        )
    return pd.DataFrame(table, columns=known).infer_objects()
