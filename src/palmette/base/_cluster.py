"""Calls on the workers of a Dask cluster: data are placed once, results come in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from palmette.base._clients import (
    POLL,
    errors_of_loss,
    named_loss,
    require_workers,
    scatter,
    seconds,
    workers_of,
)
from palmette.base._fitting import run_jobs
from palmette.exceptions import PalmetteError

ATTEMPTS = 4  # calls of a job whose worker was lost
_GROUPS = 16  # of jobs per worker
GONE = ("lost", "cancelled")  # states of calls that will never end
_AHEAD = 2  # items of a stream per worker that are read but not yet returned


def map_on(
    client: Any,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    jobs: Sequence[Sequence[Any]],
    *,
    sizes: Sequence[float] | None = None,
    timeout: float | None = None,
) -> list[Any]:
    """Return the results of `each_on` in the order of the jobs.

    Small jobs are sent together, since a message costs milliseconds; large ones alone.
    """
    if not jobs:
        return []
    groups = _grouped([1.0] * len(jobs) if sizes is None else sizes, len(workers_of(client)))
    results: list[Any] = [None] * len(jobs)
    together = [[jobs[i] for i in group] for group in groups]  # the first ones are the largest
    for number, found in each_on(client, _each, (function, shared), together, timeout=timeout):
        for i, result in zip(groups[number], found, strict=True):
            results[i] = result
    return results


def _grouped(sizes: Sequence[float], n_workers: int) -> list[list[int]]:
    """Return groups of jobs, large jobs first, some sixteen for every worker.

    Examples
    --------
    >>> _grouped([1, 9, 1, 0, 1, 30], n_workers=1)[:3]
    [[5], [1], [0, 2]]
    >>> len(_grouped([1] * 512, n_workers=2))
    32
    """
    most = sum(sizes) / (_GROUPS * max(n_workers, 1)) * (1 + 1e-9)
    groups: list[list[int]] = []
    room = 0.0
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        if not groups or sizes[i] > room:
            groups.append([])
            room = max(most, sizes[i])
        groups[-1].append(i)
        room -= sizes[i]
    return groups


def _each(function: Callable[..., Any], shared: tuple[Any, ...], *jobs: Sequence[Any]) -> list[Any]:
    return run_jobs(partial(function, *shared), jobs, None)


def each_on(
    client: Any,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    jobs: Sequence[Sequence[Any]],
    *,
    sizes: Sequence[float] | None = None,
    timeout: float | None = None,
) -> Iterator[tuple[int, Any]]:
    """Call a function with shared data and the arguments of every job, on the workers.

    The shared data are copied to every worker once; a job should carry little more than row
    numbers. A job whose worker is lost runs again on another one. Jobs run with one thread of
    BLAS, as in parallel processes of this machine.

    Parameters
    ----------
    client : distributed.Client
    function : callable
        Called as ``function(*shared, *job)``.
    shared : tuple
    jobs : sequence of sequences
    sizes : sequence of float, optional
        Costs of the jobs: large ones are begun first.
    timeout : float, optional
        Seconds after which a cluster without workers is an error.

    Yields
    ------
    (int, object)
        Number of a job and its result, in the order in which they end.
    """
    left, timeout = set(range(len(jobs))), seconds(timeout)
    order = sorted(left, key=lambda i: 0.0 if sizes is None else -sizes[i])
    for _ in range(ATTEMPTS):
        if not left:
            return
        require_workers(client, timeout)
        wanted = [i for i in order if i in left]
        with named_loss(client, timeout):
            for i, result in _attempt(client, function, shared, jobs, wanted, timeout):
                left.discard(i)
                yield i, result
    if left:
        raise PalmetteError(
            f"{len(left)} of {len(jobs)} jobs were lost with their workers {ATTEMPTS} times: the "
            "workers may have too little memory. Start larger ones, or fewer per machine."
        )


def _attempt(
    client: Any,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    jobs: Sequence[Sequence[Any]],
    wanted: list[int],
    timeout: float,
) -> Iterator[tuple[int, Any]]:
    """Run some jobs once, and yield the results of those that were not lost."""
    lost: tuple[type[BaseException], ...] = (*errors_of_loss(), TimeoutError)
    name = f"palmette-{uuid4().hex}"  # so that fits at the same time do not share keys
    placed = _place_shared(client, shared, timeout)
    futures: dict[Any, int] = {}
    ended: SimpleQueue[Any] = SimpleQueue()
    for rank, i in enumerate(wanted):
        key = f"{name}-{i}"
        future = client.submit(_run, function, placed, jobs[i], key=key, priority=-rank, pure=False)
        futures[future] = i
        future.add_done_callback(ended.put)
    try:
        seen = time.monotonic()
        while futures:
            try:
                future = ended.get(timeout=POLL)
            except Empty:
                for future in [each for each in futures if each.status in GONE]:
                    del futures[future]  # Dask forgets jobs whose data are lost without a call
                if workers_of(client, timeout):
                    seen = time.monotonic()
                elif time.monotonic() - seen > timeout:
                    raise PalmetteError(
                        f"the cluster has had no workers for {timeout:g} s: {len(futures)} of "
                        f"{len(jobs)} jobs are left. Start workers and fit again."
                    ) from None
                continue
            if future not in futures:  # it was given up before
                continue
            i = futures.pop(future)
            try:
                result = future.result(timeout=timeout)
            except lost:  # its worker may be lost before the result is fetched
                if _is_own_error(future):
                    raise
                continue  # the next attempt places the data again
            yield i, result
    finally:
        _forget(client, [*futures, placed])


def stream_on(
    client: Any,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    items: Iterator[Any],
    *,
    timeout: float | None = None,
) -> Iterator[Any]:
    """Yield ``function(*shared, item)`` for the items of a stream, in their order.

    Two items per worker are read ahead, so that memory does not grow with their number. An item
    whose worker is lost is sent again. Arguments are those of `each_on`.
    """
    timeout = seconds(timeout)
    with named_loss(client, timeout):
        yield from _stream(client, function, shared, items, timeout)


def _stream(
    client: Any,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    items: Iterator[Any],
    timeout: float,
) -> Iterator[Any]:
    lost = errors_of_loss()
    ahead: deque[_Sent] = deque()
    there = _place_shared(client, shared, timeout)
    ended = False
    try:
        while True:
            while not ended and len(ahead) < _AHEAD * max(1, len(workers_of(client, timeout))):
                item = next(items, _NOTHING)
                ended = item is _NOTHING
                if not ended:
                    ahead.append(_Sent(client, function, there, item))
            if not ahead:
                return
            try:
                result = ahead[0].result(client, timeout)
            except lost:
                if ahead[0].n_times == ATTEMPTS:
                    raise PalmetteError(
                        f"a part was lost with its worker {ATTEMPTS} times: the workers may have "
                        "too little memory. Start larger ones, or pass smaller parts."
                    ) from None
                there = _place_shared(client, shared, timeout)  # it may be lost, too
                for each in ahead:
                    each.send(client, function, there)
                continue
            ahead.popleft()
            yield result
    finally:
        _forget(client, [*(each.future for each in ahead), there])


_NOTHING = object()


class _Sent:
    """An item of a stream, and its call on a worker."""

    def __init__(self, client: Any, function: Callable[..., Any], there: Any, item: Any) -> None:
        self._item, self.n_times, self.future = item, 0, None
        self.send(client, function, there)

    def send(self, client: Any, function: Callable[..., Any], there: Any) -> None:
        """Send the item, unless it is done."""
        if self.future is None or self.future.status != "finished":
            self.n_times += 1
            self.future = client.submit(_run, function, there, (self._item,), pure=False)

    def result(self, client: Any, timeout: float) -> Any:
        """Wait for the result, as long as there are workers."""
        return _awaited(client, self.future, timeout)


def _awaited(client: Any, future: Any, timeout: float) -> Any:
    """Return the result of a call, however long it takes, as long as there are workers."""
    from distributed import CancelledError

    seen = time.monotonic()
    while True:
        try:
            return future.result(timeout=POLL)
        except TimeoutError:
            if _is_own_error(future):
                raise
            if future.status in GONE:
                raise CancelledError from None
            if workers_of(client, timeout):
                seen = time.monotonic()
            elif time.monotonic() - seen > timeout:
                raise PalmetteError(
                    f"the cluster has had no workers for {timeout:g} s: start workers, and begin "
                    "again."
                ) from None


def _is_own_error(future: Any) -> bool:
    """Return whether a call has ended with an error of the type by which waiting for it ends."""
    return future.status == "error" and isinstance(future.exception(), TimeoutError)


def computed_on(client: Any, lazy: Sequence[Any], *, timeout: float | None = None) -> list[Any]:
    """Return what Dask collections stand for, computed on the workers.

    Parts of a worker that is lost are computed again.

    Parameters
    ----------
    client : distributed.Client
    lazy : sequence of Dask collections
        Anything else is returned unchanged.
    timeout : float, optional
        Seconds after which a cluster without workers is an error.
    """
    from distributed import Future

    lost, timeout = errors_of_loss(), seconds(timeout)
    for _ in range(ATTEMPTS):
        require_workers(client, timeout)
        try:
            with named_loss(client, timeout):
                # nothing is cancelled: another fit at the same time may wait for the same parts
                futures = client.compute(list(lazy))
                return [
                    _awaited(client, each, timeout) if isinstance(each, Future) else each
                    for each in futures
                ]
        except lost as error:
            last = error
    raise PalmetteError(
        f"parts of a Dask collection were lost with their workers {ATTEMPTS} times: the workers "
        "may have too little memory. Start larger ones, or make smaller parts."
    ) from last


def _place_shared(client: Any, shared: tuple[Any, ...], timeout: float) -> Any:
    """Copy data to every worker; workers that are lost meanwhile are no error."""
    lost: tuple[type[BaseException], ...] = (*errors_of_loss(), TimeoutError)
    for _ in range(ATTEMPTS):
        require_workers(client, timeout)
        try:
            return scatter(client, [shared], timeout, broadcast=True)[0]
        except lost as error:
            last = error
    raise PalmetteError(
        f"workers were lost {ATTEMPTS} times while data were sent to them: they may have too "
        "little memory. Start larger ones, or fewer per machine."
    ) from last


def _forget(client: Any, futures: list[Any]) -> None:
    """Cancel calls and data, unless they are lost with the scheduler."""
    with suppress(Exception):
        if client.status == "running":
            client.cancel(futures)


def _run(function: Callable[..., Any], shared: tuple[Any, ...], job: Sequence[Any]) -> Any:
    """Run a job on a worker, with one thread of BLAS while it is small."""
    return run_jobs(partial(function, *shared), [job], None)[0]
