"""Early stopping: rows kept aside, and the best round."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from tests.boosting.models import MODELS, bits, make
from tests.boosting.problems import dag_problem, signs_of, tree_problem

from palmette import NodeLabels
from palmette.boosting import _base
from palmette.boosting._boost import staged_scores
from palmette.boosting._validation import split_rows
from palmette.decisions._losses import hierarchical_costs
from palmette.exceptions import PalmetteError

X, Y = tree_problem(n_samples=96)
X_SETS, Y_SETS = dag_problem()


@pytest.fixture(autouse=True)
def no_other_warnings():
    """A test fails by a warning that it does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", MODELS)
def test_early_stopping_keeps_the_best_round(name):
    noise = np.random.default_rng(0).permutation(len(Y))
    labels = [Y[i] for i in noise]  # nothing can be learned, so that losses soon rise
    options = {"n_estimators": 60, "validation_fraction": 0.3, "learning_rate": 0.5}
    clf = make(name, n_iter_no_change=4, tol=0.0, **options).fit(X, labels)
    patient = make(name, n_iter_no_change=8, tol=0.0, **options).fit(X, labels)
    losses = clf.validation_loss_
    assert 1 <= len(clf.rounds_) < 60
    assert len(clf.rounds_) == len(losses) == len(clf.train_loss_) == len(clf.edges_)
    assert losses[-1] == losses.min()  # cut back to the best
    n = len(losses)
    assert np.array_equal(losses, patient.validation_loss_[:n])
    assert (patient.validation_loss_[n : n + 4] >= losses[-1]).all()


def test_rounds_that_gain_less_than_tol_do_not_count():
    options = {"n_iter_no_change": 3, "n_estimators": 40, "validation_fraction": 0.2}
    greedy = make("leaf softmax", tol=0.0, **options).fit(X, Y)
    lazy = make("leaf softmax", tol=0.05, **options).fit(X, Y)
    assert len(lazy.rounds_) < len(greedy.rounds_)
    best, kept = np.inf, 0
    for turn, loss in enumerate(greedy.validation_loss_, start=1):
        if turn - kept > 3:
            break
        if loss < best - 0.05:
            best, kept = loss, turn
    assert len(lazy.rounds_) == kept


@pytest.mark.parametrize("name", ["ada shared", "mi", "ecc", "leaf softmax", "bags, some rows"])
def test_rows_kept_aside_are_not_learnt_from(name):
    """Their loss is that of predictions, and a class with one row stays in the training part."""
    few = [("rare",), *Y[1:]]
    options = {"n_iter_no_change": 100, "validation_fraction": 0.25, "n_estimators": 5}
    clf = make(name, **options).fit(X, few)
    assert ("rare",) in clf.classes_.tolist()
    assert len(clf.validation_loss_) == len(clf.rounds_)
    assert np.isfinite(clf.predict_proba(X)).all()


def loss_by_hand(clf, name, scores, rows, weights):
    """Mean loss of rows kept aside, from raw scores."""
    truth = clf.space_.classes.searchsorted(clf.hierarchy_.index([Y[i] for i in rows]))
    own = scores[np.arange(len(rows)), truth] if name.startswith(("ecc", "leaf")) else None
    if name.startswith("ecc"):
        wrong = np.exp(0.5 * (scores - own[:, None])).sum(axis=1) - 1
        losses = wrong / (scores.shape[1] - 1)
    elif name.startswith("leaf"):
        losses = np.log(np.exp(scores).sum(axis=1)) - own
    else:
        costs = np.ones(len(clf.nodes_)) / len(clf.nodes_)
        if name.startswith(("ada", "exponential")):
            costs = hierarchical_costs(clf.hierarchy_)[clf.nodes_]
        signs = signs_of(clf, [Y[i] for i in rows])
        losses = np.exp(-signs * scores) @ costs
    return np.average(losses, weights=weights)


@pytest.mark.parametrize(
    "name", ["ada shared", "ada masked stumps", "mi", "ecc", "leaf softmax", "exponential"]
)
def test_losses_of_rows_kept_aside_are_those_of_their_predictions(name):
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    model = make(name, n_iter_no_change=50, validation_fraction=0.25, tol=0.0)
    clf = model.fit(X, Y, sample_weight=weights)
    labels = NodeLabels.encode(Y, clf.hierarchy_)
    if name.startswith(("ecc", "leaf", "exponential")):
        targets = clf.space_.classes.searchsorted(labels.terminals)
    else:
        targets = sparse.csr_array(labels.closed[:, clf.nodes_])
    kept, held = split_rows(targets, 0.25, clf._seed)
    assert len(held) == 24
    stages = staged_scores(clf._samples(X[held]), clf.rounds_, clf.start_)
    expected = [loss_by_hand(clf, name, stage, held, weights[held]) for stage in stages]
    np.testing.assert_allclose(clf.validation_loss_, expected, rtol=1e-5)
    # cover counts the rows that were learned from
    if hasattr(clf.rounds_[0], "leaf_at"):
        assert clf.rounds_[0].cover.sum() == pytest.approx(weights[kept].sum())


@pytest.mark.parametrize("name", ["ada shared", "mh", "ecc stumps", "leaf softmax"])
def test_a_warm_start_goes_on_after_early_stopping_to_the_same_end(name):
    options = {"n_iter_no_change": 3, "validation_fraction": 0.3, "tol": 0.0}
    whole = make(name, n_estimators=30, **options).fit(X, Y)
    grown = make(name, n_estimators=4, warm_start=True, **options).fit(X, Y)
    grown.set_params(n_estimators=30).fit(X, Y)
    assert bits(grown) == bits(whole)


def test_stopping_early_needs_classes_of_two_rows():
    with pytest.raises(PalmetteError, match=r"every class has one row only.*n_iter_no_change=None"):
        make("leaf softmax", n_iter_no_change=2).fit(X[:3], ["a", "b", "c"])


@pytest.mark.parametrize("name", MODELS)
def test_early_stopping_copies_no_values(name, monkeypatch):
    monkeypatch.setattr(_base, "take_rows", None)  # it would fail
    assert make(name, n_iter_no_change=2, n_estimators=2).fit(X, Y).rounds_
