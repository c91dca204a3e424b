"""Comparison over data sets: the worked example of Demsar (2006), and bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from palmette.exceptions import PalmetteError
from palmette.metrics import compare_over_datasets, critical_difference, resampled_ttest

# AUC of C4.5 and three variants on 14 data sets, as in the paper. On "voting" .975 stands twice in
# print with ranks 2 and 3, so that the first must be the larger by less than the last digit.
DEMSAR = pd.DataFrame(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
    index=[f"set {i}" for i in range(14)],
)


def test_ranks_and_friedman_of_the_worked_example():
    result = compare_over_datasets(DEMSAR)
    assert result.methods == tuple(DEMSAR.columns)
    assert result.datasets == tuple(DEMSAR.index)
    np.testing.assert_allclose(result.average_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    # the paper's statistic 9.28 does not correct for ties: on iris, lung cancer and primary tumor
    # two are equal, on mushroom four
    ties = 1 - (3 * (2**3 - 2) + (4**3 - 4)) / (14 * (4**3 - 4))
    plain = result.friedman_statistic * ties
    assert plain == pytest.approx(9.28, abs=0.005)
    assert 13 * plain / (14 * 3 - plain) == pytest.approx(3.69, abs=0.005)
    assert result.friedman_pvalue == pytest.approx(stats.chi2.sf(plain / ties, 3), rel=1e-9)
    chi = result.friedman_statistic
    assert result.iman_davenport_statistic == pytest.approx(13 * chi / (14 * 3 - chi), rel=1e-12)


def test_critical_values_are_the_tabulated_ones():
    # two-tailed, for 2 to 10 methods
    nemenyi = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    nemenyi_10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
    dunn = [1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.734, 2.773]
    dunn_10 = [1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539]
    for alpha, name, table in [
        (0.05, "nemenyi", nemenyi),
        (0.10, "nemenyi", nemenyi_10),
        (0.05, "bonferroni-dunn", dunn),
        (0.10, "bonferroni-dunn", dunn_10),
    ]:
        for k, expected in enumerate(table, start=2):
            spread = np.sqrt(k * (k + 1) / 6)
            found = critical_difference(k, 1, alpha=alpha, posthoc=name) / spread
            assert found == pytest.approx(expected, abs=1e-3)


def test_nemenyi_of_the_worked_example():
    # at .10 the critical difference is 1.12: C4.5 differs from +m (1.143) and +m+cf (1.179)
    result = compare_over_datasets(DEMSAR, alpha=0.10)
    assert result.critical_difference == pytest.approx(1.12, abs=0.005)
    assert result.groups == [("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5")]
    assert (result.pvalues[0] < 0.10).tolist() == [False, True, False, True]
    # at .05 it is 1.25, and nothing differs
    result = compare_over_datasets(DEMSAR)
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)
    assert result.groups == [("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")]


def test_bonferroni_dunn_of_the_worked_example():
    # against plain C4.5 at .05: 1.17 (the paper cuts it to 1.16), so only +m+cf (1.179) differs
    result = compare_over_datasets(DEMSAR, posthoc="bonferroni-dunn", control="C4.5")
    differs = dict(zip(result.methods, result.pvalues[0] < 0.05, strict=True))
    assert differs == {"C4.5": False, "C4.5+m": False, "C4.5+cf": False, "C4.5+m+cf": True}
    # z = (3.143 - 1.964) / .488 = 2.416, p = .016, as in the paper, times three
    assert result.pvalues[0, 3] / 3 == pytest.approx(0.016, abs=5e-4)
    assert np.isnan(result.pvalues[1, 2])
    assert result.groups == [("C4.5+m", "C4.5+cf", "C4.5")]


def test_p_values_and_critical_differences_agree():
    rng = np.random.default_rng(0)
    scores = rng.random((20, 5)) + np.linspace(0, 0.8, 5)
    for name, control in [("nemenyi", None), ("bonferroni-dunn", 0)]:
        result = compare_over_datasets(scores, posthoc=name, control=control)
        gaps = np.abs(result.average_ranks[:, None] - result.average_ranks[None, :])
        compared = ~np.isnan(result.pvalues)
        assert np.array_equal(
            (result.pvalues < 0.05)[compared], (gaps > result.critical_difference)[compared]
        )


def test_wilcoxon_of_the_worked_example():
    # C4.5 against C4.5+m: the smaller rank sum is 12
    gaps = DEMSAR["C4.5+m"] - DEMSAR["C4.5"]
    assert stats.wilcoxon(gaps.round(3), zero_method="zsplit").statistic == 12
    raw = stats.wilcoxon(gaps.round(3), zero_method="zsplit").pvalue
    result = compare_over_datasets(DEMSAR, posthoc="wilcoxon-bonferroni", control="C4.5")
    assert result.pvalues[0, 1] == pytest.approx(3 * raw, rel=1e-9)
    everything = compare_over_datasets(DEMSAR, posthoc="wilcoxon-bonferroni")
    assert everything.pvalues[0, 1] == pytest.approx(6 * raw, rel=1e-9)
    assert np.array_equal(everything.pvalues, everything.pvalues.T)
    assert np.isnan(everything.critical_difference)


def test_holm_is_stepwise():
    rng = np.random.default_rng(1)
    scores = rng.random((12, 4)) + np.array([0, 0.2, 0.4, 0.6])
    raw = [
        stats.wilcoxon(scores[:, 0], scores[:, j], zero_method="zsplit").pvalue for j in (1, 2, 3)
    ]
    order = np.argsort(raw)
    steps = np.minimum(np.maximum.accumulate(np.sort(raw) * [3, 2, 1]), 1)
    expected = np.empty(3)
    expected[order] = steps
    result = compare_over_datasets(scores, posthoc="wilcoxon-holm", control=0)
    np.testing.assert_allclose(result.pvalues[0, 1:], expected, rtol=1e-12)


def test_losses_are_ranked_the_other_way_round():
    up = compare_over_datasets(DEMSAR)
    down = compare_over_datasets(-DEMSAR, higher_is_better=False)
    np.testing.assert_array_equal(up.ranks, down.ranks)
    np.testing.assert_allclose(up.pvalues, down.pvalues)


def test_the_same_order_everywhere_is_as_sure_as_can_be():
    result = compare_over_datasets(np.arange(5)[:, None] + [[0.1, 0.2, 0.3]])
    assert result.average_ranks.tolist() == [3, 2, 1]
    assert result.iman_davenport_statistic == np.inf
    assert result.iman_davenport_pvalue == 0


def test_two_methods_have_no_friedman_test():
    scores = np.random.default_rng(0).random((8, 2)) + np.array([0, 0.5])
    result = compare_over_datasets(scores, posthoc="wilcoxon-holm")
    assert np.isnan(result.friedman_pvalue)
    assert result.pvalues[0, 1] == stats.wilcoxon(*scores.T, zero_method="zsplit").pvalue


def test_identical_columns_do_not_differ():
    scores = np.random.default_rng(0).random((8, 3))
    scores[:, 1] = scores[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare_over_datasets(scores, posthoc="wilcoxon-holm")
    assert result.pvalues[0, 1] == 1.0


def test_too_few_data_sets_for_wilcoxon_are_named():
    scores = np.random.default_rng(0).random((5, 3))
    with pytest.warns(UserWarning, match="5 data sets and 3 comparisons no difference can") as seen:
        compare_over_datasets(scores, posthoc="wilcoxon-holm")
    assert seen[0].filename == __file__


def test_to_frame_goes_from_best_to_worst():
    frame = compare_over_datasets(DEMSAR).to_frame()
    assert frame.index.tolist() == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert frame["average rank"].is_monotonic_increasing
    assert frame.loc["C4.5", "p vs C4.5"] == 1.0


def test_p_values_are_those_of_another_program():
    posthocs = pytest.importorskip("scikit_posthocs")
    result = compare_over_datasets(DEMSAR)
    expected = np.asarray(posthocs.posthoc_nemenyi_friedman(DEMSAR.to_numpy()))
    np.testing.assert_allclose(result.pvalues, expected, rtol=1e-6)
    every = compare_over_datasets(DEMSAR, posthoc="wilcoxon-holm").pvalues
    raw = posthocs.posthoc_wilcoxon(DEMSAR.to_numpy().T, zero_method="zsplit", p_adjust="holm")
    np.testing.assert_allclose(every, np.asarray(raw), rtol=1e-6)


def test_two_data_sets_are_enough_for_a_test_that_finds_nothing():
    with pytest.warns(UserWarning, match="2 data sets and 3 comparisons"):
        result = compare_over_datasets([[1, 2, 3], [2, 3, 5]], posthoc="wilcoxon-holm")
    assert (result.pvalues >= 0.5).all()


def test_with_a_control_nothing_else_is_tested(monkeypatch):
    tested = []

    original = stats.wilcoxon
    monkeypatch.setattr(
        stats, "wilcoxon", lambda d, zero_method: (tested.append(d), original(d))[1]
    )
    result = compare_over_datasets(DEMSAR, posthoc="wilcoxon-holm", control="C4.5+m")
    assert len(tested) == 3
    assert np.isnan(result.pvalues[0, 2])


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([[1, 2, 3]], {}, r"shape \(1, 3\): expected at least 2 data sets"),
        ([[1], [2]], {}, "2 methods"),
        ([[1, 2], [3, np.nan]], {}, "score of 1 on data set 1 is nan"),
        ([[1, "x"], [2, 3]], {}, "not numbers"),
        ([[1, 1, 1], [2, 2, 2]], {}, "equal scores on every data set"),
        ([[1, 2], [2, 3]], {"methods": ["a"]}, "1 different names for 2 methods"),
        ([[1, 2], [2, 3]], {"posthoc": "tukey"}, "posthoc='tukey'"),
        ([[1, 2], [2, 3]], {"posthoc": "bonferroni-dunn"}, "pass control="),
        ([[1, 2], [2, 3]], {"control": 0}, "drop control="),
        ([[1, 2], [2, 3]], {"control": "z", "posthoc": "wilcoxon-holm"}, "control='z'"),
        ([[1, 2], [2, 3]], {"alpha": 5}, "alpha=5"),
    ],
)
def test_bad_input_is_named(scores, options, message):
    with pytest.raises(PalmetteError, match=message):
        compare_over_datasets(scores, **options)


def test_bad_arguments_of_the_critical_difference_are_named():
    with pytest.raises(PalmetteError, match="got 1 methods"):
        critical_difference(1, 5)
    with pytest.raises(PalmetteError, match="posthoc='wilcoxon-holm'"):
        critical_difference(3, 5, posthoc="wilcoxon-holm")


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
