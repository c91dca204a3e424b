"""`palmette hierarchy`: look at a hierarchy file, convert it, or check it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from palmette.cli.errors import ExitCode, exit_on_error

if TYPE_CHECKING:
    from palmette.core.checking import HierarchyCheck

__all__ = ["app", "run_check", "run_hierarchy"]


class _ShowByDefault(TyperGroup):
    """A group whose command is `show` where none is named: `palmette hierarchy FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShowByDefault,
    no_args_is_help=True,
    help="Draw a hierarchy file or turn it into another format (show), or check it (check). "
    "Example: palmette hierarchy taxonomy.txt",
)

_File = Annotated[Path, typer.Argument(help="A hierarchy in any format that palmette reads.")]
_Format = Annotated[str | None, typer.Option(help="Its format, where it is not found out.")]
_Root = Annotated[
    str | None, typer.Option(help="Joins several nodes without a parent under this one.")
]


@app.command("show")
@exit_on_error()
def _show(
    file: _File,
    format: _Format = None,
    root: _Root = None,
    lines: Annotated[int, typer.Option(help="Lines of the drawing, about.")] = 40,
    out: Annotated[
        Path | None,
        typer.Option(help="Write it as .json, .nwk, .dot, .txt, .edges, .csv, .svg or .html."),
    ] = None,
) -> None:
    """Draw a hierarchy file, or turn it into another format.

    Example: palmette hierarchy taxonomy.txt --out taxonomy.svg
    """
    run_hierarchy(file, format=format, root=root, lines=lines, out=out)


@app.command("check")
@exit_on_error()
def _check(
    file: _File,
    format: _Format = None,
    root: _Root = None,
    notes: Annotated[int, typer.Option(min=0, help="Notes of a kind that are printed.")] = 5,
) -> None:
    """Print a hierarchy's statistics and every fault with its line; exit code 2 if there is one.

    Example: palmette hierarchy check taxonomy.txt
    """
    if run_check(file, format=format, root=root, notes=notes).faults:
        raise typer.Exit(ExitCode.BAD_INPUT)


def run_hierarchy(
    file: Path,
    format: str | None = None,
    root: str | None = None,
    lines: int = 40,
    out: Path | None = None,
) -> None:
    """Read a hierarchy, print it, and write it where `out` is named."""
    from palmette.core.drawing import summarize
    from palmette.core.hierarchy import Hierarchy

    hierarchy = Hierarchy.read(file, format=format, root=root)
    typer.echo(summarize(hierarchy))
    if out is not None:
        hierarchy.write(out)
        typer.echo(f"wrote {out}")
    else:
        typer.echo(hierarchy.draw(max_lines=lines))


def run_check(
    file: Path, format: str | None = None, root: str | None = None, notes: int = 5
) -> HierarchyCheck:
    """Check a hierarchy file and print what was found."""
    from palmette.core.checking import check_hierarchy

    found = check_hierarchy(file, format=format, root=root)
    typer.echo(found.to_text(max_notes=notes))
    return found
