"""Both solvers of HiRR-FS: compared with the paper, with each other, and at the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.feature_selection.literal_hirr import (
    data,
    literal_objective,
    literal_ridge,
    literal_sweep,
)
from tests.feature_selection.node_problems import both_forms, problem, rows_and_classes

from palmette import PalmetteError
from palmette.datasets import fetch
from palmette.feature_selection._base import ScoringProblem
from palmette.feature_selection._hirr import HirrScore
from palmette.feature_selection._hirr_design import GramDesign
from palmette.feature_selection._hirr_problem import (
    HirrProblem,
    RowDesigns,
    Weights,
    gram_designs,
)
from palmette.feature_selection._hirr_solvers import (
    random_start,
    ridge_start,
    solve_bcd,
    solve_irls,
)
from palmette.labels._space import LabelSpace

COUPLINGS = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (2.0, 2.0), (100.0, 100.0)]
UNEVEN = (np.array([9.0, 1.0, 0.5, 20.0]), np.array([9.0, 0.5, 2.0, 8.0]))  # by node


def posed(X, classes, alpha, beta, *, lam=0.05, grams=False, standardize=False, coupling="full"):
    """Return the problem of a small tree with weights of one width, and its rows."""
    rows = problem(X, classes)
    widths = np.full(len(rows.nodes), 3, dtype=np.int32)
    if grams:
        designs = gram_designs(rows, widths, standardize)
    else:
        designs = RowDesigns(rows, widths, standardize, keep=True)
    lams = lam * np.array([designs[t].lambda_max for t in range(len(widths))])
    return HirrProblem(designs, rows.parents, lams, alpha, beta, coupling), rows


def dense(weights, n_features=9):
    return [own.toarray(n_features) for own in weights]


@pytest.mark.parametrize("coupling", ["full", "paper"])
@pytest.mark.parametrize(("alpha", "beta"), [*COUPLINGS, UNEVEN])
def test_irls_is_the_literal_equations(alpha, beta, coupling):
    hirr, rows = posed(*rows_and_classes(), alpha, beta, grams=True, coupling=coupling)
    Xs, Ys = data(rows)
    Ws = literal_ridge(Xs, Ys, hirr.lam)
    np.testing.assert_allclose(dense(ridge_start(hirr)), Ws, atol=1e-10)
    values = [literal_objective(Xs, Ys, Ws, rows.parents, hirr.lam, alpha, beta)]
    for _ in range(5):
        Ws = literal_sweep(Xs, Ys, Ws, rows.parents, hirr.lam, alpha, beta, coupling)
        values.append(literal_objective(Xs, Ys, Ws, rows.parents, hirr.lam, alpha, beta))
    solution = solve_irls(hirr, tol=0.0, max_iter=5)
    np.testing.assert_allclose(dense(solution.weights), Ws, atol=1e-8)
    np.testing.assert_allclose(solution.objective, values, rtol=1e-10)


@pytest.mark.parametrize(("alpha", "beta"), COUPLINGS)
def test_full_sweeps_never_rise(alpha, beta):
    hirr, _ = posed(*rows_and_classes(), alpha, beta, grams=True)
    for start in (ridge_start(hirr), random_start(hirr, 0)):
        values = solve_irls(hirr, tol=0.0, max_iter=40, start=start).objective
        assert np.all(np.diff(values) <= 1e-9 * values[0])


@pytest.mark.parametrize(
    ("alpha", "beta", "standardize"),
    [*((*pair, False) for pair in COUPLINGS), (0.0, 0.0, True), (2.0, 2.0, True)],
)
def test_solvers_agree(alpha, beta, standardize):
    X, classes = rows_and_classes()
    found = {}
    for grams in (False, True):
        hirr, rows = posed(X, classes, alpha, beta, grams=grams, standardize=standardize)
        found[grams] = solve_bcd(hirr, tol=1e-10)
        assert found[grams].converged
    slow = solve_irls(hirr, tol=1e-7, max_iter=500)
    assert slow.objective[-1] == pytest.approx(found[False].objective[-1], rel=1e-6)
    assert found[True].objective[-1] == pytest.approx(found[False].objective[-1], rel=1e-9)
    Xs, Ys = data(rows, standardize)
    Ws = dense(found[False].weights)
    literal = literal_objective(Xs, Ys, Ws, rows.parents, hirr.lam, alpha, beta)
    assert found[False].objective[-1] == pytest.approx(literal, rel=1e-9)


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 2.0), (2.0, 2.0), (100.0, 100.0), UNEVEN])
def test_siblings_with_more_options_than_features(alpha, beta):
    """Their products are kept as one sum, in which new weights replace old ones."""
    X, classes = rows_and_classes()
    X, thin = both_forms(X[:, :2])
    grams, rows = posed(X, classes, alpha, beta, grams=True)
    Xs, Ys = data(rows)
    Ws = literal_ridge(Xs, Ys, grams.lam)
    for _ in range(5):
        Ws = literal_sweep(Xs, Ys, Ws, rows.parents, grams.lam, alpha, beta, "full")
    found = solve_irls(grams, tol=0.0, max_iter=5)
    np.testing.assert_allclose(dense(found.weights, 2), Ws, atol=1e-8)
    best = [solve_bcd(posed(each, classes, alpha, beta)[0], tol=1e-10) for each in (X, thin)]
    for each in best:
        Ws = dense(each.weights, 2)
        literal = literal_objective(Xs, Ys, Ws, rows.parents, grams.lam, alpha, beta)
        assert each.objective[-1] == pytest.approx(literal, rel=1e-9)
    assert best[0].objective[-1] <= found.objective[-1] * (1 + 1e-9)


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_strongly_tied_nodes_need_few_sweeps(beta):
    """Without extrapolation, more than 200 are needed."""
    hirr, _ = posed(*rows_and_classes(), 1000.0, beta)
    found = solve_bcd(hirr, tol=1e-8, max_iter=60)
    assert found.converged
    assert np.all(np.diff(found.objective) <= 1e-9 * found.objective[0])


@pytest.mark.parametrize("n_features", [4, 9])
def test_a_coupling_is_the_products_of_the_siblings(n_features):
    strengths = np.array([1.0, 2.0, 3.0, 4.0])
    designs = [GramDesign(np.eye(n_features), np.ones((n_features, 3)), 10.0)] * 4
    hirr = HirrProblem(designs, np.array([-1, 0, 0, 0]), np.ones(4), 0.0, strengths)
    rng, weights = np.random.default_rng(0), random_start(hirr, 0)
    H, every, some = np.eye(n_features) - 1 / n_features, np.arange(n_features), np.array([0, 2])
    for changed in (1, 2, 3, 1, 2, 3, 3):
        weights[changed] = Weights(some, rng.normal(size=(2, 3)))
        coupling = hirr.couple(1, weights)
        assert (coupling.matrix is not None) == (n_features == 4)
        Ws = dense(weights, n_features)
        expected = sum(
            2 * np.sqrt(strengths[1] * strengths[s]) * H @ Ws[s] @ Ws[s].T @ H for s in (2, 3)
        )
        np.testing.assert_allclose(coupling.block(every), expected, atol=1e-12)
        factor = coupling.factor_of(some)
        np.testing.assert_allclose(factor @ factor.T, expected[np.ix_(some, some)], atol=1e-12)


@pytest.mark.parametrize("form", ["dense", "sparse", "grams"])
@pytest.mark.parametrize(("alpha", "beta"), COUPLINGS[:4])
def test_optimum_meets_its_conditions(alpha, beta, form):
    """2 |G_j| <= lam where a row is 0; else 2 G_j is lam times the direction of the row."""
    X, classes = rows_and_classes()
    thin, thin_sparse = both_forms(X)
    hirr, rows = posed(
        thin_sparse if form == "sparse" else thin, classes, alpha, beta, grams=form == "grams"
    )
    Ws = dense(solve_bcd(hirr, tol=1e-10).weights)
    Xs, Ys = data(ScoringProblem(thin, rows.space, rows.classes))
    H = np.eye(9) - 1 / 9
    for i, W in enumerate(Ws):
        G = Xs[i].T @ (Ys[i] - Xs[i] @ W)
        for j, other in enumerate(Ws):
            if rows.parents[j] == i or rows.parents[i] == j:
                G += alpha * (other - W)
            if i != j and rows.parents[i] == rows.parents[j] >= 0:
                G -= 2 * beta * H @ other @ other.T @ H @ W
        lengths, lam = np.linalg.norm(W, axis=1), hirr.lam[i]
        used = lengths > 0
        assert np.all(2 * np.linalg.norm(G[~used], axis=1) <= lam * (1 + 1e-5))
        np.testing.assert_allclose(
            2 * G[used], lam * (W[used].T / lengths[used]).T, atol=1e-4 * lam
        )


@pytest.mark.parametrize("lam", [0.3, 0.02])
def test_gap_bounds_the_excess(lam):
    hirr, _ = posed(*rows_and_classes(), 2.0, 0.0, lam=lam, grams=True)
    best = solve_bcd(hirr, tol=1e-10).objective[-1]
    for n_sweeps in (1, 3, 10):
        rough = solve_irls(hirr, tol=0.0, max_iter=n_sweeps)
        assert 0 <= rough.objective[-1] - best <= rough.dual_gap


def test_paper_coupling_converges_to_a_fixed_point():
    hirr, _ = posed(*rows_and_classes(), 2.0, 1.0, coupling="paper")
    solution = solve_bcd(hirr, tol=1e-10)
    again = solve_bcd(hirr, tol=0.0, max_iter=1, start=solution.weights)
    np.testing.assert_allclose(dense(again.weights), dense(solution.weights), atol=1e-6)


def test_many_rows_in_use():
    """Long steps are used if coordinate descent is slow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(84, 60)) @ (0.3 * rng.normal(size=(60, 60)) + 2.0)
    hirr, _ = posed(X, rows_and_classes()[1], 0.0, 0.0, lam=1e-5, grams=True)
    solution = solve_bcd(hirr, tol=1e-7)
    assert solution.converged
    assert solution.objective[-1] <= solve_irls(hirr, tol=0, max_iter=50).objective[-1]


def test_callback_sees_the_curve():
    seen = []
    hirr, _ = posed(*rows_and_classes(), 2.0, 0.0, grams=True)
    for solve in (solve_bcd, solve_irls):
        seen.clear()
        solution = solve(hirr, max_iter=3, callback=lambda *step: seen.append(step))
        assert seen == list(enumerate(solution.objective))[1:]


def test_an_unknown_coupling_is_named():
    with pytest.raises(PalmetteError, match="'none' is unknown"):
        posed(*rows_and_classes(), 1.0, 0.0, coupling="none")


# ---------------------------------------------------------------------- DD


@pytest.fixture(scope="module")
def protein(data_home):
    bunch = fetch("protein_dd", data_home)
    nodes = bunch.hierarchy.index(bunch.y_train)
    classes = np.unique(nodes)
    space = LabelSpace(bunch.hierarchy, classes)
    X = np.asarray(bunch.X_train, dtype=np.float64)
    return ScoringProblem(X, space, np.searchsorted(classes, nodes).astype(np.int32))


def leading(scores, k=40):
    return [set(np.argsort(-row, kind="stable")[:k]) for row in scores.rows()]


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("alpha", "beta", "optimum"), [(0, 0, 2381.6543), (1, 1, 2427.983)])
def test_optimum_on_dd(protein, alpha, beta, optimum):
    raw = {"relative": False, "standardize": False, "parent": alpha, "sibling": beta}
    quick = HirrScore(10.0, solver="bcd", **raw).score(protein)
    slow = HirrScore(10.0, solver="irls", max_iter=100, **raw).score(protein)
    assert quick.facts["objective_"][-1] == pytest.approx(optimum, rel=1e-6)
    curve = slow.facts["objective_"]
    assert curve[-1] == pytest.approx(optimum, rel=1e-6)
    assert np.all(np.diff(curve) <= 1e-9 * curve[0])
    assert leading(quick) == leading(slow)
