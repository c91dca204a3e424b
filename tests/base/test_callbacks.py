"""Laws of rounds as tasks: callbacks hear of every one, and without any nothing is paid."""

from __future__ import annotations

import copy
import inspect
import pickle
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter
from tests.iterative import Recorder, SampledCentroids, X, Y

from palmette.base import _callbacks as callbacks
from palmette.base._callbacks import (
    IterativeFitMixin,
    callbacks_of,
    monitored_fit,
    monitored_rounds,
    state_of,
)


class ModelKeeper(Recorder):
    """Asks for all that a hook can have, and keeps it."""

    def __init__(self):
        super().__init__()
        self.begun, self.ended = [], []

    def on_fit_task_begin(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "round":
            self.begun.append(fitted_estimator)

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self.ended.append((context.task_name, X, y, metadata, fitted_estimator))


def rounds_seen(first, stop):
    return [f"{hook} round {turn}" for turn in range(first, stop) for hook in ("begin", "end")]


def fit(*given, **parameters):
    return SampledCentroids(random_state=0, **parameters).set_callbacks(*given).fit(X, Y)


# ---------------------------------------------------------------------- without callbacks


def test_without_callbacks_rounds_are_a_plain_range():
    rounds = monitored_rounds(SampledCentroids(), 2, 5, X=X, y=Y)
    assert type(rounds) is type(iter(range(3)))
    assert list(rounds) == [2, 3, 4]


def test_without_callbacks_fit_is_called_as_it_is_and_needs_no_decorator():
    class Plain(IterativeFitMixin, BaseEstimator):
        def fit(self, X, y=None):
            return list(monitored_rounds(self, 0, 3))

    assert Plain().fit(X) == [0, 1, 2]


def test_the_decorator_keeps_the_signature():
    assert list(inspect.signature(SampledCentroids.fit).parameters) == [
        *("self", "X", "y", "sample_weight")
    ]
    assert has_fit_parameter(SampledCentroids(), "sample_weight")


# ---------------------------------------------------------------------- what callbacks hear


def test_callbacks_hear_of_the_fit_and_of_every_round():
    recorder = Recorder()
    fit(recorder, n_rounds=3)
    assert recorder.seen == [
        *("setup", "begin fit 0"),
        *rounds_seen(0, 3),
        *("end fit 0", "teardown"),
    ]


def test_a_fit_of_no_rounds_begins_and_ends():
    recorder = Recorder()
    fit(recorder, n_rounds=0)
    assert recorder.seen == ["setup", "begin fit 0", "end fit 0", "teardown"]


def test_a_loop_that_is_left_early_ends_its_round_and_the_fit():
    recorder = Recorder()
    model = fit(recorder, n_rounds=10, leave_at=1)
    assert recorder.seen[2:] == [*rounds_seen(0, 2), "end fit 0", "teardown"]
    assert model.n_rounds_ == 2


def test_a_callback_can_stop_the_rounds():
    recorder, other = Recorder(stop_after=2), Recorder()
    model = fit(recorder, other, n_rounds=10)
    assert model.n_rounds_ == 3
    assert np.array_equal(model.centroids_, fit(n_rounds=3).centroids_)
    assert recorder.seen == other.seen
    assert recorder.seen[2:] == [*rounds_seen(0, 3), "end fit 0", "teardown"]


def test_an_interrupted_fit_is_torn_down_but_has_no_end():
    recorder = Recorder()
    with pytest.raises(KeyboardInterrupt):
        fit(recorder, interrupt_at=1)
    assert recorder.seen[2:] == [*rounds_seen(0, 1), "begin round 1", "teardown"]


def test_what_a_callback_raises_comes_out_of_fit():
    recorder = Recorder(fail_at=1)
    with pytest.raises(ZeroDivisionError):
        fit(recorder)
    assert recorder.seen[2:] == [*rounds_seen(0, 2), "teardown"]


def test_bad_input_is_refused_before_callbacks_are_set_up():
    recorder = Recorder()
    with pytest.raises(ValueError, match="NaN"):
        SampledCentroids().set_callbacks(recorder).fit(X * np.nan, Y)
    assert recorder.seen == []


@pytest.mark.parametrize("parameters", [{}, {"interrupt_at": 2}, {"leave_at": 2}])
def test_nothing_is_left_behind(parameters):
    model = SampledCentroids(random_state=0, **parameters).set_callbacks(Recorder())
    with suppress(KeyboardInterrupt):
        model.fit(X, Y)
    assert callbacks._running == {}
    assert state_of(model) is None
    plain = SampledCentroids(random_state=0).fit(X, Y)
    assert vars(model).keys() - vars(plain).keys() == {"_skl_callbacks"}


# ---------------------------------------------------------------------- models between rounds


def test_models_between_rounds_are_those_of_shorter_fits():
    keeper = ModelKeeper()
    fit(keeper, n_rounds=4)
    rounds = [each for each in keeper.ended if each[0] == "round"]
    assert len(rounds) == 4
    assert keeper.begun[0] is None  # before the first round there is none
    for turn, (_, rows, labels, metadata, model) in enumerate(rounds):
        expected = fit(n_rounds=turn + 1)
        assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))
        assert rows is X
        assert labels is Y
        assert metadata is None
        if turn < 3:
            assert np.array_equal(keeper.begun[turn + 1].centroids_, expected.centroids_)


def test_the_model_at_the_end_is_the_fitted_one():
    for parameters in ({}, {"leave_at": 2}):
        keeper = ModelKeeper()
        model = fit(keeper, n_rounds=5, **parameters)
        name, _, _, _, last = keeper.ended[-1]
        assert name == "fit"
        assert last is not model
        assert np.array_equal(last.predict_proba(X), model.predict_proba(X))


def test_weights_reach_the_callbacks():
    keeper, weights = ModelKeeper(), np.arange(60.0)
    SampledCentroids().set_callbacks(keeper).fit(X, Y, sample_weight=weights)
    assert all(each[3] == {"sample_weight": weights} for each in keeper.ended)


def test_no_model_is_made_for_callbacks_that_ask_for_none():
    class Counting(IterativeFitMixin, BaseEstimator):
        made = 0

        def attributes(self):
            Counting.made += 1
            return {}

        @monitored_fit
        def fit(self, X, y=None):
            for _ in monitored_rounds(self, 0, 5, fitted=self.attributes):
                pass
            return self

    Counting().set_callbacks(Recorder()).fit(X)
    assert Counting.made == 0
    Counting().set_callbacks(ModelKeeper(), ModelKeeper()).fit(X)
    assert Counting.made == 4 + 5  # as rounds begin, but for the first, and as they end


# ---------------------------------------------------------------------- fits that go on


class GoesOn(IterativeFitMixin, BaseEstimator):
    """Twenty rounds, some of them done before."""

    def __init__(self, first=8, fail=False):
        self.first = first
        self.fail = fail

    @monitored_fit
    def fit(self, X=None, y=None):
        self.turns_ = []
        for turn in monitored_rounds(self, self.first, 20):
            if self.fail:
                raise KeyboardInterrupt
            self.turns_.append(turn)
        return self


def test_rounds_done_before_are_told_from_those_that_are_done():
    recorder = Recorder()
    model = GoesOn(first=18).set_callbacks(recorder).fit()
    assert model.turns_ == [18, 19]
    assert recorder.seen.count("begin round done before 17") == 1
    assert [each for each in recorder.seen if "done before" not in each] == [
        *("setup", "begin fit 0"),
        *rounds_seen(18, 20),
        *("end fit 0", "teardown"),
    ]


def test_a_callback_cannot_stop_rounds_that_were_done_before():
    class Stopper(Recorder):
        def on_fit_task_end(self, estimator, context):
            return True

    assert GoesOn(first=18).set_callbacks(Stopper()).fit().turns_ == [18]


def test_a_fit_that_was_finished_before_has_nothing_left_to_do():
    recorder = Recorder()
    assert GoesOn(first=20).set_callbacks(recorder).fit().turns_ == []
    assert recorder.seen[-2:] == ["end fit 0", "teardown"]


# ---------------------------------------------------------------------- copies, checks


def test_copies_keep_their_callbacks_and_fit_alike():
    recorder = Recorder()
    model = fit(recorder, n_rounds=3)
    assert callbacks_of(clone(model)) == [recorder]
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert len(callbacks_of(twin)) == 1
        assert np.array_equal(twin.fit(X, Y).centroids_, model.centroids_)


@parametrize_with_checks([SampledCentroids().set_callbacks(Recorder())])
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------- rules for estimators


def test_a_fit_that_calls_that_of_its_base_class_is_one_fit():
    class Derived(SampledCentroids):
        @monitored_fit
        def fit(self, X, y):
            super().fit(X, y)
            self.extra_ = True
            return self

    recorder = Recorder()
    Derived(n_rounds=2).set_callbacks(recorder).fit(X, Y)
    assert recorder.seen == [
        *("setup", "begin fit 0"),
        *rounds_seen(0, 2),
        *("end fit 0", "teardown"),
    ]


def test_a_fit_that_lacks_the_decorator_is_told_so():
    class Undecorated(IterativeFitMixin, BaseEstimator):
        def fit(self, X, y=None):
            return list(monitored_rounds(self, 0, 3))

    with pytest.raises(RuntimeError, match=r"Undecorated\.fit.*monitored_fit"):
        Undecorated().set_callbacks(Recorder()).fit(X)


def test_a_fit_has_one_loop_of_rounds():
    class Twice(IterativeFitMixin, BaseEstimator):
        @monitored_fit
        def fit(self, X, y=None):
            list(monitored_rounds(self, 0, 3))
            list(monitored_rounds(self, 0, 3))

    with pytest.raises(RuntimeError, match="only once"):
        Twice().set_callbacks(Recorder()).fit(X)
