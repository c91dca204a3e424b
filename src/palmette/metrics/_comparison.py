"""Comparison of methods, over several data sets or over random splits of one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray
from palmette._text import caller_level
from palmette.exceptions import PalmetteError
from palmette.labels._containers import column_names, row_index

Posthoc = Literal["nemenyi", "bonferroni-dunn", "wilcoxon-holm", "wilcoxon-bonferroni"]
_POSTHOCS = ("nemenyi", "bonferroni-dunn", "wilcoxon-holm", "wilcoxon-bonferroni")


@dataclass(frozen=True)
class DatasetComparison:
    """What `compare_over_datasets` found.

    Attributes
    ----------
    methods : tuple
        In the order of the columns.
    datasets : tuple
    ranks : float array of shape (n_datasets, n_methods)
        1 is best; ties get the mean of their ranks.
    average_ranks : float array of shape (n_methods,)
    friedman_statistic, friedman_pvalue : float
        Chi-squared, corrected for ties; NaN for two methods.
    iman_davenport_statistic, iman_davenport_pvalue : float
        The less conservative F statistic computed from it.
    posthoc : str
    control : object or None
        The method with which the others are compared; None: all pairs.
    pvalues : float array of shape (n_methods, n_methods)
        Of the post-hoc test, corrected for the number of comparisons; 1 on the diagonal, NaN where
        nothing was compared.
    critical_difference : float
        Difference of average ranks that is significant; NaN for Wilcoxon's test, which has none.
    alpha : float
    """

    methods: tuple[Any, ...]
    datasets: tuple[Any, ...]
    ranks: FloatArray
    average_ranks: FloatArray
    friedman_statistic: float
    friedman_pvalue: float
    iman_davenport_statistic: float
    iman_davenport_pvalue: float
    posthoc: str
    control: Any
    pvalues: FloatArray
    critical_difference: float
    alpha: float

    @property
    def order(self) -> NDArray[np.int64]:
        """Positions of the methods from best to worst average rank."""
        return np.argsort(self.average_ranks, kind="stable")

    @property
    def groups(self) -> list[tuple[Any, ...]]:
        """Methods that do not differ significantly: the bars of a critical-difference diagram.

        Maximal runs of neighbours by average rank in which no pair differs; with a `control`, the
        control and the methods that do not differ from it.
        """
        order = self.order
        same = ~(self.pvalues[np.ix_(order, order)] < self.alpha)
        if self.control is not None:
            alike = np.flatnonzero(same[order.tolist().index(self.methods.index(self.control))])
            return [tuple(self.methods[order[i]] for i in alike)] if len(alike) > 1 else []
        runs: list[tuple[int, int]] = []
        for start in range(len(order)):
            stop = start + 1
            while stop < len(order) and same[start : stop + 1, stop].all():
                stop += 1
            if stop - start > 1 and (not runs or stop > runs[-1][1]):
                runs.append((start, stop))
        return [tuple(self.methods[i] for i in order[a:b]) for a, b in runs]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: one row per method, best first, with its rank and p-values."""
        import pandas as pd

        order = self.order
        named = [self.methods[i] for i in order]
        table = pd.DataFrame(
            self.pvalues[np.ix_(order, order)], index=named, columns=[f"p vs {m}" for m in named]
        )
        table.insert(0, "average rank", self.average_ranks[order])
        return table


def compare_over_datasets(
    scores: Any,
    *,
    methods: Any = None,
    posthoc: Posthoc = "nemenyi",
    control: Any = None,
    higher_is_better: bool = True,
    alpha: float = 0.05,
) -> DatasetComparison:
    """Compare methods over data sets: average ranks, Friedman's test, then a post-hoc test.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (n_datasets, n_methods)
        One row per data set, one column per method.
    methods : sequence of length n_methods, optional
        Names; the columns of a DataFrame, or 0, 1, ... by default.
    posthoc : str, default="nemenyi"
        - "nemenyi": all pairs, by average ranks;
        - "bonferroni-dunn": all against `control`, by average ranks, Bonferroni's correction;
        - "wilcoxon-holm", "wilcoxon-bonferroni": signed-rank tests of the scores themselves, zero
          differences split evenly (Demsar 2006), of all pairs or against `control`. Unlike the
          first two they do not depend on which other methods take part (Benavoli et al. 2015).
    control : object, optional
        Name of a method.
    higher_is_better : bool, default=True
        False for losses and times.
    alpha : float, default=0.05

    Returns
    -------
    DatasetComparison

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. A. Benavoli,
    G. Corani, F. Mangili (2016). Should we really use post-hoc tests based on mean-ranks?

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.8, 0.5], [0.9, 0.8, 0.6]]
    >>> result = compare_over_datasets(scores, methods=["a", "b", "c"])
    >>> result.average_ranks.tolist(), round(result.friedman_pvalue, 3)
    ([1.25, 1.75, 3.0], 0.039)
    >>> result.groups
    [('a', 'b'), ('b', 'c')]
    """
    from scipy import stats

    table, names, datasets = _read_scores(scores, methods)
    check_tests(names, posthoc, control, alpha)
    n_datasets, n_methods = table.shape
    ranks = stats.rankdata(-table if higher_is_better else table, axis=1)
    average = ranks.mean(axis=0)
    place = None if control is None else names.index(control)
    if posthoc.startswith("wilcoxon"):
        pvalues = _wilcoxon(table, place, posthoc.partition("-")[2], alpha)
        distance = float("nan")
    else:
        pvalues = (
            _nemenyi(average, n_datasets)
            if place is None
            else _bonferroni_dunn(average, n_datasets, place)
        )
        distance = critical_difference(n_methods, n_datasets, alpha=alpha, posthoc=posthoc)
    return DatasetComparison(
        names,
        datasets,
        ranks,
        average,
        *_friedman(table),
        posthoc,
        control,
        pvalues,
        distance,
        alpha,
    )


def critical_difference(
    n_methods: int, n_datasets: int, *, alpha: float = 0.05, posthoc: str = "nemenyi"
) -> float:
    """Difference of average ranks above which two methods differ significantly.

    Parameters
    ----------
    n_methods, n_datasets : int
    alpha : float, default=0.05
    posthoc : {"nemenyi", "bonferroni-dunn"}, default="nemenyi"

    Returns
    -------
    float

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    >>> round(critical_difference(4, 14, posthoc="bonferroni-dunn"), 2)
    1.17
    """
    from scipy import stats

    if n_methods < 2 or n_datasets < 1:
        raise PalmetteError(
            f"got {n_methods} methods and {n_datasets} data sets: expected at least 2 and 1."
        )
    if posthoc == "nemenyi":
        quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    elif posthoc == "bonferroni-dunn":
        quantile = stats.norm.isf(alpha / (2 * (n_methods - 1)))
    else:
        raise PalmetteError(f"posthoc={posthoc!r}: expected 'nemenyi' or 'bonferroni-dunn'.")
    return float(quantile) * _rank_spread(n_methods, n_datasets)


# ---------------------------------------------------------------------- the tests


def _friedman(table: FloatArray) -> tuple[float, float, float, float]:
    from scipy import stats

    n_datasets, n_methods = table.shape
    if n_methods < 3:
        return (float("nan"),) * 4
    statistic, pvalue = stats.friedmanchisquare(*table.T)
    left = n_datasets * (n_methods - 1) - statistic
    if left <= 1e-12 * n_datasets * n_methods:  # the same order everywhere
        return float(statistic), float(pvalue), float("inf"), 0.0
    ratio = (n_datasets - 1) * statistic / left
    freedom = n_methods - 1
    tail = stats.f.sf(ratio, freedom, freedom * (n_datasets - 1))
    return float(statistic), float(pvalue), float(ratio), float(tail)


def _rank_spread(n_methods: int, n_datasets: int) -> float:
    """Standard error of the difference of two average ranks."""
    return float(np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets)))


def _nemenyi(average: FloatArray, n_datasets: int) -> FloatArray:
    from scipy import stats

    n_methods = len(average)
    gaps = np.abs(average[:, None] - average[None, :]) / _rank_spread(n_methods, n_datasets)
    upper = np.triu_indices(n_methods, 1)
    pvalues = np.ones((n_methods, n_methods))
    pvalues[upper] = stats.studentized_range.sf(np.sqrt(2) * gaps[upper], n_methods, np.inf)
    return np.minimum(pvalues, pvalues.T)


def _bonferroni_dunn(average: FloatArray, n_datasets: int, control: int) -> FloatArray:
    from scipy import stats

    n_methods = len(average)
    z = np.abs(average - average[control]) / _rank_spread(n_methods, n_datasets)
    against = np.minimum(2 * stats.norm.sf(z) * (n_methods - 1), 1.0)
    return _against_control(against, control)


def _against_control(against: FloatArray, control: int) -> FloatArray:
    pvalues = np.full((len(against), len(against)), np.nan)
    pvalues[control] = pvalues[:, control] = against
    np.fill_diagonal(pvalues, 1.0)
    return pvalues


def _wilcoxon(table: FloatArray, control: int | None, adjust: str, alpha: float) -> FloatArray:
    """Test the pairs that are asked for, and no others."""
    n_datasets, n_methods = table.shape
    if control is None:
        first, second = np.triu_indices(n_methods, 1)
    else:
        second = np.delete(np.arange(n_methods), control)
        first = np.full(len(second), control)
    if len(first) * 2.0 ** (1 - n_datasets) > alpha:
        warnings.warn(
            f"with {n_datasets} data sets and {len(first)} comparisons no difference can be "
            f"significant at alpha={alpha} by Wilcoxon's test, however large. Add data sets.",
            UserWarning,
            stacklevel=caller_level(),
        )
    raw = [_signed_ranks(table[:, i] - table[:, j]) for i, j in zip(first, second, strict=True)]
    pvalues = np.full((n_methods, n_methods), np.nan)
    pvalues[first, second] = pvalues[second, first] = adjusted(np.array(raw), adjust)
    np.fill_diagonal(pvalues, 1.0)
    return pvalues


def _signed_ranks(differences: FloatArray) -> float:
    """Wilcoxon's p-value; 1 if all differences are zero."""
    from scipy import stats

    if not differences.any():
        return 1.0
    return float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)


def adjusted(pvalues: FloatArray, method: str = "holm") -> FloatArray:
    """Correct p-values for their number, by Bonferroni's method or by Holm's, which has more power.

    Parameters
    ----------
    pvalues : float array of shape (n_tests,)
    method : {"holm", "bonferroni"}

    Returns
    -------
    float array of shape (n_tests,)

    Examples
    --------
    >>> adjusted(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    n_tests = len(pvalues)
    if method == "bonferroni":
        return np.minimum(pvalues * n_tests, 1.0)
    order = np.argsort(pvalues, kind="stable")
    steps = np.maximum.accumulate(pvalues[order] * np.arange(n_tests, 0, -1))
    corrected = np.empty(n_tests)
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


# ---------------------------------------------------------------------- checks


def _read_scores(scores: Any, methods: Any) -> tuple[FloatArray, tuple[Any, ...], tuple[Any, ...]]:
    named = column_names(scores)
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise PalmetteError(
            "scores has values that are not numbers: expected one row per data set and one column "
            "per method. Put the names of the data sets in the index."
        ) from None
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise PalmetteError(
            f"scores has shape {table.shape}: expected at least 2 data sets (rows) and 2 methods "
            "(columns)."
        )
    names = tuple(range(table.shape[1])) if named is None else tuple(named)
    names = names if methods is None else tuple(methods)
    if len(names) != table.shape[1] or len(set(names)) < len(names):
        raise PalmetteError(
            f"got {len(set(names))} different names for {table.shape[1]} methods: {names!r}. "
            "Pass methods= with one name per column."
        )
    index = row_index(scores)
    datasets = tuple(range(len(table)) if index is None else index)
    missing = np.argwhere(~np.isfinite(table))
    if len(missing):
        row, column = missing[0]
        raise PalmetteError(
            f"the score of {names[column]!r} on data set {datasets[row]!r} is "
            f"{table[row, column]} ({len(missing)} such): every method needs a number for every "
            "data set. Drop the row, or compute the missing scores."
        )
    if (table == table[:, :1]).all():
        raise PalmetteError("all methods have equal scores on every data set: nothing to compare.")
    return table, names, datasets


def check_tests(
    methods: tuple[Any, ...], posthoc: str = "nemenyi", control: Any = None, alpha: float = 0.05
) -> None:
    """Raise an error for options of `compare_over_datasets` that do not fit together."""
    if posthoc not in _POSTHOCS:
        raise PalmetteError(f"posthoc={posthoc!r}: expected one of {', '.join(_POSTHOCS)}.")
    if not 0 < alpha < 1:
        raise PalmetteError(f"alpha={alpha!r}: expected a number between 0 and 1.")
    if control is not None and control not in methods:
        raise PalmetteError(
            f"control={control!r} is unknown: expected one of the methods {methods!r}."
        )
    if posthoc == "bonferroni-dunn" and control is None:
        raise PalmetteError("posthoc='bonferroni-dunn' compares with one method: pass control=.")
    if posthoc == "nemenyi" and control is not None:
        raise PalmetteError(
            "posthoc='nemenyi' compares all pairs: drop control=, or use 'bonferroni-dunn'."
        )


# ---------------------------------------------------------------------- over splits of one data set


def resampled_ttest(differences: Any, test_share: float) -> tuple[float, float]:
    """Test whether differences over random splits differ from zero.

    Splits of one data set share rows, so that a plain t-test is far too optimistic. This one
    corrects the variance of the mean for the overlap.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        Differences of the scores of two methods on the same splits.
    test_share : float
        Share of the rows in the test part of each split.

    Returns
    -------
    statistic, pvalue : float
        Of Student's distribution with ``n_splits - 1`` degrees of freedom, two-sided.

    References
    ----------
    C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
    doi:10.1023/A:1024068626366

    Examples
    --------
    >>> statistic, pvalue = resampled_ttest([0.03, 0.01, 0.02, 0.04, 0.02], test_share=0.3)
    >>> round(statistic, 2), round(pvalue, 3)
    (2.65, 0.057)
    """
    from scipy import stats

    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise PalmetteError(
            f"differences have shape {values.shape}: expected finite numbers, one per "
            "split, for at least two splits."
        )
    if not 0 < test_share < 1:
        raise PalmetteError(f"test_share={test_share!r}: expected a share between 0 and 1.")
    mean, n_splits = float(values.mean()), len(values)
    overlap = 1 / n_splits + test_share / (1 - test_share)
    error = float(np.sqrt(overlap * values.var(ddof=1)))
    if error <= 1e-12 * abs(mean):  # the same on every split
        return (0.0, 1.0) if mean == 0 else (float(np.copysign(np.inf, mean)), 0.0)
    statistic = mean / error
    return statistic, float(2 * stats.t.sf(abs(statistic), n_splits - 1))
