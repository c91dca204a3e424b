"""The `palmette` command: its parts, and what becomes of errors."""

from __future__ import annotations

from typing import Annotated

import typer

from palmette.cli import bench, compare, datasets, demo, hierarchy, models
from palmette.cli.errors import exit_on_error

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
) -> None:
    pass


for _module in (demo, compare, bench, models, datasets, hierarchy):
    app.command(_module.__name__.rpartition(".")[2])(exit_on_error()(_module.command))


def main() -> None:
    """Run the command line; an error of the user's making is one line and exit code 2."""
    app(prog_name="palmette")


if __name__ == "__main__":
    main()
