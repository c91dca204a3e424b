"""Clients of a Dask cluster: starting and reaching one, its workers, and what is lost with them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from inspect import signature
from typing import Any

from palmette._stopping import without_interrupts
from palmette.exceptions import PalmetteError

POLL = 0.5  # seconds between looks at the workers
_TIMEOUT = 60.0  # seconds to wait for the scheduler and for workers
_NOTICE = 5.0  # seconds in which a client notices that its connection was closed


def seconds(timeout: float | None) -> float:
    """Return a time to wait, by default the setting ``palmette.timeout`` of Dask, or a minute."""
    if timeout is not None:
        return timeout
    import dask

    return float(dask.config.get("palmette.timeout", _TIMEOUT))


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
        import dask.config
        from distributed import Client, LocalCluster
    except ImportError:
        raise PalmetteError(
            "workers need Dask: pip install 'palmette[dask]', or leave them out."
        ) from None
    with ExitStack() as stack:
        stack.callback(logging.disable, logging.root.manager.disable)  # the last step of the end
        # else a worker that is down 15 s after it was lost, perhaps once more, is given up
        stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}))
        try:
            with without_interrupts():
                cluster = stack.enter_context(
                    LocalCluster(
                        n_workers=n_workers,
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address=None,
                        # else a warning if the port of another cluster's pages is taken
                        scheduler_kwargs={"dashboard_address": ":0"},
                    )
                )
            client = stack.enter_context(Client(cluster, set_as_default=False))
        except (OSError, RuntimeError) as error:  # time-outs of Dask are among them
            raise PalmetteError(
                f"{n_workers} workers could not be started on this machine: {error}. Start fewer, "
                "or set DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=120s if the machine is busy."
            ) from error
        require_workers(client, seconds(None))
        try:
            yield client
        except KeyboardInterrupt:  # workers that end in the middle of their work are no news
            logging.disable()
            raise


@contextmanager
def connected(client: Any, timeout: float | None = None) -> Iterator[Any]:
    """Give a Dask client; one that is made from the address of a scheduler is closed at the end.

    Parameters
    ----------
    client : distributed.Client or str
        A client, or the address of a scheduler such as ``"tcp://10.0.0.1:8786"``.
    timeout : float, optional
        Seconds to wait for the scheduler and its first worker; by default the setting
        ``palmette.timeout`` of Dask (``dask.config.set({"palmette.timeout": 10})``, or the
        environment variable ``DASK_PALMETTE__TIMEOUT``), which is 60.
    """
    try:
        from distributed import Client
    except ImportError:
        raise PalmetteError(
            "client= needs Dask: pip install 'palmette[dask]', or leave it out."
        ) from None
    timeout = seconds(timeout)
    if isinstance(client, Client):
        require_workers(client, timeout)
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
    try:
        require_workers(made, timeout)
        yield made
    finally:
        _close(made)


def _close(client: Any) -> None:
    """Close a client, without the log of Dask that it was not connected any more."""
    with _quiet() if _status(client) != "running" else nullcontext():
        client.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging what an error of ours says, as that it could not connect again."""
    log = logging.getLogger("distributed.client")

    def drop(record: logging.LogRecord) -> bool:
        return False

    log.addFilter(drop)  # one for each thread that does so at the same time
    try:
        yield
    finally:
        log.removeFilter(drop)


def require_workers(client: Any, timeout: float) -> None:
    """Wait until a cluster has a scheduler and a worker; raise an error after some time."""
    late = time.monotonic() + timeout
    while "running" not in [each["status"] for each in _known_workers(client, timeout).values()]:
        if time.monotonic() > late:
            raise PalmetteError(
                f"the cluster has no workers after {timeout:g} s: start some with `dask worker`."
            )
        time.sleep(POLL / 5)


def require_scheduler(client: Any, timeout: float) -> None:
    """Wait until a client is connected to its scheduler again; raise an error after some time.

    Dask itself gives up after its setting ``distributed.comm.timeouts.connect``, 30 s.
    """
    late = time.monotonic() + timeout
    with _quiet() if _status(client) == "connecting" else nullcontext():
        while _status(client) == "connecting" and time.monotonic() < late:
            time.sleep(POLL / 10)
    if _status(client) != "running":
        raise PalmetteError(
            f"the Dask scheduler{_place(client)} does not answer any more: it has ended, or the "
            "client was closed. Start a scheduler and workers, and begin again."
        )


def _status(client: Any) -> str:
    return getattr(client, "status", "running")


def _place(client: Any) -> str:
    address = getattr(getattr(client, "scheduler", None), "address", None)
    return "" if address is None else f" at {address}"  # a closed client has none


@contextmanager
def named_loss(client: Any, timeout: float) -> Iterator[None]:
    """Raise the error of `require_scheduler` for any error of a client that is not connected."""
    try:
        yield
    except PalmetteError:
        raise
    except Exception as error:
        if _is_closed(error):  # the client itself notices it a little later
            late = time.monotonic() + min(timeout, _NOTICE)
            while _status(client) == "running" and time.monotonic() < late:
                time.sleep(POLL / 10)
        if _status(client) != "running":
            try:
                require_scheduler(client, timeout)
            except PalmetteError as lost:
                raise lost from error
        raise


def _is_closed(error: BaseException) -> bool:
    """Return whether an error is that of a connection that was closed."""
    from distributed.comm import CommClosedError

    return isinstance(error, CommClosedError | ConnectionError)


def workers_of(client: Any, timeout: float | None = None) -> dict[str, int]:
    """Return the addresses of the workers, in a fixed order, and their numbers of threads.

    A scheduler that has not answered for some time is an error.
    """
    known = _known_workers(client, seconds(timeout))
    return {address: int(known[address]["nthreads"]) for address in sorted(known)}


def _known_workers(client: Any, timeout: float) -> dict[str, Any]:
    """Return what the scheduler knows about its workers, by their addresses.

    The method of a client that does so waits without bound for a scheduler that hangs.
    """
    from distributed import Scheduler

    require_scheduler(client, timeout)
    is_old = "n_workers" not in signature(Scheduler.identity).parameters
    options = {} if is_old else {"n_workers": -1}

    async def identity() -> Any:
        return await client.scheduler.identity(**options)

    with named_loss(client, timeout):
        try:
            found = client.sync(identity, callback_timeout=timeout)
        except TimeoutError as error:
            raise PalmetteError(
                f"the Dask scheduler{_place(client)} does not answer any more: no answer within "
                f"{timeout:g} s. It hangs, or the network is broken. Begin again when it answers."
            ) from error
    workers: dict[str, Any] = found["workers"]
    return workers


def scatter(client: Any, data: Any, timeout: float, **options: Any) -> Any:
    """Copy data to workers however long it takes, as long as the scheduler answers."""

    async def scattering() -> Any:
        return await client.scatter(data, hash=False, timeout=timeout, asynchronous=True, **options)

    import asyncio

    sent = asyncio.run_coroutine_threadsafe(scattering(), client.loop.asyncio_loop)
    try:
        while True:
            try:
                return sent.result(timeout=POLL)
            except TimeoutError:
                if sent.done():
                    raise
                workers_of(client, timeout)
    finally:
        sent.cancel()


def errors_of_loss() -> tuple[type[BaseException], ...]:
    """Return the errors by which Dask says that a worker, or data on it, is lost."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError
    from distributed.scheduler import NoValidWorkerError

    return CancelledError, KilledWorker, NoValidWorkerError, CommClosedError
