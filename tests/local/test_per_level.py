"""LocalPerLevelClassifier: one model a depth, siblings scaled to sum to one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.spies import Loud, Spy

from palmette import HierarchyError, LocalPerLevelClassifier


@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB()], ids=str)
def test_on_one_level_it_is_the_estimator_itself(star, estimator):
    X, y = star
    local = LocalPerLevelClassifier(estimator).fit(X, y)
    alone = estimator.fit(X, y)
    np.testing.assert_allclose(local.predict_proba(X), alone.predict_proba(X), rtol=1e-12)
    assert np.array_equal(local.predict(X), alone.predict(X))


def test_a_level_sees_the_rows_that_reach_it():
    X = np.arange(10.0)[:, None]
    y = [("a", "x"), ("a", "y"), ("b", "z"), ("c",), ("a",)] * 2
    local = LocalPerLevelClassifier(Spy()).fit(X, y)
    h = local.hierarchy_
    first, second = local.estimators_[1], local.estimators_[2]
    assert list(local.estimators_) == [1, 2]
    assert first.y_.tolist() == h.index(["a", "a", "b", "c", "a"] * 2).tolist()
    # a row of the inner label "a" ends there, which is an option of the second level
    assert second.X_.ravel().tolist() == [0, 1, 2, 4, 5, 6, 7, 9]
    assert second.y_.tolist() == h.index(["a/x", "a/y", "b/z", "a"] * 2).tolist()


def test_probabilities_are_siblings_shares_multiplied(three_levels):
    X, y = three_levels
    local = LocalPerLevelClassifier(LogisticRegression()).fit(X, y)
    h = local.hierarchy_
    expected = np.ones((len(X), h.n_nodes))
    for node in range(1, h.n_nodes):
        model = local.estimators_[int(h.depth[node])]
        raw = dict(zip(model.classes_.tolist(), model.predict_proba(X).T, strict=True))
        family = h.children(int(h.parents[node])).tolist()
        share = raw[node] / sum(raw[each] for each in family)
        expected[:, node] = expected[:, h.parents[node]] * share
    np.testing.assert_allclose(local.predict_node_proba(X), expected, rtol=1e-9)


def test_every_level_is_asked_once(three_levels):
    X, y = three_levels

    class Counter(GaussianNB):
        calls = 0

        def predict_proba(self, X):
            type(self).calls += 1
            return super().predict_proba(X)

    local = LocalPerLevelClassifier(Counter()).fit(X, y)
    for rule in ("best_path", "top_down", "confident"):
        Counter.calls = 0
        local.set_params(decoding=rule).predict(X)
        assert Counter.calls == 3


def test_margins_of_siblings_are_compared_with_each_other_only(three_levels):
    X, y = three_levels
    local = LocalPerLevelClassifier(Loud(random_state=0)).fit(X, y)
    h = local.hierarchy_
    predicted = local.predict_nodes(X)
    margins = {}
    for depth, model in local.estimators_.items():
        values = np.atleast_2d(model.decision_function(X).T)
        values = np.vstack([-values, values]) if len(values) == 1 else values
        margins[depth] = dict(zip(model.classes_.tolist(), values, strict=True))
    for row, leaf in enumerate(predicted):
        for node in h.ancestors(int(leaf), include_self=True)[1:].tolist():
            of = margins[int(h.depth[node])]
            assert of[node][row] == max(of[s][row] for s in [node, *h.siblings(node).tolist()])


def test_a_dict_chooses_by_depth():
    X, y = np.arange(8.0)[:, None], [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] * 2
    local = LocalPerLevelClassifier({1: Spy(1), "default": Spy(2)}).fit(X, y)
    assert {depth: spy.random_state for depth, spy in local.estimators_.items()} == {1: 1, 2: 2}
    with pytest.raises(HierarchyError, match="key 'a': expected depths"):
        LocalPerLevelClassifier({"a": Spy(1), "default": Spy(2)}).fit(X, y)
