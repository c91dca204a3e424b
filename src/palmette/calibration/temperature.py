"""The power that makes shares as sure as they should be: one over a temperature."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

__all__ = ["FamilyScores", "fit_power", "not_zero"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

_EVEN_SHARE = 1e-3  # of all options together: a model's zero is never quite impossible
_NO_OPTION = -1e9  # logarithm of the share of what is no option
_LOWEST, _HIGHEST, _HALVINGS = 0.1, 10.0, 40


class FamilyScores(NamedTuple):
    """Shares that a model gave the options of a family, for rows that truly came there.

    Parameters
    ----------
    share : float array of shape (n_rows, n_options)
    chosen : int array of shape (n_rows,)
        Option that is true.
    weight : array of shape (n_rows,)
    """

    share: NDArray[np.floating]
    chosen: IntArray
    weight: FloatArray


def not_zero(share: FloatArray) -> FloatArray:
    """Give a little to every option, so that what was thought impossible has finite odds.

    Parameters
    ----------
    share : array of shape (n_rows, n_options)

    Returns
    -------
    array of shape (n_rows, n_options)
    """
    return (1 - _EVEN_SHARE) * share + _EVEN_SHARE / share.shape[1]


def fit_power(families: Iterable[FamilyScores]) -> float:
    """Power of shares, scaled to sum to one again, that makes the true options most likely.

    The truth is held to be any option with the probability that one more row would have, as in
    Platt's targets: where no row is wrong, there is still a limit to how sure one may be.

    Parameters
    ----------
    families : iterable of FamilyScores
        All to have the same power.

    Returns
    -------
    float
        From 0.1 to 10.

    Examples
    --------
    >>> nine_of_ten = FamilyScores(np.tile([0.6, 0.4], (1000, 1)), np.arange(1000) % 10 // 9,
    ...     np.ones(1000))
    >>> odds = (0.6 / 0.4) ** fit_power([nine_of_ten])
    >>> round(odds / (1 + odds), 2)
    0.9
    """
    blocks = _blocks_of_like_width(families)
    if not blocks:
        return 1.0
    any_option = 1 / (sum(float(block.weight.sum()) for block in blocks) + 2)

    def slope(power: float) -> float:
        """Slope of the likelihood, which falls as the power rises."""
        total = 0.0
        for block in blocks:
            expected = (softmax(power * block.log, axis=1) * block.log).sum(axis=1)
            target = (1 - any_option) * block.own + any_option * block.mean
            total += float(block.weight @ (target - expected))
        return total

    low, high = np.log(_LOWEST), np.log(_HIGHEST)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if slope(float(np.exp(middle))) > 0:
            low = middle
        else:
            high = middle
    return float(np.exp(0.5 * (low + high)))


class _Block(NamedTuple):
    """Logarithms of shares of several families, side by side."""

    log: FloatArray  # (n_rows, width)
    own: FloatArray  # of the true option, (n_rows,)
    mean: FloatArray  # over the options, (n_rows,)
    weight: FloatArray


def _blocks_of_like_width(families: Iterable[FamilyScores]) -> list[_Block]:
    """Families of up to 2, 4, 8, ... options together: few arrays, and little filling."""
    by_width = defaultdict(list)
    for family in families:
        width = 1 << (family.share.shape[1] - 1).bit_length()
        log = np.log(not_zero(family.share.astype(np.float64)))
        own = log[np.arange(len(log)), family.chosen]
        filled = np.pad(log, ((0, 0), (0, width - log.shape[1])), constant_values=_NO_OPTION)
        by_width[width].append(_Block(filled, own, log.mean(axis=1), family.weight))
    return [
        _Block(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))
        for _, blocks in sorted(by_width.items())
    ]
