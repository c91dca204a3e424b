"""Answers of other libraries' classifiers that cannot be used are errors that name them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import palmette
from palmette import PalmetteError

PATHS = [("a", "x"), ("a", "y"), ("b",)] * 8
X = np.random.default_rng(0).normal(size=(24, 3)) + np.arange(24)[:, None] % 3
SETS = [{("a", "x"), ("b",)}, {("a", "y")}, {("b",)}] * 8


class Strange(ClassifierMixin, BaseEstimator):
    """A classifier whose answers are changed."""

    def __init__(self, change):
        self.change = change

    def fit(self, X, y, sample_weight=None):
        self.model_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        if self.change == "unknown classes":
            self.classes_ = np.array([-7, -8])
        return self

    def predict(self, X):
        found = self.model_.predict(X)
        return np.full(len(found), -7) if self.change == "unknown labels" else found


class WithProba(Strange):
    def predict_proba(self, X):
        return changed(self.model_.predict_proba(X), self.change)


class WithMargins(Strange):
    def decision_function(self, X):
        proba = self.model_.predict_proba(X)
        return changed(proba[:, 1] if len(self.classes_) == 2 else proba, self.change)


def changed(values, change):
    if change == "nan":
        values[::2] = np.nan
    elif change == "infinite":
        values[0] = np.inf
    elif change == "columns":
        values = np.column_stack([values] * 3)
    elif change == "rows":
        values = values[1:]
    elif change == "sums":
        values *= 0.5
    elif change == "negative":
        values = np.column_stack([values[:, 0] + 1.0, values[:, 1:] - 1.0 / (values.shape[1] - 1)])
    elif change == "words":
        values = np.full(values.shape, "many")
    return values


NUMBERS = ("nan", "infinite", "columns", "rows", "words")
CASES = [
    *((WithProba(change), "predict_proba") for change in (*NUMBERS, "sums", "negative")),
    *((WithMargins(change), "decision_function") for change in NUMBERS),
    (Strange("unknown labels"), "predict"),
    *((kind("unknown classes"), "classes_ = ") for kind in (WithProba, WithMargins, Strange)),
]


def named(case):
    estimator, method = case
    return f"{estimator.change} from {method}"


def message_of(model, y):
    """Return the error of a fit and a prediction."""
    with pytest.raises(PalmetteError) as found:
        model.fit(X, y).predict(X)
    return str(found.value)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_what_cannot_be_used_is_refused_wherever_it_comes_from(case):
    estimator, method = case
    for model, y, place in [
        (palmette.FlatClassifier(estimator), PATHS, ""),
        (palmette.LocalPerParentClassifier(estimator), PATHS, "at the root"),
        (palmette.LocalPerNodeClassifier(estimator), PATHS, "at node 'a'"),
        (palmette.LocalPerLevelClassifier(estimator), PATHS, "at level 1"),
        (palmette.LocalPerParentClassifier(estimator), SETS, "at the root"),
        (palmette.LocalPerNodeClassifier(estimator), SETS, "at node 'a'"),
        (palmette.BinaryRelevance(estimator), SETS, "at node 'a'"),
        (palmette.ClassTreeClassifier(router=estimator), PATHS, "at node 0 of hierarchy_"),
    ]:
        message = message_of(model, y)
        assert type(estimator).__name__ in message
        assert method in message
        assert "expected" in message
        if method != "classes_ = ":  # those are noticed before the node is known
            assert place in message


@pytest.mark.parametrize(
    "model",
    [
        palmette.CalibratedHierarchicalClassifier(WithProba("nan"), cv=2),
        palmette.ConformalHierarchicalClassifier(WithProba("nan"), random_state=0),
        palmette.AdaBoostMHClassifier(n_estimators=2, weak_learner=Strange("unknown labels")),
    ],
    ids=["calibrated", "conformal", "boosted"],
)
def test_those_who_fit_on_the_answers_refuse_them_too(model):
    message = message_of(model, PATHS)
    assert message.startswith(("WithProba.predict_proba gave NaN", "Strange.predict gave [-7"))


def test_the_error_says_how_many_rows_and_what_to_do():
    model = palmette.LocalPerParentClassifier({"default": GaussianNB(), "a": WithProba("nan")})
    message = message_of(model, PATHS)
    assert message.startswith("WithProba.predict_proba at node 'a' gave NaN or infinity for ")
    assert "of 24 rows: expected finite numbers. Change its settings" in message


@pytest.mark.parametrize("rows", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_where_all_rows_are_equal_the_shares_of_the_classes_are_answered(rows):
    X = rows(np.where(np.arange(12)[:, None] < 4, [[1.0, 0.0]], [[0.0, 0.1]]))
    y = [("a",)] * 4 + [("b", "x")] * 6 + [("b", "y")] * 2
    weights = np.r_[np.ones(10), 3.0, 3.0]
    for given, share in ((None, 0.75), (weights, 0.5)):
        clf = palmette.LocalPerParentClassifier().fit(X, y, sample_weight=given)
        found = clf.predict_node_proba(X, nodes=["b", "b/x"])
        np.testing.assert_allclose(found[:, 1] / found[:, 0], share)
