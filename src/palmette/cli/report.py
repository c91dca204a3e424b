"""`palmette report`: what a model does on rows that it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from palmette.reporting import Report
    from palmette.table.sources import TableSource

__all__ = ["command", "run_report"]


def command(
    model: Annotated[Path, typer.Argument(help="A model file, as `palmette fit` writes it.")],
    data: Annotated[
        str,
        typer.Argument(
            help="A table of rows with their true labels: CSV, TSV, JSON lines, Parquet or Excel, "
            "packed or not; - is the standard input."
        ),
    ],
    html: Annotated[
        Path | None, typer.Option(help="Write one page that needs no network: .html.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the facts: .json.")] = None,
    md: Annotated[Path | None, typer.Option(help="Write a short text: .md.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    map_columns: Annotated[
        list[str] | None,
        typer.Option("--map", help="COLUMN=NAME: what the table calls a column of the model."),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Resamples for the intervals; 0 for none.")
    ] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
    format: Annotated[
        str | None, typer.Option(help="csv, tsv, jsonl, parquet or excel, where no suffix says it.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Of text, such as latin-1.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Between the cells of a CSV file.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Of a workbook; the first if none.")] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(help="A type of another library in the model that may be loaded."),
    ] = None,
) -> None:
    """Judge a model on rows that it has not seen: figures, class tree, errors, confidence.

    Example: palmette report model.palmette test.csv --html report.html
    """
    run_report(
        model,
        data,
        html=html,
        json=json,
        md=md,
        title=title,
        renamed=map_columns or [],
        n_bootstrap=bootstrap,
        seed=seed,
        format=format,
        encoding=encoding,
        delimiter=delimiter,
        sheet=sheet,
        trusted=trust or [],
    )


def run_report(
    model: Path,
    data: str,
    *,
    html: Path | None = None,
    json: Path | None = None,
    md: Path | None = None,
    title: str | None = None,
    renamed: list[str] | None = None,
    n_bootstrap: int = 500,
    seed: int = 0,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    trusted: list[str] | None = None,
) -> None:
    """Make a report, print its figures and write it; the parameters are those of the command."""
    from rich.console import Console

    from palmette.reporting import report
    from palmette.table.sources import TableSource

    wanted = {".html": html, ".json": json, ".md": md}
    _check(wanted)
    source = TableSource.of(data, format, encoding=encoding, delimiter=delimiter, sheet=sheet)
    source.require()
    fitted = _load(model, trusted or [])
    with Console(stderr=True).status(f"reading {source.title} ...") as status:
        frame = _read(source, fitted, renamed or [])
        status.update(f"predicting {len(frame):,} rows ...")
        found = report(
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
        typer.echo(f"wrote {path}")


def _check(wanted: dict[str, Path | None]) -> None:
    """Find mistakes in the names of files before anything is read."""
    from palmette.cli.outputs import require_writable

    for suffix, path in wanted.items():
        if path is not None:
            require_writable(path, [suffix])


def _load(model: Path, trusted: list[str]) -> Any:
    from palmette.exceptions import PalmetteError
    from palmette.persistence import load

    fitted = load(model, trusted=trusted)
    if not hasattr(fitted, "read_target"):
        raise PalmetteError(
            f"{model} holds a {type(fitted).__name__}, which does not know the columns of a table: "
            "expected a model that `palmette fit` wrote. In Python, palmette.report(model, X, y) "
            "takes any classifier."
        )
    return fitted


def _read(source: TableSource, fitted: Any, renamed: list[str]) -> Any:
    """Read the table, with the columns under the names that the model knows."""
    from palmette.table.reading import read_whole

    frame = read_whole(source)
    frame = frame.rename(columns=_names(renamed, list(frame.columns), source.title))
    fitted.check_columns(frame.columns, source.title)
    return frame


def _names(renamed: list[str], columns: list[str], title: str) -> dict[str, str]:
    """Columns of the table by the names that they have there."""
    from palmette.exceptions import PalmetteError

    names = {}
    for words in renamed:
        new, equals, old = words.partition("=")
        if not equals or not new or not old:
            raise PalmetteError(f"got --map {words!r}: expected COLUMN=NAME, such as title=name.")
        if old not in columns:
            raise PalmetteError(
                f"got --map {words!r}, but {title} has no column {old!r} (it has: "
                f"{', '.join(columns[:20])})."
            )
        names[old] = new
    return names


def _print(found: Report, console: Any) -> None:
    from rich import box
    from rich.table import Table

    facts = found.facts
    console.print(facts["title"], style="bold", markup=False, highlight=False)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("figure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column(f"{facts['bootstrap']['confidence']:.0%} interval", no_wrap=True)
    for each in facts["figures"]:
        bounds = "" if each["low"] is None else f"{each['low']:.4f} – {each['high']:.4f}"
        table.add_row(each["title"], f"{each['value']:.4f}", bounds)
    console.print(table)
    errors, data = facts["errors"], facts["setting"]["data"]
    console.print(f"{errors['wrong']:,} of {errors['rows']:,} rows are wrong", highlight=False)
    if data["rows_left_out"]:
        console.print(f"left out for want of a label: {data['rows_left_out']:,}", highlight=False)
