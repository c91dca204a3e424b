"""`palmette models`: the names that `compare` takes."""

from __future__ import annotations

__all__ = ["command", "run_models"]


def command() -> None:
    """List the models that `compare` can name."""
    run_models()


def run_models() -> None:
    """Print the registry of models."""
    from rich.console import Console
    from rich.table import Table

    from palmette.bench.models import list_models

    table = Table("model", "what it is")
    for spec in list_models():
        table.add_row(spec.name, spec.summary)
    Console().print(table)
