"""The weight of all training rows in Eq. 1, chosen on out-of-bag rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from tests.forest.problems import labelled

from palmette import PalmetteError
from palmette.forest import StructuredForestClassifier
from palmette.partition import LabelTwoMeans

X, Y = labelled(n_labels=6)
BETAS = (0.0, 0.5, 1.0)


def forest(beta=BETAS, **parameters):
    settings = {"router": "axis", "random_state": 0, **parameters}
    return StructuredForestClassifier(6, partition=LabelTwoMeans(beta=beta), **settings)


def test_it_is_the_one_with_the_best_out_of_bag_auc():
    model = forest().fit(X, Y)
    fixed = {beta: forest(beta, oob_score=True).fit(X, Y) for beta in BETAS}
    expected = {
        beta: roc_auc_score(Y, one.oob_decision_function_, average="macro")
        for beta, one in fixed.items()
    }
    assert model.beta_scores_ == pytest.approx(expected, abs=1e-6)
    assert len(set(expected.values())) == 3
    assert model.beta_ == max(expected, key=expected.get)
    alike = fixed[model.beta_].predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), alike)


def test_order_weights_and_jobs_change_nothing():
    model = forest(n_jobs=1).fit(X, Y)
    order = np.random.default_rng(0).permutation(len(X))
    weights = np.full(len(X), 3.0)
    other = forest(n_jobs=3).fit(X[order], Y[order], sample_weight=weights)
    assert other.beta_scores_ == pytest.approx(model.beta_scores_)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


def test_a_warm_start_keeps_it():
    model = forest(warm_start=True).fit(X, Y)
    scores = dict(model.beta_scores_)
    model.set_params(n_estimators=8).fit(X, Y)
    assert model.beta_scores_ == scores
    whole = forest(model.beta_).set_params(n_estimators=8).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    fixed = clone(model).set_params(partition__beta=0.5).fit(X, Y)
    assert not hasattr(fixed, "beta_")


def test_without_rows_out_of_bag_it_is_refused():
    with pytest.raises(PalmetteError, match=r"beta='oob' requires out-of-bag rows"):
        forest("oob", max_samples=1.0).fit(X, Y)
    assert not hasattr(forest(0.5, max_samples=1.0).fit(X, Y), "beta_")


def test_labels_that_never_vary_leave_the_first():
    model = forest().fit(X, np.ones((len(X), 2), dtype=int))
    assert model.beta_scores_ == dict.fromkeys(BETAS, 0.0)
    assert model.beta_ == 0.0
