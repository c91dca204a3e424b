"""Functions that tests call on the workers of a cluster; they import little."""

from __future__ import annotations

import os
import signal
import time


def add(shared, number):
    return shared + number


def add_slowly(shared, number, path):
    """Kill the worker in the first call of job 3."""
    if number == 3 and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return shared + number


def kill(shared, number):
    os.kill(os.getpid(), signal.SIGKILL)


def divide(shared, number):
    return shared / number
