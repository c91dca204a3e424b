"""Seconds are those of the work, wherever it is done; the peak of memory is that of the work."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from palmette.compare._measure import environment, measure

BURN = "import time\nwhile time.process_time() < 0.4: pass\n"


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_cpu_seconds_of_work():
    with measure() as usage:
        burn(0.2)
    assert 0.2 <= usage.cpu_seconds < 0.5
    assert usage.wall_seconds >= 0.2


def test_sleep_takes_no_cpu():
    with measure() as usage:
        time.sleep(0.2)
    assert usage.cpu_seconds < 0.1
    assert usage.wall_seconds >= 0.2


def test_children_that_have_ended_are_counted():
    with measure() as usage:
        subprocess.run([sys.executable, "-c", BURN], check=True)
    assert usage.cpu_seconds >= 0.35


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="children are read from /proc",
)
def test_children_at_work_are_counted():
    code = BURN + "print('done', flush=True)\ninput()"
    with (
        measure() as usage,
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child,
    ):
        child.stdout.readline()
        with measure() as nothing:
            pass
        child.stdin.close()
    assert usage.cpu_seconds >= 0.35
    assert nothing.cpu_seconds < 0.1


def peak_of(work) -> float:
    with measure() as usage:
        work()
    if usage.peak_mib is None:
        pytest.skip("this system does not report the peak memory of a process")
    return usage.peak_mib


def test_peak_of_an_array_that_is_gone_afterwards():
    peak = peak_of(lambda: np.ones((64, 2**17)).sum())
    assert 60 <= peak <= 80


def test_peak_of_nothing():
    assert peak_of(lambda: None) < 2


def test_peak_of_small_things_does_not_depend_on_what_was_done_before():
    def work():
        return [str(i) * 10 for i in range(200_000)]

    first = peak_of(work)
    again = [peak_of(work) for _ in range(2)]
    assert first > 10
    assert min(again) > 0.6 * first


def test_environment_names_versions():
    import sklearn

    facts = environment()
    assert facts["scikit-learn"] == sklearn.__version__
    assert facts["cores"] >= 1
    assert environment() == facts
