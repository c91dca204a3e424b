"""Requests of strangers leave a server as it was; many more in the program."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import uvicorn
from tests.attack.requests import Reply, Tally, faults_of, reply_to, sent_by, table
from tests.attack.strange_requests import MAX_BODY, REQUESTS
from tests.serving.fitted import of_texts

from palmette.serving import Limits, make_app
from palmette.serving._process import configured

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def port():
    limits = Limits(body_bytes=MAX_BODY, read_seconds=0.1)
    server = uvicorn.Server(configured(make_app(of_texts(), "goods", limits=limits)))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("kind", [kind for kind in REQUESTS if kind not in ("large", "many rows")])
def test_no_request_does_harm(port, kind):
    turn = list(REQUESTS).index(kind)
    replies = [reply_to(turn + k * len(REQUESTS), 0, port, idle=0.1) for k in range(2)]
    assert {each.kind for each in replies} == {kind}
    assert not [each for each in replies if each.is_bad]


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_servers_go_on_answering():
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack.requests", "--requests", "120"],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "workers killed by this program: 2, replaced: 2\n" in done.stdout
    assert "\nnetwork: none\n" in done.stdout
    assert done.stdout.split("\nall ")[1].split()[0] == "120"


def test_the_same_number_makes_the_same_request():
    made = [sent_by(number, 3) for number in range(2 * len(REQUESTS))]
    assert made == [sent_by(number, 3) for number in range(2 * len(REQUESTS))]
    assert {kind for kind, _ in made} == REQUESTS.keys()


def test_what_may_not_come_of_a_request_is_told():
    replies = [Reply(0, "cells", [200, 404], "answered", 0.1), Reply(1, "noise", [], "closed", 2.0),
               Reply(2, "cells", [503], "answered", 0.1), Reply(3, "cells", [500], "answered", 0.1),
               Reply(4, "slow", [], "hang", 60.0), Reply(5, "slow", [200], "dropped",
               1.0)]  # fmt: skip
    assert [each.is_bad for each in replies] == [False, False, False, True, True, True]
    lines = [" ".join(line.split()) for line in table(replies).splitlines()]
    assert lines[1] == "cells 3 1 1 1 1 0 0 0 0.1"
    assert lines[-1] == "all 6 2 1 1 1 1 1 1 60.0"
    fine = Tally(n_killed=1, n_replaced=1, memory=[100, 120], log="serving on ...")
    assert faults_of([fine]) == []
    spoilt = [Tally(n_replaced=1), Tally(memory=[100, 900]), Tally(log="Traceback (most ..."),
              Tally(faults=["after 3: /health after others: hang"])]  # fmt: skip
    assert all(len(faults_of([each])) == 1 for each in spoilt)
