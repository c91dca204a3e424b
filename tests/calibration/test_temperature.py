"""The power of shares: hand-worked cases and laws."""

from __future__ import annotations

import numpy as np

from palmette.calibration._curves import FamilyScores, fit_family_temperature, not_zero


def scores(power, n_rows=4000, n_options=3, seed=0):
    """Shares whose truth was drawn by the shares to a power."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(n_options), size=n_rows)
    true = share**power / (share**power).sum(axis=1, keepdims=True)
    chosen = (np.cumsum(true, axis=1) < rng.random((n_rows, 1))).sum(axis=1)
    return FamilyScores(share, chosen.clip(max=n_options - 1).astype(np.int32), np.ones(n_rows))


def test_the_power_that_made_the_labels_is_found():
    for power in (0.5, 1.0, 2.0):
        np.testing.assert_allclose(fit_family_temperature([scores(power)]), power, rtol=0.08)


def test_families_of_any_width_have_one_power():
    parts = [scores(1.5, n_options=k, seed=k) for k in (2, 3, 5, 8)]
    np.testing.assert_allclose(fit_family_temperature(parts), 1.5, rtol=0.08)
    # a family in two parts is the same family
    one = parts[1]
    halves = [FamilyScores(*(array[i::2] for array in one)) for i in range(2)]
    np.testing.assert_allclose(
        fit_family_temperature([one]), fit_family_temperature(halves), rtol=1e-9
    )


def test_where_no_row_is_wrong_there_is_a_limit():
    for n_rows in (10, 1000):
        share = np.tile([0.7, 0.3], (n_rows, 1))
        seen = FamilyScores(share, np.zeros(n_rows, dtype=np.int32), np.ones(n_rows))
        odds = (not_zero(share)[0, 0] / not_zero(share)[0, 1]) ** fit_family_temperature([seen])
        # the truth is either option in one of n + 2 rows, so that half of these are errors
        np.testing.assert_allclose(1 / (1 + odds), 0.5 / (n_rows + 2), rtol=1e-3)


def test_a_truth_that_was_thought_impossible_does_not_decide_alone():
    sure = np.tile([1.0, 0.0], (1000, 1))
    chosen = np.zeros(1000, dtype=np.int32)
    chosen[0] = 1
    assert fit_family_temperature([FamilyScores(sure, chosen, np.ones(1000))]) > 0.5


def test_a_weight_of_k_is_k_copies_and_nothing_seen_changes_nothing():
    seen = scores(2.0, n_rows=60)
    weight = np.arange(60) % 3 + 1.0
    copies = np.repeat(np.arange(60), weight.astype(int))
    repeated = FamilyScores(seen.share[copies], seen.chosen[copies], np.ones(len(copies)))
    weighted = fit_family_temperature([seen._replace(weight=weight)])
    np.testing.assert_allclose(weighted, fit_family_temperature([repeated]), rtol=1e-9)
    assert fit_family_temperature([]) == 1.0
