"""Predicting the rows of a table in chunks, in constant memory, on one or several cores."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from palmette._arrays import row_chunks, take_rows
from palmette._text import listed
from palmette.exceptions import PalmetteError
from palmette.table._model import TableModel
from palmette.table._reading import CHUNK_ROWS, read_parts, seems_headerless
from palmette.table._schema import Unread
from palmette.table._sources import TableSource
from palmette.table._workers import map_in_order
from palmette.table._writing import OURS
from palmette.table.answers import (
    best_labels,
    gives_node_proba,
    label_sets,
    node_proba,
)

if TYPE_CHECKING:
    import pandas as pd

    from palmette.table._explain import Explainer

_AT_ONCE = 2**23  # probabilities in memory at a time: 64 MiB, several times


@dataclass(frozen=True)
class Wishes:
    """Options of predictions.

    Parameters
    ----------
    top : int
        Number of best labels; 1 for the prediction only.
    confidence : float or None
        Also return the deepest node that is sure enough for this share of right answers; without
        calibration, the deepest one of at least this probability.
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
    n_jobs: int | None = 1,
    form: Callable[[pd.DataFrame], Any] | None = None,
    tell: Callable[[str], None] | None = None,
    client: Any = None,
) -> Generator[Any, None, None]:
    """Predict a table in chunks: its rows, with columns of predictions.

    Parameters
    ----------
    model : TableModel
    source : TableSource
    wishes : Wishes, optional
    rows : int
        Maximum number of rows of a chunk.
    n_jobs : int or None
        Number of processes that predict, which changes no result; None for all cores if the table
        is large: see `palmette.table._workers.map_in_order`.
    form : callable, optional
        Called with every chunk, in the process that predicts it.
    tell : callable, optional
        Called with messages for the user: before the first chunk about columns and a confidence
        without calibration, and after the last about rows and values that could not be read.
    client : distributed.Client, optional
        The cluster whose workers predict, instead of processes of this machine.

    Yields
    ------
    DataFrame, or what `form` returns
        The rows with ``prediction``, ``probability``, and by the options ``prediction_2``,
        ``probability_2``, ...; ``sure``, ``sure_probability``; ``set``; ``explanation``. An empty
        answer has no probability (NaN, an empty cell); that of several labels is the smallest. A
        name that the table already has gets an underscore.
    """
    wishes = wishes or Wishes()
    predictor = _Predictor(model, source.title, wishes, form)
    chunks = _read(model, source, wishes, rows, tell)
    unread = Unread()
    for result, found in map_in_order(predictor, chunks, n_jobs, tell, client):
        unread.update(found)
        yield result
    if tell is not None:
        for sentence in unread.sentences(source.title):
            tell(sentence)
        if source.bad:
            tell(source.bad.sentence(source.title))


class _Chunk(NamedTuple):
    """Some rows of a table, the number of the first one, and their lines."""

    frame: pd.DataFrame
    first_row: int
    lines: Any


def _read(
    model: TableModel, source: TableSource, wishes: Wishes, rows: int, tell: Any
) -> Iterator[_Chunk]:
    """Read the chunks of a table, whose columns are checked before the first."""
    first_row = 1
    for frame, lines in read_parts(source, rows):
        if not source.header:
            frame = model.schema_.named(frame, model.target_.columns, source.title)
        if first_row == 1:
            _check_first(model, frame, wishes, source, tell)
        yield _Chunk(frame, first_row, lines)
        first_row += len(frame)


class _Predictor:
    """A function from a chunk to its rows with predictions, and the values that are not read."""

    def __init__(
        self,
        model: TableModel,
        title: str,
        wishes: Wishes,
        form: Callable[[pd.DataFrame], Any] | None,
    ) -> None:
        self._model, self._title, self._wishes, self._form = model, title, wishes, form
        self._answer = _answerer(model, wishes)

    def __reduce__(self) -> tuple[Any, ...]:
        # each process makes its answers itself: they may hold local functions
        return _Predictor, (self._model, self._title, self._wishes, self._form)

    def __call__(self, chunk: _Chunk) -> tuple[Any, Unread]:
        model, unread = self._model, Unread()
        X = model.features(
            _renamed(chunk.frame, self._wishes.rename), self._title,
            first_row=chunk.first_row, lines=chunk.lines, unread=unread,
        )  # fmt: skip
        found = _beside(chunk.frame, _by_parts(self._answer, X, model.hierarchy_.n_nodes))
        return found if self._form is None else self._form(found), unread


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
                f"{listed(model.schema_.kinds)})."
            )
        if theirs not in frame.columns:
            raise PalmetteError(
                f"--map {ours}={theirs}: {source.title} has no column {theirs!r} (it has: "
                f"{listed(frame.columns)})."
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
    if tell is None:
        return
    if unknown:
        tell(f"columns that the model does not use: {listed(unknown)}")
    if wishes.confidence is not None and model.calibration_ is None:
        tell(
            "the model was not calibrated by rows that folds held out (there were no folds or few "
            f"rows, --calibrate, or several labels per row): nodes need a probability of "
            f"{wishes.confidence:g}, and how many of the answers are right is not known"
        )


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
    found = pd.concat([frame, pd.DataFrame(named, index=frame.index)], axis=1)
    found.attrs[OURS] = list(named)
    return found


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


def _explainer(model: TableModel) -> Explainer:
    from palmette.table._explain import Explainer  # which knows all kinds of models

    return Explainer(model)


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
        self._answers = model.path_answers()
        self._texts = _Texts(model)
        self._explainer = _explainer(model) if wishes.explain else None

    def __call__(self, X: Any) -> dict[str, Any]:
        answers, wishes = self._answers, self._wishes
        proba = answers.class_proba(X)
        nodes = answers.nodes(X, proba)
        proba = answers.calibrated(proba)
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
        self._explainer = _explainer(model) if wishes.explain else None

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
        self._explainer = _explainer(model) if wishes.explain else None

    def __call__(self, X: Any) -> dict[str, Any]:
        model, h = self._model, self._model.hierarchy_
        sets = label_sets(model.estimator_, X, h, model.learnt_)
        rows = [r[r > 0] for r in np.split(sets.indices, sets.indptr[1:-1])]
        found: dict[str, Any] = {"prediction": self._joined(rows)}
        if not self._has_proba:
            return found
        proba = node_proba(model.estimator_, X, h)
        found["probability"] = _least(proba, rows)
        labels = np.asarray(h.index(list(model.class_paths_)))
        if self._wishes.top > 1:
            best, values = best_labels(model.estimator_, X, h, labels, self._wishes.top)
            for k in range(best.shape[1]):
                found[f"label_{k + 1}"] = self._texts.of(best[:, k])
                found[f"label_probability_{k + 1}"] = values[:, k]
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
