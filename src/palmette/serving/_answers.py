"""Answers of a table model to the rows of several requests, by one call of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from palmette._arrays import FloatArray, row_chunks, take_rows
from palmette.exceptions import PalmetteError
from palmette.table import TableModel
from palmette.table._schema import Unread
from palmette.table.answers import (
    best_labels,
    gives_node_proba,
    label_sets,
    node_proba,
    nodes_of,
)

_AT_ONCE = 2**23  # probabilities in memory at a time: 64 MiB, several times
_MAX_KNOWN = 500_000  # nodes in words, of all languages
_DIGITS = 6  # of scores: what a batch changes is far below


@dataclass(frozen=True)
class Question:
    """Rows of a request, and what is asked about them.

    Parameters
    ----------
    rows : list of dict
        Cells of all columns of the model.
    predict : bool
        Whether the decision of the model is wanted, too, and not only its best labels.
    limit : int
        Number of best labels.
    threshold : float
        Minimum score of these labels.
    language : str or None
        Language of labels, of a hierarchy that has some.
    tree : bool
        Whether the nodes above the labels are wanted, too, with their probabilities.
    """

    rows: list[dict[str, Any]]
    predict: bool = False
    limit: int = 10
    threshold: float = 0.0
    language: str | None = None
    tree: bool = False


@dataclass(frozen=True)
class Answer:
    """Answers to the rows of a question, and notes about values that could not be read."""

    rows: list[dict[str, Any]]
    notes: list[str]


class Answerer:
    """Answers questions about rows.

    Parameters
    ----------
    model : TableModel
    language : str, optional
        Language of labels where a question names none.

    Examples
    --------
    >>> from palmette.table import fit_table
    >>> goods = {"name": ["red apple", "green pear", "small saw", "long nail"] * 15,
    ...          "kind": ["Food > Fruit", "Food > Fruit", "Tools > Saws", "Tools > Nails"] * 15}
    >>> model = fit_table(goods, "kind", model="class-tree", columns={"name": "text"}, folds=0)
    >>> [answer] = Answerer(model).answer([Question([{"name": "red pears"}], limit=1)])
    >>> answer.rows[0]["results"][0]["uri"]
    'Food > Fruit'
    """

    def __init__(self, model: TableModel, language: str | None = None) -> None:
        self.model, self.hierarchy = model, model.hierarchy_
        self.has_scores = gives_node_proba(model.estimator_)
        self.labels = Labels(model, language)
        self._labels_of_rows = np.asarray(
            self.hierarchy.index(list(model.class_paths_)), dtype=np.int32
        )
        self._paths = model.path_answers() if self.has_scores and not model.several_paths_ else None

    def warm(self) -> None:
        """Answer one row, which imports and compiles what the first request would wait for."""
        row = {name: "" if kind == "text" else None for name, kind in self.kinds.items()}
        self.answer([Question([row], predict=True)])

    @property
    def kinds(self) -> dict[str, str]:
        """Columns of the model and their kinds."""
        return dict(self.model.schema_.kinds)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer several questions by one call of the model.

        Parameters
        ----------
        questions : sequence of Question

        Returns
        -------
        list of Answer
            The same as that of each question alone.
        """
        frame, notes = self._read([row for question in questions for row in question.rows])
        X = self.model.vectorizer_.transform(frame)
        # those of each question, in the rare case that there are any
        told = [self._read(question.rows)[1] if notes else [] for question in questions]
        asked = [question for question in questions for _ in question.rows]
        found: list[dict[str, Any]] = []
        for rows in row_chunks(X.shape[0], self.hierarchy.n_nodes, _AT_ONCE):
            found += self._some(take_rows(X, rows), asked[rows])
        ends = np.cumsum([len(question.rows) for question in questions]).tolist()
        starts = [0, *ends[:-1]]
        return [Answer(found[a:b], n) for a, b, n in zip(starts, ends, told, strict=True)]

    def _read(self, rows: list[dict[str, Any]]) -> tuple[Any, list[str]]:
        """Return rows as columns of the types that the model has, and what could not be read."""
        import pandas as pd

        unread = Unread()
        names = list(self.kinds)
        # objects: cells are read one by one, whatever the others of their column are
        cells = {i: [row[name] for row in rows] for i, name in enumerate(names)}
        frame = pd.DataFrame(cells, dtype=object).set_axis(names, axis=1)
        cast = self.model.schema_.cast(frame, "the request", unread=unread)
        return cast, [f"{words}." for words in unread.sentences()]

    # ------------------------------------------------------------------ a few rows

    def _some(self, X: Any, asked: Sequence[Question]) -> list[dict[str, Any]]:
        table = self._table(X, asked)
        return [self._row(table, i, question) for i, question in enumerate(asked)]

    def _table(self, X: Any, asked: Sequence[Question]) -> _Table:
        """Compute what is asked for by any of some rows."""
        most = min(max(1, *(each.limit for each in asked)), len(self._labels_of_rows))
        decide = any(question.predict for question in asked)
        trees = any(question.tree for question in asked)
        estimator, h = self.model.estimator_, self.hierarchy
        if self._paths is not None:
            proba = self._paths.class_proba(X)
            nodes = self._paths.nodes(X, proba) if decide else np.empty(0, dtype=np.int32)
            proba = self._paths.calibrated(proba)
            best, scores = self._paths.best(proba, most)
            chosen: list[Any] = []
            values: list[Any] = []
            if decide:
                chosen = [[node] if node > 0 else [] for node in nodes.tolist()]
                values = [[p] for p in self._paths.proba_of(proba, nodes).tolist()]
            return _Table(
                best, scores, chosen, values, self._paths.node_proba(proba) if trees else None
            )
        chosen = self._decisions(X) if decide else []
        if not self.has_scores:
            none = np.zeros((len(asked), 0))
            return _Table(
                none.astype(np.int64), none, chosen, [[None] * len(c) for c in chosen], None
            )
        best, scores = best_labels(estimator, X, h, self._labels_of_rows, most)
        full = node_proba(estimator, X, h) if decide or trees else None  # best labels need fewer
        values = [] if full is None else [full[i, n].tolist() for i, n in enumerate(chosen)]
        return _Table(best, scores, chosen, values, full)

    def _decisions(self, X: Any) -> list[list[int]]:
        """Nodes that the model predicts, without the root."""
        estimator, h = self.model.estimator_, self.hierarchy
        if not self.model.several_paths_:
            return [[n] if n > 0 else [] for n in nodes_of(estimator, X, h).tolist()]
        sets = label_sets(estimator, X, h, self.model.learnt_)
        return [r[r > 0].tolist() for r in np.split(sets.indices, sets.indptr[1:-1])]

    def _row(self, table: _Table, i: int, question: Question) -> dict[str, Any]:
        write = self.labels.writer(question.language)
        scores = table.scores[i, : question.limit]
        kept = int(np.count_nonzero(scores >= question.threshold))
        best = table.best[i, :kept].tolist()
        found: dict[str, Any] = {
            "results": [write(n, s) for n, s in zip(best, scores.tolist(), strict=False)]
        }
        nodes = best
        if question.predict:
            chosen = table.chosen[i]
            labels = [write(n, s) for n, s in zip(chosen, table.values[i], strict=False)]
            texts = [self.labels.text(node) for node in chosen]
            joined = self.model.target_.labels_mark.join(texts)
            found = {"prediction": joined, "labels": labels, **found}
            nodes = [*chosen, *best]
        if question.tree and table.nodes is not None:
            found["nodes"] = self._above(nodes, table.nodes[i], write)
        return found

    def _above(self, nodes: list[int], proba: FloatArray, write: Any) -> list[dict[str, Any]]:
        """Nodes and all that are above them, most probable first, without the root."""
        h = self.hierarchy
        found: dict[int, list[int]] = {}
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node not in found:
                parents = [p for p in np.atleast_1d(h.parents_of(node)).tolist() if p > 0]
                found[node] = parents
                waiting += parents
        order = sorted(found, key=lambda node: (-proba[node], node))
        return [{"id": n, "parents": found[n], **write(n, float(proba[n]))} for n in order]


class _Table(NamedTuple):
    """What the model says about some rows: best labels, decisions, probabilities of nodes."""

    best: Any
    scores: FloatArray
    chosen: list[list[int]]
    values: list[list[float | None]]
    nodes: FloatArray | None


# ---------------------------------------------------------------------- nodes in words


class Labels:
    """Nodes in words: identifier, label in a language, notation, path.

    Parameters
    ----------
    model : TableModel
    language : str, optional
        Language of labels by default; an error if no label has it.
    """

    def __init__(self, model: TableModel, language: str | None = None) -> None:
        self._model, self._h = model, model.hierarchy_
        # labels of learned groups are no thesaurus
        self._vocabulary = None if model.learnt_ else self._h.vocabulary
        self._default: str | None = None
        self._known: dict[tuple[tuple[str, ...], int], dict[str, Any]] = {}
        self.check(language)
        self._default = language

    @property
    def languages(self) -> list[str]:
        """Languages of the labels, those with the most labels first; none without a thesaurus."""
        return [] if self._vocabulary is None else list(self._vocabulary.languages)

    def check(self, language: str | None) -> None:
        """Raise an error for a language that no label has."""
        if language is None:
            return
        if self._vocabulary is None:
            raise PalmetteError(
                f"got the language {language!r}, but the classes of this model have no labels in "
                "languages: leave it out."
            )
        self._vocabulary.fallbacks(language)

    def text(self, node: int) -> str:
        """Return a node as the target of the table has it."""
        h = self._h
        return self._model.label_text(h.path(node) if h.is_tree else h.names[node])

    def writer(self, language: str | None) -> Any:
        """Return a function from a node and its score to a JSON object."""
        words, known = self._vocabulary, self._known
        # many requested languages lead to the same order of the available ones
        tags = () if words is None else words.fallbacks(language or self._default)
        if len(known) > _MAX_KNOWN:
            known.clear()

        def write(node: int, score: float | None) -> dict[str, Any]:
            found = known.get((tags, node))
            if found is None:
                found = known[tags, node] = self._describe(node, tags)
            return {**found, "score": None if score is None else round(float(score), _DIGITS)}

        return write

    def _describe(self, node: int, tags: tuple[str, ...]) -> dict[str, Any]:
        h, words = self._h, self._vocabulary
        name = str(h.names[node])
        notation = None
        uri = self.text(node)
        if words is not None:
            uri = name
            notation = next(iter(words.notations.get(name, ())), None)
        path = None
        if h.is_tree and not self._model.learnt_:
            path = [self._label(str(each), tags) for each in h.path(node)]
        return {
            "uri": uri,
            "label": uri if self._model.learnt_ else self._label(name, tags),
            "notation": notation,
            "path": path,
        }

    def _label(self, name: str, tags: tuple[str, ...]) -> str:
        if self._vocabulary is None:
            return name
        labels = self._vocabulary.preferred
        return next((labels[tag][name] for tag in tags if name in labels[tag]), name)
