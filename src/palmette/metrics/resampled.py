"""Is one method better than another over random splits of one data set?"""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.exceptions import PalmetteError

__all__ = ["resampled_ttest"]


def resampled_ttest(differences: Any, test_share: float) -> tuple[float, float]:
    """Test whether differences over random splits are other than nought.

    Splits of one data set share rows, so that a plain t-test is far too sure of itself. This one
    adds to the variance of the mean what the overlap takes from it.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        Of the scores of two methods on the same splits.
    test_share : float
        Share of the rows that each split tests on.

    Returns
    -------
    statistic, pvalue : float
        Of Student's distribution with ``n_splits - 1`` degrees of freedom, two-sided.

    References
    ----------
    C. Nadeau, Y. Bengio (2003). Inference for the generalization error.

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
            f"differences have shape {values.shape}: expected a number for each of two splits or "
            "more."
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
