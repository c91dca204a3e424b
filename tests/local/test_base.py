"""What all local classifiers do with estimators, weights, texts and tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from tests.spies import Spy

from palmette import FlatClassifier, Hierarchy, PalmetteError, decoding

TEXTS = ["red apple", "green apple", "red car", "fast car", "fast train", "old train"] * 4
THINGS = [("food", "apple")] * 2 + [("vehicle", "car")] * 2 + [("vehicle", "train")] * 2
THINGS = THINGS * 4


# ---------------------------------------------------------------------- estimators of all kinds


def test_without_probabilities_there_is_predict_alone(classifier, three_levels):
    X, y = three_levels
    local = classifier(LinearSVC(random_state=0))
    for name in ("predict_proba", "predict_node_proba", "predict_top_k"):
        assert not hasattr(local, name)
    local.fit(X, y)
    for name in ("predict_proba", "predict_node_proba", "predict_top_k"):
        assert not hasattr(local, name)
    automatic = local.predict_nodes(X)
    rule = "best_path" if classifier is FlatClassifier else "top_down"
    assert np.array_equal(local.set_params(decoding=rule).predict_nodes(X), automatic)


def test_with_probabilities_the_best_expected_f1_among_labels_decides(classifier, three_levels):
    X, y = three_levels
    local = classifier().fit(X, y)
    rule = decoding.MinExpectedLoss("hierarchical_f1", candidates="classes")
    automatic = local.predict_nodes(X)
    assert np.array_equal(local.set_params(decoding=rule).predict_nodes(X), automatic)
    assert np.isin(automatic, local.space_.classes).all()


def test_on_a_star_the_most_probable_class_decides(classifier, three_levels):
    X, y = three_levels
    local = classifier().fit(X, y[:, 2])
    most_probable = local.classes_[local.predict_proba(X).argmax(axis=1)]
    assert np.array_equal(local.predict(X), most_probable)


def test_a_factory_shows_its_hand_when_fitted(classifier, three_levels):
    X, y = three_levels
    local = classifier(lambda name: LinearSVC(random_state=0))
    assert hasattr(local, "predict_proba")  # nobody can know yet
    assert not hasattr(local.fit(X, y), "predict_proba")


def test_a_random_state_makes_fits_repeatable(classifier, three_levels):
    X, y = three_levels
    tree = DecisionTreeClassifier(max_depth=3, max_features=1)
    one, again, other = (
        classifier(tree, random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_searches_reach_into_the_estimator(classifier, three_levels):
    X, y = three_levels
    names = y[:, 2]
    local = classifier(LogisticRegression(), hierarchy=Hierarchy.from_paths(y.tolist()))
    search = GridSearchCV(local, {"estimator__C": [1e-6, 1.0]}, cv=2).fit(X, names)
    best = search.best_params_["estimator__C"]
    assert {model.C for model in search.best_estimator_.estimators_.values()} == {best}
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    local = clone(local).set_params(estimator=GaussianNB(), decoding=decoding.Confident())
    search = GridSearchCV(local, {"decoding__threshold": [0.0, 1.0]}, cv=2).fit(X, names)
    assert search.best_params_ == {"decoding__threshold": 0.0}


def test_cross_validation_takes_tables_of_paths(classifier, three_levels):
    X, y = three_levels
    scores = cross_val_score(classifier(GaussianNB()), X, y, cv=2, error_score="raise")
    assert (scores > 0.3).all()
    # of lists of tuples scikit-learn cannot make strata: plain folds it can
    paths = list(map(tuple, y.tolist()))
    plain = cross_val_score(classifier(GaussianNB()), X, paths, cv=KFold(2), error_score="raise")
    assert np.array_equal(plain, scores)


# ---------------------------------------------------------------------- weights


def test_weights_reach_every_estimator_by_name(classifier):
    X, weights = np.arange(24.0)[:, None], np.arange(24.0) + 1
    local = classifier(Spy()).fit(X, THINGS, sample_weight=weights)
    assert local.estimators_
    for spy in local.estimators_.values():
        assert np.array_equal(spy.weights_, spy.X_.ravel() + 1)


def test_weights_that_an_estimator_does_not_take_raise(classifier, three_levels):
    X, y = three_levels
    for estimator in (KNeighborsClassifier(), make_pipeline(KNeighborsClassifier())):
        with pytest.raises(PalmetteError, match=r"KNeighborsClassifier\.fit does not accept it"):
            classifier(estimator).fit(X, y, sample_weight=np.ones(len(X)))


@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_end_of_a_pipeline(classifier, routing):
    X, weights = np.arange(24.0)[:, None], np.arange(24.0) + 1
    with config_context(enable_metadata_routing=routing):
        last = Spy().set_fit_request(sample_weight=True) if routing else Spy()
        local = classifier(make_pipeline(last)).fit(X, THINGS, sample_weight=weights)
    for pipe in local.estimators_.values():
        assert np.array_equal(pipe[-1].weights_, pipe[-1].X_.ravel() + 1)


def test_cross_validation_with_metadata_routing_hands_weights_on(classifier):
    X, weights = np.arange(24.0)[:, None], np.arange(24.0) + 1
    with config_context(enable_metadata_routing=True):
        local = classifier(Spy()).set_fit_request(sample_weight=True)
        local.set_score_request(sample_weight=True)
        scores = cross_val_score(
            local, X, np.array(THINGS), cv=2, params={"sample_weight": weights}
        )
    assert np.isfinite(scores).all()


# ---------------------------------------------------------------------- texts and tables


@pytest.mark.parametrize(
    "wrap", [list, np.array, pd.Series, tuple], ids=["list", "array", "series", "tuple"]
)
def test_texts_go_to_a_pipeline(classifier, wrap):
    local = classifier(make_pipeline(TfidfVectorizer(), LogisticRegression(C=100.0)))
    texts = wrap(TEXTS)
    assert local.fit(texts, THINGS).predict(texts) == THINGS
    assert local.predict(["an old red train"]) == [("vehicle", "train")]
    np.testing.assert_allclose(local.predict_proba(texts).sum(axis=1), 1.0)


def test_columns_go_to_a_column_transformer(classifier):
    kinds = [text.split()[1] for text in TEXTS]
    frame = pd.DataFrame({"size": np.arange(24.0), "kind": kinds})
    kind = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer((kind, ["kind"]), (StandardScaler(), ["size"]))
    local = classifier(make_pipeline(columns, LogisticRegression(C=100.0))).fit(frame, THINGS)
    assert local.predict(frame) == THINGS
    assert local.n_features_in_ == 2
    assert local.feature_names_in_.tolist() == ["size", "kind"]
    with pytest.raises(ValueError, match="same order"):
        local.predict(frame[["kind", "size"]])


def test_polars_tables_go_through_whole(classifier):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": np.arange(24.0), "b": np.arange(24.0) % 6})
    local = classifier(GaussianNB()).fit(frame, THINGS)
    plain = classifier(GaussianNB()).fit(frame.to_numpy(), THINGS)
    np.testing.assert_allclose(local.predict_proba(frame), plain.predict_proba(frame.to_numpy()))


# ---------------------------------------------------------------------- missing values


def test_missing_values_pass_where_the_estimator_takes_them(classifier, three_levels):
    X, y = three_levels
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    boosting = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=2)
    assert get_tags(classifier(boosting)).input_tags.allow_nan
    for given in (boosting, lambda name: boosting, {"default": boosting}):
        assert len(classifier(given).fit(X, y).predict(X)) == len(X)
    with pytest.raises(ValueError, match="NaN"):
        classifier(lambda name: LogisticRegression()).fit(X, y)


def test_tags_follow_the_estimators(classifier):
    assert get_tags(classifier()).input_tags.sparse
    assert not get_tags(classifier(GaussianNB())).input_tags.sparse
    assert not get_tags(
        classifier({1: LogisticRegression(), "default": GaussianNB()})
    ).input_tags.sparse
    assert get_tags(classifier()).estimator_type == "classifier"


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LogisticRegression, r"the class LogisticRegression: expected an instance"),
        ("forest", "estimator is a str"),
        ({"default": LogisticRegression()}, None),
    ],
    ids=["class", "string", "dict"],
)
def test_what_is_no_estimator_is_described(classifier, estimator, message, star):
    X, y = star
    if message is None:
        classifier(estimator).fit(X, y)
    else:
        with pytest.raises(PalmetteError, match=message):
            classifier(estimator).fit(X, y)
