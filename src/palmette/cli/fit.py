"""`palmette fit`: fit a model to a table and write it to a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palmette.cli import begun
from palmette.cli._options import (
    BadRowsFile,
    Columns,
    DateFormat,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Format,
    Header,
    Jobs,
    LabelsSeparator,
    MaxDepth,
    MergeCase,
    Scheduler,
    Seed,
    Separator,
    Settings,
    Sheet,
    SkipBadRows,
    TableFiles,
    Target,
    Workers,
    check_jobs,
    read_kinds,
    read_written,
    say,
)
from palmette.exceptions import AmbiguousTableError, PalmetteError

if TYPE_CHECKING:
    from rich.table import Table

    from palmette.reporting._leaderboard import Block
    from palmette.table import TableModel
    from palmette.table._sources import TableSource

__all__ = ["fit"]

_SUFFIX = ".palmette"
_TERMINATED = 143  # exit code after SIGTERM


def fit(
    table: TableFiles,
    target: Target,
    out: Annotated[Path, typer.Option(help="Model file to write: .palmette.")] = Path(
        "model.palmette"
    ),
    hierarchy: Annotated[
        str | None,
        typer.Option(
            help="Taxonomy file; or learn, or learn:METHOD with any method of palmette learn, such "
            "as learn:bhc, with one label per row or several. By default the paths in the target "
            "are used."
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            help="Name of a model (see palmette models), or auto for the best one by "
            "cross-validation."
        ),
    ] = "auto",
    time: Annotated[
        float,
        typer.Option(
            min=0.0, help="Time limit in seconds for the whole command; 0 means no limit."
        ),
    ] = 60.0,
    settings: Settings = None,
    separator: Separator = None,
    labels_separator: LabelsSeparator = None,
    merge_case: MergeCase = False,
    max_depth: MaxDepth = None,
    columns: Columns = None,
    drop: Drop = None,
    text: Annotated[
        str, typer.Option(help="Features of text columns: tfidf or hashing.")
    ] = "tfidf",
    folds: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of cross-validation folds; 0 means no cross-validation. By default ten, "
            "fewer of tables with more than 3,000 rows or if there is no time.",
        ),
    ] = None,
    calibrate: Annotated[
        str | None,
        typer.Option(help="Method to calibrate probabilities: isotonic, sigmoid or temperature."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Also predict sets that contain the true label with this probability.",
        ),
    ] = None,
    search: Annotated[
        bool,
        typer.Option("--search", help="Also search over the parameters of the two best models."),
    ] = False,
    class_weight: Annotated[
        str,
        typer.Option(
            help="Class weights: balanced (all labels have the same total weight) or none."
        ),
    ] = "none",
    corrections: Annotated[
        Path | None,
        typer.Option(
            help="Review of this table, by palmette review --out, whose column 'corrected' has the "
            "right labels, or drop to leave a row out."
        ),
    ] = None,
    use_labels: Annotated[
        bool,
        typer.Option(
            "--use-labels", help="Add labels of the concepts of a thesaurus as training rows."
        ),
    ] = False,
    language: Annotated[
        str | None, typer.Option(help="Language of these labels, such as fi or en,fi.")
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(help="Approximate memory to use, in GiB; by default half of the free memory."),
    ] = None,
    scratch: Annotated[
        Path | None,
        typer.Option(help="Folder for the features of a table that does not fit in memory."),
    ] = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    workers: Workers = None,
    scheduler: Scheduler = None,
    format: Format = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    header: Header = True,
    skip_bad_rows: SkipBadRows = False,
    bad_rows: BadRowsFile = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Take the likely reading of a table that can be read in several ways."
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print how every column and the target are read.")
    ] = False,
) -> None:
    """Fit a model to the rows of a table, and write it for predict and report.

    Ctrl-C ends the comparison of models: the best so far is finished and written.

    Example: palmette fit products.csv --target category --out model.palmette
    """
    began = begun.get(monotonic())
    from palmette.base._clients import started
    from palmette.cli._terminal import ask, progress, require_writable
    from palmette.cli.compile import compiled_ahead
    from palmette.persistence import save
    from palmette.table import fit_table
    from palmette.table._candidates import parse_settings
    from palmette.table._sources import TableSource

    require_writable(out, [_SUFFIX])
    check_jobs(n_jobs)
    if text not in ("tfidf", "hashing"):
        raise PalmetteError(f"got --text {text}: expected tfidf or hashing.")
    if bad_rows is not None:
        require_writable(bad_rows, [".csv"])
    source = TableSource.of(
        table, format, encoding=encoding, delimiter=delimiter, sheet=sheet, header=header
    )
    source.require()
    kinds = read_kinds(columns)
    if source.format == "anndata":
        kinds, drop = _genes_only(source, target, kinds, drop or [])
    limit = None
    if time:  # the seconds until here count: modules were imported
        limit = max(time - (monotonic() - began), min(time, 1.0))
    options: dict[str, Any] = {
        "hierarchy": hierarchy,
        "model": model,
        "time": limit,
        "settings": parse_settings(settings or []),
        "separator": separator,
        "labels_separator": labels_separator,
        "merge_case": merge_case,
        "max_depth": max_depth,
        "columns": kinds,
        "drop": drop or [],
        "decimal": read_written(decimal, "--decimal"),
        "date_format": read_written(date_format, "--date-format"),
        "skip_bad_rows": skip_bad_rows,
        "bad_rows": bad_rows,
        "text": text,
        "folds": folds,
        "calibrate": calibrate,
        "coverage": coverage,
        "search": search,
        "class_weight": class_weight,
        "corrections": corrections,
        "use_labels": use_labels,
        "language": language,
        "seed": seed,
        "n_jobs": n_jobs,
        "memory": memory,
        "scratch": scratch,
        "yes": yes,
        "verbose": verbose,
    }

    def fit_once(**answers: Any) -> TableModel:
        with started(workers, scheduler) as client, progress(limit) as (watch, tell):
            fitted = fit_table(
                source, target[0] if len(target) == 1 else target, **{**options, **answers},
                client=client, watch=watch, tell=tell,
            )  # fmt: skip
            watch("writing the model", fitted.summary_["seconds"])
            save(fitted, out)
        return fitted

    with compiled_ahead():
        try:
            fitted = fit_once()
        except AmbiguousTableError as error:
            fitted = fit_once(**ask(error))
    _print_result(fitted, out)
    if fitted.learnt_:
        tree = out.with_suffix(".tree.json")
        fitted.hierarchy_.write(tree)
        say(f"wrote {tree}, the learned hierarchy")
    if fitted.summary_["interrupted"] == "SIGTERM":
        raise typer.Exit(_TERMINATED)


def _genes_only(
    source: TableSource, target: list[str], kinds: dict[str, str], drop: list[str]
) -> tuple[dict[str, str], list[str]]:
    """Return kinds and columns to drop, so that genes are numbers, and the only features.

    Other columns of `.obs` describe the same cells: clusters or other names of the target.
    """
    from palmette.table._anndata import names_in

    genes, facts = names_in(source)
    targets = {name for each in target for name in (each, *each.split(","))}
    unused = [name for name in facts if name not in targets and name not in kinds]
    genes = [name for name in genes if name not in drop]
    return {**dict.fromkeys(genes, "number"), **kinds}, [*drop, *unused]


# ---------------------------------------------------------------------- on the terminal


def _print_result(model: TableModel, out: Path) -> None:
    from palmette.cli._terminal import Console
    from palmette.reporting._leaderboard import blocks

    console = Console()
    facts = model.summary_
    board = facts["leaderboard"]
    if board:
        winner = facts["winner"]
        for block in blocks(board, winner):
            console.print(block.title, style="bold", highlight=False, soft_wrap=True)
            console.print(_leaderboard(block, winner))
        for note in [*_not_tried(board), *_verdict(board, winner)]:
            console.print(note, highlight=False, markup=False, soft_wrap=True)
    console.print(
        f"{facts['winner']}, fitted on {facts['rows_fitted']:,} rows "
        f"in {facts['fit_seconds']:.1f} s "
        f"({facts['seconds']:.1f} s in total, seed {facts['seed']})",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    console.print(f"wrote {out}", highlight=False, markup=False, soft_wrap=True)


def _leaderboard(block: Block, winner: str) -> Table:
    """Return the table of models whose scores rest on the same rows and folds."""
    from palmette.cli._terminal import plain_table

    shown = plain_table()
    shown.add_column("model", no_wrap=True)
    for title in ("hier. F1", "accuracy", "fit s"):
        shown.add_column(title, justify="right", no_wrap=True)
    shown.add_column("", overflow="fold", style="dim")
    for entry in block.entries:
        deviation = entry["hierarchical_f1_std"]
        f1 = f"{entry['hierarchical_f1']:.4f}"
        shown.add_row(
            entry["model"],
            f1 if deviation is None else f"{f1} ± {deviation:.4f}",
            f"{entry['accuracy']:.4f}",
            f"{entry['fit_seconds']:.1f}",
            _remark(entry),
            style="bold green" if entry["model"] == winner else "",
        )
    return shown


def _not_tried(board: list[dict[str, Any]]) -> list[str]:
    """Sentences about models that were not tried, by reason."""
    reasons: dict[str, list[str]] = {}
    for entry in board:
        if not entry["folds"]:
            reasons.setdefault(entry["note"], []).append(entry["model"])
    return [f"not tried: {', '.join(names)} ({why})" for why, names in reasons.items()]


def _remark(entry: Mapping[str, Any]) -> str:
    from palmette.table._candidates import BASELINE

    remarks = [entry["note"]] if entry["note"] else []
    if entry["folds"] and not entry["probabilities"]:
        remarks.append("no probabilities")
    if entry["model"] == BASELINE:
        remarks.append("baseline")
    return "; ".join(remarks)


def _verdict(board: list[dict[str, Any]], winner: str) -> list[str]:
    """Compare the winner with the baseline if both were tried."""
    from palmette.table._candidates import BASELINE

    by_name = {entry["model"]: entry for entry in board}
    first, base = by_name[winner], by_name.get(BASELINE)
    if base is None or winner == BASELINE or not base["folds"] or not first["folds"]:
        return []
    if base["rows"] != first["rows"]:  # scores on fewer rows cannot be compared
        return [
            f"the baseline was fitted on {base['rows']:,} rows only: there was no time for more"
        ]
    common = min(first["folds"], base["folds"])
    ours, theirs = (sum(e["hierarchical_f1_by_fold"][:common]) / common for e in (first, base))
    return [
        f"hierarchical F1 on the same {common} fold{'s' if common > 1 else ''}: {winner} "
        f"{ours:.4f}, the baseline (a linear SVM over the labels) {theirs:.4f}"
    ]
