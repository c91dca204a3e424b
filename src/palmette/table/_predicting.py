"""Predicting the rows of a table in chunks, and writing them, in constant memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from palmette import _text as text
from palmette._arrays import row_chunks, take_rows
from palmette._files import atomic_write
from palmette.exceptions import PalmetteError
from palmette.table._explain import Explainer
from palmette.table._model import TableModel
from palmette.table._reading import CHUNK_ROWS, read_parts, seems_headerless
from palmette.table._schema import Unread
from palmette.table._sources import TableSource
from palmette.table.answers import PathAnswers, gives_node_proba, node_proba, node_sets

if TYPE_CHECKING:
    import pandas as pd

OUTPUTS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq")


_AT_ONCE = 2**23  # probabilities in memory at a time: 64 MiB, several times


@dataclass(frozen=True)
class Wishes:
    """Options of predictions.

    Parameters
    ----------
    top : int
        Number of best labels; 1 for the prediction only.
    confidence : float or None
        Also return the deepest node with at least this probability.
    explain : bool
        Also return explanations.
    rename : dict of str to str
        Columns of the model and their names in the table.
    """

    top: int = 1
    confidence: float | None = None
    explain: bool = False
    rename: Mapping[str, str] = field(default_factory=dict)


def predict_chunks(
    model: TableModel,
    source: TableSource,
    wishes: Wishes | None = None,
    *,
    rows: int = CHUNK_ROWS,
    tell: Callable[[str], None] | None = None,
) -> Iterator[pd.DataFrame]:
    """Predict a table in chunks: its rows, with columns of predictions.

    Parameters
    ----------
    model : TableModel
    source : TableSource
    wishes : Wishes, optional
    rows : int
        Maximum number of rows of a chunk.
    tell : callable, optional
        Called with messages for the user: before the first chunk about columns, and after the last
        about rows and values that could not be read.

    Yields
    ------
    DataFrame
        The rows with ``prediction``, ``probability``, and by the options ``prediction_2``,
        ``probability_2``, ...; ``sure``, ``sure_probability``; ``set``; ``explanation``. An empty
        answer has no probability (NaN, an empty cell); that of several labels is the smallest. A
        name that the table already has gets an underscore.
    """
    wishes = wishes or Wishes()
    answer = _answerer(model, wishes)
    first_row = 1
    unread = Unread()
    for frame, lines in read_parts(source, rows):
        if not source.header:
            frame = model.schema_.named(frame, model.target_.columns, source.title)
        if first_row == 1:
            _check_first(model, frame, wishes, source, tell)
        renamed = _renamed(frame, wishes.rename)
        X = model.features(renamed, source.title, first_row=first_row, lines=lines, unread=unread)
        yield _beside(frame, _by_parts(answer, X, model.hierarchy_.n_nodes))
        first_row += len(frame)
    if tell is not None:
        for sentence in unread.sentences(source.title):
            tell(sentence)
        if source.bad:
            tell(source.bad.sentence(source.title))


def _by_parts(answer: Callable[[Any], dict[str, Any]], X: Any, n_nodes: int) -> dict[str, Any]:
    """Predict so few rows at a time that the probabilities of all nodes fit in memory."""
    parts = [answer(take_rows(X, rows)) for rows in row_chunks(X.shape[0], n_nodes, _AT_ONCE)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _check_first(
    model: TableModel, frame: Any, wishes: Wishes, source: TableSource, tell: Any
) -> None:
    """Check the columns of a table before any work."""
    for ours, theirs in wishes.rename.items():
        if ours not in model.schema_.kinds:
            raise PalmetteError(
                f"--map {ours}={theirs}: the model has no column {ours!r} (it has: "
                f"{', '.join(model.schema_.kinds)})."
            )
        if theirs not in frame.columns:
            raise PalmetteError(
                f"--map {ours}={theirs}: {source.title} has no column {theirs!r} (it has: "
                f"{', '.join(map(str, frame.columns))})."
            )
    try:
        unknown = model.check_columns(_renamed(frame, wishes.rename).columns, source.title)
    except PalmetteError as error:
        name = seems_headerless(frame) if source.header else ""
        if not name:
            raise
        raise PalmetteError(
            f"{error} The first line looks like data rather than names of columns, such as "
            f"{name!r}: if it has no names, pass --no-header."
        ) from error
    unknown = [name for name in unknown if name not in wishes.rename.values()]
    if unknown and tell is not None:
        tell(f"columns that the model does not use: {', '.join(unknown)}")


def _renamed(frame: Any, rename: Mapping[str, str]) -> Any:
    return frame.assign(**{ours: frame[theirs] for ours, theirs in rename.items()})


def _beside(frame: pd.DataFrame, answers: dict[str, Any]) -> pd.DataFrame:
    """Add columns of predictions; names that exist get an underscore."""
    import pandas as pd

    taken = set(frame.columns)
    named = {}
    for name, values in answers.items():
        while name in taken:
            name += "_"
        named[name] = values
    return pd.concat([frame, pd.DataFrame(named, index=frame.index)], axis=1)


# ---------------------------------------------------------------------- answers


def _answerer(model: TableModel, wishes: Wishes) -> Callable[[Any], dict[str, Any]]:
    """Return a function from features to columns of answers."""
    has_proba = gives_node_proba(model.estimator_)
    if not has_proba and (wishes.top > 1 or wishes.confidence is not None):
        raise PalmetteError(
            f"the model {model.summary_.get('model')} has no probabilities, which --top and "
            "--confidence need. Fit it again with --calibrate sigmoid, or another model, such as "
            "--model class-tree."
        )
    if model.several_paths_:
        return _SeveralAnswers(model, wishes, has_proba)
    if not has_proba:
        return _BareAnswers(model, wishes)
    return _OneAnswer(model, wishes)


class _Texts:
    """Texts of nodes, each made once."""

    def __init__(self, model: TableModel) -> None:
        h = model.hierarchy_
        self._h, self._write = h, model.label_text
        self._table = np.full(h.n_nodes, None, dtype=object)
        self._table[0] = ""

    def of(self, nodes: Any) -> Any:
        """Return the texts of nodes."""
        for node in np.unique(nodes).tolist():
            if self._table[node] is None:
                path = self._h.path(node) if self._h.is_tree else self._h.names[node]
                self._table[node] = self._write(path)
        return self._table[nodes]


class _OneAnswer:
    """One path per row, with probabilities."""

    def __init__(self, model: TableModel, wishes: Wishes) -> None:
        self._model, self._wishes = model, wishes
        self._answers = PathAnswers(model.estimator_, model.hierarchy_)
        self._texts = _Texts(model)
        self._explainer = Explainer(model) if wishes.explain else None

    def __call__(self, X: Any) -> dict[str, Any]:
        answers, wishes = self._answers, self._wishes
        proba = answers.class_proba(X)
        nodes = answers.nodes(X, proba)
        found = {"prediction": self._texts.of(nodes), "probability": self._proba_of(proba, nodes)}
        if wishes.top > 1:
            best, values = answers.best(proba, min(wishes.top, proba.shape[1]))
            for k in range(1, best.shape[1]):
                found[f"prediction_{k + 1}"] = self._texts.of(best[:, k])
                found[f"probability_{k + 1}"] = values[:, k]
        if wishes.confidence is not None:
            sure = answers.sure(proba, wishes.confidence)
            found["sure"] = self._texts.of(sure)
            found["sure_probability"] = self._proba_of(proba, sure)
        if hasattr(self._model.estimator_, "predict_set"):
            found["set"] = _set_texts(self._model, X, self._texts)
        if self._explainer is not None:
            found["explanation"] = self._explainer.explain(X, nodes, answers.node_proba(proba))
        return found

    def _proba_of(self, proba: Any, nodes: Any) -> Any:
        """Probabilities of nodes; an empty answer, the root, has none (its would always be 1)."""
        return np.where(nodes > 0, self._answers.proba_of(proba, nodes), np.nan)


class _BareAnswers:
    """One path per row, without probabilities."""

    def __init__(self, model: TableModel, wishes: Wishes) -> None:
        self._model, self._texts = model, _Texts(model)
        self._explainer = Explainer(model) if wishes.explain else None

    def __call__(self, X: Any) -> dict[str, Any]:
        from palmette.table.answers import nodes_of

        nodes = nodes_of(self._model.estimator_, X, self._model.hierarchy_)
        found: dict[str, Any] = {"prediction": self._texts.of(nodes)}
        if self._explainer is not None:
            found["explanation"] = self._explainer.explain(X, nodes, None)
        return found


class _SeveralAnswers:
    """Several paths per row: labels joined by the separator of the target."""

    def __init__(self, model: TableModel, wishes: Wishes, has_proba: bool) -> None:
        self._model, self._wishes, self._has_proba = model, wishes, has_proba
        self._texts = _Texts(model)
        self._mark = model.target_.labels_mark
        self._explainer = Explainer(model) if wishes.explain else None

    def __call__(self, X: Any) -> dict[str, Any]:
        model, h = self._model, self._model.hierarchy_
        sets = node_sets(model.estimator_, X, h)
        rows = [r[r > 0] for r in np.split(sets.indices, sets.indptr[1:-1])]
        found: dict[str, Any] = {"prediction": self._joined(rows)}
        if not self._has_proba:
            return found
        proba = node_proba(model.estimator_, X, h)
        found["probability"] = _least(proba, rows)
        labels = np.asarray(h.index(list(model.classes_)))
        if self._wishes.top > 1:
            order = np.argsort(-proba[:, labels], axis=1, kind="stable")[:, : self._wishes.top]
            for k in range(order.shape[1]):
                best = labels[order[:, k]]
                found[f"label_{k + 1}"] = self._texts.of(best)
                found[f"label_probability_{k + 1}"] = proba[np.arange(len(proba)), best]
        if self._wishes.confidence is not None:
            sure = self._sure(proba)
            found["sure"], found["sure_probability"] = self._joined(sure), _least(proba, sure)
        if self._explainer is not None:
            written = [[f"{self._texts.of(n)} {proba[i, n]:.2f}" for n in row]
                       for i, row in enumerate(rows)]  # fmt: skip
            near = self._explainer.near_rows(X)
            found["explanation"] = [
                " | ".join(part for part in ("; ".join(each), like) if part)
                for each, like in zip(written, near, strict=True)
            ]
        return found

    def _sure(self, proba: Any) -> list[Any]:
        """Most specific nodes of every row with enough probability."""
        h = self._model.hierarchy_
        at_least = proba >= self._wishes.confidence
        at_least[:, 0] = True
        # a node with a child of enough probability is implied by it
        above = np.zeros_like(at_least)
        for node in range(1, h.n_nodes):
            for parent in np.atleast_1d(h.parents_of(node)).tolist():
                above[:, parent] |= at_least[:, node]
        kept = at_least & ~above
        return [np.flatnonzero(row[1:]) + 1 for row in kept]

    def _joined(self, rows: list[Any]) -> list[str]:
        return [self._mark.join(self._texts.of(row).tolist()) for row in rows]


def _least(proba: Any, rows: list[Any]) -> Any:
    """Probability of the least probable label of every row; NaN without labels."""
    return np.array([proba[i, row].min() if len(row) else np.nan for i, row in enumerate(rows)])


def _set_texts(model: TableModel, X: Any, texts: _Texts) -> list[str]:
    """Texts of the sets of nodes that contain the truth with the chosen coverage."""
    sets = model.estimator_.predict_set_nodes(X)
    mark = model.target_.labels_mark
    return [
        mark.join(texts.of(row[row > 0]).tolist())
        for row in np.split(sets.indices, sets.indptr[1:-1])
    ]


# ---------------------------------------------------------------------- writing


class TableWriter(Protocol):
    """A writer of the chunks of a table."""

    def write(self, frame: pd.DataFrame) -> None:
        """Write some rows; all chunks have the same columns."""


@contextmanager
def open_writer(path: Path | None, excel_safe: bool = False) -> Iterator[TableWriter]:
    """Open a table for writing, by its suffix; None is CSV on the standard output.

    A file appears under its name after everything is written; after an error there is no file.

    Parameters
    ----------
    path : Path or None
    excel_safe : bool
        Whether cells of CSV and TSV that look like formulas begin with an apostrophe.
    """
    change = text.excel_safe if excel_safe else None
    if path is None:
        # what a terminal shows must not control it
        yield _Delimited(sys.stdout, ",", _visible if sys.stdout.isatty() else change)
        sys.stdout.flush()
        return
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        with atomic_write(path, "wb") as stream:
            writer = _Parquet(stream)
            try:
                yield writer
                writer.close()
            finally:
                writer.drop()
        return
    if suffix not in OUTPUTS:
        raise PalmetteError(f"cannot write {path}: expected a suffix in {', '.join(OUTPUTS)}.")
    with atomic_write(path) as stream:
        if suffix in (".jsonl", ".ndjson"):
            yield _JsonLines(stream)
        else:
            yield _Delimited(stream, "\t" if suffix == ".tsv" else ",", change)


_Change = Callable[[Any], Any]


def _visible(cell: Any) -> Any:
    return text.visible(cell) if isinstance(cell, str) else cell


class _Delimited:
    def __init__(self, stream: Any, delimiter: str, change: _Change | None) -> None:
        self._change = change
        self._writer = text.csv_writer(stream, delimiter)
        self._begun = False

    def write(self, frame: pd.DataFrame) -> None:
        rows: Iterator[Any] = zip(*(_written(frame[name]) for name in frame.columns), strict=True)
        if not self._begun:
            rows = chain([frame.columns], rows)
            self._begun = True
        if self._change is not None:
            rows = (map(self._change, row) for row in rows)
        self._writer.writerows(rows)


class _JsonLines:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, frame: pd.DataFrame) -> None:
        columns = [[_plain(cell) for cell in frame[name].tolist()] for name in frame.columns]
        names = list(frame.columns)
        for row in zip(*columns, strict=True):
            record = dict(zip(names, row, strict=True))
            line = json.dumps(record, ensure_ascii=False, default=str)
            self._stream.write(text.visible(line) + "\n")


class _Parquet:
    """Columns have the types of the first chunk; other types are errors."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._writer: Any = None

    def write(self, frame: pd.DataFrame) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            if self._writer is None:
                table = pa.Table.from_pandas(frame, preserve_index=False)
                fields = [
                    # a column without values may have strings in later chunks
                    pa.field(f.name, pa.string()) if pa.types.is_null(f.type) else f
                    for f in table.schema.remove_metadata()
                ]
                self._schema = pa.schema(fields)
                self._writer = pq.ParquetWriter(self._stream, self._schema)
            table = pa.Table.from_pandas(frame, schema=self._schema, preserve_index=False)
        except (pa.ArrowException, TypeError) as error:
            raise PalmetteError(
                f"the rows cannot be written as Parquet ({error}). Write CSV or JSON lines."
            ) from error
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def drop(self) -> None:
        if self._writer is not None:  # after an error it would write its end to a closed file
            self._writer.is_open = False


def _written(column: pd.Series[Any]) -> list[Any]:
    """Cells of a column as written; empty for missing values."""
    if column.dtype.kind == "f":
        return ["" if x != x else format(x, ".6g") for x in column.tolist()]
    if column.dtype.kind == "O":
        return ["" if cell is None or cell != cell else cell for cell in column.tolist()]
    cells = column.tolist()
    return ["" if cell is None or cell != cell else cell for cell in cells]


def _plain(cell: Any) -> Any:
    if isinstance(cell, np.ndarray):
        return cell.tolist()
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, float) and not np.isfinite(cell):
        return None
    return cell
