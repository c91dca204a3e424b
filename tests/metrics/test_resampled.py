"""The corrected t-test: less sure than the plain one, and its ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from palmette.exceptions import PalmetteError
from palmette.metrics import resampled_ttest


def test_it_is_the_plain_test_with_more_variance():
    values = np.random.default_rng(0).normal(0.3, 1.0, 10)
    plain = stats.ttest_1samp(values, 0.0)
    statistic, pvalue = resampled_ttest(values, 0.2)
    assert statistic == pytest.approx(plain.statistic / np.sqrt(1 + 10 * 0.25))
    assert pvalue == pytest.approx(2 * stats.t.sf(abs(statistic), 9))
    assert pvalue > plain.pvalue


def test_the_same_difference_everywhere():
    assert resampled_ttest([0.0, 0.0, 0.0], 0.3) == (0.0, 1.0)
    assert resampled_ttest([-0.1, -0.1, -0.1], 0.3) == (-np.inf, 0.0)


@pytest.mark.parametrize(
    ("values", "share", "message"),
    [([1.0], 0.3, "shape"), ([1.0, np.nan], 0.3, "number"), ([1.0, 2.0], 1.0, "test_share=1.0")],
)
def test_mistakes(values, share, message):
    with pytest.raises(PalmetteError, match=message):
        resampled_ttest(values, share)
