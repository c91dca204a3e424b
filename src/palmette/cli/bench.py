"""`palmette bench`: tables and figures of papers, made again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from palmette.bench.published import PublishedResult, Table

__all__ = ["command", "run_bench"]


def command(
    name: Annotated[str | None, typer.Argument(help="The paper, such as h-ada-mh.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Name all papers.")] = False,
    data: Annotated[
        str | None, typer.Option(help="Some of its data sets, joined by commas.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Rounds, for a quick look at papers on boosting.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A look of minutes at small sets, where there is one.")
    ] = False,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Random splits of papers that have them.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the models.")] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", "--n-jobs", help="Threads of the models; -1 for all cores.")
    ] = 1,
    resume: Annotated[
        Path | None,
        typer.Option(help="File that keeps finished fits: a killed run goes on from it."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the tables (.md, .json) and the figures (.png)."),
    ] = None,
) -> None:
    """Make the tables and figures of a paper again, ours beside the published ones.

    Example: palmette bench soshf --quick
    """
    run_bench(
        name,
        list_all=list_all,
        data=None if data is None else [word.strip() for word in data.split(",") if word.strip()],
        rounds=rounds,
        quick=quick,
        splits=splits,
        seed=seed,
        n_jobs=jobs,
        resume=resume,
        out=out,
    )


def run_bench(
    name: str | None,
    *,
    list_all: bool = False,
    data: list[str] | None = None,
    rounds: int | None = None,
    quick: bool = False,
    splits: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    resume: Path | None = None,
    out: Path | None = None,
) -> None:
    """Make tables and figures again and print them; the parameters are those of the command."""
    from palmette.exceptions import PalmetteError

    if list_all:
        _print_list()
        return
    if name is None:
        raise PalmetteError("name a paper, such as h-ada-mh: `palmette bench --list` has them all.")
    _check(name, n_jobs, out)
    chosen = {"rounds": rounds, "quick": quick, "splits": splits, "seed": seed, "n_jobs": n_jobs}
    result = _run(name, data, chosen, resume)
    _print(result)
    if out is not None:
        for path in result.write(out):
            typer.echo(f"wrote {path}")


def _check(name: str, n_jobs: int, out: Path | None) -> None:
    """Find mistakes before anything is read or fitted."""
    from palmette.bench.published.pictures import require_matplotlib
    from palmette.bench.published.registry import find_published
    from palmette.bench.published.result import require_folder
    from palmette.exceptions import PalmetteError

    find_published(name)
    if n_jobs == 0:
        raise PalmetteError("got --jobs 0: expected a number of jobs, or -1 for all cores.")
    if out is not None:
        require_folder(out)
        require_matplotlib()


def _run(
    name: str, data: list[str] | None, chosen: dict[str, Any], resume: Path | None
) -> PublishedResult:
    from rich.console import Console

    from palmette.bench.published import registry
    from palmette.bench.store import ResultStore
    from palmette.cli.outputs import hint_at

    store = ResultStore(resume)
    with hint_at(resume), Console(stderr=True).status("reading data ...") as status:
        return registry.run(
            name,
            data,
            store=store,
            watch=lambda dataset, method: status.update(f"{dataset}: {method} ..."),
            **chosen,
        )


# ---------------------------------------------------------------------- on the terminal


def _print_list() -> None:
    from palmette.bench.published import list_published

    for paper in list_published():
        typer.echo(f"{paper.name}\n  {paper.summary}\n  {paper.reference}")
        typer.echo(f"  data sets: {', '.join(paper.datasets)}")
        if paper.more:
            typer.echo(f"  besides, by name: {', '.join(paper.more)}")


def _print(result: PublishedResult) -> None:
    from palmette.cli.outputs import table_console

    console = table_console()
    console.print(result.reference, highlight=False)
    for table in result.tables:
        console.print(f"\n{table.title}", style="bold", markup=False, highlight=False)
        console.print(_rich_table(table))
        for note in table.notes:
            console.print(note, style="dim", markup=False, highlight=False)
    console.print("\nDoes it hold?", style="bold")
    for claim in result.claims:
        colour = "green" if claim.holds else "red"
        console.print(claim.words, style=colour, markup=False, highlight=False)
    for note in result.notes:
        console.print(f"note: {note}", style="dim", markup=False, highlight=False)


def _rich_table(table: Table) -> Any:
    from rich import box
    from rich.table import Table as RichTable

    from palmette.bench.published.result import format_cell

    shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    shown.add_column(table.columns[0])
    for title in table.columns[1:]:
        shown.add_column(title, justify="right", no_wrap=True)
    for row in table.rows:
        shown.add_row(*(format_cell(cell) for cell in row))
    return shown
