"""Calls on the workers of a Dask cluster: data are placed once, results come in order."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from palmette.base._fitting import run_jobs
from palmette.exceptions import PalmetteError

_POLL = 0.5  # seconds between looks at the workers
_ATTEMPTS = 4  # calls of a job whose worker was lost
TIMEOUT = 60.0  # seconds to wait for a worker


@contextmanager
def started(n_workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """Give a client of the cluster that a user has asked for; None if there is none.

    Parameters
    ----------
    n_workers : int or None
        Number of processes of this machine that are started, and ended afterwards.
    scheduler : str or None
        Address of a cluster that runs already.
    """
    if n_workers is None and scheduler is None:
        yield None
        return
    if n_workers is not None and scheduler is not None:
        raise PalmetteError(
            "got both a number of workers and a scheduler: expected one of them, since the workers "
            "of a cluster are started with it."
        )
    if scheduler is not None:
        with connected(scheduler) as client:
            yield client
        return
    if n_workers is None or n_workers < 1:
        raise PalmetteError(f"got {n_workers} workers: expected at least 1.")
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise PalmetteError(
            "workers need Dask: pip install 'palmette[dask]', or leave them out."
        ) from None
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def connected(client: Any, timeout: float = TIMEOUT) -> Iterator[Any]:
    """Give a Dask client; one that is made from the address of a scheduler is closed at the end.

    Parameters
    ----------
    client : distributed.Client or str
        A client, or the address of a scheduler such as ``"tcp://10.0.0.1:8786"``.
    timeout : float
        Seconds to wait for the scheduler and its first worker.
    """
    try:
        from distributed import Client
    except ImportError:
        raise PalmetteError(
            "client= needs Dask: pip install 'palmette[dask]', or leave it out."
        ) from None
    if isinstance(client, Client):
        _require_workers(client, timeout)
        yield client
        return
    if not isinstance(client, str):
        raise PalmetteError(
            f"client is a {type(client).__name__}: expected a distributed.Client or the address of "
            "a scheduler, such as 'tcp://10.0.0.1:8786'."
        )
    try:
        made = Client(client, timeout=timeout, set_as_default=False)
    except Exception as error:  # what answers may be anything, and be read as anything
        raise PalmetteError(
            f"no Dask scheduler answers at {client} within {timeout:g} s: check the address, or "
            "start one with `dask scheduler`."
        ) from error
    with made:
        _require_workers(made, timeout)
        yield made


def _require_workers(client: Any, timeout: float) -> None:
    try:
        client.wait_for_workers(1, timeout=timeout)
    except (TimeoutError, RuntimeError) as error:
        raise PalmetteError(
            f"the cluster has no workers after {timeout:g} s: start some with `dask worker`."
        ) from error


def map_on(
    client: Any,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    jobs: Sequence[Sequence[Any]],
    *,
    sizes: Sequence[float] | None = None,
    timeout: float = TIMEOUT,
) -> list[Any]:
    """Return the results of `each_on` in the order of the jobs."""
    results: list[Any] = [None] * len(jobs)
    for i, result in each_on(client, function, shared, jobs, sizes=sizes, timeout=timeout):
        results[i] = result
    return results


def each_on(
    client: Any,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    jobs: Sequence[Sequence[Any]],
    *,
    sizes: Sequence[float] | None = None,
    timeout: float = TIMEOUT,
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
    timeout : float
        Seconds after which a cluster without workers is an error.

    Yields
    ------
    (int, object)
        Number of a job and its result, in the order in which they end.
    """
    left = set(range(len(jobs)))
    order = sorted(left, key=lambda i: 0.0 if sizes is None else -sizes[i])
    for _ in range(_ATTEMPTS):
        if not left:
            return
        _require_workers(client, timeout)
        wanted = [i for i in order if i in left]
        for i, result in _attempt(client, function, shared, jobs, wanted, timeout):
            left.discard(i)
            yield i, result
    if left:
        raise PalmetteError(
            f"{len(left)} of {len(jobs)} jobs were lost with their workers {_ATTEMPTS} times: the "
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
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError
    from distributed.scheduler import NoValidWorkerError

    lost = (CancelledError, KilledWorker, NoValidWorkerError, CommClosedError)
    name = f"palmette-{uuid4().hex}"  # so that fits at the same time do not share keys
    placed = client.scatter([shared], broadcast=True, hash=False)[0]
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
                future = ended.get(timeout=_POLL)
            except Empty:
                if client.scheduler_info()["workers"]:
                    seen = time.monotonic()
                elif time.monotonic() - seen > timeout:
                    raise PalmetteError(
                        f"the cluster has had no workers for {timeout:g} s: {len(futures)} of "
                        f"{len(jobs)} jobs are left. Start workers and fit again."
                    ) from None
                continue
            i = futures.pop(future)
            try:
                yield i, future.result(timeout=timeout)
            except lost:
                continue  # the next attempt places the data again
    finally:
        client.cancel([*futures, placed])


# ---------------------------------------------------------------------- objects on workers


class LostWorkerError(Exception):
    """A worker was lost while objects on it were in use."""


class _Member:
    """An object on a worker. Calls and results are bytes, which Dask sends without a look at them.

    Parameters
    ----------
    kind : type
    part : tuple
        Arguments of the object.
    computed : dict of int to object
        Those that Dask has computed, by their numbers.
    """

    def __init__(self, kind: type, part: tuple[Any, ...], computed: dict[int, Any]) -> None:
        self._object = kind(*(computed.get(i, each) for i, each in enumerate(part)))

    def call(self, message: bytes) -> bytes:
        """Call a method of the object, given its name and its arguments."""
        method, given = pickle.loads(message)
        return pickle.dumps(getattr(self._object, method)(*given), pickle.HIGHEST_PROTOCOL)


class Team:
    """Objects of one class on workers, one on each, whose methods are called together.

    Parameters
    ----------
    client : distributed.Client
    actors : sequence of distributed.Actor
        Of the class `_Member`.
    addresses : sequence of str
        Of their workers.
    """

    def __init__(self, client: Any, actors: Sequence[Any], addresses: Sequence[str]) -> None:
        self._client, self._actors, self._addresses = client, actors, addresses

    def call(self, method: str, *given: Any) -> list[Any]:
        """Call a method of every object with the same arguments; return results in their order."""
        message = pickle.dumps((method, given), pickle.HIGHEST_PROTOCOL)
        return self._results([message] * len(self._actors))

    def call_each(self, method: str, given: Sequence[Sequence[Any]]) -> list[Any]:
        """Call a method of every object with arguments of its own."""
        messages = [pickle.dumps((method, own), pickle.HIGHEST_PROTOCOL) for own in given]
        return self._results(messages)

    def _results(self, messages: Sequence[bytes]) -> list[Any]:
        try:
            pairs = zip(self._actors, messages, strict=True)
            calls = [actor.call(message) for actor, message in pairs]
        except RuntimeError as error:  # of an actor whose worker is known to be lost
            raise LostWorkerError from error

        async def replies() -> Any:
            return await asyncio.gather(*calls)

        while True:
            try:
                return [*map(pickle.loads, self._client.sync(replies, callback_timeout=_POLL))]
            except TimeoutError:
                if not set(self._addresses) <= workers_of(self._client).keys():
                    raise LostWorkerError from None
            except OSError as error:  # the connection is closed
                raise LostWorkerError from error


@contextmanager
def team_on(
    client: Any,
    kind: type,
    divide: Callable[[Sequence[int]], Sequence[tuple[Any, ...]]],
    *,
    direct: bool = True,
    timeout: float = TIMEOUT,
) -> Iterator[Team]:
    """Give a team of objects, one per worker, that end with the context.

    Parameters
    ----------
    client : distributed.Client or str
        See `connected`.
    kind : type
        Called with the parts on the workers.
    divide : callable
        Given the numbers of threads of the workers, returns the arguments of the objects, for at
        most as many workers. Dask collections among them are computed on the worker.
    direct : bool
        Whether workers are connected to directly, not by way of the scheduler.
    timeout : float
        Seconds to wait for the scheduler and the first worker.
    """
    from distributed import Client

    with (
        connected(client, timeout) as given,
        # a client of its own has ways of its own to workers, and forgets everything at its end
        Client(
            given.scheduler.address,
            security=given.security,
            direct_to_workers=direct,
            set_as_default=False,
            timeout=timeout,
        ) as own,
    ):
        threads = workers_of(own)
        parts = divide(list(threads.values()))
        addresses = list(threads)[: len(parts)]
        yield Team(own, _place(own, kind, parts, addresses), addresses)


def _place(
    client: Any,
    kind: type,
    parts: Sequence[tuple[Any, ...]],
    addresses: Sequence[str],
) -> list[Any]:
    """Make an object on every worker, and return its actors."""
    from distributed import CancelledError, KilledWorker
    from distributed.scheduler import NoValidWorkerError

    lost = (CancelledError, KilledWorker, NoValidWorkerError, OSError)
    made = []
    try:
        with client.as_current():  # an actor belongs to the client that is current
            for part, address in zip(parts, addresses, strict=True):
                where = {"workers": [address], "allow_other_workers": False}
                lazy = {i: each for i, each in enumerate(part) if hasattr(each, "__dask_graph__")}
                computed = {i: client.compute(each, **where) for i, each in lazy.items()}
                rest = tuple(None if i in lazy else each for i, each in enumerate(part))
                there = client.scatter([rest], workers=[address], hash=False)[0]
                given = _Member, kind, there, computed
                made.append(client.submit(*given, **where, pure=False, actor=True))
            return [_awaited(client, *each) for each in zip(made, addresses, strict=True)]
    except lost as error:
        raise LostWorkerError from error


def _awaited(client: Any, call: Any, address: str) -> Any:
    """Return the result of a call on a worker, however long it takes, unless that is lost."""
    while True:
        try:
            return call.result(timeout=_POLL)
        except TimeoutError:
            if address not in workers_of(client):
                raise LostWorkerError from None


def workers_of(client: Any) -> dict[str, int]:
    """Return the addresses of the workers, in a fixed order, and their numbers of threads."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    return {address: int(known[address]["nthreads"]) for address in sorted(known)}


def retried(attempt: Callable[[int], Iterator[Any]]) -> Iterator[Any]:
    """Yield what an attempt yields, and begin another one after a worker was lost.

    Parameters
    ----------
    attempt : callable
        Given the number of attempts before it, returns an iterator that goes on after what the
        others have yielded.
    """
    number = n_failures = 0
    while True:
        try:
            for each in attempt(number):
                n_failures = 0
                yield each
            return
        except LostWorkerError as error:
            number, n_failures = number + 1, n_failures + 1
            if n_failures == _ATTEMPTS:
                raise PalmetteError(
                    f"workers were lost {n_failures} times in a row: they may have too little "
                    "memory. Start larger ones, or fewer per machine."
                ) from error


def _run(function: Callable[..., Any], shared: tuple[Any, ...], job: Sequence[Any]) -> Any:
    """Run a job on a worker, with one thread of BLAS while it is small."""
    return run_jobs(partial(function, *shared), [job], None)[0]
