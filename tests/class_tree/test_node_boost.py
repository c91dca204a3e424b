"""Binary AdaBoost at a node: what its votes are, stage by stage."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.class_tree._node_boost import NodeVotes, boost_node
from palmette.trees._binning import BinnedRows
from palmette.trees._carts import CartSettings

N = 80


def table(seed=0, times=None):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 20, size=(N, 5)).astype(np.uint8)
    weights = np.ones(N) if times is None else times
    return BinnedRows(codes, np.full(5, 20), weights.astype(np.float32))


def sides(rows, seed=1):
    return (rows.codes[:, 0] > 9) ^ (np.random.default_rng(seed).random(len(rows.codes)) < 0.15)


def seeds(number):
    return np.random.SeedSequence(3).generate_state(number, np.uint64)


def boost(rows, positive, index=None, n_rounds=12, **parameters):
    index = np.arange(len(rows.codes), dtype=np.int32) if index is None else index
    return boost_node(rows, index, positive, CartSettings(**parameters), seeds(n_rounds))


def said(votes, codes):
    """What each tree says to rows: (n_rounds, n_rows)."""
    return np.where(votes.carts.places(codes).T == 2, 1.0, -1.0)


@pytest.mark.parametrize("resample", [True, 0.5, False])
def test_scores_are_mean_votes(resample):
    rows = table()
    votes = boost(rows, sides(rows), resample=resample, max_depth=2)
    expected = votes.coefficients @ said(votes, rows.codes) / votes.coefficients.sum()
    np.testing.assert_allclose(votes.scores(rows.codes), expected, atol=1e-14)
    assert np.abs(votes.scores(rows.codes)).max() <= 1 + 1e-12
    some = np.array([7, 3, 3], dtype=np.int32)
    assert np.array_equal(votes.scores(rows.codes, some), votes.scores(rows.codes)[some])


def test_stages_are_shorter_fits_and_the_last_is_the_whole():
    rows = table()
    votes = boost(rows, sides(rows))
    stages = list(votes.staged_scores(rows.codes))
    assert len(stages) == 12
    assert stages[-1].tobytes() == votes.scores(rows.codes).tobytes()
    shorter = boost(rows, sides(rows), n_rounds=5)
    assert stages[4].tobytes() == shorter.scores(rows.codes).tobytes()


def test_coefficients_are_those_of_adaboost():
    """Followed by hand: weights times exp(-coefficient * vote * sign), errors at least .001."""
    rows = table()
    positive = sides(rows)
    votes = boost(rows, positive, max_depth=2)
    signs, weights = np.where(positive, 1.0, -1.0), np.full(N, 1.0 / N)
    for coefficient, vote in zip(votes.coefficients, said(votes, rows.codes), strict=True):
        error = max(weights[vote != signs].sum(), 1e-3)
        assert coefficient == pytest.approx(max(0.0, 0.5 * np.log((1 - error) / error)))
        weights = weights * np.exp(-coefficient * vote * signs)
        weights /= weights.sum()


def test_only_the_rows_of_the_node_count_in_any_order():
    rows = table()
    index = np.random.default_rng(0).permutation(N)[:50].astype(np.int32)
    votes = boost(rows, sides(rows)[index], index)
    order = np.argsort(index)
    again = boost(rows, sides(rows)[index][order], index[order])
    other = sides(rows).copy()
    other[np.setdiff1d(np.arange(N), index)] ^= True
    assert np.array_equal(votes.scores(rows.codes), again.scores(rows.codes))
    assert np.array_equal(
        votes.scores(rows.codes), boost(rows, other[index], index).scores(rows.codes)
    )


@pytest.mark.parametrize("resample", [True, 0.5, False])
def test_a_weight_of_k_is_k_copies_and_of_zero_is_none(resample):
    times = np.random.default_rng(0).integers(0, 4, N)
    rows = table(times=times)
    kept = np.flatnonzero(times).astype(np.int32)
    weighted = boost(rows, sides(rows)[kept], kept, resample=resample)
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(N), times))
    repeated = BinnedRows(rows.codes[copies], rows.n_bins, np.ones(len(copies), np.float32))
    again = boost(repeated, sides(rows)[copies], resample=resample)
    np.testing.assert_allclose(weighted.scores(rows.codes), again.scores(rows.codes), atol=1e-9)


@pytest.mark.parametrize("side", [True, False])
def test_one_group_is_what_is_said(side):
    rows = table()
    votes = boost(rows, np.full(N, side))
    np.testing.assert_allclose(votes.scores(rows.codes), 1.0 if side else -1.0)


def test_rows_that_cannot_be_told_apart_leave_no_vote():
    codes = np.zeros((6, 2), dtype=np.uint8)
    rows = BinnedRows(codes, np.ones(2), np.ones(6, dtype=np.float32))
    votes = boost(rows, np.arange(6) < 3, resample=False)
    assert (votes.coefficients == 0).all()
    assert votes.scores(codes).tolist() == [0.0] * 6
    assert [stage.tolist() for stage in votes.staged_scores(codes)] == [[0.0] * 6] * 12


def test_boosting_goes_on_after_a_tree_without_a_mistake():
    """The known trap: a full tree of all rows fits them, and AdaBoost would end after it."""
    rows = table()
    votes = boost(rows, rows.codes[:, 0] > 9, max_features=None, resample=False)
    assert isinstance(votes, NodeVotes)
    np.testing.assert_allclose(votes.coefficients, 0.5 * np.log(0.999 / 0.001))
    assert np.array_equal(votes.scores(rows.codes) > 0, rows.codes[:, 0] > 9)
