"""Ends of calls: time limits, which compiled kernels notice too, and Ctrl-C."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import seconds_compiling

__all__ = ["OutOfTime", "call_within", "raise_if_stopped", "stop_flag", "without_interrupts"]

_WAIT = 0.02  # seconds between looks at the clock
_SECOND = 1.0  # seconds between calls of `tick`

_thread = threading.local()
_never = np.zeros(1, dtype=np.uint8)  # writeable like all flags: kernels are compiled by type


class OutOfTime(Exception):
    """A call did not end in time."""


class _GivenUp(BaseException):
    """Raised in the thread of a call that is given up."""


def stop_flag() -> NDArray[np.uint8]:
    """Return the flag that tells a kernel to stop: 1 once the call of this thread is given up.

    Returns
    -------
    uint8 array of shape (1,)
        Kernels read it by `palmette.class_tree._dual_descent.is_set`. A caller whose kernel was
        stopped has no valid result; see `raise_if_stopped`.
    """
    flag: NDArray[np.uint8] = getattr(_thread, "flag", _never)
    return flag


def raise_if_stopped(flag: NDArray[np.uint8]) -> None:
    """End a call that was given up, since the results of its kernels are not valid."""
    if flag[0]:
        raise _GivenUp


def call_within(
    seconds: float, function: Callable[[], Any], tick: Callable[[], None] | None = None
) -> Any:
    """Call a function in a thread of its own, and wait for its result for a limited time.

    Seconds in which kernels are compiled do not count: they are needed once per installation. The
    caller stays responsive: Ctrl-C is noticed at once, also while compiled code runs. A call
    that is given up ends at its next line of Python, or when its kernel looks at `stop_flag`;
    compiled code of other libraries goes on until it returns, or the process ends.

    Parameters
    ----------
    seconds : float
        May be infinite.
    function : callable
    tick : callable, optional
        Called every second while waiting.

    Raises
    ------
    OutOfTime

    Examples
    --------
    >>> call_within(10.0, lambda: 1 + 1)
    2
    """
    results: list[Any] = []
    errors: list[BaseException] = []
    done = threading.Event()
    flag = np.zeros(1, dtype=np.uint8)

    def run() -> None:
        _thread.flag = flag
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    start = told = time.monotonic()
    compiled = seconds_compiling()
    try:
        while not done.wait(_WAIT):
            now = time.monotonic()
            if now - start - (seconds_compiling() - compiled) > seconds:
                raise OutOfTime(f"stopped after {seconds:.1f} s")
            if tick is not None and now - told > _SECOND:
                told = now
                tick()
    except BaseException:  # out of time, Ctrl-C, SIGTERM
        flag[0] = 1
        if not done.is_set() and thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(_GivenUp)
            )
        raise
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait, and never reach the processes that are started meanwhile.

    A terminal sends it to all processes of a command, and those that are starting would print their
    tracebacks; the first process ends them. Threads and processes inherit the mask of signals;
    there is none on Windows. The tracker of resources that Python starts with its first process
    would take the mask away. Other threads, which were started before, have no mask, and may still
    receive the signal: it is then noted, and sent again at the end.
    """
    noted: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    # handlers are those of Python, and only the main thread may set them
    is_set = handler is not None and threading.current_thread() is threading.main_thread()
    if is_set:
        signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        with _masked_interrupts():
            yield
    finally:
        if is_set:
            signal.signal(signal.SIGINT, handler)
        if noted:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _masked_interrupts() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
