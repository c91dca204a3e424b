"""How many requests per second `palmette serve` answers, and how long each of them waits.

A linear model (class-tree) is fitted on clinc150, of the data home that PALMETTE_DATA names, and
served by a process of its own. Clients of this process ask it without a pause, one text per
request, over connections that are kept. With --hostile, others send broken JSON, bodies that are
too large and bodies that never end at the same time; each must be refused as documented. Errors
are replies that are not those, and connections that break.

    python benchmarks/bench_serve.py --clients 50 --seconds 60 --hostile
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from palmette.datasets import fetch
from palmette.persistence import save
from palmette.table import fit_table


class Client:
    """One connection that is kept; libraries for HTTP would take more time than the server."""

    def __init__(self, host: str, port: int) -> None:
        self.place = (host, port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, path: str, fields: dict[str, Any] | None = None) -> tuple[int, bytes]:
        """Return the status and the body of a reply."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self.place)
        reader, writer = self._streams
        body = b"" if fields is None else json.dumps(fields).encode()
        writer.write(
            f"{'GET' if fields is None else 'POST'} {path} HTTP/1.1\r\nHost: bench\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        return int(head[9:12]), await reader.readexactly(length)


async def ask(client: Client, texts: list[str], end: float, times: list[float]) -> int:
    """Ask until the end, and return the number of errors."""
    errors = 0
    for text in itertools.cycle(texts):
        start = time.perf_counter()
        if start > end:
            return errors
        try:
            status, body = await client.send("/suggest", {"text": text, "limit": 5})
            right = status == 200 and len(json.loads(body)["results"]) == 5
        except (OSError, EOFError):
            client, right = Client(*client.place), False
        errors += not right
        times.append(time.perf_counter() - start)
    raise AssertionError


async def disturb(host: str, port: int, end: float) -> tuple[int, int]:
    """Send requests that must be refused; return their number and that of wrong replies."""
    head = b"POST /suggest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    piece = b"10000\r\n" + b"a" * 2**16 + b"\r\n"
    bad = [
        (head + b'Content-Length: 9\r\n\r\n{"text": ', b" 400 "),
        (head + b"Content-Length: 100000000\r\n\r\n{", b" 413 "),
        (head + b"Transfer-Encoding: chunked\r\n\r\n" + piece * 140, b" 413 "),
        (head + b"Content-Length: 100\r\n\r\n{", b" 408 "),
    ]
    wrong = 0
    for sent, (request, status) in enumerate(itertools.cycle(bad)):
        if time.perf_counter() > end:
            return sent, wrong
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(request)
        try:
            found = await asyncio.wait_for(reader.readline(), 30)
        except (TimeoutError, ConnectionError):
            found = b""
        wrong += status not in found
        writer.close()
        await asyncio.sleep(0.05)
    raise AssertionError


async def load(
    place: tuple[str, int], texts: list[str], n_clients: int, seconds: float, hostile: bool
) -> None:
    times: list[float] = []
    first = Client(*place)
    for text in texts[:20]:
        await first.send("/suggest", {"text": text})
    start, used = time.perf_counter(), time.process_time()
    end = start + seconds
    clients = [ask(Client(*place), texts[i::n_clients], end, times) for i in range(n_clients)]
    others = [disturb(*place, end) for _ in range(3 * hostile)]
    found = await asyncio.gather(*clients, *others)
    spent, used = time.perf_counter() - start, time.process_time() - used
    counts = (await Client(*place).send("/metrics"))[1].decode()
    errors = sum(each for each in found if isinstance(each, int))
    refused = [each for each in found if isinstance(each, tuple)]
    calls = int(re.findall(r"palmette_model_calls_total (\d+)", counts)[0])
    p50, p99 = np.percentile(np.array(times) * 1000, [50, 99])
    print(f"{n_clients} clients, {spent:.0f} s: {len(times):,} requests, {errors} errors")
    print(f"{len(times) / spent:,.0f} requests per second, p50 {p50:.0f} ms, p99 {p99:.0f} ms")
    print(f"{len(times) / calls:.1f} rows per call of the model; clients: {used:.1f} CPU s")
    if hostile:
        sent, wrong = map(sum, zip(*refused, strict=True))
        print(f"{sent} requests to be refused, {wrong} of them with another reply than expected")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--model", default="class-tree")
    parser.add_argument("--hostile", action="store_true")
    given = parser.parse_args()
    data = fetch("clinc150")
    model = fit_table(
        {"text": data.X_train, "intent": data.y_train}, "intent", model=given.model, folds=0
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.palmette"
        save(model, path)
        words = [sys.executable, "-m", "palmette.cli.main", "serve", str(path), "--port", "0"]
        words += ["--jobs", str(given.jobs), "--read-timeout", "2"]
        server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        try:
            line = server.stderr.readline()
            [(host, port)] = re.findall(r"http://([\d.]+):(\d+)/", line)
            texts = [str(text) for text in data.X_test]
            asyncio.run(load((host, int(port)), texts, given.clients, given.seconds, given.hostile))
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(30)
            said = server.stderr.read().strip()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"server: {used.ru_utime + used.ru_stime:.1f} CPU s, {used.ru_maxrss / 2**10:.0f} MiB; "
        f"exit {code}, {said!r}; load of the machine {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
