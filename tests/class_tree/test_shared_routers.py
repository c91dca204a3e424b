"""Routers with one model of all classes, and the choice between routers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.gaussian_process.kernels import RBF
from sklearn.tree import ExtraTreeClassifier
from sklearn.utils import get_tags

import palmette
from palmette import ClassTreeClassifier, Hierarchy
from palmette._arrays import read_only
from palmette.class_tree import RandomTree
from palmette.class_tree import _chosen_router as chosen
from palmette.class_tree._forest_router import grow_extra_tree
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
X, Y, Z, T = X[:300], Y[:300], X[400:600], Y[400:600]
KERNEL = KernelRouter(60, gamma=0.5, ridge=1e-4)
ROUTERS = {
    "flat": FlatRouter(),
    "kernel": KERNEL,
    "forest": ForestRouter(12),
    "average": AverageRouter([KERNEL, ForestRouter(8)]),
}
TREE = RandomTree(3, random_state=0)
CHOSEN = ChosenRouter(n_estimators=5)


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
    assert np.array_equal(two.predict_proba(Z), fitted(name).predict_proba(Z))
    thin = fitted(name).predict_proba(sparse.csr_array(Z))
    np.testing.assert_allclose(thin, fitted(name).predict_proba(Z), atol=1e-12)


@pytest.mark.parametrize("name", ROUTERS)
def test_sparse_rows_are_dense_rows_or_refused(name):
    clf = ClassTreeClassifier(TREE, router=ROUTERS[name], standardize=False, random_state=0)
    if not get_tags(clf).input_tags.sparse:
        with pytest.raises(PalmetteError, match="needs dense rows"):
            clf.fit(sparse.csr_array(X), Y)
        return
    thin = clone(clf).fit(sparse.csr_array(X), Y).predict_proba(sparse.csr_array(Z))
    np.testing.assert_allclose(thin, clf.fit(X, Y).predict_proba(Z), atol=1e-9)


def test_average_takes_sparse_rows_if_all_routers_do():
    average = AverageRouter([FlatRouter(), ForestRouter(4)])
    rows = sparse.csr_array(X[:60])
    assert ClassTreeClassifier(TREE, router=average).fit(rows, Y[:60]).score(Z, T) > 0.5


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
    from palmette.class_tree._kernel_router import _LandmarkMap, _RidgeData

    codes = Y[:40].astype(np.int32)
    weights = np.random.default_rng(0).uniform(0.5, 2, 40)
    data = _RidgeData.of(problem_of(X[:40] / 16, codes, weights), np.arange(40))
    features = _LandmarkMap.of(data.X[:15], 0.5 / data.variance)(data.X)
    ((_, scores),) = data.left_out(features, [1e-3])
    others = np.arange(40) != 7
    F, W = features[others], weights[others]
    gram = (F.T * W) @ F + 1e-3 * weights.sum() * np.eye(F.shape[1])
    coef = np.linalg.solve(gram, (F.T * W) @ (np.eye(10)[codes[others]] - data.shares))
    np.testing.assert_allclose(scores[7], features[7] @ coef + data.shares, atol=1e-9)


@pytest.mark.parametrize("name", [*ROUTERS, "kernel, all chosen"])
def test_a_weight_of_k_is_k_copies_and_zero_none(name):
    router = ROUTERS.get(name, KernelRouter(50))
    times = np.random.default_rng(0).integers(0, 4, 120)
    copies = np.repeat(np.arange(120), times)
    weighted = ClassTreeClassifier(TREE, router=router).fit(X[:120], Y[:120], times)
    repeated = ClassTreeClassifier(TREE, router=router).fit(X[copies], Y[copies])
    assert str(weighted.router_) == str(repeated.router_)
    np.testing.assert_allclose(weighted.predict_proba(Z), repeated.predict_proba(Z), atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_copies_in_one_class_are_one_row(form):
    rows = form(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [1.0, 0.0], [0.0, 2.0]]))
    codes = np.array([0, 1, 0, 1, 1], dtype=np.int32)
    merged = problem_of(rows, codes).without_copies()
    assert merged.codes.tolist() == [0, 1, 1]
    assert merged.weights.tolist() == [2, 2, 1]
    dense = merged.X.toarray() if sparse.issparse(merged.X) else merged.X
    assert dense.tolist() == [[1, 0], [0, 2], [1, 0]]
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert problem_of(rows, codes, weights).without_copies().weights.tolist() == [4, 7, 4]
    distinct = problem_of(rows[[0, 1, 3]], codes[[0, 1, 3]])
    assert distinct.without_copies() is distinct


def test_a_forest_gives_the_votes_of_scikit_learns_trees():
    (model,) = ForestRouter(3).fit_models(problem_of(X, Y.astype(np.int32)))
    seeds = np.random.SeedSequence([0, 1]).generate_state(3) >> 1
    trees = [ExtraTreeClassifier(random_state=int(seed)).fit(X, Y) for seed in seeds]
    votes = np.mean([tree.predict_proba(Z) for tree in trees], axis=0)
    np.testing.assert_allclose(model.proba(Z), votes, atol=1e-12)


def draws_of(seed):
    """Return a function that draws as kernels do: splitmix64, the upper half of its words."""
    state = seed

    def draw(bound):
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        word = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
        return ((word ^ (word >> 31)) >> 32) % bound

    return draw


def impurity(codes, weights):
    """Return the Gini impurity times the weight."""
    return weights.sum() - np.square(np.bincount(codes, weights)).sum() / weights.sum()


def literal_tree(rows, codes, weights, n_tried, order, draw):
    """Return (feature, cut, left, right), or the shares of the classes in a leaf."""
    best, n_left = (np.inf, -1, 0.0), len(order)
    while len(set(codes)) > 1 and n_left and (best[1] < 0 or len(order) - n_left < n_tried):
        place, n_left = draw(n_left), n_left - 1
        order[place], order[n_left] = order[n_left], order[place]
        values = rows[:, order[n_left]]
        low, high = values.min(), values.max()
        if high > low:
            cut = float(low) + float(high - low) * draw(2**31 - 1) / 2**31
            sides = values <= cut, values > cut
            after = sum(impurity(codes[side], weights[side]) for side in sides)
            if after < best[0] - 1e-9:
                best = after, order[n_left], cut
    _, feature, cut = best
    if feature < 0:
        shares = np.bincount(codes, weights) / weights.sum()
        return {code: shares[code] for code in set(codes.tolist())}
    sides = rows[:, feature] <= cut, rows[:, feature] > cut
    below = [
        literal_tree(rows[side], codes[side], weights[side], n_tried, order, draw) for side in sides
    ]
    return feature, cut, *below


@pytest.mark.parametrize("seed", range(3))
def test_trees_of_many_classes_are_those_of_a_literal_version(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 5, (60, 4)).astype(np.float32)  # with copies in several classes
    codes = rng.integers(0, 9, 60).astype(np.int32)
    weights = rng.integers(1, 4, 60).astype(np.float64)
    given = (np.ascontiguousarray(rows.T), codes, weights)
    state = np.array([seed], dtype=np.uint64)
    grown = grow_extra_tree(*(read_only(array) for array in given), 9, 2, state)
    features, cuts, left, right, labels, shares, counts = grown
    first = np.concatenate([[0], np.cumsum(counts)])

    def n_same(node, literal):
        if isinstance(literal, dict):
            here = slice(first[node], first[node + 1])
            assert left[node] == right[node] == node
            assert dict(zip(labels[here].tolist(), shares[here].tolist(), strict=True)) == literal
            return 1
        assert (features[node], cuts[node]) == literal[:2]
        return 1 + n_same(left[node], literal[2]) + n_same(right[node], literal[3])

    literal = literal_tree(rows, codes, weights, 2, list(range(4)), draws_of(seed))
    assert n_same(0, literal) == len(features) > 30


@pytest.mark.parametrize("max_features", ["sqrt", "log2", 0.3, None])
def test_a_forest_of_many_classes_depends_on_its_rows_only(max_features):
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(60), 4)
    means = rng.normal(size=(60, 8))
    rows, asked = means[codes] + 0.3 * rng.normal(size=(240, 8)), means + 0.1
    clf = ClassTreeClassifier(TREE, router=ForestRouter(10, max_features=max_features))

    def proba(rows, codes, weights=None, **settings):
        fitted = clone(clf).set_params(**settings).fit(rows, codes, weights)
        fitted.routes_.models[0].check_arrays()
        return fitted.predict_proba(asked)

    expected = proba(rows, codes)
    assert np.mean(expected.argmax(axis=1) == np.arange(60)) > 0.9
    assert np.array_equal(proba(rows, codes, n_jobs=2), expected)
    order = rng.permutation(240)
    np.testing.assert_allclose(proba(rows[order], codes[order]), expected, atol=1e-12)
    times = 1 + np.arange(240) % 3
    copies = np.repeat(np.arange(240), times)
    weighted, repeated = proba(rows, codes, times), proba(rows[copies], codes[copies])
    np.testing.assert_allclose(weighted, repeated, atol=1e-12)


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
    blobs = rng.normal(size=(240, 2)) + 20 * np.repeat(np.eye(2), 120, axis=0)
    return rings, blobs, np.repeat(["inner", "outer"], 120)


def test_the_router_is_linear_only_if_that_is_as_accurate():
    rings, blobs, y = circles()
    bent = ClassTreeClassifier(router=CHOSEN).fit(rings, y)
    assert bent.router_scores_["linear"] < 0.7 < 0.95 < bent.router_scores_["kernel"]
    assert not isinstance(bent.router_, LinearRouter)
    assert bent.score(rings, y) > 0.95
    assert list(bent.router_scores_) == ["linear", "kernel", "forest", "kernel+forest"]
    straight = ClassTreeClassifier(router=CHOSEN).fit(blobs, y)
    assert straight.router_scores_["linear"] == max(straight.router_scores_.values())
    assert isinstance(straight.router_, LinearRouter)


def test_an_average_is_preferred_if_it_is_close_and_linear_classifiers_among_equals():
    def best(*scores):
        names = ("linear", "kernel", "forest", "kernel+forest")
        return chosen._best(dict(zip(names, scores, strict=True)))

    assert best(0.8, 0.901, 0.8, 0.9) == "kernel+forest"
    assert best(0.8, 0.904, 0.8, 0.9) == "kernel"
    assert best(0.9, 0.9, 0.9, 0.9) == "linear"
    assert best(0.9, 0.9, 0.901, 0.9) == "kernel+forest"
    assert chosen._best({"linear": 0.5, "flat": 0.6, "forest": 0.6}) == "flat"


def test_the_choice_does_not_depend_on_copies():
    rings, _, y = circles()
    times = np.random.default_rng(0).integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), times)
    weighted = ClassTreeClassifier(router=CHOSEN).fit(rings, y, times)
    repeated = ClassTreeClassifier(router=CHOSEN).fit(rings[copies], y[copies])
    assert weighted.router_scores_ == repeated.router_scores_
    np.testing.assert_allclose(
        weighted.predict_proba(rings), repeated.predict_proba(rings), atol=1e-9
    )


def test_wide_rows_of_many_classes_are_compared_once_on_fewer_rows(monkeypatch):
    seen = []

    def compare(sample, held_out, routers):
        seen.append(len(sample.codes))
        return dict.fromkeys(routers, 0.0), float(len(held_out))

    monkeypatch.setattr(chosen, "_compare", compare)
    monkeypatch.setattr(chosen, "KernelRouter", lambda: KERNEL)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2400, 200))
    for n_classes, expected in ((10, [2400] * 3), (100, [2400]), (400, [1200])):
        codes = np.arange(2400, dtype=np.int32) % n_classes
        seen.clear()
        ChosenRouter().choose(problem_of(rows, codes))
        assert seen == expected


def test_few_rows_are_separated_by_linear_classifiers():
    rings, _, y = circles()
    clf = ClassTreeClassifier().fit(rings[::5], y[::5])
    assert isinstance(clf.router_, LinearRouter)
    assert clf.router_scores_ == {}


def test_sparse_rows_are_compared_with_a_forest_only_if_they_are_few(monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.arange(80) % 4
    split = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])[codes]  # no line separates
    rows = sparse.csr_array(split + rng.uniform(0, 0.2, (80, 2)))
    odd = np.where(codes < 2, "odd", "even")
    assert isinstance(ClassTreeClassifier(router=CHOSEN).fit(rows, odd).router_, ForestRouter)
    monkeypatch.setattr(chosen, "_FOREST_ROWS", 79)
    clf = ClassTreeClassifier(router=CHOSEN).fit(rows, odd)
    assert set(clf.router_scores_) == {"linear", "flat"}


def test_the_best_router_by_held_out_rows_is_trained(monkeypatch):
    def compare(sample, held_out, routers):
        return {name: float(name == "flat") for name in routers}, 1.0

    monkeypatch.setattr(chosen, "_compare", compare)
    clf = ClassTreeClassifier(TREE).fit(sparse.csr_array(X[:80]), Y[:80])
    assert isinstance(clf.router_, FlatRouter)
    assert clf.router_scores_ == {"linear": 0.0, "flat": 1.0, "forest": 0.0}
    assert clf.score(X, Y) > 0.7


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
