"""The `palmette` command: its parts, and what becomes of errors."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from palmette.cli import (
    bench,
    compare,
    datasets,
    demo,
    fit,
    hierarchy,
    learn,
    models,
    predict,
    report,
)
from palmette.cli.errors import exit_on_error, show_tracebacks

__all__ = ["app", "main"]

app = typer.Typer(
    name="palmette",
    help="Classification over class hierarchies, given or learned.",
    no_args_is_help=True,
    add_completion=False,
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
        bool, typer.Option("--debug", help="Show where an error happened; any command takes it.")
    ] = False,
) -> None:
    show_tracebacks(debug)


for _module in (demo, fit, predict, report, learn, compare, bench, models, datasets):
    app.command(_module.__name__.rpartition(".")[2])(exit_on_error()(_module.command))
app.add_typer(hierarchy.app, name="hierarchy")


def main() -> None:
    """Run the command line; an error of the user's making is one message and exit code 2."""
    words = sys.argv[1:]
    if "--debug" in words:  # people add it at the end, where it would belong to a command
        words = ["--debug", *(word for word in words if word != "--debug")]
    app(words, prog_name="palmette")


if __name__ == "__main__":
    main()
