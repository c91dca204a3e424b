"""Tables that are too large for memory: rows on disk, and labels as numbers of distinct labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import IntArray, joined, take_rows
from palmette.base._scratch import Frames, Scratch
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics._pairs import extend_hierarchy

_MOST_ROWS = 1_000_000  # of a table that is kept in memory
_MOST_BYTES = 2**28
_MIB = 2**20


class CodedLabels:
    """Labels of many rows: every distinct label once, and its number in each row.

    Parameters
    ----------
    parts : iterable of lists of labels
        Labels of some rows after the others: paths, names, or sets of them.

    Examples
    --------
    >>> labels = CodedLabels([[("a", "x"), ("b",)], [("a", "x")]])
    >>> labels.distinct, labels.codes.tolist()
    ([('a', 'x'), ('b',)], [0, 1, 0])
    """

    def __init__(self, parts: Iterable[list[Any]] = ()) -> None:
        self.distinct: list[Any] = []
        self._known: dict[Any, int] = {}
        self._parts: list[IntArray] = []
        for part in parts:
            self.append(part)

    def append(self, labels: list[Any]) -> None:
        """Append the labels of further rows."""
        codes = np.empty(len(labels), dtype=np.int32)
        for row, label in enumerate(labels):
            key = frozenset(label) if isinstance(label, set) else label
            code = self._known.setdefault(key, len(self.distinct))
            if code == len(self.distinct):
                self.distinct.append(label)
            codes[row] = code
        self._parts.append(codes)

    @property
    def codes(self) -> IntArray:
        """Number of the label of each row, of shape (n_samples,)."""
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.zeros(0, np.int32), *self._parts])]
        return self._parts[0]

    def __len__(self) -> int:
        return sum(map(len, self._parts))


def encode_labels(labels: Any, hierarchy: Hierarchy) -> NodeLabels:
    """Return labels in any form, or as `CodedLabels`, as nodes of a hierarchy."""
    if isinstance(labels, CodedLabels):
        return NodeLabels.encode(labels.distinct, hierarchy).take(labels.codes)
    return NodeLabels.encode(labels, hierarchy)


def extend_by(hierarchy: Hierarchy, labels: Any) -> Hierarchy:
    """Add labels that a hierarchy lacks; see `palmette.metrics._pairs.extend_hierarchy`."""
    given = labels.distinct if isinstance(labels, CodedLabels) else labels
    return extend_hierarchy(hierarchy, given)


class StoredTable:
    """The labelled rows of a table, on disk.

    Parameters
    ----------
    rows : Frames
        Rows that have a label.
    labels : CodedLabels
    places : int array, or None if no row is left out
        Positions of these rows in the table.
    n_rows : int
        Number of all rows of the table.
    """

    def __init__(
        self, rows: Frames, labels: CodedLabels, places: IntArray | None, n_rows: int
    ) -> None:
        self.rows = rows
        self.labels = labels
        self.places = places
        self.shape = (n_rows, rows.shape[1])

    def __len__(self) -> int:
        return self.shape[0]


class TableStore:
    """Takes a table in parts, and keeps it in memory or, if it is large, in a scratch folder.

    The folder is removed at the end of a ``with`` block.

    Parameters
    ----------
    model : TableModel
        The model whose target the rows have.
    scratch : path-like, optional
        Folder in which the scratch folder is made; by default that for temporary files.
    tell : callable, optional
        Called with a sentence if the table is large.
    """

    def __init__(
        self,
        model: Any,
        scratch: str | os.PathLike[str] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._model, self._parent = model, scratch
        self._tell = tell or (lambda words: None)
        self._stack = ExitStack()
        self._scratch: Scratch | None = None
        self._rows: Frames | None = None  # None as long as the table is small
        self._small: list[Any] = []
        self._n_bytes = self._n_rows = 0
        self._labels = CodedLabels()
        self._kept: list[NDArray[np.bool_]] = []

    def __enter__(self) -> TableStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def add(self, frame: Any) -> None:
        """Take some rows, a DataFrame with the columns of those before."""
        if self._rows is not None:
            self._write(frame)
            return
        self._small.append(frame)
        self._n_bytes += int(frame.memory_usage(deep=True).sum())
        if self._n_bytes > _MOST_BYTES or sum(map(len, self._small)) > _MOST_ROWS:
            self._scratch = self._stack.enter_context(Scratch(self._parent, "no report was made"))
            self._rows = self._scratch.frames()
            while self._small:
                self._write(self._small.pop(0))

    def finish(self) -> Any:
        """Return the table: a DataFrame, or a `StoredTable`."""
        if self._rows is None or self._scratch is None:
            whole = joined(self._small)
            return whole.reset_index(drop=True) if len(self._small) > 1 else whole
        self._tell(
            f"the table is large: its rows take {self._scratch.n_bytes / _MIB:,.0f} MiB in the "
            f"scratch folder {self._scratch.path}, which is removed at the end"
        )
        if not len(self._rows):
            raise no_labels(self._n_rows, self._model)
        kept = np.concatenate(self._kept)
        places = None if kept.all() else np.flatnonzero(kept).astype(np.int32)
        return StoredTable(self._rows, self._labels, places, self._n_rows)

    def _write(self, frame: Any) -> None:
        """Read the labels of some rows, and write those that have one to disk."""
        assert self._rows is not None
        kept, labels = labels_of_rows(self._model, frame, self._n_rows)
        self._labels.append(labels)
        self._rows.append(frame if kept.all() else frame.iloc[np.flatnonzero(kept)])
        self._kept.append(kept)
        self._n_rows += len(frame)


def labels_of_rows(model: Any, X: Any, first_row: int = 0) -> tuple[NDArray[np.bool_], list[Any]]:
    """Find the rows of a table that have a label, and their labels.

    Labels that are not in the hierarchy are kept where possible, so that the errors on them count.
    With a learned hierarchy, a DAG or several paths per row, such rows are left out like rows
    without a label.

    Parameters
    ----------
    model : TableModel
        A model with the method `read_target`.
    X : DataFrame
    first_row : int
        Number of the first row, from 0, for messages.

    Returns
    -------
    kept : bool array of shape (n_samples,)
    labels : list of the labels of these rows
    """

    if first_row:  # the row of an error is named as in the whole table
        model.target_.read(X, refuse=refusing(first_row))
    known = np.asarray(model.labelled_rows(X), dtype=bool)
    if known.all():
        return known, model.read_target(X)
    written = model.target_.read(X)
    keeps_unknown = not (model.several_paths_ or model.learnt_ or not model.hierarchy_.is_tree)
    kept = known | np.array([keeps_unknown and path is not None for path in written], dtype=bool)
    some = take_rows(X, np.flatnonzero(known).astype(np.int32))
    read = iter(model.read_target(some) if known.any() else ())
    places = np.flatnonzero(kept).tolist()
    return kept, [next(read) if known[row] else written[row] for row in places]


def refusing(first_row: int) -> Callable[[int, str], None]:
    """Return a function that raises the error of a row of a part that begins with some row."""

    def refuse(row: int, words: str) -> None:
        raise PalmetteError(f"row {first_row + row + 1}{words.removeprefix(f'row {row + 1}')}")

    return refuse


def no_labels(n_rows: int, model: Any) -> LabelError:
    """Return the error of a table in which no row has a label."""
    return LabelError(
        f"none of the {n_rows} rows has a label that can be compared with predictions: "
        f"expected labels in {', '.join(model.target_.columns)}."
    )
