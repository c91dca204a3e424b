"""Columns in units that single precision can hold, for trees and what is made of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import palmette as pm
from palmette.multilabel import C45Tree

RNG = np.random.default_rng(0)
PATHS = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "z"), ("c",)]
CODES = np.arange(150) % len(PATHS)
# multiples of 1/16, to which large numbers are added without rounding
X = np.rint((RNG.normal(scale=2.0, size=(5, 3))[CODES] + RNG.normal(size=(150, 3))) * 16) / 16
Y = [PATHS[code] for code in CODES]
SETS = [set(PATHS[code][:1]) | ({"d"} if i % 3 else set()) for i, code in enumerate(CODES)]
TREE = DecisionTreeClassifier(random_state=0)

UNITS = {
    "tiny": lambda rows: rows * 2.0**-100,
    "small": lambda rows: rows * 2.0**-27,
    "large": lambda rows: rows * 2.0**100,
    "times": lambda rows: rows + 1.7e9,
    "one": lambda rows: rows * [1.0, 2.0**-40, 1.0] + [0.0, 0.0, 2.0**40],
}
TREES = {
    "tree": TREE,
    "c45": C45Tree(random_state=0),
    "forest": RandomForestClassifier(5, random_state=0),
    "bagging": BaggingClassifier(n_estimators=3, random_state=0),
    "boosting": AdaBoostClassifier(n_estimators=3, random_state=0),
    "gradients": GradientBoostingClassifier(n_estimators=3, random_state=0),
    "search": GridSearchCV(TREE, {"max_depth": [2, 6]}, cv=2),
}


def answers(model, rows, y=Y):
    return clone(model).fit(rows[::2], y[::2]).predict(rows[1::2])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", TREES)
def test_trees_of_scikit_learn_answer_alike_in_any_unit(kind, unit):
    model = pm.LocalPerParentClassifier(TREES[kind])
    assert answers(model, UNITS[unit](X)) == answers(model, X)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "model",
    [
        pm.FlatClassifier(TREE),
        pm.LocalPerNodeClassifier(TREE),
        pm.LocalPerLevelClassifier(TREE),
        pm.BinaryRelevance(TREE),
        pm.TreesMultilabel(n_estimators=5, random_state=0),
        pm.CalibratedHierarchicalClassifier(TREE, cv=2, random_state=0),
        pm.ConformalHierarchicalClassifier(TREE, random_state=0),
    ],
)
def test_what_is_made_of_trees_answers_alike_in_any_unit(model, unit):
    assert answers(model, UNITS[unit](X)) == answers(model, X)


@pytest.mark.parametrize(
    "model",
    [
        C45Tree(random_state=0),
        C45Tree.preset("j48"),
        pm.RAkEL(random_state=0),
        pm.ChainEnsemble(n_chains=2, random_state=0),
        pm.CalibratedLabelRanking(random_state=0),
        pm.COCOA(n_couplings=2, n_models=1, random_state=0),
        pm.HOMER(random_state=0),
    ],
)
def test_trees_that_break_ties_by_values_have_one_answer_in_extreme_units(model):
    plain, y = isinstance(model, C45Tree), np.array(["/".join(path) for path in Y])
    y = y if plain else SETS
    first, *others = [list(answers(model, change(X), y)) for change in UNITS.values()]
    assert all(other == first for other in others)
    usual, truth = answers(model, X, y), y[1::2]
    right, before = (
        np.mean([a == b for a, b in zip(f, truth, strict=True)]) for f in (first, usual)
    )
    assert right > before - 0.1


def test_usual_columns_stay_as_they_are():
    year = np.column_stack([X, 2000 + np.arange(150) % 20, np.zeros(150)])
    assert not hasattr(pm.FlatClassifier(TREE).fit(year, Y), "column_units_")
    model = pm.FlatClassifier(TREE).fit(UNITS["times"](X), Y)
    assert (np.abs(model.column_units_.centres - 1.7e9) < 10).all()
    assert not hasattr(model.fit(X, Y), "column_units_")


def test_neighbours_see_the_columns_as_they_are():
    rows = UNITS["one"](X)
    model = pm.FlatClassifier(KNeighborsClassifier(3)).fit(rows, Y)
    assert not hasattr(model, "column_units_")
    with_map = pm.FlatClassifier({1: TREE, "default": GaussianNB()}).fit(X, Y)
    assert not hasattr(with_map, "column_units_")


def test_integers_tables_sparse_rows_and_missing_values():
    rng = np.random.default_rng(1)
    times = 1_700_000_000_000_000_000 + rng.integers(0, 1000, 90)  # nanoseconds: more than 2^53
    y = np.where(times % 1000 > 500, "late", "early")
    other = rng.integers(0, 9, 90)
    both = np.column_stack([times, other])
    model = pm.FlatClassifier(TREE)
    found = clone(model).fit(both[:60], y[:60])
    assert np.mean(found.predict(both) == y) > 0.95
    frame = pd.DataFrame({"time": times, "other": other})
    assert np.array_equal(clone(model).fit(frame[:60], y[:60]).predict(frame), found.predict(both))
    mixed = frame.assign(other=other / 4)  # which makes one array of floats of all
    assert hasattr(clone(model).fit(mixed, y), "column_units_")
    with pytest.raises(ValueError, match="could not convert string"):
        clone(model).fit(frame.assign(name="a"), y)

    thin = np.where(X > 0.5, X, 0.0)
    usual = clone(model).fit(sparse.csr_array(thin), Y)
    tiny = clone(model).fit(sparse.csr_array(thin * 2.0**-60), Y)
    assert hasattr(tiny, "column_units_")
    assert tiny.predict(sparse.csr_array(thin * 2.0**-60)) == usual.predict(sparse.csr_array(thin))

    holes = np.where(np.random.default_rng(2).random(X.shape) < 0.1, np.nan, X)
    assert answers(model, UNITS["times"](holes)) == answers(model, holes)


def test_values_beyond_all_training_rows_are_on_their_side():
    X = 1e-30 * np.arange(6.0)[:, None]
    model = pm.FlatClassifier(TREE).fit(X, list("aaabbb"))
    assert model.predict([[1e90], [-1e90]]).tolist() == ["b", "a"]


def test_a_column_that_is_constant_in_most_rows_counts():
    rows = np.zeros((200_000, 2))
    rows[::1001, 0] = 1e-12
    y = np.where(rows[:, 0] > 0, "some", "none")
    assert (pm.FlatClassifier(TREE).fit(rows, y).predict(rows[:2000]) == y[:2000]).all()


def test_a_stored_model_keeps_its_units(tmp_path):
    rows = UNITS["times"](X)
    model = pm.LocalPerParentClassifier(TREE).fit(rows, Y)
    pm.save(model, tmp_path / "model.palmette")
    assert pm.load(tmp_path / "model.palmette").predict(rows) == model.predict(rows)
