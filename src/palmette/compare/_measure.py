"""Measure CPU seconds and peak memory, and describe the machine."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_PROCESSES = Path("/proc")
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@dataclass
class Usage:
    """Time and memory of a block of code; set when it is done.

    Attributes
    ----------
    cpu_seconds : float
        Of this process and its children: those that have ended, and on Linux running ones.
    wall_seconds : float
    peak_mib : float or None
        Increase of the resident memory of this process, without its children, in MiB; None on
        systems other than Linux.
    """

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_mib: float | None = None


@contextmanager
def measure() -> Iterator[Usage]:
    """Measure a `with` block.

    Examples
    --------
    >>> with measure() as usage:
    ...     total = sum(range(1000))
    >>> usage.cpu_seconds >= 0
    True
    """
    usage = Usage()
    resident = _start_peak()
    wall, cpu = time.perf_counter(), _cpu_seconds()
    yield usage
    usage.cpu_seconds = max(0.0, _cpu_seconds() - cpu)
    usage.wall_seconds = time.perf_counter() - wall
    peak = _read_kib("VmHWM")
    if resident is not None and peak is not None:
        usage.peak_mib = max(0.0, (peak - resident) / 1024)


# ---------------------------------------------------------------------- time


def _cpu_seconds() -> float:
    ended = os.times()
    total = time.process_time() + ended.children_user + ended.children_system
    return total + sum(_cpu_seconds_of(child) for child in _children(os.getpid()))


def _children(process: int) -> Iterator[int]:
    """Yield the descendants of a process; none on systems other than Linux."""
    try:
        threads = list((_PROCESSES / str(process) / "task").iterdir())
        found = " ".join((thread / "children").read_text() for thread in threads)
    except OSError:  # not Linux, or it has just ended
        return
    for child in map(int, found.split()):
        yield child
        yield from _children(child)


def _cpu_seconds_of(process: int) -> float:
    """Return the CPU seconds of another process and of its children that have ended."""
    try:
        # the name in the second field may contain brackets and blanks
        fields = (_PROCESSES / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


# ---------------------------------------------------------------------- memory


def _start_peak() -> int | None:
    """Reset the peak of resident memory and return the current value; None if that fails."""
    _trim_heap()
    try:
        _CLEAR.write_text("5")
    except OSError:
        return None
    return _read_kib("VmRSS")


def _trim_heap() -> None:
    """Return freed memory to the system: reused memory would not be measured."""
    with suppress(OSError, AttributeError, TypeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


def _read_kib(field: str) -> int | None:
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    return None


# ---------------------------------------------------------------------- machine


@cache
def _processor() -> str:
    import platform

    try:
        for line in (_PROCESSES / "cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def environment() -> dict[str, Any]:
    """Return the machine and the versions of the libraries.

    Examples
    --------
    >>> list(environment())
    ['machine', 'processor', 'cores', 'system', 'python', 'palmette', 'numpy', 'scipy',
     'scikit-learn']
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version

    import numpy
    import scipy
    import sklearn

    try:
        palmette = version("palmette")
    except PackageNotFoundError:  # run from its sources
        palmette = "not installed"
    return {
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "system": platform.system(),
        "python": sys.version.split()[0],
        "palmette": palmette,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
