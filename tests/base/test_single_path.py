"""What classifiers with one path a row share, shown on one whose probabilities are its input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags

from palmette import Hierarchy, decoding
from palmette.base._classifier import HierarchicalClassifier
from palmette.decisions._decode import Route, RouteByMarginals
from palmette.exceptions import HierarchyError

PATHS = [("animal", "cat"), ("animal", "dog"), ("plant",), ("plant", "oak")]
H = Hierarchy.from_paths(PATHS)


class Oracle(HierarchicalClassifier):
    """Takes the probabilities of the classes, in the order of the hierarchy, as features."""

    _takes_several_paths = False

    def __init__(self, hierarchy=None, decoding="best_path"):
        self.hierarchy = hierarchy
        self.decoding = decoding

    def fit(self, X, y):
        X = self._read_features(X, reset=True)
        self._learn_target(X, y)
        self.asked_ = []
        return self

    def _class_proba_of(self, X):
        self.asked_.append("proba")
        return np.asarray(X, dtype=float)


class RoutedOracle(Oracle):
    _routes_cheaply = True

    def _route_of(self, X) -> Route:
        self.asked_.append("route")
        return RouteByMarginals(self.space_, np.asarray(X, dtype=float))


PROBA = np.array([[0.3, 0.25, 0.05, 0.4], [0.0, 0.1, 0.8, 0.1], [0.1, 0.6, 0.1, 0.2]])


def fitted(estimator=None, y=PATHS):
    return (Oracle() if estimator is None else estimator).fit(np.eye(4), y)


@pytest.mark.parametrize(
    ("rule", "answers"),
    [
        ("best_path", [("plant", "oak"), ("plant",), ("animal", "dog")]),
        ("top_down", [("animal", "cat"), ("plant",), ("animal", "dog")]),
        (decoding.Beam(1), [("animal", "cat"), ("plant",), ("animal", "dog")]),
        (decoding.Confident(0.5), [("animal",), ("plant",), ("animal", "dog")]),
        (decoding.Confident(0.9), [(), ("plant",), ()]),
        ("min_expected_loss", [("animal",), ("plant",), ("animal", "dog")]),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [Oracle, RoutedOracle])
def test_rules_decide(kind, rule, answers):
    assert fitted(kind(decoding=rule)).predict(PROBA) == answers


def test_a_rule_that_can_follow_a_route_does_so_only_where_that_is_cheap():
    for kind, rule, asked in [
        (Oracle, "best_path", ["proba"]),
        (RoutedOracle, "best_path", ["route"]),
        (Oracle, "top_down", ["proba"]),
        (RoutedOracle, "confident", ["proba"]),
    ]:
        model = fitted(kind(decoding=rule))
        model.predict(PROBA)
        assert model.asked_ == asked


def test_columns_of_probabilities_are_the_classes():
    by_path = fitted()
    assert by_path.classes_.tolist() == PATHS
    assert np.array_equal(by_path.predict_proba(PROBA), PROBA)
    # names are sorted, as scikit-learn's tools expect, though the hierarchy has another order
    h = Hierarchy.from_paths([("z", "b"), ("z", "a"), ("c",)])
    by_name = Oracle(hierarchy=h).fit(np.eye(3), np.array(["b", "a", "c"]))
    assert by_name.classes_.tolist() == ["a", "b", "c"]
    assert by_name.predict_proba(np.array([[0.5, 0.3, 0.2]])).tolist() == [[0.3, 0.5, 0.2]]


def test_classes_of_mixed_types_have_an_order_too():
    model = fitted(y=["b", 2, "a", 10])
    assert model.classes_.tolist() == [10, 2, "a", "b"]
    assert model.predict(np.eye(4)).tolist() == model.hierarchy_.names[1:].tolist()


def test_an_answer_that_is_no_label_is_spelled_as_labels_are():
    shy = decoding.Confident(0.9)
    table = np.array([("animal", "cat"), ("animal", "dog"), ("plant", ""), ("plant", "oak")])
    assert fitted(Oracle(decoding=shy), table).predict(PROBA).tolist() == [
        ["", ""],
        ["plant", ""],
        ["", ""],
    ]
    names = np.array(["cat", "dog", "plant", "oak"])
    bold = decoding.Confident(0.5)
    model = fitted(Oracle(hierarchy=H, decoding=bold), names)
    assert model.predict(PROBA).tolist() == ["animal", "plant", "dog"]


def test_node_probabilities_of_some_nodes():
    model = fitted(Oracle(hierarchy=H), PATHS)
    proba = model.predict_node_proba(PROBA, nodes=["plant", "animal/dog"])
    np.testing.assert_allclose(proba, [[0.45, 0.25], [0.9, 0.1], [0.3, 0.6]])
    with pytest.raises(HierarchyError, match="'wolf' is not in the hierarchy"):
        model.predict_node_proba(PROBA, nodes=["wolf"])


def test_integer_names_are_names_not_numbers():
    model = fitted(y=np.array([30, 10, 20, 40]))
    proba = model.predict_node_proba(PROBA, nodes=[30, 10])
    assert np.array_equal(proba, PROBA[:, [2, 0]])


def test_a_score_may_use_another_form_of_y():
    model = fitted()
    assert model.score(np.eye(4), PATHS) == 1.0
    padded = np.array([[*path, ""][:2] for path in PATHS])
    assert model.score(np.eye(4), padded) == 1.0
    assert model.score(np.eye(4), ["cat", "dog", "plant", "oak"]) == 1.0
    given = fitted(Oracle(hierarchy=H))
    with pytest.raises(HierarchyError, match="is not in the hierarchy"):
        given.score(np.eye(4), ["cat", "dog", "plant", "wolf"])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[4, 3\]"):
        model.score(np.eye(4), PATHS[:3])


def test_targets_that_are_no_labels_are_refused_as_scikit_learn_does():
    for y in (np.array([0.5, 1.5, 2.5, 3.5]), pd.Series([0.5, 1.5, 2.5, 3.5])):
        with pytest.raises(ValueError, match="Unknown label type: continuous"):
            fitted(y=y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        fitted(y=None)
    with pytest.raises(ValueError, match="NaN"):
        fitted(y=np.array([0.0, 1.0, np.nan, 2.0]))
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        fitted(y=np.array([["a"], ["b"], ["c"], ["d"]]))


def test_tables_and_texts_reach_the_estimator_as_they_are():
    class Keeper(Oracle):
        def _class_proba_of(self, X):
            self.kept_ = X
            return np.full((len(X), 4), 0.25)

    for X in (
        pd.DataFrame({"a": ["x", "y", "z", "w"], "b": [1.0, 2.0, np.nan, 3.0]}),
        pd.Series(["x", "y", "z", "w"]),
        ["x", "y", "z", "w"],
        np.array(["x", "y", "z", "w"]),
    ):
        model = Keeper().fit(X, PATHS)
        model.predict(X)
        assert model.kept_ is X


def test_it_is_a_classifier_and_clones():
    assert get_tags(Oracle()).estimator_type == "classifier"
    copy = clone(Oracle(hierarchy=H, decoding=decoding.Confident(0.7)))
    assert copy.hierarchy is H
    assert copy.decoding.threshold == 0.7
