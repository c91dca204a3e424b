"""`palmette models` and `palmette datasets`: the names that other commands take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from palmette.datasets._home import DatasetEntry

__all__ = ["datasets", "models"]


def models() -> None:
    """List the models that fit and compare can use.

    Example: palmette models
    """
    from palmette.cli._terminal import Console, plain_table
    from palmette.models import list_models

    table = plain_table()
    table.add_column("model", no_wrap=True)
    table.add_column("what it is")
    for spec in list_models():
        table.add_row(spec.name, spec.summary)
    Console().print(table)


def datasets(
    group: Annotated[
        str | None, typer.Option(help="List only this group, such as 'multilabel'.")
    ] = None,
) -> None:
    """List the embedded data sets and those of the data home.

    Example: palmette datasets
    """
    from palmette.cli._terminal import Console
    from palmette.compare import EMBEDDED
    from palmette.datasets import list_datasets
    from palmette.datasets._home import data_home, find_dataset
    from palmette.exceptions import DataHomeError

    console = Console()
    console.print(f"embedded: {', '.join(EMBEDDED)}", highlight=False)
    try:
        home = data_home()
    except DataHomeError as error:
        if group is not None:
            raise
        console.print(f"no data home: {error}", highlight=False, markup=False)
        return
    entries = [find_dataset(name) for name in list_datasets(group)]
    described = [entry for entry in entries if not entry.is_own_copy]
    for title in dict.fromkeys(entry.group for entry in described):
        console.print(f"\n{title}", style="bold", markup=False)
        console.print(_table([entry for entry in described if entry.group == title]))
    copies = [entry for entry in entries if entry.is_own_copy]
    if copies:
        console.print("\nown copies, not read yet", style="bold", markup=False)
        console.print(_table_of_copies(copies))
    console.print(f"\nin the data home {home}", highlight=False, markup=False)


def _table_of_copies(entries: list[DatasetEntry]) -> Table:
    """List copies of the user's own by their files: their sizes are known when they are read."""
    from pathlib import PurePosixPath

    from palmette.cli._terminal import plain_table

    table = plain_table()
    table.add_column("name", no_wrap=True, min_width=26)
    table.add_column("group", no_wrap=True)
    table.add_column("files", overflow="fold")
    for entry in entries:
        files = (PurePosixPath(record["path"]).name for record in entry.facts["files"])
        table.add_row(entry.name, entry.group, ", ".join(files))
    return table


def _table(entries: list[DatasetEntry]) -> Table:
    from palmette.cli._terminal import plain_table

    table = plain_table()
    table.add_column("name", no_wrap=True, min_width=26)
    for column in ("train", "test", "features", "nodes"):
        table.add_column(column, justify="right", no_wrap=True, min_width=8)
    for entry in entries:
        facts = entry.facts
        size = next((facts[k] for k in ("n_nodes", "n_labels", "n_classes") if facts.get(k)), None)
        cells = [facts.get("n_train"), facts.get("n_test"), facts.get("n_features"), size]
        table.add_row(entry.name, *("–" if cell is None else f"{cell:,}" for cell in cells))
    return table
