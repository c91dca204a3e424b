"""Input that boosted classifiers take, and what they refuse by name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.boosting.models import ALL_FIVE, MODELS, MODELS_OF_SETS, make
from tests.boosting.problems import DAG, PATHS, dag_problem, tree_problem

import palmette as pm
from palmette.exceptions import HierarchyError, PalmetteError

X, Y = tree_problem(n_samples=96)
X_SETS, Y_SETS = dag_problem()


@pytest.fixture(autouse=True)
def no_other_warnings():
    """A test fails by a warning that it does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# ---------------------------------------------------------------------- input


@pytest.mark.parametrize("name", MODELS)
def test_missing_values_go_right_like_the_largest_ones(name):
    """Where none was missing in training, nothing tells a missing value from a very large one."""
    clf = make(name).fit(X, Y)
    for feature in range(X.shape[1]):
        gone, large = X.copy(), X.copy()
        gone[:, feature], large[:, feature] = np.nan, 1e9
        assert np.array_equal(clf.predict_proba(gone), clf.predict_proba(large))


@pytest.mark.parametrize("kind", ALL_FIVE)
def test_that_a_value_is_missing_can_be_learnt(kind):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(120, 2)).round(1)
    y = np.where(np.arange(120) % 2, "gone", "there")
    data[y == "gone", 0] = np.nan
    clf = kind(n_estimators=30, random_state=0).fit(data, y)
    assert clf.score(data, y) == 1.0
    assert clf.predict([[np.nan, 0.0], [9.0, 0.0], [-9.0, 0.0]]).tolist() == [
        "gone",
        "there",
        "there",
    ]


def test_missing_values_are_refused_where_the_weak_learner_has_no_use_for_them():
    data = np.where(X > 2, np.nan, X)
    pm.AdaBoostMHClassifier(weak_learner=DecisionTreeClassifier(max_depth=2), n_estimators=3).fit(
        data, Y
    )
    with pytest.raises(ValueError, match="NaN"):
        pm.AdaBoostMHClassifier(weak_learner=GaussianNB()).fit(data, Y)


@pytest.mark.parametrize("kind", ALL_FIVE)
def test_one_label_is_always_answered(kind):
    for labels, told in [(["only"] * 3, "only"), ([("a", "b")] * 3, ("a", "b"))]:
        clf = kind(n_estimators=3).fit(np.arange(6.0).reshape(3, 2), labels)
        assert list(clf.predict(np.zeros((2, 2)))) == [told, told]
        assert clf.rounds_ == []
        assert clf.predict_proba(np.zeros((2, 2))).tolist() == [[1.0], [1.0]]
        assert list(clf.staged_predict(np.zeros((2, 2)))) == []


@pytest.mark.parametrize("kind", ALL_FIVE)
def test_rows_that_are_all_alike_are_told_the_largest_class(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no edge left
        clf = kind(n_estimators=8, random_state=0).fit(np.ones((9, 2)), list("aabbbbbcc"))
    assert clf.predict(np.ones((2, 2))).tolist() == ["b", "b"]
    assert np.isfinite(clf.predict_proba(np.ones((1, 2)))).all()


@pytest.mark.parametrize("kind", ALL_FIVE)
def test_input_that_cannot_be_is_refused_by_name(kind):
    with pytest.raises(PalmetteError, match="sample_weight is zero for every row"):
        kind().fit(X, Y, sample_weight=np.zeros(len(X)))
    with pytest.raises(PalmetteError, match=r"sample_weight\[1\] = -1"):
        kind().fit(X, Y, sample_weight=[1.0, -1.0, *np.ones(len(X) - 2)])
    with pytest.raises(PalmetteError, match="n_estimators=0: expected a positive integer"):
        kind(n_estimators=0).fit(X, Y)
    with pytest.raises(HierarchyError, match=r"y\[95\] = 'a/new' is not in the hierarchy"):
        kind(pm.Hierarchy.from_paths(PATHS)).fit(X, [*Y[:-1], ("a", "new")])
    with pytest.raises(PalmetteError, match="numbers only"):
        kind().fit(["red", "green"], ["a", "b"])
    with pytest.raises(ValueError, match="inconsistent"):
        kind().fit(X, Y[:-1])
    clf = kind(n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="4 features"):
        clf.predict(X[:, :3])


@pytest.mark.parametrize("kind", ALL_FIVE)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", -1),
        ("n_estimators", 2.5),
        ("n_estimators", True),
        ("learning_rate", 0.0),
        ("learning_rate", "fast"),
        ("subsample", 0.0),
        ("subsample", 1.5),
        ("weight_trim", 1.0),
        ("weight_trim", -0.1),
        ("n_iter_no_change", 0),
        ("validation_fraction", 1.0),
        ("tol", -1e-9),
        ("max_bins", 256),
        ("max_bins", 1),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(kind, name, value):
    if name not in kind().get_params():
        return
    with pytest.raises(PalmetteError, match=f"{name}={value!r}: expected"):
        kind(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    "kind", [kind for kind in ALL_FIVE if "weak_learner" in kind().get_params()]
)
def test_unknown_weak_learners_are_refused_by_name(kind):
    with pytest.raises(PalmetteError, match="weak_learner='forest' is unknown"):
        kind(weak_learner="forest").fit(X, Y)


# ---------------------------------------------------------------------- classes without rows


def warnings_of(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = fit()
    return result, [str(each.message) for each in caught]


@pytest.mark.parametrize("kind", ALL_FIVE)
def test_classes_without_a_row_are_warned_of_once_and_never_predicted(kind):
    h = pm.Hierarchy.from_paths([*PATHS, ("a", "empty"), ("e",), ("e", "f")])
    clf, told = warnings_of(lambda: kind(h, n_estimators=5, random_state=0).fit(X, Y))
    assert told == [
        "3 of the 14 classes of the hierarchy have no training row, e.g. 'a/empty': they are never "
        "predicted."
    ]
    unseen = h.index([("a", "empty"), ("e",), ("e", "f")])
    assert not np.isin(unseen, clf.nodes_).any()
    far = np.random.default_rng(0).normal(scale=9, size=(200, 4))
    assert not np.isin(clf.predict_nodes(far), unseen).any()
    assert (clf.predict_node_proba(far)[:, unseen] == 0).all()


@pytest.mark.parametrize("kind", ALL_FIVE)
@pytest.mark.parametrize("given", [False, True], ids=["star", "hierarchy"])
def test_empty_columns_are_warned_of_once_and_never_predicted(kind, given):
    h = pm.Hierarchy.from_paths([("a",), ("b",), ("c",), ("d",)]) if given else None
    flags = np.eye(4, dtype=int)[np.arange(len(X)) % 3]
    clf, told = warnings_of(lambda: kind(h, n_estimators=5, random_state=0).fit(X, flags))
    assert len(told) == 1
    assert "1 of the 4 columns of y has no" in told[0]
    assert "never predicted" in told[0]
    assert clf.predict(X).shape == (len(X), 4)
    assert (clf.predict(X)[:, 3] == 0).all()


@pytest.mark.parametrize("name", MODELS_OF_SETS)
def test_nodes_without_a_row_are_warned_of_once_in_sets_too(name):
    sets = [labels - {"e"} for labels in Y_SETS]
    model = make(name, n_estimators=4, hierarchy=DAG)
    clf, told = warnings_of(lambda: model.fit(X_SETS, sets))
    assert len([each for each in told if "never predicted" in each]) == 1
    assert (clf.predict_node_sets(X_SETS)[:, [5]].toarray() == 0).all()
