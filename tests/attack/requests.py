"""Attack servers by requests, and print what came of it.

python -m tests.attack.requests --requests 10000 --jobs 16    # from the root of the project
python -m tests.attack.requests --seed 0 --only 17            # one of the requests again

Each job starts `palmette serve` as a process that may reach nothing outside, and sends its share.
After every 50 requests a good one must be answered as ever, and at times the worker is killed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from tests.attack.guard import guarded
from tests.attack.strange_requests import GOOD, MAX_BODY, REQUESTS, Sent

__all__ = ["Reply", "Tally", "attacked", "faults_of", "reply_to", "sent_by", "table"]

_EVERY = 50  # requests after which a good one is sent
_KILL_EVERY = 200  # requests after which the worker is killed, and at the end
_PATIENCE = 60.0  # seconds in which a request must be answered
_READ_SECONDS = 1  # that the server gives a body
_IDLE = 2.0  # seconds without a byte after which a connection that need not be answered is closed
_GROWTH = 300  # MiB by which the memory of a worker may grow: pages of the model that it shared
_MODELS = ("of_tables", "of_texts")
_ROOT = Path(__file__).parents[2]
_STATUS = re.compile(rb"(?:^|(?<=[}\n]))HTTP/1\.1 ([1-5]\d\d) ")
_FINE = {503}  # of the server itself: busy, which it says with the time to wait


@dataclass
class Reply:
    """What came of a request."""

    number: int
    kind: str
    statuses: list[int]
    outcome: str  # "answered", "closed" (where that is fine), "dropped" or "hang"
    seconds: float
    text: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether a client may not be treated so."""
        wrong = any(s >= 500 and s not in _FINE for s in self.statuses)
        return wrong or self.outcome in ("dropped", "hang")


@dataclass
class Tally:
    """What came of the requests to one server."""

    replies: list[Reply] = field(default_factory=list)
    n_checks: int = 0
    faults: list[str] = field(default_factory=list)  # of the checks
    n_killed: int = 0
    n_replaced: int = 0
    memory: list[int] = field(default_factory=list)  # MiB of the worker at each check
    log: str = ""


def sent_by(number: int, seed: int) -> tuple[str, Sent]:
    """Return a request by its number; kinds take turns."""
    kind = list(REQUESTS)[number % len(REQUESTS)]
    return kind, REQUESTS[kind](Random(f"{seed}/{number}/{kind}"))


# ---------------------------------------------------------------------- the server


class Server:
    """`palmette serve` as a process, with a log of what it says."""

    def __init__(self, folder: Path, model: str) -> None:
        self.log = folder / "log"
        file = folder / "goods.palmette"
        words = ["-m", "tests.attack.requests", "--serve", model, str(file)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([sys.executable, *words], stderr=log, cwd=_ROOT)
        end = time.monotonic() + 300
        while not (found := re.search(r"serving on http://127\.0\.0\.1:(\d+)/", self.said())):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server did not start: {self.said()}")
            time.sleep(0.05)
        self.port = int(found[1])

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def worker(self) -> int:
        """The process that answers, a child of the supervisor."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        return int(children[0]) if children else pid

    def mebibytes(self) -> int:
        status = Path(f"/proc/{self.worker}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) // 1024

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()


def _serve(model: str, file: str) -> None:
    """Run the server in this process, which may connect to nothing and write nothing."""
    import uvicorn.config  # looks for packages that the tests do not need  # noqa: F401
    from tests.serving import fitted

    from palmette.cli.main import main as run
    from palmette.persistence import save

    save(getattr(fitted, model)(), file)
    options = ["--port", "0", "--read-timeout", str(_READ_SECONDS), "--timeout", "30"]
    sys.argv = ["palmette", "serve", file, "--max-body", str(MAX_BODY / 2**20), *options]
    with guarded():
        run()


# ---------------------------------------------------------------------- one request


def _exchange(port: int, sent: Sent, idle: float = _IDLE) -> tuple[list[int], str, bytes]:
    """Send a request, and return the statuses of its replies, the outcome, and the replies."""
    with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE) as client:
        received = bytearray()
        is_gone = False
        try:
            for i, piece in enumerate(sent.pieces):
                if i and sent.pause:
                    time.sleep(sent.pause)
                client.sendall(piece)
            if sent.end == "half":
                client.shutdown(socket.SHUT_WR)
        except OSError:  # refused before its end, perhaps already closed
            is_gone = True
        if sent.end == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return [], "closed", b""
        must = sent.n_replies is not None
        ended = _receive(client, received, _PATIENCE if must else idle)
    statuses = [int(status) for status in _STATUS.findall(bytes(received))]
    if must and len(statuses) < (sent.n_replies or 0):
        return statuses, "dropped" if ended or is_gone else "hang", bytes(received)
    return statuses, "answered" if statuses else "closed", bytes(received)


def _receive(client: socket.socket, received: bytearray, seconds: float) -> bool:
    """Read until the server closes, which is true, or until it has been silent for some time."""
    while select.select([client], [], [], seconds)[0]:
        try:
            piece = client.recv(2**16)
        except ConnectionError:
            return True
        if not piece:
            return True
        received += piece
    return False


def reply_to(number: int, seed: int, port: int, idle: float = _IDLE) -> Reply:
    """Send a request to a server, and return what came of it."""
    kind, sent = sent_by(number, seed)
    began = time.monotonic()
    try:
        statuses, outcome, content = _exchange(port, sent, idle)
    except OSError as error:
        statuses, outcome, content = [], "dropped", repr(error).encode()
    seconds = round(time.monotonic() - began, 3)
    text = content[:2000].decode(errors="replace")
    return Reply(number, kind, statuses, outcome, seconds, text)


# ---------------------------------------------------------------------- one server


def _ask(port: int, path: str, body: bytes | None = None) -> Any:
    """Return the reply to a good request."""
    head = f"POST {path}" if body else f"GET {path}"
    lines = f"{head} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
    sent = Sent([f"{lines}Content-Length: {len(body or b'')}\r\n\r\n".encode() + (body or b"")])
    statuses, outcome, content = _exchange(port, sent)
    if statuses != [200]:
        raise RuntimeError(f"{path} after others: {outcome} {statuses} {content[:300]!r}")
    return json.loads(content.partition(b"\r\n\r\n")[2])


def _check(server: Server, tally: Tally, after: int) -> None:
    """Note whether good requests are answered as ever."""
    tally.n_checks += 1
    try:
        answer = _ask(server.port, "/predict", json.dumps({"rows": [GOOD]}).encode())
        if answer["predictions"][0]["prediction"] != "Food > Fruit":
            raise RuntimeError(f"another answer: {answer}")
        health = _ask(server.port, "/health")
        tally.n_replaced = health["replaced"]
        if health["status"] != "ok" or health["waiting_rows"]:
            raise RuntimeError(f"another health: {health}")
        tally.memory.append(server.mebibytes())
    except (RuntimeError, OSError, ValueError) as error:
        tally.faults.append(f"after {after}: {error}")


def model_of(number: int) -> str:
    """Return the model that a request is for: two take turns."""
    return _MODELS[number // len(REQUESTS) % 2]


def attacked(numbers: Sequence[int], seed: int) -> Tally:
    """Send requests to a server of their own; slow ones stay open meanwhile."""
    tally = Tally()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(_Stopping(Server(Path(folder), model_of(numbers[0])))) as stopping,
        ThreadPoolExecutor(8) as threads,
    ):
        server = stopping.server
        with guarded(folders=[folder], hosts=["127.0.0.1"]):
            _check(server, tally, -1)
            waiting = []
            for i, number in enumerate(numbers, start=1):
                if list(REQUESTS)[number % len(REQUESTS)] == "slow":
                    waiting.append(threads.submit(reply_to, number, seed, server.port))
                else:
                    tally.replies.append(reply_to(number, seed, server.port))
                if not i % _EVERY or i == len(numbers):
                    _check(server, tally, number)
                if not i % _KILL_EVERY or i == len(numbers):
                    # what is being answered would be lost
                    tally.replies += [each.result() for each in waiting]
                    waiting = []
                    os.kill(server.worker, signal.SIGKILL)
                    tally.n_killed += 1
            _check(server, tally, numbers[-1])
        tally.log = server.said()
    return tally


@dataclass
class _Stopping:
    server: Server

    def close(self) -> None:
        self.server.stop()


# ---------------------------------------------------------------------- all requests


def _tallies(numbers: Sequence[int], seed: int, n_processes: int) -> Iterator[Tally]:
    by_model = [[n for n in numbers if model_of(n) == name] for name in ("of_tables", "of_texts")]
    shares = [
        share for each in by_model for k in range(n_processes) if (share := each[k::n_processes])
    ]
    if n_processes == 1:
        yield from (attacked(share, seed) for share in shares)
        return
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(attacked, share, seed) for share in shares]):
            yield future.result()


_COLUMNS = ("sent", "2xx", "4xx", "503", "other 5xx", "closed", "dropped", "hang")


def table(replies: Sequence[Reply]) -> str:
    """Return the outcomes by kind as a table; statuses are those of all replies."""
    counts: Counter[tuple[str, str]] = Counter()
    slowest: dict[str, float] = {}
    for each in replies:
        for name in (each.kind, "all"):
            counts[name, "sent"] += 1
            counts[name, each.outcome] += 1
            slowest[name] = max(slowest.get(name, 0.0), each.seconds)
            for status in each.statuses:
                family = "503" if status == 503 else f"{status // 100}xx"
                counts[name, "other 5xx" if family == "5xx" else family] += 1
    lines = [f"{'requests':14}" + "".join(f"{c:>11}" for c in (*_COLUMNS, "slowest s"))]
    for name in [*REQUESTS, "all"]:
        if counts[name, "sent"]:
            numbers = "".join(f"{counts[name, c]:11,}" for c in _COLUMNS)
            lines.append(f"{name:14}{numbers}{slowest[name]:11.1f}")
    return "\n".join(lines)


def faults_of(tallies: Sequence[Tally]) -> list[str]:
    """Return what no requests may do to a server."""
    found = []
    for each in tallies:
        found += each.faults
        if each.n_replaced != each.n_killed:
            found.append(f"{each.n_replaced} workers replaced, but {each.n_killed} killed")
        if each.memory and each.memory[-1] - each.memory[0] > _GROWTH:
            found.append(
                f"memory of the worker grew from {each.memory[0]} to {each.memory[-1]} MiB"
            )
        if "Traceback" in each.log or "Acted" in each.log:
            found.append(
                f"in the log of the server: {each.log[each.log.find('Traceback') :][:3000]}"
            )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and return 1 if a request did what none may do."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.requests", description=__doc__)
    parser.add_argument("--requests", type=int, default=500, help="number of requests")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="number of servers")
    parser.add_argument("--only", type=int, help="only this request, by its number")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        _serve(*given.serve)
        return 0
    began = time.monotonic()
    numbers = range(given.requests) if given.only is None else [given.only]
    tallies = []
    for tally in _tallies(numbers, given.seed, given.jobs):
        tallies.append(tally)
        print(f"{len(tallies)} servers done", file=sys.stderr, flush=True)
    replies = [reply for tally in tallies for reply in tally.replies]
    print(table(replies))
    faults = faults_of(tallies)
    bad = [reply for reply in replies if reply.is_bad]
    _tell(tallies, given, time.monotonic() - began)
    for reply in bad[:20]:
        print(
            f"{reply.kind}: {reply.outcome} {reply.statuses}, {reply.seconds} s: {reply.text[:300]}"
        )
        print(f"    python -m tests.attack.requests --seed {given.seed} --only {reply.number}")
    print("\n".join(faults[:20]))
    if given.only is not None:
        print(f"{replies[0]}\n{tallies[0].log}")
    return int(bool(bad or faults))


def _tell(tallies: Sequence[Tally], given: argparse.Namespace, seconds: float) -> None:
    n_checks = sum(each.n_checks for each in tallies)
    n_faults = sum(len(each.faults) for each in tallies)
    killed = sum(each.n_killed for each in tallies)
    replaced = sum(each.n_replaced for each in tallies)
    print(f"good requests and /health between them: {n_checks} times, {n_faults} faults")
    print(f"workers killed by this program: {killed}, replaced: {replaced}")
    first = max((t.memory[0] for t in tallies if t.memory), default=0)
    last = max((t.memory[-1] for t in tallies if t.memory), default=0)
    most = max((max(t.memory) for t in tallies if t.memory), default=0)
    print(f"memory of a worker: {first} MiB at first, {last} at the end, {most} at most")
    acted = sum("Acted" in each.log for each in tallies)
    print(f"network: {'see the log' if acted else 'none'}")
    print(f"{seconds:.0f} s, seed {given.seed}, {len(tallies)} servers\n")


if __name__ == "__main__":
    sys.exit(main())
