"""MrmrScore, compared with a greedy search that recomputes all counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.feature_selection.node_problems import (
    both_forms,
    problem,
    rows_and_classes,
    scores_of,
    two_options,
)

from palmette import PalmetteError
from palmette.feature_selection._mrmr import MrmrScore


def information(a, b):
    total = 0.0
    for x in np.unique(a):
        for y in np.unique(b):
            joint = np.mean((a == x) & (b == y))
            if joint > 0:
                total += joint * np.log(joint / (np.mean(a == x) * np.mean(b == y)))
    return total


def three_bins(column, of):
    low, high = of.mean() - 0.5 * of.std(), of.mean() + 0.5 * of.std()
    return (column > low).astype(int) + (column > high)


def literal_order(X, codes, n_wanted, criterion="difference", edges_from=None):
    edges_from = X if edges_from is None else edges_from
    binned = [three_bins(*columns) for columns in zip(X.T, edges_from.T, strict=True)]
    left = [j for j, column in enumerate(binned) if len(np.unique(column)) > 1]
    order = []
    while left and len(order) < n_wanted:
        merit = []
        for j in left:
            relevance = information(binned[j], codes)
            if order:
                shared = np.mean([information(binned[j], binned[s]) for s in order])
                relevance = relevance - shared if criterion == "difference" else relevance / shared
            merit.append(relevance)
        order.append(left.pop(int(np.argmax(merit))))
    return order


@pytest.mark.parametrize("per_node", [False, True], ids=["all rows", "rows of the node"])
@pytest.mark.parametrize("criterion", ["difference", "quotient"])
def test_features_come_in_the_order_of_the_greedy_search(criterion, per_node):
    X, classes = rows_and_classes()
    X[:, 7] += 1e-3 * X[:, 0]
    score = MrmrScore(criterion=criterion, per_node=per_node)
    found = scores_of(score, X, classes)
    for row, task in zip(found, problem(X, classes).tasks(), strict=True):
        own = X[task.rows]
        expected = literal_order(own, task.codes, 8, criterion, own if per_node else X)
        assert np.argsort(-row, kind="stable")[:8].tolist() == expected
        assert row[3] == 0.0  # constant
        assert sorted(row[expected].tolist(), reverse=True) == pytest.approx(
            (1 - np.arange(8) / 9).tolist()
        )


def test_fewer_features_are_the_beginning_of_more():
    X, classes = rows_and_classes(n_features=20)
    whole = scores_of(MrmrScore(), X, classes)
    few = scores_of(MrmrScore(), X, classes, n_wanted=4)
    for one, other in zip(few, whole, strict=True):
        chosen = np.flatnonzero(one)
        assert len(chosen) == 4
        assert np.argsort(-other)[:4].tolist() == chosen[np.argsort(-one[chosen])].tolist()


def test_a_copy_of_a_chosen_feature_waits_for_the_others():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 60)
    strong, weak = codes + 0.2 * rng.normal(size=120), codes + rng.normal(size=120)
    X = np.column_stack([strong, strong, weak])
    [found] = MrmrScore().score(two_options(X, codes)).rows()
    assert np.argsort(-found).tolist() == [0, 2, 1]


@pytest.mark.parametrize("bins", ["deviation", "round", "values", 2, 4])
def test_sparse_rows_are_dense_rows(bins):
    X, classes = rows_and_classes()
    dense, packed = both_forms(np.round(X, 1))
    one, other = (scores_of(MrmrScore(bins), rows, classes) for rows in (dense, packed))
    np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("bins", ["deviation", "round", 3])
def test_a_weight_of_k_is_k_copies(bins):
    X, classes = rows_and_classes()
    dense, packed = both_forms(X)
    weights = np.arange(len(X)) % 3 + 1
    copies = np.repeat(np.arange(len(X)), weights)
    expected = scores_of(MrmrScore(bins), dense[copies], classes[copies])
    for rows in (dense, packed):
        found = scores_of(MrmrScore(bins), rows, classes, weights=weights.astype(float))
        np.testing.assert_allclose(found, expected)


def test_whole_numbers_leave_small_features_in_one_bin():
    X, classes = rows_and_classes()
    found = scores_of(MrmrScore("round"), 1e-3 * X, classes)
    assert (found == 0.0).all()
    assert (scores_of(MrmrScore(), 1e-3 * X, classes) > 0.0).any()


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (MrmrScore("quantile"), "bins='quantile': expected"),
        (MrmrScore(1), "bins=1: expected 2 or more"),
        (MrmrScore(criterion="ratio"), "criterion='ratio': expected"),
    ],
    ids=str,
)
def test_unknown_settings_are_described(score, message):
    X, classes = rows_and_classes()
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(PalmetteError, match=message):
            scores_of(score, rows, classes)
