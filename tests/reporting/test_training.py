"""The training curve."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from tests.reporting.clouds import clouds

from palmette import HierarchicalBoostingClassifier
from palmette.reporting._training import training_facts

X, Y = clouds()


def test_training_curve_of_boosting():
    model = HierarchicalBoostingClassifier(
        n_estimators=6, n_iter_no_change=6, tol=0.0, random_state=0
    ).fit(X, Y)
    found = training_facts(make_pipeline(PolynomialFeatures(1), model))
    assert [each["name"] for each in found["series"]] == ["training loss", "validation loss"]
    assert found["series"][0]["values"] == model.train_loss_.tolist()
    assert found["n_rounds"] == len(model.train_loss_)


def test_long_curves_are_thinned_and_keep_their_ends():
    curve = np.linspace(1.0, 0.0, 5000)
    [series] = training_facts(SimpleNamespace(loss_curve_=curve))["series"]
    assert len(series["values"]) == 300
    assert (series["rounds"][0], series["rounds"][-1]) == (1, 5000)
    assert series["values"] == curve[np.array(series["rounds"]) - 1].tolist()


def test_scores_by_name_are_no_curve():
    assert training_facts(SimpleNamespace(validation_scores_={"a": 1.0})) is None
