"""A server whose worker is replaced if it dies: at a fault in compiled code, or out of memory.

The supervisor loads the model and answers nothing. Its worker is a fork, which has the model at
once and shares its memory; connections wait in the socket of both while it is replaced.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NoReturn

from palmette.exceptions import PalmetteError

# elsewhere libraries may not survive a fork: there the server is one process
CAN_SUPERVISE = sys.platform.startswith("linux")
_BRIEF = 1.0  # seconds of life below which a worker is replaced only after as many
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Lives:
    """Since when a server answers, and how many workers of it have died.

    The numbers are in memory that a supervisor and its workers share.
    """

    def __init__(self) -> None:
        self.is_supervised = False
        self._memory = mmap.mmap(-1, 32)
        self._write(time.time(), 0.0, 0, 0)

    def began(self) -> None:
        """Note that a worker is ready to answer."""
        since, last, replaced, _ = self._read()
        self._write(since, last, replaced, 1)

    def died(self) -> int:
        """Note that a worker died, and return how many have; 0 if none was ever ready."""
        since, _, replaced, ready = self._read()
        self._write(since, time.time(), replaced + 1, ready)
        return replaced + 1 if ready else 0

    @property
    def replaced(self) -> int:
        """Number of workers that died."""
        return self._read()[2]

    def facts(self) -> dict[str, Any]:
        """Return since when the server runs, and how many workers were replaced, last when."""
        since, last, replaced, _ = self._read()
        return {
            "since": _written(since),
            "replaced": replaced,
            "last_replaced": _written(last) if replaced else None,
        }

    def _read(self) -> tuple[float, float, int, int]:
        return struct.unpack("ddqq", self._memory[:])

    def _write(self, *numbers: float) -> None:
        self._memory[:] = struct.pack("ddqq", *numbers)


def _written(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def supervise(run: Callable[[], None], lives: Lives, tell: Callable[[str], None]) -> None:
    """Run a function in a child process, and again whenever that dies, until SIGTERM or Ctrl-C.

    Parameters
    ----------
    run : callable
        Serves until it gets a signal.
    lives : Lives
    tell : callable
        Called with messages for the user.
    """
    stopping, pid = False, 0
    lives.is_supervised = True

    def stop(number: int, frame: Any) -> None:
        nonlocal stopping
        stopping = True
        if pid:
            os.kill(pid, signal.SIGTERM)  # a second SIGINT would cut requests short

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        while not stopping:
            began = time.monotonic()
            signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # none between the fork and its pid
            pid = _fork(run)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            pid = 0
            if stopping:
                break
            why = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            n_dead = lives.died()
            if not n_dead:
                raise PalmetteError(
                    f"the server ended by {why} before it could answer. Its messages above say why."
                )
            tell(f"the worker ended by {why}, and is replaced ({n_dead} since the start)")
            time.sleep(max(0.0, began + _BRIEF - time.monotonic()))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _fork(run: Callable[[], None]) -> int:
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: those of BLAS end before a fork
        pid = os.fork()
    return pid or _work(run, parent)


def _work(run: Callable[[], None], parent: int) -> NoReturn:
    """Run a function in this process, a child that lives no longer than its parent, and exit."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() == parent:
            for number in _SIGNALS:
                signal.signal(number, lambda *_: None)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            run()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
