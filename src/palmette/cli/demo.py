"""`palmette demo`: learn on an embedded set, show the leaderboard and the hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["command", "run_demo"]

MODELS = ("flat", "local-per-node", "local-per-parent", "local-per-level")


def command(
    svg: Annotated[Path | None, typer.Option(help="Write what is shown as a picture, too.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the models.")] = 0,
) -> None:
    """Train on Python's own docstrings and show who wins, and where in the hierarchy."""
    run_demo(svg=svg, seed=seed)


def run_demo(svg: Path | None = None, seed: int = 0) -> None:
    """Compare the local classifiers with the flat one on the embedded data set.

    Parameters
    ----------
    svg : Path, optional
        Where to write a picture of the output.
    seed : int
    """
    from rich.console import Console

    from palmette.bench.compare import compare
    from palmette.bench.problems import find_problem
    from palmette.cli.leaderboard import leaderboard
    from palmette.core.drawing import summarize

    console = Console(record=svg is not None, width=96 if svg is not None else None)
    problem = find_problem("stdlib")
    console.print("[bold]palmette demo[/]: which part of Python's library is a docstring from?")
    console.print(
        f"{len(problem.X_train):,} docstrings to learn from, {len(problem.X_test):,} to test on; "
        f"{summarize(problem.hierarchy)}\n"
    )
    answers: dict[str, Any] = {}
    with console.status("") as status:
        comparison = compare(
            [problem],
            MODELS,
            seed=seed,
            watch=lambda _, __, model: status.update(f"fitting {model} ..."),
            receive=lambda _, model, predicted: answers.__setitem__(model, predicted),
        )
    console.print(leaderboard(comparison, problem.name))
    entries = comparison.means(problem.name)
    winner = max(entries, key=lambda entry: entry["hierarchical_f1"])["model"]
    console.print(f"\n[bold]F1 of {winner} at every node[/] (of so many test rows)")
    console.print(_draw_scores(problem, answers[winner]), highlight=False)
    console.print(
        "\nNext: [bold]palmette compare digits --models flat-forest,local-per-parent-forest[/]"
        "\nor your own table: [bold]palmette compare products.csv --target category[/]"
    )
    if svg is not None:
        from palmette.core.files import atomic_write

        with atomic_write(svg) as stream:
            stream.write(console.export_svg(title="palmette demo"))


def _draw_scores(problem: Any, predicted: Any) -> Any:
    """Draw the hierarchy with the F1 of every node, green where good and red where not."""
    import numpy as np
    from rich.text import Text

    from palmette.metrics import node_counts

    hierarchy = problem.hierarchy
    counts = node_counts(problem.y_test, predicted, hierarchy=hierarchy)
    support = counts.tp + counts.fn
    f1 = 2 * counts.tp / np.maximum(2 * counts.tp + counts.fp + counts.fn, 1)
    notes = [f"{f:.2f} ({n:.0f})" for f, n in zip(f1, support, strict=True)]
    notes[0] = ""
    text = Text()
    for line in hierarchy.draw(max_lines=36, annotations=notes).splitlines():
        name, gap, note = line.rpartition("  ")
        if gap and "(" in note:
            score = float(note.split()[0])
            colour = "green" if score >= 0.75 else "yellow" if score >= 0.5 else "red"
            text.append(name + gap).append(note, style=colour).append("\n")
        else:
            text.append(line + "\n")
    text.rstrip()
    return text
