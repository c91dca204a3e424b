"""Local classifiers from chunks: the numbers of one fit, and passes over mapped rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, SGDClassifier
from tests.persistence.round_trips import again

import palmette as pm
from palmette.exceptions import LabelError, PalmetteError
from palmette.local import MixedNaiveBayes, _passes, fit_in_passes
from palmette.local._passes import shuffled_rows

N = 120
PATHS = [("a", "x"), ("a", "y"), ("b", "z"), ("b", "w"), ("c",), ("a",)]
LOCAL = [
    pm.FlatClassifier,
    pm.LocalPerParentClassifier,
    pm.LocalPerLevelClassifier,
    pm.LocalPerNodeClassifier,
]


def data(seed=0):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(6), rng.integers(6, size=N - 6)]
    return rng.normal(size=(N, 4)) + codes[:, None] % [2, 3, 4, 5], [PATHS[c] for c in codes]


def one_pass(**settings):
    settings = {"loss": "log_loss", "shuffle": False, "max_iter": 1, "tol": None, **settings}
    return SGDClassifier(**settings)


def in_chunks(model, X, y, size, weights=None):
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        own = None if weights is None else weights[rows]
        model.partial_fit(X[rows], y[rows], PATHS, own)
    return model


@pytest.mark.parametrize("kind", LOCAL)
@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.thorough), 50, N])
def test_chunks_give_the_numbers_of_one_fit(kind, size):
    X, y = data()
    for base in (MixedNaiveBayes(), one_pass()):
        expected = kind(base).fit(X, y)
        found = in_chunks(kind(base), X, y, size)
        assert found.classes_.tolist() == expected.classes_.tolist()
        np.testing.assert_allclose(
            found.predict_node_proba(X), expected.predict_node_proba(X), rtol=1e-10, atol=1e-300
        )
        assert found.predict(X) == expected.predict(X)


def test_weights_are_passed_on_and_a_fit_goes_on():
    X, y = data()
    weights = np.random.default_rng(1).integers(1, 4, N).astype(float)
    weights[0] = 1.0
    kind = pm.LocalPerParentClassifier
    expected = kind(MixedNaiveBayes()).fit(X, y, weights)
    found = in_chunks(kind(MixedNaiveBayes()), X, y, 31, weights)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-10)
    begun = again(kind(MixedNaiveBayes()).fit(X[:60], y[:60]))
    np.testing.assert_allclose(
        in_chunks(begun, X[60:], y[60:], 20).predict_proba(X),
        kind(MixedNaiveBayes()).fit(X, y).predict_proba(X),
        rtol=1e-10,
    )


def test_a_task_without_rows_so_far_has_no_preference():
    X, y = data()
    few = [i for i, path in enumerate(y) if path[0] != "b"]
    found = pm.LocalPerParentClassifier(one_pass())
    found.partial_fit(X[few], [y[i] for i in few], classes=PATHS)
    proba = found.predict_node_proba(X, nodes=["b", "z", "w"])
    np.testing.assert_allclose(proba[:, 1:], np.repeat(proba[:, :1] / 2, 2, axis=1))


def test_every_estimator_has_a_seed_of_its_own():
    X, y = data()
    models = [
        pm.LocalPerParentClassifier(one_pass(shuffle=True), random_state=seed).partial_fit(
            X, y, classes=PATHS
        )
        for seed in (0, 0, 1)
    ]
    first, same, other = (model.predict_proba(X) for model in models)
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


# ---------------------------------------------------------------------- passes


def test_every_row_comes_once_in_a_pass(monkeypatch):
    monkeypatch.setattr(_passes, "_BLOCK", 8)
    monkeypatch.setattr(_passes, "_FEWEST_ROWS", 16)
    monkeypatch.setattr(_passes, "_VALUES_AT_ONCE", 16)
    parts = list(shuffled_rows(np.zeros((N - 3, 2)), 2, seed=0))
    assert max(map(len, parts)) == 16
    assert len(parts) == 2 * 8
    for turn in (parts[:8], parts[8:]):
        assert sorted(np.concatenate(turn).tolist()) == list(range(N - 3))
    for part in parts:  # two blocks of adjacent rows each
        assert len(set((part // 8).tolist())) <= 2


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_passes_over_mapped_rows_give_the_bits_of_those_in_memory(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(_passes, "_FEWEST_ROWS", 16)
    monkeypatch.setattr(_passes, "_VALUES_AT_ONCE", 16)
    monkeypatch.setattr(_passes, "_BLOCK", 8)
    X, y = data()
    X = np.where(np.abs(X) > 1, X, 0.0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")

    def fitted(X):
        model = pm.LocalPerParentClassifier(one_pass(shuffle=True, random_state=0))
        return fit_in_passes(model, X, y, n_passes=3, seed=0).predict_proba(X)

    np.testing.assert_array_equal(fitted(kind(mapped)), fitted(kind(X)))


def test_rows_that_are_sorted_by_label_do_no_harm():
    X, y = data()
    order = sorted(range(N), key=lambda i: y[i])
    X, y = X[order], [y[i] for i in order]
    base = one_pass(shuffle=True, random_state=0)
    found = fit_in_passes(pm.FlatClassifier(base), X, y, n_passes=20, seed=0)
    expected = pm.FlatClassifier(LogisticRegression()).fit(X, y)
    assert found.score(X, y) > expected.score(X, y) - 0.05


# ---------------------------------------------------------------------- errors


def test_only_estimators_with_partial_fit_have_it():
    assert not hasattr(pm.FlatClassifier(), "partial_fit")
    assert not hasattr(pm.FlatClassifier(LogisticRegression()), "partial_fit")
    assert hasattr(pm.LocalPerParentClassifier({"default": one_pass()}), "partial_fit")
    X, y = data()
    with pytest.raises(PalmetteError, match="LogisticRegression has no partial_fit: expected"):
        fit_in_passes(pm.FlatClassifier(LogisticRegression()), X, y, n_passes=1, seed=0)


def test_labels_that_do_not_fit_the_first_call():
    X, y = data()
    model = pm.LocalPerParentClassifier(one_pass())
    with pytest.raises(PalmetteError, match="the first call of partial_fit needs classes"):
        model.partial_fit(X, y)
    model.partial_fit(X, y, classes=[*PATHS, ("d",)])
    with pytest.raises(LabelError, match="classes has 6 labels, which are not the 7"):
        model.partial_fit(X, y, classes=PATHS)
    h = pm.Hierarchy.from_paths([*PATHS, ("d",)])
    model = pm.FlatClassifier(one_pass(), hierarchy=h).partial_fit(X, y, classes=PATHS)
    with pytest.raises(LabelError, match=r"y\[0\] is 'd', which is not among the labels"):
        model.partial_fit(X[:1], [("d",)])


def test_what_needs_all_rows_is_refused():
    X, y = data()
    names = [path[-1] for path in y]
    with pytest.raises(PalmetteError, match="is learned from all rows: partial_fit needs one"):
        pm.FlatClassifier(one_pass(), hierarchy=pm.MFTree()).partial_fit(X, names, ["x"])
    selector = pm.HierarchicalFeatureSelector()
    with pytest.raises(PalmetteError, match="features are selected from all rows"):
        pm.FlatClassifier(one_pass(), feature_selector=selector).partial_fit(X, y, PATHS)
    with pytest.raises(PalmetteError, match="partial_fit is for one path per row"):
        pm.LocalPerNodeClassifier(one_pass()).partial_fit(X, y, [{p} for p in PATHS] + [set()])
