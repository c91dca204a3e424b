"""One forest of scikit-learn for all labels."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import f1_score, roc_auc_score
from tests.multilabel.problems import X, Y

from palmette import Hierarchy
from palmette.exceptions import LabelError, PalmetteError
from palmette.multilabel import TreesMultilabel

KINDS = {"extra_trees": ExtraTreesClassifier, "random_forest": RandomForestClassifier}


def f1(truth, answer):
    return 2 * (truth & answer).sum() / (truth.sum() + answer.sum())


def best_f1(truth, score):
    """Best F1 that any threshold reaches."""
    cuts = np.unique(np.r_[0, score])[:-1]
    return max(f1(truth, score > cut) for cut in cuts)


def trees(kind="extra_trees", **parameters):
    return TreesMultilabel(kind, 20, random_state=0, **parameters)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("weights", [None, np.arange(1.0, 121.0)])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_it_is_the_forest_of_scikit_learn(kind, weights):
    own = {"min_samples_leaf": 2, "max_features": 0.5, "max_samples": 0.8, "criterion": "entropy"}
    model = trees(kind, **own).fit(X, Y, weights)
    theirs = KINDS[kind](20, bootstrap=True, oob_score=True, random_state=0, **own)
    theirs.fit(X, Y, weights)
    expected = np.column_stack([each[:, 1] for each in theirs.predict_proba(X)])
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
    np.testing.assert_allclose(model.feature_importances_, theirs.feature_importances_)
    left_out = theirs.oob_decision_function_.sum(axis=1)[:, 0] > 0
    np.testing.assert_array_equal(
        model.oob_decision_function_[left_out], theirs.oob_decision_function_[left_out, 1]
    )


def test_thresholds_are_the_best_out_of_bag():
    model = trees(decoding="f1").fit(X, Y)
    scores = model.oob_decision_function_
    for score, truth, threshold in zip(scores.T, Y.T, model.thresholds_, strict=True):
        assert f1(truth, score > threshold) == pytest.approx(best_f1(truth, score))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > model.thresholds_)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_a_row_that_no_tree_left_out_has_the_score_of_all():
    model = TreesMultilabel(n_estimators=2, random_state=0).fit(X, Y)
    theirs = ExtraTreesClassifier(2, bootstrap=True, oob_score=True, random_state=0).fit(X, Y)
    missing = theirs.oob_decision_function_.sum(axis=1)[:, 0] == 0
    assert missing.any()
    np.testing.assert_array_equal(
        model.oob_decision_function_[missing], model.predict_proba(X[missing])
    )


def test_without_a_bag_the_threshold_is_one_half():
    model = trees(bootstrap=False).fit(X, Y)
    assert not hasattr(model, "thresholds_")
    assert not hasattr(model, "oob_decision_function_")
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)
    with pytest.raises(PalmetteError, match="ThresholdedMultilabel"):
        trees(bootstrap=False, decoding="f1").fit(X, Y)
    again = trees().fit(X, Y).set_params(bootstrap=False).fit(X, Y)
    assert not hasattr(again, "oob_decision_function_")


def test_other_rules_serve_too():
    model = trees(decoding="youden").fit(X, Y)
    assert model.thresholds_.shape == (4,)
    np.testing.assert_array_equal(
        model.set_params(decoding=0.3).predict(X), model.predict_proba(X) > 0.3
    )


def test_n_jobs_and_sparse_rows_change_nothing():
    first = trees().fit(X, Y)
    for other in (trees(n_jobs=2).fit(X, Y), trees().fit(sparse.csr_matrix(X), Y)):
        rows = X if other.n_jobs else sparse.csr_array(X)
        np.testing.assert_array_equal(first.predict_proba(X), other.predict_proba(rows))
        np.testing.assert_array_equal(first.thresholds_, other.thresholds_)


def test_constant_labels_are_no_outputs():
    odd = np.column_stack([Y[:, 0], np.ones(len(Y), int), Y[:, 1], np.zeros(len(Y), int)])
    with pytest.warns(UserWarning, match="no positive row"):
        model = trees().fit(X, odd)
    assert model.forest_.n_outputs_ == 2
    np.testing.assert_array_equal(model.predict(X)[:, [1, 3]], [[1, 0]] * len(X))
    np.testing.assert_array_equal(
        model.predict_proba(X)[:, [0, 2]], trees().fit(X, Y[:, :2]).predict_proba(X)
    )
    np.testing.assert_array_equal(model.thresholds_[[1, 3]], 0.5)


def test_labels_that_are_all_constant_need_no_forest():
    model = trees().fit(X, np.ones((len(X), 2), int))
    assert model.forest_ is None
    assert (model.predict(X) == 1).all()
    assert (model.feature_importances_ == 0).all()


def test_one_label_and_empty_sets():
    sets = [{"a"} if flag else set() for flag in Y[:, 0]]
    model = trees().fit(X, sets)
    assert model.oob_decision_function_.shape == (120, 1)
    assert {frozenset(answer) for answer in model.predict(X)} == {frozenset(), frozenset({"a"})}
    with pytest.raises(LabelError, match="none of the 2 rows of y has a label"):
        trees().fit(X[:2], [set(), set()])


def test_more_labels_than_rows():
    many = (np.random.default_rng(1).random((8, 30)) < 0.4).astype(int)
    many[0], many[1] = 1, 0
    assert trees().fit(X[:8], many).predict(X[:8]).shape == (8, 30)


def test_answers_keep_to_a_hierarchy():
    h = Hierarchy.from_paths([("x", "a"), ("x", "b"), ("y", "c"), ("y", "d")])
    sets = [{"abcd"[j] for j in np.flatnonzero(row)} for row in Y]
    model = trees(hierarchy=h).fit(X, sets)
    nodes = model.predict_node_sets(X).toarray()
    parents, children = h.index(["x", "x", "y", "y"]), h.index(["a", "b", "c", "d"])
    assert (nodes[:, parents] >= nodes[:, children]).all()


def test_names_are_answered_with_names():
    y = np.array(["ant", "bee", "cow"])[Y[:, 0] + Y[:, 1]]
    model = trees().fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_bad_input_is_refused():
    with pytest.raises(PalmetteError, match=r"kind='oak' is unknown.*'extra_trees'"):
        TreesMultilabel("oak").fit(X, Y)
    for count in (0, 2.5, None):
        with pytest.raises(PalmetteError, match="expected a positive integer"):
            TreesMultilabel(n_estimators=count).fit(X, Y)
    with pytest.raises(LabelError, match="expected 0 and 1 only"):
        trees().fit(X, sparse.csr_array(2 * Y))
    broken = X.copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        trees().fit(broken, Y)


def test_it_is_pickled():
    model = trees().fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.data
def test_figures_on_emotions(data_home):
    """Macro-F1 .700 and macro-AUC .858 over even splits, with a spread of about .01."""
    from palmette.datasets import fetch

    data = fetch("emotions", data_home)
    rows = np.vstack([data.X_train, data.X_test])
    truth = np.vstack([data.y_train, data.y_test])
    scores = []
    for seed in range(3):
        order = np.random.RandomState(seed).permutation(len(rows))
        train, test = order[: len(rows) // 2], order[len(rows) // 2 :]
        model = TreesMultilabel(random_state=seed).fit(rows[train], truth[train])
        f = f1_score(truth[test], model.predict(rows[test]), average="macro")
        auc = roc_auc_score(truth[test], model.predict_proba(rows[test]), average="macro")
        scores.append((f, auc))
    np.testing.assert_allclose(np.mean(scores, axis=0), [0.700, 0.858], atol=0.015)


def test_predictions_hold_the_shares_of_one_tree_at_a_time():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 5)), rng.integers(0, 2, (200, 60))
    model = TreesMultilabel(n_estimators=40, n_jobs=1, random_state=0).fit(X, Y)
    model.predict(X)  # imports
    tracemalloc.start()
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * Y.size * 8  # not 40 trees x rows x labels x 2
