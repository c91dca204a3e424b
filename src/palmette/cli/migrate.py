"""`palmette migrate`: carry a model over to a taxonomy that has changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palmette.cli._options import (
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    ExcelSafe,
    Format,
    HeaderAsFitted,
    ModelFile,
    Separator,
    Sheet,
    Trusted,
    as_fitted,
    load_table_model,
    say,
)
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    from palmette.table._migrate import Migration

__all__ = ["migrate"]


def migrate(
    model: ModelFile,
    map: Annotated[
        Path | None,
        typer.Option(
            "--map",
            help="CSV file with the columns old and new, the paths before and after the change, "
            "and optionally kind.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Model file to write: .palmette.")] = None,
    table: Annotated[
        str | None,
        typer.Option(help="Table with labelled rows; only the nodes that need rows are fitted."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would change without writing anything.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write one line per changed node to a .csv, .tsv, .jsonl, .parquet or .xlsx file."
        ),
    ] = None,
    separator: Separator = None,
    format: Format = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    header: HeaderAsFitted = None,
    trusted: Trusted = None,
    excel_safe: ExcelSafe = False,
) -> None:
    """Carry a model over to a changed taxonomy, without fitting what has not changed.

    Lines of the map rename or move a node with everything below it, merge nodes (several lines with
    the same new path), split one (several lines with the same old path), add a leaf (no old path)
    or remove a node (no new path). Split nodes and new leaves need rows: those of --table fit them,
    and nothing else.

    Example: palmette migrate model.palmette --map renames.csv --out new.palmette
    """
    from palmette.cli._terminal import Console, require_csv, require_writable
    from palmette.persistence import save
    from palmette.table._migrate import Migration
    from palmette.table._sources import TableSource
    from palmette.table._writing import OUTPUTS

    if out is None and not dry_run:
        raise PalmetteError("no output is given: pass --out new.palmette, or --dry-run.")
    if map is None and table is None:
        raise PalmetteError(
            "neither a map nor a table is given: pass --map renames.csv, or, for nodes that still "
            "need rows, --table rows.csv."
        )
    if out is not None:
        require_writable(out, [".palmette"])
    if report is not None:
        require_writable(report, OUTPUTS)
    require_csv(excel_safe, [report])
    source = None
    if table is not None:
        source = TableSource.of(table, format, encoding=encoding, delimiter=delimiter, sheet=sheet)
        source.require()
    fitted = load_table_model(model, trusted)
    if source is not None:
        source = as_fitted(fitted, source, header, decimal, date_format)
    migration = Migration(fitted, () if map is None else map, separator)
    with Console(stderr=True).status("reading the table ...") as status:
        if source is not None:
            migration.read_rows(source, tell=_note)
        if not dry_run:
            status.update("fitting the nodes that need rows ...")
            made = migration.finish(_note)
    say(migration.to_text())
    if not dry_run and out is not None:
        save(made, out)
        say(f"wrote {out}")
    if report is not None:
        _write(migration, report, excel_safe)
        say(f"wrote {report}")


def _note(words: str) -> None:
    say(f"note: {words}", err=True)


def _write(migration: Migration, path: Path, excel_safe: bool) -> None:
    import pandas as pd

    from palmette.table._writing import open_writer

    columns = ["change", "old", "new", "needs_rows", "rows"]
    frame = pd.DataFrame(migration.lines, columns=columns)
    frame["rows"] = frame["rows"].astype("Int64").astype(object)
    frame["needs_rows"] = ["yes" if each else "no" for each in frame["needs_rows"]]
    with open_writer(path, excel_safe) as writer:
        writer.write(frame.where(frame.notna(), None))
