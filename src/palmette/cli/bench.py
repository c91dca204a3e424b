"""`palmette bench`: tables and figures of papers, made again."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palmette.cli._options import say

if TYPE_CHECKING:
    from papers.result import PublishedResult, Table

__all__ = ["command", "find_checkout", "run_bench"]


def command(
    name: Annotated[str | None, typer.Argument(help="Name of the paper, such as h-ada-mh.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all papers.")] = False,
    data: Annotated[
        str | None, typer.Option(help="Use only these of its data sets, separated by commas.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Number of boosting rounds, for a short run.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Use only small data sets, which takes less than two minutes."
        ),
    ] = False,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Number of random splits, for papers that use them.")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Begin no fit after this time, and show what is finished.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", "--n-jobs", help="Number of threads; -1 uses all cores."),
    ] = 1,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="File that stores finished fits, so that an interrupted run can be continued."
        ),
    ] = None,
    any_machine: Annotated[
        bool,
        typer.Option(
            "--any-machine",
            help="Use fits of the --resume file that were made on other machines or with other "
            "versions, too; the results say so.",
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables (.md, .json) and the figures (.png).")
    ] = None,
) -> None:
    """Reproduce the tables and figures of a paper, beside the published values.

    Example: palmette bench soshf --quick
    """
    run_bench(
        name,
        list_all=list_all,
        data=None if data is None else [word.strip() for word in data.split(",") if word.strip()],
        rounds=rounds,
        quick=quick,
        splits=splits,
        minutes=minutes,
        seed=seed,
        n_jobs=jobs,
        resume=resume,
        any_machine=any_machine,
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
    minutes: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    resume: Path | None = None,
    any_machine: bool = False,
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
    chosen = {"rounds": rounds, "quick": quick, "splits": splits, "minutes": minutes}
    chosen |= {"seed": seed, "n_jobs": n_jobs}
    if any_machine and resume is None:
        raise PalmetteError(
            "--any-machine was given without --resume: name the file of the finished fits."
        )
    result = _run(name, data, chosen, resume, any_machine=any_machine)
    _print(result)
    if out is not None:
        for path in result.write(out):
            say(f"wrote {path}")


def find_checkout() -> Path:
    """Return the folder of a checkout, which has the papers; installed packages do not have them.

    The folder that the package is imported from is tried first, then the current folder and those
    above it.
    """
    from palmette.exceptions import PalmetteError

    here = Path.cwd()
    for folder in (_source_folder(), here, *here.parents):
        if (folder / "papers" / "registry.py").is_file() and (folder / "src/palmette").is_dir():
            return folder
    raise PalmetteError(
        "the published tables and figures are not part of the installed package. Clone the "
        f"repository of Palmette and run `palmette bench` inside it; {here} is not in a clone."
    )


def _source_folder() -> Path:
    """Return the root of the checkout that the package is imported from, if it is one."""
    return Path(__file__).resolve().parents[3]


def _import_papers() -> ModuleType:
    """Import the registry of papers from the checkout."""
    folder = str(find_checkout())
    if folder not in sys.path:  # worker processes get a copy of this path
        sys.path.insert(0, folder)
    return import_module("papers.registry")


def _check(name: str, n_jobs: int, out: Path | None) -> None:
    """Find mistakes before anything is read or fitted."""
    from palmette.exceptions import PalmetteError

    _import_papers().find_published(name)
    if n_jobs == 0:
        raise PalmetteError("got --jobs 0: expected a number of jobs, or -1 for all cores.")
    if out is not None:
        from papers.drawing import require_matplotlib
        from papers.result import require_folder

        require_folder(out)
        require_matplotlib()


def _run(
    name: str,
    data: list[str] | None,
    chosen: dict[str, Any],
    resume: Path | None,
    *,
    any_machine: bool,
) -> PublishedResult:
    from rich.console import Console

    from palmette.cli._terminal import hint_at
    from palmette.compare import ResultStore

    store = ResultStore(resume, ignored=("made_with",) if any_machine else ())
    with hint_at(resume), Console(stderr=True).status("reading data ...") as status:
        result: PublishedResult = _import_papers().run(
            name,
            data,
            store=store,
            watch=lambda dataset, method: status.update(f"{dataset}: {method} ..."),
            **chosen,
        )
    return result


# ---------------------------------------------------------------------- on the terminal


def _print_list() -> None:
    for paper in _import_papers().list_published():
        say(f"{paper.name}\n  {paper.summary}\n  {paper.reference}")
        say(f"  data sets: {', '.join(paper.datasets)}")
        if paper.more:
            say(f"  besides, by name: {', '.join(paper.more)}")


def _print(result: PublishedResult) -> None:
    from palmette.cli._terminal import table_console

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

    from papers.result import format_cell

    shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    shown.add_column(table.columns[0])
    for title in table.columns[1:]:
        shown.add_column(title, justify="right", no_wrap=True)
    for row in table.rows:
        shown.add_row(*(format_cell(cell) for cell in row))
    return shown
