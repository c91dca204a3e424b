"""Fits of large data: `n_jobs` changes no bit, and rounds go on where they stopped."""

from __future__ import annotations

import numpy as np
import pytest

import palmette as pm
from palmette.base._fitting import Threads
from palmette.boosting import _block_sums, _block_tree, _growing_rows
from palmette.boosting._boost import BundledLearner
from palmette.boosting._weak import SharedTree, TrainingRows

N = 4000
NAMES = [(f"{a}", f"{a}.{b}") for a in range(6) for b in range(4)]


@pytest.fixture(autouse=True)
def worth_threads(monkeypatch):
    """Blocks of 200 rows or so, each of which is worth a thread."""
    monkeypatch.setattr(_block_sums, "_FEW_NUMBERS", 2**12)
    for module in (_block_sums, _block_tree, _growing_rows):
        monkeypatch.setattr(module, "WORTH", 2**10)


def make_data(several=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 9))
    X[:, 5] = np.round(X[:, 5])
    X[rng.random(X.shape) < 0.1] = np.nan
    match = np.nan_to_num(X[:, :5]) @ rng.normal(size=(5, len(NAMES)))
    order = np.argsort(-match - rng.normal(size=match.shape), axis=1)
    if several:
        return X, [{NAMES[j] for j in row[: 1 + i % 3]} for i, row in enumerate(order)]
    return X, [NAMES[row[0]] for row in order]


def parts_of(rounds):
    for each in rounds:
        yield from getattr(each, "parts", (each,))


def bits_of(model):
    names = ("features", "cuts", "leaf_at", "values", "cover")
    arrays = [getattr(part, name) for part in parts_of(model.rounds_) for name in names]
    return [each.tobytes() for each in (*arrays, model.train_loss_)]


BAGS = {"loss": ("leaf_softmax", "path_softmax"), "n_bags": 2, "subsample": 0.8}
ONE_PATH = {
    "labels": {},
    "deep": {"max_depth": 8, "min_samples_leaf": 3},
    "paths": {"loss": "path_softmax"},
    "half of the rows": {"subsample": 0.5},
    "all features": {"max_features": None, "max_depth": 3},
    "nodes": {"loss": "logistic"},
    "exponential": {"loss": "exponential"},
    "bags": BAGS,
    "early stopping": {"n_iter_no_change": 2},
    "best thresholds": {"thresholds": "best", "max_depth": 2},
}
SEVERAL = {
    "nodes": {},
    "half of the rows": {"subsample": 0.5, "max_depth": 4},
    "exponential": {"loss": "exponential"},
    "bags": {"n_bags": 3},
}


def check_bits(X, y, weights=None, **options):
    expected = None
    for n_jobs in (1, 2, 3, 5):
        given = {"n_bags": 1, "n_estimators": 4, "random_state": 0, **options}
        model = pm.HierarchicalBoostingClassifier(n_jobs=n_jobs, **given)
        model.fit(X, y, sample_weight=weights)
        assert len(model.rounds_) == 4
        expected = expected or bits_of(model)
        assert bits_of(model) == expected


@pytest.mark.parametrize("case", ONE_PATH)
def test_the_number_of_threads_changes_no_bit(case):
    check_bits(*make_data(), **ONE_PATH[case])


@pytest.mark.parametrize("case", SEVERAL)
def test_the_number_of_threads_changes_no_bit_of_several_paths(case):
    check_bits(*make_data(several=True), **SEVERAL[case])


@pytest.mark.parametrize("several", [False, True])
def test_the_number_of_threads_changes_no_bit_with_weights(several):
    check_bits(*make_data(several), weights=np.random.default_rng(1).random(N) + 0.5)


@pytest.mark.parametrize("loss", ["leaf_softmax", "path_softmax", "logistic"])
def test_a_fit_in_two_parts_is_one_fit(loss):
    X, y = make_data()
    options = {"loss": loss, "n_bags": 1, "random_state": 0, "warm_start": True}
    whole = pm.HierarchicalBoostingClassifier(n_estimators=5, **options).fit(X, y)
    parts = pm.HierarchicalBoostingClassifier(n_estimators=2, n_jobs=2, **options).fit(X, y)
    parts.set_params(n_estimators=5).fit(X, y)
    assert bits_of(parts) == bits_of(whole)


def test_staged_scores_end_where_the_fit_did():
    X, y = make_data()
    model = pm.HierarchicalBoostingClassifier(n_bags=1, n_estimators=3, random_state=0, n_jobs=2)
    last = list(model.fit(X, y).staged_predict_proba(X))[-1]
    np.testing.assert_allclose(last, model.predict_proba(X), rtol=1e-6)
    assert (np.diff(model.train_loss_) < 0).all()


class Watched(SharedTree):
    """A learner that notes how many of its kind grow at once."""

    now = most = 0

    def grow(self, rows, signed, chosen, seed):
        Watched.now += 1
        Watched.most = max(Watched.most, Watched.now)
        grown = super().grow(rows, signed, chosen, seed)
        Watched.now -= 1
        return grown


@pytest.mark.parametrize(("n_threads", "most"), [(1, 1), (2, 2), (3, 1)])
def test_threads_serve_members_first_and_then_blocks(n_threads, most):
    """With more threads than members, members take turns, and each has all threads."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 50, size=(N, 6)).astype(np.uint8)
    signed = [rng.normal(size=(N, 20)).astype(np.float32) for _ in range(2)]
    with Threads(n_threads) as threads:
        rows = TrainingRows(codes, np.full(6, 50), np.ones(N, np.float32), threads=threads)
        Watched.now = Watched.most = 0
        grown = BundledLearner([Watched(6), Watched(6)]).grow(rows, signed, None, 0)
    assert Watched.most <= most
    alone = BundledLearner([SharedTree(6)] * 2).grow(
        TrainingRows(codes, np.full(6, 50), np.ones(N, np.float32)), signed, None, 0
    )
    for a, b in zip(grown, alone, strict=True):
        assert np.array_equal(a.leaf, b.leaf)
