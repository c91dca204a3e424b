"""Conformal sets where rows have labels that the model has seen no row of."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB

import palmette as pm
from palmette.calibration import ConformalHierarchicalClassifier

N_GROUPS, N_EACH, N_DRAWS = 12, 8, 15
TREE = pm.Hierarchy.from_paths(
    [(f"g{i}", f"g{i}.{j}") for i in range(N_GROUPS) for j in range(N_EACH)]
)
COVERAGES = (0.6, 0.8, 0.9)


def draw(n_rows, rng):
    """Rows of groups that are easy to tell, with many rare labels: two of each group are common."""
    groups = rng.integers(0, N_GROUPS, n_rows)
    shares = np.array([6, 3, 1, 0.5, 0.5, 0.3, 0.3, 0.3])
    members = rng.choice(N_EACH, n_rows, p=shares / shares.sum())
    places = np.random.default_rng(0).normal(size=(N_GROUPS, 3)) * 4
    inside = np.random.default_rng(1).normal(size=(N_GROUPS, N_EACH, 3))
    X = places[groups] + inside[groups, members] + 0.7 * rng.normal(size=(n_rows, 3))
    return X, np.array([f"g{i}.{j}" for i, j in zip(groups, members, strict=True)])


def model(hierarchy, **parameters):
    bayes = GaussianNB(var_smoothing=0.1)
    return ConformalHierarchicalClassifier(bayes, hierarchy=hierarchy, random_state=0, **parameters)


def shares_held(clf, X, y, coverages=COVERAGES):
    sets = [clf.predict_set(X, coverage) for coverage in coverages]
    return [np.mean([label in each for label, each in zip(y, s, strict=True)]) for s in sets]


@pytest.mark.parametrize(
    ("method", "set_score"), [("split", "lac"), ("split", "aps"), ("cross", "lac")]
)
def test_a_given_hierarchy_keeps_the_promise(method, set_score):
    rng = np.random.default_rng(0)
    found = np.zeros((N_DRAWS, len(COVERAGES)))
    for i in range(N_DRAWS):
        X, y = draw(160, rng)
        clf = model(TREE, method=method, set_score=set_score, cv=3).fit(X, y)
        assert len(clf.classes_) < TREE.n_leaves
        found[i] = shares_held(clf, *draw(200, rng))
    errors = found.std(axis=0, ddof=1) / np.sqrt(N_DRAWS)
    assert (found.mean(axis=0) >= np.array(COVERAGES) - 2 * errors - 0.005).all()


def test_sets_have_leaves_without_rows_and_covers_the_nodes_above_them():
    X, y = draw(160, np.random.default_rng(0))
    clf = model(TREE).fit(X, y)
    nodes = np.unique(clf.predict_set_nodes(X, 0.95).indices)
    unseen = set(TREE.names[TREE.leaves].tolist()) - set(clf.classes_.tolist())
    assert unseen & set(TREE.names[nodes].tolist())
    for labels, cover in zip(clf.predict_set(X, 0.95), clf.predict_cover(X, 0.95), strict=True):
        below = {name for node in cover for name in _leaves_below(node)}
        assert labels == below


def _leaves_below(name):
    node = TREE.index(name)
    inside = TREE.leaves[(TREE.leaves >= node) & (TREE.leaves < TREE.subtree_end[node])]
    return TREE.names[inside].tolist()


def test_a_promise_that_cannot_be_kept_is_told_with_what_can():
    rng = np.random.default_rng(0)
    X, y = draw(120, rng)
    with pytest.warns(
        UserWarning, match="sets cannot have coverage=0.95: they contain every"
    ) as told:
        clf = model(None, coverage=0.95, answer="set").fit(X, y)
    n_missed = np.isinf(clf.calibration_scores_).sum()
    numbers = re.search(
        r"(\d+) of 30 .* about (\S+) \+- (\S+)\. .* at most (\S+)\.$", str(told[0].message)
    )
    missed, kept, error, possible = (float(number) for number in numbers.groups())
    assert (missed, possible) == (n_missed, np.floor(100 * (30 - n_missed) / 31) / 100)
    shown, truth = draw(3000, rng)
    assert clf.predict_set(shown) == [set(clf.classes_.tolist())] * len(shown)
    assert abs(shares_held(clf, shown, truth, [0.95])[0] - kept) < error
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what can be kept is kept without a warning
        assert shares_held(clf, shown, truth, [possible - 0.01])[0] > possible - 0.1


def test_sets_of_nodes_count_unseen_nodes_as_missed():
    X, y = draw(80, np.random.default_rng(0))
    sets = [{label, other} for label, other in zip(y, [*y[:40], *y[:40]], strict=True)]
    clf = ConformalHierarchicalClassifier(
        OneVsRestClassifier(GaussianNB()), hierarchy=TREE, random_state=0, calibration_size=0.4
    ).fit(X, sets)
    assert clf.several_paths_
    assert np.isinf(clf.calibration_scores_).any()


@pytest.mark.data
@pytest.mark.parametrize("n_rows", [300, 600])
def test_the_promise_is_kept_on_diatoms(data_home, n_rows):
    bunch = pm.datasets.fetch("diatoms", data_home=data_home)
    X = np.vstack([bunch.X_train, bunch.X_test])
    y = np.concatenate([bunch.y_train, bunch.y_test])
    found = []
    for seed in range(6):
        rows = np.random.default_rng(seed).permutation(len(y))
        clf = model(bunch.hierarchy).fit(X[rows[:n_rows]], y[rows[:n_rows]])
        rest = rows[n_rows : n_rows + 300]
        found += shares_held(clf, X[rest], y[rest], [0.9])
    assert np.mean(found) > 0.9 - 2 * np.std(found, ddof=1) / np.sqrt(len(found))
