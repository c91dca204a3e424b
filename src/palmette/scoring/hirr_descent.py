"""Passes of a descent, extrapolated to their limit (Anderson acceleration)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["descend"]

FloatArray = NDArray[np.float64]
State = tuple[FloatArray, ...]

_MEMORY = 6  # passes that one extrapolation looks back on
_PATIENCE = 60  # passes before the first long step
_BETWEEN = 3  # passes from one long step to the next


def descend(
    one_pass: Callable[..., object],
    measure: Callable[..., tuple[float, float]],
    state: State,
    enough: float,
    max_passes: int,
    long_step: Callable[..., object] | None = None,
) -> None:
    """Repeat passes until the duality gap is small.

    Parameters
    ----------
    one_pass : callable
        Takes the arrays of the state and moves them in place.
    measure : callable
        Takes the arrays of the state; returns the objective and the gap. An extrapolation is taken
        only where the objective falls.
    state : tuple of arrays, in and out
        First the variables; the others are affine functions of them.
    enough : float
        A gap that is small enough.
    max_passes : int
    long_step : callable, optional
        Like `one_pass`; costs more and goes further. It is called now and then where the end is not
        reached soon.

    Examples
    --------
    >>> x = np.array([1.0, 1.0])
    >>> def one_pass(x):
    ...     x *= [0.9, 0.99]
    >>> descend(one_pass, lambda x: (x @ x, x @ x), (x,), 1e-6, 24)  # 0.99**24 is 0.8
    >>> bool(x @ x < 1e-6)
    True
    """
    past = [_copy(state)]
    for n in range(max_passes):
        if long_step is not None and n > _PATIENCE and n % _BETWEEN == 0:
            long_step(*state)
        else:
            one_pass(*state)
        past.append(_copy(state))
        if len(past) > _MEMORY:
            value, gap = measure(*state)
            ahead = _extrapolate(past)
            if ahead is not None:
                value_ahead, gap_ahead = measure(*ahead)
                if value_ahead < value:
                    gap = gap_ahead
                    for array, new in zip(state, ahead, strict=True):
                        array[...] = new
            if gap <= enough:
                return
            past = [_copy(state)]


def _copy(state: State) -> State:
    return tuple(array.copy() for array in state)


def _extrapolate(past: list[State]) -> State | None:
    """The affine combination of the past whose own change is the smallest; None where undefined."""
    points = np.array([state[0].ravel() for state in past])
    changes = np.diff(points, axis=0)
    try:
        shares = np.linalg.solve(changes @ changes.T, np.ones(len(changes)))
    except np.linalg.LinAlgError:  # they have stopped to change
        return None
    if not np.isfinite(shares).all() or shares.sum() == 0:
        return None
    shares /= shares.sum()
    return tuple(
        np.tensordot(shares, np.stack(arrays[1:]), axes=1) for arrays in zip(*past, strict=True)
    )
