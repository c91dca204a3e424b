"""What all boosted classifiers share: going on, stages, callbacks, jobs."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from tests.boosting.models import ALL_FIVE, MODELS, MODELS_OF_SETS, StopAfter, bits, fitted, make
from tests.boosting.problems import DAG, dag_problem, tree_problem

import palmette as pm
from palmette.exceptions import PalmetteError

X, Y = tree_problem(n_samples=96)
X_SETS, Y_SETS = dag_problem()


@pytest.fixture(autouse=True)
def no_other_warnings():
    """A test fails by a warning that it does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# ---------------------------------------------------------------------- going on


@pytest.mark.parametrize("name", MODELS)
def test_a_warm_start_is_as_one_longer_fit(name):
    whole = fitted(name)
    grown = make(name, warm_start=True, n_estimators=1).fit(X, Y)
    for n_estimators in (2, 2, 3):
        grown.set_params(n_estimators=n_estimators).fit(X, Y)
        assert len(grown.rounds_) == n_estimators
    assert bits(grown) == bits(whole)
    assert np.array_equal(grown.predict_proba(X), whole.predict_proba(X))


def test_a_warm_start_of_forests_is_as_one_longer_fit():
    forest, top = RandomForestClassifier(2, max_depth=2), [path[0] for path in Y]
    whole = pm.AdaBoostMHClassifier(weak_learner=forest, n_estimators=3, random_state=0).fit(X, top)
    grown = clone(whole).set_params(warm_start=True, n_estimators=1).fit(X, top)
    grown.set_params(n_estimators=3).fit(X, top)
    assert np.array_equal(grown.predict_proba(X), whole.predict_proba(X))
    assert np.array_equal(grown.edges_, whole.edges_)


def test_without_a_warm_start_a_fit_begins_anew():
    clf = make("mh", n_estimators=5).fit(X, Y)
    before = bits(clf)
    assert bits(clf.fit(X, Y)) == before


@pytest.mark.parametrize("kind", ALL_FIVE)
def test_a_warm_start_refuses_other_labels_and_fewer_rounds(kind):
    clf = kind(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(PalmetteError, match="warm_start=True continues a fit with 11 nodes"):
        clf.fit(X, [path[:1] for path in Y])
    # the same nodes, but one of them is no label any more
    clf = kind(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(PalmetteError, match="other labels among them"):
        clf.fit(X, [("b", "x") if path == ("b",) else path for path in Y])
    clf = kind(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(PalmetteError, match="n_estimators=2 is less than the 3 rounds"):
        clf.set_params(n_estimators=2).fit(X, Y)


# ---------------------------------------------------------------------- stages


@pytest.mark.parametrize("name", MODELS)
def test_stages_are_what_shorter_fits_answer_and_end_at_the_model(name):
    clf = fitted(name)
    labels = list(clf.staged_predict(X))
    proba = [stage.copy() for stage in clf.staged_predict_proba(X)]
    scores = list(clf.staged_score(X, Y))
    assert len(labels) == len(proba) == len(scores) == 3
    assert labels[-1] == clf.predict(X)
    np.testing.assert_allclose(proba[-1], clf.predict_proba(X), rtol=1e-12)
    assert scores[-1] == clf.score(X, Y)
    short = make(name, n_estimators=2).fit(X, Y)
    assert labels[1] == short.predict(X)
    np.testing.assert_allclose(proba[1], short.predict_proba(X), rtol=1e-12)
    assert scores[1] == short.score(X, Y)
    weights = np.arange(len(X))
    assert list(clf.staged_score(X, Y, weights))[1] == short.score(X, Y, weights)


@pytest.mark.parametrize("name", MODELS_OF_SETS)
def test_stages_of_several_paths(name):
    clf = make(name, n_estimators=3, hierarchy=DAG).fit(X_SETS, Y_SETS)
    assert clf.several_paths_
    labels = list(clf.staged_predict(X_SETS))
    assert len(labels) == 3
    assert labels[-1] == clf.predict(X_SETS)
    proba = list(clf.staged_predict_proba(X_SETS))
    np.testing.assert_allclose(proba[-1], clf.predict_proba(X_SETS), rtol=1e-12)
    scores = list(clf.staged_score(X_SETS, Y_SETS))
    assert scores[-1] == clf.score(X_SETS, Y_SETS)
    short = make(name, n_estimators=2, hierarchy=DAG).fit(X_SETS, Y_SETS)
    assert labels[1] == short.predict(X_SETS)


@pytest.mark.parametrize("kind", ALL_FIVE)
def test_stages_of_a_frame_keep_its_index(kind):
    frame = pd.DataFrame(X, columns=list("wxyz"), index=np.arange(len(X)) * 10)
    labels = pd.Series(["_".join(path) for path in Y], index=frame.index, name="kind")
    clf = kind(n_estimators=3, random_state=0).fit(frame, labels)
    stages = list(clf.staged_predict(frame.iloc[5:9]))
    assert len(stages) == 3
    for stage in stages:
        assert stage.index.tolist() == [50, 60, 70, 80]
    pd.testing.assert_series_equal(stages[-1], clf.predict(frame.iloc[5:9]))


def test_stages_of_a_path_by_signs():
    clf = make("ada stumps", decoding="sign").fit(X, Y)
    assert list(clf.staged_predict(X))[-1] == clf.predict(X)


# ---------------------------------------------------------------------- callbacks and jobs


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_monitored_and_progress_is_shown(name, capsys):
    own = pytest.importorskip("sklearn.callback", reason="scikit-learn has them since 1.9")
    names = np.array(["_".join(path) for path in Y])
    monitor = own.ScoringMonitor(scoring="accuracy")
    clf = make(name, n_estimators=3).set_callbacks(own.ProgressBar(), monitor).fit(X, names)
    logs = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert [row["accuracy"] for row in logs] == list(clf.staged_score(X, names))
    assert "100%" in capsys.readouterr().out
    assert bits(clf) == bits(make(name, n_estimators=3).fit(X, names))


@pytest.mark.parametrize("name", MODELS)
def test_verbose_prints_the_losses_and_changes_nothing(name, capsys):
    loud = make(name, n_estimators=3, verbose=2).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"round {turn} of 3: loss {loss:.5f}" for turn, loss in enumerate(loud.train_loss_, 1)
    ]
    quiet = make(name, n_estimators=3).fit(X, Y)
    assert capsys.readouterr().out == ""
    assert bits(quiet) == bits(loud)


def test_verbose_prints_some_rounds_the_last_one_and_the_end(capsys):
    make("leaf softmax", n_estimators=25, verbose=1).fit(X, Y)
    rounds = [int(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert rounds == [*range(2, 25, 2), 25]
    noise = [Y[i] for i in np.random.default_rng(0).permutation(len(Y))]
    stops = {"n_iter_no_change": 2, "tol": 0.0, "validation_fraction": 0.3, "learning_rate": 0.5}
    clf = make("leaf softmax", n_estimators=60, verbose=2, **stops).fit(X, noise)
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"stopped: the best loss was that after round {len(clf.rounds_)}"
    assert len(lines) == len(clf.rounds_) + 2
    assert lines[0].endswith(f", validation loss {clf.validation_loss_[0]:.5f}")


def test_verbose_counts_the_folds_that_choose_a_rule(capsys):
    make("leaf softmax", n_estimators=2, decoding="marginal", verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[-2:]] == ["round 1 of 2", "round 2 of 2"]
    folds = [f"fold {k} of {len(lines) - 2}, to choose the decision rule" for k in (1, 2, 3)]
    assert lines[:3] == folds


def test_a_callback_may_end_the_fit():
    clf = make("mh").set_callbacks(StopAfter(3)).fit(X, Y)
    assert len(clf.rounds_) == 4
    assert bits(clf) == bits(make("mh", n_estimators=4).fit(X, Y))


@pytest.mark.parametrize("name", MODELS)
def test_jobs_change_nothing(name):
    one, two = (make(name, n_jobs=n, n_estimators=3).fit(X, Y) for n in (1, 3))
    assert bits(one) == bits(two)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("kind", ALL_FIVE)
@pytest.mark.parametrize("option", [{"subsample": 0.5}, {"weight_trim": 0.3}], ids=repr)
def test_rounds_look_at_some_of_the_rows(kind, option):
    """So they find other splits than from all of them, and still learn."""
    if not option.keys() <= kind().get_params().keys():
        return
    names = np.array(["_".join(path) for path in Y])
    whole, some = (kind(n_estimators=20, random_state=0, **given) for given in ({}, option))
    assert bits(whole.fit(X, names)) != bits(some.fit(X, names))
    assert some.score(X, names) > 0.5
