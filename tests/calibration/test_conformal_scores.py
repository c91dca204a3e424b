"""Calibration scores: quantiles and ranks worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from palmette import PalmetteError
from palmette.calibration._conformal_answers import CalibrationScores, MissedShares

NINETEEN = np.random.default_rng(0).permutation(np.arange(1.0, 20.0))


def of(*parts):
    return CalibrationScores(list(parts), [np.ones(len(part)) for part in parts])


# with n rows it is the ceil(coverage (n + 1))-th score
@pytest.mark.parametrize(
    ("coverage", "expected"),
    [(0.05, 1.0), (0.5, 10.0), (0.51, 11.0), (0.9, 18.0), (0.95, 19.0), (0.951, np.inf)],
)
def test_the_quantile_worked_by_hand(coverage, expected):
    assert of(NINETEEN).quantile(coverage) == expected
    assert of(NINETEEN).suffices(coverage) == np.isfinite(expected)


def test_binary_fractions_cost_no_row():
    # 0.9 (n + 1) is a whole number for these n, whatever rounding makes of it
    for n_rows in (9, 19, 29, 99, 999):
        assert of(np.arange(1.0, n_rows + 1)).quantile(0.9) == round(0.9 * (n_rows + 1))


def test_equal_scores_are_held_together():
    scores = of(np.array([0.0, 0.0, 0.0, 1.0]))
    assert scores.quantile(0.5) == 0.0
    assert scores.includes([np.array([0.0, 0.5, 1.0])], 0.5).tolist() == [True, False, False]


def test_scores_are_included_up_to_the_quantile():
    new = np.linspace(0, 20, 41)
    for coverage in (0.05, 0.33, 0.5, 0.9, 0.95, 0.99):
        scores = of(NINETEEN)
        assert np.array_equal(scores.includes([new], coverage), new <= scores.quantile(coverage))


def test_ranks_add_up_over_models():
    scores = of(np.array([1.0, 3.0, 5.0]), np.array([10.0, 20.0]))
    # of six rows with the new one: below 4 stand two of the first model, below 15 one of the other
    for coverage, included in [(0.5, False), (0.51, True)]:
        assert scores.includes([np.array([4.0]), np.array([15.0])], coverage)[0] == included
    assert scores.scores.tolist() == [1, 3, 5, 10, 20]
    assert scores.total == 5
    same = of(NINETEEN[:9], NINETEEN[9:])  # models that agree are one model
    assert same.quantile(0.9) == 18.0
    assert np.array_equal(same.includes([NINETEEN] * 2, 0.9), NINETEEN <= 18.0)


def test_weights_count():
    scores = CalibrationScores([np.array([1.0, 2.0, 3.0])], [np.array([2.0, 0.5, 0.5])])
    # with a new row of weight one it is four in all
    assert scores.quantile(0.5) == 1.0
    assert scores.quantile(0.6) == 2.0
    assert scores.quantile(0.75) == 3.0
    assert scores.quantile(0.76) == np.inf


def test_sets_grow_with_the_coverage():
    scores, new = of(NINETEEN), np.linspace(0, 20, 41)
    sizes = [scores.includes([new], c).sum() for c in np.linspace(0.01, 0.99, 50)]
    assert (np.diff(sizes) >= 0).all()


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1, 2])
def test_coverage_is_a_probability(coverage):
    with pytest.raises(PalmetteError, match="expected a probability between 0 and 1"):
        of(NINETEEN).quantile(coverage)


# ---------------------------------------------------------------------- missed labels


def test_missed_labels_worked_by_hand():
    # ten rows of two labels each, one of 0.9 and one of 0.1, 0.2, ... 1: a half is lost for each
    proba = np.column_stack([np.full(10, 0.95), np.arange(1, 11) / 10]).ravel()
    shares = MissedShares(proba, np.full(10, 2), np.ones(10))
    # (missed / 2 + 1) / 11 <= 1 - coverage: none at 0.9, one at 0.85, nine at 0.5
    assert shares.threshold(0.9) == pytest.approx(0.1)
    assert shares.threshold(0.85) == pytest.approx(0.2)
    assert shares.threshold(0.5) == 0.95
    assert shares.threshold(0.92) == -np.inf
    assert not shares.suffices(0.92)


def test_the_expected_share_is_controlled():
    rng = np.random.default_rng(0)
    missed = []
    for _ in range(300):
        truth = rng.beta(3, 1, size=(60, 3))  # probabilities of three true labels a row
        shares = MissedShares(truth[:40].ravel(), np.full(40, 3), np.ones(40))
        missed.append((truth[40:] < shares.threshold(0.8)).mean())
    error = np.std(missed) / np.sqrt(len(missed))
    assert 0.2 - 2 / 41 - 3 * error < np.mean(missed) < 0.2 + 3 * error


def test_rows_without_labels_lose_nothing():
    with_empty = MissedShares(np.array([0.5]), np.array([0, 1, 0, 0]), np.ones(4))
    assert with_empty.threshold(0.5) == np.inf  # one row of five may be lost, and there is but one
