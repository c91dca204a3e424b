"""`palmette hierarchy`: draw a hierarchy file, convert it, or check it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from palmette.cli._options import DrawnLines, ExcelSafe, say

__all__ = ["app", "check", "show"]


class _ShowByDefault(TyperGroup):
    """A group whose default command is `show`: `palmette hierarchy FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `show` if no command is named."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShowByDefault,
    no_args_is_help=True,
    help="Draw a hierarchy file or convert it to another format (show), or check it (check). "
    "Example: palmette hierarchy taxonomy.txt",
)

_File = Annotated[Path, typer.Argument(help="A hierarchy in any format that palmette reads.")]
_Format = Annotated[str | None, typer.Option(help="Format of the file, if it is not recognized.")]
_Root = Annotated[
    str | None, typer.Option(help="Name of a new root above several nodes without a parent.")
]


@app.command("show")
def show(
    file: _File,
    format: _Format = None,
    root: _Root = None,
    lines: DrawnLines = 40,
    out: Annotated[
        Path | None,
        typer.Option(help="Write it as .json, .nwk, .dot, .txt, .edges, .csv, .svg or .html."),
    ] = None,
    excel_safe: ExcelSafe = False,
) -> None:
    """Draw a hierarchy file, or convert it to another format.

    Example: palmette hierarchy taxonomy.txt --out taxonomy.svg
    """
    from palmette.hierarchy._drawing import short_path, summarize
    from palmette.hierarchy._hierarchy import Hierarchy
    from palmette.hierarchy.checking._findings import repeated_on_path

    hierarchy = Hierarchy.read(file, format=format, root=root)
    if excel_safe:
        from palmette.cli._terminal import require_csv

        require_csv(excel_safe, [out or Path("drawing")])
    say(summarize(hierarchy))
    if repeated := repeated_on_path(hierarchy, with_letters=True):
        say(
            f"note: {len(repeated):,} of the nodes have the same name as a node above them, such "
            f"as {short_path(hierarchy, repeated[0][0])!r}; `palmette hierarchy check` lists them",
            err=True,
        )
    if out is not None:
        hierarchy.write(out, excel_safe=excel_safe)
        say(f"wrote {out}")
    else:
        say(hierarchy.draw(max_lines=lines))


@app.command("check")
def check(
    file: _File,
    format: _Format = None,
    root: _Root = None,
    notes: Annotated[
        int, typer.Option(min=0, help="Maximum number of printed notes of each kind.")
    ] = 5,
) -> None:
    """Print statistics of a hierarchy and every fault with its line; exit code 2 for faults.

    Example: palmette hierarchy check taxonomy.txt
    """
    from palmette.hierarchy.checking import check_hierarchy

    found = check_hierarchy(file, format=format, root=root)
    say(found.to_text(max_notes=notes))
    if found.faults:
        raise typer.Exit(2)
