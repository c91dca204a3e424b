"""The command as a whole: its commands, help, version, start-up, and the message of every error."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from palmette.cli.main import (
    _FROM_FILES,
    ExitCode,
    Terminated,
    _write_all_characters,
    app,
    exit_on_error,
    in_shell_terms,
    main,
)
from palmette.exceptions import PalmetteError

README = Path(__file__).parents[2] / "README.md"
COMMANDS = typer.main.get_command(app).commands


def test_commands_are_the_public_files():
    import palmette.cli

    files = {path.stem for path in Path(palmette.cli.__file__).parent.glob("[!_]*.py")}
    assert set(COMMANDS) == (files - {"main", "lists"}) | {"models", "datasets"}


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
    assert "<" not in result.stdout  # TEXT, PATH, INTEGER and NUMBER, not types of Python
    assert "list[" not in result.stdout


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


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--folds", "1"], "--folds 1: expected 2 or more"),
        (["--class-weight", "x"], "--class-weight 'x': expected 'balanced' or 'none'"),
        (["--memory", "-1"], "--memory -1.0: expected a positive number of GiB, or leave it out."),
        (["--set", "a=1", "--model", "auto"], "pass --model (`palmette models`"),
    ],
)
def test_errors_name_options_instead_of_python_parameters(palmette, tmp_path, words, shown):
    table = tmp_path / "t.csv"
    table.write_text("text,label\nred,a\nblue,b\n", encoding="utf-8")
    first = ["--model", "flat-naive-bayes"] if "--model" not in words else []
    result = palmette("fit", str(table), "--target", "label", *first, *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert shown in " ".join(result.output.split())


def test_lists_in_errors_are_repeated_options():
    words = "load it with trusted=['a.B', 'c.D'], or method='trusted=1'."
    found = in_shell_terms(words, {"trusted": "--trust"})
    assert found == "load it with --trust a.B --trust c.D, or method='trusted=1'."


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
        [sys.executable, "-m", "palmette.cli.main", "hierarchy", "show", "no such file"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == ExitCode.BAD_INPUT
    assert result.stdout == ""
    assert result.stderr.startswith("error: no such file: the file does not exist")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (PalmetteError("bad y."), "error: bad y.", ExitCode.BAD_INPUT),
        (FileNotFoundError(2, "No such file", "a.csv"), "error: a.csv: No such file", 2),
        (OSError(28, "No space left on device"), "error: [Errno 28] No space left on device", 2),
        (PermissionError("hands off"), "error: hands off", 2),
        (KeyboardInterrupt(), "interrupted", 130),
        (Terminated(ExitCode.TERMINATED), "terminated", 143),
        (PalmetteError("a\x1b]0;b\x07\u202e"), "error: a\\u001b]0;b\\u0007\\u202e", 2),
        (FileNotFoundError(2, "No such file", "\x9b1m\udcff"), None, 2),
    ],
)
def test_message_and_code(error, message, code, capsys):
    with pytest.raises(SystemExit) as caught, exit_on_error():
        raise error
    assert caught.value.code == code
    shown = capsys.readouterr().err
    assert shown == (message or "error: \\u009b1m\\udcff: No such file") + "\n"


SLEEP = """
import time
from palmette._files import atomic_write
from palmette.cli import main
from palmette.hierarchy._hierarchy import Hierarchy
def wait(*words, **options):
    with atomic_write("a.txt") as stream:
        print("ready", flush=True)
        time.sleep(60)
Hierarchy.read = wait
main.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without SIGTERM")
def test_sigterm_ends_a_command_and_leaves_nothing(tmp_path):
    (tmp_path / "a.txt").write_text("before")
    command = [sys.executable, "-c", SLEEP, "hierarchy", "tree.txt"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == ExitCode.TERMINATED
        assert process.stderr.read() == "terminated\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "before"


@pytest.mark.skipif(
    not os.path.exists("/dev/full"),
    reason="there is no /dev/full to write to",
)
def test_a_full_standard_output_is_one_message(tmp_path):
    (tmp_path / "a.nwk").write_text("(b)a;")
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "palmette.cli.main", "hierarchy", tmp_path / "a.nwk"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert result.stderr == "error: [Errno 28] No space left on device\n"
    assert result.returncode == ExitCode.BAD_INPUT


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
def test_errors_are_tracebacks_with_debug(error):
    with pytest.raises(error), exit_on_error(debug=True):
        raise error("a bug")


@pytest.mark.parametrize("end", [typer.Exit(3), typer.BadParameter("what?")])
def test_ends_of_the_command_line_itself_pass(end):
    with pytest.raises(type(end)), exit_on_error():
        raise end


def test_debug_may_stand_at_the_end(monkeypatch, capsys):
    words = ["palmette", "hierarchy", "show", "no such file"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == ExitCode.BAD_INPUT
    assert "Traceback" not in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", [*words, "--debug"])
    with pytest.raises(PalmetteError, match="the file does not exist"):
        main()


def test_nothing_happens_without_an_error(capsys):
    with exit_on_error():
        pass
    assert capsys.readouterr() == ("", "")


def test_interrupted_command(palmette, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("palmette.datasets.load_icd10cm", interrupt)
    result = palmette("demo")
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is no BrokenPipeError on Windows")
def test_a_reader_that_has_gone_is_no_error(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_text("".join(f"a > b{i}\n" for i in range(3_000)))
    with subprocess.Popen(
        [sys.executable, "-m", "palmette.cli.main", "hierarchy", path, "--lines", "5000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_names_in_any_script_can_be_written_where_the_system_has_no_utf_8(monkeypatch):
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    for is_terminal, expected in ((False, "└ 種\n".encode()), (True, b"\\u2514 \\u7a2e\n")):
        written = io.BytesIO()
        stream = io.TextIOWrapper(written, encoding="cp1252", newline="\n")
        monkeypatch.setattr(stream, "isatty", lambda answer=is_terminal: answer, raising=False)
        _write_all_characters(stream)
        print("└ 種", file=stream, flush=True)
        assert written.getvalue() == expected


# ---------------------------------------------------------------------- palmette.toml, completion


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("a > b\na > c\n", encoding="utf-8")
    return tmp_path


def test_options_come_from_a_file_unless_they_are_given(palmette, folder, monkeypatch):
    (folder / "palmette.toml").write_text(
        '[learn]\ntarget = "kind"\nmethod = "nonsense"\n[fit]\ndrop = "a"\n', encoding="utf-8"
    )
    (folder / "t.csv").write_text("x,kind\n1,a\n2,b\n", encoding="utf-8")
    assert "nonsense" in palmette("learn", "t.csv").stderr
    assert "absurd" in palmette("learn", "t.csv", "--method", "absurd").stderr
    assert palmette("models").exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[fit", "palmette.toml cannot be read"),
        ("target = 3", "expected sections such as [fit]"),
        ("[fly]", "expected sections such as [fit]"),
        ("[fit]\nspeed = 3", "no option --speed"),
        ('[predict]\ntrust = "os.system"', "--trust of palmette predict is not read from a file"),
        ("[hierarchy]\nlines = 3", "options of palmette hierarchy cannot be set"),
        ("[fit]\ntime = 'soon'", "'soon'"),
    ],
)
def test_a_wrong_file_of_options_is_told(palmette, folder, text, words):
    (folder / "palmette.toml").write_text(text, encoding="utf-8")
    result = palmette("fit", "t.csv", "--target", "kind")
    assert result.exit_code == 2
    assert words in result.stderr


NEVER_FROM_FILES = {
    *(
        "bad-rows",
        "diagram",
        "html",
        "json",
        "md",
        "out",
        "report",
        "resume",
        "svg",
        "test-out",
    ),  # written
    *("compare", "corrections", "data", "hierarchy", "map", "table", "train"),  # read
    *("chunk-rows", "jobs", "max-body", "max-rows", "memory", "n-jobs", "read-timeout", "timeout"),
    *("host", "port", "scheduler", "scratch", "set", "trust", "workers"),
}


def options_of_commands():
    for name, command in COMMANDS.items():
        if not hasattr(command, "commands"):
            for each in command.params:
                yield from ((name, w[2:]) for w in each.opts if w.startswith("--"))


def test_options_that_act_are_never_read_from_a_file(palmette, folder):
    for command, option in options_of_commands():
        assert (option in NEVER_FROM_FILES) != (option in _FROM_FILES), option
        if option in NEVER_FROM_FILES:
            text = f'[{command}]\n{option} = "tcp://127.0.0.1:9"\n'
            (folder / "palmette.toml").write_text(text, encoding="utf-8")
            result = palmette("models")
            assert result.exit_code == 2
            words = f"--{option} of palmette {command} is not read from a file"
            assert words in " ".join(result.stderr.split())


def test_a_file_of_options_is_short(palmette, folder):
    (folder / "palmette.toml").write_text("a = " + "[" * 10**5, encoding="utf-8")
    assert "cannot be read" in palmette("models").stderr
    with (folder / "palmette.toml").open("wb") as file:
        file.truncate(2**40)
    assert "more than 1,048,576 bytes" in palmette("models").stderr


def test_completion_is_offered():
    typed = {"_PALMETTE_COMPLETE": "complete_bash", "COMP_WORDS": "palmette hie", "COMP_CWORD": "1"}
    process = subprocess.run(
        [sys.executable, "-m", "palmette.cli.main"],
        env={**os.environ, **typed},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert process.stdout.split() == ["hierarchy"]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_no_type_of_flags(palmette, name):
    assert "bool" not in palmette(name, "--help").stdout.lower().replace("boolean", "")
