"""Models whose arrays lead out of themselves are refused before a kernel walks them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.laws.problems import problem

import palmette as pm
from palmette.engine.hypotheses import ColumnParents
from palmette.persistence.array_checks import check_arrays

FEW = {"n_estimators": 2, "random_state": 0}


@cache
def model(name: str) -> Any:
    X, paths = problem()
    made = {
        "shared": pm.HierarchicalBoostingClassifier(**FEW),
        "classes": pm.AdaBoostMHClassifier(**FEW, weak_learner="stump"),
        "bundle": pm.HierarchicalBoostingClassifier(**FEW, loss=("leaf_softmax", "path_softmax")),
        "colours": pm.AdaBoostECCClassifier(**FEW, weak_learner="stump"),
        "carts": pm.AdaBoostBHCClassifier(**FEW),
        "linear": pm.ClassTreeClassifier(),
        "pairs": pm.DAGSVMClassifier(),
        "forest": pm.StructuredForestClassifier(**FEW),
    }[name]
    return made.fit(X, paths)


def part(name: str) -> Any:
    """Return the object of a model that kernels walk."""
    if name in ("linear", "pairs"):
        return model(name).options_
    if name == "carts":
        return model(name).estimators_[0].routes_.models[0][0].carts
    if name == "forest":
        return model(name).trees_
    return model(name).rounds_[0]


def changed(array: np.ndarray, place: Any, value: Any) -> np.ndarray:
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    "name", ["shared", "classes", "bundle", "colours", "carts", "linear", "pairs", "forest"]
)
def test_models_as_they_are_fitted_pass(name):
    owner = model(name)
    check_arrays([owner, part(name), getattr(owner, "routes_", None)])


@pytest.mark.parametrize(
    ("name", "field", "place", "value"),
    [
        ("shared", "features", -1, 0),  # a leaf at the end of the heap that goes on
        ("shared", "leaf_at", slice(None), 10**6),
        ("shared", "leaf_at", slice(None), -1),
        ("classes", "features", (0, -1), 0),
        ("carts", "left", 0, 10**6),
        ("carts", "left", 0, -1),
        ("carts", "left", 1, 0),  # round in a circle
        ("carts", "features", 0, -3),
        ("carts", "starts", 1, 10**6),
        ("linear", "targets", 0, 10**6),
        ("linear", "targets", 0, 0),  # round in a circle
        ("linear", "ends", slice(None), 10**6),
        ("linear", "first", 1, 10**6),
        ("forest", "left", 0, 10**6),
        ("forest", "right", 0, 0),  # round in a circle
        ("forest", "weight_starts", 1, 10**6),
        ("forest", "share_labels", 0, 10**6),
        ("forest", "tree_starts", 1, -5),
    ],
)
def test_a_place_that_there_is_not_is_refused(name, field, place, value):
    whole = part(name)
    spoilt = replace(whole, **{field: changed(getattr(whole, field), place, value)})
    with pytest.raises(ValueError, match=r"."):
        check_arrays([spoilt])


@pytest.mark.parametrize(
    ("name", "field"),
    [("shared", "cuts"), ("classes", "values"), ("carts", "says"), ("forest", "bias")],
)
def test_arrays_that_do_not_fit_together_are_refused(name, field):
    whole = part(name)
    with pytest.raises(ValueError, match="do not fit together"):
        check_arrays([replace(whole, **{field: getattr(whole, field)[..., :-1]})])


def test_places_are_integers():
    tree = part("shared")
    with pytest.raises(ValueError, match="no integers"):
        check_arrays([replace(tree, leaf_at=tree.leaf_at.astype(float))])
    with pytest.raises(ValueError, match="no integers"):
        check_arrays([replace(tree, features=None)])


def test_a_column_has_parents_that_are_columns():
    trees = part("classes")
    n_columns = len(trees.features)
    starts = np.minimum(np.arange(n_columns + 1), 1)
    good = ColumnParents(starts, np.array([0], dtype=np.int32))
    check_arrays([replace(trees, parents=good)])
    bad = ColumnParents(starts, np.array([n_columns], dtype=np.int32))
    with pytest.raises(ValueError, match="a parent that is none"):
        check_arrays([replace(trees, parents=bad)])


class Owner:
    """Attributes of a model, one of them another."""

    def __init__(self, of: Any, **others: Any) -> None:
        vars(self).update({**vars(of), **others})


def test_rounds_fit_the_model():
    fitted = model("shared")
    check_arrays([Owner(fitted)])
    with pytest.raises(ValueError, match="other columns"):
        check_arrays([Owner(fitted, start_=fitted.start_[:-1])])
    tree = part("shared")
    wide = replace(tree, features=np.where(tree.features >= 0, 99, tree.features).astype(np.int32))
    with pytest.raises(ValueError, match="asks for a feature"):
        check_arrays([Owner(fitted, rounds_=[wide])])
    bundle = model("bundle")
    turned = replace(bundle.rounds_[0], bounds=bundle.rounds_[0].bounds[::-1])
    with pytest.raises(ValueError, match="parts of a round"):
        check_arrays([Owner(bundle, rounds_=[turned])])


def test_routes_fit_their_options():
    fitted = model("linear")
    routes = fitted.routes_
    check_arrays([Owner(fitted), routes])
    with pytest.raises(ValueError, match="other features"):
        check_arrays([Owner(fitted, n_features_in_=1)])
    with pytest.raises(ValueError, match="do not fit"):
        check_arrays([Owner(fitted, options_=model("pairs").options_)])


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [("features", 0, 99), ("lanes", 0, 99), ("first_lane", 1, 5), ("first_entry", 1, 10**6)],
)
def test_linear_routes_have_weights_of_their_own(field, place, value):
    routes = model("linear").routes_
    spoilt = object.__new__(type(routes))
    vars(spoilt).update(vars(routes))
    setattr(spoilt, field, changed(getattr(routes, field), place, value))
    with pytest.raises(ValueError, match=r"."):
        check_arrays([spoilt])


def test_a_forest_fits_its_labels_and_features():
    forest = model("forest")
    for name, value in (("n_features_in_", 1), ("label_shares_", np.zeros(2))):
        spoilt = object.__new__(type(forest))
        vars(spoilt).update({**vars(forest), name: value})
        with pytest.raises(ValueError, match=r"."):
            check_arrays([spoilt])
    check_arrays([pm.StructuredForestClassifier()])
