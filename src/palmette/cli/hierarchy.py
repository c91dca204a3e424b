"""`palmette hierarchy`: draw a hierarchy file, convert it, check it, or compare two."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from palmette.cli._options import Command, DrawnLines, ExcelSafe, say, with_plain_type

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

__all__ = ["app", "check", "diff", "show"]


class _ShowByDefault(TyperGroup):
    """A group whose default command is `show`: `palmette hierarchy FILE`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the group."""
        return [with_plain_type(each) for each in super().get_params(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `show` if no command is named."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShowByDefault,
    no_args_is_help=True,
    help="Draw a hierarchy file or convert it to another format (show), check it (check), or "
    "propose a map from one version to another (diff). "
    "Example: palmette hierarchy taxonomy.txt",
)

_File = Annotated[Path, typer.Argument(help="Hierarchy file in any format that Palmette reads.")]
_Format = Annotated[
    str | None, typer.Option(help="Format of the file if it is not detected correctly.")
]
_Root = Annotated[
    str | None, typer.Option(help="Name of the root that is added if several nodes have no parent.")
]
_Language = Annotated[
    str | None,
    typer.Option(
        help="Language of the labels of a thesaurus, such as fi, or fi,sv in order of preference."
    ),
]
_Scheme = Annotated[
    list[str] | None,
    typer.Option(help="Concept scheme of the thesaurus to read, by URI or title; repeatable."),
]


@app.command("show", cls=Command)
def show(
    file: _File,
    format: _Format = None,
    root: _Root = None,
    language: _Language = None,
    scheme: _Scheme = None,
    lines: DrawnLines = 40,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write: .json, .nwk, .dot, .txt, .edges, .csv, .svg or .html, or SKOS as "
            ".ttl, .rdf, .nt or .jsonld."
        ),
    ] = None,
    excel_safe: ExcelSafe = False,
) -> None:
    """Draw a hierarchy file, or convert it to another format.

    Example: palmette hierarchy taxonomy.txt --out taxonomy.svg
    """
    from palmette.hierarchy._drawing import short_path, summarize
    from palmette.hierarchy._hierarchy import Hierarchy
    from palmette.hierarchy.checking._findings import repeated_on_path

    hierarchy = Hierarchy.read(
        file, format=format, root=root, language=language, scheme=scheme or None
    )
    if excel_safe:
        from palmette.cli._terminal import require_csv

        require_csv(excel_safe, [out or Path("drawing")])
    say(summarize(hierarchy))
    _note_vocabulary(hierarchy, language)
    if repeated := repeated_on_path(hierarchy, with_letters=True):
        say(
            f"note: {len(repeated):,} of the nodes have the same name as a node above them, such "
            f"as {short_path(hierarchy, repeated[0][0])!r}; `palmette hierarchy check` lists them",
            err=True,
        )
    if out is not None:
        hierarchy.write(out, excel_safe=excel_safe, language=language)
        say(f"wrote {out}")
    else:
        say(hierarchy.draw(max_lines=lines))


def _note_vocabulary(hierarchy: Hierarchy, language: str | None) -> None:
    """Say what of a thesaurus was left out, and which labels are in another language."""
    words = hierarchy.vocabulary
    if words is None:
        return
    for each in words.repairs():
        say(f"note: {each}", err=True)
    missing = words.n_missing(language)
    if missing:
        order = [tag or "no language" for tag in words.fallbacks(language)]
        say(
            f"note: {missing:,} concepts have no label in {order[0]!r}; other languages are used "
            f"in this order: {', '.join(order[1:])}",
            err=True,
        )


@app.command("check", cls=Command)
def check(
    file: _File,
    format: _Format = None,
    root: _Root = None,
    language: _Language = None,
    scheme: _Scheme = None,
    notes: Annotated[
        int, typer.Option(min=0, help="Maximum number of notes of each kind that are printed.")
    ] = 5,
) -> None:
    """Print statistics of a hierarchy and every fault with its line; exit code 2 for faults.

    Example: palmette hierarchy check taxonomy.txt
    """
    from palmette.hierarchy.checking import check_hierarchy

    found = check_hierarchy(
        file, format=format, root=root, language=language, scheme=scheme or None
    )
    say(found.to_text(max_notes=notes))
    if found.faults:
        raise typer.Exit(2)


@app.command("diff", cls=Command)
def diff(
    old: _File,
    new: _File,
    out: Annotated[
        Path | None, typer.Option(help="Write the map to a .csv file; by default it is printed.")
    ] = None,
    separator: Annotated[str, typer.Option(help="Separator between the names of a path.")] = " > ",
    excel_safe: ExcelSafe = False,
) -> None:
    """Compare two versions of a taxonomy, and propose the map that `palmette migrate` takes.

    Nodes are matched by path, by name, by their children and by similar names. Read the map before
    it is used: the column reason says why each line is proposed.

    Example: palmette hierarchy diff taxonomy.txt new_taxonomy.txt --out proposed.csv
    """
    import sys

    from palmette._files import atomic_write
    from palmette._text import csv_writer
    from palmette._text import excel_safe as safe
    from palmette.cli._terminal import require_csv, require_writable
    from palmette.hierarchy._diff import propose_changes
    from palmette.hierarchy._hierarchy import Hierarchy

    if out is not None:
        require_writable(out, [".csv"])
    require_csv(excel_safe, [out])
    lines = propose_changes(Hierarchy.read(old), Hierarchy.read(new))
    rows = [("old", "new", "kind", "reason")]
    for line in lines:
        before, now = (separator.join(map(str, path)) for path in (line.old, line.new))
        rows.append((before, now, line.kind, line.reason))
    written = [map(safe, row) for row in rows] if excel_safe else rows
    if out is None:
        csv_writer(sys.stdout).writerows(written)
        return
    with atomic_write(out) as stream:
        csv_writer(stream).writerows(written)
    say(f"wrote {out}: {len(lines):,} lines")
