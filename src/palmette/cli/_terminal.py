"""Output of commands: files that they write, and comparisons as tables in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rich.console
from rich import box
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from palmette._files import write_target
from palmette._text import visible
from palmette.cli._options import say
from palmette.compare import (
    COSTS,
    SCORES,
    Comparison,
    best_value,
    format_cost,
    format_score,
    is_best,
    ranking_sentences,
    ranking_title,
    split_sentence,
)
from palmette.exceptions import PalmetteError

_CSV = (".csv", ".tsv", ".edges")
_EVERY = 5.0  # seconds between lines of progress without a terminal
_PIPED_WIDTH = 200  # columns of tables in files and pipes, so that numbers are not truncated

_COST_TITLES = {
    "fit_cpu_s": "fit\nCPU s",
    "predict_cpu_s": "predict\nCPU s",
    "peak_mib": "peak\nMiB",
}


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


# ---------------------------------------------------------------------- tables


def table_console() -> Console:
    """Return the console for wide tables, which are not truncated in files and pipes."""
    console = Console()
    return console if console.is_terminal else Console(width=_PIPED_WIDTH)


def plain_table() -> Table:
    """Return an empty table with a line below its header."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)


# ---------------------------------------------------------------------- comparisons


def print_leaderboard(console: Console, comparison: Comparison, dataset: str) -> None:
    """Print a table of one data set: one row per model, best first, best scores in green."""
    table = _leaderboard(comparison, dataset, deviation=True)
    unbounded = console.options.update(width=10_000)
    if Measurement.get(console, unbounded, table).maximum > console.width:
        table = _leaderboard(
            comparison, dataset, deviation=False
        )  # otherwise numbers would be truncated
    console.print(Text(_title(comparison, dataset), style="bold"))
    console.print(table)
    tested = comparison.split_test(dataset)
    if tested is not None:
        console.print(split_sentence(tested), highlight=False, markup=False)
    console.print()


def best_first(comparison: Comparison, dataset: str) -> list[dict[str, Any]]:
    """Return the means of a data set sorted by the first score; models without it come last."""
    first = comparison.scores[0]
    sign = -1.0 if SCORES[first].greater_is_better else 1.0

    def place(entry: dict[str, Any]) -> float:
        return float("inf") if entry[first] is None else sign * entry[first]

    return sorted(comparison.means(dataset), key=place)


def _leaderboard(comparison: Comparison, dataset: str, deviation: bool) -> Table:
    entries = best_first(comparison, dataset)
    table = plain_table()
    table.add_column("\nmodel", no_wrap=True)
    for name in comparison.scores:
        # headers of two lines leave space for long names of models
        title = SCORES[name].title.replace(" ", "\n", 1)
        arrow = "↑" if SCORES[name].greater_is_better else "↓"
        table.add_column(f"{title} {arrow}", justify="right", no_wrap=True)
    for cost in COSTS:
        table.add_column(_COST_TITLES[cost], justify="right", no_wrap=True, style="dim")
    best = {
        name: best_value([e[name] for e in entries], SCORES[name]) for name in comparison.scores
    }
    for entry in entries:
        cells = [
            Text(
                format_score(entry, name, deviation),
                style="bold green" if is_best(entry[name], best[name]) else "",
            )
            for name in comparison.scores
        ]
        table.add_row(Text(entry["model"]), *cells, *(format_cost(entry[cost]) for cost in COSTS))
    return table


def _title(comparison: Comparison, dataset: str) -> str:
    splits = {row["split"] for row in comparison.rows if row["dataset"] == dataset}
    if splits == {"published"}:
        return f"{dataset}, published split"
    if any(name.startswith("fold-") for name in splits):
        return f"{dataset}, {len(splits)} folds, as of palmette fit"
    return f"{dataset}, {len(splits)} random split{'s' if len(splits) > 1 else ''}"


def print_ranking(console: Console, ranking: dict[str, Any]) -> None:
    """Print average ranks over data sets and which differences are significant.

    Parameters
    ----------
    console : Console
    ranking : dict
        Result of `Comparison.ranking`.
    """
    if "average_ranks" in ranking:
        console.print(Text(ranking_title(ranking), style="bold"))
        table = plain_table()
        table.add_column("model", no_wrap=True)
        table.add_column("average rank", justify="right")
        for name, rank in ranking["average_ranks"].items():
            table.add_row(Text(name), f"{rank:.2f}")
        console.print(table)
        console.print()
    for sentence in ranking_sentences(ranking):
        console.print(sentence, highlight=False, markup=False)


def print_notes(console: Console, comparison: Comparison) -> None:
    """Print warnings, equal ones once with their number."""
    counts = Counter((note["model"], note["dataset"], note["note"]) for note in comparison.notes)
    for (model, dataset, note), count in counts.items():
        times = f" ({count} times)" if count > 1 else ""
        line = f"note: {model} on {dataset}: {note}{times}"
        console.print(line, style="dim", highlight=False, markup=False)
