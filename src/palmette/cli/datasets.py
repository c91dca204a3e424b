"""`palmette datasets`: the data sets that `compare` and `fetch` can name."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["command", "run_datasets"]


def command(
    group: Annotated[
        str | None, typer.Option(help="Only this group, such as 'multilabel'.")
    ] = None,
) -> None:
    """List the embedded data sets and those of the data home."""
    run_datasets(group)


def run_datasets(group: str | None = None) -> None:
    """Print the data sets of the data home, and the embedded ones.

    Parameters
    ----------
    group : str, optional
    """
    from rich.console import Console
    from rich.table import Table

    from palmette.bench.problems import EMBEDDED
    from palmette.datasets import list_datasets
    from palmette.exceptions import DataHomeError

    console = Console()
    console.print(f"embedded: {', '.join(EMBEDDED)}")
    try:
        entries = list_datasets(group)
    except DataHomeError as error:
        console.print(f"no data home: {error}")
        return
    table = Table("name", "group", "train", "test", "features", "nodes or labels")
    for entry in entries:
        facts = entry.facts
        size = next((facts[k] for k in ("n_nodes", "n_labels", "n_classes") if facts.get(k)), None)
        cells = [facts.get("n_train"), facts.get("n_test"), facts.get("n_features"), size]
        shown = ["–" if cell is None else f"{cell:,}" for cell in cells]
        table.add_row(entry.name, entry.group, *shown)
    console.print(table)
