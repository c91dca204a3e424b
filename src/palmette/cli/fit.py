"""`palmette fit`: a model of the classes of a table's rows, in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from palmette.table.model import TableModel

__all__ = ["command", "run_fit"]

SUFFIX = ".palmette"


def command(
    table: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSON lines, Parquet or Excel, packed or not; - for standard input."
        ),
    ],
    target: Annotated[
        list[str],
        typer.Option(help="Column to predict; several (a,b,c, or repeated) are levels of a path."),
    ],
    out: Annotated[Path, typer.Option(help="File of the model, .palmette.")] = Path(
        "model.palmette"
    ),
    hierarchy: Annotated[
        str | None,
        typer.Option(
            help="File of the taxonomy, or learn, learn:bhc, learn:mf-tree, learn:agglomerative "
            "...; taken from the paths if none."
        ),
    ] = None,
    model: Annotated[
        str, typer.Option(help="A name (palmette models), or auto: the best of a tournament.")
    ] = "auto",
    time: Annotated[
        float, typer.Option(help="Seconds for all of it, about; 0 for as long as it takes.")
    ] = 60.0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of a named model, such as C=10; repeat it."),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(help="Splits target cells into paths, such as ' > '; found if not given."),
    ] = None,
    labels_separator: Annotated[
        str | None, typer.Option(help="Splits target cells that hold several paths, such as ';'.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="NAME=KIND, where it is guessed wrong: text, category, number or date."),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column not to learn from.")] = None,
    text: Annotated[str, typer.Option(help="How texts become numbers: tfidf or hashing.")] = (
        "tfidf"
    ),
    folds: Annotated[int, typer.Option(help="Of cross-validation; 0 for none.")] = 3,
    calibrate: Annotated[
        str | None,
        typer.Option(help="Calibrate probabilities: isotonic, sigmoid or temperature."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="Also sets that hold the truth with this probability, such as .9."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Makes a fit repeatable.")] = 0,
    jobs: Annotated[int, typer.Option(help="Models fitted at a time; -1 for all cores.")] = 1,
    format: Annotated[
        str | None, typer.Option(help="csv, tsv, jsonl, parquet or excel, where no suffix says it.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Of text, such as latin-1.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Between the cells of a CSV file.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Of a workbook; the first if none.")] = None,
) -> None:
    """Learn the classes of a table's rows, and write a model that predict and report take.

    Example: palmette fit products.csv --target category --out model.palmette
    """
    run_fit(
        table,
        target,
        out,
        hierarchy=hierarchy,
        model=model,
        time=time or None,
        settings=settings or [],
        separator=separator,
        labels_separator=labels_separator,
        columns=column or [],
        drop=drop or [],
        text=text,
        folds=folds,
        calibrate=calibrate,
        coverage=coverage,
        seed=seed,
        n_jobs=jobs,
        format=format,
        encoding=encoding,
        delimiter=delimiter,
        sheet=sheet,
    )


def run_fit(
    table: str,
    target: list[str],
    out: Path,
    *,
    hierarchy: str | None = None,
    model: str = "auto",
    time: float | None = 60.0,
    settings: list[str] | None = None,
    separator: str | None = None,
    labels_separator: str | None = None,
    columns: list[str] | None = None,
    drop: list[str] | None = None,
    text: str = "tfidf",
    folds: int = 3,
    calibrate: str | None = None,
    coverage: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
) -> TableModel:
    """Fit a model, print the leaderboard and write it; the parameters are those of the command."""
    from palmette.cli.outputs import require_writable
    from palmette.exceptions import PalmetteError
    from palmette.persistence import save
    from palmette.table.candidates import parse_settings
    from palmette.table.fit import fit_table
    from palmette.table.sources import TableSource

    require_writable(out, [SUFFIX])
    if n_jobs == 0:
        raise PalmetteError("got --jobs 0: expected a number of jobs, or -1 for all cores.")
    if text not in ("tfidf", "hashing"):
        raise PalmetteError(f"got --text {text}: expected tfidf or hashing.")
    source = TableSource.of(table, format, encoding=encoding, delimiter=delimiter, sheet=sheet)
    source.require()
    chosen = {"settings": parse_settings(settings or []), "columns": _kinds(columns or [])}
    with _progress(time) as (watch, tell):
        fitted = fit_table(
            source,
            target[0] if len(target) == 1 else target,
            hierarchy=hierarchy,
            model=model,
            time=time,
            separator=separator,
            labels_separator=labels_separator,
            drop=drop or [],
            text=text,
            folds=folds,
            calibrate=calibrate,
            coverage=coverage,
            seed=seed,
            n_jobs=n_jobs,
            watch=watch,
            tell=tell,
            **chosen,
        )
        watch("writing the model", fitted.summary_["seconds"])
        save(fitted, out)
    _print_result(fitted, out)
    if fitted.learnt_:
        tree = out.with_suffix(".tree.json")
        fitted.hierarchy_.write(tree)
        typer.echo(f"wrote {tree}, the hierarchy that was learnt")
    return fitted


def _kinds(words: list[str]) -> dict[str, str]:
    """Read NAME=KIND words; a name may hold an equals sign, a kind does not."""
    from palmette.exceptions import PalmetteError

    kinds = {}
    for word in words:
        name, mark, kind = word.rpartition("=")
        if not (mark and name and kind):
            raise PalmetteError(
                f"got --column {word!r}: expected NAME=KIND, such as --column zip=category."
            )
        kinds[name] = kind
    return kinds


# ---------------------------------------------------------------------- on the terminal

Watch = Callable[[str, float], None]


@contextmanager
def _progress(budget: float | None) -> Iterator[tuple[Watch, Callable[[str], None]]]:
    """Show a bar of the time on the standard error; sentences go above it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda words, spent: None, lambda words: typer.echo(words, err=True)
        return
    left = TextColumn("{task.fields[left]}")
    bar = Progress(
        SpinnerColumn(), BarColumn(30), TimeElapsedColumn(), left,
        TextColumn("{task.description}"), console=console, transient=True,
    )  # fmt: skip

    with bar:
        task = bar.add_task("reading the table", total=budget, left="")

        def watch(words: str, spent: float) -> None:
            rest = "" if budget is None else f"about {max(budget - spent, 0):.0f} s left"
            done = spent if budget is None else min(spent, budget)
            bar.update(task, description=words, completed=done, left=rest)

        def tell(words: str) -> None:
            bar.console.print(words, highlight=False, markup=False, soft_wrap=True)

        yield watch, tell


def _print_result(model: TableModel, out: Path) -> None:
    from rich.console import Console

    console = Console()
    facts = model.summary_
    board = facts["leaderboard"]
    if board:
        console.print(_leaderboard(board, facts["model"]))
        for note in [*_not_tried(board), *_verdict(board, facts["model"])]:
            console.print(note, highlight=False, markup=False, soft_wrap=True)
    console.print(
        f"{facts['model']}, fitted on {facts['rows']:,} rows in {facts['fit_seconds']:.1f} s "
        f"({facts['seconds']:.1f} s in all, seed {facts['seed']})",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    console.print(f"wrote {out}", highlight=False, markup=False, soft_wrap=True)


def _leaderboard(board: list[dict[str, Any]], winner: str) -> Any:
    from rich import box
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    shown.add_column("model", no_wrap=True)
    for title in ("hier. F1", "accuracy", "fit s", "folds"):
        shown.add_column(title, justify="right", no_wrap=True)
    shown.add_column("", overflow="fold", style="dim")
    for entry in board:
        if not entry["folds"]:
            continue
        deviation = entry["hierarchical_f1_std"]
        f1 = f"{entry['hierarchical_f1']:.4f}"
        shown.add_row(
            entry["model"],
            f1 if deviation is None else f"{f1} ± {deviation:.4f}",
            f"{entry['accuracy']:.4f}",
            f"{entry['fit_seconds']:.1f}",
            str(entry["folds"]),
            _remark(entry),
            style="bold green" if entry["model"] == winner else "",
        )
    return shown


def _not_tried(board: list[dict[str, Any]]) -> list[str]:
    """Say which models were left out and why, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for entry in board:
        if not entry["folds"]:
            reasons.setdefault(entry["note"], []).append(entry["model"])
    return [f"not tried: {', '.join(names)} ({why})" for why, names in reasons.items()]


def _remark(entry: dict[str, Any]) -> str:
    from palmette.table.candidates import BASELINE

    remarks = [entry["note"]] if entry["note"] else []
    if entry["folds"] and not entry["probabilities"]:
        remarks.append("no probabilities")
    if entry["model"] == BASELINE:
        remarks.append("baseline")
    return "; ".join(remarks)


def _verdict(board: list[dict[str, Any]], winner: str) -> list[str]:
    """Say how the winner compares with the baseline, where both were tried."""
    from palmette.table.candidates import BASELINE

    by_name = {entry["model"]: entry for entry in board}
    first, base = by_name[winner], by_name.get(BASELINE)
    if base is None or winner == BASELINE or not base["folds"] or not first["folds"]:
        return []
    common = min(first["folds"], base["folds"])
    ours, theirs = (sum(e["hierarchical_f1_by_fold"][:common]) / common for e in (first, base))
    words = (
        f"hierarchical F1 on the same {common} fold{'s' if common > 1 else ''}: {winner} "
        f"{ours:.4f}, the baseline (a linear SVM over the leaves) {theirs:.4f}"
    )
    if ours >= theirs:
        return [words]
    return [words, f"the baseline gives no probabilities; to have it instead: --model {BASELINE}"]
