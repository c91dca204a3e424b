"""`palmette predict`: the rows of a table with the paths that a model predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["command", "run_predict"]


def command(
    model: Annotated[Path, typer.Argument(help="A model that palmette fit has written.")],
    table: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSON lines, Parquet or Excel, packed or not; - for standard input."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Write .csv, .tsv, .jsonl or .parquet; CSV on standard output if none."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of best labels.")] = 1,
    confidence: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Also the deepest node with this probability."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also what speaks for the prediction.")
    ] = False,
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", help="COLUMN=NAME: what the table calls a column of the model."),
    ] = None,
    chunk_rows: Annotated[int, typer.Option(min=1, help="Rows in memory at a time.")] = 20_000,
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
    """Write the rows of a table with the path predicted for each, and its probability.

    Rows are read, predicted and written in chunks: a file of any size does, but a workbook is read
    whole. A file that is written is there whole, or not at all.

    Example: palmette predict model.palmette new.csv --confidence .8 --out predicted.csv
    """
    run_predict(
        model,
        table,
        out=out,
        top=top,
        confidence=confidence,
        explain=explain,
        rename=_pairs(map_ or []),
        chunk_rows=chunk_rows,
        format=format,
        encoding=encoding,
        delimiter=delimiter,
        sheet=sheet,
        trusted=trust or [],
    )


def run_predict(
    model: Path,
    table: str,
    *,
    out: Path | None = None,
    top: int = 1,
    confidence: float | None = None,
    explain: bool = False,
    rename: dict[str, str] | None = None,
    chunk_rows: int = 20_000,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    trusted: list[str] | None = None,
) -> None:
    """Predict a table; the parameters are those of the command."""
    from palmette.cli.outputs import require_writable
    from palmette.table.predicting import Wishes, predict_chunks
    from palmette.table.sources import TableSource
    from palmette.table.writing import OUTPUTS, open_writer

    if out is not None:
        require_writable(out, OUTPUTS)
    source = TableSource.of(table, format, encoding=encoding, delimiter=delimiter, sheet=sheet)
    source.require()
    fitted = _load(model, trusted or [])
    wishes = Wishes(top, confidence, explain, rename or {})
    chunks = predict_chunks(
        fitted, source, wishes, rows=chunk_rows, tell=lambda words: typer.echo(words, err=True)
    )
    rows = 0
    with _progress(out is not None) as tick, open_writer(out) as writer:
        for chunk in chunks:
            writer.write(chunk)
            rows += len(chunk)
            tick(rows)
    if out is not None:
        typer.echo(f"wrote {out}: {rows:,} rows", err=True)


def _load(path: Path, trusted: list[str]) -> Any:
    from palmette.exceptions import PalmetteError
    from palmette.persistence import load
    from palmette.table.model import TableModel

    model = load(path, trusted=tuple(trusted))
    if not isinstance(model, TableModel):
        raise PalmetteError(
            f"{path} holds a {type(model).__name__}, which is not for tables: expected a model "
            "that palmette fit has written."
        )
    return model


def _progress(shown: bool) -> Any:
    """Count rows on the standard error while a file is written."""
    from contextlib import contextmanager

    @contextmanager
    def counting() -> Any:
        from rich.console import Console

        console = Console(stderr=True)
        if not shown or not console.is_terminal:
            yield lambda rows: None
            return
        with console.status("predicting ...") as status:
            yield lambda rows: status.update(f"{rows:,} rows")

    return counting()


def _pairs(words: list[str]) -> dict[str, str]:
    """Read NAME=VALUE words."""
    from palmette.exceptions import PalmetteError

    pairs = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not (mark and name and value):
            raise PalmetteError(
                f"got --map {word!r}: expected COLUMN=NAME, such as --map title=name."
            )
        pairs[name] = value
    return pairs
