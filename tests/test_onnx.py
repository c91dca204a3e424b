"""ONNX graphs: their probabilities are those of the model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import palmette as pm
from palmette.exceptions import PalmetteError

ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
pytest.importorskip("skl2onnx", reason="the extra onnx is not installed")

from palmette.onnx import to_onnx  # noqa: E402

RNG = np.random.default_rng(0)
PATHS = [("a", "b", "x"), ("a", "b", "y"), ("a",), ("c", "d"), ("c", "e"), ("f",)]
CODES = np.arange(90) % len(PATHS)
X = (RNG.normal(size=(90, 5)) + CODES[:, None] * [1, -1, 0.5, 0, 0]).astype(np.float32)
Y = [PATHS[code] for code in CODES]

LOCAL = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "forest": RandomForestClassifier(5, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}


def run(model, rows, **options):
    session = ort.InferenceSession(
        to_onnx(model, **options).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True)), session


def same(model, X=X):
    found, session = run(model, X, node_proba=True)
    expected = model.predict_proba(X)
    np.testing.assert_allclose(found["probabilities"], expected, atol=2e-6)
    np.testing.assert_allclose(found["node_probabilities"], model.predict_node_proba(X), atol=2e-6)
    clear = np.sort(expected, axis=1)[:, -2] < expected.max(axis=1) - 1e-5
    assert (found["best"] == expected.argmax(axis=1))[clear].all()
    assert clear.mean() > 0.5
    names = json.loads(session.get_modelmeta().custom_metadata_map["palmette.classes"])
    assert len(names) == len(model.classes_)
    return names


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("kind", [pm.FlatClassifier, pm.LocalPerParentClassifier])
def test_local_models(kind, name):
    assert same(kind(LOCAL[name]).fit(X, Y))[0] == "a"


def test_features_per_node():
    selector = pm.HierarchicalFeatureSelector(n_features_to_select=2)
    same(pm.LocalPerParentClassifier(LogisticRegression(), feature_selector=selector).fit(X, Y))


def test_class_trees_with_classifiers_of_scikit_learn():
    tree = pm.ClassTreeClassifier(pm.RandomTree(random_state=0), router=LogisticRegression())
    same(tree.fit(X, [" ".join(path) for path in Y]))


ROUTERS = {
    "hinge": pm.routing.LinearRouter(),
    "pruned": pm.routing.LinearRouter(prune=0.01),
    "logistic": pm.routing.LinearRouter("logistic"),
    "pairs": pm.routing.LinearRouter(against="each"),
    "siblings": pm.routing.LinearRouter(siblings=True),
    "projections": "spectral",
}


@pytest.mark.parametrize("name", ROUTERS)
def test_class_trees_with_linear_classifiers(name):
    """The tree has nodes with one, two and three options, and labels at inner nodes."""
    paths = pm.Hierarchy.from_paths([*PATHS, ("a", "b", "x", "z")])
    codes = np.where(CODES == 0, 6, CODES)
    labels = [[*PATHS, ("a", "b", "x", "z")][code] for code in codes]
    model = pm.ClassTreeClassifier(paths, router=ROUTERS[name]).fit(X, labels)
    assert {1, 2, 3} == set(model.options_.sizes.tolist())
    same(model)


@pytest.mark.parametrize("options", [{}, {"standardize": False}, {"calibration": 2.5}])
def test_mf_trees_with_linear_classifiers(options):
    same(
        pm.MFTreeClassifier(2, leaf_size=1, random_state=0, **options).fit(X + 100, CODES), X + 100
    )


def test_the_best_class_is_the_exact_prediction_of_a_class_tree():
    model = pm.MFTreeClassifier(decoding="exact").fit(X, CODES)
    found, _ = run(model, X)
    assert (model.classes_[found["best"]] == model.predict(X)).mean() > 0.98


def test_a_single_class_is_certain():
    found, _ = run(pm.LocalPerParentClassifier().fit(X, [("a", "b")] * len(X)), X[:3])
    assert found["probabilities"].tolist() == [[1.0]] * 3


def test_no_rows():
    found, _ = run(pm.FlatClassifier().fit(X, Y), X[:0])
    assert found["probabilities"].shape == (0, 6)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (pm.FlatClassifier(LinearSVC()), "it has no probabilities"),
        (pm.MLkNN(), "cannot convert a MLkNN"),
        (pm.ClassTreeClassifier(pm.RandomTree(), router="forest"), "the router ForestRouter: exp"),
        (pm.MFTreeClassifier(kernel=Nystroem(n_components=3)), "kernel is a transformer"),
        (
            pm.ClassTreeClassifier(router=LogisticRegression(), calibration=2.0),
            "calibrated class tree with classifiers of scikit-learn",
        ),
    ],
)
def test_what_cannot_be_converted_is_told(model, words):
    with pytest.raises(PalmetteError, match=words):
        to_onnx(model.fit(X, CODES))


def test_matrices_that_do_not_fit_a_file_are_refused(monkeypatch):
    monkeypatch.setattr("palmette.onnx._MAX_WEIGHTS", 10)
    with pytest.raises(PalmetteError, match=r"5 features and .* linear classifiers: expected"):
        to_onnx(pm.MFTreeClassifier().fit(X, CODES))


@pytest.mark.parametrize("name", LOCAL)
def test_columns_in_other_units_are_mapped_in_the_graph(name):
    rows = X * np.float32(2.0**-40) + np.float32([0, 0, 2.0**-27, 0, 0])
    model = pm.LocalPerParentClassifier(LOCAL[name]).fit(rows, Y)
    assert hasattr(model, "column_units_")
    same(model, rows)


def test_columns_in_other_units_are_mapped_before_a_linear_class_tree():
    rows = X * np.float32(2.0**-40) + np.float32([0, 0, 2.0**-27, 0, 0])
    model = pm.ClassTreeClassifier(pm.BalancedTree(), router="linear")
    fitted = model.fit(rows, np.array(["/".join(path) for path in Y]))
    assert hasattr(fitted, "column_units_")
    same(fitted, rows)


def test_columns_that_single_precision_cannot_hold_are_refused():
    times = np.float64(X) + np.array([0, 1.7e9, 0, 0, 0])
    model = pm.LocalPerParentClassifier(LOCAL["tree"]).fit(times, Y)
    with pytest.raises(PalmetteError, match=r"float32.*columns \[1\]"):
        to_onnx(model)
