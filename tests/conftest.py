"""Fixtures shared by all rooms."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

# every worker has a core to itself: threads of the libraries below would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def data_home() -> Path:
    """Return the folder of real data sets; skip where there is none."""
    home = os.environ.get("PALMETTE_DATA")
    if not home:
        pytest.skip("the environment variable PALMETTE_DATA does not name a data home")
    path = Path(home)
    if not (path / "manifest.json").is_file():
        pytest.skip(f"PALMETTE_DATA={home} has no manifest.json")
    return path


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels before the workers of a run of all tests start.

    Each worker would compile them otherwise. Where they are in the cache this takes seconds.
    """
    starts_workers = getattr(config.option, "numprocesses", None) and not hasattr(
        config, "workerinput"
    )
    runs_all = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if not (starts_workers and runs_all) or config.option.collectonly or config.option.keyword:
        return
    script = Path(__file__).with_name("compile_kernels.py")
    halves = [subprocess.Popen([sys.executable, script, half]) for half in ("forests", "others")]
    for half in halves:
        half.wait()  # one that fails is no failure here: the tests of its kernels tell


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep the garbage collector from looking through thousands of collected tests all the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20)  # numba and scikit-learn make many objects
