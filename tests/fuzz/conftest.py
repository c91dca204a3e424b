"""The command line for spoilt files, in this process."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from palmette.cli.main import app


@pytest.fixture(scope="module")
def palmette():
    """Return a function that runs a command line and gives its result."""
    command = typer.main.get_command(app)  # made once: it takes longer than most of these files
    runner = CliRunner()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", lambda _: command)
        yield lambda *words: runner.invoke(app, [str(word) for word in words])
