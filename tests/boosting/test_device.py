"""Boosting with torch: the model of the compiled code, on torch's own CPU device."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.boosting.problems import dag_problem, tree_problem
from tests.boosting.test_block_fits import bits_of, make_data, parts_of

import palmette as pm
from palmette.boosting import _device_tree, _hierarchical, _objectives, _weak
from palmette.boosting._objectives import GradientObjective, LeafSoftmax, Logistic, PathSoftmax
from palmette.boosting._weak import GrownTree, SharedTree, TrainingRows
from palmette.exceptions import PalmetteError
from palmette.labels._space import LabelSpace

torch = pytest.importorskip("torch", reason="torch is not installed: extra torch")

from palmette.boosting._device_objective import DeviceObjective  # noqa: E402
from palmette.boosting._device_tree import (  # noqa: E402
    DeviceGradients,
    DeviceTreeLearner,
    GroupedRows,
    full_precision,
    sum_rows,
)

CPU = torch.device("cpu")
N = 600


@pytest.fixture
def cuda_is_here(monkeypatch):
    """``device="cuda"`` is torch's CPU device."""
    monkeypatch.setattr(_hierarchical, "torch_device", lambda name: None if name == "cpu" else CPU)


@pytest.fixture
def large(monkeypatch):
    """All data are large: scores and gradients are in float32, and rows in blocks."""
    monkeypatch.setattr(_objectives, "_SMALL", 0)
    monkeypatch.setattr(_weak, "_SMALL", 0)


def rows_of(several=False):
    X, y = make_data(several)
    return X[:N], y[:N]


def both(X, y, weights=None, **options):
    """The models of the CPU and of the device."""
    given = {"n_bags": 1, "n_estimators": 4, "random_state": 0, **options}
    return [
        pm.HierarchicalBoostingClassifier(device=device, **given).fit(X, y, sample_weight=weights)
        for device in ("cpu", "cuda")
    ]


def check_alike(models, X, atol):
    one, other = models
    for a, b in zip(parts_of(one.rounds_), parts_of(other.rounds_), strict=True):
        for name in ("features", "cuts", "leaf_at"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
            assert getattr(a, name).dtype == getattr(b, name).dtype
        np.testing.assert_allclose(a.values, b.values, atol=atol)
        np.testing.assert_allclose(a.cover, b.cover, rtol=1e-6)
        assert a.values.dtype == b.values.dtype
    np.testing.assert_allclose(one.train_loss_, other.train_loss_, rtol=atol)
    np.testing.assert_allclose(one.validation_loss_, other.validation_loss_, rtol=max(atol, 1e-6))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=atol)


ONE_PATH = {
    "labels": {},
    "deep": {"max_depth": 8, "min_samples_leaf": 3},
    "paths": {"loss": "path_softmax"},
    "half of the rows": {"subsample": 0.5},
    "all features": {"max_features": None, "max_depth": 3},
    "nodes": {"loss": "logistic", "max_depth": 4},
    "bags": {"loss": ("leaf_softmax", "path_softmax"), "n_bags": 2, "n_jobs": 2},
    "early stopping": {"n_iter_no_change": 2},
    "early stopping of bags": {
        "loss": ("leaf_softmax", "logistic"),
        "n_bags": 1,
        "max_depth": 3,
        "n_iter_no_change": 2,
    },
}


@pytest.mark.parametrize("case", ONE_PATH)
def test_large_data_have_the_same_trees(case, large, cuda_is_here):
    X, y = rows_of()
    check_alike(both(X, y, **ONE_PATH[case]), X, 1e-6)


@pytest.mark.parametrize("loss", ["leaf_softmax", "path_softmax", "logistic"])
@pytest.mark.parametrize("is_large", [False, True])
def test_weights_count(loss, is_large, cuda_is_here, request):
    if is_large:
        request.getfixturevalue("large")
    X, y = rows_of()
    weights = np.random.default_rng(1).random(N) + 0.5
    check_alike(both(X, y, weights, loss=loss), X, 1e-6 if is_large else 1e-12)


@pytest.mark.parametrize("make", [tree_problem, dag_problem])
def test_small_data_have_the_same_trees(make, cuda_is_here):
    X, y = make()
    check_alike(both(X, y, n_estimators=8, max_depth=4), X, 1e-12)


def test_several_paths_per_row(large, cuda_is_here):
    X, y = rows_of(several=True)
    check_alike(both(X, y, max_depth=4), X, 1e-6)


def test_results_do_not_depend_on_what_is_computed_at_once(large, cuda_is_here, monkeypatch):
    """But for rounding of float64: the size of blocks is a constant."""
    X, y = rows_of()
    options = {"max_features": None, "max_depth": 6}
    whole = both(X, y, **options)[1]
    monkeypatch.setattr(_device_tree, "_AT_ONCE", 2**11)
    check_alike([whole, both(X, y, **options)[1]], X, 1e-12)


def test_two_runs_have_the_same_bits(large, cuda_is_here):
    X, y = rows_of()
    assert bits_of(both(X, y)[1]) == bits_of(both(X, y)[1])


@pytest.mark.parametrize("is_large", [False, True])
def test_a_fit_in_two_parts_is_one_fit(is_large, cuda_is_here, request):
    if is_large:
        request.getfixturevalue("large")
    X, y = rows_of()
    options = {"n_bags": 1, "random_state": 0, "warm_start": True, "device": "cuda"}
    whole = pm.HierarchicalBoostingClassifier(n_estimators=4, **options).fit(X, y)
    parts = pm.HierarchicalBoostingClassifier(n_estimators=2, **options).fit(X, y)
    parts.set_params(n_estimators=4).fit(X, y)
    assert bits_of(parts) == bits_of(whole)


def test_the_model_is_an_ordinary_one(cuda_is_here, tmp_path, monkeypatch):
    X, y = rows_of()
    model = both(X, y, n_estimators=2)[1]
    pm.save(model, tmp_path / "model.palmette")
    expected = model.predict_proba(X)
    monkeypatch.setitem(sys.modules, "torch", None)  # an import of it fails
    loaded = pm.load(tmp_path / "model.palmette")
    assert np.array_equal(loaded.predict_proba(X), expected)
    assert loaded.device == "cpu"  # no file names a device


# ---------------------------------------------------------------------- parts


def test_blocks_have_every_row_once():
    rng = np.random.default_rng(0)
    for n_groups in (1, 3, 40):
        groups = rng.integers(-1, n_groups, 500)
        grouped = GroupedRows(torch.as_tensor(groups.astype(np.int16)), n_groups)
        found = []
        for part in grouped.parts(2**18):  # few blocks at once
            for rows, group in zip(part.rows.tolist(), part.group.tolist(), strict=True):
                filled = [row for row in rows if row < 500]
                assert filled
                assert rows == filled + [500] * (len(rows) - len(filled))
                assert (groups[filled] == part.first + group).all()
                assert part.first <= part.first + group < part.stop
                found += filled
            assert (part.known[part.rows < 500] == part.rows[part.rows < 500]).all()
            of_known = torch.as_tensor(groups)[part.known]
            assert (of_known == part.first + part.group[:, None]).all()
        assert sorted(found) == np.flatnonzero(groups >= 0).tolist()


@pytest.mark.parametrize("n_samples", [1, 30, 31, 63, 95, 200])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_squares_of_columns(n_samples, dtype, monkeypatch):
    table = torch.as_tensor(np.random.default_rng(0).normal(size=(n_samples + 1, 3))).to(dtype)
    expected = table.double().square().sum(0)
    for at_once in (2**26, 200):
        monkeypatch.setattr(_device_tree, "_AT_ONCE", at_once)
        np.testing.assert_allclose(DeviceGradients(table).squares(), expected, rtol=1e-6)


@pytest.mark.parametrize("n_rows", [8, 16, 256])
def test_sums_over_rows_of_blocks(n_rows):
    blocks = torch.as_tensor(np.random.default_rng(0).normal(size=(2, n_rows, 5)))
    for of, terms in (("numbers", blocks), ("squares", blocks.square())):
        np.testing.assert_allclose(sum_rows(blocks, of), terms.sum(1), rtol=1e-12)
        found = sum_rows(blocks.float(), of)
        assert found.dtype == torch.float64
        np.testing.assert_allclose(found, terms.sum(1), atol=1e-5)


@pytest.mark.parametrize("criterion", ["squared", "absolute"])
@pytest.mark.parametrize("n_kept", [5, None])
def test_trees_of_drawn_columns(criterion, n_kept, large):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 30, size=(N, 7)).astype(np.uint8)
    codes[:, 3] = 4  # does not vary
    codes[rng.random(codes.shape) < 0.1] = 255
    signed = rng.normal(size=(N, 12)).astype(np.float32) * np.arange(12, dtype=np.float32)
    weights = (rng.random(N) + 0.5).astype(np.float32)
    rows = TrainingRows(codes, np.full(7, 30), weights)
    chosen = np.sort(rng.choice(N, 400, replace=False)).astype(np.int32)
    learner = SharedTree(5, criterion=criterion, sketch=n_kept, min_samples_leaf=4)
    expected = learner.grow(rows, signed, chosen, 3)
    padded = DeviceGradients(torch.as_tensor(np.vstack([signed, np.zeros((1, 12), np.float32)])))
    found = DeviceTreeLearner(learner, CPU).grow(rows, padded, chosen, 3)
    for name in ("features", "cuts", "leaf_at", "leaf"):
        assert np.array_equal(getattr(expected, name), np.asarray(getattr(found, name)))
    assert expected.n_leaves == found.n_leaves > 8


def test_columns_without_gradients(large):
    """The first columns are taken, and no split gains anything."""
    codes = np.arange(40, dtype=np.uint8)[:, None]
    rows = TrainingRows(codes, np.full(1, 40), np.ones(40, np.float32))
    learner = SharedTree(2, sketch=2)
    expected = learner.grow(rows, np.zeros((40, 4), np.float32), None, 0)
    found = DeviceTreeLearner(learner, CPU).grow(rows, DeviceGradients(torch.zeros(41, 4)), None, 0)
    assert np.array_equal(expected.leaf, found.leaf.numpy())


def losses(weights):
    hierarchy = pm.Hierarchy.from_paths([("a", "x"), ("a", "y", "p"), ("b",), ("a", "y")])
    space = LabelSpace(
        hierarchy, np.sort(hierarchy.index([("a", "x"), ("a", "y", "p"), ("b",), ("a", "y")]))
    )
    rng = np.random.default_rng(0)
    targets = rng.integers(0, space.n_classes, len(weights)).astype(np.int32)
    positives = hierarchy.closure[space.classes][targets][:, 1:]
    yield LeafSoftmax(targets, weights, space.n_classes)
    yield PathSoftmax(targets, weights, space)
    yield Logistic(positives, weights)


@pytest.mark.parametrize("is_large", [False, True])
def test_gradients_sums_and_votes(is_large, request):
    """Scores far from zero, where exponentials are not finite, too."""
    if is_large:
        request.getfixturevalue("large")
    rng = np.random.default_rng(1)
    weights = rng.random(50) + 0.5
    leaf = rng.integers(0, 3, 50)
    places = np.array([-1, -1, 0, 1, 2], np.int32)
    for loss in losses(weights):
        one, other = GradientObjective(loss, weights, 0.5), DeviceObjective(loss, weights, 0.5, CPU)
        assert np.array_equal(one.start, other.start)
        scores = rng.normal(size=(50, loss.n_columns)) * np.repeat([1.0, 300.0], 25)[:, None]
        one._scores[:], other._scores[:] = scores, torch.as_tensor(scores)
        assert one._scores.dtype == (np.float32 if is_large else np.float64)
        expected, found = one.gradients(0), other.gradients(0).padded
        np.testing.assert_allclose(-found[:-1].numpy(), expected, atol=1e-6 if is_large else 1e-7)
        assert not found[-1].any()
        np.testing.assert_allclose(one.loss, other.loss, rtol=1e-7)
        arrays = places, places.astype(np.uint8), places
        tree = one.take(GrownTree(*arrays, leaf, 3))
        votes = other.take(GrownTree(*arrays, torch.as_tensor(leaf.astype(np.int16)), 3))
        np.testing.assert_allclose(votes.values, tree.values, atol=1e-6)
        np.testing.assert_allclose(votes.cover, tree.cover, rtol=1e-6)


def test_products_have_all_digits_of_float32():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with full_precision():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_scores_that_are_not_finite():
    loss = LeafSoftmax(np.array([0, 1], np.int32), np.ones(2), 2)
    objective = DeviceObjective(loss, np.ones(2), 0.1, CPU)
    objective._scores[0, 0] = np.nan
    with pytest.raises(ArithmeticError, match="not finite"):
        objective.gradients(0)


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "options",
    [{"loss": "exponential"}, {"loss": ("logistic", "exponential")}, {"thresholds": "best"}],
)
def test_what_has_no_version_for_a_device(options, cuda_is_here):
    X, y = rows_of()
    with pytest.raises(PalmetteError, match=r"no version for device='cuda'.*device='cpu'"):
        pm.HierarchicalBoostingClassifier(device="cuda", **options).fit(X, y)
