"""Errors that the user can mend are one message and an exit code; a traceback needs --debug."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import typer

from palmette.cli import demo
from palmette.cli.errors import ExitCode, exit_on_error, show_tracebacks
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
def test_bugs_are_one_message_too(error, capsys):
    with pytest.raises(SystemExit) as caught, exit_on_error():
        raise error("a\nbug")
    assert caught.value.code == ExitCode.FAILED
    said = capsys.readouterr().err
    assert said.startswith(f"error: {error.__name__}: ")
    assert "--debug" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("error", [RuntimeError, PalmetteError])
def test_errors_are_tracebacks_where_they_are_asked_for(error):
    show_tracebacks(True)
    try:
        with pytest.raises(error), exit_on_error():
            raise error("a bug")
    finally:
        show_tracebacks(False)


@pytest.mark.parametrize("end", [typer.Exit(3), typer.BadParameter("what?")])
def test_ends_of_the_command_line_itself_pass(end):
    with pytest.raises(type(end)), exit_on_error():
        raise end


def test_debug_may_stand_at_the_end():
    words = [sys.executable, "-m", "palmette.cli.main", "hierarchy", "show", "no such file"]
    plain = subprocess.run(words, capture_output=True, text=True, check=False)
    debug = subprocess.run([*words, "--debug"], capture_output=True, text=True, check=False)
    assert plain.returncode == ExitCode.BAD_INPUT
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr


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
