"""Columns in units that single precision can hold, for trees and what is made of them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import palmette as pm
from palmette.base._column_units import ColumnUnits
from palmette.local import MixedNaiveBayes
from palmette.local._passes import fit_in_passes
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


def share_right(found):
    return np.mean([a == b for a, b in zip(found, Y[1::2], strict=True)])


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


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "model",
    [
        C45Tree(random_state=0),
        C45Tree.preset("j48"),
        pm.RAkEL(random_state=0),
        pm.ChainEnsemble(n_chains=2, sampling=None, random_state=0),
        pm.CalibratedLabelRanking(random_state=0),
        pm.HOMER(random_state=0),
    ],
)
def test_trees_that_draw_among_ties_answer_alike_in_any_unit(model, unit):
    y = np.array(["/".join(path) for path in Y]) if isinstance(model, C45Tree) else SETS
    assert list(answers(model, UNITS[unit](X), y)) == list(answers(model, X, y))


# rows of one unit, whose distances and coefficients are multiplied alike
TOGETHER = ("tiny", "small", "large", "times")


@pytest.mark.parametrize("unit", TOGETHER)
@pytest.mark.parametrize(
    "base",
    [
        KNeighborsClassifier(3),
        KNeighborsClassifier(3, algorithm="brute", metric="manhattan"),
        make_pipeline(SimpleImputer(), TREE),
        make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
        VotingClassifier([("tree", TREE), ("near", KNeighborsClassifier(3))]),
    ],
)
def test_classifiers_of_distances_answer_alike_in_one_unit_of_all_columns(base, unit):
    model = pm.FlatClassifier(base)
    assert answers(model, UNITS[unit](X)) == answers(model, X)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "base",
    [
        GaussianNB(),
        LogisticRegression(C=10.0, max_iter=200),
        LinearSVC(),
        LinearDiscriminantAnalysis(),
        RidgeClassifier(),
        {1: TREE, "default": GaussianNB()},
        SVC(),
    ],
)
def test_other_classifiers_are_as_good_in_any_unit(base, unit):
    if isinstance(base, SVC) and unit == "one":
        return  # distances are those of the first column, in the units of the user
    kind = pm.LocalPerLevelClassifier if isinstance(base, dict) else pm.FlatClassifier
    usual, found = answers(kind(base), X), answers(kind(base), UNITS[unit](X))
    assert share_right(found) > share_right(usual) - 0.05 > 0.5


def test_a_classifier_of_which_nothing_is_known_gets_columns_as_they_are_with_advice():
    class Other(KNeighborsClassifier):
        pass

    class Unknown(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

    rows = UNITS["times"](X)
    with pytest.warns(UserWarning, match=r"columns \[0, 1, 2\] of X .*StandardScaler"):
        model = pm.FlatClassifier(Unknown()).fit(rows, Y)
    assert not hasattr(model, "column_units_")
    with pytest.warns(UserWarning, match="StandardScaler"):
        pm.FlatClassifier(SVC(gamma=2.0)).fit(UNITS["small"](X), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pm.FlatClassifier(Unknown()).fit(X, Y)
        pm.FlatClassifier(Other(3)).fit(rows, Y)
        pm.FlatClassifier(make_pipeline(PowerTransformer(), Other(3))).fit(rows, Y)


def test_words_that_are_rare_stay_rare():
    rng = np.random.default_rng(0)
    words = sparse.random_array((60, 40), density=0.2, rng=rng, data_sampler=rng.random)
    shares = sparse.csr_array(words.multiply(2.0 ** -np.linspace(0, 14, 40)))
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    assert not hasattr(pm.FlatClassifier(LogisticRegression()).fit(shares, y), "column_units_")
    assert not hasattr(pm.DAGSVMClassifier().fit(shares, y), "column_units_")


def test_passes_over_rows_in_any_unit():
    usual, rows = pm.FlatClassifier(SGDClassifier(random_state=0)), UNITS["times"](X)
    model = fit_in_passes(usual, rows, Y, n_passes=5, seed=0)
    assert share_right(model.predict(rows)[1::2]) > 0.6
    # calls after a fit get rows in its units
    again = pm.FlatClassifier(GaussianNB()).fit(rows, Y).partial_fit(rows, Y)
    assert again.predict(rows) == pm.FlatClassifier(GaussianNB()).fit(rows, Y).predict(rows)


def test_any_number_of_jobs_and_a_file_have_the_same_units(tmp_path):
    rows = UNITS["one"](X)
    for number, model in enumerate(
        [
            pm.LocalPerNodeClassifier(LogisticRegression()),
            pm.GlobalNaiveBayesClassifier(),
            pm.DAGSVMClassifier(random_state=0),
            pm.MLkNN(3),
            pm.FlatClassifier(MixedNaiveBayes()),
        ]
    ):
        fitted = model.fit(rows[::2], Y[::2])
        pm.save(fitted, tmp_path / f"{number}.palmette")
        assert pm.load(tmp_path / f"{number}.palmette").predict(rows) == fitted.predict(rows)
        if isinstance(model, pm.DAGSVMClassifier | pm.MLkNN):
            two = clone(model).set_params(n_jobs=2).fit(rows[::2], Y[::2])
            assert two.predict(rows) == fitted.predict(rows)


@pytest.mark.parametrize("largest", [1e300, 5e-324])
def test_values_whose_squares_are_no_numbers_are_refused_or_read(largest):
    rows = X / np.abs(X).max() * largest
    for base in (TREE, GaussianNB(), LogisticRegression(), KNeighborsClassifier(3)):
        with pytest.raises(pm.exceptions.PalmetteError, match="Change the unit of the features"):
            pm.FlatClassifier(base).fit(rows, Y)
        beside = np.column_stack([X, rows[:, 0] / 1e250 if largest > 1 else rows[:, 0]])
        model = pm.FlatClassifier(base).fit(beside, Y)
        assert np.isfinite(model.predict_proba(beside)).all()


def test_usual_columns_stay_as_they_are():
    year = np.column_stack([X, 2000 + np.arange(150) % 20, np.zeros(150)])
    assert not hasattr(pm.FlatClassifier(TREE).fit(year, Y), "column_units_")
    model = pm.FlatClassifier(TREE).fit(UNITS["times"](X), Y)
    assert (np.abs(model.column_units_.centres - 1.7e9) < 10).all()
    assert not hasattr(model.fit(X, Y), "column_units_")


def test_neighbours_see_the_columns_in_the_units_of_the_user():
    rows = UNITS["one"](X)
    near = pm.FlatClassifier(KNeighborsClassifier(3)).fit(rows, Y)
    assert (near.column_units_.exponents == 0).all()
    assert near.column_units_.centres[:2].tolist() == [0.0, 0.0]


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


@pytest.mark.parametrize("change", [lambda units: None, lambda units: units.centres[:2]])
def test_units_in_a_file_are_those_of_all_columns(tmp_path, change):
    model = pm.FlatClassifier(TREE).fit(UNITS["times"](X), Y)
    cut = change(model.column_units_)
    model.column_units_ = "other" if cut is None else ColumnUnits(cut, np.zeros(2, np.int64))
    pm.save(model, tmp_path / "model.palmette")
    with pytest.raises(pm.ReadError, match="column_units_"):
        pm.load(tmp_path / "model.palmette")
