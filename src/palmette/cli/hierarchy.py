"""`palmette hierarchy`: look at a hierarchy file, or turn it into another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["command", "run_hierarchy"]


def command(
    file: Annotated[Path, typer.Argument(help="A hierarchy in any format that palmette reads.")],
    format: Annotated[
        str | None, typer.Option(help="Its format, where it is not found out.")
    ] = None,
    root: Annotated[
        str | None, typer.Option(help="Joins several nodes without a parent under this one.")
    ] = None,
    lines: Annotated[int, typer.Option(help="Lines of the drawing, about.")] = 40,
    out: Annotated[Path | None, typer.Option(help="Write it as .json, .nwk, .dot or .txt.")] = None,
) -> None:
    """Draw a hierarchy file, or turn it into another format."""
    run_hierarchy(file, format=format, root=root, lines=lines, out=out)


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
