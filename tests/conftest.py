"""Fixtures shared by all rooms."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings
from tests.shortcuts import shorten_checks, shorten_compilation

# every worker has a core to itself: threads of the libraries below would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Dozens of processes import the same libraries in a run. Where bytecode may not be written and none
# was installed, each of them would compile it again, for five seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# a law that fails for few examples in a hundred fails in some run soon
settings.register_profile("suite", settings(), max_examples=25, deadline=None)
settings.load_profile("suite")


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
    command = [sys.executable, Path(__file__).with_name("compile_kernels.py")]
    with tempfile.TemporaryDirectory() as taken:
        directions = ("forwards", "backwards")
        processes = [subprocess.Popen([*command, each, taken]) for each in directions]
        for process in processes:
            process.wait()  # one that fails is no failure here: the tests of its kernels tell


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let the second worker of a run of all tests import them from the last to the first.

    To rewrite the assertions of all files takes longer than to collect the tests. So every worker
    rewrites a half, and finds the other one in the cache.
    """
    _rarely_collect_garbage()
    if hasattr(session.config, "workerinput") or not session.config.option.numprocesses:
        shorten_checks()
        shorten_compilation()
    runs_all = session.config.args == session.config.getini("testpaths")
    if not runs_all or os.environ.get("PYTEST_XDIST_WORKER") != "gw1":
        return
    folder = Path(__file__).parent
    for file in sorted(folder.rglob("test_*.py"), reverse=True):
        name = ".".join(file.relative_to(folder.parent).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):  # told when the tests are collected
            importlib.import_module(name)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in the package only: modules of tests have none, and the search is slow."""
    found = yield
    return [each for each in found if type(each) is pytest.Module]


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through thousands of collected tests all the time."""
    gc.collect()
    _rarely_collect_garbage()


def _rarely_collect_garbage() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20)  # numba and scikit-learn make many objects
