"""`palmette demo`: models on an embedded data set, with leaderboard and hierarchy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from palmette.cli._options import Seed

__all__ = ["demo"]

MODELS = ("flat-linear", "flat-naive-bayes", "local-per-parent-svm", "class-tree", "mf-tree")
_WIDTH = 80  # of the picture, in characters
_LINES = 32  # of the drawing
_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # web fonts would need the network
# a line of the drawing: the node, its score, its rows, and the number of hidden children
_LINE = re.compile(r"(?P<node>.*)  (?P<score>\d\.\d\d|–) of (?P<rows>\d+)(?P<more>.*)")


def demo(
    svg: Annotated[Path | None, typer.Option(help="Also write the output to an .svg file.")] = None,
    seed: Seed = 0,
) -> None:
    """Fit models on Python's own docstrings, and show their scores and the class hierarchy.

    Example: palmette demo
    """
    from palmette.cli._leaderboards import best_first, print_leaderboard, print_notes
    from palmette.cli._terminal import Console, require_writable
    from palmette.compare import compare, find_problem

    if svg is not None:
        require_writable(svg, [".svg"])
    console = Console(record=svg is not None, width=None if svg is None else _WIDTH)
    problem = find_problem("stdlib")
    _print_task(console, problem)
    answers: dict[str, Any] = {}
    # on the standard error, so that it is neither in the picture nor in a pipe
    with Console(stderr=True).status("") as status:
        comparison = compare(
            [problem],
            MODELS,
            seed=seed,
            watch=lambda _, __, model: status.update(f"fitting {model} ..."),
            receive=lambda _, model, predicted: answers.__setitem__(model, predicted),
        )
    print_leaderboard(console, comparison, problem.name)
    print_notes(console, comparison)
    winner = best_first(comparison, problem.name)[0]["model"]
    console.print(f"[bold]{winner}, node by node[/]: F1 and number of test rows", highlight=False)
    console.print(_draw_scores(problem, answers[winner]), highlight=False)
    _print_next(console)
    if svg is not None:
        from palmette._files import atomic_write

        picture = console.export_svg(title="palmette demo")
        with atomic_write(svg) as stream:
            stream.write(_FONT_FACES.sub("", picture))


def _print_task(console: Any, problem: Any) -> None:
    hierarchy = problem.hierarchy
    levels = ", ".join(str(size) for size in hierarchy.level_sizes[1:])
    console.print("[bold]From which part of Python's library is a docstring?[/]")
    console.print(
        f"{len(problem.X_train):,} docstrings to learn from, {len(problem.X_test):,} to test on; "
        f"packages, modules and classes are a tree of {levels} nodes by level.\n",
        highlight=False,
    )


def _print_next(console: Any) -> None:
    console.print("\nNext, other models on another set, or your own table:")
    for line in (
        "palmette compare digits --models flat-forest,local-per-parent-forest",
        "palmette compare products.csv --target category --separator ' > '",
    ):
        console.print(f"  [bold cyan]{line}[/]", highlight=False)


def _draw_scores(problem: Any, predicted: Any) -> Any:
    """Draw the hierarchy with the F1 of every node, from green (good) to red (poor)."""
    import numpy as np
    from rich.text import Text

    from palmette.metrics import node_counts

    hierarchy = problem.hierarchy
    counts = node_counts(problem.y_test, predicted, hierarchy=hierarchy)
    support = counts.tp + counts.fn
    with np.errstate(invalid="ignore"):  # nodes that are neither true nor predicted have no F1
        f1 = 2 * counts.tp / (2 * counts.tp + counts.fp + counts.fn)
    notes = [
        f"{'–' if np.isnan(f) else f'{f:.2f}'} of {n:.0f}" for f, n in zip(f1, support, strict=True)
    ]
    notes[0] = ""
    # a node has only a part of its parent's rows: without this factor, few deep nodes would show
    weights = support * 3.0**hierarchy.depth
    drawing = hierarchy.draw(max_lines=_LINES, annotations=notes, weights=weights)
    return Text("\n").join(_aligned(drawing.splitlines()))


def _aligned(lines: list[str]) -> list[Any]:
    """Align the scores of a drawing in one column, in colour."""
    from rich.text import Text

    found = [_LINE.fullmatch(line) for line in lines]
    width = max((len(match["node"]) for match in found if match), default=0) + 2
    texts = []
    for line, match in zip(lines, found, strict=True):
        if match is None:
            texts.append(Text(line))
            continue
        value = 0.0 if match["score"] == "–" else float(match["score"])
        colour = "green" if value >= 0.75 else "yellow" if value >= 0.5 else "red"
        score = (f"{match['score']:>4}", f"bold {colour}")
        rest = (f"{match['rows']:>6}{match['more']}", "dim")
        texts.append(Text.assemble(match["node"].ljust(width), score, rest))
    return texts
