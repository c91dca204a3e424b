"""The command as a whole: its parts, help, version, and how fast it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from palmette.cli.main import app

README = Path(__file__).parents[2] / "README.md"
COMMANDS = typer.main.get_command(app).commands


def test_commands_are_the_files_of_the_room():
    import palmette.cli

    files = {path.stem for path in Path(palmette.cli.__file__).parent.glob("*.py")}
    helpers = {"__init__", "main", "errors", "leaderboard", "outputs", "tables"}
    assert set(COMMANDS) == files - helpers


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_help(name):
    command = COMMANDS[name]
    assert command.help
    assert all(parameter.help for parameter in command.params if parameter.name != "help")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme(name):
    assert f"palmette {name}" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_fits_the_terminal(palmette, name):
    result = palmette(name, "--help")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_readme_names_only_options_that_exist():
    for line in README.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if words[:1] != ["palmette"]:
            continue
        command = COMMANDS[words[1]]
        parts = getattr(command, "commands", {})  # a group shows where no part of it is named
        command = parts.get(words[2], parts.get("show")) if parts else command
        known = {option for p in command.params for option in p.opts}
        assert {word for word in words if word.startswith("--")} <= known


def test_version(palmette):
    import palmette as package

    assert palmette("--version").stdout == f"palmette {package.__version__}\n"


def test_no_words_are_a_question_for_help(palmette):
    assert "Commands" in palmette().output


def test_a_process_of_its_own_shows_help():
    result = subprocess.run(
        [sys.executable, "-m", "palmette.cli.main", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(name in result.stdout for name in COMMANDS)
    assert result.stderr == ""


def test_a_process_of_its_own_fails_with_one_line():
    result = subprocess.run(
        [sys.executable, "-m", "palmette.cli.main", "compare", "digits", "--models", "flatt"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: there is no model 'flatt'")
    assert result.stderr.count("\n") == 1


def test_help_loads_nothing_heavy():
    code = "import sys, palmette.cli.main; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(result.stdout.split())
    assert "palmette.cli.compare" in loaded
    heavy = {"sklearn", "pandas", "pyarrow", "matplotlib", "scipy.stats", "joblib", "rich.table"}
    assert not heavy & loaded
