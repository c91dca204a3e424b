"""One classifier per label, and balancing of rare labels."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.fixes import parse_version
from tests.multilabel.problems import X, Y

from palmette import Hierarchy
from palmette.exceptions import LabelError, PalmetteError
from palmette.multilabel import BinaryRelevance
from palmette.multilabel._binary_relevance import balanced_weights, down_sample, over_sample

BALANCES = ["none", "cost", "down", "adasyn"]


def f1(truth, answer):
    return 2 * (truth & answer).sum() / (truth.sum() + answer.sum())


def best_f1(truth, score):
    """Best F1 that any threshold reaches."""
    cuts = np.unique(np.r_[0, score])[:-1]
    return max(f1(truth, score > cut) for cut in cuts)


def forest(n_trees=20, **parameters):
    return RandomForestClassifier(n_trees, random_state=0, **parameters)


# ---------------------------------------------------------------------- what it is


def test_every_label_has_the_classifier_that_it_would_have_alone():
    model = BinaryRelevance(GaussianNB()).fit(X, Y)
    alone = [GaussianNB().fit(X, column).predict_proba(X)[:, 1] for column in Y.T]
    np.testing.assert_allclose(model.predict_proba(X), np.column_stack(alone))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)
    assert len(model.estimators_) == 4


def test_margins_keep_their_order_and_their_sign():
    model = BinaryRelevance(LinearSVC(random_state=0)).fit(X, Y)
    margins = np.column_stack([each.decision_function(1000 * X) for each in model.estimators_])
    proba = model.predict_proba(1000 * X)
    assert np.abs(margins).max() > 40  # where a logistic function would have but one answer
    for margin, share in zip(margins.T, proba.T, strict=True):
        np.testing.assert_array_equal(np.argsort(margin), np.argsort(share))
    np.testing.assert_array_equal(model.predict(1000 * X), margins > 0)
    np.testing.assert_allclose(proba, (1 + margins / (1 + np.abs(margins))) / 2)


def test_weights_reach_the_classifiers():
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = BinaryRelevance(GaussianNB()).fit(X, Y, weights)
    rows = np.repeat(np.arange(len(X)), weights)
    copied = BinaryRelevance(GaussianNB()).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X))
    with pytest.raises(PalmetteError, match=r"KNeighborsClassifier\.fit does not accept it"):
        BinaryRelevance(KNeighborsClassifier()).fit(X, Y, weights)


def test_seeds_differ_by_label_and_repeat():
    same = np.column_stack([Y[:, 0], Y[:, 0]])
    tree = DecisionTreeClassifier(max_features=1)
    first = BinaryRelevance(tree, random_state=0).fit(X, same)
    again = BinaryRelevance(tree, random_state=0, n_jobs=2).fit(X, same)
    noise = np.random.default_rng(1).normal(size=(300, X.shape[1])) * 5
    np.testing.assert_array_equal(first.predict_proba(noise), again.predict_proba(noise))
    assert (first.predict_proba(noise)[:, 0] != first.predict_proba(noise)[:, 1]).any()
    given = BinaryRelevance(DecisionTreeClassifier(random_state=7)).fit(X, same)
    assert [each.random_state for each in given.estimators_] == [7, 7]


def test_the_given_estimator_is_left_alone():
    given = LogisticRegression()
    BinaryRelevance(given, balance="cost", random_state=0).fit(X, Y)
    assert not hasattr(given, "coef_")
    assert given.class_weight is None


# ---------------------------------------------------------------------- balance


@pytest.mark.parametrize(
    ("by_weights", "by_classes"),
    [(GaussianNB(), None), (LogisticRegression(), LogisticRegression(class_weight="balanced"))],
)
def test_cost_gives_both_sides_the_same_weight(by_weights, by_classes):
    model = BinaryRelevance(by_weights, balance="cost").fit(X, Y)
    for j, column in enumerate(Y.T):
        if by_classes is None:
            alone = GaussianNB().fit(X, column, balanced_weights(column.astype(np.int64), None))
        else:
            alone = clone(by_classes).fit(X, column)
        np.testing.assert_allclose(model.predict_proba(X)[:, j], alone.predict_proba(X)[:, 1])


def test_cost_finds_the_classifier_in_a_pipeline():
    pipe = make_pipeline(MinMaxScaler(), LinearSVC(random_state=0))
    model = BinaryRelevance(pipe, balance="cost").fit(X, Y)
    assert model.estimators_[0][-1].class_weight == "balanced"


def test_balanced_weights_of_weighted_rows():
    target, weights = np.array([1, 1, 0, 0]), np.array([1.0, 3.0, 4.0, 8.0])
    balanced = balanced_weights(target, weights)
    np.testing.assert_allclose(balanced, [2.0, 6.0, 8 / 3, 16 / 3])  # 8 on either side


@pytest.mark.parametrize("positives", [3, 9, 10])
def test_down_sampling_keeps_the_smaller_side(positives):
    target = (np.arange(12) < positives).astype(np.int64)
    rows, targets, weights = down_sample(np.arange(12)[:, None], target, np.arange(12.0), 0)
    size = min(positives, 12 - positives)
    assert np.bincount(targets).tolist() == [size, size]
    smaller = np.flatnonzero(target == (positives <= 6))
    assert set(smaller) <= set(rows[:, 0])
    assert len(set(rows[:, 0])) == 2 * size
    np.testing.assert_array_equal(weights, rows[:, 0])
    np.testing.assert_array_equal(target[rows[:, 0]], targets)


def rare(n_rare):
    """Rows around the origin, of which the last few, spread among them, are of the rare side."""
    rows = np.random.default_rng(0).normal(size=(60, 3))
    return rows, (np.arange(60) >= 60 - n_rare).astype(np.int64)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("n_rare", [1, 2, 4, 12])
def test_over_sampling_evens_out_the_sides(n_rare, as_sparse):
    rows, target = rare(n_rare)
    given = sparse.csr_array(rows) if as_sparse else rows
    more, targets, weights = over_sample(given, target, np.arange(60.0), 0)
    more = more.toarray() if as_sparse else more
    np.testing.assert_array_equal(more[:60], rows)
    counts = np.bincount(targets)
    assert abs(counts[1] - counts[0]) <= n_rare  # ADASYN rounds for each row
    assert (targets[60:] == 1).all()
    np.testing.assert_allclose(weights[60:], np.arange(60.0)[-n_rare:].mean())
    low, high = rows[-n_rare:].min(axis=0), rows[-n_rare:].max(axis=0)
    assert ((more[60:] >= low - 1e-12) & (more[60:] <= high + 1e-12)).all()


def test_over_sampling_by_smote_where_the_sides_are_far_apart():
    rows, target = rare(8)
    rows[target == 1] += 100  # ADASYN finds no row of the other side near
    more, targets, _ = over_sample(rows, target, None, 0)
    assert np.bincount(targets).tolist() == [52, 52]
    assert (more[60:] > 50).all()


def test_over_sampling_of_even_sides_adds_nothing():
    rows, target = rare(30)
    assert len(over_sample(rows, target, None, 0).X) == 60


def test_over_sampling_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn.over_sampling", None)
    with pytest.raises(ImportError, match=r"imbalanced-learn.*palmette\[imbalance\]"):
        BinaryRelevance(GaussianNB(), balance="adasyn").fit(X, Y)


@pytest.mark.parametrize("balance", ["cost", "down", "adasyn"])
def test_balance_finds_more_of_a_rare_label(balance):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 4))
    label = (rows[:, 0] + rng.normal(size=400) > 2.2).astype(int)[:, None]
    plain = BinaryRelevance().fit(rows, np.hstack([label, 1 - label]))
    better = BinaryRelevance(balance=balance, random_state=0)
    better.fit(rows, np.hstack([label, 1 - label]))
    assert better.predict(rows)[:, 0].sum() > 2 * plain.predict(rows)[:, 0].sum()


@pytest.mark.parametrize("balance", BALANCES)
@pytest.mark.parametrize("estimator", [forest(4), LogisticRegression(), BernoulliNB()])
def test_n_jobs_and_the_form_of_x_change_nothing(balance, estimator):
    whole = X + np.random.default_rng(0).random(X.shape)  # of equal neighbours any may be taken
    y = Y[:, :2]
    first = BinaryRelevance(estimator, balance=balance, random_state=0).fit(whole, y)
    threads = BinaryRelevance(estimator, balance=balance, random_state=0, n_jobs=2).fit(whole, y)
    np.testing.assert_array_equal(first.predict_proba(whole), threads.predict_proba(whole))
    is_forest = isinstance(estimator, RandomForestClassifier)
    if (
        is_forest
        and balance == "cost"
        and parse_version(sklearn.__version__) < parse_version("1.8")
    ):
        return  # scikit-learn's weighted trees of dense and of sparse rows differed
    compressed = BinaryRelevance(estimator, balance=balance, random_state=0)
    compressed.fit(sparse.csr_array(whole), y)
    np.testing.assert_allclose(
        first.predict_proba(whole), compressed.predict_proba(sparse.csr_array(whole)), atol=1e-6
    )


# ---------------------------------------------------------------------- out of bag


def test_forests_tune_thresholds_out_of_bag():
    model = BinaryRelevance(forest(oob_score=True), decoding="f1").fit(X, Y)
    scores = np.column_stack([e.oob_decision_function_[:, 1] for e in model.estimators_])
    np.testing.assert_array_equal(model.oob_decision_function_, scores)
    for score, truth, threshold in zip(scores.T, Y.T, model.thresholds_, strict=True):
        assert f1(truth, score > threshold) == pytest.approx(best_f1(truth, score))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > model.thresholds_)


def test_a_row_in_every_bag_has_the_score_of_all_trees():
    model = BinaryRelevance(RandomForestClassifier(2, oob_score=True, random_state=0))
    with pytest.warns(UserWarning, match="OOB"):
        model.fit(X, Y)
    for j, each in enumerate(model.estimators_):
        missing = each.oob_decision_function_.sum(axis=1) == 0
        assert missing.any()
        expected = each.predict_proba(X[missing])[:, 1]
        np.testing.assert_allclose(model.oob_decision_function_[missing, j], expected)


@pytest.mark.parametrize("balance", ["down", "adasyn"])
def test_other_rows_have_no_scores_out_of_bag(balance):
    model = BinaryRelevance(forest(oob_score=True), balance=balance).fit(X, Y[:, :2])
    assert not hasattr(model, "thresholds_")
    with pytest.raises(PalmetteError, match="ThresholdedMultilabel"):
        clone(model).set_params(decoding="f1").fit(X, Y[:, :2])


# ---------------------------------------------------------------------- presets


@pytest.mark.parametrize("name", sorted(BinaryRelevance.presets()))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_presets_learn(name):
    model = BinaryRelevance.preset(name, random_state=0)
    if name.startswith("rf"):
        model.set_params(estimator__n_estimators=15)
    rows = np.random.default_rng(0).normal(size=(200, 4))
    truth = (rows[:, :3] > [0.0, 0.5, 1.0]).astype(int)
    model.fit(rows[:120], truth[:120])
    assert roc_auc_score(truth[120:], model.predict_proba(rows[120:]), average="macro") > 0.95
    assert hasattr(model, "thresholds_") == (name == "rf-cost")


# ---------------------------------------------------------------------- odd input


@pytest.mark.parametrize("balance", BALANCES)
def test_constant_labels_have_constant_answers(balance):
    odd = np.column_stack([Y[:, 0], np.ones(len(Y), int), np.zeros(len(Y), int)])
    with pytest.warns(UserWarning, match="no positive row"):
        model = BinaryRelevance(balance=balance).fit(X, odd)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1:], [[1.0, 0.0]] * len(X))
    np.testing.assert_array_equal(model.predict(X)[:, 1:], [[1, 0]] * len(X))


@pytest.mark.parametrize("balance", BALANCES)
def test_more_labels_than_rows(balance):
    rows = np.random.default_rng(0).normal(size=(8, 3))
    many = (np.random.default_rng(1).random((8, 10)) < 0.4).astype(int)
    many[0], many[1] = 1, 0
    model = BinaryRelevance(balance=balance, random_state=0).fit(rows, many)
    assert model.predict(rows).shape == (8, 10)


def test_one_label_and_empty_sets():
    sets = [{"a"} if flag else set() for flag in Y[:, 0]]
    answers = BinaryRelevance().fit(X, sets).predict(X)
    assert all(answer in (set(), {"a"}) for answer in answers)
    assert {frozenset(answer) for answer in answers} == {frozenset(), frozenset({"a"})}
    with pytest.raises(LabelError, match="none of the 3 rows of y has a label"):
        BinaryRelevance().fit(X[:3], [set(), set(), set()])


def test_forms_of_y_agree():
    expected = BinaryRelevance().fit(X, Y).predict_proba(X)
    names = np.array(["a", "b", "c", "d"])
    sets = [set(names[row.astype(bool)]) for row in Y]
    for y in (sets, pd.DataFrame(Y, columns=names), sparse.csr_array(Y), Y.tolist()):
        np.testing.assert_allclose(BinaryRelevance().fit(X, y).predict_proba(X), expected)


def test_answers_keep_to_a_hierarchy():
    h = Hierarchy.from_paths([("x", "a"), ("x", "b"), ("y", "c"), ("y", "d")])
    sets = [{"abcd"[j] for j in np.flatnonzero(row)} for row in Y]
    model = BinaryRelevance(hierarchy=h, balance="cost").fit(X, sets)
    proba = model.predict_node_proba(X)
    parents, children = h.index(["x", "x", "y", "y"]), h.index(["a", "b", "c", "d"])
    assert (proba[:, parents] >= proba[:, children]).all()


def test_bad_input_is_refused():
    with pytest.raises(PalmetteError, match=r"balance='up' is unknown.*'adasyn'"):
        BinaryRelevance(balance="up").fit(X, Y)
    with pytest.raises(LabelError, match="expected 0 and 1 only"):
        BinaryRelevance().fit(X, sparse.csr_array(2 * Y))
    broken = X.copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        BinaryRelevance().fit(broken, Y)


def test_missing_values_are_the_estimators_affair():
    broken = X.copy()
    broken[3, 2] = np.nan
    boosted = HistGradientBoostingClassifier(max_iter=3)
    assert BinaryRelevance(boosted).fit(broken, Y).predict(broken).shape == Y.shape
    with pytest.raises(ValueError, match="NaN"):
        BinaryRelevance(boosted, balance="adasyn").fit(broken, Y)


def test_it_is_pickled():
    model = BinaryRelevance(forest(oob_score=True)).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.data
def test_published_figures_of_forests_on_emotions(data_home):
    """Macro-F1 .656 and macro-AUC .838 in the paper, with a spread of about .01."""
    from palmette.datasets import fetch

    data = fetch("emotions", data_home)
    rows = np.vstack([data.X_train, data.X_test])
    truth = np.vstack([data.y_train, data.y_test])
    order = np.random.RandomState(0).permutation(len(rows))
    train, test = order[: len(rows) // 2], order[len(rows) // 2 :]
    model = BinaryRelevance.preset("rf-cost", random_state=0).fit(rows[train], truth[train])
    assert f1_score(truth[test], model.predict(rows[test]), average="macro") > 0.63
    assert roc_auc_score(truth[test], model.predict_proba(rows[test]), average="macro") > 0.82
