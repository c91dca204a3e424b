"""Routers with one model of all classes, and the choice between routers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.gaussian_process.kernels import RBF

import palmette
from palmette import ClassTreeClassifier, Hierarchy
from palmette.class_tree import RandomTree
from palmette.class_tree import _chosen_router as chosen
from palmette.class_tree._search import class_scores
from palmette.exceptions import PalmetteError
from palmette.routing import (
    AverageRouter,
    ChosenRouter,
    FlatRouter,
    ForestRouter,
    KernelRouter,
    LinearRouter,
    OptionTable,
    RoutingProblem,
)

X, Y = load_digits(return_X_y=True)
X, Y, Z, T = X[:400], Y[:400], X[400:700], Y[400:700]
KERNEL = KernelRouter(60, gamma=0.5, ridge=1e-4)
ROUTERS = {
    "flat": FlatRouter(),
    "kernel": KERNEL,
    "forest": ForestRouter(12),
    "average": AverageRouter([KERNEL, ForestRouter(8)]),
}
TREE = RandomTree(3, random_state=0)


@cache
def fitted(name):
    return ClassTreeClassifier(TREE, router=ROUTERS[name], decoding="exact").fit(X, Y)


def problem_of(rows, codes, weights=None):
    h = Hierarchy.star([str(k) for k in range(codes.max() + 1)])
    return RoutingProblem(rows, codes, OptionTable.of(h, h.leaves), weights)


@pytest.mark.parametrize("name", ROUTERS)
def test_the_tree_does_not_change_the_probabilities(name):
    clf = fitted(name)
    star = RandomTree(leaf_size=100)
    flat = ClassTreeClassifier(star, router=ROUTERS[name]).fit(X, Y)
    assert clf.hierarchy_.max_depth > 1 == flat.hierarchy_.max_depth
    np.testing.assert_allclose(clf.predict_proba(Z), flat.predict_proba(Z), atol=1e-12)
    greedy = clf.options_, clf.routes_, clf._routed(Z), len(Z)
    np.testing.assert_allclose(np.exp(class_scores(*greedy)), clf._class_proba_of(Z), atol=1e-9)
    assert clf.score(Z, T) > 0.7
    assert np.array_equal(clf.predict(Z), flat.predict(Z))


@pytest.mark.parametrize("name", ROUTERS)
def test_saved_models_answer_as_before(name, tmp_path):
    palmette.save(fitted(name), tmp_path / "model.palmette")
    again = palmette.load(tmp_path / "model.palmette")
    assert np.array_equal(again.predict_proba(Z), fitted(name).predict_proba(Z))


@pytest.mark.parametrize("name", ROUTERS)
def test_jobs_and_the_form_of_new_rows_change_nothing(name):
    two = ClassTreeClassifier(TREE, router=ROUTERS[name], decoding="exact", n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(two.predict_proba(Z), fitted(name).predict_proba(Z), atol=1e-12)
    thin = fitted(name).predict_proba(sparse.csr_array(Z))
    np.testing.assert_allclose(thin, fitted(name).predict_proba(Z), atol=1e-12)
    rows = sparse.csr_array(X)
    if name == "flat":
        assert ClassTreeClassifier(TREE, router="flat").fit(rows, Y).score(Z, T) > 0.7
        return
    with pytest.raises(PalmetteError, match="needs dense rows"):
        ClassTreeClassifier(TREE, router=ROUTERS[name]).fit(rows, Y)


def test_kernel_regression_with_all_landmarks_is_exact():
    codes = Y[:80].astype(np.int32)
    rows = X[:80] / 16
    variance = rows.var(axis=0).sum()
    router = KernelRouter(1000, gamma=0.5, ridge=1e-3)
    (model,) = router.fit_models(problem_of(rows, codes))
    kernel = RBF(np.sqrt(variance))(rows)
    targets = np.eye(10)[codes]
    shares = targets.mean(axis=0)
    solved = np.linalg.solve(kernel + 0.08 * np.eye(80), targets - shares)
    expected = RBF(np.sqrt(variance))(Z / 16, rows) @ solved + shares
    log_proba = np.log(model.proba(Z / 16)) / model.sharpness
    gaps = expected - expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(log_proba - log_proba.mean(axis=1, keepdims=True), gaps, atol=1e-6)


def test_left_out_scores_are_those_of_regressions_without_the_row():
    from palmette.class_tree._shared_routers import _LandmarkMap, _RidgeData

    codes = Y[:40].astype(np.int32)
    weights = np.random.default_rng(0).uniform(0.5, 2, 40)
    data = _RidgeData.of(problem_of(X[:40] / 16, codes, weights), np.arange(40))
    features = _LandmarkMap.of(data.X[:15], 0.5 / data.variance)(data.X)
    ((_, scores),) = data.left_out(features, [1e-3])
    others = np.arange(40) != 7
    F, W = features[others], weights[others]
    gram = (F.T * W) @ F + 1e-3 * weights.sum() * np.eye(F.shape[1])
    coef = np.linalg.solve(gram, (F.T * W) @ data.targets(others))
    np.testing.assert_allclose(scores[7], features[7] @ coef + data.shares, atol=1e-9)


def test_weights_are_copies():
    times = np.random.default_rng(0).integers(1, 4, 120)
    copies = np.repeat(np.arange(120), times)
    for router in (KernelRouter(1000, gamma=0.5, ridge=1e-4), ForestRouter(8)):
        weighted = ClassTreeClassifier(TREE, router=router).fit(X[:120], Y[:120], times)
        repeated = ClassTreeClassifier(TREE, router=router).fit(X[copies], Y[copies])
        assert np.mean(weighted.predict(Z) == repeated.predict(Z)) > 0.97


def test_a_forest_is_that_of_scikit_learn():
    theirs = ExtraTreesClassifier(40, random_state=0).fit(X, Y)
    ours = ClassTreeClassifier(router=ForestRouter(40), random_state=0).fit(X, Y)
    apart = np.abs(ours.predict_proba(Z) - theirs.predict_proba(Z)).mean()
    again = ExtraTreesClassifier(40, random_state=1).fit(X, Y).predict_proba(Z)
    assert apart < 1.2 * np.abs(again - theirs.predict_proba(Z)).mean()


def test_bad_parameters_raise_an_error():
    for router, name in (
        (KernelRouter(0), "n_landmarks=0"),
        (KernelRouter(gamma="scale"), "gamma='scale'"),
        (KernelRouter(ridge=0.0), "ridge=0.0"),
        (ForestRouter(0), "n_estimators=0"),
        (ChosenRouter(0), "max_rows=0"),
    ):
        with pytest.raises(PalmetteError, match=name):
            ClassTreeClassifier(router=router).fit(X, Y)


# ---------------------------------------------------------------------- choice


def circles():
    """Return rows that no linear classifier separates, and rows that one does."""
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 240), np.repeat([1.0, 3.0], 120)
    radius = radius + rng.normal(0, 0.2, 240)
    rings = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    blobs = rng.normal(size=(240, 2)) + 4 * np.repeat(np.eye(2), 120, axis=0)
    return rings, blobs, np.repeat(["inner", "outer"], 120)


def test_the_router_is_linear_only_if_that_is_as_accurate(monkeypatch):
    monkeypatch.setattr(chosen, "ForestRouter", lambda: ForestRouter(10))
    rings, blobs, y = circles()
    bent = ClassTreeClassifier().fit(rings, y)
    assert bent.router_scores_["linear"] < 0.7 < 0.95 < bent.router_scores_["kernel"]
    assert isinstance(bent.router_, KernelRouter)
    assert bent.router_.gamma != "auto"
    assert bent.score(rings, y) > 0.95
    straight = ClassTreeClassifier().fit(blobs, y)
    best = max(straight.router_scores_.values())
    assert isinstance(straight.router_, LinearRouter) == (
        straight.router_scores_["linear"] >= best - 0.002
    )
    assert list(bent.router_scores_) == ["linear", "kernel", "forest", "kernel+forest"]


def test_few_rows_are_separated_by_linear_classifiers():
    rings, _, y = circles()
    clf = ClassTreeClassifier().fit(rings[::5], y[::5])
    assert isinstance(clf.router_, LinearRouter)
    assert clf.router_scores_ == {}


def test_for_sparse_rows_all_classifiers_are_linear():
    bad = Hierarchy.from_paths([("a", "0"), ("a", "1"), ("b", "2"), ("b", "3")])
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 300)
    rows = sparse.csr_array(np.abs(rng.normal(size=(300, 4))) / 3 + np.eye(4)[codes])
    clf = ClassTreeClassifier(bad).fit(rows, codes.astype(str))
    assert set(clf.router_scores_) == {"linear", "flat"}
    flat_wins = clf.router_scores_["flat"] > clf.router_scores_["linear"] + 0.002
    assert isinstance(clf.router_, FlatRouter if flat_wins else LinearRouter)


def test_samples_have_every_class_and_folds_train_on_every_class():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2, 3], [900, 60, 4, 1]).astype(np.int32)
    rows = chosen._stratified_rows(codes, 200, rng)
    counts = np.bincount(codes[rows])
    assert counts.tolist() == [187, 12, 3, 1]
    folds = chosen._folds(codes[rows], rng)
    for fold in range(3):
        assert set(codes[rows][folds != fold]) == {0, 1, 2, 3}
    assert folds[codes[rows] == 3].tolist() == [-1]
