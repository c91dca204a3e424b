"""`palmette eval`: measures of the best labels of rows, for many labels of which few are true."""

from __future__ import annotations

import json as json_module
import warnings
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from palmette.cli._options import (
    ColumnNames,
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    HeaderAsFitted,
    Scheduler,
    Sheet,
    Trusted,
    Workers,
    as_fitted,
    load_table_model,
    read_column_names,
    say,
)
from palmette.exceptions import PalmetteError, TableWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from palmette.table import TableModel

__all__ = ["command"]

_MOST_DIFFERENCES = 9  # that are printed


def command(
    model: Annotated[Path, typer.Argument(help="Model file written by palmette fit.")],
    table: Annotated[
        str, typer.Argument(help="Table with the target column. Use - for standard input.")
    ],
    k: Annotated[
        list[int] | None,
        typer.Option(
            "--k",
            help="Number of best labels that are evaluated; repeatable. By default 1, 3 and 5.",
        ),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(
            help="Training table, from which propensities are estimated: rare labels then count "
            "more (PSP@k)."
        ),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write all results to a .json file.")] = None,
    renamed: ColumnNames = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    format: Format = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    header: HeaderAsFitted = None,
    trusted: Trusted = None,
) -> None:
    """Evaluate the best labels that a model suggests: P@k, R@k, F1@k, nDCG@k, hierarchical F1@k.

    Labels that the model does not know count as missed. The figures are the same for any number of
    workers.

    Example: palmette eval model.palmette test.csv --k 1 --k 5
    """
    from palmette.base._clients import started
    from palmette.cli._terminal import Console, plain_table, require_writable
    from palmette.cli.report import read_in_parts
    from palmette.table._sources import TableSource

    ks = sorted(set(k or (1, 3, 5)))
    if ks[0] < 1:
        raise PalmetteError(f"got --k {ks[0]}: expected a positive number of labels.")
    if json is not None:
        require_writable(json, [".json"])
    columns = read_column_names(renamed)
    source = TableSource.of(table, format, encoding=encoding, delimiter=delimiter, sheet=sheet)
    source.require()
    training = None if train is None else TableSource.of(train)
    if training is not None:
        training.require()
    fitted = load_table_model(model, trusted)
    source = as_fitted(fitted, source, header, decimal, date_format)
    with started(workers, scheduler) as client, warnings.catch_warnings():
        counted = None
        if training is not None:
            training = as_fitted(fitted, training, header, decimal, date_format)
            counted = read_in_parts(training, [fitted], {})
        warnings.simplefilter("ignore", TableWarning)  # they are told when the table is read
        found = evaluate(fitted, read_in_parts(source, [fitted], columns), ks, counted, client)
    console = Console()
    shown = plain_table()
    shown.add_column("score", no_wrap=True)
    for each in ks:
        shown.add_column(f"@{each}", justify="right", no_wrap=True)
    for name, values in found["at_k"].items():
        shown.add_row(name, *(f"{value:.4f}" for value in values))
    console.print(shown)
    for name, value in found["predictions"].items():
        console.print(f"{name}: {value:.4f}", highlight=False)
    rows = f"{found['rows']:,} row{'s' * (found['rows'] != 1)}"
    if found["rows_left_out"]:
        rows += f", {found['rows_left_out']:,} without a label left out"
    if unknown := found["unknown_labels"]:
        rows += f", {unknown:,} label{'s' * (unknown != 1)} that the model does not know"
    console.print(rows, highlight=False)
    _print_drift(found["drift"])
    if json is not None:
        from palmette._files import atomic_write

        with atomic_write(json) as file:
            file.write(json_module.dumps({"k": ks, **found}, indent=1) + "\n")
        say(f"wrote {json}")


def _print_drift(drift: list[dict[str, Any]]) -> None:
    """Print where the table differs from the training table, the greatest differences first."""
    differing = [each["sentence"] for each in drift if each["differs"]]
    if differing:
        say("The table differs from the training table:")
    for sentence in differing[:_MOST_DIFFERENCES]:
        say(f"- {sentence}")
    if len(differing) > _MOST_DIFFERENCES:
        say(f"- and {len(differing) - _MOST_DIFFERENCES:,} more: --json FILE has all of them")


def evaluate(
    model: TableModel,
    table: Any,
    ks: list[int],
    training: Any = None,
    client: Any = None,
) -> dict[str, Any]:
    """Evaluate the best labels, and the predictions, of rows with true labels.

    Parameters
    ----------
    model : TableModel
    table : DataFrame, or iterable of DataFrames
        Rows, whole or in parts, of which a few are in memory at a time.
    ks : list of int
    training : DataFrame, or iterable of DataFrames, optional
        Training rows, for propensities.
    client : distributed.Client, optional
        The cluster whose workers predict.

    Returns
    -------
    dict
        ``"at_k"`` has a value per k for every measure, ``"predictions"`` one value, and ``"drift"``
        the comparisons with the training table.
    """
    from palmette import metrics
    from palmette.reporting._parts import call_each, rows_at_once
    from palmette.table._drift import Drift

    if not hasattr(model, "predict_proba"):
        raise PalmetteError(
            "the model has no probabilities, so its labels have no order: use palmette report."
        )
    columns = {label: i for i, label in enumerate(model.class_paths_.tolist())}
    n_known, counted = len(columns), _LabelRows(columns)
    if training is not None:
        for labels, _ in _labelled(model, training):
            counted.append(labels)
    true, best, overlap = _LabelRows(columns), _LabelRows(columns), _Overlap()
    waiting: deque[set[Any]] = deque()  # labels of rows that are not predicted yet
    n_rows, drift = 0, Drift(model)

    def labelled_rows() -> Iterator[Any]:
        nonlocal n_rows
        for labels, frame in _labelled(model, table):
            kept = np.flatnonzero([bool(row) for row in labels])
            n_rows += len(frame)
            drift.add(frame, labels)
            true.append(rows := [set(labels[i]) for i in kept.tolist()])
            waiting.extend(rows)
            yield frame.iloc[kept]

    rows = ((part,) for part in _in_equal_parts(labelled_rows(), rows_at_once(n_known)))
    for ranked, predicted in call_each(_Answers(model, max(ks)), rows, client):
        best.append(ranked)
        overlap.add([waiting.popleft() for _ in ranked], predicted)
    if not len(true):
        raise PalmetteError("no row of the table has a label: there is nothing to evaluate.")
    truth, scores = true.matrix(), best.matrix(ranked=True)
    at_k = {
        "precision": metrics.precision_at_k(truth, scores, k=ks),
        "recall": metrics.recall_at_k(truth, scores, k=ks),
        "F1": metrics.f1_at_k(truth, scores, k=ks),
        "nDCG": metrics.ndcg_at_k(truth, scores, k=ks),
    }
    if training is not None:
        shares = metrics.label_propensities(counted.matrix())
        at_k["PSP"] = metrics.propensity_scored_precision_at_k(
            truth, scores, propensities=shares, k=ks
        )
    unknown = np.unique(truth.indices[truth.indices >= n_known])
    inside = [side[:, :n_known] for side in (truth, scores)]
    at_k["hierarchical F1"] = metrics.hierarchical_precision_recall_fscore_at_k(
        *inside, hierarchy=model.hierarchy_, labels=list(model.class_paths_), k=ks
    )[2]
    return {
        "at_k": {name: np.atleast_1d(values).tolist() for name, values in at_k.items()},
        "predictions": overlap.measures(),
        "rows": len(true),
        "rows_left_out": n_rows - len(true),
        "unknown_labels": len(unknown),
        "drift": [each.facts() for each in drift.differences()],
    }


class _Overlap:
    """Counts true and predicted labels, and those that are both."""

    def __init__(self) -> None:
        self._n_rows = self._n_true = self._n_predicted = self._n_both = 0

    def add(self, true: list[set[Any]], predicted: list[Any]) -> None:
        """Count the labels of further rows."""
        for labels, found in zip(true, predicted, strict=True):
            answer = found if isinstance(found, set) else {found}
            self._n_true += len(labels)
            self._n_predicted += len(answer)
            self._n_both += len(labels & answer)
        self._n_rows += len(true)

    def measures(self) -> dict[str, float]:
        """Return the measures of the predictions by name."""
        return {
            "micro F1 of the predictions": 2 * self._n_both / (self._n_true + self._n_predicted),
            "labels per row, predicted": self._n_predicted / self._n_rows,
            "labels per row, true": self._n_true / self._n_rows,
        }


class _LabelRows:
    """Labels of rows as columns of a sparse matrix.

    Parameters
    ----------
    columns : dict of label to int
        Columns of the labels; gets those that are not in it.
    """

    def __init__(self, columns: dict[Any, int]) -> None:
        self._columns = columns
        self._cells: list[NDArray[np.int32]] = []
        self._sizes: list[NDArray[np.int32]] = []

    def __len__(self) -> int:
        return sum(map(len, self._sizes))

    def append(self, rows: Sequence[Collection[Any]]) -> None:
        """Append the labels of further rows."""
        known = self._columns
        cells = [known.setdefault(label, len(known)) for row in rows for label in row]
        self._cells.append(np.array(cells, dtype=np.int32))
        self._sizes.append(np.array([len(row) for row in rows], dtype=np.int32))

    def matrix(self, ranked: bool = False) -> sparse.csr_array:
        """Return a 0/1 matrix, or scores if rows are rankings, the best label first."""
        from scipy import sparse

        sizes = np.concatenate(self._sizes)
        cells = np.concatenate(self._cells)
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        values = np.ones(len(cells), dtype=bool)
        if ranked:
            width = int(sizes.max(initial=1))
            values = np.arange(len(cells), dtype=np.int64)
            values = (np.repeat(ends[:-1] + width, sizes) - values).astype(np.int32)
        found = sparse.csr_array((values, cells, ends), shape=(len(sizes), len(self._columns)))
        found.sort_indices()
        return found


def _in_equal_parts(frames: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Divide the rows of a stream into parts of `n_rows`, the last of which may have fewer."""
    import pandas as pd

    held: list[Any] = []
    for frame in frames:
        held.append(frame)
        while (n_held := sum(map(len, held))) >= n_rows:
            whole = pd.concat(held) if len(held) > 1 else held[0]
            yield whole.iloc[:n_rows]
            held = [whole.iloc[n_rows:]] if n_held > n_rows else []
    if sum(map(len, held)):
        yield pd.concat(held) if len(held) > 1 else held[0]


def _labelled(model: TableModel, table: Any) -> Iterator[tuple[list[list[Any]], Any]]:
    """Yield the labels of rows, also those that the model does not know, and the rows."""
    from palmette.reporting._stored import refusing
    from palmette.table._target_nodes import find_node

    hierarchy = model.hierarchy_
    known: dict[Any, Any] = {}

    def label_of(path: Any) -> Any:
        """Return the label as the model writes it, or the path itself."""
        if path not in known:
            node, known[path] = find_node(path, hierarchy), path
            if node > 0:
                is_tree = hierarchy.is_tree
                known[path] = hierarchy.path(node) if is_tree else hierarchy.names[node]
        return known[path]

    n_rows = 0
    for part in [table] if hasattr(table, "iloc") else table:
        frame = model.read(part)
        found = []
        for row in model.target_.read(frame, refuse=refusing(n_rows)):
            paths = [] if row is None else row if model.target_.several else [row]
            if model.learnt_:
                paths = [(model.target_.write(path),) for path in paths]
            found.append(list(dict.fromkeys(map(label_of, paths))))
        n_rows += len(frame)
        yield found, frame


@dataclass(frozen=True)
class _Answers:
    """Gives the k most probable labels of rows, best first, and their predictions."""

    model: TableModel
    k: int

    def __call__(self, frame: Any) -> tuple[list[list[Any]], list[Any]]:
        return self.model.best_paths(frame, self.k)[0], self.model.predict_paths(frame)
