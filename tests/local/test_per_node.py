"""LocalPerNodeClassifier: a binary model a node, siblings scaled to sum to one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tests.spies import Loud, Spy

from palmette import HierarchyError, LocalPerNodeClassifier
from palmette.labels._space import REST

PATHS = [("a", "x"), ("a", "y"), ("a",), ("b", "z"), ("c",)]


def fit(**parameters):
    X = np.arange(20.0)[:, None]
    return LocalPerNodeClassifier(Spy(), **parameters).fit(X, PATHS * 4)


def test_a_node_is_told_from_its_siblings():
    local = fit()
    h = local.hierarchy_
    x = local.estimators_[h.index("a/x")]
    assert set(x.X_.ravel() % 5) == {0, 1, 2}  # rows of the labels a/x, a/y and a
    assert np.array_equal(x.y_ != REST, x.X_.ravel() % 5 == 0)
    top = local.estimators_[h.index("b")]
    assert len(top.X_) == 20
    assert h.index("b/z") not in local.estimators_  # an only child


def test_or_from_all_other_rows():
    local = fit(negatives="all")
    for node, spy in local.estimators_.items():
        assert len(spy.X_) == 20
        assert set(spy.y_.tolist()) == {REST, node}
    with pytest.raises(HierarchyError, match="negatives='others' is unknown"):
        fit(negatives="others")


def test_where_a_label_has_labels_below_it_a_model_tells_whether_paths_end_there():
    local = fit()
    a = local.hierarchy_.index("a")
    assert list(local.end_estimators_) == [a]
    through, ends = local.estimators_[a], local.end_estimators_[a]
    assert np.array_equal(through.y_ == a, through.X_.ravel() % 5 <= 2)
    assert np.array_equal(ends.y_ == a, ends.X_.ravel() % 5 == 2)
    assert set(ends.X_.ravel() % 5) == {0, 1, 2}


def test_probabilities_are_the_siblings_scores_scaled_and_multiplied(three_levels):
    X, y = three_levels
    local = LocalPerNodeClassifier(LogisticRegression()).fit(X, y)
    h = local.hierarchy_
    raw = np.ones((len(X), h.n_nodes))
    for node, model in local.estimators_.items():
        raw[:, node] = model.predict_proba(X)[:, 1]
    expected = np.ones_like(raw)
    for node in range(1, h.n_nodes):
        family = h.children(int(h.parents[node]))
        share = raw[:, node] / raw[:, family].sum(axis=1)
        expected[:, node] = expected[:, h.parents[node]] * share
    np.testing.assert_allclose(local.predict_node_proba(X), expected, rtol=1e-9)


def test_the_largest_margin_wins_however_large_margins_are(star):
    X, y = star
    local = LocalPerNodeClassifier(Loud(random_state=0)).fit(X, y)
    margins = np.column_stack([model.decision_function(X) for model in local.estimators_.values()])
    assert (np.abs(margins) > 800).mean() > 0.9  # their logistic is 0 or 1
    names = local.hierarchy_.names[list(local.estimators_)]
    assert local.predict(X).tolist() == names[margins.argmax(axis=1)].tolist()


def test_one_estimator_without_probabilities_is_enough_to_lack_them():
    X, y = np.arange(20.0)[:, None], PATHS * 4
    mixed = {"a": LinearSVC(), "default": LogisticRegression()}
    local = LocalPerNodeClassifier(mixed)
    assert not hasattr(local, "predict_proba")
    local.fit(X, y)
    assert not hasattr(local, "predict_proba")
    assert len(local.predict(X)) == 20
