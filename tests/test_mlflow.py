"""Models in MLflow: what is saved comes back, as it was and as pyfunc."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import palmette as pm

mlflow = pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
flavour = pytest.importorskip("palmette.mlflow")

X = pd.DataFrame(np.random.default_rng(0).normal(size=(24, 3)), columns=["a", "b", "c"])
Y = np.array(["p/q", "p/r", "s"])[np.arange(24) % 3]


@pytest.fixture(scope="module")
def model():
    return pm.FlatClassifier(
        hierarchy=pm.Hierarchy.from_paths([("p", "q"), ("p", "r"), ("s",)])
    ).fit(X, Y)


def test_a_folder_holds_the_model_and_the_pyfunc(model, tmp_path):
    signature = mlflow.models.infer_signature(X, model.predict(X))
    flavour.save_model(model, tmp_path / "m", signature=signature, input_example=X[:2])
    back = flavour.load_model(tmp_path / "m")
    assert type(back) is pm.FlatClassifier
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    served = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(served.predict(X), model.predict(X))
    assert set(served.metadata.flavors) == {"palmette", "python_function"}
    assert served.metadata.signature == signature
    needs = (tmp_path / "m" / "requirements.txt").read_text(encoding="utf-8")
    assert needs == f"palmette[table]=={pm.__version__}\n"


def test_a_folder_with_files_and_what_cannot_predict_are_refused(model, tmp_path):
    flavour.save_model(model, tmp_path / "m")
    for path in (tmp_path / "m", tmp_path / "m" / "MLmodel"):
        with pytest.raises(pm.PalmetteError, match="is not an empty folder: expected a new one"):
            flavour.save_model(model, path)
    with pytest.raises(pm.PalmetteError, match="model is a dict: expected an estimator"):
        flavour.save_model({}, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_pyfunc_gives_probabilities_where_they_are_asked_for(model):
    served = flavour._Predictor(model)
    proba = served.predict(X, {"method": "predict_node_proba"})
    np.testing.assert_array_equal(proba, model.predict_node_proba(X))
    with pytest.raises(ValueError, match="expected predict, predict_proba"):
        served.predict(X, {"method": "fit"})


def test_a_run_holds_the_model(model, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    try:
        with mlflow.start_run():
            info = flavour.log_model(model, "goods")
        np.testing.assert_array_equal(
            flavour.load_model(info.model_uri).predict(X), model.predict(X)
        )
    finally:
        mlflow.set_tracking_uri(before)
