"""The `palmette` command: its commands, and the exit code and message of every error."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from palmette._text import visible
from palmette.cli import IMPORTED, begun
from palmette.cli._options import Command, with_plain_type
from palmette.cli.bench import command as bench
from palmette.cli.card import card
from palmette.cli.compare import compare
from palmette.cli.compile import command as compile_kernels
from palmette.cli.demo import demo
from palmette.cli.eval import command as evaluate
from palmette.cli.fit import fit
from palmette.cli.hierarchy import app as hierarchy
from palmette.cli.learn import learn
from palmette.cli.lists import datasets, models
from palmette.cli.migrate import migrate
from palmette.cli.predict import predict
from palmette.cli.report import report
from palmette.cli.review import review
from palmette.cli.serve import serve
from palmette.cli.split import split
from palmette.exceptions import PalmetteError

__all__ = ["ExitCode", "app", "exit_on_error", "main"]

# base class of Typer's errors of usage: click's, or that of the copy of click in newer versions
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]


class ExitCode(IntEnum):
    """Exit codes of all commands."""

    OK = 0
    FAILED = 1
    BAD_INPUT = 2
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


class Terminated(SystemExit):
    """Raised where SIGTERM or SIGHUP arrives; its code is 128 and the number of the signal."""


# ---------------------------------------------------------------------- errors


@contextmanager
def exit_on_error(
    debug: bool = False, options: Callable[[], Mapping[str, str]] = dict
) -> Iterator[None]:
    """Turn errors into one message and an exit code.

    Parameters
    ----------
    debug : bool
        Whether errors are raised with their traceback instead.
    options : callable
        Returns the options of the command by their names in Python; messages name the options.
    """
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except _UsageError as error:  # Typer prints it
        error.message = visible(getattr(error, "message", ""))  # type: ignore[attr-defined]
        raise
    except Terminated as end:
        _stop("terminated", end.args[0])
    except KeyboardInterrupt:
        _stop("interrupted", ExitCode.INTERRUPTED)
    except Exception as error:
        if debug:
            raise
        _explain(error, options())


def _explain(error: Exception, options: Mapping[str, str]) -> NoReturn:
    if isinstance(error, PalmetteError):
        _stop(f"error: {in_shell_terms(str(error), options)}", ExitCode.BAD_INPUT)
    if isinstance(error, BrokenPipeError):
        _exit_silently()
    if isinstance(error, OSError):
        named = error.filename is not None and error.strerror is not None
        words = f"{error.filename}: {error.strerror}" if named else str(error)
        _stop(f"error: {words}", ExitCode.BAD_INPUT)
    if isinstance(error, ImportError):
        _stop(
            f"error: {error}. Install the missing package: pip install 'palmette[table,plot]'",
            ExitCode.FAILED,
        )
    if isinstance(error, MemoryError):
        _stop("error: out of memory. Use fewer rows or a smaller model.", ExitCode.FAILED)
    words = " ".join(str(error).split()) or "no message"
    _stop(
        f"error: {type(error).__name__}: {words}. This is an unexpected error: run the same "
        "command with --debug to see where it happened.",
        ExitCode.FAILED,
    )


def in_shell_terms(message: str, options: Mapping[str, str]) -> str:
    """Replace the names of Python parameters in a message by options of the command.

    Only the first line is changed: further lines quote a file.

    Examples
    --------
    >>> in_shell_terms("folds=1: expected 2 or more.", {"folds": "--folds"})
    '--folds 1: expected 2 or more.'
    """
    if not options:
        return message
    line, end, rest = message.partition("\n")
    names = "|".join(map(re.escape, options))

    def written(found: re.Match[str]) -> str:
        option = options[found[1]]
        if found[2]:  # a list of strings: the option is repeated
            return " ".join(f"{option} {word}" for word in re.findall(r"'([^']*)'", found[2]))
        return f"{option} " if found[3] else option

    line = re.sub(rf"(?<![\w.'\"(-])({names})=(\[[^\]]*\])?(?=([^\s,.;:)]?))", written, line)
    return line.replace(", or None.", ", or leave it out.") + end + rest


def _exit_silently() -> NoReturn:
    """Exit without a message after the output was closed, as by `| head`."""
    _flush()
    sys.exit(ExitCode.OK)


def _flush() -> None:
    """Write the rest of the output; if it is full or closed, drop it."""
    try:
        sys.stdout.flush()
    except OSError:  # it would be raised again when Python flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(message: str, code: ExitCode) -> NoReturn:
    _flush()
    with suppress(OSError):  # the terminal is gone
        print(visible(message), file=sys.stderr)
    sys.exit(code)


def _terminate(number: int, frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # a second one ends the process at once
    raise Terminated(ExitCode(128 + number))


# ---------------------------------------------------------------------- the command


class _Commands(TyperGroup):
    """The group of all commands, with one place that handles their errors."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of all commands."""
        return [with_plain_type(each) for each in super().get_params(ctx)]

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with exit_on_error(ctx.params["debug"], lambda: self._options(ctx.invoked_subcommand)):
            file = Path("palmette.toml")
            if file.is_file():
                ctx.default_map = _read_options(file, self)
            try:
                return super().invoke(ctx)
            except _UsageError as error:
                _name_file(error, file, ctx.default_map)
                raise

    def _options(self, name: str | None) -> dict[str, str]:
        """Return the options of a command by their names in Python."""
        params = getattr(self.commands.get(name or ""), "params", [])
        return {each.name: each.opts[0] for each in params if each.opts[0].startswith("--")}


# A folder may be a stranger's: no option that names a host, a file, a device or a class, or that
# says how much of the machine is used.
_HARMLESS = (
    "alpha any-machine bootstrap by-level calibrate class-weight column confidence control "
    "coverage date-format decimal delimiter description drop dry-run encoding excel-safe explain "
    "folds format group header k label-separator labels-separator language license lines list "
    "max-depth merge-case method metrics minutes model models name posthoc precision quick rounds "
    "search seed separator sheet similarity skip-bad-rows splits target test test-size text time "
    "title top use-labels verbose yes"
)
_FROM_FILES = frozenset(_HARMLESS.split())
_MAX_OPTIONS = 2**20  # bytes of a file of options


def _read_options(path: Path, group: Any) -> dict[str, Any]:
    """Read the options of commands from a TOML file: one section per command.

    Parameters
    ----------
    path : Path
        Keys are options without their hyphens, such as ``labels-separator``.
    group : group of commands

    Returns
    -------
    dict of dict
        Values by command and parameter, which options of the command line replace.
    """
    import tomllib

    try:
        if path.stat().st_size > _MAX_OPTIONS:
            raise ValueError(f"it has more than {_MAX_OPTIONS:,} bytes")
        sections = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PalmetteError(f"{path} cannot be read: {error}.") from error
    found: dict[str, Any] = {}
    for name, options in sections.items():
        command = group.commands.get(name)
        if command is None or not isinstance(options, dict):
            raise PalmetteError(
                f"{path}: expected sections such as [fit] with options of that command, got "
                f"{name!r}. Commands are {', '.join(group.commands)}."
            )
        if hasattr(command, "commands"):
            raise PalmetteError(f"{path}: options of palmette {name} cannot be set in a file.")
        known = {
            word.lstrip("-"): each
            for each in command.params
            for word in each.opts
            if word.startswith("--")
        }
        found[name] = {}
        for key, value in options.items():
            option = known.get(key)
            if option is None or key not in _FROM_FILES:
                raise _refused(path, name, key, known)
            if option.multiple and not isinstance(value, list):
                value = [value]
            found[name][option.name] = value
    return found


def _refused(path: Path, command: str, key: str, known: Mapping[str, Any]) -> PalmetteError:
    """Return the error for an option that a file may not set."""
    allowed = ", ".join(sorted(known.keys() & _FROM_FILES)) or "none"
    if key not in known:
        why = f"palmette {command} has no option --{key}"
    else:
        why = (
            f"--{key} of palmette {command} is not read from a file, which may be a stranger's: "
            "give it on the command line"
        )
    return PalmetteError(f"{path}: {why}. A file may set: {allowed}.")


def _name_file(error: Any, path: Path, values: Mapping[str, Any] | None) -> None:
    """Let an error of an option say that its value is from a file."""
    option, ctx = getattr(error, "param", None), getattr(error, "ctx", None)
    if not values or option is None or ctx is None:
        return
    source = ctx.get_parameter_source(option.name)
    if source is not None and source.name == "DEFAULT_MAP":
        value = values[ctx.info_name][option.name]
        error.message = f"{error.message} (it is {value!r} in {path})"


app = typer.Typer(
    name="palmette",
    cls=_Commands,
    help="Classification over class hierarchies, given or learned.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"palmette {version('palmette')}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error; works with every command."),
    ] = False,
) -> None:
    pass


_COMMANDS: tuple[Callable[..., None], ...] = (
    demo,
    split,
    fit,
    predict,
    report,
    review,
    card,
    serve,
    migrate,
    learn,
    compare,
)
for _command in _COMMANDS:
    app.command(_command.__name__, cls=Command)(_command)
app.command("eval", cls=Command)(evaluate)
app.command("bench", cls=Command)(bench)
app.command("compile", cls=Command)(compile_kernels)
app.command("models", cls=Command)(models)
app.command("datasets", cls=Command)(datasets)
app.add_typer(hierarchy, name="hierarchy")


def _write_all_characters(stream: Any) -> None:
    """Let a stream take names and drawings in any script, also where the system has no UTF-8.

    A file or a pipe gets UTF-8. A terminal shows what it has no characters for as escapes.
    """
    encoding = str(getattr(stream, "encoding", None) or "utf-8").lower().replace("_", "-")
    if encoding not in ("utf-8", "utf8") and hasattr(stream, "reconfigure"):
        if stream.isatty() or "PYTHONIOENCODING" in os.environ:
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8")


def main() -> None:
    """Run the command line; a wrong input ends with one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        _write_all_characters(stream)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # not under nohup
            signal.signal(number, _terminate)
    words = sys.argv[1:]
    if "--debug" in words:  # also allowed after the options of a command
        words = ["--debug", *(word for word in words if word != "--debug")]
    begun.set(IMPORTED)
    app(words, prog_name="palmette")


if __name__ == "__main__":
    main()
