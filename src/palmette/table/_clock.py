"""Clock: the time that is left for a fit, and the steps that are shown meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from palmette._kernels import seconds_compiling
from palmette._stopping import call_within

__all__ = ["Clock"]

Watch = Callable[[str, float], None]

_BEYOND, _MOST_BEYOND = 0.1, 3.0  # share of the limit, and seconds, that a fit may exceed it by
_COMPILING = 0.5  # seconds after which the compilation of kernels is announced


class Clock:
    """The time that is left, and what is being done.

    Seconds in which kernels are compiled do not count: they are needed once per installation.

    Parameters
    ----------
    seconds : float or None
        None for no limit.
    watch : callable, optional
        Called with the current step and the seconds spent, at every step and every second.
    tell : callable, optional
        Called with messages for the user.

    Attributes
    ----------
    compiling : float
        Seconds in which kernels were compiled since the start.
    best : str
        The best model so far, shown with every step.
    hurried : bool
        Whether there was an interrupt.
    """

    def __init__(
        self,
        seconds: float | None,
        watch: Watch | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.seconds = seconds
        self.start = time.monotonic()
        self._cpu = process_time()
        self._compiled = seconds_compiling()
        self.best = ""
        self.hurried = False
        self._words = ""
        self._watch, self._tell = watch, tell
        self._announced = False

    @property
    def compiling(self) -> float:
        return seconds_compiling() - self._compiled

    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def counted(self) -> float:
        """Seconds since the start, without those in which kernels were compiled."""
        return self.spent() - self.compiling

    def left(self) -> float:
        """Seconds that are left; infinite without a limit."""
        return np.inf if self.seconds is None else self.seconds - self.counted()

    def grace(self) -> float:
        """Seconds by which the final fit may exceed the limit, rather than leave out rows."""
        if self.seconds is None or self.hurried:
            return 0.0
        return min(_BEYOND * self.seconds, _MOST_BEYOND)

    def slowness(self) -> float:
        """Seconds per CPU second so far, at least one: more where the cores are busy."""
        return max(self.spent() / max(process_time() - self._cpu, 0.1), 1.0)

    def hurry(self, seconds: float) -> None:
        """Leave at most some seconds, after an interrupt."""
        limit = self.counted() + seconds
        self.seconds = limit if self.seconds is None else min(self.seconds, limit)
        self.hurried = True

    def step(self, words: str) -> None:
        """Begin a step."""
        self._words = words
        self.tick()

    def foretell(self, seconds: float) -> None:
        """Say once that kernels are compiled, and how long that takes about; before it begins."""
        if self._announced or seconds < _COMPILING:
            return
        self._announced = True
        if self._tell is not None:
            self._tell(
                f"compiling kernels, once per installation: about {seconds:.0f} s, which do not "
                "count towards the time limit"
            )

    def tick(self) -> None:
        """Show the current step, and say that kernels are compiled if that was not foreseen."""
        self.foretell(self.compiling)
        if self._watch is not None:
            best = f"; best so far: {self.best}" if self.best else ""
            self._watch(self._words + best, self.counted())

    def within(self, seconds: float, function: Callable[[], Any]) -> Any:
        """Call a function; see `palmette._stopping.call_within`."""
        return call_within(seconds, function, self.tick)
