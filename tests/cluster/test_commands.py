"""Commands on workers write what one process writes, also when a worker is killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from tests.cluster.conftest import PATIENCE
from tests.cluster.jobs import kill_at_job
from tests.table.goods import make_goods
from typer.testing import CliRunner

import palmette as pm
from palmette.cli.main import app
from palmette.reporting import _parts, _stored
from palmette.table import fit_table

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.thorough


@pytest.fixture
def goods(tmp_path, monkeypatch):
    """Change to a folder with a model and a table, whose reports have parts of seven rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_parts, "_ROWS", 7)
    table = make_goods()
    pm.save(fit_table(table, "kind", model="flat-naive-bayes", folds=0), "model.palmette")
    table.to_csv("new.csv", index=False)
    return table


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


COMMANDS = {
    "predict": ("predict", "model.palmette", "new.csv", "--chunk-rows", 7),
    "report": ("report", "model.palmette", "new.csv", "--json", "report.json"),
    "eval": ("eval", "model.palmette", "new.csv", "--k", 1, "--k", 2, "--json", "eval.json"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_worker_may_be_killed(client, goods, tmp_path, name, monkeypatch):
    def written(*words):
        told = run(*COMMANDS[name], *words)
        files = {file.name: json.loads(file.read_text()) for file in tmp_path.glob("*.json")}
        for facts in files.values():
            facts.pop("made", None)  # the time
        return told, files

    expected = written()
    monkeypatch.setattr(_stored, "_MOST_ROWS", 30)  # the rows of a report are on disk
    client.wait_for_workers(2, timeout=PATIENCE)
    address = client.scheduler.address
    assert written("--scheduler", address) == expected
    client.run(kill_at_job, 2, str(tmp_path / "died"))
    assert written("--scheduler", address) == expected
    assert (tmp_path / "died").exists()


def test_kill_of_a_worker_of_predict(goods):
    """The command has written nothing yet when a worker that it started is killed."""
    make_goods(150).to_csv("new.csv", index=False)
    expected = run(*COMMANDS["predict"])
    words = [*map(str, COMMANDS["predict"]), "--workers", "2", "--out", "out.csv"]
    command = [sys.executable, "-m", "palmette.cli.main", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        busy_worker(process).kill()
        told = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 0, told
    with open("out.csv", newline="") as file:
        assert file.read().splitlines() == expected.splitlines()


def busy_worker(process):
    """Return a worker of a command that has imported the library: it has had an item."""
    late = time.monotonic() + PATIENCE
    while time.monotonic() < late and process.poll() is None:
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                maps = {part.path for part in child.memory_maps()}
                if any("skrub" in path or "sklearn" in path for path in maps):
                    return child
        time.sleep(0.05)
    process.kill()
    raise AssertionError(process.stderr.read().decode())


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
def test_ctrl_c_while_workers_start_is_one_line(goods):
    """A terminal sends it to the command and to all processes that it has started."""
    words = [*map(str, COMMANDS["report"]), "--workers", "2"]
    command = [sys.executable, "-m", "palmette.cli.main", *words]
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        late = time.monotonic() + PATIENCE
        while len(psutil.Process(process.pid).children()) < 2 and time.monotonic() < late:
            time.sleep(0.01)  # the first one is Python's tracker of resources
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert told.splitlines() == ["interrupted"]
