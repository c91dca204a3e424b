"""`palmette report`: evaluate a model on rows that it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palmette.cli._options import (
    ColumnNames,
    Delimiter,
    Encoding,
    Format,
    ModelFile,
    Seed,
    Sheet,
    TableFile,
    Trusted,
    load_table_model,
    read_column_names,
    say,
)
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    from palmette.cli._terminal import Console
    from palmette.reporting import Report
    from palmette.table import TableModel
    from palmette.table._sources import TableSource

__all__ = ["report"]


def report(
    model: ModelFile,
    data: TableFile,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained page: .html.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write all figures: .json.")] = None,
    md: Annotated[Path | None, typer.Option(help="Write a short text: .md.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    renamed: ColumnNames = None,
    n_bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, help="Resamples for the intervals; 0 for none.")
    ] = 500,
    seed: Seed = 0,
    format: Format = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    trusted: Trusted = None,
) -> None:
    """Evaluate a model on rows with true labels: scores, class tree, errors, confidence.

    Example: palmette report model.palmette test.csv --html report.html
    """
    from palmette.cli._terminal import Console, require_writable
    from palmette.reporting import report as make_report
    from palmette.table._sources import TableSource

    wanted = {".html": html, ".json": json, ".md": md}
    for suffix, path in wanted.items():
        if path is not None:
            require_writable(path, [suffix])
    names = read_column_names(renamed)
    source = TableSource.of(data, format, encoding=encoding, delimiter=delimiter, sheet=sheet)
    source.require()
    fitted = load_table_model(model, trusted)
    with Console(stderr=True).status(f"reading {source.title} ...") as status:
        frame = _read(source, fitted, names)
        status.update(f"predicting {len(frame):,} rows ...")
        found = make_report(
            fitted,
            frame,
            sample_names=range(1, len(frame) + 1),
            n_bootstrap=n_bootstrap,
            random_state=seed,
            title=title or f"{model.stem} on {Path(source.title).name}",
        )
    _print(found, Console())
    for path in filter(None, wanted.values()):
        found.write(path)
        say(f"wrote {path}")


def _read(source: TableSource, fitted: TableModel, names: dict[str, str]) -> Any:
    """Read the table, and give its columns the names that the model knows."""
    from palmette.table._reading import read_whole

    frame = read_whole(source)
    for column, name in names.items():
        if name not in frame.columns:
            raise PalmetteError(
                f"got --map {f'{column}={name}'!r}, but {source.title} has no column {name!r} "
                f"(it has: {', '.join(map(str, frame.columns[:20]))})."
            )
    frame = frame.rename(columns={name: column for column, name in names.items()})
    fitted.check_columns(frame.columns, source.title)
    return frame


def _print(found: Report, console: Console) -> None:
    from palmette.cli._terminal import plain_table

    facts = found.facts
    console.print(facts["title"], style="bold", markup=False, highlight=False)
    table = plain_table()
    table.add_column("score", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column(f"{facts['bootstrap']['confidence']:.0%} interval", no_wrap=True)
    for each in facts["figures"]:
        bounds = "" if each["low"] is None else f"{each['low']:.4f} – {each['high']:.4f}"
        table.add_row(each["title"], f"{each['value']:.4f}", bounds)
    console.print(table)
    errors, data = facts["errors"], facts["setting"]["data"]
    console.print(f"{errors['wrong']:,} of {errors['rows']:,} rows are wrong", highlight=False)
    if data["rows_left_out"]:
        console.print(f"{data['rows_left_out']:,} rows without a label", highlight=False)
