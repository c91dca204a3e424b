"""Random numbers for kernels: splitmix64 with an explicit state, so that threads share none.

All draws and hashes of 64-bit numbers in this package are based on `mix`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64

State: TypeAlias = NDArray[np.uint64]
Word: TypeAlias = Any  # an unsigned 64-bit number, with overflow

STRIDE = np.uint64(0x9E3779B97F4A7C15)  # increment of the state of splitmix64 per draw
NODE_STRIDE = np.uint64(0xD1B54A32D192ED03)  # between the states of nodes: odd, far from STRIDE


def mix_array(words: Word) -> Word:
    """Return the finalizer of splitmix64, a bijection of 64-bit numbers, for arrays of numpy."""
    z = words
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


# the same function for one number in kernels
mix = inner(inline="always")(mix_array)


@inner(inline="always")
def next_below(state: State, bound: int) -> int:
    """Draw an integer from 0 to bound - 1.

    Parameters
    ----------
    state : uint64 array of shape (1,), IN and OUT
    bound : int
        Much smaller than 2**32, so that all remainders are practically equally likely.
    """
    state[0] += STRIDE
    drawn: int = int64((mix(state[0]) >> np.uint64(32)) % np.uint64(bound))
    return drawn


@inner(inline="always")
def draw_at(key: Word, number: Word) -> Word:
    """Return a random 64-bit number that depends only on a key and a number.

    A draw therefore does not depend on earlier draws or on their order.
    """
    return mix(key + (np.uint64(number) + np.uint64(1)) * STRIDE)
