"""Features that are chosen, and features that matter."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from tests.reporting.clouds import clouds

from palmette import (
    HierarchicalBoostingClassifier,
    HierarchicalFeatureSelector,
    LocalPerParentClassifier,
)
from palmette.reporting._evaluation import evaluate
from palmette.reporting._training import feature_facts, feature_names

X, Y = clouds()


def test_features_chosen_at_each_node():
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=1)
    model = LocalPerParentClassifier(LogisticRegression(), feature_selector=selector).fit(X, Y)
    evaluation = evaluate(model, X, Y)
    found = feature_facts(model, evaluation, ["side", "height", "noise"])
    assert found["kind"] == "selected"
    assert (found["n_features"], found["n_chosen"]) == (3, 2)
    assert found["overall"] == [["height", 2.0], ["side", 1.0]]  # at a and b; at the root
    names = evaluation.hierarchy.path_strings
    chosen = {names[each["node"]]: each["features"][0][0] for each in found["nodes"]}
    assert chosen == {"root": "side", "a": "height", "b": "height"}


def test_importances_overall_and_at_nodes():
    model = HierarchicalBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y)
    found = feature_facts(model, evaluate(model, X, Y), None)
    assert found["kind"] == "importance"
    values = dict(found["overall"])
    assert sum(values.values()) == pytest.approx(1.0, abs=1e-3)
    np.testing.assert_allclose(
        [values[f"x{j}"] for j in range(3)], model.feature_importances_, rtol=1e-3
    )
    assert {each["node"] for each in found["nodes"]} <= set(model.nodes_.tolist())


def test_a_model_may_have_no_features_to_tell():
    model = LocalPerParentClassifier(LogisticRegression()).fit(X, Y)
    assert feature_facts(model, evaluate(model, X, Y), None) is None


def test_names_come_from_what_makes_the_features():
    pipeline = make_pipeline(
        PolynomialFeatures(2), LocalPerParentClassifier(LogisticRegression())
    ).fit(X, Y)
    assert feature_names(pipeline)[:5] == ["1", "x0", "x1", "x2", "x0^2"]
    assert feature_names(pipeline[-1]) is None
