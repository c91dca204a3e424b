"""Errors that the user can mend are one message and an exit code; ours stay tracebacks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from palmette.cli import demo
from palmette.cli.errors import ExitCode, exit_on_error
from palmette.exceptions import PalmetteError


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (PalmetteError("bad y."), "error: bad y.", ExitCode.BAD_INPUT),
        (FileNotFoundError(2, "No such file", "a.csv"), "error: a.csv: No such file", 2),
        (OSError(28, "No space left on device"), "error: [Errno 28] No space left on device", 2),
        (PermissionError("hands off"), "error: hands off", 2),
        (KeyboardInterrupt(), "interrupted", 130),
    ],
)
def test_message_and_code(error, message, code, capsys):
    with pytest.raises(SystemExit) as caught, exit_on_error():
        raise error
    assert caught.value.code == code
    assert capsys.readouterr().err == message + "\n"


def test_missing_packages_are_named(capsys):
    with pytest.raises(SystemExit) as caught, exit_on_error():
        raise ModuleNotFoundError("No module named 'skrub'")
    assert caught.value.code == ExitCode.FAILED
    assert capsys.readouterr().err.startswith("error: No module named 'skrub'. Install")


@pytest.mark.parametrize("error", [RuntimeError, ValueError, KeyError])
def test_bugs_stay_tracebacks(error):
    with pytest.raises(error), exit_on_error():
        raise error("a bug")


def test_nothing_happens_without_an_error(capsys):
    with exit_on_error():
        pass
    assert capsys.readouterr() == ("", "")


def test_interrupted_command(palmette, monkeypatch):
    def interrupt(**options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run_demo", interrupt)
    result = palmette("demo")
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_reader_that_has_gone_is_no_error(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_text("".join(f"a > b{i}\n" for i in range(20_000)))
    with subprocess.Popen(
        [sys.executable, "-m", "palmette.cli.main", "hierarchy", path, "--lines", "30000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
