"""Estimators of other libraries, alone, inside of ours and around ours."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import FeatureAgglomeration
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.laws.problems import problem
from tests.persistence.mutations import members_of, sealed
from tests.persistence.round_trips import again, bytes_of

import palmette as pm
from palmette import PalmetteError, ReadError
from palmette.persistence import load

OURS = pm.LocalPerParentClassifier(GaussianNB())
AROUND = {
    "pipeline": make_pipeline(StandardScaler(), SelectKBest(k=3), OURS),
    "search": GridSearchCV(OURS, {"estimator__var_smoothing": [1e-9, 0.1]}, cv=2),
    "search over parts": GridSearchCV(
        pm.ClassTreeClassifier(router="linear"), {"tree": [pm.BHCTree(), None]}, cv=2
    ),
    "search by our score": GridSearchCV(
        OURS, {"estimator__var_smoothing": [1e-9]}, cv=2, scoring="hierarchical_f1"
    ),
    "vote": VotingClassifier([("a", OURS), ("b", GaussianNB())], voting="soft"),
    "bags": BaggingClassifier(OURS, n_estimators=2, random_state=0),
    "calibration": CalibratedClassifierCV(OURS, cv=2),
}
INSIDE = {
    "pipeline": make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression()),
    "search": GridSearchCV(LogisticRegression(), {"C": [1, 10]}, cv=2),
    "histogram trees": HistGradientBoostingClassifier(max_iter=2),
    "neighbours": KNeighborsClassifier(algorithm="ball_tree"),
    "calibration": CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=2),
}


def rows():
    X, paths = problem(n_each=6)
    return X, np.array(["/".join(path) for path in paths])


@pytest.mark.parametrize("name", AROUND)
def test_estimators_around_ours_come_back(name):
    X, y = rows()
    check(AROUND[name].fit(X, y), X)


@pytest.mark.parametrize("name", INSIDE)
def test_estimators_inside_of_ours_come_back(name):
    X, y = rows()
    check(pm.FlatClassifier(INSIDE[name]).fit(X, y), X)


def check(model, X):
    made = again(model)
    assert np.array_equal(made.predict_proba(X), model.predict_proba(X))
    assert made.predict(X).tolist() == model.predict(X).tolist()
    assert bytes_of(made) == bytes_of(again(made))


@pytest.mark.parametrize("part", [GaussianNB(), OURS], ids=["of skops", "around ours"])
def test_a_parameter_that_another_version_lacked_gets_its_default(part):
    X, y = rows()
    model = make_pipeline(StandardScaler(), part, memory=None).fit(X, y)
    expected = model.predict(X).tolist()
    del model.memory, model[0].with_std  # as if their classes had not had them
    made = again(model)
    assert made.memory is None
    assert made[0].with_std is True
    assert made.predict(X).tolist() == expected


def test_an_estimator_that_is_used_twice_stays_one():
    shared = LogisticRegression()
    made = again([shared, {"b": shared}, pm.FlatClassifier(shared)])
    assert made[0] is made[1]["b"]
    assert made[2].estimator is made[0]


def test_a_function_inside_of_an_estimator_is_refused_with_its_place():
    inside = make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression())
    with pytest.raises(PalmetteError, match=r"estimator is an object of .*Pipeline.*<lambda>"):
        bytes_of(pm.FlatClassifier(inside))


@pytest.mark.parametrize(
    "value", [open, (i for i in "ab"), np], ids=["file", "generator", "module"]
)
def test_what_belongs_to_the_process_is_refused(value, tmp_path):
    if value is open:
        value = open(tmp_path / "open", "w")  # noqa: SIM115 - closed below
    with pytest.raises(PalmetteError, match=r"^\['it'\] is an object of type"):
        bytes_of({"it": value})
    if hasattr(value, "close"):
        value.close()


def test_a_distance_that_was_not_reviewed_is_named():
    X, y = rows()
    neighbours = KNeighborsClassifier(metric="canberra", algorithm="ball_tree")
    model = pm.FlatClassifier(neighbours).fit(X, y)
    name = "sklearn.metrics._dist_metrics.CanberraDistance64"
    with pytest.raises(ReadError, match=rf"known to be safe: {name}\. "):
        again(model)
    assert again(model, trusted=[name]).predict(X).tolist() == model.predict(X).tolist()


def test_estimators_whose_compiled_code_was_not_reviewed_are_named():
    X, y = rows()
    model = pm.FlatClassifier(make_pipeline(FeatureAgglomeration(2), GaussianNB())).fit(X, y)
    name = "sklearn.cluster._agglomerative.FeatureAgglomeration"
    with pytest.raises(ReadError, match=rf"known to be safe: {name}\. .*trusted="):
        again(model)
    assert again(model, trusted=[name]).predict(X).tolist() == model.predict(X).tolist()


def test_what_is_inside_of_a_holder_is_checked_with_it():
    X, y = rows()
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y).tree_
    members = members_of(bytes_of(tree))
    state = {"n_features_in_": X.shape[1], "n_outputs_": 1, "tree_": {"foreign": 0}}
    for n_features in (X.shape[1], 1):
        state["n_features_in_"] = n_features
        holder = {"class": "sklearn.tree._classes.DecisionTreeClassifier", "state": state}
        text = json.dumps({"root": {"holder": holder}, "objects": []})
        content = sealed({**members, "state.json": text.encode()})
        if n_features > 1:
            assert loaded(content).tree_.node_count == 3
            continue
        with pytest.raises(ReadError, match="a tree has other features or outputs"):
            loaded(content)


def loaded(content):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.palmette"
        file.write_bytes(content)
        return load(file)


class Mine(pm.FlatClassifier):
    """A class of a user's, whose name the file cannot vouch for."""


Mine.__module__ = "tests.persistence.codecs.test_foreign"


def test_types_of_users_are_listed_and_refused_unless_trusted(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, Mine.__module__, sys.modules[__name__])
    X, y = rows()
    model = Mine(GaussianNB()).fit(X, y)
    name = f"{Mine.__module__}.Mine"
    with pytest.raises(ReadError, match=rf"known to be safe: {name}\. .*trusted=\['{name}'\]"):
        again(model)
    for trusted in ([name], [Mine], Mine):
        made = again(model, trusted=trusted)
        assert type(made) is Mine
        assert made.predict(X).tolist() == model.predict(X).tolist()
