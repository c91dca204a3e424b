"""Hierarchy and probabilities of models, however they are wrapped."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from palmette import LocalPerParentClassifier
from palmette.base._adapters import hierarchy_of, model_parts, node_proba_of, parts_with_rows
from palmette.exceptions import PalmetteError

X = np.array([[0.0], [0.3], [1.0], [1.3], [5.0], [5.3]])
Y = ["cat", "cat", "dog", "dog", "oak", "oak"]
PATHS = [("animal", "cat")] * 2 + [("animal", "dog")] * 2 + [("plant", "oak")] * 2


def wrapped_models():
    local = LocalPerParentClassifier(LogisticRegression())
    yield local
    yield make_pipeline(StandardScaler(), local)
    yield GridSearchCV(local, {"estimator__C": [1.0]}, cv=2)
    yield GridSearchCV(make_pipeline(StandardScaler(), local), {}, cv=2)


@pytest.mark.parametrize("model", list(wrapped_models()), ids=lambda model: type(model).__name__)
def test_wrappers_give_hierarchy_and_probabilities(model):
    model.fit(X, PATHS)
    hierarchy = hierarchy_of(model)
    assert hierarchy.path_strings.tolist()[1:] == [
        "animal",
        "animal/cat",
        "animal/dog",
        "plant",
        "plant/oak",
    ]
    inner, rows = list(parts_with_rows(model, X))[-1]
    assert isinstance(inner, LocalPerParentClassifier)
    wanted = inner.predict_node_proba(rows())
    np.testing.assert_array_equal(node_proba_of(model, hierarchy)(X), wanted)


def test_a_flat_classifier_is_a_star():
    model = LogisticRegression().fit(X, Y)
    hierarchy = hierarchy_of(model)
    assert hierarchy.path_strings.tolist() == ["root", "cat", "dog", "oak"]
    proba = node_proba_of(model, hierarchy)(X)
    np.testing.assert_allclose(proba[:, 1:], model.predict_proba(X))
    np.testing.assert_allclose(proba[:, 0], 1.0)


def test_the_unfitted_tree_of_a_forest_is_no_part():
    forest = RandomForestClassifier(2).fit(X, Y)
    assert list(model_parts(forest)) == [forest]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (object(), "without `predict`"),
        (LogisticRegression(), "Call `fit` first"),
    ],
)
def test_what_is_no_fitted_classifier_is_refused(model, words):
    with pytest.raises(PalmetteError, match=words):
        hierarchy_of(model)
