"""Changed model files and checkpoints are refused or work: no crash, no hang, no raw error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.attack import runner
from tests.attack.__main__ import failures, table
from tests.attack.files import Taken
from tests.attack.mutators import MUTATORS
from tests.attack.runner import Job, Result, attack, jobs_of
from tests.attack.victims import VICTIMS, Victim, victims
from tests.instances import public_estimators

from palmette.exceptions import ReadError
from palmette.persistence import load

ROOT = Path(__file__).parents[2]
FILES = list(VICTIMS)  # many times each in `python -m tests.attack`


@pytest.mark.thorough
def test_no_changed_file_does_harm():
    words = ["--few", "--mutations", str(len(FILES)), "--seed", "0"]
    words += [f"--victim={name}" for name in FILES]
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
    tried, refused, predicted = done.stdout.split("\nall ")[1].split()[:3]
    assert int(tried) == len(FILES)
    assert min(int(refused), int(predicted)) > 1


def test_every_estimator_and_every_mutator_has_its_turn():
    assert {each.__name__ for each in public_estimators()} < VICTIMS.keys()
    jobs = jobs_of(len(VICTIMS), 0, list(VICTIMS), list(MUTATORS))
    assert jobs.keys() == VICTIMS.keys()
    assert {each.mutator for found in jobs.values() for each in found} == MUTATORS.keys()
    assert len(FILES) >= len(MUTATORS)
    pairs = jobs_of(len(VICTIMS) * len(MUTATORS), 0, list(VICTIMS), list(MUTATORS))
    assert all({each.mutator for each in found} == MUTATORS.keys() for found in pairs.values())


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
    victim.use(victim.load(file))


# ---------------------------------------------------------------------- what children tell


def does(act):
    """Return a file that does something when it is used, and a job of it."""
    victim = victims()["Hierarchy"]()
    started = os.getpid()

    def use(loaded):
        if os.getpid() != started:  # not where the parent tries the file first
            act()

    return Victim(victim.content, load, use)


def segfault():
    os.kill(os.getpid(), signal.SIGSEGV)


def spin():
    while True:
        pass


def fill_memory():
    bytearray(2**31)


def fail():
    raise KeyError("raw")


def refuse():
    raise ReadError("not with me", path="a")


@pytest.mark.parametrize(
    ("act", "outcome", "message"),
    [
        (segfault, "signal", "SIGSEGV"),
        (spin, "hang", ""),
        (fill_memory, "memory", "MemoryError"),
        (fail, "other error", "KeyError: 'raw'"),
        (refuse, "refused", "not with me"),
        (lambda: None, "predicted", ""),
        (lambda: sys.exit(3), "other error", "SystemExit"),
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
        assert each.is_bad == (outcome not in ("refused", "predicted"))
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
    assert "--victim MLkNN --mutator shapes --seed 3 --turn 17" in told
