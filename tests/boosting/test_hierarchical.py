from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import palmette as pm
from palmette.exceptions import PalmetteError
from palmette.metrics import hierarchical_f1_score


@pytest.fixture(scope="module")
def problem():
    bunch = pm.datasets.make_hierarchical_classification(
        n_samples=600, n_features=10, branching=(2, 3), class_sep=4.0, random_state=0
    )
    return bunch.X, bunch.y


def boosting(**parameters):
    return pm.HierarchicalBoostingClassifier(
        **{"n_estimators": 40, "random_state": 0, **parameters}
    )


def test_it_learns(problem):
    X, y = problem
    clf = boosting().fit(X[:400], y[:400])
    assert hierarchical_f1_score(y[400:], clf.predict(X[400:])) > 0.9
    assert (np.diff(clf.train_loss_) < 0).all()


def test_the_first_loss_is_that_of_the_shares_of_labels(problem):
    X, y = problem
    clf = boosting(n_estimators=1).fit(X, y)
    _, counts = np.unique(["/".join(path) for path in y], return_counts=True)
    shares = counts / counts.sum()
    assert clf.train_loss_[0] == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-5)


def test_adding_rounds_is_as_never_having_stopped(problem):
    X, y = problem
    whole = boosting(n_estimators=12).fit(X, y)
    grown = boosting(n_estimators=5, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=12).fit(X, y)
    assert len(grown.trees_) == 12
    np.testing.assert_allclose(grown.predict_proba(X), whole.predict_proba(X), rtol=1e-6)
    np.testing.assert_allclose(grown.train_loss_, whole.train_loss_, rtol=1e-6)


def test_without_warm_start_a_fit_begins_anew(problem):
    X, y = problem
    clf = boosting(n_estimators=5).fit(X, y).fit(X, y)
    assert len(clf.trees_) == 5


def test_other_labels_cannot_be_added_to_a_warm_start(problem):
    X, y = problem
    clf = boosting(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(PalmetteError, match="warm_start"):
        clf.fit(X, [path[:1] for path in y])


def test_rounds_cannot_be_taken_away_by_a_warm_start(problem):
    X, y = problem
    clf = boosting(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(PalmetteError, match="n_estimators=2 is less than the 3 rounds"):
        clf.set_params(n_estimators=2).fit(X, y)


def test_seeds_matter_and_repeat(problem):
    X, y = problem
    one, again, other = (
        boosting(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_sparse_frames_and_arrays_give_the_same_model(problem):
    X, y = problem
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    expected = boosting().fit(X, y).predict_proba(X)
    scattered = sparse.csr_array(X)
    np.testing.assert_array_equal(boosting().fit(scattered, y).predict_proba(scattered), expected)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    np.testing.assert_array_equal(boosting().fit(frame, y).predict_proba(frame), expected)


def test_missing_values_tell_something():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(np.arange(200) % 2, "gone", "there")
    X[y == "gone", 0] = np.nan
    assert boosting(max_features=None).fit(X, y).score(X, y) == 1.0


def test_one_label_is_always_answered():
    clf = boosting().fit(np.zeros((3, 2)), ["only"] * 3)
    assert clf.predict(np.ones((2, 2))).tolist() == ["only", "only"]
    assert clf.trees_ == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("learning_rate", 0.0),
        ("max_depth", 0),
        ("max_depth", 13),
        ("min_samples_leaf", 0),
        ("max_features", "log"),
        ("max_features", -1),
        ("max_bins", 256),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(problem, name, value):
    with pytest.raises(PalmetteError, match=f"{name}="):
        boosting(**{name: value}).fit(*problem)


def test_texts_are_refused():
    with pytest.raises(PalmetteError, match="numbers only"):
        boosting().fit(["red", "green"], ["a", "b"])
    with pytest.raises(PalmetteError, match="numbers only"):
        boosting().fit(pd.DataFrame({"colour": ["red", "green"]}), ["a", "b"])


def test_features_per_node_by_number_share_root_or_all(problem):
    X, y = problem
    for value, drawn in [(3, 3), (0.5, 5), ("sqrt", 3), (None, 10), (99, 10), (0.01, 1)]:
        clf = clone(boosting(n_estimators=1, max_features=value)).fit(X, y)
        assert clf._learner().n_draws == drawn


@pytest.mark.data
def test_diatoms_beats_a_forest(data_home):
    """200 rounds lie above the .646 that a random forest of 500 trees gives on these rows."""
    data = pm.datasets.fetch("diatoms")
    clf = pm.HierarchicalBoostingClassifier(data.hierarchy, n_estimators=200, random_state=0)
    clf.fit(data.X_train, data.y_train)
    score = hierarchical_f1_score(data.y_test, clf.predict(data.X_test), hierarchy=data.hierarchy)
    assert score > 0.66
