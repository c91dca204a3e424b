"""The scheduler is killed, or hangs, in the middle of every kind of job: a named error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cluster.conftest import PATIENCE
from tests.cluster.jobs import Counter, sleep_a_little
from tests.table.goods import make_goods

import palmette as pm
from palmette.base._clients import connected, named_loss
from palmette.base._cluster import computed_on, each_on, stream_on
from palmette.boosting._team import retried, team_on
from palmette.exceptions import PalmetteError
from palmette.table import fit_table

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
N_JOBS = 10**5  # more than are done before the scheduler is killed
LOST = r"the Dask scheduler( at tcp://127\.0\.0\.1:\d+)? does not answer any more"


@pytest.fixture
def scheduler(tmp_path):
    """Start a scheduler and a worker; return the process of the one, and its address."""
    file = tmp_path / "scheduler.json"
    started = []

    def start(kind, *words):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words]
        command += ["--scheduler-file", str(file), "--no-dashboard"]
        started.append(
            subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
        return started[-1]

    try:
        made = start("scheduler", "--host", "127.0.0.1", "--port", "0")
        start("worker", "--nthreads", "1", "--no-nanny")
        late, address = time.monotonic() + PATIENCE, None
        while address is None and time.monotonic() < late:
            with suppress(OSError, ValueError):
                address = json.loads(file.read_text())["address"]
            time.sleep(0.05)
        with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            client.run_on_scheduler(import_all)  # it would not answer meanwhile
        yield made, address
    finally:
        for process in started:
            process.kill()
            process.wait()


def import_all():
    """Import what calls that are sent by way of the scheduler need there."""

    import palmette.boosting._team
    import palmette.cli.predict
    import palmette.table  # noqa: F401


def maps(client, begun):
    for _ in each_on(client, sleep_a_little, (0,), [(i,) for i in range(300)]):
        begun.set()


def streams(client, begun):
    for _ in stream_on(client, sleep_a_little, (0,), iter(range(N_JOBS))):
        begun.set()


def computes(client, begun):
    begun.set()
    computed_on(client, [dask.delayed(sleep_a_little)(0, i) for i in range(300)])


def teams(client, begun, direct=True):
    def attempt(number):
        with team_on(client, Counter, lambda n_threads: [(0,)], direct=direct) as team:
            for _ in range(N_JOBS):
                time.sleep(0.01)
                yield team.call("add", 1)

    for _ in retried(attempt):
        begun.set()


def teams_by_way_of_the_scheduler(client, begun):
    """Those with connections of their own go on without it."""
    teams(client, begun, direct=False)


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSTOP])
def test_every_kind_of_job_ends_with_a_named_error(scheduler, signal_number):
    """A scheduler that is killed, and one that hangs: its connections stay open."""
    process, address = scheduler
    hangs = signal_number == signal.SIGSTOP
    kinds = [maps, streams, computes, teams_by_way_of_the_scheduler if hangs else teams]

    def run(kind, begun):
        with connected(address, timeout=PATIENCE) as client:
            kind(client, begun)

    all_begun = [threading.Event() for _ in kinds]
    with (
        dask.config.set({"palmette.timeout": 12.0}),
        ThreadPoolExecutor(len(kinds)) as pool,
    ):
        found = [pool.submit(run, *each) for each in zip(kinds, all_begun, strict=True)]
        try:
            assert all(each.wait(PATIENCE) for each in all_begun)
        finally:
            process.send_signal(signal_number)
        try:
            for each in found:
                with pytest.raises(PalmetteError, match=LOST):
                    each.result(timeout=PATIENCE)
        finally:
            process.send_signal(signal.SIGCONT)


def test_a_command_ends_with_a_named_error(scheduler, tmp_path, monkeypatch):
    process, address = scheduler
    monkeypatch.chdir(tmp_path)
    pm.save(fit_table(make_goods(), "kind", model="flat-naive-bayes", folds=0), "model.palmette")
    make_goods(3000).to_csv("new.csv", index=False)  # predictions do not fit in a pipe
    words = ["predict", "model.palmette", "new.csv", "--chunk-rows", "5", "--scheduler", address]
    command = [sys.executable, "-m", "palmette.cli.main", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    patience = {**os.environ, "DASK_PALMETTE__TIMEOUT": "12"}
    with subprocess.Popen(command, **pipes, env=patience, text=True) as running:
        try:
            assert running.stdout.readline()
            process.kill()
            told = running.communicate(timeout=PATIENCE)[1]
        finally:
            running.kill()
    assert running.returncode == 2, told
    assert "error: the Dask scheduler" in told
    assert "distributed.client" not in told  # the log of Dask


def test_a_client_may_notice_a_loss_later_than_a_call():
    client = type("Client", (), {"status": "running"})()

    def ask():
        with named_loss(client, PATIENCE):
            threading.Timer(0.2, setattr, (client, "status", "closed")).start()
            raise distributed.comm.CommClosedError("in <TCP (closed)>: Connection reset by peer")

    with pytest.raises(PalmetteError, match=LOST):
        ask()
