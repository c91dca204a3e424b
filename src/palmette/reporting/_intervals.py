"""Intervals of the scores of a report: Wilson's for shares of rows, else the bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from palmette._arrays import FloatArray
from palmette.exceptions import PalmetteError

CONFIDENCE = 0.95  # of the intervals
_NUMBERS_AT_ONCE = 2**22  # maximum size of an array of draws or sums


@dataclass(frozen=True)
class Interval:
    """A score of the sample and the bounds of its bootstrap interval."""

    value: float
    low: float
    high: float


def bootstrap(
    scores: Callable[[NDArray[np.int64]], FloatArray],
    sizes: NDArray[Any],
    *,
    n_resamples: int,
    seed: int,
    width: int = 1,
) -> list[Interval]:
    """Return percentile bootstrap intervals of scores over resampled rows.

    Rows that are equal in everything the scores depend on form a group. The number of rows drawn
    from each group is then multinomial, so the cost of a resample is linear in the groups.

    Parameters
    ----------
    scores : callable
        Maps numbers of rows per group, of shape (n_draws, n_groups), to scores of shape
        (n_draws, n_scores).
    sizes : int array of shape (n_groups,)
        Number of rows in each group.
    n_resamples : int
        With 0, nothing is drawn and the bounds are NaN.
    seed : int
    width : int
        Number of values that `scores` computes per draw, which limits memory.

    Returns
    -------
    list of n_scores Intervals

    Examples
    --------
    >>> share = lambda drawn: drawn[:, :1] / drawn.sum(axis=1, keepdims=True)
    >>> [found] = bootstrap(share, np.array([80, 20]), n_resamples=1000, seed=0)
    >>> found.value, round(found.low, 1), round(found.high, 1)
    (0.8, 0.7, 0.9)
    """
    if not isinstance(n_resamples, int | np.integer) or n_resamples < 0:
        raise PalmetteError(f"n_bootstrap={n_resamples!r}: expected an integer >= 0.")
    [values] = scores(np.asarray(sizes, dtype=np.int64)[None, :])
    if not n_resamples:
        return [Interval(float(value), float("nan"), float("nan")) for value in values]
    draws = _draws(np.asarray(sizes), n_resamples, seed, width)
    resampled = np.concatenate([scores(drawn) for drawn in draws])
    tail = 50 * (1 - CONFIDENCE)
    bounds = [_bounds(column, tail) for column in resampled.T]
    return [Interval(float(v), *bound) for v, bound in zip(values, bounds, strict=True)]


def _draws(
    sizes: NDArray[Any], n_resamples: int, seed: int, width: int
) -> Iterator[NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    step = max(1, _NUMBERS_AT_ONCE // max(len(sizes), width))
    n_rows = int(sizes.sum())
    for start in range(0, n_resamples, step):
        yield rng.multinomial(n_rows, sizes / n_rows, size=min(step, n_resamples - start))


def _bounds(column: FloatArray, tail: float) -> tuple[float, float]:
    defined = column[np.isfinite(column)]
    if not defined.size:
        return float("nan"), float("nan")
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def mirrored(found: Interval) -> Interval:
    """Return the basic bootstrap interval of a share: the percentile one, mirrored at the score.

    Resamples lose rows of rare classes, which moves a mean over classes to one side, far enough
    that the percentile interval may not contain the score. The sample lost rows of rare classes
    alike, so the score itself is off to that side, and the bounds lie on the other one.

    Examples
    --------
    >>> mirrored(Interval(0.5, 0.25, 0.375))
    Interval(value=0.5, low=0.5, high=0.75)
    >>> mirrored(Interval(0.5, 0.375, 0.5625))
    Interval(value=0.5, low=0.4375, high=0.625)
    """
    low, high = 2 * found.value - found.high, 2 * found.value - found.low
    if not np.isfinite(low):
        return found
    return Interval(found.value, max(0.0, min(low, found.value)), min(1.0, max(high, found.value)))


def wilson_interval(n_right: int, n_units: int) -> tuple[float, float]:
    """Return Wilson's interval of a share, at the confidence of the report; NaN without units.

    Examples
    --------
    >>> [round(bound, 3) for bound in wilson_interval(95, 100)]
    [0.888, 0.978]
    """
    if not n_units:
        return float("nan"), float("nan")
    z = float(norm.ppf(0.5 + CONFIDENCE / 2))
    share = n_right / n_units
    middle = (share + z * z / (2 * n_units)) / (1 + z * z / n_units)
    spread = z * np.sqrt(share * (1 - share) / n_units + z * z / (4 * n_units * n_units))
    spread /= 1 + z * z / n_units
    return float(max(0.0, middle - spread)), float(min(1.0, middle + spread))


def share_of_rows(found: Interval, n_right: float, n_rows: float) -> Interval:
    """Return a share of rows with Wilson's interval; one without resamples stays without bounds.

    The bootstrap of a share of 0 or 1 has no spread, however few the rows are.

    Examples
    --------
    >>> found = share_of_rows(Interval(1.0, 1.0, 1.0), 40, 40)
    >>> round(found.low, 3), found.high
    (0.912, 1.0)
    """
    if not (np.isfinite(found.low) and n_rows):
        return found
    return Interval(found.value, *wilson_interval(int(n_right), int(n_rows)))


def with_spread(found: Interval, n_rows: int, bounds: tuple[float, float] | None) -> Interval:
    """Return an interval that is never a single point.

    If all resamples have the same score, the rows that would change it are a share of at most the
    upper bound of Wilson's interval of 0 rows out of `n_rows`. A mean over rows then differs by at
    most this share of the way to the lowest and to the highest score that a row can have.

    Parameters
    ----------
    found : Interval
        Of the bootstrap.
    n_rows : int
    bounds : pair of float, optional
        Lowest and highest score of a row. Without them the interval has no bounds.

    Examples
    --------
    >>> found = with_spread(Interval(1.0, 1.0, 1.0), 40, (0.0, 1.0))
    >>> round(found.low, 3), found.high
    (0.912, 1.0)
    >>> with_spread(Interval(0.5, 0.4, 0.6), 40, (0.0, 1.0))
    Interval(value=0.5, low=0.4, high=0.6)
    """
    if found.low != found.high:  # also if both are NaN
        return found
    if bounds is None:
        return Interval(found.value, float("nan"), float("nan"))
    share = wilson_interval(0, n_rows)[1]
    low, high = (found.value + share * (bound - found.value) for bound in bounds)
    return Interval(found.value, low, high)
