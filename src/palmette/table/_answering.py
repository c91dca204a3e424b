"""TableAnswers: how a fitted model of a table reads tables, and what it answers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import row_index
from palmette.table._given_labels import AnswerForm, GivenLabels, frame_of_rows
from palmette.table._reading import as_frame
from palmette.table._sources import TableSource
from palmette.table._target_nodes import canonical_labels, find_node
from palmette.table.answers import (
    PathAnswers,
    best_labels,
    gives_node_proba,
    label_sets,
    node_proba,
    nodes_of,
    write_nodes,
    write_sets,
)

if TYPE_CHECKING:
    from palmette.calibration._chains import ChainCalibration
    from palmette.table._features import TableFeatures
    from palmette.table._schema import Schema
    from palmette.table._target import TargetForm


def _has_proba(self: TableAnswers) -> bool:
    return hasattr(self, "estimator_") and gives_node_proba(self.estimator_)


def _has_sets(self: TableAnswers) -> bool:
    return hasattr(getattr(self, "estimator_", None), "predict_set")


class TableAnswers:
    """The methods of a fitted `TableModel`; see there."""

    estimator_: Any
    vectorizer_: TableFeatures
    schema_: Schema
    target_: TargetForm
    hierarchy_: Hierarchy
    calibration_: ChainCalibration | None
    learnt_: bool
    several_paths_: bool
    classes_: NDArray[Any]
    class_paths_: NDArray[np.object_]
    label_form_: AnswerForm | None
    class_order_: NDArray[np.int64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    summary_: dict[str, Any]

    # ------------------------------------------------------------------ reading

    def check_columns(self, columns: Iterable[str], title: str = "the table") -> list[str]:
        """Raise an error for a table that lacks columns; return those that the model does not use.

        Parameters
        ----------
        columns : iterable of str
            Column names of a table.
        title : str
            Name of the table in the message.

        Returns
        -------
        list of str
            Columns that are neither features nor the target.
        """
        check_is_fitted(self, "estimator_")
        names = list(columns)
        self.schema_.require(names, title, self.target_.columns)
        return [name for name in self.schema_.unknown(names) if name not in self.target_.columns]

    def read(self, table: Any) -> Any:
        """Return a table as a DataFrame; files are read as that of `fit_table` was.

        Parameters
        ----------
        table : DataFrame, name of a file, or array of shape (n_samples, n_features_in_)
            The columns of an array have no names: they are those of the fit, without the target.
        """
        check_is_fitted(self, "estimator_")
        if self.schema_.header or not isinstance(table, str | os.PathLike):
            return as_frame(frame_of_rows(table, self._columns_in()))
        frame = as_frame(TableSource.of(table, header=False))
        return self.schema_.named(frame, self.target_.columns, os.fspath(table))

    def features(
        self, frame: Any, title: str = "the table", first_row: int = 1, **told: Any
    ) -> Any:
        """Return the features of a table's rows, (n_samples, n_features), sparse with texts.

        Numbers and dates that cannot be read are missing values; a `TableWarning` counts them, or
        `unread`: see `Schema.cast`, which takes all further arguments.
        """
        rows = self.read(frame)
        cast = self.schema_.cast(rows, title, first_row, **told)
        return self.vectorizer_.transform(cast)

    def read_target(self, frame: Any) -> Any:
        """Read the labels of a table that has them.

        Parameters
        ----------
        frame : DataFrame or name of a file

        Returns
        -------
        list of n_samples paths, or sets of paths
            In the form of `predict_paths`. A row without a label, or with one that is not in the
            hierarchy, is an error: see `labelled_rows`.
        """
        check_is_fitted(self, "estimator_")
        return self._canonical(self._target_rows(self.read(frame)))

    def _target_rows(self, frame: Any) -> list[Any]:
        rows = self.target_.read(frame)
        gaps = [i for i, row in enumerate(rows) if row is None]
        if gaps:
            raise PalmetteError(
                f"row {gaps[0] + 1} has no target ({len(gaps)} such rows). Drop them first: "
                "frame[model.labelled_rows(frame)]."
            )
        return rows

    def labelled_rows(self, frame: Any) -> NDArray[np.bool_]:
        """Whether each row of a table has a target of the hierarchy: shape (n_samples,)."""
        check_is_fitted(self, "estimator_")
        known: dict[Any, bool] = {}

        def is_known(path: Any) -> bool:
            if path not in known:
                label = (self.target_.write(path),) if self.learnt_ else path
                known[path] = find_node(label, self.hierarchy_) > 0
            return known[path]

        rows = self.target_.read(self.read(frame))
        flags = [
            row is not None and all(map(is_known, row if self.target_.several else [row]))
            for row in rows
        ]
        return np.array(flags, dtype=bool)

    def _canonical(self, rows: list[Any], refuse: Any = None) -> list[Any]:
        if self.several_paths_ and not self.target_.several:
            rows = [[row] for row in rows]
        if self.learnt_:
            write = self.target_.write
            rows = [
                [(write(path),) for path in row] if self.several_paths_ else (write(row),)
                for row in rows
            ]
        labels = canonical_labels(rows, self.hierarchy_, self.several_paths_, refuse=refuse)
        if not self.several_paths_:
            return [a if b is None else b for a, b in zip(rows, labels, strict=True)]
        pairs = zip(rows, labels, strict=True)
        return [{a if b is None else b for a, b in zip(*p, strict=True)} for p in pairs]

    def _columns_in(self) -> list[str]:
        """Return the names of the columns of rows without names.

        SHAP sets ``feature_names_in_`` to None, so this one is not read.
        """
        names = [n for n in self.schema_.table_columns if n not in self.target_.columns]
        return names or list(self.schema_.kinds)

    # ------------------------------------------------------------------ predicting

    def predict(self, frame: Any) -> Any:
        """Predict the labels of a table's rows.

        Parameters
        ----------
        frame : DataFrame, name of a file, or array of n_samples rows

        Returns
        -------
        labels of n_samples rows
            After ``fit(X, y)`` in the form of y. After `fit_table` a list of paths, tuples of names
            from the top, or of names in a DAG; of sets of them if rows may have several.
        """
        rows = self.read(frame)
        paths = self.predict_paths(rows)
        if self.label_form_ is None:
            return paths
        if self.several_paths_ and not self.label_form_.several:
            paths = self._one_each(rows, paths)
        return self.label_form_.write(paths, self.label_text, row_index(frame))

    def predict_paths(self, frame: Any) -> list[Any]:
        """Predict the paths of a table's rows, or sets of them, whatever the form of y."""
        return self._predictions().paths(self.features(frame))

    def _one_each(self, rows: Any, answers: list[Any]) -> list[Any]:
        """Return one label per row below a DAG, whose answers are sets."""
        if all(len(each) == 1 for each in answers):
            return [next(iter(each)) for each in answers]
        if not _has_proba(self):
            raise PalmetteError(
                "rows may have several labels, since the hierarchy is a DAG, and the model has no "
                "probabilities to choose one by: pass y as sets of labels, or calibrate=."
            )
        best, _ = self._predictions().best(self.features(rows), 1)
        return [row[0] for row in best]

    @available_if(_has_proba)
    def predict_proba(self, frame: Any) -> FloatArray:
        """Probabilities of the labels: (n_samples, n_classes), columns as in ``classes_``."""
        proba = self._predictions().class_proba(self.features(frame))
        return proba if self.label_form_ is None else proba[:, self.class_order_]

    @available_if(_has_proba)
    def predict_top_k(self, frame: Any, k: int = 5) -> tuple[list[list[Any]], FloatArray]:
        """Return the best labels of a table's rows, best first.

        Parameters
        ----------
        frame : DataFrame, name of a file, or array of n_samples rows
        k : int

        Returns
        -------
        labels : list of n_samples lists of k labels
            As in ``classes_``; fewer if there are fewer. If a row may have several labels, they are
            ranked by the probability that it has this very label, not anything below it.
        proba : array of shape (n_samples, k)
        """
        best, proba = self.best_paths(frame, k)
        if (form := self.label_form_) is not None:
            best = [[form.label(path, self.label_text) for path in row] for row in best]
        return best, proba

    @available_if(_has_proba)
    def best_paths(self, frame: Any, k: int) -> tuple[list[list[Any]], FloatArray]:
        """Return what `predict_top_k` does with paths for labels, whatever the form of y."""
        return self._predictions().best(self.features(frame), k)

    @available_if(_has_proba)
    def predict_node_proba(self, frame: Any) -> FloatArray:
        """Probabilities of all nodes of ``hierarchy_``: (n_samples, n_nodes)."""
        X = self.features(frame)
        if self.calibration_ is None:
            return node_proba(self.estimator_, X, self.hierarchy_)
        answers = self.path_answers()
        return answers.node_proba(answers.calibrated(answers.class_proba(X)))

    @available_if(_has_sets)
    def predict_set(self, frame: Any) -> Any:
        """Sets of nodes with the chosen coverage; see `ConformalHierarchicalClassifier`."""
        return self.estimator_.predict_set(self.features(frame))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Hierarchical F1 of the predictions.

        Labels that the model has not seen are wrong, but for the part of their path that it knows.

        Parameters
        ----------
        X : DataFrame, name of a file, or array of n_samples rows
        y : labels of n_samples rows, optional
            By default those in the target column of X.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        from palmette.metrics._scorers import SCORERS

        frame = self.read(X)
        truth = self._truth(frame, y)
        predicted = self.predict_paths(frame)
        scorer = SCORERS["hierarchical_f1"]
        return float(scorer.score_labels(self, truth, predicted, sample_weight))

    def _truth(self, frame: Any, y: Any) -> Any:
        """Return true labels as paths, also those that are not in the hierarchy."""
        if y is not None and self.label_form_ is None:
            return y
        if y is None:
            rows = self._target_rows(frame)
        else:
            given = GivenLabels.read(y, len(frame), (), self.target_.separator)
            paths = given.paths()
            if paths is None:  # texts of one column are read as those of the fit were
                [cells] = given.columns.values()
                found = self.target_.read(frame.assign(**{self.target_.columns[-1]: cells}))
                paths = [[] if row is None else row for row in found]  # an empty set
            rows = paths
        return self._canonical(rows, refuse=lambda row, why: None)

    def explain(self, frame: Any) -> list[str]:
        """Say what the predictions of a table's rows rest on.

        Parameters
        ----------
        frame : DataFrame, name of a file, or array of n_samples rows

        Returns
        -------
        list of n_samples str
            The probabilities along the path, and the features with the largest weights of a linear
            model, or the most similar training rows of a forest, by their numbers from 1.
        """
        from palmette.table._explain import Explainer

        X = self.features(frame)
        h = self.hierarchy_
        explainer = Explainer(self)
        if self.several_paths_:
            return explainer.near_rows(X)
        proba = self.predict_node_proba(frame) if _has_proba(self) else None
        return explainer.explain(X, nodes_of(self.estimator_, X, h), proba)

    def _predictions(self) -> _OnePath | _SeveralPaths:
        parts = self.estimator_, self.hierarchy_, self.class_paths_
        if self.several_paths_:
            return _SeveralPaths(*parts, self.learnt_)
        return _OnePath(self)

    def path_answers(self) -> PathAnswers:
        """Return the answers of the estimator on features, for one path per row."""
        return PathAnswers(self.estimator_, self.hierarchy_, self.calibration_)

    def label_text(self, path: Any) -> str:
        """Write a path as in the table; only the label in a learned hierarchy or a thesaurus."""
        if not isinstance(path, tuple):
            path = (path,) if self.learnt_ else str(path)
        if isinstance(path, str):
            return path
        if self.learnt_ and path:
            words = self.hierarchy_.vocabulary
            return str((words and words.label(str(path[-1]))) or path[-1])
        is_name = self.target_.writes_names(self.hierarchy_)
        return str(path[-1]) if is_name and path else self.target_.write(path)


class _OnePath(NamedTuple):
    """Predictions of a model with one path per row."""

    model: TableAnswers

    def paths(self, X: Any) -> list[Any]:
        h = self.model.hierarchy_
        return write_nodes(nodes_of(self.model.estimator_, X, h), h)

    def class_proba(self, X: Any) -> FloatArray:
        answers = self.model.path_answers()
        return answers.calibrated(answers.class_proba(X))

    def best(self, X: Any, k: int) -> tuple[list[list[Any]], FloatArray]:
        nodes, proba = self.model.path_answers().best(self.class_proba(X), k)
        return [write_nodes(row, self.model.hierarchy_) for row in nodes], proba


class _SeveralPaths(NamedTuple):
    """Predictions of a model with several paths per row."""

    estimator: Any
    hierarchy: Hierarchy
    classes: NDArray[np.object_]
    learnt: bool

    def paths(self, X: Any) -> list[Any]:
        sets = label_sets(self.estimator, X, self.hierarchy, self.learnt)
        return write_sets(sets, self.hierarchy)

    def class_proba(self, X: Any) -> FloatArray:
        full = node_proba(self.estimator, X, self.hierarchy)
        return full[:, self.hierarchy.index(list(self.classes))]

    def best(self, X: Any, k: int) -> tuple[list[list[Any]], FloatArray]:
        labels = np.asarray(self.hierarchy.index(list(self.classes)))
        nodes, proba = best_labels(self.estimator, X, self.hierarchy, labels, k)
        texts = write_nodes(nodes.ravel(), self.hierarchy)
        width = nodes.shape[1]
        return [texts[i : i + width] for i in range(0, len(texts), width)], proba


def class_paths(estimator: Any, hierarchy: Hierarchy) -> NDArray[np.object_]:
    """Paths of the labels of a model, in the order of its nodes; names in a DAG."""
    if hasattr(estimator, "estimator_") and not hasattr(estimator, "classes_"):
        nodes = np.sort(np.asarray(estimator.estimator_.classes_, dtype=np.int64))
    else:
        nodes = np.sort(np.asarray(hierarchy.index(list(estimator.classes_)), dtype=np.int64))
    classes = np.empty(len(nodes), dtype=object)
    for i, node in enumerate(nodes.tolist()):
        classes[i] = hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]
    return classes
