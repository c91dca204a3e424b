"""Measure work: CPU seconds and the peak of memory."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Usage", "hardware", "measure"]

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@dataclass
class Usage:
    """What a piece of work took; filled in when it is done.

    Attributes
    ----------
    cpu_seconds : float
        Of this process and of child processes that have ended.
    wall_seconds : float
    peak_mib : float or None
        How far the resident memory of this process rose above where it stood before, in MiB; None
        where the system does not tell (elsewhere than on Linux).
    """

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_mib: float | None = None


@contextmanager
def measure() -> Iterator[Usage]:
    """Measure what happens inside the `with` block.

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
    usage.cpu_seconds = _cpu_seconds() - cpu
    usage.wall_seconds = time.perf_counter() - wall
    peak = _read_kib("VmHWM")
    if resident is not None and peak is not None:
        usage.peak_mib = max(0.0, (peak - resident) / 1024)


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _start_peak() -> int | None:
    """Set the kernel's high-water mark back to what is resident now; None where that fails."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return None
    return _read_kib("VmRSS")


def _read_kib(field: str) -> int | None:
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    return None


def hardware() -> dict[str, str | int]:
    """Facts about the machine that figures belong to."""
    import platform

    return {
        "machine": platform.machine(),
        "cores": os.cpu_count() or 0,
        "system": platform.system(),
        "python": sys.version.split()[0],
    }
