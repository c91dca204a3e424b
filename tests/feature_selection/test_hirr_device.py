"""HiRR-FS with torch: the numbers of numpy, on torch's own CPU device."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.feature_selection.literal_hirr import data, literal_sweep
from tests.feature_selection.node_problems import problem, rows_and_classes
from tests.feature_selection.test_several import DAG, rows_in_dag

import palmette as pm
from palmette.exceptions import PalmetteError
from palmette.feature_selection import _hirr
from palmette.feature_selection._hirr import HirrScore, lambda_path
from palmette.feature_selection._hirr_problem import HirrProblem, RowDesigns, gram_designs
from palmette.feature_selection._hirr_solvers import random_start, ridge_start, solve_irls

torch = pytest.importorskip("torch", reason="torch is not installed: extra torch")

from palmette.feature_selection import _hirr_sweeps  # noqa: E402
from palmette.feature_selection._hirr_device import RowsOnDevice  # noqa: E402
from palmette.feature_selection._hirr_sweeps import (  # noqa: E402
    Cholesky,
    independent_tasks,
    solve_irls_on_device,
)

CPU = torch.device("cpu")
COUPLINGS = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (2.0, 2.0)]
UNEVEN = (np.array([9.0, 1.0, 0.5, 20.0]), np.array([9.0, 0.5, 2.0, 8.0]))  # by node


@pytest.fixture
def cuda_is_here(monkeypatch):
    """``device="cuda"`` is torch's CPU device."""
    monkeypatch.setattr(_hirr, "torch_device", lambda name: CPU)


@pytest.fixture(params=[False, True, "center"])
def scaling(request):
    return request.param


def posed(alpha, beta, standardize=False, coupling="full", weighted=False):
    """The same problem with matrices of numpy and of torch, and its rows."""
    rows = problem(*rows_and_classes())
    if weighted:
        rows.weights = np.random.default_rng(2).random(len(rows.X)) + 0.5
    widths = np.full(len(rows.nodes), 3, dtype=np.int32)
    designs = (
        gram_designs(rows, widths, standardize),
        RowsOnDevice(rows.X, CPU).grams(rows, widths, standardize),
    )
    lams = np.array([0.05 * design.lambda_max for design in designs[0]])
    return *(HirrProblem(each, rows.parents, lams, alpha, beta, coupling) for each in designs), rows


def dense(weights):
    return np.stack([own.toarray(len(own.rows)) for own in weights])


def check_designs(one, other, atol=1e-9):
    rows = np.array([1, 4, 5])
    values = np.random.default_rng(0).normal(size=(3, one.cross.shape[1]))
    for name in ("cross", "energy", "squares", "lambda_max"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=atol)
    np.testing.assert_allclose(one.block(rows), other.block(rows), atol=atol)
    np.testing.assert_allclose(one.gradient(rows, values), other.gradient(rows, values), atol=atol)


@pytest.mark.parametrize("weighted", [False, True])
def test_designs_are_those_of_numpy(scaling, weighted):
    here, there, rows = posed(0.0, 0.0, scaling, weighted=weighted)
    rows.X[:, 2] = 3.0  # a constant feature
    widths = np.array([task.n_options for task in rows.tasks()], dtype=np.int32)
    on_device = RowsOnDevice(rows.X, CPU)
    for t in range(here.n_tasks):
        check_designs(here.designs[t], there.designs[t])
        a, b = (RowDesigns(rows, widths, scaling, False, make)[t] for make in (None, on_device))
        check_designs(a, b)
        check_designs(
            gram_designs(rows, widths, scaling)[t], on_device.grams(rows, widths, scaling)[t]
        )


@pytest.mark.parametrize("coupling", ["full", "paper"])
@pytest.mark.parametrize(("alpha", "beta"), [*COUPLINGS, UNEVEN])
@pytest.mark.parametrize("few", [0.0, 10.0])
def test_sweeps_are_the_literal_equations(alpha, beta, coupling, few, monkeypatch):
    monkeypatch.setattr(_hirr_sweeps, "_PANEL", 4)  # of nine columns
    monkeypatch.setattr(_hirr_sweeps, "_FEW", few)  # columns are added before or after
    here, there, rows = posed(alpha, beta, coupling=coupling)
    Xs, Ys = data(rows)
    start = ridge_start(here)
    Ws = list(dense(start))
    for _ in range(4):
        Ws = literal_sweep(Xs, Ys, Ws, rows.parents, here.lam, alpha, beta, coupling)
    found = solve_irls_on_device(there, there.designs, tol=0.0, max_iter=4)
    np.testing.assert_allclose(dense(found.weights), Ws, atol=1e-8)
    expected = solve_irls(here, tol=0.0, max_iter=4)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-12)
    np.testing.assert_allclose(found.dual_gap, expected.dual_gap, rtol=1e-6)
    assert found.converged == expected.converged
    # given weights, and the objective of other weights by the designs of the device
    random = random_start(here, 0)
    pairs = [
        solve(*problems, tol=0.0, max_iter=2, start=random)
        for solve, problems in (
            (solve_irls, (here,)),
            (solve_irls_on_device, (there, there.designs)),
        )
    ]
    np.testing.assert_allclose(dense(pairs[0].weights), dense(pairs[1].weights), atol=1e-9)
    np.testing.assert_allclose(here.assess(random), there.assess(random), rtol=1e-12)


@pytest.mark.parametrize("few", [0.0, 10.0])
@pytest.mark.parametrize("at_once", [100, 200])  # one task, two
def test_few_matrices_at_once(few, at_once, monkeypatch):
    here, there, _ = posed(2.0, 2.0)
    expected = solve_irls(here, tol=0.0, max_iter=2)
    monkeypatch.setattr(_hirr_sweeps, "_FEW", few)
    monkeypatch.setattr(_hirr_sweeps, "_AT_ONCE", at_once)
    found = solve_irls_on_device(there, there.designs, tol=0.0, max_iter=2)
    np.testing.assert_allclose(dense(found.weights), dense(expected.weights), atol=1e-10)


@pytest.mark.parametrize("n", [1, 7, 8, 21])
def test_equations_are_solved(n, monkeypatch):
    monkeypatch.setattr(_hirr_sweeps, "_PANEL", 8)
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, n, n))
    matrices = roots @ roots.transpose(0, 2, 1) + np.diag(10.0 ** rng.uniform(-2, 8, n))
    right = rng.normal(size=(3, n, 2))
    cholesky = Cholesky(torch.as_tensor(matrices.copy()))
    expected = np.linalg.solve(matrices, right)
    np.testing.assert_allclose(cholesky.solve(torch.as_tensor(right)), expected, rtol=1e-8)
    some = cholesky.solve(torch.as_tensor(right[1:]), slice(1, 3))
    np.testing.assert_allclose(some, expected[1:], rtol=1e-8)


def test_groups_of_tasks():
    """Children do not see each other, siblings do."""
    parents = np.array([-1, 0, 1, 1, 0, 4])
    free, tied, apart = (
        HirrProblem([], parents, np.ones(6), parent, sibling)
        for parent, sibling in ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0))
    )
    assert independent_tasks(free) == [[0, 1, 2, 3, 4, 5]]
    assert independent_tasks(tied) == [[0], [1, 4], [2, 3, 5]]
    assert independent_tasks(apart) == [[0], [1], [2, 4], [3, 5]]


@pytest.mark.parametrize("solver", ["bcd", "irls"])
@pytest.mark.parametrize("ties", [{}, {"parent": 0.5}, {"sibling": 0.5}])
def test_scores_are_those_of_the_cpu(solver, ties, cuda_is_here):
    rows = problem(*rows_and_classes())
    scores = [
        HirrScore(0.1, solver=solver, tol=1e-9, max_iter=1000, device=device, **ties).score(rows)
        for device in ("cpu", "cuda")
    ]
    here, there = (np.array(list(each.rows())) for each in scores)
    np.testing.assert_allclose(here, there, atol=1e-7)
    for name in ("lambda_max_", "lam_", "n_nonzero_", "solver_"):
        assert scores[0].facts[name] == pytest.approx(scores[1].facts[name])
    assert scores[0].facts["objective_"][-1] == pytest.approx(scores[1].facts["objective_"][-1])


@pytest.mark.parametrize("solver", ["bcd", "irls"])
@pytest.mark.parametrize("several", ["copies", "yes_no"])
def test_scores_of_a_dag_are_those_of_the_cpu(solver, several, cuda_is_here):
    X, sets = rows_in_dag()
    scores = []
    for device in ("cpu", "cuda"):
        score = HirrScore(
            parent=0.5, sibling=0.5, solver=solver, max_iter=10, tol=0.1, device=device
        )
        selector = pm.HierarchicalFeatureSelector(score, hierarchy=DAG, several=several)
        scores.append(selector.fit(X, sets).node_scores_.toarray())
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-9)


@pytest.mark.parametrize("solver", ["bcd", "irls"])
def test_paths_of_lambda(solver, cuda_is_here):
    X, classes = rows_and_classes()
    rows = problem(X[:, :7], classes)  # of two equal features, rounding would choose one
    here, there = (
        # which features are at zero is decided close to the minimum only
        lambda_path(
            rows,
            [0.5, 0.2],
            score=HirrScore(solver=solver, tol=1e-9, max_iter=1000, device=device),
        )
        for device in ("cpu", "cuda")
    )
    np.testing.assert_allclose(here.objective, there.objective, rtol=1e-6)
    assert np.array_equal(here.n_nonzero, there.n_nonzero)


def test_published_settings_in_the_selector(cuda_is_here):
    X, classes = rows_and_classes()
    y = [("a" if c % 2 else "b", str(c)) for c in classes]
    found = [
        pm.HierarchicalFeatureSelector(
            HirrScore.preset("hirrpar-fs", lam=0.1, device=device), n_features_to_select=4
        ).fit(X, y)
        for device in ("cpu", "cuda")
    ]
    for node in found[0].hierarchy_.names[:1]:
        assert np.array_equal(found[0].get_support(node), found[1].get_support(node))


def test_sparse_rows_are_refused(cuda_is_here):
    X, classes = rows_and_classes()
    with pytest.raises(PalmetteError, match=r"X is sparse.*device='cuda'.*device='cpu'"):
        HirrScore(device="cuda").score(problem(sparse.csr_array(X), classes))


def test_matrices_that_are_not_positive():
    _, there, _ = posed(0.0, 0.0)
    there.designs.grams[0] -= 1e6 * torch.eye(9)
    with pytest.raises(np.linalg.LinAlgError):
        solve_irls_on_device(there, there.designs)
