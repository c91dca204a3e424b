"""`palmette split`: write the training rows and the test rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palmette.cli._options import (
    Delimiter,
    Encoding,
    Format,
    Header,
    LabelsSeparator,
    OptionalTarget,
    Seed,
    Separator,
    Sheet,
    TableFile,
    say,
)
from palmette.exceptions import PalmetteError

__all__ = ["split"]


def split(
    table: TableFile,
    target: OptionalTarget = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File for the training rows: .csv, .tsv, .jsonl, .parquet or .xlsx. By default "
            "TABLE.train.csv in the current folder, with the suffix of the table."
        ),
    ] = None,
    test_out: Annotated[
        Path | None,
        typer.Option(help="File for the test rows; by default TABLE.test.csv."),
    ] = None,
    test_size: Annotated[
        float, typer.Option("--test-size", "--test", help="Share of test rows.")
    ] = 0.2,
    group: Annotated[
        str | None,
        typer.Option(help="Column whose values are never on both sides, such as customers."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="Column of dates or numbers: the newest rows are the test rows."),
    ] = None,
    similarity: Annotated[
        float,
        typer.Option(
            help="Share of their pieces that long texts have in common to be nearly equal, and on "
            "one side; 1 for equal inputs only."
        ),
    ] = 0.8,
    separator: Separator = None,
    labels_separator: LabelsSeparator = None,
    date_format: Annotated[
        str | None, typer.Option(help="Format of the dates of --time; detected by default.")
    ] = None,
    seed: Seed = 0,
    format: Format = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    header: Header = True,
) -> None:
    """Divide a table into training rows and test rows, which share no equal or similar rows.

    Every class, and every group of classes, has the same share of test rows. Rows of a text or
    Parquet file are copied as they are if the outputs have the same format.

    Example: palmette split products.csv --target category --out train.csv --test-out test.csv
    """
    from palmette.cli._terminal import require_writable
    from palmette.table._reading import as_part
    from palmette.table._sources import STDIN, TableSource
    from palmette.table._split import find_split
    from palmette.table._split_files import side_names, write_split
    from palmette.table._writing import OUTPUTS

    source = TableSource.of(
        table, format, encoding=encoding, delimiter=delimiter, sheet=sheet, header=header
    )
    source.require()
    names = side_names(table)
    outputs = (out or names[0], test_out or names[1])
    for path in outputs:
        require_writable(path, OUTPUTS)
        if table != STDIN and path.resolve() == Path(table).resolve():
            raise PalmetteError(f"{path} is the table itself: pass another --out or --test-out.")
    if outputs[0].resolve() == outputs[1].resolve():
        raise PalmetteError(f"{outputs[0]} is to have both sides: pass two names of files.")
    parts = [as_part(source)] if table == STDIN else None
    found = find_split(
        source if parts is None else parts, target, test_size=test_size, group=group, time=time,
        similarity=similarity, separator=separator, labels_separator=labels_separator,
        date_format=date_format, seed=seed,
    )  # fmt: skip
    write_split(source, found, outputs, parts)
    for sentence in found.sentences:
        say(sentence)
    n_test = int(found.is_test.sum())
    for path, n_rows in zip(outputs, (len(found.is_test) - n_test, n_test), strict=True):
        say(f"wrote {path}: {n_rows:,} rows")
