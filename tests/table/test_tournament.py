"""The tournament: the best wins, time is kept to, failures and Ctrl-C end nothing."""

from __future__ import annotations

import time

import numpy as np
import pytest

from palmette import _stopping
from palmette.exceptions import PalmetteError
from palmette.table import _clock, _tournament
from palmette.table._candidates import Candidate
from palmette.table._clock import Clock
from palmette.table._entries import Score
from palmette.table._folds import fold_count, make_folds
from palmette.table._tournament import Fold, Tournament


class Model:
    """A model of known quality and cost, on a clock that only it moves."""

    def __init__(self, name, quality, seconds, clock, proba=True):
        self.name, self.quality, self.seconds, self.clock = name, quality, seconds, clock
        if proba:
            self.predict_proba = None

    def fit(self, X, y):
        if isinstance(self.quality, BaseException):
            raise self.quality
        self.clock.now += self.seconds * len(y) / 1000
        return self


class Watch:
    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def watch(monkeypatch):
    clock = Watch()
    monkeypatch.setattr(_clock, "time", clock)
    return clock


def run(watch, models, seconds=None, n_folds=3, always=None, finer=()):
    """Run a tournament of models given as name: (quality, seconds for 1000 rows, proba)."""

    def make(name):
        return Model(name, *models[name][:2], watch, *models[name][2:])

    fold = Fold(np.zeros((1000, 1)), ["a"] * 1000, np.zeros((10, 1)), np.arange(10))
    game = Tournament(
        [Candidate(name) for name in models],
        make,
        [lambda: fold] * n_folds,
        lambda model, fold: Score(model.quality, model.quality),
        Clock(seconds),
        finer=finer,
        always=always,
    )
    game.run()
    return game


def ten_folds():
    """Return folds that have more training rows, and of which the first happens to be hard."""
    fold = Fold(np.zeros((1200, 1)), ["a"] * 1200, np.zeros((3, 1)), np.arange(3), "features")
    return [lambda: fold] * 10


def test_the_best_are_compared_on_more_folds_if_there_is_time(watch):
    models = {"good": (0.9, 1), "near": (0.895, 1), "poor": (0.2, 1)}
    for seconds in (None, 100.0):
        game = run(watch, models, seconds=seconds, finer=ten_folds())
        facts = {entry.name: entry.facts() for entry in game.leaderboard()}
        assert {name: (each["folds"], each["rows"]) for name, each in facts.items()} == {
            "good": (10, 1200), "near": (10, 1200), "poor": (1, 250 if seconds else 1000),
        }  # fmt: skip
        assert not facts["good"]["note"]
        assert game.fallback.vectorizer == "features"
        assert game.entries["good"].curve[1200] == game.entries["good"].mean


def test_without_time_for_more_folds_all_have_three(watch):
    models = {"good": (0.9, 1), "near": (0.895, 1)}
    for seconds in (*range(10, 29), *range(30, 40)):
        watch.now = 0.0
        entries = run(watch, models, seconds=float(seconds), finer=ten_folds()).leaderboard()
        counts = {(len(entry.scores), entry.rows) for entry in entries}
        assert counts in ({(3, 1000)}, {(10, 1200)})
        few = counts == {(3, 1000)}
        assert {entry.note for entry in entries} == {"no time for 10 folds" if few else ""}
        assert few == (seconds < 29), seconds
        assert watch.now < seconds


def test_the_best_wins_on_all_folds(watch):
    game = run(watch, {"poor": (0.2, 1), "good": (0.9, 1), "near": (0.895, 1)})
    assert game.winner().name == "good"
    folds = {entry.name: len(entry.scores) for entry in game.leaderboard()}
    assert folds == {"good": 3, "near": 3, "poor": 1}
    assert [entry.name for entry in game.leaderboard()] == ["good", "near", "poor"]
    assert game.entries["poor"].note == "0.700 behind the best on 1 fold"


def test_the_baseline_goes_on_however_it_fares(watch):
    game = run(watch, {"good": (0.9, 1), "base": (0.1, 1, False)}, always="base")
    assert len(game.entries["base"].scores) == 3


def test_without_probabilities_a_model_is_shown_but_not_kept(watch):
    game = run(watch, {"svm": (0.95, 1, False), "good": (0.9, 1)})
    assert game.entries["svm"].mean > game.entries["good"].mean
    assert game.winner().name == "good"
    assert len(game.entries["good"].scores) == 3
    assert run(watch, {"svm": (0.95, 1, False)}).winner().name == "svm"


def test_what_would_take_too_long_is_not_tried(watch):
    game = run(watch, {"quick": (0.5, 1), "slow": (0.55, 150)}, seconds=150)
    assert game.winner().name == "quick"
    note = game.entries["slow"].note
    assert "would take about" in note
    assert "per fold" in note
    assert game.entries["slow"].rows == 250  # one of two samples
    assert watch.now < 150


def test_the_first_model_is_fitted_whatever_it_costs(watch):
    game = run(watch, {"slow": (0.9, 500), "quick": (0.5, 1)}, seconds=60)
    assert game.winner().name == "slow"
    assert game.entries["quick"].note == "no time left"


def test_a_model_that_is_slow_on_a_sample_gives_way_to_the_others(watch, monkeypatch):
    limits = {}

    def within(clock, seconds, function):
        limits[clock._words] = seconds
        return function()

    monkeypatch.setattr(Clock, "within", within)
    run(watch, {"first": (0.9, 1), "other": (0.8, 1)}, seconds=100)
    assert limits["first, fold 1 of 3, 250 of 1,000 rows"] > 99  # there must be an answer
    assert 10 < limits["other, fold 1 of 3, 250 of 1,000 rows"] < 20
    assert 70 < limits["first, fold 1 of 3"] < 80  # the best so far


def test_there_is_an_answer_even_if_reading_took_all_the_time(watch):
    def fold():
        watch.now += 100
        return Fold(np.zeros((1000, 1)), ["a"] * 1000, np.zeros((10, 1)), np.arange(10))

    game = Tournament(
        [Candidate("one"), Candidate("two")],
        lambda name: Model(name, 0.5, 1, watch),
        [fold] * 3,
        lambda model, fold: Score(model.quality, model.quality),
        Clock(60),
    )
    game.run()
    assert game.winner().name == "one"
    assert game.entries["two"].note == "no time left"


def test_nothing_is_fitted_and_so_compiled_when_no_time_is_left(watch):
    game = run(watch, {"slow": (0.9, 500), "next": (RuntimeError("it was fitted"), 1)}, seconds=60)
    assert game.entries["next"].note == "no time left"


def test_models_that_are_behind_are_left_out_as_samples_grow(watch, monkeypatch):
    monkeypatch.setattr(_tournament, "_FIRST", 100)
    game = run(watch, {"good": (0.9, 1), "poor": (0.5, 1), "near": (0.895, 1)}, seconds=1000)
    assert {e.name: e.rows for e in game.leaderboard()} == {"good": 1000, "near": 1000, "poor": 100}
    assert game.entries["poor"].note == "0.400 behind the best on 100 rows"
    assert sorted(game.entries["good"].costs) == [100, 300, 1000]


def test_finalists_have_scores_on_the_same_folds(watch):
    models = {"good": (0.9, 10), "near": (0.895, 10)}
    for seconds in range(40, 160, 10):
        first, second = run(watch, models, seconds=seconds).leaderboard()
        assert len(first.scores) == len(second.scores) or first.rows > second.rows


def test_time_of_compilation_does_not_count(monkeypatch):
    began = []
    for module in (_clock, _stopping):
        seconds = lambda: min(time.monotonic() - began[0], 0.6) if began else 0.0  # noqa: E731
        monkeypatch.setattr(module, "seconds_compiling", seconds)

    class Compiled:
        predict_proba = None

        def fit(self, X, y):
            if not began and len(y) == 60:  # not yet when libraries are loaded, by fewer rows
                began.append(time.monotonic())
                time.sleep(0.7)
            return self

    fold = Fold(np.zeros((60, 1)), ["a"] * 60, np.zeros((10, 1)), np.arange(10))
    clock = Clock(10.0)
    game = Tournament(
        [Candidate("a")],
        lambda name: Compiled(),
        [lambda: fold],
        lambda m, f: Score(1.0, 1.0),
        clock,
    )
    game.run()
    assert clock.compiling == pytest.approx(0.6)
    assert clock.left() == pytest.approx(10.6 - clock.spent(), abs=0.01)
    assert 0.1 <= game.winner().seconds[0] < 0.6


def test_a_failure_is_a_note(watch):
    game = run(watch, {"broken": (ValueError("no\n way"), 1), "good": (0.5, 1)})
    assert game.entries["broken"].note == "failed: no way"
    assert game.winner().name == "good"
    with pytest.raises(PalmetteError, match="broken: failed: no way"):
        run(watch, {"broken": (ValueError("no way"), 1)}).winner()


def test_an_interrupt_keeps_the_best_so_far(watch):
    models = {"good": (0.5, 1), "long": (KeyboardInterrupt(), 1), "late": (0.9, 1)}
    game = run(watch, models)
    assert game.interrupted
    assert game.winner().name == "good"
    assert game.fallback.name == "good"
    assert game.entries["late"].note == "stopped before its turn"


def test_facts_are_plain_values(watch):
    facts = run(watch, {"good": (0.5, 1)}, n_folds=2).entries["good"].facts()
    assert facts == {
        "model": "good", "folds": 2, "rows": 1000,
        "hierarchical_f1": 0.5, "hierarchical_f1_std": 0.0,
        "hierarchical_f1_by_fold": [0.5, 0.5], "accuracy": 0.5, "fit_seconds": 1.0,
        "probabilities": True, "note": "",
    }  # fmt: skip


def test_small_tables_have_more_folds_than_large_ones():
    counts = [fold_count(n) for n in range(1, 40_000, 50)]
    assert counts == sorted(counts, reverse=True)
    assert {counts[0], counts[-1]} == {10, 3}
    assert all((k - 1) * n <= 30_000 for n, k in enumerate(map(fold_count, range(40_000))) if k > 3)


def test_equal_rows_stay_together_however_few_groups_there_are():
    for n_groups in (3, 4, 9, 40):
        groups = np.arange(120) % n_groups
        n_folds = fold_count(120, groups)
        assert n_folds == min(n_groups, 10)
        for train, test in make_folds(np.arange(120) % 2, 120, n_folds, 0, groups):
            assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("codes", [np.arange(30) % 3, None, np.arange(30)])
def test_folds_test_every_row_once(codes):
    folds = make_folds(codes, 30, 3, seed=0)
    tests = np.concatenate([test for _, test in folds])
    assert sorted(tests.tolist()) == list(range(30))
    assert all(not set(train) & set(test) for train, test in folds)
    with pytest.raises(PalmetteError, match="too few"):
        make_folds(None, 1, 3, seed=0)
