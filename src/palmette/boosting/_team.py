"""Objects on the workers of a cluster, one on each, whose methods are called together."""

from __future__ import annotations

import asyncio
import pickle
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from palmette.base._clients import POLL, connected, errors_of_loss, workers_of
from palmette.base._cluster import ATTEMPTS, GONE
from palmette.exceptions import PalmetteError


class LostWorkerError(Exception):
    """A worker was lost while objects on it were in use."""


@dataclass(frozen=True)
class _Answer:
    """What a method of an object on a worker returned, or its error."""

    found: Any = None
    error: Exception | None = None

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.found


class _Member:
    """An object on a worker. Calls and results are bytes, which Dask sends without inspecting them.

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
        """Call a method of the object, given its name and its arguments.

        Its errors are answers, so that all others are those of a worker that ends.
        """
        method, given = pickle.loads(message)
        try:
            answer = _Answer(getattr(self._object, method)(*given))
        except Exception as error:
            error.add_note(f"On a worker:\n{traceback.format_exc()}")
            answer = _Answer(error=error)
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)


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
                found = self._client.sync(replies, callback_timeout=POLL)
                break
            except TimeoutError:
                if not set(self._addresses) <= workers_of(self._client).keys():
                    raise LostWorkerError from None
            except Exception as error:  # the connection is closed, or the worker ends
                raise LostWorkerError from error
        return [pickle.loads(answer).get() for answer in found]


@contextmanager
def team_on(
    client: Any,
    kind: type,
    divide: Callable[[Sequence[int]], Sequence[tuple[Any, ...]]],
    *,
    direct: bool = True,
    timeout: float | None = None,
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
    timeout : float, optional
        See `connected`.
    """
    with connected(client, timeout) as given, _own_client(given, direct) as own:
        threads = workers_of(own)
        if not threads:  # the last one was lost after `connected` had seen it
            raise LostWorkerError
        parts = divide(list(threads.values()))
        addresses = list(threads)[: len(parts)]
        yield Team(own, _place(own, kind, parts, addresses), addresses)


def _own_client(given: Any, direct: bool) -> Any:
    """Return a client that has ways of its own to workers, and forgets everything at its end."""
    from distributed import Client

    try:
        return Client(
            given.scheduler.address,
            security=given.security,
            direct_to_workers=direct,
            set_as_default=False,
        )
    except OSError as error:  # the scheduler was lost after `connected` had seen it
        raise LostWorkerError from error


def _place(
    client: Any,
    kind: type,
    parts: Sequence[tuple[Any, ...]],
    addresses: Sequence[str],
) -> list[Any]:
    """Make an object on every worker, and return its actors."""
    lost: tuple[type[BaseException], ...] = (*errors_of_loss(), OSError)
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
            return call.result(timeout=POLL)
        except TimeoutError:
            # Dask forgets calls whose data are lost with another worker
            if call.status in GONE or address not in workers_of(client):
                raise LostWorkerError from None


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
            if n_failures == ATTEMPTS:
                raise PalmetteError(
                    f"workers were lost {n_failures} times in a row: they may have too little "
                    "memory. Start larger ones, or fewer per machine."
                ) from error
