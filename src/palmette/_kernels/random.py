"""Random numbers whose state is an argument, so that kernels in threads do not share one."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["next_below"]


@njit(cache=True, nogil=True)
def next_below(state: NDArray[np.uint64], bound: int) -> int:
    """Draw an integer from 0 to bound - 1 (splitmix64).

    Parameters
    ----------
    state : uint64 array of shape (1,)
        In and out.
    bound : int
        Small beside 2**32, so that the remainder is as good as even.
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int((z >> np.uint64(32)) % np.uint64(bound))
