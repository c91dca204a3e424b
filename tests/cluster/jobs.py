"""Functions that tests call on the workers of a cluster; they import little."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress


def kill_once(path):
    """Kill this worker, unless another one was killed before, perhaps at the same moment."""
    with suppress(FileExistsError):
        open(path, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)


def add(shared, number):
    return shared + number


def add_slowly(shared, number, path):
    """Kill the worker in the first call of job 3."""
    if number == 3:
        kill_once(path)
    time.sleep(0.02)
    return shared + number


def sleep_a_little(shared, number):
    time.sleep(0.2)
    return number


def add_pair_slowly(shared, pair):
    return add_slowly(shared, *pair)


def kill(shared, number):
    os.kill(os.getpid(), signal.SIGKILL)


def divide(shared, number):
    return shared / number


def run_out_of_time(shared, number):
    raise TimeoutError("of the job")


class Counter:
    """An object on a worker that remembers what it has counted."""

    def __init__(self, start):
        self.number = start

    def add(self, number):
        self.number += number
        return self.number

    def fail(self):
        return 1 / 0

    def die(self, path):
        """Kill the worker, but only once."""
        kill_once(path)
        return self.number


def kill_at(n_calls, path):
    """Kill this worker, but only once, after some calls of any object of a team on it."""
    from palmette.boosting import _team

    call = _team._Member.call
    left = [n_calls]

    def counted(self, message):
        left[0] -= 1
        if left[0] == 0:
            kill_once(path)
        return call(self, message)

    _team._Member.call = counted


def kill_at_job(n_jobs, path):
    """Kill this worker, but only once, as it begins one of its next jobs."""
    from palmette.base import _cluster

    run = _cluster._run
    left = [n_jobs]

    def counted(*given):
        left[0] -= 1
        if left[0] == 0:
            kill_once(path)
        return run(*given)

    _cluster._run = counted
