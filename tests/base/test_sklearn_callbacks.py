"""Rounds as tasks of scikit-learn's own callbacks, and where those are missing or have changed."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.iterative import Recorder, SampledCentroids, X, Y

from palmette.base import _callbacks as callbacks
from palmette.base._callbacks import IterativeFitMixin, monitored_fit, monitored_rounds

sklearn_callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has them since 1.9")
ProgressBar = sklearn_callback.ProgressBar
ScoringMonitor = sklearn_callback.ScoringMonitor


def fit(*given, **parameters):
    return SampledCentroids(random_state=0, **parameters).set_callbacks(*given).fit(X, Y)


def test_scores_are_monitored_round_by_round_under_our_names():
    monitor = ScoringMonitor(scoring=["accuracy", "hierarchical_f1"])
    fit(monitor, ProgressBar(), n_rounds=4)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert [row["task_id"] for row in rows] == [0, 1, 2, 3]
    expected = [fit(n_rounds=n).score(X, Y) for n in (1, 2, 3, 4)]
    assert [row["accuracy"] for row in rows] == pytest.approx(expected)
    assert [row["hierarchical_f1"] for row in rows] == pytest.approx(expected)


def test_a_search_shows_and_monitors_the_rounds_of_all_its_fits(capsys):
    monitor = ScoringMonitor(scoring="accuracy")
    model = SampledCentroids(random_state=0, n_rounds=3).set_callbacks(monitor)
    search = GridSearchCV(model, {"shrinkage": [0.2, 0.9]}, cv=2, n_jobs=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, Y)
    rows = monitor.get_logs().data
    assert sum(row["task_name"] == "round" for row in rows) == (2 * 2 + 1) * 3
    assert "SampledCentroids - fit" in capsys.readouterr().out
    plain = GridSearchCV(
        SampledCentroids(random_state=0, n_rounds=3), {"shrinkage": [0.2, 0.9]}, cv=2
    ).fit(X, Y)
    assert search.best_params_ == plain.best_params_
    assert np.array_equal(search.best_estimator_.centroids_, plain.best_estimator_.centroids_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cross_validation_keeps_the_callbacks_of_its_clones(n_jobs):
    monitor = ScoringMonitor(scoring="accuracy")
    model = SampledCentroids(random_state=0, n_rounds=3).set_callbacks(monitor)
    scores = cross_validate(model, X, Y, cv=2, n_jobs=n_jobs, error_score="raise")
    plain = cross_validate(SampledCentroids(random_state=0, n_rounds=3), X, Y, cv=2)
    assert np.array_equal(scores["test_score"], plain["test_score"])
    logs = monitor.get_logs(select="all")
    assert [sum(row["task_name"] == "round" for row in log.data) for log in logs] == [3, 3]


def test_a_pipeline_hands_its_progress_bar_down(capsys):
    make_pipeline(StandardScaler(), SampledCentroids()).set_callbacks(ProgressBar()).fit(X, Y)
    assert "SampledCentroids - fit" in capsys.readouterr().out


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


def test_the_progress_bar_of_a_fit_that_goes_on_begins_where_that_was(capsys):
    with pytest.raises(KeyboardInterrupt):
        GoesOn(first=8, fail=True).set_callbacks(ProgressBar()).fit()
    shown = capsys.readouterr().out
    assert "GoesOn - fit" in shown
    assert " 40%" in shown
    assert "100%" not in shown
    GoesOn(first=8).set_callbacks(ProgressBar()).fit()
    assert "100%" in capsys.readouterr().out


# ---------------------------------------------------------------------- another scikit-learn


def copy_of_module(monkeypatch, **changes):
    """Our module as it is where scikit-learn's callbacks are others."""
    if changes.pop("gone", False):
        other = None
    else:
        other = ModuleType("sklearn.callback")
        other.__dict__.update({**vars(sklearn_callback), **changes})
    monkeypatch.setitem(sys.modules, "sklearn.callback", other)
    spec = importlib.util.spec_from_file_location("callbacks_elsewhere", callbacks.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class RenamedList(sklearn_callback.CallbackSupportMixin):
    def set_callbacks(self, *given):
        self.other_name = list(given)
        return self


class OtherArguments(sklearn_callback.CallbackSupportMixin):
    def _init_callback_context(self, n_tasks=0):
        raise AssertionError


class SilentContexts(sklearn_callback.CallbackSupportMixin):
    def _init_callback_context(self, max_subtasks=0):
        context = super()._init_callback_context(max_subtasks=max_subtasks)
        context._callbacks = []
        return context


def test_what_scikit_learn_has_today_is_usable(monkeypatch):
    assert callbacks._unusable is None
    assert copy_of_module(monkeypatch)._unusable is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"CallbackSupportMixin": RenamedList}, "are not found"),
        ({"CallbackSupportMixin": OtherArguments}, "max_subtasks"),
        ({"CallbackSupportMixin": SilentContexts}, ": expected"),
        ({"with_callbacks": lambda method: method}, ": expected"),
    ],
)
def test_where_callbacks_have_changed_fits_go_on_without(monkeypatch, changes, reason):
    module = copy_of_module(monkeypatch, **changes)
    assert reason in module._unusable

    class Counter(module.IterativeFitMixin, BaseEstimator):
        @module.monitored_fit
        def fit(self, X, y=None):
            self.turns_ = list(module.monitored_rounds(self, 1, 4, X=X, y=y))
            return self

    model = Counter().fit(X)
    assert model.turns_ == [1, 2, 3]
    assert not hasattr(model, "set_callbacks")  # as pipelines ask before they hand theirs down
    with pytest.raises(AttributeError, match="set_callbacks") as caught:
        model.set_callbacks(Recorder())
    assert "install scikit-learn 1.9" in str(caught.value.__cause__)


def test_where_scikit_learn_has_none_the_same_hooks_are_called(monkeypatch):
    module = copy_of_module(monkeypatch, gone=True)
    assert module._unusable is None

    class Counter(module.IterativeFitMixin, BaseEstimator):
        def __init__(self, fail=False):
            self.fail = fail

        @module.monitored_fit
        def fit(self, X, y=None):
            self.turns_ = []
            for turn in module.monitored_rounds(self, 1, 4, X=X, fitted=lambda: {"turns_": "two"}):
                self.turns_.append(turn)
                if self.fail:
                    raise KeyboardInterrupt
            return self

    class Asking(Recorder):
        def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
            self.model, self.rows = fitted_estimator, X
            return super().on_fit_task_end(estimator, context)

    recorder, asking = Recorder(stop_after=2), Asking()
    model = clone(Counter().set_callbacks(recorder, asking)).fit(X)
    assert model.turns_ == [1, 2]
    assert recorder.seen == asking.seen
    assert [each for each in recorder.seen if "done before" not in each] == [
        *("setup", "begin fit 0", "begin round 1", "end round 1", "begin round 2", "end round 2"),
        *("end fit 0", "teardown"),
    ]
    assert asking.rows is X
    assert asking.model is not model
    failing = Counter(fail=True).set_callbacks(recorder)
    with pytest.raises(KeyboardInterrupt):
        failing.fit(X)
    assert recorder.seen[-1] == "teardown"
    assert vars(failing).keys() == {"fail", "turns_", "_skl_callbacks"}
    assert "_skl_callbacks" not in vars(failing.set_callbacks())
    with pytest.raises(TypeError, match=r"3 is not a callback.*on_fit_task_end"):
        failing.set_callbacks(3)
