"""Kernels are compiled ahead by a process that never outlives its command."""

from __future__ import annotations

import subprocess
import sys

import pytest

from palmette._kernel_files import is_stored
from palmette.cli import compile as module
from palmette.cli.compile import compiled_ahead

WAITS = module._PROGRAM.replace("from palmette.cli.compile import run_compile", "import time")
WAITS = WAITS.replace('run_compile("likely")', "time.sleep(300)")


@pytest.fixture
def started(monkeypatch):
    """Return the processes that are started; they only wait."""
    found, popen = [], subprocess.Popen

    def start(*arguments, **options):
        found.append(popen(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(module, "_PROGRAM", WAITS)
    monkeypatch.setattr(module.subprocess, "Popen", start)
    return found


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_the_process_ends_with_the_block(started, monkeypatch, error):
    monkeypatch.setattr("palmette.table._candidates.compile_seconds", lambda groups: 9.0)

    def fit():
        with compiled_ahead():
            assert started[0].poll() is None
            raise error

    with pytest.raises(error):
        fit()
    assert started[0].poll() is not None


def test_no_module_of_the_current_folder_is_imported(started, monkeypatch, tmp_path):
    (tmp_path / "threading.py").write_text("raise SystemExit(3)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("palmette.table._candidates.compile_seconds", lambda groups: 9.0)
    monkeypatch.setattr(module, "_PROGRAM", "import threading")
    with compiled_ahead():
        assert started[0].wait(60) == 0


def test_no_process_is_started_if_kernels_are_stored(started, monkeypatch):
    monkeypatch.setattr("palmette.table._candidates.compile_seconds", lambda groups: 0)
    with compiled_ahead():
        assert not started


def test_the_process_ends_if_the_first_one_is_killed():
    process = subprocess.Popen([sys.executable, "-c", WAITS], stdin=subprocess.PIPE)
    process.stdin.close()  # as it is once the first process has ended
    assert process.wait(60) == 0


def test_kernels_are_stored_or_not(tmp_path, monkeypatch):
    monkeypatch.setattr("palmette._kernel_files._folders", lambda: (tmp_path,))
    name = "trees._carts.grow_cart"
    assert not is_stored(name)
    (tmp_path / f"{name}-0123456789abcdef-00.kernel").write_bytes(b"")  # of other sources
    assert not is_stored(name)
    from palmette._kernel_files import source_hash

    (tmp_path / f"{name}-{source_hash('trees._carts')}-00.kernel").write_bytes(b"")
    assert is_stored(name)
