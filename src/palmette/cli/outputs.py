"""Files that commands write: mistakes in their names show before hours of work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from palmette.exceptions import PalmetteError

__all__ = ["hint_at", "require_writable", "table_console"]

_PIPED_WIDTH = 200  # columns of tables in files and pipes: figures must not be cut


def require_writable(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse the name of a file that cannot be written.

    Parameters
    ----------
    path : Path
    suffixes : sequence of str
        Such as ".json": the formats that there are.
    """
    if path.suffix.lower() not in suffixes:
        raise PalmetteError(f"cannot write {path}: expected a name in {', '.join(suffixes)}.")
    if path.is_dir():
        raise PalmetteError(f"cannot write {path}: it is a folder. Name a file.")
    if not path.parent.is_dir():
        raise PalmetteError(
            f"cannot write {path}: there is no folder {path.parent}. Make it first."
        )
    if not os.access(path.parent, os.W_OK):
        raise PalmetteError(f"cannot write {path}: the folder {path.parent} is read-only for you.")


def table_console() -> Any:
    """Return the console for tables: as wide as the terminal, and wide where there is none."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=_PIPED_WIDTH)


@contextmanager
def hint_at(resume: Path | None) -> Iterator[None]:
    """Say, when interrupted, where the finished fits are.

    Parameters
    ----------
    resume : Path or None
        File of a `ResultStore`.
    """
    try:
        yield
    except KeyboardInterrupt:
        if resume is not None:
            typer.echo(f"{resume} has what is finished: the same command goes on", err=True)
        raise
