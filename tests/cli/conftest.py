"""The command line, called in this process."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from palmette.cli.main import app

COMMAND = typer.main.get_command(app)  # made once: it takes longer than many a command


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
def called(monkeypatch):
    """Return a function that puts a recorder in the place of another function."""

    def record(place):
        calls = []
        monkeypatch.setattr(place, lambda *args, **options: calls.append((args, options)))
        return calls

    return record
