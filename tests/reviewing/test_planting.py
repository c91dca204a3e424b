"""Planted wrong labels: claims about wrong labels are true, and few where there are none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from palmette.reviewing import review
from palmette.reviewing._planting import Calibration, any_labels, confused_labels
from palmette.table import fit_table


def test_any_other_label_is_equally_probable():
    known = np.array([0, 2, 3, 7])
    codes = np.repeat(known, 3000)
    drawn = any_labels(codes, known, np.random.default_rng(0))
    assert (drawn != codes).all()
    for code in known.tolist():
        values, counts = np.unique(drawn[codes == code], return_counts=True)
        np.testing.assert_array_equal(values, known[known != code])
        np.testing.assert_allclose(counts / 3000, 1 / 3, atol=0.03)


def test_confused_labels_have_the_mean_probabilities_of_rows_with_the_same_label():
    rng = np.random.default_rng(0)
    proba = np.repeat([[0.6, 0.3, 0.1, 0.0], [0.0, 0.5, 0.0, 0.5]], 2000, axis=0)
    codes = np.repeat([0, 1], 2000)
    drawn = confused_labels(proba, codes, np.arange(4), rng)
    shares = np.bincount(drawn[:2000], minlength=4) / 2000
    np.testing.assert_allclose(shares, [0.0, 0.75, 0.25, 0.0], atol=0.03)
    assert set(drawn[2000:]) == {3}


def test_a_label_of_one_row_is_replaced_by_any_other_label():
    proba = np.tile([1.0, 0.0, 0.0], (3, 1))
    drawn = [
        confused_labels(proba, np.array([0, 1, 2]), np.arange(3), np.random.default_rng(seed))
        for seed in range(40)
    ]
    for code, column in enumerate(np.array(drawn).T):
        assert set(column) == {0, 1, 2} - {code}


def scores(n_right, n_wrong, seed):
    """Return scores of right labels, which reach into those of wrong ones, of wrong and planted."""
    rng = np.random.default_rng(seed)
    planted = rng.normal(1, 1, (6000, 1))
    return rng.normal(-2, 1.2, (n_right, 1)), rng.normal(1, 1, (n_wrong, 1)), planted


@pytest.mark.parametrize("seed", range(3))
def test_the_share_and_the_probabilities_are_true(seed):
    right, wrong, planted = scores(1800, 200, seed)
    doubts = np.concatenate([right, wrong])
    calibration = Calibration(doubts, [planted])
    low, high = calibration.interval_
    assert low <= 0.1 <= high
    assert high - low < 0.12
    p = calibration.wrong(doubts)
    listed = p >= 0.5
    assert p[listed].mean() == pytest.approx((np.arange(2000) >= 1800)[listed].mean(), abs=0.1)
    order = np.argsort(calibration.scores(doubts))
    assert (np.diff(p[order]) >= -1e-9).all()


@pytest.mark.parametrize("seed", range(3))
def test_no_wrong_labels_are_few(seed):
    right, _, planted = scores(2000, 0, seed)
    calibration = Calibration(right, [planted])
    assert calibration.interval_[0] == 0.0
    assert calibration.wrong(right).sum() < 20


def test_an_interval_counts_every_kind_of_errors():
    right, wrong, planted = scores(1800, 200, 0)
    doubts = np.concatenate([right, wrong])
    similar = planted - 1.5
    narrow = Calibration(doubts, [planted]).interval_
    both = Calibration(doubts, [planted, similar])
    assert both.interval_[1] > narrow[1] + 0.02
    assert both.share_ == pytest.approx(0.1, abs=0.03)


def table_with_errors(share, seed=0):
    """Return four groups of points, some of them with the label of another one."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 4, 700)
    centres = np.array([[0, 0, 0], [3, 0, 0], [0, 3, 0], [3, 3, 2]])
    X = centres[kinds] + rng.normal(0, 1.0, (700, 3))
    wrong = rng.random(700) < share
    given = np.where(wrong, (kinds + rng.integers(1, 4, 700)) % 4, kinds)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return frame.assign(kind=[f"kind {code}" for code in given]), wrong


def reviewed(share):
    frame, wrong = table_with_errors(share)
    settings = {"router": "logistic"}
    model = fit_table(frame, "kind", model="class-tree", folds=0, settings=settings)
    return review(model, frame, folds=3, top=None), wrong


def test_a_review_claims_what_was_planted():
    found, wrong = reviewed(0.05)
    rows = found[found["finding"] == "wrong label"]
    assert len(rows) > 10
    assert rows["score"].mean() == pytest.approx(wrong[rows["row"]].mean(), abs=0.15)
    facts = found.attrs["review"]
    low, high = facts["expected_interval"]
    assert low <= wrong.sum() <= high
    assert facts["expected_wrong"] == pytest.approx(wrong.sum(), rel=0.4)


def test_a_review_expects_few_wrong_labels_where_there_are_none():
    facts = reviewed(0.0)[0].attrs["review"]
    assert facts["expected_wrong"] < 7
    assert facts["expected_interval"][0] == 0.0
