"""Changed model files and checkpoints are refused or work: no crash, no hang, no raw error."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.attack import runner
from tests.attack.__main__ import failures, table
from tests.attack.calls import Call, arguments_of, calls_of
from tests.attack.files import Taken
from tests.attack.mutators import MUTATORS
from tests.attack.runner import Job, Result, attack, job_of, jobs_of
from tests.attack.victims import Victim, victims
from tests.instances import public_estimators
from tests.persistence.models import fitted

import palmette as pm
from palmette.exceptions import PalmetteError, ReadError
from palmette.persistence import load

ROOT = Path(__file__).parents[2]
_N_FILES, _N_CHECKPOINTS = 110, 11  # many times as many in `python -m tests.attack`


@pytest.mark.thorough
def test_no_changed_file_does_harm():
    words = ["--files", f"{_N_FILES}", "--checkpoints", f"{_N_CHECKPOINTS}", "--seed", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack", *words],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    tried, refused, answered = done.stdout.split("\nall ")[1].split()[:3]
    assert int(tried) == _N_FILES + _N_CHECKPOINTS
    assert min(int(refused), int(answered)) > 1


def test_every_estimator_and_every_mutator_has_its_turn():
    assert {each.__name__ for each in public_estimators()} < victims().keys()
    by_file = jobs_of(len(victims()) * len(MUTATORS), 12 * len(MUTATORS), 0)
    assert by_file.keys() == victims().keys()
    assert all({each.mutator for each in jobs} == MUTATORS.keys() for jobs in by_file.values())


def test_a_job_is_found_by_its_number():
    jobs = [each for found in jobs_of(100, 7, 3).values() for each in found]
    assert len({each.number for each in jobs}) == len(jobs) == 107
    assert all(job_of(each.number, 3) == each for each in jobs)
    assert sum(each.victim.startswith("checkpoint") for each in jobs) == 7


def test_every_public_method_is_called():
    model, X = fitted(pm.AdaBoostMHClassifier(n_estimators=2, weak_learner="stump"), 4)
    names = [call.name for call in calls_of(model, arguments_of(model, X))]
    assert {"predict", "staged_score", "explain", "explain(nodes)", "report", "save"} <= {*names}
    del model.edges_
    lost = {call.name for call in calls_of(model, arguments_of(model, X))}
    assert lost == {*names}  # an attribute that is gone has no method


@pytest.mark.parametrize("name", ["LocalPerParentClassifier", "checkpoint-AdaBoostMH"])
def test_the_same_job_makes_the_same_file(name, tmp_path):
    victim = victims()[name]()
    for mutator in MUTATORS:
        job = Job(name, mutator, 0, 2)
        content, words = job.bytes_of(victim)
        assert job.bytes_of(victim) == (content, words)
        assert content != victim.content, mutator
        assert words
    file = tmp_path / "unchanged.palmette"
    file.write_bytes(Taken(victim.content).sealed())
    for call in victim.calls(victim.load(file)):
        with suppress(PalmetteError):
            call.do()


# ---------------------------------------------------------------------- what children tell


def does(act):
    """Return a file that does something when it is used, and a job of it."""
    victim = victims()["Hierarchy"]()
    started = os.getpid()

    def acted():
        if os.getpid() != started:  # not where the parent tries the file first
            act()

    return Victim(victim.content, load, lambda loaded: [Call("acted", acted)])


def segfault():
    os.kill(os.getpid(), signal.SIGSEGV)


def spin():
    while True:
        pass


def fill_memory():
    bytearray(2**31)


def fail():
    raise KeyError("raw")


def connect():
    with socket.socket() as made, suppress(OSError):
        made.connect(("127.0.0.1", 9))


def refuse():
    raise ReadError("not with me", path="a")


@pytest.mark.parametrize(
    ("act", "outcome", "message"),
    [
        (segfault, "signal", "SIGSEGV"),
        (spin, "hang", ""),
        (fill_memory, "memory", "MemoryError"),
        (fail, "raw", "acted: KeyError: 'raw'"),
        (refuse, "refused", "not with me"),
        (connect, "act", "socket.connect"),
        (lambda: None, "answered", ""),
        (lambda: sys.exit(3), "raw", "SystemExit"),
        (lambda: os._exit(3), "signal", "exit status 3"),
    ],
)
def test_what_a_file_does_is_told_of_its_job(act, outcome, message, monkeypatch):
    monkeypatch.setattr(runner, "SECONDS", 0.3)
    # a change that leaves the file whole, so that what it does is up to `act`
    monkeypatch.setattr(Job, "bytes_of", lambda self, victim: (victim.content, "as it was"))
    jobs = [Job("Hierarchy", "layouts", 0, turn) for turn in range(2)]
    began = time.monotonic()
    results = attack(does(act), jobs)
    assert [each.job for each in results] == jobs  # one that ends a child does not end the others
    for each in results:
        assert (each.outcome, each.change) == (outcome, "as it was")
        assert message in each.message
        assert each.is_bad == (outcome not in ("refused", "answered"))
    assert time.monotonic() - began < 60


def test_results_are_told_by_mutator_and_with_a_command():
    job = Job("MLkNN", "shapes", 3, 17)
    results = [Result(job, "signal", "cut", "SIGSEGV", "a.py, line 3"), Result(job, "refused")]
    shown = table(results)
    assert [line.split()[:3] for line in shown.splitlines()[1:]] == [
        ["shapes", "2", "1"],
        ["all", "2", "1"],
    ]
    told = failures(results)
    assert "signal x 1 at a.py, line 3: SIGSEGV" in told
    assert "--seed 3 --only 17    # MLkNN, shapes" in told
