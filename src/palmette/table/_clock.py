"""Clock: the time that is left for a fit, and the steps that are shown meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from palmette._stopping import call_within

__all__ = ["Clock"]

Watch = Callable[[str, float], None]

_COMPILING = 1.5  # seconds from which the first fit of a model is compiling its kernels


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
        Seconds in which kernels were compiled.
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
        self.compiling = 0.0
        self.best = ""
        self.hurried = False
        self._words = ""
        self._watch, self._tell = watch, tell
        self._announced = False

    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def left(self) -> float:
        """Seconds that are left; infinite without a limit."""
        return np.inf if self.seconds is None else self.seconds + self.compiling - self.spent()

    def hurry(self, seconds: float) -> None:
        """Leave at most some seconds, after an interrupt."""
        limit = self.spent() - self.compiling + seconds
        self.seconds = limit if self.seconds is None else min(self.seconds, limit)
        self.hurried = True

    def step(self, words: str) -> None:
        """Begin a step."""
        self._words = words
        self.tick()

    def tick(self) -> None:
        """Show the current step."""
        if self._watch is not None:
            best = f"; best so far: {self.best}" if self.best else ""
            self._watch(self._words + best, self.spent() - self.compiling)

    def within(self, seconds: float, function: Callable[[], Any]) -> Any:
        """Call a function; see `palmette._stopping.call_within`."""
        return call_within(seconds, function, self.tick)

    def compile(self, seconds: float, function: Callable[[], Any], estimate: float) -> float:
        """Call a function that compiles kernels at its first call; return its seconds.

        Parameters
        ----------
        seconds : float
            Limit of the call.
        function : callable
        estimate : float
            Seconds that all kernels take to compile, told once if they are not compiled yet.
        """
        start = time.monotonic()

        def tick() -> None:
            if not self._announced and time.monotonic() - start > _COMPILING:
                self._announced = True
                if self._tell is not None:
                    self._tell(
                        "kernels are compiled, once per installation: about "
                        f"{estimate:.0f} s, which do not count"
                    )
            self.tick()

        call_within(seconds, function, tick)
        return time.monotonic() - start
