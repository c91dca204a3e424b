"""Calling a function with the items of a stream in several processes, in order."""

from __future__ import annotations

import gc
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from palmette._kernels import seconds_compiling
from palmette._stopping import without_interrupts

_ALONE = 2.0  # seconds of calls in this process before others are started unasked
_COPIES = 2**32  # bytes of the copies of a function in processes that are started unasked
_AHEAD = 2  # items per process that are read but not yet returned
_LOOK = 0.01  # seconds between looks at processes that are being started


def map_in_order(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    n_jobs: int | None = 1,
    tell: Callable[[str], None] | None = None,
    client: Any = None,
) -> Iterator[Any]:
    """Yield the results of a function for all items, in their order.

    Results and errors are those of one process: an error of a call, or of the iterable, is raised
    after the results of all items before it. BLAS has one thread in every process, because the
    rounding of its sums may depend on their number.

    Parameters
    ----------
    function : callable
        Sent to each process once.
    items : iterable
        Read in this process, a few items ahead, so that memory does not grow with their number.
    n_jobs : int or None
        Number of processes; -1 for all cores. With 1, or if there is only one item, everything is
        done in this process. None for all cores as soon as the calls have taken two seconds; fewer
        if their copies of the function would take more than 4 GiB.
    tell : callable, optional
        Called with a message if processes are started because `n_jobs` is None.
    client : distributed.Client, optional
        The cluster whose workers call the function, instead of processes of this machine.

    Examples
    --------
    >>> list(map_in_order(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    stream = _Stream(items)
    if client is not None:
        yield from _on_cluster(client, function, stream)
        return
    n_processes = effective_n_jobs(-1 if n_jobs is None else n_jobs)
    if n_jobs is None:
        yield from _alone(function, stream, _ALONE)
    if n_processes > 1 and stream.has_two():
        stored = _stored(function, must=n_jobs is not None)
        if n_jobs is None:
            n_processes = min(n_processes, _COPIES // len(stored)) if stored else 1
        if n_processes > 1:
            if n_jobs is None and tell is not None:
                tell(f"the table is large: using {n_processes} jobs (--jobs 1 for one)")
            with _started(stored, n_processes) as team:
                yield from _shared(team, stream)
            return
    yield from _alone(function, stream)


class _Stream:
    """Items that can be looked at before they are taken; an error is the last one."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)
        self._ahead: deque[Any] = deque()
        self._error: Exception | None = None
        self._ended = False

    def _look(self, n_items: int) -> bool:
        while len(self._ahead) < n_items and not self._ended:
            try:
                self._ahead.append(next(self._items))
            except StopIteration:
                self._ended = True
            except Exception as error:
                self._ended, self._error = True, error
        return len(self._ahead) >= n_items

    def has_item(self) -> bool:
        return self._look(1)

    def has_two(self) -> bool:
        return self._look(2)

    def take(self) -> Any:
        return self._ahead.popleft()

    def end(self) -> None:
        """Raise the error that ended the items, if there was one."""
        if self._error is not None:
            raise self._error


def _alone(
    function: Callable[[Any], Any], stream: _Stream, seconds: float = float("inf")
) -> Iterator[Any]:
    """Yield results that are computed in this process, for a time; compiling does not count."""
    spent = 0.0
    while spent < seconds and stream.has_item():
        start = time.monotonic() - seconds_compiling()
        with threadpool_limits(1, user_api="blas"):
            result = function(stream.take())
        spent += time.monotonic() - seconds_compiling() - start
        yield result
    if not stream.has_item():
        stream.end()


# ---------------------------------------------------------------------- this process


class _Worker:
    """A process that calls the function, as this one sees it."""

    def __init__(self, context: Any) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.place = -1  # of its item in the stream

    def send(self, content: bytes, place: int = -1) -> None:
        self.place = place
        with self._guarded():
            self.pipe.send_bytes(content)

    def receive(self) -> Any:
        with self._guarded():
            return pickle.loads(self.pipe.recv_bytes())

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.process.join(1.0)
            raise ChildProcessError(
                f"a process of --jobs ended with the exit code {self.process.exitcode}, for "
                "example because memory ran out. Use fewer --jobs, or smaller --chunk-rows."
            ) from None


def _stored(function: Callable[[Any], Any], must: bool) -> bytes:
    """Return the function as bytes; empty if it has no such form and need not have one."""
    try:
        return pickle.dumps(function, pickle.HIGHEST_PROTOCOL)
    except Exception:
        if must:
            raise
        return b""


class _Team(threading.Thread):
    """Processes, each with a copy of the function, that are started while this one reads items.

    Parameters
    ----------
    stored : bytes
        The function.
    size : int
        Number of processes.

    Attributes
    ----------
    workers, free : sequences of _Worker
        All that are started, and those that wait for an item.
    """

    def __init__(self, stored: bytes, size: int) -> None:
        super().__init__(daemon=True)
        self._stored, self.size = stored, size
        self.workers: list[_Worker] = []
        self.free: deque[_Worker] = deque()
        self._error: BaseException | None = None
        self._is_closed = False

    def run(self) -> None:
        can_fork = "forkserver" in get_all_start_methods()
        context: Any = get_context("forkserver" if can_fork else "spawn")
        if can_fork:  # imports once, for all
            context.set_forkserver_preload(_imported())
        try:
            with without_interrupts():
                while len(self.workers) < self.size and not self._is_closed:
                    self.workers.append(_Worker(context))
            for worker in self.workers:
                if not self._is_closed:
                    worker.send(self._stored)
                    self.free.append(worker)
        except BaseException as error:
            self._error = error

    def is_starting(self) -> bool:
        """Return whether more processes will come; raise the error that prevents it."""
        if self.is_alive():
            return True
        if self._error is not None:
            raise self._error
        return False

    def close(self) -> None:
        """End all processes."""
        self._is_closed = True
        for worker in self.workers:  # a thread that sends to them need not wait
            worker.process.terminate()
        self.join()
        for worker in self.workers:
            worker.process.terminate()
            worker.process.join()
            worker.pipe.close()


@contextmanager
def _started(stored: bytes, n_processes: int) -> Iterator[_Team]:
    """Start processes, each with a copy of the function, and end them."""
    team = _Team(stored, n_processes)
    team.start()
    try:
        yield team
    finally:
        team.close()


def _imported() -> list[str]:
    """Return the modules of Palmette that this process has imported, and skrub if it has.

    Estimators of skrub are in models of tables; every process would import it, for a second.
    """
    names = [name for name in sys.modules if name.partition(".")[0] == "palmette"]
    return [*names, *({"skrub"} & sys.modules.keys()), "palmette.table._forked"]


def _shared(team: _Team, stream: _Stream) -> Iterator[Any]:
    """Yield the results of all items, which processes compute as they become free."""
    ready = deque[bytes]()
    busy: dict[Any, _Worker] = {}  # by pipe
    results: dict[int, Any] = {}
    n_read = n_sent = n_yielded = 0
    shown: dict[Any, Any] = {}  # warnings, which are shown once, not once per process
    while True:
        starting = team.is_starting()
        while team.free and ready:
            worker = team.free.popleft()
            worker.send(ready.popleft(), n_sent)
            busy[worker.pipe] = worker
            n_sent += 1
        while n_yielded in results:
            yield _opened(results.pop(n_yielded), shown)
            n_yielded += 1
        may_read = n_read - n_yielded < _AHEAD * team.size and stream.has_item()
        if may_read:
            ready.append(pickle.dumps(stream.take(), pickle.HIGHEST_PROTOCOL))
            n_read += 1
        elif n_yielded == n_read:
            break
        for pipe in wait(list(busy), 0 if may_read else _LOOK if starting else None):
            worker = busy.pop(pipe)
            results[worker.place] = worker.receive()
            team.free.append(worker)
    stream.end()


def _on_cluster(client: Any, function: Callable[[Any], Any], stream: _Stream) -> Iterator[Any]:
    """Yield the results of all items, which workers of a cluster compute."""
    from palmette.base._cluster import stream_on

    def items() -> Iterator[bytes]:
        while stream.has_item():
            yield pickle.dumps(stream.take(), pickle.HIGHEST_PROTOCOL)

    shown: dict[Any, Any] = {}
    for answer in stream_on(client, _answer_on_worker, (function,), items()):
        yield _opened(pickle.loads(answer), shown)
    stream.end()


def _opened(answer: tuple[Any, Exception | None, list[Any]], shown: dict[Any, Any]) -> Any:
    """Return the result of a call, or raise its error, after its warnings."""
    result, error, told = answer
    for message, category, file, line in told:
        warnings.warn_explicit(message, category, file, line, registry=shown)
    if error is not None:
        raise error
    return result


# ---------------------------------------------------------------------- other processes


def _work(pipe: Connection) -> None:
    """Call a function, which comes first, with the items that come through a pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError), threadpool_limits(1):  # until the pipe or its process ends
        function = pickle.loads(pipe.recv_bytes())
        gc.freeze()  # it stays: the collector need not visit it again for every item
        while True:
            pipe.send_bytes(_answer(function, pipe.recv_bytes()))


_one_at_a_time = threading.Lock()  # the filters of warnings are those of all threads


def _answer_on_worker(function: Callable[[Any], Any], item: bytes) -> bytes:
    with _one_at_a_time, threadpool_limits(1):
        return _answer(function, item)


def _answer(function: Callable[[Any], Any], item: bytes) -> bytes:
    result, found = None, None
    with warnings.catch_warnings(record=True) as told:
        try:
            result = function(pickle.loads(item))
        except Exception as error:
            error.add_note(f"In another process:\n{traceback.format_exc()}")
            found = error
    notes = [(w.message, w.category, w.filename, w.lineno) for w in told]
    try:
        content = pickle.dumps((result, found, notes), pickle.HIGHEST_PROTOCOL)
        if found is not None:
            pickle.loads(content)  # some errors can be written, but not read
        return content
    except Exception:
        words = f"{type(found).__name__}: {found}"
        return pickle.dumps((None, RuntimeError(words), []), pickle.HIGHEST_PROTOCOL)
