"""Scorers inside scikit-learn's cross-validation and searches."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, get_scorer_names
from sklearn.metrics import get_scorer as get_scikit_learn_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics import (
    SCORERS,
    HierarchicalScorer,
    MultiScorer,
    _scorers,
    get_scorer,
    hierarchical_f1_score,
    register_scorers,
    tree_induced_error,
)
from palmette.metrics._scorers import hierarchy_of

TREE = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x"), ("b", "z")])


class NearestRow(ClassifierMixin, BaseEstimator):
    """Answers the label of the nearest training row, in the form of y."""

    def __init__(self, hierarchy=None, shift=0.0):
        self.hierarchy = hierarchy
        self.shift = shift

    def fit(self, X, y, sample_weight=None):
        labels = NodeLabels.encode(y, self.hierarchy)
        self.hierarchy_ = labels.hierarchy
        self.X_, self.y_ = np.asarray(X) + self.shift, y
        self.classes_ = np.arange(2)
        return self

    def predict(self, X):
        nearest = np.abs(np.asarray(X)[:, None, 0] - self.X_[None, :, 0]).argmin(axis=1)
        return [self.y_[i] for i in nearest]


def data(n_rows=24):
    rng = np.random.default_rng(0)
    leaf = rng.integers(0, 4, n_rows)
    X = leaf[:, None] + rng.normal(0, 0.4, (n_rows, 1))
    return X, leaf


def paths(leaf):
    return [TREE.path(TREE.leaves[i]) for i in leaf.tolist()]


def test_each_scorer_is_its_metric_with_the_sign_of_greater_is_better():
    X, leaf = data()
    y = paths(leaf)
    model = NearestRow(TREE).fit(X[:12], y[:12])
    y_pred = model.predict(X)
    for name, scorer in SCORERS.items():
        sign = -1 if name.startswith("neg_") else 1
        value = scorer.metric(y, y_pred, hierarchy=TREE, **(scorer.options or {}))
        assert scorer(model, X, y) == sign * value
        assert scorer.greater_is_better == (sign == 1)
        assert scorer(model, X, y) < scorer(NearestRow(TREE).fit(X, y), X, y)


def test_paths_keep_their_identity_where_names_collide():
    X, y = np.array([[0.0], [1.0]]), [("a", "x"), ("b", "x")]
    wrong = NearestRow().fit(X, y[::-1])
    assert get_scorer("hierarchical_f1")(wrong, X, y) == 0.0


@pytest.mark.parametrize(
    "form", [paths, lambda leaf: TREE.path_strings[TREE.leaves[leaf]].tolist()]
)
def test_labels_that_a_fold_has_not_seen_are_errors_not_crashes(form):
    X, leaf = data()
    y = form(leaf)
    seen = [i for i, one in enumerate(leaf) if one != 3]  # b/z is never trained on
    inferred = NearestRow(None if form is paths else Hierarchy.from_paths(TREE_WITHOUT_Z))
    model = inferred.fit(X[seen], [y[i] for i in seen])
    assert "b/z" not in model.hierarchy_
    for scorer in SCORERS.values():
        known = scorer(model, X[seen], [y[i] for i in seen])
        assert scorer(model, X, y) < known
    assert get_scorer("leaf_accuracy")(model, X, y) == len(seen) / len(y)
    rest = [i for i, one in enumerate(leaf) if one == 3]
    # b is right, z is wrong: predicted b/x
    found = get_scorer("neg_tree_induced_error")(model, X[rest], [y[i] for i in rest])
    assert found == -2.0


TREE_WITHOUT_Z = [("a", "x"), ("a", "y"), ("b", "x")]


def test_cross_validation_by_name_object_and_dict():
    X, leaf = data()
    y = np.array([list(path) for path in paths(leaf)], dtype=object)
    model = NearestTable(TREE)
    by_name = cross_val_score(model, X, y, scoring="hierarchical_f1", cv=3)
    assert by_name.shape == (3,)
    assert 0.5 < by_name.mean() < 1.0
    by_object = cross_val_score(model, X, y, scoring=SCORERS["hierarchical_f1"], cv=3)
    np.testing.assert_array_equal(by_name, by_object)
    several = cross_validate(
        model, X, y, scoring={"f": "hierarchical_f1", "t": "neg_tree_induced_error"}, cv=3
    )
    np.testing.assert_array_equal(several["test_f"], by_name)
    assert (several["test_t"] <= 0).all()
    at_once = cross_validate(
        model, X, y, scoring=MultiScorer(["hierarchical_f1", "neg_tree_induced_error"]), cv=3
    )
    np.testing.assert_array_equal(at_once["test_hierarchical_f1"], by_name)
    np.testing.assert_array_equal(at_once["test_neg_tree_induced_error"], several["test_t"])


class NearestTable(NearestRow):
    """The same for a table of paths."""

    def predict(self, X):
        return np.array(super().predict(X), dtype=object)


def test_a_search_finds_what_scores_best_and_can_be_cloned():
    X, leaf = data()
    y = np.array([list(path) for path in paths(leaf)], dtype=object)
    search = GridSearchCV(
        NearestTable(TREE), {"shift": [0.0, 5.0]}, scoring="neg_tree_induced_error", cv=3
    )
    assert clone(search).fit(X, y).best_params_ == {"shift": 0.0}
    search = GridSearchCV(
        NearestTable(TREE), {"shift": [0.0, 5.0]}, scoring=SCORERS["lca_f1"], cv=3
    )
    fitted = clone(search).fit(X, y)
    assert fitted.best_params_ == {"shift": 0.0}
    assert hierarchy_of(fitted) is TREE
    assert fitted.score(X, y) == 1.0
    search = GridSearchCV(
        NearestTable(TREE),
        {"shift": [0.0, 5.0]},
        scoring=MultiScorer({"f": SCORERS["hierarchical_f1"], "a": SCORERS["leaf_accuracy"]}),
        refit="f",
        cv=3,
    )
    assert clone(search).fit(X, y).best_params_ == {"shift": 0.0}


def test_the_hierarchy_is_found_inside_pipelines_and_searches():
    X, leaf = data()
    y = paths(leaf)
    pipeline = make_pipeline(StandardScaler(), NearestRow(TREE)).fit(X, y)
    assert hierarchy_of(pipeline) is TREE
    assert hierarchy_of(make_pipeline(StandardScaler(), DummyClassifier())) is None
    assert get_scorer("leaf_accuracy")(pipeline, X, y) == 1.0


def test_a_plain_classifier_is_scored_on_the_hierarchy_of_the_scorer_or_on_a_star():
    X, leaf = data()
    y = TREE.path_strings[TREE.leaves[leaf]].astype(str)
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    scorer = HierarchicalScorer(hierarchical_f1_score, hierarchy=TREE)
    assert scorer(model, X, y) == hierarchical_f1_score(y, model.predict(X), hierarchy=TREE)
    # strings that form a tree are paths, other labels are the leaves of a star
    assert get_scorer("hierarchical_f1")(model, X, y) == scorer(model, X, y)
    model.fit(X, leaf)
    flat = get_scorer("hierarchical_f1")(model, X, leaf)
    assert flat == accuracy_score(leaf, model.predict(X)) < scorer(model.fit(X, y), X, y)


def test_sample_weights_reach_the_metric():
    X, leaf = data()
    y, weight = paths(leaf), np.arange(1.0, 25.0)
    model = NearestRow(TREE, shift=0.7).fit(X, y)
    expected = tree_induced_error(y, model.predict(X), hierarchy=TREE, sample_weight=weight)
    scorer = SCORERS["neg_tree_induced_error"]
    assert scorer(model, X, y, sample_weight=weight) == -expected
    assert scorer(model, X, y) != -expected


def test_metadata_routing_takes_the_weights_that_were_asked_for():
    X, leaf = data()
    y, weight = TREE.path_strings[TREE.leaves[leaf]].astype(str), np.arange(1.0, 25.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = HierarchicalScorer(hierarchical_f1_score, hierarchy=TREE)
        scorer.set_score_request(sample_weight=True)
        model = DecisionTreeClassifier(max_depth=1).set_fit_request(sample_weight=False)
        params = {"sample_weight": weight}
        weighted = cross_val_score(model, X, y, scoring=scorer, cv=2, params=params)
        plain = cross_val_score(model, X, y, scoring=scorer, cv=2)
        requests = scorer.get_metadata_routing().score.requests
    assert set(requests) == {"sample_weight"}
    assert (weighted != plain).all()


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_scorers_survive_pickling_and_cloning(name):
    scorer = SCORERS[name]
    X, leaf = data()
    model = NearestRow(TREE, shift=0.7).fit(X, paths(leaf))
    expected = scorer(model, X, paths(leaf))
    for copy in (pickle.loads(pickle.dumps(scorer)), clone(scorer)):
        assert copy(model, X, paths(leaf)) == expected


def test_workers_score_as_the_parent_does():
    X, leaf = data()
    y = TREE.path_strings[TREE.leaves[leaf]].astype(str)
    scorer = HierarchicalScorer(hierarchical_f1_score, hierarchy=TREE)
    model = DecisionTreeClassifier(max_depth=1)
    for scoring in (scorer, "neg_h_loss", MultiScorer({"f": scorer})):
        alone = cross_validate(model, X, y, scoring=scoring, cv=2)
        together = cross_validate(model, X, y, scoring=scoring, cv=2, n_jobs=2)
        key = "test_f" if isinstance(scoring, MultiScorer) else "test_score"
        np.testing.assert_array_equal(alone[key], together[key])


def test_the_names_are_known_to_scikit_learn():
    # if this fails, scikit-learn has moved its table of scorers: see metrics/_scorers.py
    assert register_scorers()
    assert set(SCORERS) <= set(get_scorer_names())
    assert get_scikit_learn_scorer("hierarchical_f1").metric is hierarchical_f1_score


def test_names_of_scikit_learn_are_not_taken(monkeypatch):
    from sklearn.metrics import _scorer

    monkeypatch.setattr(_scorer, "_SCORERS", {"hierarchical_f1": "its own"})
    assert register_scorers()
    assert _scorer._SCORERS["hierarchical_f1"] == "its own"
    assert _scorer._SCORERS["lca_f1"] is SCORERS["lca_f1"]


@pytest.mark.parametrize("missing", ["table", "module", "kind"])
def test_without_its_table_nothing_is_registered_and_nothing_breaks(monkeypatch, missing):
    def find(name):
        if missing == "module":
            raise ImportError(name)
        return object() if missing == "table" else type("Module", (), {"_SCORERS": ()})

    monkeypatch.setattr(_scorers.importlib, "import_module", find)
    assert not register_scorers()


def test_an_unknown_name_lists_those_that_there_are():
    with pytest.raises(PalmetteError, match=r"'f1' is unknown.*hierarchical_f1"):
        get_scorer("f1")
