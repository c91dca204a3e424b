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
    settings = {"n_estimators": 6, "router": "axis", "random_state": 0, **parameters}
    return StructuredForestClassifier(partition=LabelTwoMeans(beta=beta), **settings)


def test_it_is_the_one_with_the_best_out_of_bag_auc():
    model = forest(n_estimators=30).fit(X, Y)
    fixed = {beta: forest(beta, n_estimators=30, oob_score=True).fit(X, Y) for beta in BETAS}
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


def test_with_as_many_rows_as_there_are_it_is_refused():
    expected = rf"beta='oob' requires .* max_samples={len(X)} without bootstrap uses all {len(X)}"
    with pytest.raises(PalmetteError, match=expected):
        forest("oob", max_samples=len(X)).fit(X, Y)


def test_rows_that_no_tree_left_out_do_not_count():
    """More than half of all rows are in both of two trees of three quarters of the rows."""
    model = forest(n_estimators=2).fit(X, Y)
    for beta, score in model.beta_scores_.items():
        one = forest(beta, n_estimators=2, oob_score=True).fit(X, Y)
        by_all, found = one.predict_proba(X), one.oob_decision_function_
        left_out = (np.abs(found - by_all) > 1e-6).any(axis=1)
        assert 0 < left_out.sum() < 0.5 * len(X)
        assert score < roc_auc_score(Y, found, average="macro") - 0.02
        right = ((found > one.thresholds_) == Y).all(axis=1)
        assert one.oob_score_ < right.mean()


@pytest.mark.parametrize("beta", ["oob", (0.0, 1.0)])
def test_a_preset_takes_it(beta):
    model = StructuredForestClassifier.preset("sf-h-cs", partition__beta=beta, n_estimators=5)
    assert model.partition.beta == beta
    assert model.n_estimators == 5
    assert StructuredForestClassifier.preset("sf-h-cs").partition.beta == 0.5


@pytest.mark.parametrize(
    ("name", "expected"),
    [("partition__beta", "LabelTwoMeans"), ("router__sparsity", "palmette.routing.Hellinger")],
)
def test_parameters_of_a_name_cannot_be_set(name, expected):
    part = name.partition("__")[0]
    model = StructuredForestClassifier()
    words = rf"{name}=0\.5 was given, but {part}='.*' is a name.*{expected}"
    with pytest.raises(PalmetteError, match=words):
        model.set_params(**{name: 0.5})
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(no_such__beta=0.5)
    model.set_params(partition=LabelTwoMeans(), partition__beta=0.25)
    assert model.partition.beta == 0.25
