"""Checkpoints of boosted classifiers: an interrupted fit goes on to the same model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from tests.boosting.models import ALL_FIVE, MODELS, MODELS_OF_SETS, InterruptAt, bits, fitted, make
from tests.boosting.problems import DAG, dag_problem, tree_problem

import palmette as pm
from palmette.boosting import _base as base
from palmette.exceptions import PalmetteError, ReadError

X, Y = tree_problem(n_samples=96)
X_SETS, Y_SETS = dag_problem()


@pytest.fixture(autouse=True)
def no_other_warnings():
    """A test fails by a warning that it does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def interrupted(model, path, turn, X=X, Y=Y):
    """Fit as far as some round, then fit again; the model after the second time."""
    kept = pm.Checkpoint(path, every_rounds=1)
    with pytest.raises(KeyboardInterrupt):
        clone(model).set_callbacks(kept, InterruptAt(turn)).fit(X, Y)
    return clone(model).set_callbacks(pm.Checkpoint(path)).fit(X, Y)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_interrupted_at_any_round_goes_on_to_the_same_model(name, tmp_path):
    whole = fitted(name)
    for turn in range(3):
        path = tmp_path / f"at {turn}"
        assert bits(interrupted(make(name, n_estimators=3), path, turn)) == bits(whole)


@pytest.mark.parametrize("name", MODELS_OF_SETS)
def test_so_does_one_on_several_paths_that_stops_early(name, tmp_path):
    options = {"n_estimators": 12, "n_iter_no_change": 2, "validation_fraction": 0.3, "tol": 0.02}
    model = make(name, hierarchy=DAG, **options)
    whole = clone(model).fit(X_SETS, Y_SETS)
    for turn in {0, len(whole.rounds_) // 2, len(whole.rounds_) - 1}:
        path = tmp_path / f"at {turn}"
        resumed = interrupted(model, path, turn, X_SETS, Y_SETS)
        assert bits(resumed) == bits(whole)
        assert resumed.predict(X_SETS) == whole.predict(X_SETS)


def test_errors_of_a_model_from_a_checkpoint_are_told_as_such(tmp_path):
    resumed = interrupted(make("ada masked stumps", n_estimators=3), tmp_path / "run", 1)
    resumed.rounds_ = [None]  # of any sound type, so that only its use tells
    with pytest.raises(PalmetteError, match="was loaded from a file"):
        list(resumed.staged_predict(X))


def test_a_finished_fit_is_read_made_longer_and_made_shorter(tmp_path):
    kept = pm.Checkpoint(tmp_path / "run")
    make("ada masked stumps").set_callbacks(kept).fit(X, Y)
    for n_estimators in (10, 14, 6):
        clf = make("ada masked stumps", n_estimators=n_estimators).set_callbacks(kept).fit(X, Y)
        assert bits(clf) == bits(make("ada masked stumps", n_estimators=n_estimators).fit(X, Y))


def test_a_fit_without_a_seed_goes_on_with_the_one_it_drew(tmp_path, monkeypatch):
    model = make("ada shared", random_state=None)
    drawn = []

    def check_random_state(random_state):
        """Another one at every call, as the clock would give."""
        drawn.append(np.random.RandomState(len(drawn)))
        return drawn[-1]

    monkeypatch.setattr(base, "check_random_state", check_random_state)
    whole = clone(model).fit(X, Y)
    drawn.clear()
    resumed = interrupted(model, tmp_path / "run", 4)
    assert len(drawn) == 2
    assert bits(resumed) == bits(whole)


@pytest.mark.parametrize("kind", ALL_FIVE)
def test_foreign_data_and_parameters_are_refused_by_name(kind, tmp_path):
    kept = pm.Checkpoint(tmp_path / "run")
    kind(n_estimators=2, random_state=0).set_callbacks(kept).fit(X, Y)

    def again(X=X, Y=Y, weights=None, **parameters):
        clf = kind(**{"n_estimators": 2, "random_state": 0, **parameters})
        clf.set_callbacks(kept).fit(X, Y, weights)

    again(n_jobs=2)
    with pytest.raises(ReadError, match="its data differ"):
        again(X=X[::-1].copy())
    with pytest.raises(ReadError, match="its data differ"):
        again(Y=[Y[1], *Y[1:]])
    with pytest.raises(ReadError, match="its data differ"):
        again(weights=np.arange(1.0, len(X) + 1))
    with pytest.raises(ReadError, match=r"parameters differ \(learning_rate="):
        again(learning_rate=0.123)
    with pytest.raises(ReadError, match=r"\(random_state=0 there, 1 here\)"):
        again(random_state=1)
    other = ALL_FIVE[(ALL_FIVE.index(kind) + 1) % 5]
    with pytest.raises(ReadError, match=f"its estimator is {kind.__name__}, not {other.__name__}"):
        other(n_estimators=2, random_state=0).set_callbacks(kept).fit(X, Y)


def test_a_weak_learner_that_was_changed_is_refused_by_name(tmp_path):
    kept = pm.Checkpoint(tmp_path / "run")
    make("ecc").set_callbacks(kept).fit(X, Y)
    changed = make("ecc").set_params(weak_learner__max_depth=3).set_callbacks(kept)
    with pytest.raises(ReadError, match="max_depth"):
        changed.fit(X, Y)


def test_models_of_other_libraries_cannot_be_kept(tmp_path):
    clf = pm.AdaBoostMHClassifier(weak_learner=GaussianNB(), n_estimators=2)
    with pytest.raises(PalmetteError, match=r"Use a weak learner of palmette\.weak"):
        clf.set_callbacks(pm.Checkpoint(tmp_path / "run")).fit(X, Y)
