"""`palmette review`: list the rows of a table that a person should look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palmette._text import listed
from palmette.cli._options import (
    ColumnNames,
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    ExcelSafe,
    Format,
    HeaderAsFitted,
    ModelFile,
    Seed,
    Sheet,
    TableFile,
    Trusted,
    as_fitted,
    load_table_model,
    read_column_names,
    say,
)
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    from palmette.table._sources import TableSource

__all__ = ["review"]


def review(
    model: ModelFile,
    table: TableFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write: .csv, .tsv, .jsonl, .parquet or .xlsx. Without --out and --html, "
            "CSV is written to standard output."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained .html page.")] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of folds, by default as of palmette fit; 0 uses the given model, on rows "
            "that it was not fitted on.",
        ),
    ] = None,
    time: Annotated[
        float, typer.Option(min=0.0, help="Approximate time limit in seconds; 0 means no limit.")
    ] = 0.0,
    top: Annotated[
        int, typer.Option(min=0, help="Maximum number of rows per kind of finding; 0 lists all.")
    ] = 100,
    by_level: Annotated[
        bool,
        typer.Option(
            "--by-level", help="Assume that wrong labels are mostly similar to the right ones."
        ),
    ] = False,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    rename: ColumnNames = None,
    seed: Seed = 0,
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
    """List rows with doubtful labels, rows that fit no class, and the least certain rows.

    Models of the same kind are fitted on parts of the table and judge the rest of it.

    Example: palmette review model.palmette products.csv --out review.csv --html review.html
    """
    from palmette._files import atomic_write
    from palmette.cli._terminal import progress, require_csv, require_writable
    from palmette.reviewing import review as make_review
    from palmette.reviewing import review_page
    from palmette.reviewing._page import sentences
    from palmette.table._sources import TableSource
    from palmette.table._writing import OUTPUTS, open_writer

    if out in (Path("-"), Path("/dev/stdout")):
        out = None
    is_printed = out is None and html is None
    for path, suffixes in ((out, OUTPUTS), (html, [".html"])):
        if path is not None:
            require_writable(path, suffixes)
    require_csv(excel_safe, [] if out is None and not is_printed else [out])
    names = read_column_names(rename)
    source = TableSource.of(table, format, encoding=encoding, delimiter=delimiter, sheet=sheet)
    source.require()
    fitted = load_table_model(model, trusted)
    source = as_fitted(fitted, source, header, decimal, date_format)
    with progress(time or None) as (watch, tell):
        rows = _read(source, names)
        found = make_review(
            fitted, rows, folds=folds, time=time or None, top=top or None,
            by_level=by_level, seed=seed,
            watch=watch, tell=tell,
        )  # fmt: skip
    if html is not None:
        named = title or f"{model.stem} on {Path(source.title).name}: rows to review"
        with atomic_write(html, "wb") as stream:
            stream.write(review_page(found, named).encode("utf-8", "replace"))
        say(f"wrote {html}", err=True)
    if out is not None or is_printed:
        with open_writer(out, excel_safe) as writer:
            writer.write(found)
    if out is not None:
        say(f"wrote {out}: {len(found):,} rows", err=True)
    for words in sentences(found.attrs["review"]):
        say(words, err=True)


def _read(source: TableSource, names: dict[str, str]) -> Any:
    """Read the table, and give its columns the names that the model knows."""
    from palmette.reviewing._review import numbered_rows

    frame = numbered_rows(source)
    for column, name in names.items():
        if name not in frame.columns:
            raise PalmetteError(
                f"got --map {f'{column}={name}'!r}, but {source.title} has no column {name!r} "
                f"(it has: {listed(frame.columns)})."
            )
    return frame.rename(columns={name: column for column, name in names.items()})
