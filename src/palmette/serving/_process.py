"""The processes of a server: a worker is replaced if it dies, as at a fault in compiled code.

The supervisor loads the model and answers nothing. Its worker is a fork, which has the model at
once and shares its memory; connections wait in the socket of both while it is replaced.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.applications import Starlette

from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    import uvicorn

# elsewhere libraries may not survive a fork: there the server is one process
_CAN_SUPERVISE = sys.platform.startswith("linux")
_BRIEF = 1.0  # seconds of life below which a worker is replaced only after as many
_LOOKING = 0.1  # seconds between looks at a worker
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_STOP_SECONDS = 10  # for requests that are being answered


def serve(
    app: Starlette,
    host: str = "127.0.0.1",
    port: int = 8000,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve an application until SIGTERM or Ctrl-C; requests that have begun are answered.

    On Linux a child process answers, which is replaced if it dies.

    Parameters
    ----------
    app : Starlette
        As from `make_app`.
    host : str
        Address to listen on; 0.0.0.0 for all of this machine.
    port : int
        0 for any free one.
    tell : callable
        Called with messages for the user.
    """
    import uvicorn

    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    config = configured(app)

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as of new categories: requests have many
            uvicorn.Server(config).run(sockets=[listening])

    # uvicorn stops at a signal and raises it again when it has stopped: then nothing is left to do
    before = {n: signal.signal(n, lambda *_: None) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        tell(f"serving on http://{shown}:{listening.getsockname()[1]}/ (stop with Ctrl-C)")
        if _CAN_SUPERVISE:
            _supervise(run, app.state.lives, tell)
        else:
            run()
    finally:
        listening.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    tell("stopped")


def configured(app: Starlette) -> uvicorn.Config:
    """Return how uvicorn serves an application."""
    import uvicorn

    return uvicorn.Config(
        app,
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_STOP_SECONDS,
        limit_concurrency=2_000,
        loop="asyncio",
        http="h11",
        ws="none",
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        words = getattr(error, "strerror", None) or error
        raise PalmetteError(
            f"cannot listen on {host}, port {port}: {words}. Choose another --port, 0 for any free "
            "one, or another --host."
        ) from error


class Lives:
    """Since when a server answers, how many workers of it died, and whether the last one lives.

    The numbers are in memory that a supervisor and its workers share.

    Parameters
    ----------
    patience : float
        Seconds without a heartbeat after which a worker is taken not to answer any more.
    """

    def __init__(self, patience: float = 60.0) -> None:
        self.is_supervised = False
        self.patience = patience
        self._memory = mmap.mmap(-1, 40)
        self._write(time.time(), 0.0, 0, 0)
        self.beat()

    def beat(self) -> None:
        """Note that a worker does something, or is about to."""
        self._memory[32:] = struct.pack("d", time.monotonic())

    @property
    def is_silent(self) -> bool:
        """Whether a worker has done nothing for too long, as in compiled code without end."""
        [last] = struct.unpack("d", self._memory[32:])
        return bool(time.monotonic() - last > self.patience)

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
        return struct.unpack("ddqq", self._memory[:32])

    def _write(self, *numbers: float) -> None:
        self._memory[:32] = struct.pack("ddqq", *numbers)


def _written(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _supervise(run: Callable[[], None], lives: Lives, tell: Callable[[str], None]) -> None:
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
            lives.beat()
            pid = _fork(run)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            code = _code_of(pid, lives, tell)
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


def _code_of(pid: int, lives: Lives, tell: Callable[[str], None]) -> int:
    """Wait for the end of a worker, and end it if it does nothing more."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if lives.is_silent:  # its threads cannot run: nothing in it can end it
            tell(f"the worker has done nothing for {lives.patience:g} s: it is ended")
            lives.beat()
            os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOKING)


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
