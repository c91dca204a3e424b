"""LinearMultilabel: its solvers against scikit-learn, its calibration and its threshold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from palmette import Hierarchy, LinearMultilabel, PalmetteError
from palmette._stopping import OutOfTime, call_within
from palmette.multilabel import _linear as linear
from palmette.multilabel._label_descent import LabelProblem, fit_labels

NEVER = np.zeros(1, dtype=np.uint8)


def binary_problems(n_features: int, n_rows: int = 150, seed: int = 0):
    """Return sparse rows as a dense array, and the signs of three labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.3)
    scores = X[:, :3] + 0.5 * rng.normal(size=(n_rows, 3)) - 0.3
    return X, np.where(scores > 0, 1, -1).astype(np.int8)


@pytest.mark.parametrize("n_features", [20, 200])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_are_those_of_a_linear_svm_with_class_weights(n_features, form):
    X, signs = binary_problems(n_features)
    costs = 0.3 * (1.0 + np.arange(len(X)) % 2)
    problem = LabelProblem.of(form(X), costs, NEVER)
    assert problem.is_exact == (n_features == 20)
    factors = np.array([[1.0, 0.5, 1.0], [2.0, 1.0, 3.0]])
    weights, bias, n_iter = fit_labels(problem, signs, factors, 1e-6, 3000, 0)
    assert 1 < n_iter < 3000
    for j, (negative, positive) in enumerate(factors.T):
        svm = LinearSVC(
            tol=1e-8, max_iter=100_000, random_state=0, class_weight={-1: negative, 1: positive}
        ).fit(X, signs[:, j], sample_weight=costs)
        np.testing.assert_allclose(weights[:, j], svm.coef_[0], atol=5e-5)
        assert bias[j] == pytest.approx(svm.intercept_[0], abs=5e-5)


def test_a_fit_that_is_given_up_stops_between_sweeps(monkeypatch):
    X, signs = binary_problems(200)
    y = (signs > 0).astype(int)
    endless = LinearMultilabel(C=1e5, tol=1e-30, max_iter=10**9, random_state=0)
    with pytest.raises(OutOfTime):
        call_within(0.3, lambda: endless.fit(X, y))


# ---------------------------------------------------------------------- calibration


def test_curves_are_logistic_regressions_with_a_penalty_towards_the_common_curve(monkeypatch):
    rng = np.random.default_rng(0)
    margins = rng.normal(size=(400, 2)) - 0.5
    truth = rng.random((400, 2)) < expit([2.0, 5.0] * margins + [0.5, -1.0])
    weights = np.where(rng.random((400, 2)) < 0.5, 1.0, 2.0)
    monkeypatch.setattr(linear, "_RIDGE", 1e-9)
    curves = linear._logistic_curves(margins, truth, weights)
    for j in range(2):
        plain = LogisticRegression(C=np.inf, tol=1e-10).fit(
            margins[:, [j]], truth[:, j], weights[:, j]
        )
        assert curves[0, j] == pytest.approx(plain.coef_[0, 0], abs=1e-4)
        assert curves[1, j] == pytest.approx(plain.intercept_[0], abs=1e-4)
    monkeypatch.setattr(linear, "_RIDGE", 1e9)
    rigid = linear._logistic_curves(margins, truth, weights)
    np.testing.assert_allclose(rigid, [[linear._SLOPE] * 2, [0.0] * 2], atol=1e-4)
    nothing = linear._logistic_curves(margins[:0], truth[:0], weights[:0])
    assert nothing.tolist() == [[linear._SLOPE] * 2, [0.0] * 2]


def test_the_threshold_is_half_of_the_best_f1_of_all_cells():
    rng = np.random.default_rng(1)
    proba = rng.random((60, 3)).round(2)
    truth, weights = rng.random((60, 3)) < proba, rng.integers(1, 4, size=(60, 3)).astype(float)
    best = 0.0
    for cut in np.unique(proba):  # the definition, one cut after the other
        chosen = proba >= cut
        hits = weights[chosen & truth].sum()
        best = max(best, 2 * hits / (weights[chosen].sum() + weights[truth].sum()))
    tally = linear._tally(proba, truth, weights)
    assert linear._best_threshold(tally) == pytest.approx(best / 2)
    assert linear._best_threshold(np.zeros((2, 5))) == 0.5


def test_every_copy_is_held_out_by_one_fold_and_label_sets_are_dealt_out_evenly():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    X[30:36] = X[30]  # six copies of a row
    Y = sparse.csr_array(np.repeat(np.eye(2, dtype=bool), 30, axis=0))
    shares = linear._held_out_shares(X, Y, np.ones(60), 0)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    np.testing.assert_allclose(shares[:, :30].sum(axis=1), 10.0)
    np.testing.assert_allclose(shares[:, 30:36], 1 / 3)
    order = rng.permutation(60)
    again = linear._held_out_shares(X[order], Y[order], np.ones(60), 0)
    np.testing.assert_allclose(again, shares[:, order])
    kept = np.r_[:31, 36:60]
    weighted = np.where(np.arange(60) == 30, 6.0, 1.0)[kept]
    by_weight = linear._held_out_shares(X[kept], Y[kept], weighted, 0)
    np.testing.assert_allclose(by_weight, shares[:, kept])
    assert len(linear._held_out_shares(X[:2], Y[:2], np.ones(2), 0)) == 0


# ---------------------------------------------------------------------- the classifier


@pytest.fixture(scope="module")
def tagged():
    """Return sparse rows of 160 words, and sets of paths that words imply, with noise."""
    rng = np.random.default_rng(3)
    counts = (rng.random((400, 160)) < 0.05).astype(float)
    tags = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "z"), ("c",)]
    y = []
    for row in counts:
        found = {tag for j, tag in enumerate(tags) if row[4 * j : 4 * j + 4].any()}
        y.append({tag for tag in found if rng.random() < 0.9})
    return sparse.csr_array(counts), y, Hierarchy.from_paths(tags)


def test_probabilities_are_calibrated_and_rare_labels_balanced(tagged):
    X, y, h = tagged
    fitted = LinearMultilabel(hierarchy=h, random_state=0).fit(X[:300], y[:300])
    truth = np.array([[tag in labels for tag in fitted.classes_] for labels in y[300:]])
    proba = fitted.predict_proba(X[300:])
    assert np.mean((proba > 0.5) == truth) > 0.9
    assert abs(proba.mean() - truth.mean()) < 0.05
    assert 0.3 < fitted.threshold_ < 0.5
    assert fitted.thresholds_.tolist() == [fitted.threshold_] * len(fitted.classes_)
    heavy = fitted.__class__(hierarchy=h, balance="cost", random_state=0).fit(X[:300], y[:300])
    assert heavy.predict_proba(X[300:]).mean() > proba.mean() + 0.05


def test_thresholds_of_f1_are_tuned_per_label_on_held_out_rows(tagged):
    X, y, h = tagged
    tuned = LinearMultilabel(hierarchy=h, decoding="f1", random_state=0).fit(X, y)
    assert len(set(tuned.thresholds_.tolist())) > 1
    plain = LinearMultilabel(hierarchy=h, random_state=0).fit(X, y)
    assert np.array_equal(tuned.predict_node_proba(X), plain.predict_node_proba(X))
    every = LinearMultilabel(hierarchy=h, held_out="all", random_state=0).fit(X, y)
    assert not np.array_equal(every.calibration_, plain.calibration_)


def test_small_weights_are_pruned(tagged):
    X, y, _ = tagged
    full, sparser = (LinearMultilabel(prune=p, random_state=0).fit(X, y) for p in (0.0, 0.2))
    assert full.coef_.dtype == np.float32
    for column in range(full.coef_.shape[1]):
        weights = full.coef_[:, [column]].toarray()[:, 0]
        kept = np.abs(weights) > 0.2 * np.abs(weights).max()
        expected = np.where(kept, weights, 0.0)
        np.testing.assert_array_equal(sparser.coef_[:, [column]].toarray()[:, 0], expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"balance": "down"}, "balance='down' is unknown"),
        ({"held_out": 0.3}, "held_out=0.3: expected 'third' or 'all'"),
        ({"C": "big"}, "C='big': expected 'scale' or a positive number"),
        ({"C": 0.0}, "C=0.0: expected 'scale' or a positive number"),
        ({"prune": 1.0}, "prune=1.0: expected a number from 0 to below 1"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        LinearMultilabel(**parameters).fit(np.eye(4), [{"a"}, {"b"}, set(), {"a", "b"}])


def test_arrays_of_a_changed_file_are_refused(tagged):
    X, y, _ = tagged
    fitted = LinearMultilabel(random_state=0, max_iter=2).fit(X, y)
    fitted.check_arrays()
    bad = {
        "coef_": fitted.coef_[:-1],
        "intercept_": fitted.intercept_[:-1],
        "calibration_": np.full_like(fitted.calibration_, np.nan),
        "threshold_": 2.0,
    }
    for name, value in bad.items():
        kept = getattr(fitted, name)
        setattr(fitted, name, value)
        with pytest.raises(ValueError, match=r"\w"):
            fitted.check_arrays()
        setattr(fitted, name, kept)
