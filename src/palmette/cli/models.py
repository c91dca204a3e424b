"""`palmette models`: the names that `compare` takes."""

from __future__ import annotations

__all__ = ["command", "run_models"]


def command() -> None:
    """List the models that `compare` can name.

    Example: palmette models
    """
    run_models()


def run_models() -> None:
    """Print the registry of models."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from palmette.models import list_models

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("model", no_wrap=True)
    table.add_column("what it is")
    for spec in list_models():
        table.add_row(spec.name, spec.summary)
    Console().print(table)
