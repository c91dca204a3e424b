"""Tables with cells of strangers are answered or refused; many more in the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.attack.cells import TableJob, attacked, job_of, jobs_for, table
from tests.attack.runner import Result
from tests.attack.strange_tables import FORMATS

ROOT = Path(__file__).parents[2]


def test_no_cell_of_a_frame_does_harm():
    jobs = [job_of(number, 0) for number in (5, 11)]
    assert {each.victim for each in jobs} == {"DataFrame"}
    results = attacked(jobs)
    assert [each.job for each in results] == jobs
    assert not [each for each in results if each.is_bad]


@pytest.mark.thorough
def test_no_cell_does_harm():
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack.cells", "--cells", "6000"],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "\nnetwork: none\n" in done.stdout
    cells, tables, refused, answered = done.stdout.split("\nall ")[1].split()[:4]
    assert int(cells.replace(",", "")) >= 6000
    assert int(tables) == int(refused) + int(answered)
    assert min(int(refused), int(answered)) > 1


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_job_writes_the_same_cells(name):
    job = TableJob(name, "cells", 0, 3)
    (first, words), (again, same) = (job.bytes_of(None) for _ in range(2))
    assert words == same
    if name != "Excel":  # which has the time
        assert first == again
    assert job.command == "python -m tests.attack.cells --seed 0 --only 3"


def test_jobs_have_the_cells_that_are_asked_for():
    jobs = jobs_for(20_000, 0)
    assert sum(each.n_cells for each in jobs) >= 20_000 > sum(each.n_cells for each in jobs[:-1])
    assert {each.victim for each in jobs} == FORMATS.keys()
    assert jobs[7] == job_of(7, 0)
    assert TableJob(**json.loads(json.dumps(vars(jobs[7])))) == jobs[7]


def test_results_are_told_by_format():
    jobs = [job_of(number, 0) for number in (0, 6)]
    shown = table([Result(jobs[0], "refused", mebibytes=3), Result(jobs[1], "signal", seconds=2.5)])
    [_, first, last] = [" ".join(line.split()) for line in shown.splitlines()]
    n_cells = f"{sum(each.n_cells for each in jobs):,}"
    assert first == f"CSV {n_cells} 2 1 0 0 0 0 0 1 3 2.5"
    assert last == f"all {n_cells} 2 1 0 0 0 0 0 1 3 2.5"
