"""What the report is about."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from tests.reporting.clouds import clouds

from palmette import LocalPerParentClassifier
from palmette.reporting._evaluation import evaluate
from palmette.reporting._training import setting_facts

X, Y = clouds()


def test_setting():
    model = make_pipeline(PolynomialFeatures(1), LocalPerParentClassifier(LogisticRegression(C=3)))
    model.fit(X, Y)
    found = setting_facts(model, X, evaluate(model, X, Y), 2)
    assert (found["model"], found["wraps"]) == ("Pipeline", ["LocalPerParentClassifier"])
    assert found["parameters"]["estimator"] == "LogisticRegression(C=3)"
    assert found["data"] == {
        "rows": 200,
        "features": 3,
        "labels": 4,
        "rows_with_unseen_labels": 0,
        "rows_left_out": 2,
        "several_paths": False,
    }
    assert found["hierarchy"]["by_level"] == [2, 4]
    assert found["versions"]["numpy"] == np.__version__
