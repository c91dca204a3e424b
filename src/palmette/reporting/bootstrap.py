"""Bootstrap over rows, cheaply: groups of like rows are drawn, nothing is predicted again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.exceptions import PalmetteError

__all__ = ["CONFIDENCE", "Interval", "bootstrap"]

FloatArray = NDArray[np.float64]
CONFIDENCE = 0.95  # of the intervals
_NUMBERS_AT_ONCE = 2**22  # drawn or summed at a time


@dataclass(frozen=True)
class Interval:
    """A figure of the sample, and the bounds between which most resamples have it."""

    value: float
    low: float
    high: float


def bootstrap(
    figures: Callable[[NDArray[np.int64]], FloatArray],
    sizes: NDArray[Any],
    *,
    n_resamples: int,
    seed: int,
    width: int = 1,
) -> list[Interval]:
    """Draw rows with replacement and give the percentile intervals of figures.

    Rows that are alike in all that the figures look at form a group. The numbers of rows drawn from
    the groups are then multinomial, so that a resample costs as much as there are groups.

    Parameters
    ----------
    figures : callable
        From numbers of rows of each group, of shape (n_draws, n_groups), to figures of shape
        (n_draws, n_figures).
    sizes : int array of shape (n_groups,)
        Rows of each group.
    n_resamples : int
        None are drawn for 0: the bounds are then NaN.
    seed : int
    width : int
        Numbers that `figures` makes of a draw, to bound memory.

    Returns
    -------
    list of n_figures Intervals

    Examples
    --------
    >>> share = lambda drawn: drawn[:, :1] / drawn.sum(axis=1, keepdims=True)
    >>> [found] = bootstrap(share, np.array([80, 20]), n_resamples=1000, seed=0)
    >>> found.value, round(found.low, 1), round(found.high, 1)
    (0.8, 0.7, 0.9)
    """
    if not isinstance(n_resamples, int | np.integer) or n_resamples < 0:
        raise PalmetteError(f"n_bootstrap={n_resamples!r}: expected a whole number, 0 for none.")
    [values] = figures(np.asarray(sizes, dtype=np.int64)[None, :])
    if not n_resamples:
        return [Interval(float(value), float("nan"), float("nan")) for value in values]
    draws = _draws(np.asarray(sizes), n_resamples, seed, width)
    resampled = np.concatenate([figures(drawn) for drawn in draws])
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
