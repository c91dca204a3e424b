"""LocalPerParentClassifier: the chain rule over one model a parent."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.spies import Spy

from palmette import Hierarchy, LocalPerParentClassifier


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)],
    ids=str,
)
def test_on_a_star_it_is_the_estimator_itself(star, estimator):
    X, y = star
    local = LocalPerParentClassifier(estimator).fit(X, y)
    alone = estimator.fit(X, y)
    assert local.classes_.tolist() == alone.classes_.tolist()
    assert np.array_equal(local.predict_proba(X), alone.predict_proba(X))
    assert np.array_equal(local.predict(X), alone.predict(X))


def test_probabilities_are_the_chain_rule_over_the_local_models(three_levels):
    X, y = three_levels
    local = LocalPerParentClassifier(LogisticRegression()).fit(X, y)
    h = local.hierarchy_
    assert sorted(local.estimators_) == np.flatnonzero(~h.is_leaf).tolist()
    for path, proba in zip(local.classes_, local.predict_proba(X).T, strict=True):
        expected = np.ones(len(X))
        for parent, child in zip([(), *(path[:i] for i in (1, 2))], range(1, 4), strict=True):
            model = local.estimators_[h.index(parent)]
            column = model.classes_.tolist().index(h.index(path[:child]))
            expected = expected * model.predict_proba(X)[:, column]
        np.testing.assert_allclose(proba, expected, rtol=1e-9)


def test_a_path_that_ends_at_a_parent_is_one_of_its_options():
    X = np.arange(12.0)[:, None]
    y = [("a",)] * 4 + [("a", "x")] * 4 + [("b", "y", "z")] * 4
    local = LocalPerParentClassifier(Spy()).fit(X, y)
    h = local.hierarchy_
    a = h.index("a")
    assert sorted(local.estimators_) == [0, a]  # "b" and "y" have one child each
    assert local.estimators_[0].y_.tolist() == [a] * 8 + [h.index("b")] * 4
    assert local.estimators_[a].y_.tolist() == [a] * 4 + [h.index("a/x")] * 4
    assert local.estimators_[a].X_.ravel().tolist() == list(range(8))
    proba = dict(zip(local.classes_, local.predict_proba(X[:1])[0], strict=True))
    assert proba == {("a",): 0.25, ("a", "x"): 0.25, ("b", "y", "z"): 0.5}


def test_a_dict_chooses_by_parent():
    X, y = np.arange(8.0)[:, None], [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] * 2
    models = {"root": Spy(1), ("a",): Spy(2), 1: Spy(3)}
    h = Hierarchy.from_paths(y)
    local = LocalPerParentClassifier(models, hierarchy=h).fit(X, y)
    seeds = {h.path_strings[node]: spy.random_state for node, spy in local.estimators_.items()}
    assert seeds == {"root": 1, "a": 2, "b": 3}


def test_a_factory_is_called_with_every_parent():
    X, y = np.arange(8.0)[:, None], [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] * 2
    names = []

    def make(name):
        names.append(name)
        return GaussianNB()

    local = LocalPerParentClassifier(make).fit(X, y)
    assert names == ["root", "a", "b"]
    assert len(local.estimators_) == 3
