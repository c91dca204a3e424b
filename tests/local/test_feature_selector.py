"""Local classifiers whose estimators see the features of their own node only."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from tests.feature_selection.problems import HIERARCHY, planted
from tests.spies import Spy

from palmette import (
    FlatClassifier,
    Hierarchy,
    HierarchyError,
    LocalPerLevelClassifier,
    LocalPerNodeClassifier,
    LocalPerParentClassifier,
    MFTree,
    PalmetteError,
)
from palmette.feature_selection import HierarchicalFeatureSelector
from palmette.feature_selection._fsnm import FsnmScore


class ByNode(BaseEstimator):
    """Chooses the features it is told, by path; keeps what it was fitted on."""

    def __init__(self, columns=None, hierarchy=None):
        self.columns = columns
        self.hierarchy = hierarchy

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weights_ = X, y, sample_weight
        return self

    def get_support(self, node=None, indices=False):
        chosen = [
            columns
            for path, columns in self.columns.items()
            if node is None or self.hierarchy.index(path) == node
        ]
        found = np.unique(np.concatenate([*chosen, []])).astype(int)
        return found if indices else np.isin(np.arange(self.X_.shape[1]), found)


COLUMNS = {"root": [0, 1], "a": [2], "a/y": [3, 4], "b": [5, 9]}


def named(names):
    return HIERARCHY.index(names).tolist()


def seen_by(classifier, X, y, **options):
    """Columns of X that the spies were fitted on, by key: X holds, rounded, their numbers."""
    local = classifier(Spy(), feature_selector=ByNode(COLUMNS), hierarchy=HIERARCHY, **options)
    local.fit(np.arange(10.0) + np.linspace(0.0, 0.4, len(X))[:, None], y)
    return local, {key: spy.X_[0].astype(int).tolist() for key, spy in local.estimators_.items()}


def test_a_parent_sees_its_own_columns():
    X, y = planted()
    _, seen = seen_by(LocalPerParentClassifier, X, y)
    root, a, ay, b = named(["root", "a", "a/y", "b"])
    assert seen == {root: [0, 1], a: [2], ay: [3, 4], b: [5, 9]}


def test_a_node_sees_the_columns_of_its_parent():
    X, y = planted()
    y = [("b",) if path == ("b", "z") else path for path in y]
    local, seen = seen_by(LocalPerNodeClassifier, X, y)
    a, x, deep, w = named(["a", "a/x", "a/y/deep", "b/w"])
    assert (seen[a], seen[x], seen[deep], seen[w]) == ([0, 1], [2], [3, 4], [5, 9])
    [(node, ends)] = local.end_estimators_.items()
    assert (node, ends.X_[0].astype(int).tolist()) == (HIERARCHY.index("b"), [5, 9])
    assert np.isfinite(local.predict_proba(np.zeros((2, 10)))).all()


def test_a_level_sees_the_columns_of_the_parents_above_it():
    X, y = planted()
    _, seen = seen_by(LocalPerLevelClassifier, X, y)
    # "c" has one child: what tells that from others is what tells "c" from others
    assert seen == {1: [0, 1], 2: [0, 1, 2, 5, 9], 3: [3, 4]}


def test_the_flat_one_sees_all_that_were_chosen():
    X, y = planted()
    _, seen = seen_by(FlatClassifier, X, y)
    assert seen == {0: [0, 1, 2, 3, 4, 5, 9]}


# ---------------------------------------------------------------------- laws of all


def made(classifier, estimator=None, **options):
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=1)
    return classifier(estimator or LogisticRegression(), feature_selector=selector, **options)


def test_planted_features_are_enough(classifier):
    X, y = planted()
    local = made(classifier).fit(X, y)
    assert local.score(X, y) > 0.9
    assert local.feature_selector_.get_support(indices=True).tolist() == [6, 7, 8, 9]
    assert local.n_features_in_ == 10
    np.testing.assert_allclose(local.predict_proba(X).sum(axis=1), 1.0)
    X[:, :6] = 1e6  # what was not chosen is not looked at
    assert local.score(X, y) > 0.9


def test_it_is_the_same_as_a_selection_by_hand(classifier):
    X, y = planted()
    whole = HierarchicalFeatureSelector("fisher", n_features_to_select=10)
    local = classifier(LogisticRegression(), feature_selector=whole).fit(X, y)
    plain = classifier(LogisticRegression()).fit(X, y)
    assert plain.feature_selector_ is None
    np.testing.assert_allclose(local.predict_proba(X), plain.predict_proba(X), atol=1e-9)


def test_the_selector_given_is_left_alone(classifier):
    X, y = planted()
    local = made(classifier)
    fitted = clone(local).fit(X, y)
    assert not hasattr(local.feature_selector, "node_supports_")
    assert fitted.feature_selector.hierarchy is None
    assert fitted.feature_selector_.hierarchy == fitted.hierarchy_


def test_the_selector_sees_the_rows_and_weights_of_the_fit(classifier):
    X, y = planted()
    weights = np.arange(len(y)) % 3
    local = classifier(Spy(), feature_selector=ByNode(COLUMNS), hierarchy=HIERARCHY)
    local.fit(X, y, sample_weight=weights)
    selector = local.feature_selector_
    np.testing.assert_array_equal(selector.X_, X[weights > 0])
    np.testing.assert_array_equal(selector.weights_, weights[weights > 0])
    nodes = HIERARCHY.index([path for path, w in zip(y, weights, strict=True) if w])
    np.testing.assert_array_equal(selector.y_.terminals, nodes)


def test_tables_keep_their_columns(classifier):
    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(10)])
    local = made(classifier).fit(frame, y)
    plain = made(classifier).fit(X, y)
    assert local.feature_selector_.get_feature_names_out(node=0).tolist() == ["f6"]
    names = [est.feature_names_in_.tolist() for est in local.estimators_.values()]
    assert ["f6"] in names or classifier is FlatClassifier
    np.testing.assert_allclose(local.predict_proba(frame), plain.predict_proba(X))


def test_polars_tables_go_through(classifier):
    pl = pytest.importorskip("polars")
    X, y = planted()
    frame = pl.DataFrame(X, schema=[f"f{j}" for j in range(10)])
    plain = made(classifier).fit(X, y).predict(X)
    assert made(classifier).fit(frame, y).predict(frame) == plain


def test_sparse_rows_are_dense_rows(classifier):
    X, y = planted()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = made(classifier).fit(X, y)
    packed = made(classifier).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(
        packed.predict_proba(sparse.csr_matrix(X)), dense.predict_proba(X), atol=1e-6
    )


def test_margins_jobs_and_pickles(classifier):
    X, y = planted()
    with parallel_config(backend="threading"):
        local = made(classifier, LinearSVC(random_state=0), n_jobs=2).fit(X, y)
    alone = made(classifier, LinearSVC(random_state=0)).fit(X, y)
    assert local.predict(X) == alone.predict(X)
    assert pickle.loads(pickle.dumps(local)).predict(X) == local.predict(X)


def test_one_label_needs_no_features(classifier):
    X, _ = planted()
    local = made(classifier).fit(X, [("a", "x")] * len(X))
    assert local.feature_selector_ is None
    assert local.predict(X[:2]) == [("a", "x")] * 2


def test_a_random_state_seeds_a_selector_that_has_none(classifier):
    X, y = planted(n_each=8)
    X = X[:, -4:]
    selector = HierarchicalFeatureSelector("mutual_info", n_features_to_select=2)
    one, again = (
        classifier(Spy(), feature_selector=selector, random_state=5).fit(X, y) for _ in range(2)
    )
    assert (one.feature_selector_.node_scores_ != again.feature_selector_.node_scores_).nnz == 0
    assert one.feature_selector_.random_state is not None
    seeded = clone(selector).set_params(score="fisher", random_state=3)
    local = classifier(Spy(), feature_selector=seeded, random_state=5).fit(X, y)
    assert local.feature_selector_.random_state == 3


def test_nodes_without_features_answer_by_their_shares(classifier):
    X, y = planted()
    columns = {path: own for path, own in COLUMNS.items() if path != "b"}
    local = classifier(
        LogisticRegression(), feature_selector=ByNode(columns), hierarchy=HIERARCHY
    ).fit(X, y)
    assert np.isfinite(local.predict_proba(X)).all()
    if classifier is LocalPerParentClassifier:
        b = HIERARCHY.index("b")
        assert isinstance(local.estimators_[b], DummyClassifier)
        proba = local.predict_node_proba(X, nodes=["b", "b/z"])
        np.testing.assert_allclose(proba[:, 1], proba[:, 0] / 2)


# ---------------------------------------------------------------------- pipelines, searches


def test_pipelines_and_searches_reach_the_selector(classifier):
    X, y = planted()
    names = np.array(["/".join(path) for path in y])
    selector = HierarchicalFeatureSelector(FsnmScore(0.3), n_features_to_select=1)
    local = classifier(GaussianNB(), hierarchy=HIERARCHY, feature_selector=selector)
    pipe = make_pipeline(StandardScaler(), local)
    prefix = classifier.__name__.lower()
    grid = [
        {
            f"{prefix}__feature_selector__score__lam": [lam],
            f"{prefix}__feature_selector__n_features_to_select": [n_features],
        }
        for lam, n_features in [(0.2, 1), (0.5, 2)]
    ]
    search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(X, names)
    best = search.best_estimator_[-1].feature_selector_
    chosen = search.best_params_[f"{prefix}__feature_selector__n_features_to_select"]
    assert best.n_features_to_select == chosen
    assert best.score_.lam == search.best_params_[f"{prefix}__feature_selector__score__lam"]
    assert search.best_score_ > 0.8


# ---------------------------------------------------------------------- hierarchies


def test_the_hierarchy_of_the_selector_serves_the_classifier(classifier):
    X, y = planted()
    leaves = np.array([path[-1] for path in y])
    selector = HierarchicalFeatureSelector("fisher", hierarchy=HIERARCHY, n_features_to_select=1)
    local = classifier(LogisticRegression(), feature_selector=selector).fit(X, leaves)
    assert local.hierarchy_ == HIERARCHY
    assert local.score(X, leaves) > 0.9
    both = classifier(feature_selector=selector, hierarchy=HIERARCHY).fit(X, y)
    assert both.hierarchy_ == HIERARCHY


def test_two_hierarchies_are_refused(classifier):
    X, y = planted()
    other = Hierarchy.from_paths([("a", "x"), ("b",)])
    selector = HierarchicalFeatureSelector("fisher", hierarchy=other)
    with pytest.raises(HierarchyError, match=r"feature_selector has hierarchy=.*the same to both"):
        classifier(feature_selector=selector, hierarchy=HIERARCHY).fit(X, y)
    learner = HierarchicalFeatureSelector("fisher", hierarchy=MFTree())
    with pytest.raises(HierarchyError, match="Pass it to the classifier only"):
        classifier(feature_selector=learner, hierarchy=HIERARCHY).fit(X, y)


def test_learners_of_hierarchies_go_to_either(classifier):
    X, y = planted()
    leaves = np.array([path[-1] for path in y])
    for own, others in [(MFTree(), None), (None, MFTree())]:
        selector = HierarchicalFeatureSelector("fisher", hierarchy=others, n_features_to_select=3)
        local = classifier(feature_selector=selector, hierarchy=own).fit(X, leaves)
        assert local.feature_selector_.hierarchy_ == local.hierarchy_learner_.hierarchy_
        assert local.score(X, leaves) > 0.8


def test_a_fitted_selector_is_used_as_it_is(classifier):
    X, y = planted()
    fitted = HierarchicalFeatureSelector("fisher", hierarchy=HIERARCHY, n_features_to_select=1).fit(
        X, y
    )
    frozen = FrozenEstimator(fitted)
    local = classifier(LogisticRegression(), feature_selector=frozen).fit(X[::2], y[::2])
    assert local.hierarchy_ == HIERARCHY
    assert local.feature_selector_.estimator is fitted
    assert local.score(X, y) > 0.9
    with pytest.raises(HierarchyError, match="was fitted with"):
        classifier(feature_selector=frozen, hierarchy=Hierarchy.from_paths([*y, ("d",)])).fit(X, y)
    with pytest.raises(PalmetteError, match="fitted on 10 features, but X has 4"):
        classifier(feature_selector=frozen).fit(X[:, :4], y)


# ---------------------------------------------------------------------- mistakes


def test_what_is_no_selector_of_nodes_is_described(classifier):
    X, y = planted()
    with pytest.raises(PalmetteError, match="SelectKBest, which selects one set"):
        classifier(feature_selector=SelectKBest()).fit(X, y)
    for other in ("fisher", HierarchicalFeatureSelector):
        with pytest.raises(PalmetteError, match="expected an object such as"):
            classifier(feature_selector=other).fit(X, y)


def test_texts_are_refused(classifier):
    with pytest.raises(PalmetteError, match="X has texts"):
        made(classifier).fit(["red apple", "green pear"], ["a", "b"])


def test_missing_values_are_refused(classifier):
    X, y = planted()
    X[0, 0] = np.nan
    assert not get_tags(made(classifier)).input_tags.allow_nan
    with pytest.raises(ValueError, match="NaN"):
        made(classifier).fit(X, y)
