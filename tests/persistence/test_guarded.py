"""Errors of an estimator from a changed file name the file as their cause."""

from __future__ import annotations

import numpy as np
import pytest

import palmette as pm
from palmette.exceptions import PalmetteError


@pytest.fixture
def loaded(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = pm.StructuredForestClassifier(n_estimators=2).fit(X, np.arange(40) % 3)
    pm.save(model, tmp_path / "a.palmette")
    return pm.load(tmp_path / "a.palmette"), X


def test_an_attribute_whose_parts_are_missing(loaded):
    model, _ = loaded
    assert model.feature_importances_.shape == (3,)
    del model.trees_
    with pytest.raises(PalmetteError, match="the file was changed"):
        _ = model.feature_importances_
    assert not hasattr(model, "feature_importances_")


def test_a_refusal_of_rows_is_of_the_rows_and_an_error_beside_it_of_the_file(loaded):
    model, X = loaded
    with pytest.raises(ValueError, match="3 features") as refusal:
        model.predict(X[:, :2])
    assert not isinstance(refusal.value, PalmetteError)
    model.feature_names_in_ = object()
    pandas = pytest.importorskip("pandas")
    with pytest.raises(PalmetteError, match="the file was changed"):
        model.predict(pandas.DataFrame(X, columns=list("abc")))
