"""How precisely gradients are kept."""

from __future__ import annotations

import numpy as np

__all__ = ["working_dtype"]

_SMALL = 2**16


def working_dtype(size: int) -> type[np.floating]:
    """Return float32, or float64 for small arrays, which cost nothing.

    Small data have many splits that are equally good; in float32 rounding would choose among them,
    and copies of a row would not count as its weight.
    """
    return np.float64 if size <= _SMALL else np.float32
