"""Objects on the workers of a cluster, one on each, whose methods are called together."""

from __future__ import annotations

import asyncio
import pickle
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hmac import compare_digest
from multiprocessing.connection import Connection
from secrets import token_bytes
from typing import Any

from palmette.base._clients import (
    POLL,
    connected,
    errors_of_loss,
    scatter,
    seconds,
    workers_of,
)
from palmette.base._cluster import ATTEMPTS, GONE
from palmette.exceptions import PalmetteError

_SECONDS_TO_CONNECT = 10.0  # after which Dask sends the messages


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
        try:
            method, given = pickle.loads(message)
            found = getattr(self._object, method)(*given)
            return pickle.dumps(_Answer(found), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            error.add_note(f"On a worker:\n{traceback.format_exc()}")
            return pickle.dumps(_Answer(error=error), pickle.HIGHEST_PROTOCOL)

    def listen(self, host: str, token: bytes) -> int:
        """Answer the calls of one connection too, see `_lines_to`; return the port for it."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        server = socket.create_server((host, 0), family=family, backlog=1)
        server.settimeout(_SECONDS_TO_CONNECT)
        threading.Thread(target=self._answer, args=(server, token), daemon=True).start()
        return int(server.getsockname()[1])

    def _answer(self, server: socket.socket, token: bytes) -> None:
        """Answer calls until the connection is closed; nothing is read before the token."""
        with suppress(OSError, EOFError):
            with server:
                accepted, _ = server.accept()
            with _line(accepted) as line:
                known = line.poll(_SECONDS_TO_CONNECT) and line.recv_bytes(len(token))
                if not known or not compare_digest(known, token):
                    return
                line.send_bytes(token)
                while True:
                    line.send_bytes(self.call(line.recv_bytes()))


def _line(connected: socket.socket) -> Connection:
    """Return a connection that sends and receives bytes, each message at once."""
    connected.settimeout(None)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(connected.detach())


class Team:
    """Objects of one class on workers, one on each, whose methods are called together.

    Parameters
    ----------
    client : distributed.Client
    actors : sequence of distributed.Actor
        Of the class `_Member`.
    addresses : sequence of str
        Of their workers.
    lines : sequence of Connection, optional
        From `_lines_to`; by default Dask sends the messages.
    """

    def __init__(
        self,
        client: Any,
        actors: Sequence[Any],
        addresses: Sequence[str],
        lines: Sequence[Connection] = (),
    ) -> None:
        self._client, self._actors, self._addresses = client, actors, addresses
        self._lines = lines

    def call(self, method: str, *given: Any) -> list[Any]:
        """Call a method of every object with the same arguments; return results in their order."""
        message = pickle.dumps((method, given), pickle.HIGHEST_PROTOCOL)
        return self._results([message] * len(self._actors))

    def call_each(self, method: str, given: Sequence[Sequence[Any]]) -> list[Any]:
        """Call a method of every object with arguments of its own."""
        messages = [pickle.dumps((method, own), pickle.HIGHEST_PROTOCOL) for own in given]
        return self._results(messages)

    def _results(self, messages: Sequence[bytes]) -> list[Any]:
        found = self._on_lines(messages) if self._lines else self._by_dask(messages)
        return [pickle.loads(answer).get() for answer in found]

    def _on_lines(self, messages: Sequence[bytes]) -> list[bytes]:
        try:
            for line, message in zip(self._lines, messages, strict=True):
                line.send_bytes(message)
            for line in self._lines:
                while not line.poll(POLL):
                    self._require_workers()
            return [line.recv_bytes() for line in self._lines]
        except (OSError, EOFError) as error:  # the connection is closed
            _await_loss(self._client, self._addresses)
            raise LostWorkerError from error

    def _by_dask(self, messages: Sequence[bytes]) -> list[bytes]:
        try:
            pairs = zip(self._actors, messages, strict=True)
            calls = [actor.call(message) for actor, message in pairs]
        except RuntimeError as error:  # of an actor whose worker is known to be lost
            raise LostWorkerError from error

        async def replies() -> Any:
            return await asyncio.gather(*calls)

        while True:
            try:
                return list(self._client.sync(replies, callback_timeout=POLL))
            except TimeoutError:
                self._require_workers()
            except Exception as error:  # the connection is closed, or the worker ends
                raise LostWorkerError from error

    def _require_workers(self) -> None:
        if not set(self._addresses) <= workers_of(self._client).keys():
            raise LostWorkerError


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
        actors = _place(own, kind, parts, addresses)
        with _lines_to(actors, addresses if direct else []) as lines:
            yield Team(own, actors, addresses, lines)


@contextmanager
def _lines_to(actors: Sequence[Any], addresses: Sequence[str]) -> Iterator[list[Connection]]:
    """Give connections of this process to members of a team.

    A call of an actor of Dask takes milliseconds of both processes, and boosting has hundreds of
    small calls. Members answer on a port of their own, to who knows a token, which Dask sends.
    Where that is not possible, or the cluster encrypts its messages, there are none.
    """
    from distributed.comm import get_address_host

    with ExitStack() as stack:
        lines: list[Connection] = []
        try:
            for actor, address in zip(actors, addresses, strict=False):
                if not address.startswith("tcp://"):
                    raise OSError(address)
                host, token = get_address_host(address), token_bytes()
                port = actor.listen(host, token).result(timeout=_SECONDS_TO_CONNECT)
                reached = socket.create_connection((host, port), timeout=_SECONDS_TO_CONNECT)
                lines.append(stack.enter_context(_line(reached)))
                lines[-1].send_bytes(token)
                if not lines[-1].poll(_SECONDS_TO_CONNECT) or lines[-1].recv_bytes() != token:
                    raise OSError(address)
        except (OSError, EOFError, RuntimeError):
            lines = []
        yield lines


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
                there = scatter(client, [rest], seconds(None), workers=[address])[0]
                given = _Member, kind, there, computed
                made.append(client.submit(*given, **where, pure=False, actor=True))
            return [_awaited(client, *each) for each in zip(made, addresses, strict=True)]
    except lost as error:
        _await_loss(client, addresses)
        raise LostWorkerError from error


def _await_loss(client: Any, addresses: Sequence[str]) -> None:
    """Wait until the scheduler knows of a lost worker, for some seconds at most.

    Otherwise the next attempts would use the same worker.
    """
    late = time.monotonic() + _SECONDS_TO_CONNECT
    while set(addresses) <= workers_of(client).keys() and time.monotonic() < late:
        time.sleep(POLL / 10)


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
