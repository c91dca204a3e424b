"""The bootstrap draws groups of rows, and is a bootstrap over rows."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.exceptions import PalmetteError
from palmette.reporting._intervals import Interval, bootstrap, wilson_interval, with_spread


def share_of_first(drawn):
    return drawn[:, :1] / drawn.sum(axis=1, keepdims=True)


def test_the_same_seed_gives_the_same_interval_and_another_another():
    sizes = np.array([70, 30])
    runs = [bootstrap(share_of_first, sizes, n_resamples=200, seed=seed)[0] for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_chunks_of_draws_change_nothing():
    sizes = np.arange(1, 30)
    figure = lambda drawn: (drawn @ np.arange(29) / drawn.sum(axis=1))[:, None]  # noqa: E731
    whole, cut = (
        bootstrap(figure, sizes, n_resamples=50, seed=3, width=width) for width in (1, 2**22)
    )
    assert whole == cut


def test_groups_stand_for_their_rows():
    """Percentiles of a share agree with those of the binomial distribution of that share."""
    from scipy import stats

    [found] = bootstrap(share_of_first, np.array([300, 100]), n_resamples=20_000, seed=0)
    low, high = stats.binom(400, 0.75).ppf([0.025, 0.975]) / 400
    assert found.value == 0.75
    assert abs(found.low - low) <= 1 / 400
    assert abs(found.high - high) <= 1 / 400


def test_every_draw_has_as_many_rows_as_there_are():
    totals = []

    def watch(drawn):
        totals.extend(drawn.sum(axis=1).tolist())
        return np.zeros((len(drawn), 1))

    bootstrap(watch, np.array([3, 5, 2]), n_resamples=7, seed=0)
    assert totals == [10] * 8


def test_no_resamples_no_bounds():
    [found] = bootstrap(share_of_first, np.array([3, 1]), n_resamples=0, seed=0)
    assert found.value == 0.75
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize("n_resamples", [-1, 2.5, "many"])
def test_odd_numbers_of_resamples(n_resamples):
    with pytest.raises(PalmetteError, match="n_bootstrap="):
        bootstrap(share_of_first, np.array([1]), n_resamples=n_resamples, seed=0)


@pytest.mark.parametrize("n_rows", [1, 5, 40, 1000])
def test_an_interval_without_spread_is_that_of_wilson(n_rows):
    """The bootstrap of a share of 0 or 1 is one point, however few rows there are."""
    for value in (0.0, 1.0):
        found = with_spread(Interval(value, value, value), n_rows, (0.0, 1.0))
        expected = wilson_interval(round(value * n_rows), n_rows)
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


def test_wilson_s_interval_is_that_of_scipy():
    from scipy.stats import binomtest

    for n_right, n_rows in ((0, 3), (40, 40), (7, 9), (95, 100)):
        found = binomtest(n_right, n_rows).proportion_ci(0.95, method="wilson")
        assert wilson_interval(n_right, n_rows) == pytest.approx((found.low, found.high), abs=1e-12)
