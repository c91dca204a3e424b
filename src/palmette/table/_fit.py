"""fit_table: from a table to a model; the tournament, and the final fit on all rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from palmette.core.hierarchy import Hierarchy
from palmette.core.rows import take_rows
from palmette.exceptions import PalmetteError
from palmette.table._candidates import (
    BASELINE,
    Candidate,
    Situation,
    apply_settings,
    choose,
    make,
    sharpen,
)
from palmette.table._features import TableFeatures
from palmette.table._model import TableModel
from palmette.table._problem import TableProblem, read_problem
from palmette.table._tournament import Clock, Fold, Score, Tournament, make_folds
from palmette.table.answers import gives_node_proba, node_sets, nodes_of, write_nodes, write_sets

__all__ = ["Finished", "Wrapping", "finish", "fit_table"]


_ROWS_A_SECOND = 1500  # of the budget, that a tournament looks at; the final fit sees all


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
    columns: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    text: str = "tfidf",
    folds: int = 3,
    calibrate: str | None = None,
    coverage: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    watch: Callable[[str, float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> TableModel:
    """Learn the classes of a table's rows, from its other columns.

    Parameters
    ----------
    table : DataFrame, dict of columns, or name of a file
        CSV, TSV, JSON lines, Parquet or Excel, packed or not.
    target : str or sequence of str
        Column to predict; several are the levels of a path, from the top. Rows without a target
        are left out.
    hierarchy : Hierarchy, path-like, "learn", "learn:METHOD" or learner, optional
        Of the classes; by default that of the paths in the target. One that is learnt is learnt on
        the training rows of every fold.
    model : str
        A name of the registry (`palmette models`), or "auto": the best of a tournament by
        cross-validation that gives probabilities.
    time : float or None
        Seconds for all of it, about; None for as long as it takes. The final fit on all rows is
        never cut short.
    settings : dict, optional
        Parameters of a named model.
    separator : str, optional
        Between the names of a path in a target cell; found by default. An empty one says that
        cells are plain names.
    labels_separator : str, optional
        Between the paths of a cell that holds several.
    columns : dict of str to str, optional
        Kinds of columns that are known better: "text", "category", "number" or "date".
    drop : sequence of str
        Columns not to learn from.
    text : {"tfidf", "hashing"}
        How texts become numbers; see `palmette.table.TextVectorizer`.
    folds : int
        Of cross-validation; 0 for none, with a named model.
    calibrate : {"isotonic", "sigmoid", "temperature"}, optional
        Calibrate the probabilities of the final model.
    coverage : float, optional
        Let the final model also answer with sets that hold the truth with this probability.
    seed : int
    n_jobs : int, optional
    watch : callable, optional
        Told what happens now and the seconds that are spent.
    tell : callable, optional
        Told what a user should know, a sentence at a time.

    Returns
    -------
    TableModel

    Examples
    --------
    >>> goods = {"name": ["red apple", "green pear", "small saw", "long nail"] * 15,
    ...          "kind": ["Food > Fruit", "Food > Fruit", "Tools > Saws", "Tools > Nails"] * 15}
    >>> model = fit_table(goods, target="kind", model="local-per-parent", folds=2)
    >>> model.summary_["leaderboard"][0]["hierarchical_f1"]
    1.0
    """
    clock = Clock(time)
    _check(model, settings, folds, time, coverage, calibrate)
    say = tell or (lambda words: None)
    problem = read_problem(
        table, target, hierarchy=hierarchy, separator=separator, labels_separator=labels_separator,
        columns=columns, drop=drop, seed=seed, n_jobs=n_jobs,
    )  # fmt: skip
    _describe(problem, text, say)
    race = _Race(problem, model, settings, text, folds, seed, n_jobs, clock, watch)
    wrapping = Wrapping(calibrate, coverage)
    name, board, tournament = race.run(wrapping)
    if tournament is not None and tournament.interrupted:
        say(f"interrupted: {name} is the best so far, and is fitted now on all rows")
    final = finish(problem, name, race, wrapping, tournament, watch, say, clock)
    summary = _summary(problem, name, board, final.seconds, clock, text, seed, wrapping)
    summary["settings"] = dict(settings or {})
    return TableModel.assemble(
        name,
        estimator=final.estimator,
        vectorizer=final.vectorizer,
        schema=problem.schema,
        target=problem.target,
        hierarchy=final.hierarchy,
        learner=problem.learner,
        several_paths=problem.several_paths,
        summary=summary,
    )


def _check(
    model: str,
    settings: Mapping[str, Any] | None,
    folds: int,
    time: float | None,
    coverage: float | None,
    calibrate: str | None,
) -> None:
    """Find mistakes before anything is read."""
    from palmette.models import make_model

    if model == "auto":
        if settings:
            raise PalmetteError("settings are for a named model: name it (`palmette models`).")
        if folds < 2:
            raise PalmetteError(f"folds={folds}: model='auto' needs two at least.")
    else:
        apply_settings(make_model(model), settings or {}, model)
    if folds < 0 or folds == 1:
        raise PalmetteError(f"folds={folds}: expected 2 or more, or 0 for no cross-validation.")
    if time is not None and not time > 0:
        raise PalmetteError(f"time={time!r}: expected a positive number of seconds, or None.")
    if coverage is not None and not 0 < coverage < 1:
        raise PalmetteError(f"coverage={coverage!r}: expected a number between 0 and 1.")
    if calibrate not in (None, "isotonic", "sigmoid", "temperature"):
        raise PalmetteError(
            f"calibrate={calibrate!r}: expected 'isotonic', 'sigmoid' or 'temperature'."
        )


def _describe(problem: TableProblem, text: str, say: Callable[[str], None]) -> None:
    h = problem.hierarchy
    gone = f"; {problem.n_dropped:,} without a target left out" if problem.n_dropped else ""
    say(f"{problem.n_rows:,} rows{gone}")
    kinds = [
        f"{name} ({kind}{f', by {text}' if kind == 'text' else ''})"
        for name, kind in problem.schema.kinds.items()
    ]
    more = f" and {len(kinds) - 12} more" if len(kinds) > 12 else ""
    say(f"columns: {', '.join(kinds[:12])}{more}")
    say(f"target: {problem.target.describe()}")
    learnt = "" if problem.learner is None else f", another one learnt by {problem.learner!r}"
    say(f"hierarchy: {h.n_nodes - 1:,} nodes, {h.n_leaves:,} leaves, depth {h.max_depth}{learnt}")


class _Race:
    """The folds, candidates and scores of a problem."""

    def __init__(
        self,
        problem: TableProblem,
        model: str,
        settings: Mapping[str, Any] | None,
        text: str,
        n_folds: int,
        seed: int,
        n_jobs: int | None,
        clock: Clock,
        watch: Any,
    ) -> None:
        self.problem, self.model, self.settings, self.text = problem, model, settings, text
        self.seed, self.n_jobs, self.clock, self.watch = seed, n_jobs, clock, watch
        self.n_folds = n_folds
        self.vectorizer: TableFeatures | None = None  # of the first fold
        self._n_features = 0

    def situation(self) -> Situation:
        """What there is to learn, as far as it is known."""
        problem = self.problem
        has_text = bool(problem.schema.names("text"))
        return Situation(
            n_features=self._n_features,
            is_sparse=has_text,
            only_text=has_text and len(problem.schema.names("text")) == len(problem.schema.kinds),
            several_paths=problem.several_paths,
            one_level=problem.hierarchy.max_depth <= 1,
            learner=problem.learner,
            hierarchy=problem.hierarchy,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )

    def make(self, name: str) -> Any:
        """Return an unfitted model."""
        return make(name, self.situation(), self.settings if name == self.model else None)

    def run(self, wrapping: Wrapping) -> tuple[str, list[dict[str, Any]], Tournament | None]:
        """Cross-validate; returns the name of the winner, the leaderboard and the tournament."""
        if self.n_folds == 0:
            self.make(self.model)  # mistakes in settings show now
            return self.model, [], None
        chosen = self._rows()
        codes = self.problem.codes()
        pairs = make_folds(
            None if codes is None else np.unique(codes[chosen], return_inverse=True)[1],
            len(chosen), self.n_folds, self.seed,
        )  # fmt: skip
        first = self._load(chosen[pairs[0][0]], chosen[pairs[0][1]], first=True)
        if self.model == "auto":
            candidates = choose(self.situation())
        else:
            self.make(self.model)
            candidates = [Candidate(self.model)]
        names = [c.name for c in candidates]
        loads = [lambda: first]
        loads += [
            lambda train=train, test=test: self._load(chosen[train], chosen[test])
            for train, test in pairs[1:]
        ]
        tournament = Tournament(
            candidates, self.make, loads, self._score, self.clock,
            always=BASELINE if self.model == "auto" and BASELINE in names else None,
            reserve=wrapping.fits * self.problem.n_rows / len(chosen), watch=self.watch,
        )  # fmt: skip
        board = [entry.facts() for entry in tournament.run()]
        if tournament.interrupted and not any(e.scores for e in tournament.entries.values()):
            raise KeyboardInterrupt
        return tournament.winner().name, board, tournament

    def _rows(self) -> Any:
        """Rows that the tournament looks at: all, or a sample where time is short."""
        n_rows = self.problem.n_rows
        if self.clock.seconds is None:
            return np.arange(n_rows)
        most = max(5000, int(_ROWS_A_SECOND * self.clock.seconds))
        if n_rows <= most:
            return np.arange(n_rows)
        return np.sort(np.random.default_rng(self.seed).choice(n_rows, most, replace=False))

    def _load(self, train: Any, test: Any, first: bool = False) -> Fold:
        """Features of a fold, learnt from its training rows alone."""
        problem = self.problem
        vectorizer = TableFeatures(problem.schema, self.text)
        X_train = vectorizer.fit_transform(take_rows(problem.frame, train))
        X_test = vectorizer.transform(take_rows(problem.frame, test))
        if first:
            self.vectorizer, self._n_features = vectorizer, vectorizer.n_features_
        return Fold(X_train, [problem.y[i] for i in train.tolist()], X_test, test)

    def _score(self, estimator: Any, fold: Fold) -> Score:
        from palmette.metrics import hierarchical_f1_score

        problem = self.problem
        truth = [problem.truth[i] for i in fold.test.tolist()]
        if problem.several_paths:
            sets = node_sets(estimator, fold.X_test, problem.hierarchy)
            predicted: list[Any] = write_sets(sets, problem.hierarchy)
        elif problem.learner is not None:
            predicted = [problem.path_of[str(each)] for each in estimator.predict(fold.X_test)]
        else:
            nodes = nodes_of(estimator, fold.X_test, problem.hierarchy)
            predicted = write_nodes(nodes, problem.hierarchy)
        f1 = hierarchical_f1_score(truth, predicted, hierarchy=problem.hierarchy)
        right = [a == b for a, b in zip(truth, predicted, strict=True)]
        return Score(float(f1), float(np.mean(right)))


def _summary(
    problem: TableProblem,
    name: str,
    board: list[dict[str, Any]],
    fit_seconds: float,
    clock: Clock,
    text: str,
    seed: int,
    wrapping: Wrapping,
) -> dict[str, Any]:
    """Plain facts about a fit."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for package in ("palmette", "scikit-learn", "numpy", "scipy", "pandas", "skrub"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    h = problem.hierarchy
    return {
        "model": name,
        "rows": problem.n_rows,
        "rows_without_target": problem.n_dropped,
        "columns": dict(problem.schema.kinds),
        "text": text if problem.schema.names("text") else None,
        "target": problem.target.describe(),
        "hierarchy": {"nodes": h.n_nodes, "leaves": h.n_leaves, "depth": h.max_depth},
        "learnt_hierarchy": None if problem.learner is None else repr(problem.learner),
        "leaderboard": board,
        "calibrate": wrapping.calibrate,
        "coverage": wrapping.coverage,
        "fit_seconds": round(fit_seconds, 3),
        "seconds": round(clock.spent(), 3),
        "seed": seed,
        "versions": versions,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
    }


_CALIBRATION_FOLDS = 3


@dataclass(frozen=True)
class Wrapping:
    """What is put around the winner.

    Parameters
    ----------
    calibrate : str or None
        Method of `CalibratedHierarchicalClassifier`.
    coverage : float or None
        Of `ConformalHierarchicalClassifier`.
    """

    calibrate: str | None = None
    coverage: float | None = None

    @property
    def fits(self) -> float:
        """Fits on a fold that the final fit costs about as much as."""
        fits = 1.2 + (_CALIBRATION_FOLDS if self.calibrate else 1.0)
        return fits * 2 if self.coverage else fits

    def around(self, estimator: Any, seed: int) -> Any:
        """Wrap an unfitted estimator."""
        if self.calibrate is not None:
            from palmette.calibration import CalibratedHierarchicalClassifier

            estimator = CalibratedHierarchicalClassifier(
                estimator, method=self.calibrate, cv=_CALIBRATION_FOLDS, random_state=seed
            )
        if self.coverage is not None:
            from palmette.calibration import ConformalHierarchicalClassifier

            estimator = ConformalHierarchicalClassifier(
                estimator, coverage=self.coverage, random_state=seed
            )
        return estimator


@dataclass(frozen=True)
class Finished:
    """The parts of the final model.

    Parameters
    ----------
    estimator : fitted classifier
    vectorizer : TableFeatures
    hierarchy : Hierarchy
    seconds : float
        Of the last fit.
    """

    estimator: Any
    vectorizer: TableFeatures
    hierarchy: Hierarchy
    seconds: float


def _fit(estimator: Any, X: Any, y: list[Any], name: str) -> Any:
    """Fit an estimator of any library, whose refusals become errors of ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator.fit(X, y)
    except PalmetteError:
        raise
    except (ValueError, TypeError, ArithmeticError) as error:
        words = " ".join(str(error).split())[:300]
        raise PalmetteError(
            f"{name} cannot be fitted on this table ({words}). Choose another model: "
            "`palmette models` names them."
        ) from error


def finish(
    problem: TableProblem,
    name: str,
    race: Any,
    wrapping: Wrapping,
    tournament: Any,
    watch: Callable[[str, float], None] | None,
    say: Callable[[str], None],
    clock: Any,
) -> Finished:
    """Fit the winner on all rows; Ctrl-C keeps the fit on the first fold, where there is one.

    Parameters
    ----------
    problem : TableProblem
    name : str
        The winner.
    race : object
        With ``make(name)``, ``text``, ``seed``, ``settings`` and the first fold's ``vectorizer``.
    wrapping : Wrapping
    tournament : Tournament or None
    watch, say : callable
        As in `fit_table`.
    clock : Clock
    """
    if watch is not None:
        watch(f"{name}, all {problem.n_rows:,} rows", clock.spent())
    start = time.monotonic()
    try:
        vectorizer = TableFeatures(problem.schema, race.text)
        X = vectorizer.fit_transform(problem.frame)
        estimator = race.make(name)
        if wrapping.calibrate is None:
            estimator = sharpen(estimator, race.settings if name == race.model else None)
        estimator = _fit(wrapping.around(estimator, race.seed), X, problem.y, name)
    except KeyboardInterrupt:
        kept = None if tournament is None else tournament.fallback
        if kept is None:
            raise
        name, estimator = kept
        vectorizer = race.vectorizer
        say(f"interrupted again: kept {name} as fitted on the training rows of the first fold")
    if wrapping.calibrate is None and not gives_node_proba(estimator):
        say(f"{name} gives no probabilities: predictions come without them")
    hierarchy = getattr(estimator, "hierarchy_", problem.hierarchy)
    if not isinstance(hierarchy, Hierarchy):
        raise PalmetteError(f"{name} has no hierarchy after fitting.")
    return Finished(estimator, vectorizer, hierarchy, time.monotonic() - start)
