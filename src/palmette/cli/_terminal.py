"""Output of commands: files that they write, progress and tables in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rich.console
import typer
from rich import box
from rich.segment import Segment
from rich.table import Table

from palmette._files import write_target
from palmette._text import visible
from palmette.cli._options import say
from palmette.exceptions import AmbiguousTableError, PalmetteError

_CSV = (".csv", ".tsv", ".edges")
_EVERY = 5.0  # seconds between lines of progress without a terminal
_PIPED_WIDTH = 200  # columns of tables in files and pipes, so that numbers are not truncated


# ---------------------------------------------------------------------- files


def require_writable(path: Path, suffixes: Sequence[str]) -> None:
    """Raise an error for a file that cannot be written, before any work is done.

    Parameters
    ----------
    path : Path
    suffixes : sequence of str
        Suffixes of the known formats, such as ".json".
    """
    if path.suffix.lower() not in suffixes:
        raise PalmetteError(
            f"cannot write {path}: expected one of the suffixes {', '.join(suffixes)}."
        )
    try:
        write_target(path)
    except OSError as error:
        raise PalmetteError(str(error)) from error


def require_csv(excel_safe: bool, paths: Sequence[Path | None]) -> None:
    """Raise an error for ``--excel-safe`` if none of the files is CSV or TSV; None is CSV."""
    if excel_safe and not any(p is None or p.suffix.lower() in _CSV for p in paths):
        raise PalmetteError("--excel-safe is for .csv and .tsv files: no such file is written.")


@contextmanager
def hint_at(resume: Path | None) -> Iterator[None]:
    """Print, after an interrupt, how to continue.

    Parameters
    ----------
    resume : Path or None
        File of a `ResultStore`.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):  # Ctrl-C, SIGTERM
        if resume is not None:
            say(f"{resume} has the finished fits: run the same command again", err=True)
        raise


# ---------------------------------------------------------------------- texts


class Console(rich.console.Console):
    """A console that escapes the control characters of what it prints; styles are its own."""

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        """Yield the segments of something printed."""
        for segment in super().render(*args, **options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


# ---------------------------------------------------------------------- progress

Watch = Callable[[str, float], None]


@contextmanager
def progress(budget: float | None) -> Iterator[tuple[Watch, Callable[[str], None]]]:
    """Show a progress bar of the time on the standard error, and messages above it.

    Without a terminal, a line is printed every few seconds.

    Parameters
    ----------
    budget : float or None
        Seconds that the command may take.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(budget), lambda words: say(words, err=True)
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


def _lines(budget: float | None) -> Watch:
    """Return a watch that prints a line every few seconds, for logs."""
    told = 0.0

    def watch(words: str, spent: float) -> None:
        nonlocal told
        if spent - told >= _EVERY:
            told = spent
            left = "" if budget is None else f", {max(budget - spent, 0):.0f} s left"
            say(f"[{spent:.0f} s{left}] {words}", err=True)

    return watch


def ask(error: AmbiguousTableError) -> dict[str, Any]:
    """Ask how to read a table, and return the options that say so; without a terminal, raise.

    Parameters
    ----------
    error : AmbiguousTableError
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise error
    say(str(error), err=True)
    for number, (words, _) in enumerate(error.readings, start=1):
        say(f"  {number}: {words}", err=True)
    numbers = range(len(error.readings) + 1)
    chosen = typer.prompt("Number of the reading, or 0 to stop", type=int, default=0, err=True)
    if chosen not in numbers[1:]:
        raise error
    answers: dict[str, Any] = error.readings[chosen - 1][1]
    return answers


# ---------------------------------------------------------------------- tables


def table_console() -> Console:
    """Return the console for wide tables, which are not truncated in files and pipes."""
    console = Console()
    return console if console.is_terminal else Console(width=_PIPED_WIDTH)


def plain_table() -> Table:
    """Return an empty table with a line below its header."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
