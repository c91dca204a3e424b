"""StructuredForestClassifier: warm start, jobs, forms of X, thresholds, out-of-bag scores."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import fields
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import f1_score, roc_auc_score
from tests.boosting.models import StopAfter
from tests.forest.problems import labelled

from palmette import Hierarchy, PalmetteError
from palmette.decoding import ExpectedF, TopK
from palmette.forest import StructuredForestClassifier
from palmette.forest._oblique_trees import Votes
from palmette.partition import LabelTwoMeans
from palmette.routing import Hellinger

X, Y = labelled()
X_TEST, Y_TEST = labelled(seed=1)


def forest(n_estimators=12, **parameters):
    return StructuredForestClassifier(n_estimators, **{"random_state": 0, **parameters})


def bits(model):
    """All that a forest is made of."""
    arrays = [getattr(model.trees_, field.name) for field in fields(model.trees_)]
    thresholds = getattr(model, "thresholds_", np.empty(0))
    return [array.tobytes() for array in [*arrays, thresholds]]


@pytest.fixture(autouse=True)
def no_other_warnings():
    """A test fails by a warning that it does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# ---------------------------------------------------------------------- fitting


def test_it_learns():
    model = forest(50).fit(X, Y)
    assert roc_auc_score(Y_TEST, model.predict_proba(X_TEST)) > 0.9
    assert f1_score(Y_TEST, model.predict(X_TEST), average="macro") > 0.6


def test_a_warm_start_is_as_one_longer_fit():
    whole = forest(12, oob_score=True).fit(X, Y)
    grown = forest(1, warm_start=True, oob_score=True).fit(X, Y)
    for n_estimators in (5, 5, 12):
        grown.set_params(n_estimators=n_estimators).fit(X, Y)
        assert grown.trees_.n_trees == n_estimators
    assert bits(grown) == bits(whole)
    assert grown.oob_score_ == whole.oob_score_
    assert np.array_equal(grown.oob_decision_function_, whole.oob_decision_function_)


def test_a_warm_start_refuses_other_labels_and_fewer_trees():
    model = forest(3, warm_start=True).fit(X, Y)
    with pytest.raises(PalmetteError, match=r"continues a fit with 4 labels.*\(3\)"):
        model.fit(X, Y[:, :3])
    model = forest(3, warm_start=True).fit(X, Y)
    with pytest.raises(PalmetteError, match="n_estimators=2 is less than the 3 trees"):
        model.set_params(n_estimators=2).fit(X, Y)


def test_jobs_copies_and_pickles_change_nothing():
    model = forest(oob_score=True).fit(X, Y)
    known = bits(model)
    assert bits(clone(model).set_params(n_jobs=3).fit(X, Y)) == known
    assert bits(clone(model).fit(X, Y)) == known
    again = pickle.loads(pickle.dumps(model)).set_params(n_jobs=2)
    assert bits(again) == known
    assert np.array_equal(again.predict_proba(X_TEST), model.predict_proba(X_TEST))


def test_the_order_of_rows_changes_nothing_and_a_weight_is_copies():
    order = np.random.default_rng(0).permutation(len(X))
    model = forest().fit(X, Y)
    assert bits(forest().fit(X[order], Y[order])) == bits(model)
    weights = np.arange(len(X)) % 3
    again = np.repeat(np.arange(len(X)), weights)
    weighted = forest(oob_score=True).fit(X, Y, sample_weight=weights)
    repeated = forest(oob_score=True).fit(X[again], Y[again])
    assert bits(weighted) == bits(repeated)
    assert weighted.oob_score_ == pytest.approx(repeated.oob_score_)


@pytest.mark.parametrize("share", [0.05, 0.4, 1.0])
@pytest.mark.parametrize("router", ["hellinger", "logistic", "axis"])
def test_forms_of_rows_change_nothing(share, router):
    Z = np.where(np.random.default_rng(0).random(X.shape) < share, X, 0.0)
    model = forest(router=router).fit(Z, Y)
    proba = model.predict_proba(Z)
    for form in (sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.asfortranarray):
        rows = form(Z)
        other = forest(router=router).fit(rows, Y)
        assert bits(other) == bits(model)
        assert np.array_equal(other.predict_proba(rows), proba)


def test_scales_of_columns_do_not_matter():
    scales = np.array([1e-3, 1, 10, 1e6, 5, 7, 1e-6, 2])
    plain, moved = forest(40).fit(X, Y), forest(40).fit(X * scales + 3, Y)
    units = moved.column_units_  # columns of 1e-6 are too far from zero
    rows = moved.scale_.transform(units.apply(X_TEST * scales + 3))
    np.testing.assert_allclose(rows, plain.scale_.transform(X_TEST), atol=1e-5)
    score = roc_auc_score(Y_TEST, moved.predict_proba(X_TEST * scales + 3))
    assert score > roc_auc_score(Y_TEST, plain.predict_proba(X_TEST)) - 0.03
    raw = forest(40, standardize=False).fit(X * scales, Y)
    assert roc_auc_score(Y_TEST, raw.predict_proba(X_TEST * scales)) < score


def test_parts_and_their_parameters():
    model = forest(partition=LabelTwoMeans(weights="none"), router=Hellinger(sparsity=0.1))
    sparser = clone(model).set_params(router__sparsity=0.9).fit(X, Y)
    assert len(sparser.trees_.weight_values) < len(model.fit(X, Y).trees_.weight_values)
    by_name = forest(partition="two_means", router="hellinger").fit(X, Y)
    by_object = forest(partition=LabelTwoMeans(), router=Hellinger()).fit(X, Y)
    assert bits(by_name) == bits(by_object)
    assert bits(clone(model).set_params(partition__weights="idf").fit(X, Y)) != bits(model)


def test_trees_are_as_deep_and_leaves_as_large_as_asked():
    deep = forest(max_depth=2, min_samples_leaf=7).fit(X, Y)
    assert max(np.diff(deep.decision_path(X)[0].indptr)) == 3 * 12
    assert deep.trees_.row_weight[deep.trees_.is_leaf].min() >= 7
    assert np.diff(forest().fit(X, Y).decision_path(X)[0].indptr).max() > 3 * 12


# ---------------------------------------------------------------------- inspection


def test_leaves_and_paths_belong_together():
    model = forest().fit(X, Y)
    leaves = model.apply(X_TEST)
    assert leaves.shape == (len(X_TEST), 12)
    path, starts = model.decision_path(X_TEST)
    assert path.shape == (len(X_TEST), starts[-1])
    rows = np.repeat(np.arange(len(X_TEST)), 12)
    assert np.asarray(path[rows, (leaves + starts[:-1]).ravel()]).all()
    assert np.asarray(path[:, starts[:-1]].todense()).all()


def test_importances_are_of_the_features_that_matter():
    # trees of single features draw two of them at a node, and use what they draw
    model = forest(30, mixed=False).fit(X, Y)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[:5].min() > importances[5:].max()


# ---------------------------------------------------------------------- deciding


def brute_force_f1(scores, truth):
    """Best F1 of any threshold, and those that reach it."""
    cuts = np.r_[0, (np.sort(scores)[1:] + np.sort(scores)[:-1]) / 2]
    chosen = scores[:, None] > cuts
    return np.max(2 * (chosen & (truth == 1)[:, None]).sum(0) / (chosen.sum(0) + truth.sum()))


def test_thresholds_are_those_of_the_best_out_of_bag_f1():
    model = forest(40, oob_score=True, decoding="f1").fit(X, Y)
    assert model.thresholds_.shape == (4,)
    scores = model.oob_decision_function_
    for j in range(4):
        found = f1_score(Y[:, j], scores[:, j] > model.thresholds_[j])
        assert found == pytest.approx(brute_force_f1(scores[:, j], Y[:, j]))
    assert np.array_equal(model.predict(X_TEST), model.predict_proba(X_TEST) > model.thresholds_)
    assert model.oob_score_ == np.mean(((scores > model.thresholds_) == Y).all(axis=1))


def test_out_of_bag_scores_are_kept_but_not_pickled():
    model = forest(oob_score=True).fit(X, Y)
    assert np.array_equal(model._out_of_bag_proba(), model.oob_decision_function_)
    with pytest.raises(PalmetteError, match="out-of-bag scores are not stored"):
        pickle.loads(pickle.dumps(model))._out_of_bag_proba()


def test_other_rules():
    auto = forest().fit(X, Y)
    proba = auto.predict_proba(X_TEST)
    assert bits(forest(decoding="shrunk_f1").fit(X, Y)) == bits(auto)
    for rule in ("f1", "youden"):
        other = forest(decoding=rule).fit(X, Y)
        assert other.thresholds_.tolist() != auto.thresholds_.tolist()
    fixed = forest(decoding=0.3).fit(X, Y)
    assert not hasattr(fixed, "thresholds_")
    assert np.array_equal(fixed.predict(X_TEST), proba > 0.3)
    two = auto.set_params(decoding=TopK(2)).predict(X_TEST)
    assert (two.sum(axis=1) == 2).all()
    assert auto.set_params(decoding=ExpectedF()).predict(X_TEST).shape == Y_TEST.shape
    with pytest.raises(PalmetteError, match="tuned during fit"):
        auto.set_params(decoding="youden").predict(X_TEST)


def test_where_no_row_is_left_out_thresholds_are_one_half():
    model = forest(max_samples=1.0).fit(X, Y)
    assert not hasattr(model, "thresholds_")
    assert np.array_equal(model.predict(X_TEST), model.predict_proba(X_TEST) > 0.5)
    with pytest.raises(PalmetteError, match=r"max_samples=1\.0 without bootstrap uses all rows"):
        forest(max_samples=1.0, oob_score=True).fit(X, Y)
    assert forest(max_samples=1.0, bootstrap=True, oob_score=True).fit(X, Y).oob_score_ > 0.2


@pytest.mark.parametrize("extra", [0, 5])
def test_as_many_rows_as_there_are_leave_none_out(extra):
    number = len(X) + extra
    model = forest(max_samples=number).fit(X, Y)
    whole = forest(max_samples=1.0).fit(X, Y)
    assert not hasattr(model, "thresholds_")
    assert np.array_equal(model.predict(X_TEST), whole.predict(X_TEST))
    with pytest.raises(PalmetteError, match=f"max_samples={number} without bootstrap uses all"):
        forest(max_samples=number, oob_score=True).fit(X, Y)
    with pytest.raises(PalmetteError, match="decoding='f1'"):
        forest(max_samples=number, decoding="f1").fit(X, Y)
    again = model.set_params(max_samples=len(X) - 20).fit(X, Y)
    assert hasattr(again, "thresholds_")


def test_votes_for_labels_that_a_tree_did_not_draw_count_less():
    model = forest(max_labels=1, label_vote=1e6).fit(X, Y)
    drawn, shares = model.trees_.drawn, model.label_shares_
    assert (drawn.sum(axis=1) == 1).all()
    proba, rows = model.predict_proba(X_TEST), model.scale_.transform(X_TEST)
    for j in np.flatnonzero(drawn.any(axis=0)):
        mask = np.tile(drawn[:, j], (len(rows), 1))
        of_drawn = model.trees_.proba(rows, shares, Votes(), None, mask)[:, j]
        n_used = drawn[:, j].sum()
        alone = (of_drawn * (1 + n_used) - shares[j]) / n_used
        np.testing.assert_allclose(proba[:, j], alone, atol=1e-4)


def test_labels_may_be_drawn_for_every_node():
    assert bits(forest(max_node_labels=0.5).fit(X, Y)) != bits(forest().fit(X, Y))


# ---------------------------------------------------------------------- labels along a hierarchy

TREE = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z"), ("b", "w")])


@pytest.mark.parametrize("decoding", ["auto", "youden", 0.3, TopK(2), ExpectedF()])
def test_answers_along_a_hierarchy_are_coherent(decoding):
    leaves = np.array([("a", "x"), ("a", "y"), ("b", "z"), ("b", "w")], dtype=object)
    sets = [{tuple(leaves[j]) for j in np.flatnonzero(row)} for row in Y]
    model = forest(hierarchy=TREE, decoding=decoding, oob_score=True).fit(X, sets)
    nodes = model.predict_node_sets(X_TEST).toarray()
    proba = model.predict_node_proba(X_TEST)
    for child in range(1, TREE.n_nodes):
        parent = TREE.parents[child]
        assert (nodes[:, child] <= nodes[:, parent]).all()
        assert (proba[:, child] <= proba[:, parent]).all()
    assert nodes[:, 1:].any(axis=0).all()
    assert model.classes_.tolist() == [tuple(leaf) for leaf in leaves]
    assert model.oob_decision_function_.shape == (len(X), 4)


def test_one_label_a_row_is_answered_with_one():
    names = np.array(["low", "mid", "high"])[np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])]
    model = forest(30, oob_score=True).fit(X, names)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert np.array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    assert model.score(X, names) > 0.9 > model.oob_score_ > 0.6
    assert not hasattr(model, "thresholds_")
    best = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == np.mean(best == names)


# ---------------------------------------------------------------------- callbacks


def test_a_callback_may_end_the_forest_early():
    for n_jobs in (1, 2):
        stopped = forest(n_jobs=n_jobs).set_callbacks(StopAfter(4)).fit(X, Y)
        assert bits(stopped) == bits(forest(5).fit(X, Y))


def test_callbacks_see_each_tree(capsys):
    own = pytest.importorskip("sklearn.callback", reason="scikit-learn has them since 1.9")
    monitor = own.ScoringMonitor(scoring="accuracy")
    model = forest(3).set_callbacks(monitor, own.ProgressBar()).fit(X, Y)
    assert "100%" in capsys.readouterr().out
    logs = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert [row["task_id"] for row in logs] == [0, 1, 2]
    scores = [forest(n).fit(X, Y).score(X, Y) for n in (1, 2, 3)]
    assert [row["accuracy"] for row in logs] == scores
    assert bits(model) == bits(forest(3).fit(X, Y))


def test_verbose_prints_a_line_per_tree(capsys):
    forest(2, verbose=1).fit(X, Y)
    assert capsys.readouterr().out.splitlines() == ["tree 1 of 2", "tree 2 of 2"]


def test_between_trees_a_model_is_the_shorter_forest():
    seen = []

    class Keep(StopAfter):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.task_name == "round":
                seen.append(fitted_estimator)
            return False

    forest(4).set_callbacks(Keep(0)).fit(X, Y)
    short = forest(2).fit(X, Y)
    assert bits(seen[1]) == bits(short)
    assert np.array_equal(seen[1].predict(X_TEST), short.predict(X_TEST))


@pytest.mark.parametrize(("sparse_rows", "bootstrap"), list(product([False, True], repeat=2)))
def test_rows_may_be_drawn_with_replacement(sparse_rows, bootstrap):
    rows = sparse.csr_array(np.where(X > 1.5, 1.0, 0.0)) if sparse_rows else X
    model = forest(bootstrap=bootstrap, max_samples=0.5, oob_score=True).fit(rows, Y)
    assert np.isclose(model.trees_.row_weight.sum(), 12 * 60)
