"""The final fit uses all rows where time allows it, on a clock that only fits move."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from palmette._stopping import OutOfTime
from palmette.table import _clock
from palmette.table._candidates import Candidate
from palmette.table._clock import Clock
from palmette.table._entries import Entry, Score
from palmette.table._final import _affordable, _choose, _has_time
from palmette.table._fit import Race, Wrapping
from palmette.table._tournament import Fallback, Fold, Tournament, _bytes_of

N_ALL = 30_000


class Now:
    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def now(monkeypatch):
    found = Now()
    monkeypatch.setattr(_clock, "time", found)
    return found


def race(row_seconds=1e-4):
    """Return what a race knows about its rows: how many there are, and what features cost."""
    found = object.__new__(Race)
    found.problem = SimpleNamespace(n_all=N_ALL, rest=None)
    found.row_seconds, found.clock = row_seconds, Clock(30.0)
    return found


def entry(name, f1, seconds, rows=20_000, before=None):
    curve = {rows: f1} if before is None else {rows // 2: before, rows: f1}
    return Entry(name, [Score(f1, f1)], [seconds], {rows: seconds}, curve)


def choose(entries, left):
    kept = Fallback(entries[0].name, None, 20_000)
    game = SimpleNamespace(entries={each.name: each for each in entries}, fallback=kept)
    return _choose(entries[0].name, race(), Wrapping(), game, Clock(left))


def test_features_and_writing_count(now, monkeypatch):
    knows, last = race(), entry("a", 0.9, 10.0, rows=N_ALL)
    assert knows.final_seconds(last, Wrapping()) == pytest.approx(10.0 + 3.0 + 0.5)
    monkeypatch.setattr(Clock, "slowness", lambda self: 6.0)  # on a machine with much other work
    assert knows.final_seconds(last, Wrapping()) == pytest.approx(10.0 + 3.0 + 3.0)


def test_large_models_take_long_to_write(now):
    large = entry("a", 0.9, 10.0, rows=N_ALL)
    large.n_bytes = 10**8
    knows = race()
    assert knows.final_seconds(large, Wrapping()) == pytest.approx(13.5 + 1.3)
    assert _bytes_of(SimpleNamespace(a=np.zeros(1000))) == 8000
    assert _bytes_of(lambda: None) == 0


def test_the_winner_is_fitted_on_all_rows_even_if_that_exceeds_the_limit_a_little(now):
    winner = entry("a", 0.9, 10.0)  # 19.4 s in all
    assert choose([winner], 20.0) == ("a", N_ALL)
    assert choose([winner], 18.0) == ("a", N_ALL)  # .1 of 18 s more
    name, rows = choose([winner], 16.0)
    assert name == "a"
    assert 20_000 < rows < 25_000


def test_what_is_exceeded_has_a_bound(now):
    assert Clock(60.0).grace() == pytest.approx(3.0)
    assert Clock(10.0).grace() == pytest.approx(1.0)
    assert Clock(None).grace() == 0.0
    clock = Clock(30.0)
    clock.hurry(10.0)
    assert clock.grace() == 0.0


def test_a_quicker_model_on_all_rows_is_chosen_if_it_is_expected_to_be_better(now):
    slow = entry("slow", 0.90, 40.0, before=0.85)
    near, poor = entry("near", 0.895, 2.0, before=0.85), entry("poor", 0.7, 0.1)
    assert choose([slow, near, poor], 100.0) == ("slow", N_ALL)
    assert choose([slow, near, poor], 10.0) == ("near", N_ALL)
    assert choose([slow, poor], 20.0)[0] == "slow"
    unproven = entry("without", 0.99, 0.1)
    unproven.proba = False
    assert choose([slow, unproven], 20.0)[0] == "slow"


def test_nothing_is_affordable_when_time_is_over(now):
    clock = Clock(10.0)
    now.now = 12.0
    assert _affordable(entry("a", 0.9, 10.0), race(), Wrapping(), clock) == 0


def test_after_a_fit_on_a_part_all_rows_are_used_if_there_is_time(now):
    clock = Clock(30.0)
    assert _has_time(10_000, 5.0, N_ALL, clock)
    assert not _has_time(10_000, 15.0, N_ALL, clock)
    assert not _has_time(N_ALL, 0.1, N_ALL, clock)


def test_errors_fall_with_the_rows_as_they_did_before():
    measured = entry("a", 0.8, 1.0, rows=4_000, before=0.73)
    assert measured.expect(8_000) == pytest.approx(1 - 0.2 * 20 / 27)
    assert measured.expect(2_000) == pytest.approx(0.73)
    worse = entry("a", 0.7, 1.0, rows=4_000, before=0.8)
    assert worse.expect(8_000) == pytest.approx(0.7)


def tournament(now, models, seconds, final=None, load=0.0):
    """Run a tournament of models given as name: (quality, seconds for 1,000 rows)."""

    class Model:
        predict_proba = None

        def __init__(self, name):
            self.quality, self.cost = models[name]

        def fit(self, X, y):
            now.now += self.cost * len(y) / 1000
            return self

    def fold():
        now.now += load
        return Fold(np.zeros((9_000, 1)), ["a"] * 9_000, np.zeros((10, 1)), np.arange(10))

    game = Tournament(
        [Candidate(name) for name in models],
        Model,
        [fold] * 3,
        lambda model, fold: Score(model.quality, model.quality),
        Clock(seconds),
        final=final,
        load_seconds=load,
    )
    game.run()
    return game


def test_time_for_the_final_fit_is_kept_whatever_is_tried(now):
    models = {"best": (0.9, 1.0), "near": (0.899, 1.0), "other": (0.898, 1.5), "more": (0.89, 2.0)}
    for seconds in range(25, 120, 7):
        now.now = 0.0
        game = tournament(now, models, float(seconds), lambda each: each.foresee(N_ALL / 2))
        assert seconds - now.now > 15 * models[game.winner().name][1], seconds


def test_what_the_best_needs_is_not_kept_if_there_is_no_time_for_it(now):
    models = {"slow": (0.9, 5.0), "quick": (0.89, 0.5)}
    game = tournament(now, models, 40.0, lambda each: each.foresee(9_000))
    assert game.entries["quick"].rows == 9_000


def test_features_of_folds_are_foreseen(now):
    models = {"best": (0.9, 0.1)}
    game = tournament(now, models, 30.0, load=20.0)
    assert len(game.entries["best"].scores) == 1
    assert "no time for more" in game.entries["best"].note
    assert now.now < 30.0


def test_nothing_more_is_tried_after_several_models_were_too_slow(now, monkeypatch):
    def within(clock, seconds, function):
        before = now.now
        found = function()
        if now.now - before > seconds:
            now.now = before + seconds
            raise OutOfTime("too slow")
        return found

    monkeypatch.setattr(Clock, "within", within)
    slow = {f"slow {i}": (0.9, 500.0) for i in range(8)}
    game = tournament(now, {"quick": (0.5, 0.1), **slow}, 100.0)
    notes = [game.entries[name].note for name in slow]
    assert notes[:3] == ["too slow on 1,000 rows"] * 3
    assert all("other models were too slow" in note for note in notes[3:])
    assert game.entries["quick"].rows == 9_000


def test_half_of_the_time_is_kept_to_fit_the_best_models_on_more_rows(now):
    models = {f"model {i}": (0.8 + i / 100, 1.0) for i in range(20)}  # 1 s for 1,000 rows
    game = tournament(now, models, 30.0, lambda each: 0.0)
    tried = [each for each in game.entries.values() if each.costs]
    assert 3 <= len(tried) < 20
    assert max(each.rows for each in tried) >= 3_000
    assert "on more rows" in game.entries["model 19"].note


def test_the_first_model_that_was_too_slow_is_tried_again_in_the_time_that_is_left(
    now, monkeypatch
):
    def within(clock, seconds, function):
        before = now.now
        found = function()
        if now.now - before > seconds:
            now.now = before + seconds
            raise OutOfTime("stopped after a while")
        return found

    monkeypatch.setattr(Clock, "within", within)
    models = {"quick": (0.5, 0.1), "slow": (0.9, 25.0), "other": (0.9, 400.0)}
    game = tournament(now, models, 100.0)
    assert game.entries["slow"].rows >= 1_000
    assert game.entries["other"].note.startswith("stopped after")


def test_a_model_that_was_far_ahead_on_fewer_rows_is_chosen_if_all_rows_can_be_fitted(now):
    base, ahead = entry("base", 0.47, 0.1), entry("ahead", 0.58, 0.5, rows=1_000)
    assert choose([base, ahead], 100.0) == ("ahead", N_ALL)
    assert choose([base, entry("near", 0.3, 0.5, rows=1_000)], 100.0) == ("base", N_ALL)
