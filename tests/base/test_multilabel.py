"""What multi-label classifiers share: reading, answering, rules that are tuned out of bag."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification

from palmette import Hierarchy
from palmette.base._multilabel import MultilabelClassifier
from palmette.decisions._label_sets import ExpectedF, TopK
from palmette.decisions._thresholds import Threshold
from palmette.decisions._tuned import BestF, ShrunkF, Youden
from palmette.exceptions import PalmetteError

X, Y = make_multilabel_classification(80, 6, n_classes=4, random_state=0)


class Means(MultilabelClassifier):
    """Scores by the nearness to the mean of a label's rows; no model worth its name."""

    def __init__(self, hierarchy=None, decoding="auto"):
        self.hierarchy = hierarchy
        self.decoding = decoding

    def _fit_nodes(self, X, Y, weights):
        sums = Y.T.astype(float) @ X
        self._means = sums / Y.sum(axis=0)[:, None]
        self._seen = X

    def _node_proba_of(self, X):
        distance = ((X[:, None, :] - self._means) ** 2).mean(axis=2)
        return np.exp(-distance / 20)


class BagOfMeans(Means):
    """The same, with scores that it calls out of bag."""

    def __init__(self, hierarchy=None, decoding="auto", bag=True):
        super().__init__(hierarchy, decoding)
        self.bag = bag

    def _tunes_itself(self):
        return self.bag

    def _out_of_bag_proba(self):
        return self._node_proba_of(self._seen)


@pytest.mark.parametrize("rule", ["f1", "shrunk_f1", "youden", BestF(2.0), ShrunkF(), Youden()])
def test_a_tuned_rule_needs_scores_out_of_bag(rule):
    with pytest.raises(PalmetteError, match=r"tuned on held-out rows.*ThresholdedMultilabel"):
        Means(decoding=rule).fit(X, Y)
    with pytest.raises(PalmetteError, match="ThresholdedMultilabel"):
        BagOfMeans(decoding=rule, bag=False).fit(X, Y)
    with pytest.raises(PalmetteError, match="ThresholdedMultilabel"):
        Means().fit(X, Y).set_params(decoding=rule).predict(X)


def test_auto_is_one_half_without_a_bag_and_shrunk_f1_with_one():
    plain = Means().fit(X, Y)
    np.testing.assert_array_equal(plain.predict(X), plain.predict_proba(X) > 0.5)
    assert not hasattr(plain, "thresholds_")
    tuned = BagOfMeans().fit(X, Y)
    scores = tuned.predict_proba(X)
    rule = ShrunkF().tune(scores, sparse.csr_array(Y.astype(bool)), tuned._answers.columns)
    np.testing.assert_array_equal(tuned.thresholds_, rule.value[1:])
    np.testing.assert_array_equal(tuned.predict(X), scores > tuned.thresholds_)
    named = BagOfMeans(decoding="shrunk_f1").fit(X, Y)
    np.testing.assert_array_equal(named.thresholds_, tuned.thresholds_)
    for other in ("f1", "youden"):
        assert (BagOfMeans(decoding=other).fit(X, Y).thresholds_ != tuned.thresholds_).any()


def test_auto_of_an_earlier_version_keeps_its_thresholds():
    model = BagOfMeans(decoding="f1").fit(X, Y)  # what "auto" was
    scores = model.predict_proba(X)
    model.set_params(decoding="auto")
    np.testing.assert_array_equal(model.predict(X), scores > model.thresholds_)
    with pytest.raises(PalmetteError, match=r"'shrunk_f1'.*with another rule. Fit it again"):
        model.set_params(decoding="shrunk_f1").predict(X)


def test_rules_that_need_no_tuning_can_be_set_later():
    model = BagOfMeans().fit(X, Y)
    scores = model.predict_proba(X)
    model.set_params(decoding=0.7)
    np.testing.assert_array_equal(model.predict(X), scores > 0.7)
    model.set_params(decoding=TopK(2))
    assert (model.predict(X).sum(axis=1) == 2).all()
    model.set_params(decoding=ExpectedF(by="label"))
    expected = ExpectedF(by="label").choose(scores, model._answers.columns).toarray()
    np.testing.assert_array_equal(model.predict(X), expected)
    model.set_params(decoding="shrunk_f1")  # what auto was
    np.testing.assert_array_equal(model.predict(X), scores > model.thresholds_)
    with pytest.raises(PalmetteError, match=r"'youden'.*with another rule. Fit it again"):
        model.set_params(decoding="youden").predict(X)


def test_thresholds_of_an_earlier_fit_are_forgotten():
    model = BagOfMeans().fit(X, Y)
    model.set_params(decoding=0.5).fit(X, Y)
    assert not hasattr(model, "thresholds_")
    with pytest.raises(PalmetteError, match="Fit it again"):
        model.set_params(decoding="auto").predict(X)


def test_rules_that_see_all_rows_see_them_across_chunks(monkeypatch):
    model = Means(decoding=ExpectedF(by="label")).fit(X, Y)
    whole = model.predict(X)
    monkeypatch.setattr(Means, "_parts", lambda self, X: iter([X[:7], X[7:30], X[30:]]))
    np.testing.assert_array_equal(model.predict(X), whole)


def test_thresholds_follow_the_labels_as_y_lists_them():
    sets = [{"bc"[j] for j in np.flatnonzero(row[:2])} | ({"a"} if row[2] else set()) for row in Y]
    model = BagOfMeans().fit(X, sets)
    by_matrix = BagOfMeans().fit(X, Y[:, [2, 0, 1]])
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.thresholds_, by_matrix.thresholds_)


def test_tuned_answers_are_coherent():
    h = Hierarchy.from_paths([("x", "p"), ("x", "q"), ("y", "r"), ("y", "s")])
    sets = [{"pqrs"[j] for j in np.flatnonzero(row)} for row in Y]
    model = BagOfMeans(hierarchy=h).fit(X, sets)
    assert model.thresholds_.shape == model.classes_.shape == (4,)
    nodes = model.predict_node_sets(X).toarray()
    parent = h.index(["x", "x", "y", "y"])
    assert (nodes[:, parent] >= nodes[:, h.index(["p", "q", "r", "s"])]).all()


def test_weights_count_in_tuning():
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = BagOfMeans().fit(X, Y, weights)
    used = weights > 0
    rule = ShrunkF().tune(
        weighted.predict_proba(X[used]),
        sparse.csr_array(Y[used].astype(bool)),
        weighted._answers.columns,
        weights[used].astype(float),
    )
    np.testing.assert_array_equal(weighted.thresholds_, rule.value[1:])


def test_a_label_that_is_always_true_gets_one_half():
    always = np.column_stack([Y, np.ones(len(Y), dtype=int)])
    assert BagOfMeans().fit(X, always).thresholds_[-1] == 0.5


def test_one_label_a_row_has_no_thresholds():
    y = np.array(["a", "b", "c"])[Y[:, 0] + Y[:, 1]]
    model = BagOfMeans().fit(X, y)
    assert not hasattr(model, "thresholds_")
    assert set(model.predict(X)) <= {"a", "b", "c"}
    with pytest.raises(PalmetteError, match="rule for several paths per row, but y has one path"):
        BagOfMeans(decoding="f1").fit(X, y)


def test_tuned_models_are_pickled_and_cloned():
    model = BagOfMeans(decoding=BestF(2.0)).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert clone(model).decoding.beta == 2.0
    assert isinstance(model._threshold_rule(), Threshold)
