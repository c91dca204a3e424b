"""fit_table and TableModel: from a table to a model, and from its rows to paths of a hierarchy."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from palmette._imports import import_after
from palmette._text import caller_level
from palmette.base._parameters import is_count, is_number
from palmette.calibration._chains import ChainCalibration
from palmette.exceptions import PalmetteError, TableWarning
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import object_array
from palmette.hierarchy._vocabulary import Languages
from palmette.persistence._acting import harmless
from palmette.persistence.checks import array, held
from palmette.table._answering import TableAnswers, class_paths
from palmette.table._features import TableFeatures
from palmette.table._given_labels import AnswerForm, GivenLabels, frame_of_rows
from palmette.table._profile import ColumnProfile, profile_of
from palmette.table._reading import as_frame
from palmette.table._schema import Schema
from palmette.table._shown import reading_lines
from palmette.table._sources import BadRows
from palmette.table._target import TargetForm
from palmette.table._written import Given

if TYPE_CHECKING:
    from palmette.table._problem import TableProblem

# scoring="hierarchical_f1" is known to scikit-learn as soon as it knows scorers at all
import_after("sklearn.metrics._scorer", "palmette.metrics")


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
    folds: int | None = None,
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
    corrections: Any = None,
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
    folds : int or None
        Number of folds of cross-validation; 0 for none, with a named model. By default ten, fewer
        of tables with more than 3,000 rows, and three of those with more than 10,000 or if `time`
        is too short for more.
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
    corrections : DataFrame or name of a file, optional
        A review of this table (`palmette.review`) whose column ``corrected`` a person has filled
        in: the right label of a row, or ``drop`` to leave it out. Rows are found by their line or
        number, and an error names a row that is not the one that was reviewed.
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
    # a model that is loaded needs none of these
    from palmette.table._class_weights import check_class_weight
    from palmette.table._clock import Clock
    from palmette.table._corrections import corrected
    from palmette.table._final import finish
    from palmette.table._fit import Race, Wrapping, check_options, summarize
    from palmette.table._problem import is_file, read_problem

    parameters: dict[str, Any] = {
        "model": model, "hierarchy": hierarchy, "settings": settings, "time": time, "folds": folds,
        "columns": columns, "drop": drop, "text": text, "separator": separator,
        "labels_separator": labels_separator, "calibrate": calibrate, "coverage": coverage,
        "search": search, "class_weight": class_weight, "random_state": seed, "n_jobs": n_jobs,
    }  # fmt: skip
    _check_types(parameters)
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
        bad=bad, seed=seed, n_jobs=n_jobs, tell=say, memory=memory, tick=clock.step,
        use_labels=use_labels, language=language, yes=yes,
    )  # fmt: skip
    try:
        if corrections is not None:
            plain = partial(read, bad=BadRows(), tell=lambda words: None, use_labels=False)
            edits = corrected(corrections, table, partial(clock.within, np.inf, plain))
            read = partial(read, corrected=edits.apply)
        problem = clock.within(np.inf, read)
    finally:
        if bad is not None and bad_rows is not None:
            bad.write(bad_rows)
    if tell is None:  # here, since a warning of the thread that reads names no line of the caller
        for sentence in problem.notes:
            warnings.warn(f"{sentence}.", TableWarning, stacklevel=caller_level())
    for line in edits.facts.sentences() if corrections is not None else ():
        say(line)
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
    if corrections is not None:
        summary["corrections"] = asdict(edits.facts)
    summary["rows_skipped"], summary["rows_repeated"] = problem.n_bad, problem.n_duplicates
    summary["columns_left_out"] = dict(problem.schema.left_out)
    summary["notes"] = list(problem.notes)
    hierarchy_ = final.hierarchy
    if problem.learner is not None:
        hierarchy_ = _with_group_names(hierarchy_, problem)
    if is_file(hierarchy):
        parameters["hierarchy"] = problem.hierarchy
    fitted = TableModel.assemble(
        parameters,
        estimator=final.estimator,
        vectorizer=final.vectorizer,
        schema=problem.schema,
        target=problem.target,
        hierarchy=hierarchy_,
        calibration=final.calibration,
        learner=problem.learner,
        several_paths=problem.several_paths or not hierarchy_.is_tree,
        summary=summary,
    )
    fitted.profile_ = profile_of(problem.frame, problem.schema)
    rows = problem.class_rows()  # none of labels that only the thesaurus has
    summary["class_rows"] = [
        rows[path[-1] if fitted.learnt_ and isinstance(path, tuple) else path]
        for path in fitted.class_paths_
    ]
    return fitted


def _with_group_names(hierarchy: Hierarchy, problem: TableProblem) -> Hierarchy:
    """Return a learned hierarchy whose groups have the words of the rows for labels."""
    rows = [*map(list, problem.y)] if problem.several_paths else [[label] for label in problem.y]
    names = hierarchy.names.tolist()
    place = {names[leaf]: leaf for leaf in hierarchy.leaves.tolist()}
    nodes = np.array([place[label] for row in rows for label in row], dtype=np.int64)
    starts = np.cumsum([0, *map(len, rows)])
    shape = len(rows), hierarchy.n_nodes
    members = sparse.csr_array((np.ones(len(nodes)), nodes, starts), shape=shape)
    kinds = problem.schema.names("text") + problem.schema.names("category")
    from palmette.table._group_names import name_groups

    return name_groups(hierarchy, [problem.frame[name] for name in kinds], members)


class TableModel(TableAnswers, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of the rows of tables: an estimator, and the result of `fit_table`.

    It does all that `fit_table` does: columns of texts, categories, numbers and dates become
    features, and "auto" compares models by cross-validation. Methods take a DataFrame, the name of
    a file, or an array with the columns of the fit in their order. Columns are found by name;
    others are ignored.

    Parameters
    ----------
    model : str
        A name of the registry (`palmette models`), or "auto".
    hierarchy : Hierarchy, "learn", "learn:METHOD" or learner, optional
        Hierarchy of the classes; by default that of the paths in y. Names of files are those of
        `fit_table` only: read one by `Hierarchy.read`.
    settings : dict, optional
        Parameters of a named model.
    time : float or None
        Limit in seconds of every fit, None for no limit.
    folds : int or None
        Number of folds that models are compared by; 0 for none, with a named model. By default
        three to ten, see `fit_table`.
    columns : dict of str to str, optional
        Kinds of columns: "text", "category", "number" or "date"; by default they are inferred.
    drop : sequence of str
        Columns that are not used.
    text : {"tfidf", "hashing"}
        Features of texts.
    separator : str, optional
        Separator of the names of a path in a label, as ``" > "``; found by default. An empty string
        means that labels are plain names.
    labels_separator : str, optional
        Separator of several labels in a text.
    calibrate : {"isotonic", "sigmoid", "temperature"}, optional
        Calibrate the probabilities.
    coverage : float, optional
        Also predict sets of nodes that contain the truth with this probability.
    search : bool
        Whether two parameters of the best two models are searched too, as time allows.
    class_weight : {"balanced", "none"}, optional
    random_state : int, RandomState or None
    n_jobs : int, optional

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
        Whether the hierarchy was learned: labels are then its leaves. Its groups have generated
        names, and words for labels in its vocabulary.
    classes_ : array of shape (n_classes,)
        Labels seen in training: after ``fit(X, y)`` as in y, names in their order; after
        `fit_table` as ``class_paths_``.
    class_paths_ : array of shape (n_classes,)
        Paths of these labels in the order of ``hierarchy_``; names in a DAG.
    n_features_in_ : int
        Number of columns of the table, without the target.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, used or not, if they had any.
    several_paths_ : bool
        Whether a row may have several paths.
    profile_ : dict of str to ColumnProfile, or None
        How the values of the columns were distributed; None in files of earlier versions.
    summary_ : dict
        Plain facts about the fit: rows, columns, leaderboard, seconds, seed, versions, and
        ``class_rows``, the number of training rows of each label of ``class_paths_``.

    See Also
    --------
    fit_table : Fit one on a table that has its labels, or on a file.

    Examples
    --------
    >>> import pandas as pd
    >>> names = pd.DataFrame({"name": ["red apple", "green pear", "small saw", "long nail"] * 15})
    >>> kinds = ["Food > Fruit", "Food > Fruit", "Tools > Saws", "Tools > Nails"] * 15
    >>> model = TableModel("class-tree", columns={"name": "text"}, folds=0).fit(names, kinds)
    >>> model.predict(pd.DataFrame({"name": ["red pears", "nails"]}))
    array(['Food > Fruit', 'Tools > Nails'], dtype='<U13')
    """

    in_files: ClassVar = {
        "vectorizer_": held(TableFeatures),
        "schema_": held(Schema),
        "target_": held(TargetForm),
        "hierarchy_": held(Hierarchy),
        "calibration_": held(ChainCalibration, or_none=True, or_absent=True),
        "hierarchy": held(Hierarchy, BaseEstimator, str, or_none=True, or_absent=True),
        "learner_": held(BaseEstimator, or_none=True),  # a text would be the name of a file
        "summary_": held(dict),
        "class_paths_": array("O", None),
        "class_order_": array("i", "class_paths_", below="class_paths_"),
        "label_form_": held(AnswerForm, or_none=True),
        "n_features_in_": held(int),
        "feature_names_in_": array("O", "n_features_in_", or_absent=True, or_none=True),
        "profile_": held(dict, each=(ColumnProfile,), or_none=True, or_absent=True),
    }

    calibration_: ChainCalibration | None = None  # files may lack it
    profile_: dict[str, ColumnProfile] | None = None  # and this

    def __init__(
        self,
        model: str = "auto",
        *,
        hierarchy: Any = None,
        settings: Mapping[str, Any] | None = None,
        time: float | None = 60.0,
        folds: int | None = None,
        columns: Mapping[str, str] | None = None,
        drop: Sequence[str] = (),
        text: str = "tfidf",
        separator: str | None = None,
        labels_separator: str | None = None,
        calibrate: str | None = None,
        coverage: float | None = None,
        search: bool = False,
        class_weight: str | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.hierarchy = hierarchy
        self.settings = settings
        self.time = time
        self.folds = folds
        self.columns = columns
        self.drop = drop
        self.text = text
        self.separator = separator
        self.labels_separator = labels_separator
        self.calibrate = calibrate
        self.coverage = coverage
        self.search = search
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def assemble(
        cls,
        parameters: Mapping[str, Any],
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
        self = cls(**parameters)
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
        self.class_paths_ = class_paths(estimator, hierarchy)
        self._set_columns()
        self.set_label_form(None)
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "classes_" in state and "class_paths_" not in state:  # of an earlier version
            self.class_paths_ = self.classes_
            self._set_columns()
            self.set_label_form(None)

    def _set_columns(self) -> None:
        self.feature_names_in_ = object_array(self._columns_in())
        self.n_features_in_ = len(self.feature_names_in_)

    def set_label_form(self, form: AnswerForm | None) -> None:
        """Choose how labels are written: as those of a fit, or as paths."""
        self.label_form_ = form
        self.classes_ = self.class_paths_
        self.class_order_ = np.arange(len(self.class_paths_))
        if form is not None:
            found = form.sorted_classes(self.class_paths_, self.label_text)
            self.classes_, self.class_order_ = found

    def fit(self, X: Any, y: Any) -> TableModel:
        """Fit a model to rows and their labels.

        Parameters
        ----------
        X : DataFrame, dict of columns, or array of shape (n_samples, n_columns)
            The columns of an array are named x0, x1, ....
        y : labels of n_samples rows
            Names, or texts of paths such as ``"Food > Fruit"``; a column per level, or a list of
            tuples, for paths; a list of sets for several labels per row.

        Returns
        -------
        self
        """
        from palmette.table._problem import is_file

        table = frame_of_rows(X, None)
        frame = as_frame(table)
        given = GivenLabels.read(y, len(frame), frame.columns, self.separator)
        options = self.get_params(deep=False)
        if is_file(self.hierarchy):
            raise PalmetteError(
                f"hierarchy={self.hierarchy!r}: expected a Hierarchy, a learner, 'learn' or "
                "'learn:METHOD'. Read the file first: palmette.Hierarchy.read(...)."
            )
        options["seed"] = _seed_of(options.pop("random_state"))
        options["separator"] = given.separator if len(given.columns) == 1 else None
        if self.hierarchy is None:
            options["hierarchy"] = given.hierarchy
        made = fit_table(frame.assign(**given.columns), list(given.columns), yes=True, **options)
        self._take(made)
        if table is not X:
            del self.feature_names_in_
        self.set_label_form(AnswerForm.of(given.form, self._values_of(given, frame)))
        return self

    def _values_of(self, given: GivenLabels, frame: Any) -> dict[Any, Any]:
        """Return the labels as they came by their paths; of two with one path, the first."""
        some = frame.iloc[given.rows]
        for name, cells in given.columns.items():
            some = some.assign(**{name: given.cells or [cells[row] for row in given.rows]})
        found: dict[Any, Any] = {}
        rows = self.target_.read(some)
        for value, row in zip(given.values, rows, strict=True):
            [path] = [] if row is None else self._canonical([row], refuse=lambda row, why: None)
            found.setdefault(next(iter(path)) if self.several_paths_ else path, value)
        return found

    def refit(self, table: Any) -> TableModel:
        """Fit the same model again, on another table of the same form.

        Parameters
        ----------
        table : DataFrame or name of a file
            With the columns and the target of the first table.

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
        form = self.label_form_
        self._take(again)
        self.set_label_form(form)
        return self

    def _take(self, made: TableModel) -> None:
        """Take what another model has learned, not its parameters."""
        parameters = made.get_params(deep=False)
        self.__dict__.update({n: v for n, v in vars(made).items() if n not in parameters})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _seed_of(random_state: Any) -> int:
    """Return the seed of a fit: an integer stays as it is."""
    if is_count(random_state, 0):
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise PalmetteError(
            f"random_state={random_state!r}: expected an integer of at least 0, a RandomState or "
            "None."
        ) from error


def _check_types(parameters: Mapping[str, Any]) -> None:
    """Raise an error for parameters of another type than the fit compares or reads."""
    for name, (fits, expected) in _TYPES.items():
        if not fits(value := parameters[name]):
            raise PalmetteError(f"{name}={value!r}: expected {expected}.")


def _is_names(value: Any) -> bool:
    is_list = isinstance(value, Iterable) and not isinstance(value, str)
    return is_list and all(isinstance(each, str) for each in value)


_KINDS = (lambda value: value is None or isinstance(value, Mapping), "a dict, or None")
_TEXT = (lambda value: value is None or isinstance(value, str), "a string, or None")
_NUMBER = (lambda value: value is None or is_number(value), "a number, or None")
_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model": (lambda value: isinstance(value, str), "a name, such as 'auto' or 'class-tree'"),
    "settings": _KINDS,
    "time": _NUMBER,
    "folds": (
        lambda value: value is None or is_count(value, 0),
        "an integer of at least 0, or None",
    ),
    "columns": _KINDS,
    "drop": (_is_names, "names of columns"),
    "text": (lambda value: value in ("tfidf", "hashing"), "'tfidf' or 'hashing'"),
    "separator": _TEXT,
    "labels_separator": _TEXT,
    "coverage": _NUMBER,
    "search": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "n_jobs": (lambda value: value is None or is_count(value, -1), "a number of jobs, or None"),
}
