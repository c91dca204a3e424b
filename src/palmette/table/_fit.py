"""The steps of `fit_table` before the final fit: checks and cross-validation."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from palmette._arrays import take_rows
from palmette.exceptions import PalmetteError
from palmette.models import find_model
from palmette.table._candidates import (
    BASELINE,
    Candidate,
    Situation,
    apply_settings,
    choose,
    compile_seconds,
    kernels_of,
    make,
    variants,
)
from palmette.table._class_weights import fit_balanced, set_balance
from palmette.table._clock import Clock
from palmette.table._entries import Entry, Score
from palmette.table._features import TableFeatures
from palmette.table._folds import FEWEST, fold_count, make_folds
from palmette.table._held_out import held_out_chains
from palmette.table._large import usable_memory
from palmette.table._problem import TableProblem
from palmette.table._tournament import Fold, Tournament
from palmette.table.answers import node_sets, nodes_of, write_nodes, write_sets

_ROWS_PER_SECOND = 1500  # of a tournament, per second of the limit; the final fit uses all rows
_LEAST_ROWS = 3_000  # of a tournament, if there are so many
_FEATURES_SHARE = 0.3  # of the time that is left, for the features of its rows
_MEASURED_ROWS = 500  # whose features tell how long those of a row take
_CALIBRATION_FOLDS = 3
_MANY = 10_000  # number of features to expect of texts
_FEW_ROWS = 50  # rows whose features are computed before time is measured
_FEW = 5_000  # rows whose features tell how much memory those of a row need
_COPIES = 3  # of the features, while a model is fitted that does not read them in place
_PER_LABEL = 16  # bytes per row and label, of scores and gradients
_WRITING = 0.5  # CPU seconds from the end of the final fit to the end of the command
_WRITING_BYTE = 1.3e-8  # CPU seconds, of compression mostly
_GRACE = 10.0  # seconds for the final fit after Ctrl-C; after SIGTERM there is none


def check_options(
    model: str,
    settings: Mapping[str, Any] | None,
    folds: int | None,
    time: float | None,
    coverage: float | None,
    calibrate: str | None,
) -> None:
    """Check options before anything is read."""
    from palmette.models import make_model

    if model == "auto":
        if settings:
            raise PalmetteError(
                "settings need a model chosen by name: pass model= (`palmette models` lists the "
                "names)."
            )
        if folds is not None and folds < 2:
            raise PalmetteError(f"folds={folds}: model='auto' needs at least 2.")
    else:
        apply_settings(make_model(model), settings or {}, model)
    if folds is not None and (folds < 0 or folds == 1):
        raise PalmetteError(f"folds={folds}: expected 2 or more, or 0 for no cross-validation.")
    if time is not None and not time > 0:
        raise PalmetteError(f"time={time!r}: expected a positive number of seconds, or None.")
    if coverage is not None and not 0 < coverage < 1:
        raise PalmetteError(f"coverage={coverage!r}: expected a number between 0 and 1.")
    if calibrate not in (None, "isotonic", "sigmoid", "temperature"):
        raise PalmetteError(
            f"calibrate={calibrate!r}: expected 'isotonic', 'sigmoid' or 'temperature'."
        )


class Race:
    """Cross-validation of a problem: its folds, candidates and scores."""

    def __init__(
        self,
        problem: TableProblem,
        model: str,
        settings: Mapping[str, Any] | None,
        text: str,
        n_folds: int | None,
        seed: int,
        n_jobs: int | None,
        clock: Clock,
        search: bool = False,
        class_weight: str | None = None,
        memory: float | None = None,
        scratch: str | os.PathLike[str] | None = None,
        client: Any = None,
    ) -> None:
        self.class_weight = class_weight
        self.memory, self.scratch, self.client = memory, scratch, client
        self.problem, self.model, self.settings, self.text = problem, model, settings, text
        self.seed, self.n_jobs, self.clock = seed, n_jobs, clock
        self.n_folds = n_folds
        self._search = search
        self.found: dict[str, dict[str, Any]] = {}  # settings of the entries of a search
        self.row_seconds = 0.0  # of the features of a row
        self._n_features = 0

    def situation(self) -> Situation:
        """Return the properties of the problem, as far as they are known."""
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
            is_large=problem.rest is not None,
        )

    def make(self, name: str) -> Any:
        """Return an unfitted model, or a variant of one from the search."""
        made = make(self.base(name), self.situation(), self.settings_of(name))
        if self.client is not None:
            places = [key for key in made.get_params() if key.split("__")[-1] == "client"]
            made.set_params(**dict.fromkeys(places, self.client))
        return set_balance(made, self.class_weight, self.problem.several_paths, self.base(name))

    def base(self, name: str) -> str:
        """Return the model of an entry of the leaderboard."""
        return name.split(" ", 1)[0]

    def settings_of(self, name: str) -> dict[str, Any]:
        """Return the parameters of an entry that are given or were found by the search."""
        given = self.settings if self.base(name) == self.model else None
        return {**(given or {}), **self.found.get(name, {})}

    def _variants(self, name: str, axis: int) -> list[str]:
        """Return entries that differ in one parameter, which is not set by the user."""
        base, names = self.base(name), []
        for changed in variants(base, self.make(base), axis):
            if changed.keys() & (self.settings or {}).keys():
                continue
            found = {**self.found.get(name, {}), **changed}
            words = " ".join(f"{key.split('__')[-1]}={value}" for key, value in found.items())
            names.append(f"{base} {words}")
            self.found[names[-1]] = found
        return names

    def run(self, wrapping: Wrapping) -> tuple[str, list[dict[str, Any]], Tournament | None]:
        """Cross-validate; return the name of the winner, the leaderboard and the tournament."""
        if self.n_folds == 0:
            self.make(self.model)  # raises an error for wrong settings
            return self.model, [], None
        self.clock.foretell(self._compile_seconds())
        chosen = self._rows()
        pairs, finer = self._pairs(chosen)
        self.clock.step("features of fold 1")
        start = self.clock.counted()
        load = partial(self._load, chosen[pairs[0][0]], chosen[pairs[0][1]], first=True)
        first = self.clock.within(np.inf, load)
        load_seconds = self.clock.counted() - start
        if self.model == "auto":
            candidates = choose(self.situation())
        else:
            self.make(self.model)
            candidates = [Candidate(self.model)]
        names = [c.name for c in candidates]
        loads: list[Callable[[], Fold]] = [
            partial(self._load, chosen[train], chosen[test]) for train, test in (*pairs, *finer)
        ]
        loads[0] = lambda: first
        tournament = Tournament(
            candidates, self.make, loads[: len(pairs)], self._score, self.clock,
            finer=loads[len(pairs) :],
            always=BASELINE if self.model == "auto" and BASELINE in names else None,
            final=partial(self.final_seconds, wrapping=wrapping), load_seconds=load_seconds,
            seed=self.seed,
            variants=self._variants if self._search else None,
            fit=partial(fit_balanced, class_weight=self.class_weight),
        )  # fmt: skip
        board = [self._facts(entry, wrapping) for entry in tournament.run()]
        stop = tournament.interrupted
        if stop is not None:
            if not any(entry.scores for entry in tournament.entries.values()):
                raise stop
            self.clock.hurry(_GRACE if isinstance(stop, KeyboardInterrupt) else 0.0)
        return tournament.winner().name, board, tournament

    def final_seconds(self, entry: Entry, wrapping: Wrapping, n_rows: int | None = None) -> float:
        """Return about how long the final fit of an entry takes, by default on all rows.

        Features are computed and the model is written, too.
        """
        if n_rows is None:
            n_rows = self.rows_in_memory(entry.name, wrapping)
        is_plain = wrapping.calibrate is None and wrapping.coverage is None
        fits = 1.0 if is_plain else wrapping.fits
        writing = _WRITING
        if entry.n_bytes:  # large models, such as forests, grow with the rows
            writing += _WRITING_BYTE * entry.n_bytes * n_rows / entry.rows
        writing *= self.clock.slowness()
        return self.row_seconds * n_rows + fits * entry.foresee(n_rows) + writing

    def _facts(self, entry: Entry, wrapping: Wrapping) -> dict[str, Any]:
        """Return a line of the leaderboard; of a large table, with the rows of a final fit."""
        facts = entry.facts()
        if self.problem.rest is None or not facts["folds"]:
            return facts
        facts["final_rows"] = most = self.rows_in_memory(entry.name, wrapping)
        if most < self.problem.n_all:
            sample = f"it can be fitted on a sample of {most:,} rows only"
            facts["note"] = "; ".join(filter(None, [facts["note"], sample]))
        return facts

    def reads_in_place(self, name: str, wrapping: Wrapping) -> bool:
        """Return whether an entry reads rows from disk."""
        plain = wrapping.calibrate is None and wrapping.coverage is None
        return plain and find_model(self.base(name)).in_place

    def rows_in_memory(self, name: str, wrapping: Wrapping) -> int:
        """Return the number of rows that fit in memory, if an entry needs them there."""
        problem = self.problem
        if problem.rest is None or self.reads_in_place(name, wrapping):
            return problem.n_all
        per_row = self._bytes_per_row + _PER_LABEL * len(problem.class_rows())
        return int(np.clip(usable_memory(self.memory) / 2 / per_row, 1, problem.n_all))

    @cached_property
    def _bytes_per_row(self) -> float:
        """Bytes of the features of a row, and of what a fit copies of them."""
        problem = self.problem
        few = TableFeatures(problem.schema, self.text).fit_transform(problem.frame.iloc[:_FEW])
        return float(_COPIES * n_bytes(few) / few.shape[0])

    def _pairs(self, rows: Any) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
        """Return folds to choose models by, and more folds for the figures of those chosen."""
        if self.n_folds is not None:
            return self.folds(rows, self.n_folds), []
        groups = self.problem.groups
        most = fold_count(len(rows), None if groups is None else groups[rows])
        if self.model != "auto" and self.clock.seconds is None and not self._search:
            return self.folds(rows, most), []
        return self.folds(rows, FEWEST), self.folds(rows, most) if most > FEWEST else []

    def folds(self, rows: Any, n_folds: int) -> list[tuple[Any, Any]]:
        """Split some rows, stratified by label; rows with equal inputs stay together."""
        codes, groups = self.problem.codes(), self.problem.groups
        return make_folds(
            None if codes is None else np.unique(codes[rows], return_inverse=True)[1],
            len(rows), n_folds, self.seed, None if groups is None else groups[rows],
        )  # fmt: skip

    def _rows(self) -> Any:
        """Rows of the tournament: all, or a sample if time is short."""
        n_rows = self.problem.n_rows
        most = n_rows
        if self.clock.seconds is not None:
            most = max(5000, int(_ROWS_PER_SECOND * self.clock.seconds))
            if n_rows > _LEAST_ROWS:
                self.clock.step("features of some rows")
                self.clock.within(np.inf, self._measure_features)
                quick = _FEATURES_SHARE * self.clock.left() / max(self.row_seconds, 1e-9)
                most = min(most, max(int(quick), _LEAST_ROWS))
        if n_rows <= most:
            return np.arange(n_rows)
        return np.sort(np.random.default_rng(self.seed).choice(n_rows, most, replace=False))

    def _measure_features(self) -> None:
        """Find how long the features of a row take, after libraries and kernels are loaded."""
        rows = np.random.default_rng(self.seed).permutation(self.problem.n_rows)[:_MEASURED_ROWS]
        for some in (rows[:_FEW_ROWS], rows):
            start = self.clock.counted()
            frame, _ = self.problem.training_rows(np.sort(some))
            TableFeatures(self.problem.schema, self.text).fit_transform(frame)
        self.row_seconds = (self.clock.counted() - start) / len(rows)

    def _compile_seconds(self) -> float:
        """Return about how long it takes to compile the kernels of all models, if they are not."""
        wide = replace(self.situation(), n_features=_MANY)
        tried = [c.name for c in choose(wide) if c.reason is None]
        names = tried if self.model == "auto" else [self.model]
        return compile_seconds(kernels_of(names, wide.is_sparse))

    def _load(self, train: Any, test: Any, first: bool = False) -> Fold:
        """Features of a fold, learned from its training rows only."""
        problem = self.problem
        vectorizer = TableFeatures(problem.schema, self.text)
        if first:  # libraries are loaded once, which is not a matter of the number of rows
            few = take_rows(problem.frame, train[:_FEW_ROWS])
            TableFeatures(problem.schema, self.text).fit_transform(few)
        start = self.clock.counted()
        frame, y = problem.training_rows(train)
        X_train = vectorizer.fit_transform(frame)
        self.row_seconds = (self.clock.counted() - start) / len(train)
        X_test = vectorizer.transform(take_rows(problem.frame, test))
        if first:
            self._n_features = vectorizer.n_features_
        return Fold(X_train, y, X_test, test, vectorizer)

    def _score(self, estimator: Any, fold: Fold) -> Score:
        from palmette.metrics import hierarchical_f1_score

        problem = self.problem
        truth = [problem.truth[i] for i in fold.test.tolist()]
        if problem.learner is not None:
            predicted: list[Any] = problem.paths_of(estimator.predict(fold.X_test))
        elif problem.several_paths:
            sets = node_sets(estimator, fold.X_test, problem.hierarchy)
            predicted = write_sets(sets, problem.hierarchy)
        else:
            nodes = nodes_of(estimator, fold.X_test, problem.hierarchy)
            predicted = write_nodes(nodes, problem.hierarchy)
        f1 = hierarchical_f1_score(truth, predicted, hierarchy=problem.hierarchy)
        right = [a == b for a, b in zip(truth, predicted, strict=True)]
        chains = held_out_chains(problem, estimator, fold.X_test, fold.test)
        return Score(float(f1), float(np.mean(right)), chains)


def summarize(
    problem: TableProblem,
    name: str,
    board: list[dict[str, Any]],
    fit_seconds: float,
    clock: Clock,
    text: str,
    seed: int,
    wrapping: Wrapping,
) -> dict[str, Any]:
    """Return plain facts about a fit."""
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
        "rows": problem.n_all,
        "rows_without_target": problem.n_dropped,
        "columns": dict(problem.schema.kinds),
        "text": text if problem.schema.names("text") else None,
        "target": problem.target.describe(),
        "hierarchy": {"nodes": h.n_nodes - 1, "leaves": h.n_leaves, "depth": h.max_depth},
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


def n_bytes(X: Any) -> int:
    """Return the bytes of features in double precision."""
    return int(12 * X.nnz if sparse.issparse(X) else 8 * X.size)


@dataclass(frozen=True)
class Wrapping:
    """Calibration of the winner.

    Parameters
    ----------
    calibrate : str or None
        Method of `CalibratedHierarchicalClassifier`.
    coverage : float or None
        Coverage of `ConformalHierarchicalClassifier`.
    """

    calibrate: str | None = None
    coverage: float | None = None

    @property
    def fits(self) -> float:
        """Approximate time of the final fit, in fits on a fold."""
        fits = 1.2 + (_CALIBRATION_FOLDS if self.calibrate else 1.0)
        return fits * 2 if self.coverage else fits

    def around(self, estimator: Any, seed: int, several: bool = False) -> Any:
        """Wrap an unfitted estimator.

        If rows have several labels, the wrapper learns the hierarchy that the estimator would
        learn, as it reads the labels first.
        """
        plain = estimator
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
        learner = plain.get_params(deep=False).get("hierarchy")
        if several and estimator is not plain and hasattr(learner, "fit"):
            plain.set_params(hierarchy=None)
            estimator.set_params(hierarchy=learner)
        return estimator
