"""fit_table and TableModel: from a table to a model, and from its rows to paths of a hierarchy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from palmette.calibration._chains import ChainCalibration
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._vocabulary import Languages
from palmette.persistence._acting import harmless
from palmette.persistence.checks import held
from palmette.table._class_weights import check_class_weight
from palmette.table._clock import Clock
from palmette.table._features import TableFeatures
from palmette.table._final import finish
from palmette.table._fit import Race, Wrapping, check_options, summarize
from palmette.table._problem import read_problem
from palmette.table._reading import as_frame
from palmette.table._schema import Schema
from palmette.table._shown import reading_lines
from palmette.table._sources import BadRows, TableSource
from palmette.table._target import TargetForm
from palmette.table._target_nodes import canonical_labels, find_node
from palmette.table._written import Given
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

FloatArray = NDArray[np.float64]


def fit_table(
    table: Any,
    target: str | Sequence[str],
    *,
    hierarchy: Any = None,
    model: str = "auto",
    time: float | None = 60.0,
    settings: Mapping[str, Any] | None = None,
    separator: str | None = None,
    labels_separator: str | None = None,
    merge_case: bool = False,
    max_depth: int | None = None,
    columns: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    decimal: Given = None,
    date_format: Given = None,
    header: bool = True,
    skip_bad_rows: bool = False,
    bad_rows: str | os.PathLike[str] | None = None,
    text: str = "tfidf",
    folds: int = 3,
    calibrate: str | None = None,
    coverage: float | None = None,
    search: bool = False,
    class_weight: str | None = None,
    use_labels: bool | str = False,
    language: Languages | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: float | None = None,
    scratch: str | os.PathLike[str] | None = None,
    client: Any = None,
    yes: bool = False,
    verbose: bool = False,
    watch: Callable[[str, float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> TableModel:
    """Fit a model that predicts the target of a table from its other columns.

    Parameters
    ----------
    table : DataFrame, dict of columns, or name of a file or folder
        CSV, TSV, JSON lines, Parquet or Excel, compressed or not; a folder has parts of a table,
        which are read by name.
    target : str or sequence of str
        Column to predict; several are the levels of a path, from the top. Rows without a target
        are left out.
    hierarchy : Hierarchy, path-like, "learn", "learn:METHOD" or learner, optional
        Hierarchy of the classes; by default that of the paths in the target. A learner is fitted on
        the training rows of every fold.
    model : str
        A name of the registry (`palmette models`), or "auto": the best model with probabilities of
        a tournament by cross-validation.
    time : float or None
        Limit in seconds for everything but the compilation of kernels, which happens once per
        installation; None for no limit. If there is no time to fit all rows, the final model is
        fitted on a part of them. With a named model and ``folds=0`` the fit is always completed.
        Ctrl-C ends the comparison of models, and the best so far is returned.
    settings : dict, optional
        Parameters of a named model.
    separator : str, optional
        Separator of the names of a path in a target cell; found by default. An empty string means
        that cells are plain names.
    labels_separator : str, optional
        Separator of several paths in a cell.
    merge_case : bool
        Read names of classes that differ in case or spaces only as one, in the spelling of a given
        tree or else the most frequent one; by default they are different classes, and are named.
    max_depth : int, optional
        Number of levels at which the paths of the target are cut.
    columns : dict of str to str, optional
        Kinds of columns that are not inferred: "text", "category", "number" or "date". Values that
        cannot be read as such are missing, and are counted. Identifiers are left out unless their
        kind is given.
    drop : sequence of str
        Columns that are not used.
    decimal : {".", ","}, or dict of str to str, optional
        Decimal mark of numbers that are texts, for all columns or by column; found by default.
    date_format : str, or dict of str to str, optional
        Format of dates that are texts, as of `strptime`, for all columns or by column; several
        are separated by ``|``. Found by default.
    header : bool
        Whether the first line of a file has the names of the columns; else they are col1, col2,
        ..., also in the files that the model predicts.
    skip_bad_rows : bool
        Skip rows of a file that cannot be read, or whose target is no path of the hierarchy, and
        count them; by default the first one is an error.
    bad_rows : path-like, optional
        CSV file that gets the skipped rows: line, reason and text. Implies `skip_bad_rows`.
    text : {"tfidf", "hashing"}
        Features of texts; see `palmette.table.TextVectorizer`.
    folds : int
        Number of folds of cross-validation; 0 for none, with a named model.
    calibrate : {"isotonic", "sigmoid", "temperature"}, optional
        Calibrate the probabilities of the final model.
    coverage : float, optional
        Also predict sets of nodes that contain the truth with this probability.
    search : bool
        Whether the two main parameters of the best two models are searched too, as time allows.
    class_weight : {"balanced", "none"}, optional
        With "balanced", all labels have the same total weight of rows; with several labels per row
        models that can do so balance the positive and the negative rows of each label.
    use_labels : bool or "all"
        Whether labels of a thesaurus, preferred and alternative ones, are added as training rows:
        those of concepts with rows, or of all. They are never rows that a score is computed on, and
        cannot be combined with `calibrate` and `coverage`. See `palmette.table.label_rows`.
    language : str or sequence of str, optional
        Languages of these labels; by default that of most labels.
    seed : int
    n_jobs : int, optional
    memory : float, optional
        Memory in GiB that the fit may need, approximately; by default half of what is free. Of a
        file or folder that needs more, models are compared on a sample of the rows, and the best
        one is fitted on all rows if it can read them from disk, else on as many as fit.
    scratch : path-like, optional
        Folder for the features of such a table; by default that of the system for temporary files.
    client : distributed.Client or str, optional
        Dask cluster, or the address of its scheduler, for the models that can use one.
    yes : bool
        Take the likely reading of a table that can be read in several ways, where a wrong one would
        spoil the model, such as a target of prices; by default it is an `AmbiguousTableError`.
    verbose : bool
        Whether `tell` is told about every column.
    watch : callable, optional
        Called with the current step and the seconds spent, at every step and every second.
    tell : callable, optional
        Called with messages for the user, one sentence at a time.

    Returns
    -------
    TableModel

    Examples
    --------
    >>> things = ["apple", "pear", "saw", "nail"] * 15
    >>> goods = {"name": [f"{thing} {i}" for i, thing in enumerate(things)],
    ...          "kind": ["Food > Fruit", "Food > Fruit", "Tools > Saws", "Tools > Nails"] * 15}
    >>> model = fit_table(goods, target="kind", model="local-per-parent", folds=2)
    >>> model.summary_["leaderboard"][0]["hierarchical_f1"]
    1.0
    """
    clock = Clock(time, watch, tell)
    check_options(model, settings, folds, time, coverage, calibrate)
    class_weight = check_class_weight(class_weight)
    if use_labels and (calibrate is not None or coverage is not None):
        raise PalmetteError(
            "use_labels= adds rows that are not a sample of the table, so nothing can be "
            "calibrated on them: leave out calibrate= and coverage=, or use_labels=."
        )
    say = tell or (lambda words: None)
    clock.step("reading the table")
    bad = BadRows() if skip_bad_rows or bad_rows is not None else None
    read = partial(
        read_problem, table, target, hierarchy=hierarchy, separator=separator,
        labels_separator=labels_separator, merge_case=merge_case, max_depth=max_depth,
        columns=columns, drop=drop, decimal=decimal, date_format=date_format, header=header,
        bad=bad, seed=seed, n_jobs=n_jobs, tell=tell, memory=memory, tick=clock.step,
        use_labels=use_labels, language=language, yes=yes,
    )  # fmt: skip
    try:
        problem = clock.within(np.inf, read)
    finally:
        if bad is not None and bad_rows is not None:
            bad.write(bad_rows)
    for line in reading_lines(problem, text, verbose):
        say(line)
    race = Race(
        problem, model, settings, text, folds, seed, n_jobs, clock, search, class_weight, memory,
        scratch, client,
    )  # fmt: skip
    wrapping = Wrapping(calibrate, coverage)
    name, board, tournament = race.run(wrapping)
    if tournament is not None and tournament.interrupted is not None:
        say(f"interrupted: {name} is the best so far, and is finished now")
    final = finish(problem, name, race, wrapping, tournament, say, clock)
    name = race.base(final.name)
    summary = summarize(problem, name, board, final.seconds, clock, text, seed, wrapping)
    summary["settings"] = harmless(race.settings_of(final.name))
    summary["winner"], summary["interrupted"] = final.name, final.interrupted
    summary["rows_fitted"], summary["class_weight"] = final.n_rows, class_weight
    if use_labels:
        asked = language if language is None or isinstance(language, str) else list(language)
        summary["use_labels"], summary["language"] = use_labels, asked
    summary["rows_skipped"], summary["rows_repeated"] = problem.n_bad, problem.n_duplicates
    summary["columns_left_out"] = dict(problem.schema.left_out)
    summary["notes"] = list(problem.notes)
    fitted = TableModel.assemble(
        name,
        estimator=final.estimator,
        vectorizer=final.vectorizer,
        schema=problem.schema,
        target=problem.target,
        hierarchy=final.hierarchy,
        calibration=final.calibration,
        learner=problem.learner,
        several_paths=problem.several_paths or not final.hierarchy.is_tree,
        summary=summary,
    )
    rows = problem.class_rows()  # none of labels that only the thesaurus has
    summary["class_rows"] = [
        rows[path[-1] if fitted.learnt_ and isinstance(path, tuple) else path]
        for path in fitted.classes_
    ]
    return fitted


def _has_proba(self: TableModel) -> bool:
    return hasattr(self, "estimator_") and gives_node_proba(self.estimator_)


def _has_sets(self: TableModel) -> bool:
    return hasattr(getattr(self, "estimator_", None), "predict_set")


class TableModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model of the classes of a table's rows, fitted by `fit_table`.

    Methods take a DataFrame, or the name of a file, that has the columns the model was fitted on;
    other columns are ignored.

    Parameters
    ----------
    model : str
        Name in the registry of models.

    Attributes
    ----------
    estimator_ : classifier
        Classifier fitted on features.
    vectorizer_ : TableFeatures
        Converts columns to features.
    schema_ : Schema
        Columns and their kinds.
    target_ : TargetForm
        How the target is written.
    hierarchy_ : Hierarchy
    calibration_ : ChainCalibration or None
        Calibration of probabilities by the rows that the model was not fitted on in the folds.
        The estimator itself is not calibrated by it.
    learner_ : estimator or None
        Unfitted learner of the hierarchy, if it was learned.
    learnt_ : bool
        Whether the hierarchy was learned: labels are then its leaves, and its internal nodes have
        generated names.
    classes_ : array of shape (n_classes,)
        Paths of the labels seen in training; names in a DAG.
    several_paths_ : bool
        Whether a row may have several paths.
    summary_ : dict
        Plain facts about the fit: rows, columns, leaderboard, seconds, seed, versions, and
        ``class_rows``, the number of training rows of each label of ``classes_``.

    Examples
    --------
    >>> from palmette.table import fit_table
    >>> goods = {"name": ["red apple", "green pear", "small saw", "long nail"] * 15,
    ...          "kind": ["Food > Fruit", "Food > Fruit", "Tools > Saws", "Tools > Nails"] * 15}
    >>> text = {"name": "text"}
    >>> model = fit_table(goods, target="kind", model="class-tree", columns=text, folds=0)
    >>> model.predict({"name": ["red pears", "nails"]})
    [('Food', 'Fruit'), ('Tools', 'Nails')]
    """

    in_files: ClassVar = {
        "vectorizer_": held(TableFeatures),
        "schema_": held(Schema),
        "target_": held(TargetForm),
        "hierarchy_": held(Hierarchy),
        "calibration_": held(ChainCalibration, or_none=True, or_absent=True),
        "learner_": held(BaseEstimator, or_none=True),  # a text would be the name of a file
        "summary_": held(dict),
    }

    calibration_: ChainCalibration | None = None  # files may lack it

    def __init__(self, model: str = "auto") -> None:
        self.model = model

    @classmethod
    def assemble(
        cls,
        model: str,
        *,
        estimator: Any,
        vectorizer: TableFeatures,
        schema: Schema,
        target: TargetForm,
        hierarchy: Hierarchy,
        calibration: ChainCalibration | None,
        learner: Any,
        several_paths: bool,
        summary: dict[str, Any],
    ) -> TableModel:
        """Make a model of fitted parts."""
        self = cls(model)
        self.estimator_ = estimator
        self.vectorizer_ = vectorizer
        self.schema_ = schema
        self.target_ = target
        self.hierarchy_ = hierarchy
        self.calibration_ = calibration
        self.learner_ = learner
        self.learnt_ = learner is not None
        self.several_paths_ = several_paths
        self.summary_ = summary
        self.classes_ = _class_paths(estimator, hierarchy)
        return self

    def fit(self, table: Any, y: Any = None) -> TableModel:
        """Fit the same model again, on another table of the same form.

        Parameters
        ----------
        table : DataFrame or name of a file
            With the columns and the target of the first table.
        y : ignored

        Returns
        -------
        self
            Without a tournament or cross-validation; the hierarchy is kept unless it was learned.
        """
        check_is_fitted(self, "estimator_")
        facts = self.summary_
        again = fit_table(
            table,
            self.target_.columns,
            hierarchy=self.learner_ if self.learnt_ else self.hierarchy_,
            model=facts["model"],
            settings=facts["settings"],
            separator=self.target_.separator or ("" if len(self.target_.columns) == 1 else None),
            labels_separator=self.target_.labels_separator,
            merge_case=bool(self.target_.spelled),
            max_depth=self.target_.max_depth,
            yes=True,
            columns=self.schema_.kinds,
            decimal=self.schema_.decimals or None,
            date_format=self.schema_.date_formats or None,
            header=self.schema_.header,
            drop=self.check_columns(self.read(table).columns),
            text=self.vectorizer_.text,
            folds=0,
            calibrate=facts["calibrate"],
            coverage=facts["coverage"],
            class_weight=facts.get("class_weight"),
            use_labels=facts.get("use_labels", False),
            language=facts.get("language"),
            seed=facts["seed"],
        )
        self.__dict__.update(again.__dict__)
        return self

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
        """Return a table as a DataFrame; files are read as that of `fit_table` was."""
        check_is_fitted(self, "estimator_")
        if self.schema_.header or not isinstance(table, str | os.PathLike):
            return as_frame(table)
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
            In the form of `predict`. A row without a label, or with one that is not in the
            hierarchy, is an error: see `labelled_rows`.
        """
        check_is_fitted(self, "estimator_")
        rows = self.target_.read(self.read(frame))
        gaps = [i for i, row in enumerate(rows) if row is None]
        if gaps:
            raise PalmetteError(
                f"row {gaps[0] + 1} has no target ({len(gaps)} such rows). Drop them first: "
                "frame[model.labelled_rows(frame)]."
            )
        return self._canonical(rows)

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

    def _canonical(self, rows: list[Any]) -> list[Any]:
        if self.several_paths_ and not self.target_.several:
            rows = [[row] for row in rows]
        if self.learnt_:
            write = self.target_.write
            rows = [
                [(write(path),) for path in row] if self.several_paths_ else (write(row),)
                for row in rows
            ]
        labels = canonical_labels(rows, self.hierarchy_, self.several_paths_)
        return [set(row) for row in labels] if self.several_paths_ else labels

    # ------------------------------------------------------------------ predicting

    def predict(self, frame: Any) -> list[Any]:
        """Predict the paths of a table's rows.

        Parameters
        ----------
        frame : DataFrame or name of a file, of n_samples rows

        Returns
        -------
        list of n_samples paths
            Tuples of names from the top, or names in a DAG; sets of them if rows may have several.
        """
        X = self.features(frame)
        return self._predictions().paths(X)

    @available_if(_has_proba)
    def predict_proba(self, frame: Any) -> FloatArray:
        """Probabilities of the labels: (n_samples, n_classes), columns as in ``classes_``."""
        X = self.features(frame)
        return self._predictions().class_proba(X)

    @available_if(_has_proba)
    def predict_top_k(self, frame: Any, k: int = 5) -> tuple[list[list[Any]], FloatArray]:
        """Return the best labels of a table's rows, best first.

        Parameters
        ----------
        frame : DataFrame or name of a file, of n_samples rows
        k : int

        Returns
        -------
        labels : list of n_samples lists of k labels
            As in ``classes_``; fewer if there are fewer. If a row may have several labels, they are
            ranked by the probability that it has this very label, not anything below it.
        proba : array of shape (n_samples, k)
        """
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

        Parameters
        ----------
        X : DataFrame or name of a file
        y : labels of n_samples rows, optional
            By default those in the target column of X.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        from palmette.metrics import hierarchical_f1_score

        frame = self.read(X)
        truth = self.read_target(frame) if y is None else y
        predicted = self.predict(frame)
        return float(
            hierarchical_f1_score(
                truth, predicted, hierarchy=self.hierarchy_, sample_weight=sample_weight
            )
        )

    def _predictions(self) -> _OnePath | _SeveralPaths:
        parts = self.estimator_, self.hierarchy_, self.classes_
        if self.several_paths_:
            return _SeveralPaths(*parts, self.learnt_)
        return _OnePath(self)

    def path_answers(self) -> PathAnswers:
        """Return the answers of the estimator on features, for one path per row."""
        return PathAnswers(self.estimator_, self.hierarchy_, self.calibration_)

    def label_text(self, path: Any) -> str:
        """Write a path as in the table; only the label in a learned hierarchy or a thesaurus."""
        if not isinstance(path, tuple):
            return str(path)
        is_name = self.learnt_ or self.target_.writes_names(self.hierarchy_)
        return str(path[-1]) if is_name and path else self.target_.write(path)


class _OnePath(NamedTuple):
    """Predictions of a model with one path per row."""

    model: TableModel

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


def _class_paths(estimator: Any, hierarchy: Hierarchy) -> NDArray[np.object_]:
    """Paths of the labels of a model, in the order of its nodes; names in a DAG."""
    if hasattr(estimator, "estimator_") and not hasattr(estimator, "classes_"):
        nodes = np.sort(np.asarray(estimator.estimator_.classes_, dtype=np.int64))
    else:
        nodes = np.sort(np.asarray(hierarchy.index(list(estimator.classes_)), dtype=np.int64))
    classes = np.empty(len(nodes), dtype=object)
    for i, node in enumerate(nodes.tolist()):
        classes[i] = hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]
    return classes
