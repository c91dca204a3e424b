"""What classes state of their attributes holds for whatever is read."""

from __future__ import annotations

import enum
import inspect
from copy import copy
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB
from tests.laws.problems import problem
from tests.persistence.round_trips import again

import palmette as pm
from palmette import PalmetteError, ReadError
from palmette.persistence.checks import array, check_object, held, is_stated
from palmette.persistence.names import STORED, find_class

_REBUILT = {"hierarchy.Hierarchy", "labels.LabelSpace", "decisions.NodeColumns"}  # by constructors


@pytest.fixture(scope="module")
def rows():
    return problem(4)


@pytest.fixture
def local(rows):
    return pm.LocalPerParentClassifier(GaussianNB()).fit(*rows)


@pytest.fixture
def boosted(rows):
    return pm.AdaBoostMHClassifier(n_estimators=2, weak_learner="stump", random_state=0).fit(*rows)


@pytest.mark.parametrize("name", [name for name in STORED if name not in _REBUILT])
def test_every_class_in_files_states_its_attributes(name):
    kind = find_class(name)
    is_plain = not issubclass(kind, BaseEstimator | tuple | enum.Enum)
    has_parts = is_plain and bool(inspect.signature(kind).parameters)
    assert not has_parts or is_stated(kind)


class Box:
    in_files: ClassVar = {
        "n": held(int, below=5),
        "kind": held(str, among=("a", "b")),
        "sizes": array("iu", "n", below="n"),
        "names": held(list, shape=("sizes",), each=(str,)),
        "again": held(list, same="names", or_none=True, or_absent=True),
    }

    def __init__(self, **changes):
        self.__dict__.update(
            {"n": 2, "kind": "a", "sizes": np.array([0, 1]), "names": ["x", "y"], **changes}
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"again": None}, None),
        ({"n": -1}, "Box.n has a number that is not from 0 to 4"),
        ({"n": "2"}, "Box.n is of type str: expected int"),
        ({"kind": "c"}, "Box.kind is 'c': expected one of 'a', 'b'"),
        ({"sizes": np.array([0.0, 1.0])}, "Box.sizes has the dtype float64"),
        ({"sizes": np.array([0, 2])}, "Box.sizes has a number that is not from 0 to 1"),
        ({"sizes": np.array([[0, 1]])}, r"Box.sizes has the shape \(1, 2\): expected \(2,\)"),
        ({"names": ["x"]}, r"Box.names has the shape \(1,\)"),
        ({"names": ["x", 3]}, "Box.names has a part of type int: expected str"),
        ({"again": ["x", "y"]}, "Box.again is another object than names"),
    ],
)
def test_an_attribute_is_what_its_class_states(changes, message):
    if message is None:
        check_object(Box(**changes))
        return
    with pytest.raises(ValueError, match=message):
        check_object(Box(**changes))


def test_a_lost_attribute_is_told():
    box = Box()
    del box.kind
    with pytest.raises(ValueError, match=r"Box\.kind is missing"):
        check_object(box)


def test_parts_of_two_models_do_not_fit_together(rows, local):
    other = pm.LocalPerParentClassifier(GaussianNB()).fit(rows[0][:16], [("p",), ("q",)] * 8)
    for name in ("hierarchy_", "space_", "classes_", "label_form_"):
        grafted = copy(local)
        setattr(grafted, name, getattr(other, name))
        with pytest.raises(ReadError, match=f"LocalPerParentClassifier.{name} is another object"):
            again(grafted)


def test_a_selector_has_a_column_for_each_feature(rows):
    selector = pm.HierarchicalFeatureSelector("fisher").fit(*rows)
    selector.n_features_in_ = -1
    with pytest.raises(ReadError, match=r"HierarchicalFeatureSelector\.n_features_in_"):
        again(selector)


def test_errors_of_every_method_of_a_read_model_name_the_file(rows, boosted):
    X = rows[0]
    read = again(boosted)
    assert len(list(read.staged_predict(X))) == 2
    read.rounds_ = boosted.rounds_ = [None]
    with pytest.raises(PalmetteError, match="was loaded from a file"):
        list(read.staged_predict(X))
    with pytest.raises(PalmetteError, match="was loaded from a file"):
        read.explain(X)
    with pytest.raises(PalmetteError, match="was loaded from a file"):
        pm.report(read, *rows)
    learner = again(pm.BHCTree().fit(rows[0], [path[-1] for path in rows[1]]))
    learner.classes_ = 3
    for shown in (learner._repr_html_, learner._repr_mimebundle_):
        with pytest.raises(PalmetteError, match="was loaded from a file"):
            shown()
    assert hasattr(type(read), "feature_importances_")
    with pytest.raises(AttributeError):  # of a model that was not read
        list(boosted.staged_predict(X))


def test_a_parameter_that_a_file_lacks_has_its_default(boosted):
    del boosted.learning_rate
    read = again(boosted)
    assert read.learning_rate == clone(read).learning_rate == 1.0
    assert "rate" not in repr(read)


def test_a_parameter_without_a_default_may_not_be_missing():
    router = pm.routing.AverageRouter([])
    del router.routers
    with pytest.raises(ReadError, match="AverageRouter has no routers"):
        again(router)


@pytest.mark.parametrize("length", [17_000, 70_000])
def test_labels_of_any_length_come_back(length):
    X = np.arange(8.0)[:, None]
    names = np.array(["a", "b" * length]).repeat(4)
    kinds = [names, names.astype("S"), [*names], [("root", each) for each in names]]
    for y in [*kinds, names[:4].astype(f"U{length}")]:
        model = pm.FlatClassifier(GaussianNB()).fit(X[: len(y)], y)
        told, asked = again(model).predict(X), model.predict(X)
        assert type(told) is type(asked)
        assert np.asarray(told).dtype == np.asarray(asked).dtype
        assert list(map(tuple, told)) == list(map(tuple, asked))
