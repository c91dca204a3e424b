"""Fitted estimators in notebooks: scikit-learn's diagram, and the hierarchy below it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import palmette as pm

X = np.repeat(np.eye(4), 5, axis=0)
Y = np.repeat(["z<q/x", "z<q/y", "c/x", "c/y"], 5)
H = pm.Hierarchy.from_paths([("z<q", "x"), ("z<q", "y"), ("c", "x"), ("c", "y")])


@pytest.mark.parametrize(
    "model",
    [
        pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=H),
        pm.BHCTree(),
        pm.MLkNN(hierarchy=H),
        pm.HierarchicalFeatureSelector(hierarchy=H, n_features_to_select=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_hierarchy_comes_with_the_fit(model):
    from sklearn.base import clone

    model = clone(model)
    assert "Fitted hierarchy" not in model._repr_html_()
    shown = model.fit(X, Y)._repr_html_()
    assert "sk-top-container" in shown  # scikit-learn's own
    assert "Fitted hierarchy: tree, 7 nodes" in shown
    assert "z<q" not in shown
    assert model._repr_mimebundle_()["text/html"].count("Fitted hierarchy") == 1


def test_other_displays_are_left_alone():
    model = pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=H).fit(X, Y)
    assert "sk-top-container" in make_pipeline(model)._repr_html_()
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
