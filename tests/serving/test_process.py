"""`palmette serve` as a process: it starts, answers, and stops when it is told to."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from tests.serving.fitted import of_texts

from palmette.persistence import save


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "goods.palmette"
    save(of_texts(), path)
    return path


@pytest.fixture
def process(stored):
    words = [sys.executable, "-m", "palmette.cli.main", "serve", str(stored), "--port", "0"]
    running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    yield running
    if running.poll() is None:
        running.kill()
    running.wait()
    running.stderr.close()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_it_answers_and_stops_at_sigterm(process):
    line = process.stderr.readline()
    [address] = re.findall(r"serving on (http://127\.0\.0\.1:\d+/) ", line)
    body = json.dumps({"text": "pear", "limit": 1}).encode()
    asked = urllib.request.Request(address + "suggest", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=120) as reply:
        assert json.load(reply)["results"][0]["uri"] == "Food > Fruit"
    assert _send_too_much(address) == b"HTTP/1.1 413 "
    with _connect(address) as client:
        head = b"POST /suggest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        client.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body[:5])
        with urllib.request.urlopen(address + "health", timeout=120):
            pass  # the request before it has begun
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        client.sendall(body[5:])
        assert client.recv(13) == b"HTTP/1.1 200 "
    assert process.wait(120) == 0
    assert process.stderr.read() == "stopped\n"


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
