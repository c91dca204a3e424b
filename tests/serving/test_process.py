"""`palmette serve` as a process: it starts, answers, stops when told, and survives bad clients."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.serving.fitted import of_texts

from palmette.persistence import save


def supervised(test):
    """Mark a test of a supervisor and its worker."""
    reason = "elsewhere a server is one process"
    return pytest.mark.thorough(
        pytest.mark.skipif(not sys.platform.startswith("linux"), reason=reason)(test)
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "goods.palmette"
    save(of_texts(), path)
    return path


@pytest.fixture
def start(stored):
    """Start servers, and end those that still run."""
    started = []

    def run(*options, port=0, program=None):
        words = ["-m", "palmette.cli.main", "serve", str(stored), "--port", str(port), *options]
        words = [sys.executable, *(words if program is None else ["-c", program])]
        running = subprocess.Popen(
            words, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )
        started.append(running)
        line = running.stderr.readline()
        [address] = re.findall(r"serving on (http://127\.0\.0\.1:\d+/) ", line)
        return running, address

    yield run
    for running in started:
        if running.poll() is None:
            running.kill()
        running.wait()
        running.stderr.close()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_it_answers_and_stops_at_sigterm(start):
    process, address = start()
    body = BODY
    assert _suggest(address) == "Food > Fruit"
    assert _send_too_much(address) == b"HTTP/1.1 413 "
    with _connect(address) as client:
        client.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body[:5])
        with urllib.request.urlopen(address + "health", timeout=120):
            pass  # the request before it has begun
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        client.sendall(body[5:])
        assert client.recv(13) == b"HTTP/1.1 200 "
    assert process.wait(120) == 0
    assert process.stderr.read() == "stopped\n"


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_broken_slow_and_huge_requests_leave_others_alone(start):
    process, address = start("--read-timeout", "1")
    assert _suggest(address) == "Food > Fruit"
    worker = _worker_of(process)
    before = _peak_memory(worker)
    whole = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
    for end in (5, 40, len(whole) - 3, len(whole)):  # in the head, in the body, before the reply
        for _ in range(5):
            client = _connect(address)
            client.sendall(whole[:end])
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()  # by a reset
    slow = [_connect(address) for _ in range(20)]
    for client in slow:
        client.sendall(whole[:-3])  # and never the rest
    assert _suggest(address) == "Food > Fruit"  # while they wait
    refused = (b"HTTP/1.1 413 ", b"")
    assert _send_all(address, HEAD + b"Content-Length: 100000000\r\n\r\n", 100) in refused
    chunks = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    assert _send_all(address, chunks, 100, b"%x\r\n%b\r\n") in refused
    for client in slow:
        assert client.recv(13) == b"HTTP/1.1 408 "
        client.close()
    assert _suggest(address) == "Food > Fruit"
    assert _peak_memory(worker) - before < 64 * 2**10  # of 200 MB that were sent
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0
    assert process.stderr.read() == "stopped\n"  # no traceback


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_server_that_is_killed_under_load_starts_again_on_its_port(start):
    process, address = start()
    port = int(address.rstrip("/").rpartition(":")[2])
    answers, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            try:
                answers.append(_suggest(address))
            except (OSError, http.client.HTTPException):
                answers.append(None)
                stop.wait(0.01)

    clients = [threading.Thread(target=ask) for _ in range(8)]
    for client in clients:
        client.start()
    try:
        _wait_for(lambda: len(answers) > 20)
        process.kill()
        process.wait()
        _wait_for(lambda: answers[-1] is None)
        again, same = start(port=port)
        assert same == address
        n_before = len(answers)
        _wait_for(lambda: answers[n_before:].count("Food > Fruit") > 20)
    finally:
        stop.set()
        for client in clients:
            client.join()
    assert set(answers) == {"Food > Fruit", None}
    again.send_signal(signal.SIGTERM)
    assert again.wait(120) == 0
    assert again.stderr.read() == "stopped\n"


@supervised
def test_a_worker_that_dies_is_replaced_and_health_says_so(start):
    process, address = start()
    assert _health(address)["replaced"] == 0
    waiting = []
    for n_dead, ending in enumerate([signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT], start=1):
        os.kill(_worker_of(process), ending)
        waiting.append(_suggest(address))  # is not refused, and waits for the next worker
        assert _health(address)["replaced"] == n_dead
    assert waiting == ["Food > Fruit"] * 3
    health = _health(address)
    assert health["since"] < health["last_replaced"]
    with urllib.request.urlopen(address + "metrics", timeout=120) as reply:
        assert b"\npalmette_workers_replaced_total 3\n" in reply.read()
    worker = _worker_of(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 0
    told = process.stderr.read().splitlines()
    assert told[0] == "the worker ended by SIGKILL, and is replaced (1 since the start)"
    assert told[-1] == "stopped"
    assert not Path(f"/proc/{worker}").exists()


STUCK = """
import sys
from tests.serving.fitted import of_texts
from palmette.serving import Limits, make_app, serve
model = of_texts()
transform = model.vectorizer_.transform
def hang(X):
    while "stuck" in X["title"].tolist():
        pass
    return transform(X)
model.vectorizer_.transform = hang
serve(make_app(model, limits=Limits(seconds=1)), port=0, tell=lambda s: print(s, file=sys.stderr))
"""


@supervised
def test_a_worker_in_which_a_call_never_ends_is_replaced(start):
    process, address = start(program=STUCK)
    with pytest.raises(urllib.error.HTTPError, match="503"):
        _suggest(address, {"text": "stuck"})
    line = process.stderr.readline()
    while not line.startswith("the worker ended by exit status 1, and is replaced"):
        line = process.stderr.readline()
    assert _health(address)["replaced"] == 1
    assert _suggest(address) == "Food > Fruit"
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0


SILENT = """
import re, sys
from tests.serving.fitted import of_texts
from palmette.serving import Limits, _app, make_app, serve
_app._PATIENCE = 3
model = of_texts()
transform = model.vectorizer_.transform
def hang(X):
    if "silent" in X["title"].tolist():
        re.match("(a+)+$", "a" * 60 + "b")  # no other thread runs meanwhile, and no signal handler
    return transform(X)
model.vectorizer_.transform = hang
serve(make_app(model, limits=Limits(seconds=1)), port=0, tell=lambda s: print(s, file=sys.stderr))
"""


@supervised
def test_a_worker_of_which_no_thread_can_run_is_replaced(start):
    process, address = start(program=SILENT)
    with pytest.raises((http.client.HTTPException, OSError)):
        _suggest(address, {"text": "silent"})
    assert _suggest(address) == "Food > Fruit"
    assert _health(address)["replaced"] == 1
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0
    assert process.stderr.read().splitlines() == [
        "the worker has done nothing for 3 s: it is ended",
        "the worker ended by SIGKILL, and is replaced (1 since the start)",
        "stopped",
    ]


@supervised
def test_a_worker_lives_no_longer_than_its_supervisor(start):
    process, _ = start()
    worker = _worker_of(process)
    process.kill()
    process.wait()
    _wait_for(lambda: not Path(f"/proc/{worker}").exists())


HEAD = b"POST /suggest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
BODY = json.dumps({"text": "pear", "limit": 1}).encode()


def _suggest(address, asked=None):
    body = BODY if asked is None else json.dumps(asked).encode()
    asked = urllib.request.Request(address + "suggest", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=120) as reply:
        return json.load(reply)["results"][0]["uri"]


def _health(address):
    with urllib.request.urlopen(address + "health", timeout=120) as reply:
        return json.load(reply)


def _worker_of(process):
    """Return the process that answers, a child of the one that was started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    _wait_for(lambda: children.read_text().split())
    return int(children.read_text())


def _wait_for(is_done, seconds=300):
    end = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def _peak_memory(pid):
    """Return the most memory that a process had, in KiB."""
    [line] = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(line)


def _send_all(address, head, megabytes, piece=None):
    """Send a large body to its end, or until it is refused; return the reply, if any."""
    part = b" " * 10**6
    with _connect(address) as client:
        client.sendall(head)
        try:
            for _ in range(megabytes):
                client.sendall(part if piece is None else piece % (len(part), part))
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before its end
        try:
            return client.recv(13)
        except ConnectionResetError:
            return b""  # what was on its way is lost then


def _connect(address):
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    return socket.create_connection((host, int(port)), timeout=120)


def _send_too_much(address):
    """Announce 100 MB, send a little, and return the first bytes of the reply."""
    with _connect(address) as client:
        client.sendall(
            b"POST /suggest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100000000\r\n\r\n{"
        )
        return client.recv(13)
