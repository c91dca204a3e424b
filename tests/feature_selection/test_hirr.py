"""HirrScore: scores, attributes and errors of HiRR-FS."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from tests.feature_selection.node_problems import (
    both_forms,
    problem,
    rows_and_classes,
    scores_of,
    two_options,
)

from palmette import PalmetteError
from palmette.feature_selection import _hirr as hirr
from palmette.feature_selection._hirr import HirrScore

SETTINGS = [
    {"standardize": False},
    {},
    {"standardize": "center"},
    {"parent": 0.1, "sibling": 0.1},
    {"relative": "lam", "parent": 3.0},
    {"relative": "lam", "sibling": 3.0},
    {"relative": "lam", "parent": 3.0, "sibling": 3.0, "standardize": False},
]


def wide():
    """Return sparse rows with many features and few entries per column."""
    rng = np.random.default_rng(0)
    _, classes = rows_and_classes()
    X = np.where(rng.random((84, 300)) < 0.2, rng.normal(size=(84, 300)), 0.0)
    return X, classes


@pytest.mark.parametrize("settings", SETTINGS)
def test_sparse_equals_dense(settings):
    X, classes = rows_and_classes()
    full, thin = (
        scores_of(HirrScore(tol=1e-10, **settings), form, classes) for form in both_forms(X)
    )
    np.testing.assert_allclose(thin, full, atol=1e-5)


@pytest.mark.parametrize("settings", SETTINGS)
def test_sparse_columns_reach_the_dense_optimum(settings, monkeypatch):
    """Weights may differ: with more features than rows the optimum need not be unique."""
    monkeypatch.setattr("palmette.feature_selection._hirr_design.FEW", 0)
    X, classes = wide()
    full, thin = (
        HirrScore(0.3, tol=1e-7, **settings).score(problem(form, classes)).facts["objective_"][-1]
        for form in (X, sparse.csr_array(X))
    )
    assert thin == pytest.approx(full, rel=1e-6)


@pytest.mark.parametrize("solver", ["bcd", "irls"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_weight_of_k_is_k_copies(settings, solver):
    X, classes = rows_and_classes()
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    copies = np.repeat(np.arange(len(X)), weights)
    limits = {"tol": 0.0, "max_iter": 20} if solver == "irls" else {"tol": 1e-10, "max_iter": 50}
    score = HirrScore(solver=solver, **limits, **settings)
    weighted = scores_of(score, X, classes, weights=weights.astype(float))
    np.testing.assert_allclose(weighted, scores_of(score, X[copies], classes[copies]), atol=1e-5)
    if solver == "bcd":
        thin = scores_of(score, sparse.csr_array(X), classes, weights=weights.astype(float))
        np.testing.assert_allclose(thin, weighted, atol=1e-5)


@pytest.mark.parametrize("solver", ["bcd", "irls"])
def test_standardized_scores_do_not_depend_on_units(solver):
    X, classes = rows_and_classes()
    score = HirrScore(solver=solver, tol=0.0 if solver == "irls" else 1e-10, max_iter=50)
    moved = X * np.logspace(-3, 3, 9) + 10
    np.testing.assert_allclose(
        scores_of(score, moved, classes), scores_of(score, X, classes), atol=1e-5
    )


@pytest.mark.parametrize("standardize", [True, False])
def test_strengths_are_relative_to_units_and_numbers_of_rows(standardize):
    X, classes = rows_and_classes()
    score = HirrScore(parent=0.1, sibling=0.1, standardize=standardize, tol=1e-10)
    found, more = (scores_of(score, np.tile(X, (k, 1)), np.tile(classes, k)) for k in (1, 3))
    np.testing.assert_allclose(more, found, atol=1e-5)
    factor = 1.0 if standardize else 1000.0
    in_grams = scores_of(score, 1000.0 * X, classes)
    np.testing.assert_allclose(factor * in_grams, found, atol=1e-5)
    assert not np.allclose(scores_of(HirrScore(standardize=standardize), X, classes), found)


def test_units_of_strengths():
    """With standardized features: the rows of a node, and their square over |Y|^2."""
    posed = problem(*rows_and_classes())
    hirr, _ = HirrScore(parent=0.5, sibling=2.0, standardize=True).pose(posed)
    sizes = np.array([len(task.rows) for task in posed.tasks()])
    shares = [np.bincount(task.codes) / len(task.rows) for task in posed.tasks()]
    energies = sizes * [1 - np.sum(share**2) for share in shares]
    np.testing.assert_allclose(hirr.ties, 0.5 * sizes)
    np.testing.assert_allclose(hirr.repulsions, 2.0 * sizes**2 / energies)
    for relative in ("lam", False):
        hirr, _ = HirrScore(relative=relative, parent=0.5, sibling=2.0).pose(posed)
        assert (set(hirr.ties), set(hirr.repulsions)) == ({0.5}, {2.0})


def test_centring_is_fitting_an_intercept_to_raw_values():
    X, classes = rows_and_classes()
    codes = classes % 2
    found = [
        np.array(list(HirrScore(standardize=scaling).score(two_options(rows, codes)).rows()))
        for scaling, rows in (("center", X + 5.0), (False, X - X.mean(axis=0)))
    ]
    np.testing.assert_allclose(*found, atol=1e-5)


def test_values_that_are_mostly_zero_are_not_scaled():
    X, classes = wide()
    thin = np.where(np.random.default_rng(1).random(X.shape) < 0.3, X, 0.0)  # 6 % are not zero
    for rows, expected in ((X, True), (thin, False)):
        explicit, auto, sparse_auto = (
            HirrScore(0.3, standardize=scaling).score(problem(form, classes)).facts["objective_"]
            for scaling, form in (
                (expected, rows),
                ("auto", rows),
                ("auto", sparse.csr_array(rows)),
            )
        )
        assert np.array_equal(auto, explicit)
        assert sparse_auto[-1] == pytest.approx(auto[-1], rel=1e-5)


@pytest.mark.parametrize("solver", ["bcd", "irls"])
def test_a_constant_feature_scores_nothing(solver):
    X, classes = rows_and_classes()
    score = HirrScore(solver=solver, relative="lam", parent=10.0, max_iter=20, tol=1e-3)
    assert np.all(scores_of(score, X, classes)[:, 3] == 0)


def test_equal_features_share_or_leave_out():
    """The optimum is not unique: two equal columns are worth what one is."""
    X, classes = rows_and_classes()
    score = HirrScore(tol=1e-10)
    alone = score.score(problem(np.delete(X, 7, axis=1), classes)).facts["objective_"][-1]
    assert score.score(problem(X, classes)).facts["objective_"][-1] == pytest.approx(alone)


def test_features_without_weights_follow_those_with():
    X, classes = rows_and_classes()
    final = HirrScore(lam=0.5, support_only=True).score(problem(X, classes))
    free = np.array(list(HirrScore(lam=0.5).score(problem(X, classes)).rows()))
    in_use = final.values.toarray()
    assert final.sparse_is_final
    assert np.array_equal(final.facts["n_nonzero_"], (in_use > 0).sum(axis=1))
    for few, every in zip(in_use, free, strict=True):
        assert every[few > 0].min() > every[few == 0].max() > 0
        np.testing.assert_allclose(every[few > 0], few[few > 0], atol=1e-7)


def test_lambda_max_is_where_weights_begin():
    X, classes = rows_and_classes()
    posed = problem(X, classes)
    above = HirrScore(0.999, support_only=True, tol=1e-12).score(posed)
    assert np.all(above.facts["n_nonzero_"] >= 1)
    assert np.all(above.facts["lam_"] == 0.999 * above.facts["lambda_max_"])
    with pytest.raises(PalmetteError, match="lambda_max is"):
        HirrScore(1.0).score(posed)
    largest = above.facts["lambda_max_"].max()
    with pytest.raises(PalmetteError, match=f"lambda_max is {largest:.6g}"):
        HirrScore(2 * largest, relative=False).score(posed)


def test_nodes_without_weights_are_named():
    X, classes = rows_and_classes()
    maxima = HirrScore().score(problem(X, classes)).facts["lambda_max_"]
    lam = float(np.sort(maxima)[:2].mean())
    with pytest.warns(UserWarning, match="lambda_max of 1 nodes"):
        facts = HirrScore(lam, relative=False).score(problem(X, classes)).facts
    assert np.array_equal(facts["n_nonzero_"] == 0, maxima <= lam)


def test_threads_change_nothing():
    X, classes = rows_and_classes()
    alone, two = (scores_of(HirrScore(), X, classes, n_jobs=n) for n in (None, 2))
    assert np.array_equal(alone, two)


def test_designs_that_are_not_kept_are_made_again(monkeypatch):
    X, classes = rows_and_classes()
    kept = scores_of(HirrScore(), X, classes)
    monkeypatch.setattr("palmette.feature_selection._hirr_problem._KEPT", 0)
    assert np.array_equal(scores_of(HirrScore(), X, classes), kept)


def test_random_starts_follow_the_seed():
    X, classes = rows_and_classes()
    score = HirrScore(solver="irls", start="random", tol=0.0, max_iter=1)
    first, again, other = (scores_of(score, X, classes, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


def test_too_few_sweeps_are_told():
    X, classes = rows_and_classes()
    with pytest.warns(ConvergenceWarning, match="irls did not converge within max_iter=2"):
        HirrScore(solver="irls", max_iter=2, tol=1e-12).score(problem(X, classes))


@pytest.mark.parametrize("name", ["Hier-FS", "HiRRpar-FS", "HiRRsib-FS", "HiRRfam-FS"])
def test_published_names_are_settings(name):
    score = HirrScore.preset(name, lam=5.0)
    assert (score.lam, score.relative, score.solver, score.max_iter) == (5.0, False, "irls", 10)
    assert (score.parent > 0) == (name in ("HiRRpar-FS", "HiRRfam-FS"))
    assert (score.sibling > 0) == (name in ("HiRRsib-FS", "HiRRfam-FS"))


def test_an_unknown_name_is_told():
    with pytest.raises(PalmetteError, match="expected one of"):
        HirrScore.preset("fs")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lam": 0.0}, "lam=0.0"),
        ({"parent": -1.0}, "parent=-1.0"),
        ({"sibling": float("nan")}, "sibling=nan"),
        ({"solver": "newton"}, "'newton' is unknown"),
        ({"start": "warm"}, "'warm' is unknown"),
        ({"standardize": "scale"}, "standardize='scale' is unknown"),
        ({"relative": "parent"}, "relative='parent' is unknown"),
        ({"coupling": "norms"}, "'norms' is unknown"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(PalmetteError, match=message):
        HirrScore(**settings).score(problem(*rows_and_classes()))


def test_irls_refuses_matrices_that_do_not_fit(monkeypatch):
    monkeypatch.setattr(hirr, "_MAX_NUMBERS", 100)
    with pytest.raises(PalmetteError, match="Use solver='bcd'"):
        HirrScore(solver="irls").score(problem(*rows_and_classes()))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_auto_goes_by_lambda_and_form():
    X, classes = rows_and_classes()
    chosen = [
        HirrScore(lam, max_iter=3).score(problem(form, classes)).facts["solver_"]
        for lam, form in ((0.03, X), (1e-4, X), (1e-4, sparse.csr_array(X)))
    ]
    assert chosen == ["bcd", "irls", "bcd"]
