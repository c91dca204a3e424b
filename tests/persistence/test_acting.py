"""No file decides what the process of its reader connects to, starts, reads or writes."""

from __future__ import annotations

import inspect
import json
import random
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.attack.acts import acting_inside, put_everywhere
from tests.attack.files import Taken
from tests.attack.victims import victims
from tests.instances import public_estimators
from tests.persistence.round_trips import bytes_of

import palmette as pm
from palmette.exceptions import PalmetteError, ReadError
from palmette.persistence import load, save
from palmette.persistence._acting import ACTING, defaults_of_acting
from palmette.table import fit_table

X = np.array([[0.0], [1.0], [2.0], [3.0]] * 5)
Y = [("a", "x"), ("a", "y"), ("b", "z"), ("b", "w")] * 5
STRANGE = "tcp://stranger.invalid:8786"
GOODS = {
    "name": ["red apple", "green pear", "small saw", "long nail"] * 6,
    "kind": ["Food > Fruit", "Food > Pears", "Tools > Saws", "Tools > Nails"] * 6,
}


def again(model, tmp_path):
    save(model, tmp_path / "a.palmette")
    return load(tmp_path / "a.palmette")


def changed(model, tmp_path, change):
    """Load a file in which the state of the object was changed, with checksums that fit."""
    taken = Taken(bytes_of(model))
    change(taken)
    path = tmp_path / "changed.palmette"
    path.write_bytes(taken.sealed())
    return load(path)


def first(taken, name):
    """The attributes of the first object of a class."""
    return next(
        each["state"]
        for entry in taken.objects
        for each in entry.values()
        if isinstance(each, dict) and str(each.get("class")).endswith(name)
    )


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_parameters_that_act_are_not_written(kind, tmp_path):
    defaults = defaults_of_acting(kind)
    assert defaults.keys() == ACTING & inspect.signature(kind).parameters.keys()
    required = {
        name: GaussianNB()
        for name, each in inspect.signature(kind).parameters.items()
        if each.default is each.empty
    }
    model = kind(**required, **dict.fromkeys(defaults, STRANGE))
    content = bytes_of(model)
    with zipfile.ZipFile(BytesIO(content)) as file:
        assert STRANGE.encode() not in b"".join(map(file.read, file.namelist()))
    found = again(model, tmp_path)
    assert {name: getattr(found, name) for name in defaults} == defaults


def test_parameters_that_act_are_not_read(tmp_path):
    model = pm.HierarchicalBoostingClassifier(client="x", n_jobs=7, scratch="y", device="cuda")

    def change(taken):
        state = first(taken, "HierarchicalBoostingClassifier")
        acting = {"client": None, "device": "cpu", "n_jobs": None, "scratch": None}
        assert acting.items() <= state.items()
        state |= dict.fromkeys(acting, STRANGE) | {"_skl_callbacks": {"list": [STRANGE]}}

    found = changed(model, tmp_path, change)
    assert (found.client, found.device, found.n_jobs, found.scratch) == (None, "cpu", None, None)
    assert not hasattr(found, "_skl_callbacks")


def parts_of_sklearn():
    forest = RandomForestClassifier(2, n_jobs=1, random_state=0)
    return Pipeline([("a", FunctionTransformer()), ("b", forest)])


@pytest.mark.parametrize("around", [False, True])
def test_estimators_of_sklearn_have_their_defaults(tmp_path, around):
    pipeline = parts_of_sklearn().set_params(b__n_jobs=3)
    model = pm.FlatClassifier(pipeline).fit(X, Y)
    model.estimator.memory = "/stranger"
    if around:
        model = Pipeline([("c", model)], memory=str(tmp_path / "cache"))
    found = again(model, tmp_path)
    inner = found["c"] if around else found
    assert getattr(found, "memory", None) is None
    assert inner.estimator.memory is None
    assert inner.estimator["b"].n_jobs is None
    assert model.get_params(deep=False)  # the object itself is as it was
    assert pipeline["b"].n_jobs == 3
    np.testing.assert_array_equal(found.predict(X), model.predict(X))


def test_names_of_files_are_no_texts(tmp_path):
    texts = ["red apple", "blue car"]
    model = pm.FlatClassifier(Pipeline([("a", CountVectorizer()), ("b", LogisticRegression())]))
    model.fit(texts, [("a", "x"), ("b", "y")])
    for each in (model.estimator, model.estimator_ if hasattr(model, "estimator_") else model):
        if isinstance(each, Pipeline):
            each["a"].input = "filename"
    found = again(model, tmp_path)
    assert found.estimator["a"].input == "content"


def test_settings_of_searches_do_not_act(tmp_path):
    grid = {"client": [STRANGE], "estimator__n_jobs": [9], "estimator__C": [1.0]}
    search = GridSearchCV(pm.FlatClassifier(LogisticRegression()), [grid], pre_dispatch="2**99")
    found = again(search, tmp_path)
    assert found.param_grid == [{"estimator__C": [1.0]}]
    assert found.pre_dispatch == "2*n_jobs"
    assert search.param_grid == [grid]


@pytest.fixture(scope="module")
def table_model():
    return fit_table(GOODS, "kind", model="local-per-parent", columns={"name": "text"}, folds=0)


def test_settings_of_a_fit_do_not_act(table_model, tmp_path):
    def change(taken):
        facts = taken.objects[first(taken, "TableModel")["summary_"]["ref"]]["dict"]
        settings = taken.objects[facts["settings"]["ref"]]["dict"]
        settings |= {"client": STRANGE, "estimator__n_jobs": 10**6, "estimator__C": 2.0}

    found = changed(table_model, tmp_path, change)
    assert found.summary_["settings"] == {"estimator__C": 2.0}
    assert found.refit(GOODS).predict({"name": ["red apple"]}) == [("Food", "Fruit")]


def test_settings_of_the_caller_are_not_stored(tmp_path):
    settings = {"n_jobs": 1, "C": 2.0}
    model = fit_table(GOODS, "kind", model="local-per-parent", settings=settings, folds=0)
    assert model.summary_["settings"] == {"C": 2.0}


def test_the_learner_of_a_hierarchy_is_no_name_of_a_file(table_model, tmp_path):
    def change(taken):
        first(taken, "TableModel").update(learner_="/stranger.obo", learnt_=True)

    with pytest.raises(ReadError, match="learner_ is of type str"):
        changed(table_model, tmp_path, change)


def test_the_hierarchy_of_a_clone_is_no_name_of_a_file(table_model, tmp_path):
    def change(taken):
        first(taken, "TableModel").update(hierarchy="/stranger.obo")

    found = clone(changed(table_model, tmp_path, change))
    rows = pd.DataFrame({"name": GOODS["name"]})
    with pytest.raises(PalmetteError, match="Read the file first"):
        found.fit(rows, GOODS["kind"])


# ---------------------------------------------------------------------- methods and functions


def stacked(tmp_path):
    """A pipeline that writes the bytes of an array to the file that a cell names."""
    stack = StackingClassifier([("a", GaussianNB())])
    stack.estimators_ = [np.array([b"written by a stranger"])]
    stack.stack_method_ = ["tofile"]
    stack.final_estimator_ = GaussianNB()
    stack._label_encoder = pm.FlatClassifier(GaussianNB())
    return stack


def test_no_file_names_a_method_that_acts(tmp_path):
    path = tmp_path / "written"
    with pytest.raises(ReadError, match="stack_method_ names a method"):
        again(stacked(tmp_path), tmp_path).transform(pd.Series([str(path)]))
    assert not path.exists()


@pytest.mark.parametrize("function", [np.max, str])
def test_no_function_makes_a_name_of_a_file_of_rows(function, tmp_path):
    step = FunctionTransformer(function)
    step.part_ = pm.FlatClassifier(GaussianNB())
    with pytest.raises(ReadError, match="a function returns no rows"):
        again(step, tmp_path)


def test_no_type_of_a_column_reads_a_time_zone_from_a_file(tmp_path):
    with pytest.raises(ReadError, match="not a type of a column"):
        changed(
            pm.Hierarchy.star("ab"),
            tmp_path,
            lambda taken: taken.state.update(
                root={"list": [{"pandas_dtype": "datetime64[ns, dateutil//etc/localtime]"}]}
            ),
        )


def test_what_acts_is_not_in_the_manifest(table_model, tmp_path):
    table_model.summary_["settings"] = {"client": STRANGE}
    try:
        content = bytes_of(table_model)
    finally:
        table_model.summary_["settings"] = {}
    with zipfile.ZipFile(BytesIO(content)) as file:
        manifest = json.loads(file.read("manifest.json"))
    assert manifest["summary"]["settings"] == {}


@pytest.mark.parametrize("kind", public_estimators()[::6], ids=lambda kind: kind.__name__)
def test_nothing_acts_wherever_it_is_put(kind, tmp_path):
    taken = Taken(victims()[kind.__name__]().content)
    assert put_everywhere(taken, random.Random(0)) > 5
    (tmp_path / "a.palmette").write_bytes(taken.sealed())
    assert list(acting_inside(load(tmp_path / "a.palmette"))) == []
