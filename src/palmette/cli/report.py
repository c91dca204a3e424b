"""`palmette report`: evaluate a model on rows that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palmette._text import listed
from palmette.cli._options import (
    BadRowsFile,
    Bootstrap,
    ColumnNames,
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    HeaderAsFitted,
    Scheduler,
    Scratch,
    Seed,
    Sheet,
    SkipBadRows,
    Trusted,
    Workers,
    as_fitted,
    bad_rows_of,
    load_table_model,
    read_column_names,
    say,
)
from palmette.exceptions import PalmetteError, TableWarning

if TYPE_CHECKING:
    from palmette.cli._terminal import Console
    from palmette.reporting import Report
    from palmette.table import TableModel
    from palmette.table._sources import TableSource

__all__ = ["read_in_parts", "report"]

_FLAT = "flat-linear"


def report(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL [MODEL] TABLE",
            help="One model file, or two to compare, followed by the table: CSV, TSV, JSON lines, "
            "Parquet, Excel or AnnData, compressed or not. Use - for standard input.",
        ),
    ],
    html: Annotated[Path | None, typer.Option(help="Write one self-contained .html page.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write all results to a .json file.")] = None,
    md: Annotated[Path | None, typer.Option(help="Write a short summary to an .md file.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Language of the labels of a thesaurus, such as fi, or fi,sv in order of "
            "preference."
        ),
    ] = None,
    precision: Annotated[
        float,
        typer.Option(
            help="Required share of correct predictions among those that are accepted "
            "automatically."
        ),
    ] = 0.95,
    train: Annotated[
        str | None,
        typer.Option(help="Training table, on which a flat linear model is fitted for comparison."),
    ] = None,
    renamed: ColumnNames = None,
    n_bootstrap: Bootstrap = 500,
    seed: Seed = 0,
    scratch: Scratch = None,
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
) -> None:
    """Evaluate a model on rows with true labels: verdict, scores, errors, rows to review.

    With two models, the report compares them on the same rows; its details are
    those of the first model.
    The report is the same for any number of workers. The rows of a large table are kept in a
    scratch folder, which is removed at the end.

    Example: palmette report model.palmette test.csv --html report.html
    """
    from palmette.base._clients import started
    from palmette.cli._terminal import Console, require_writable
    from palmette.reporting import report as make_report
    from palmette.reporting._acceptance import check_precision
    from palmette.reporting._stored import TableStore
    from palmette.table._sources import TableSource

    models, data = _split(files)
    check_precision(precision)
    wanted = {".html": html, ".json": json, ".md": md}
    for suffix, path in wanted.items():
        if path is not None:
            require_writable(path, [suffix])
    columns = read_column_names(renamed)
    if bad_rows is not None:
        require_writable(bad_rows, [".csv"])
    bad = bad_rows_of(skip_bad_rows, bad_rows)
    source = TableSource.of(
        data, format, encoding=encoding, delimiter=delimiter, sheet=sheet, bad=bad
    )
    source.require()
    training = None if train is None else TableSource.of(train)
    if training is not None:
        training.require()
    fitted, *others = (load_table_model(path, trusted) for path in models)
    for each in (*others, fitted):
        source = as_fitted(each, source, header, decimal, date_format)
    options: dict[str, Any] = {}
    if others:
        options = {"other": others[0], "names": _names(models)}
    reading = Console(stderr=True).status(f"reading {source.title} ...")
    with (
        started(workers, scheduler) as client,
        warnings.catch_warnings(),
        TableStore(fitted, scratch, partial(say, err=True)) as store,
        reading as status,
    ):
        for part in read_in_parts(source, [fitted, *others], columns):
            store.add(part)
        frame = store.finish()
        if training is not None:
            status.update(f"fitting {_FLAT} on {training.title} ...")
            options["baselines"] = {"flat linear model": _fit_flat(fitted, training, seed)}
        status.update(f"predicting {len(frame):,} rows ...")
        warnings.simplefilter("ignore", TableWarning)  # they were shown when the table was read
        found = make_report(
            fitted,
            frame,
            sample_names=range(1, len(frame) + 1),
            n_bootstrap=n_bootstrap,
            random_state=seed,
            title=title or f"{' and '.join(m.stem for m in models)} on {Path(source.title).name}",
            precision=precision,
            language=language,
            client=client,
            **options,
        )
    _print(found, Console())
    if bad_rows is not None:
        bad.write(bad_rows)
        say(f"wrote {bad_rows}: {len(bad):,} rows that were skipped")
    for path in filter(None, wanted.values()):
        found.write(path)
        say(f"wrote {path}")


def _split(files: list[str]) -> tuple[list[Path], str]:
    """Return the one or two models and the table of the command."""
    if not 2 <= len(files) <= 3:
        raise PalmetteError(
            f"got {len(files)} {'file' if len(files) == 1 else 'files'}: expected a model and a "
            "table, or two models and a table, as in palmette report model.palmette test.csv."
        )
    return [Path(name) for name in files[:-1]], files[-1]


def _names(models: list[Path]) -> tuple[str, str]:
    """Return the names of two models: those of their files, or their paths if these are equal."""
    first, second = models
    if first.stem != second.stem:
        return first.stem, second.stem
    if first != second:
        return str(first), str(second)
    return f"{first.stem} (1)", f"{second.stem} (2)"


def _fit_flat(fitted: TableModel, training: TableSource, seed: int) -> TableModel:
    """Fit the flat linear model on the training table, read as that of the model."""
    from dataclasses import replace

    from palmette.table import fit_table
    from palmette.table._reading import read_whole

    if fitted.learnt_:
        raise PalmetteError(
            "got --train, but the hierarchy of the model was learned, so the answers of a flat "
            "model cannot be placed on it. Leave out --train."
        )
    frame = read_whole(replace(training, header=fitted.schema_.header))
    unused = fitted.check_columns(frame.columns, training.title)
    return fit_table(
        frame,
        fitted.target_.columns,
        hierarchy=fitted.hierarchy_,
        model=_FLAT,
        separator=fitted.target_.separator or ("" if len(fitted.target_.columns) == 1 else None),
        labels_separator=fitted.target_.labels_separator,
        merge_case=bool(fitted.target_.spelled),
        max_depth=fitted.target_.max_depth,
        yes=True,
        columns=fitted.schema_.kinds,
        drop=unused,
        decimal=fitted.schema_.decimals or None,
        date_format=fitted.schema_.date_formats or None,
        folds=0,
        seed=seed,
    )


def read_in_parts(
    source: TableSource, models: list[TableModel], names: dict[str, str]
) -> Iterator[Any]:
    """Yield the rows of a table in parts, with the names of columns that the models know.

    What is wrong with cells is told at the end.
    """
    from palmette.table._reading import read_parts
    from palmette.table._schema import Unread

    unread, first_row = Unread(), 1
    for frame, lines in read_parts(source):
        if not source.header:
            frame = models[0].schema_.named(frame, models[0].target_.columns, source.title)
        for column, name in names.items():
            if name not in frame.columns:
                raise PalmetteError(
                    f"got --map {f'{column}={name}'!r}, but {source.title} has no column {name!r} "
                    f"(it has: {listed(frame.columns)})."
                )
        frame = frame.rename(columns={name: column for column, name in names.items()})
        for fitted in models:
            fitted.check_columns(frame.columns, source.title)
        models[0].schema_.cast(frame, first_row=first_row, lines=lines, unread=unread)
        first_row += len(frame)
        yield frame
    for sentence in unread.sentences(source.title):
        say(sentence, err=True)
    if source.bad:
        say(source.bad.sentence(source.title), err=True)


def _print(found: Report, console: Console) -> None:
    from palmette.cli._terminal import plain_table

    facts = found.facts
    versus = facts["versus"]
    plain: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}
    console.print(facts["title"], style="bold", **plain)
    console.print(facts["verdict"] if versus is None else versus["verdict"], **plain)
    table = plain_table()
    table.add_column("score", no_wrap=True)
    interval = f"{facts['bootstrap']['confidence']:.0%} interval"
    titles = (
        ["value", interval, *(_base_title(base) for base in facts["baselines"])]
        if versus is None
        else [*versus["names"], "difference", interval]
    )
    for title in titles[:2] if versus is None else titles:
        table.add_column(title, justify="right", no_wrap=True)
    for title in titles[2:] if versus is None else []:
        table.add_column(title, justify="right", width=9)
    for each in facts["figures"] if versus is None else versus["figures"]:
        bounds = "" if each["low"] is None else f"{each['low']:.4f} – {each['high']:.4f}"
        if versus is None:
            scores = [base["scores"].get(each["name"]) for base in facts["baselines"]]
            cells = [f"{each['value']:.4f}", bounds, *map(_score, scores)]
        else:
            pair = (each["first"], each["second"])
            cells = [*map(_score, pair), f"{each['difference']:+.4f}", bounds]
        table.add_row(each["title"], *cells)
    console.print(table)
    errors, data = facts["errors"], facts["setting"]["data"]
    console.print(f"{errors['wrong']:,} of {errors['rows']:,} rows are wrong", highlight=False)
    if data["rows_left_out"]:
        console.print(f"{data['rows_left_out']:,} rows without a label", highlight=False)
    for base in facts["baselines"] if versus is None else []:
        if base["measured"] != "report":
            console.print(f"{_base_title(base)}: {base['words']}", **plain)


def _base_title(base: dict[str, Any]) -> str:
    crossed = base["measured"] == "cross-validation"
    return f"{base['title']}{'*' if crossed else ''}"


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
