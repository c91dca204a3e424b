"""`palmette predict`: write the rows of a table with the predictions of a model."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palmette.cli._options import (
    BadRowsFile,
    ColumnNames,
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    ExcelSafe,
    Format,
    HeaderAsFitted,
    JobsOrAuto,
    ModelFile,
    Scheduler,
    Sheet,
    SkipBadRows,
    TableFile,
    Trusted,
    Workers,
    as_fitted,
    bad_rows_of,
    check_jobs,
    load_table_model,
    read_column_names,
    say,
)

if TYPE_CHECKING:
    from palmette.table import TableModel
    from palmette.table._sources import TableSource

__all__ = ["predict"]


def predict(
    model: ModelFile,
    table: TableFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write: .csv, .tsv, .jsonl, .parquet or .xlsx, or .h5ad for an AnnData "
            "file, to whose .obs the predictions are added. By default CSV is written to standard "
            "output."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="Number of labels to write per row, best first.")
    ] = 1,
    confidence: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Also write the deepest node that is sure enough for this share of the answers "
            "to be right.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also write what the prediction is based on.")
    ] = False,
    rename: ColumnNames = None,
    chunk_rows: Annotated[
        int,
        typer.Option(min=1, help="Number of rows per chunk; each job keeps one chunk in memory."),
    ] = 20_000,
    n_jobs: JobsOrAuto = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    format: Format = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    header: HeaderAsFitted = None,
    skip_bad_rows: SkipBadRows = False,
    bad_rows: BadRowsFile = None,
    trusted: Trusted = None,
    excel_safe: ExcelSafe = False,
) -> None:
    """Write the rows of a table with the predicted path and its probability.

    Rows are read, predicted and written in chunks, so files may have any size; only workbooks are
    read whole. The output is the same for any number of jobs or workers. An output file is written
    completely or not at all. Numbers and dates that cannot be read count as missing; a note says
    how many.

    Example: palmette predict model.palmette new.csv --confidence .8 --out predicted.csv
    """
    from palmette.base._clients import started
    from palmette.cli._terminal import require_csv, require_writable
    from palmette.table._anndata import SUFFIX
    from palmette.table._predicting import Wishes, predict_chunks
    from palmette.table._sources import TableSource
    from palmette.table._writing import OUTPUTS

    if out in (Path("-"), Path("/dev/stdout")):
        out = None
    if out is not None:
        require_writable(out, [*OUTPUTS, SUFFIX])
    require_csv(excel_safe, [out])
    if n_jobs is not None:
        check_jobs(n_jobs)
    wishes = Wishes(top, confidence, explain, read_column_names(rename))
    if bad_rows is not None:
        require_writable(bad_rows, [".csv"])
    bad = bad_rows_of(skip_bad_rows, bad_rows)
    source = TableSource.of(
        table, format, encoding=encoding, delimiter=delimiter, sheet=sheet, bad=bad
    )
    source.require()
    fitted = load_table_model(model, trusted)
    source = as_fitted(fitted, source, header, decimal, date_format)
    gc.freeze()  # the model stays: the collector need not visit it again for every chunk
    rows = 0
    with (
        started(workers, scheduler) as client,
        _progress(out is not None) as show,
        _writer(out, excel_safe, source, fitted) as writer,
    ):
        pieces = predict_chunks(
            fitted, source, wishes, rows=chunk_rows, n_jobs=n_jobs, form=writer.form,
            tell=lambda words: say(words, err=True), client=client,
        )  # fmt: skip
        with closing(pieces):  # which ends the processes of the jobs
            for piece in pieces:
                writer.append(piece)
                rows += piece.n_rows
                show(rows)
    if out is not None:
        say(f"wrote {out}: {rows:,} rows", err=True)
    if bad_rows is not None:
        bad.write(bad_rows, excel_safe)
        say(f"wrote {bad_rows}: {len(bad):,} rows that were skipped", err=True)


def _writer(out: Path | None, excel_safe: bool, source: TableSource, fitted: TableModel) -> Any:
    from palmette.table._anndata import SUFFIX, obs_writer
    from palmette.table._writing import open_writer

    if out is not None and out.suffix.lower() == SUFFIX:
        return obs_writer(out, source, fitted)
    return open_writer(out, excel_safe)


@contextmanager
def _progress(shown: bool) -> Iterator[Callable[[int], None]]:
    """Count rows on the standard error while a file is written."""
    from palmette.cli._terminal import Console

    console = Console(stderr=True)
    if not shown or not console.is_terminal:
        yield lambda rows: None
        return
    with console.status("predicting ...") as status:
        yield lambda rows: status.update(f"{rows:,} rows")
