"""The command line, called in this process."""

from __future__ import annotations

import gc
from functools import wraps
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from palmette.cli.main import app

COMMAND = typer.main.get_command(app)  # made once, because it takes longer than most commands


@pytest.fixture(autouse=True)
def _nothing_to_collect():
    """Keep `gc.collect`, which runs before every measured fit, from visiting all of pytest."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _papers_of_this_checkout(monkeypatch):
    """Let `palmette bench` find the papers where the package is installed as a wheel, too."""
    root = Path(__file__).parents[2]
    monkeypatch.setattr("palmette.cli.bench._source_folder", lambda: root)


@pytest.fixture
def palmette(monkeypatch):
    """Return a function that runs a command line and gives its result."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    monkeypatch.setattr("typer.testing._get_command", lambda _: COMMAND)
    runner = CliRunner()
    return lambda *words: runner.invoke(app, [str(word) for word in words])


@pytest.fixture
def fails(palmette):
    """Return a function that runs a command line that must fail with one message."""

    def run(*words, code=2):
        result = palmette(*words)
        assert result.exit_code == code, result.output
        assert isinstance(result.exception, SystemExit)  # nothing came through
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        return result.stderr.removeprefix("error: ").rstrip("\n")

    return run


@pytest.fixture
def parse():
    """Return a function that gives the parameters with which a command line calls a command."""

    def run(command, *words):
        calls = []

        @wraps(command)
        def record(**parameters):
            calls.append(parameters)

        small = typer.Typer()
        small.command()(record)
        result = CliRunner().invoke(small, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        (parameters,) = calls
        return parameters

    return run


@pytest.fixture
def called(monkeypatch):
    """Return a function that replaces another by a recorder; the command ends with its call."""

    def record(place):
        calls = []

        def stop(*args, **options):
            calls.append((args, options))
            raise typer.Exit

        monkeypatch.setattr(place, stop)
        return calls

    return record
