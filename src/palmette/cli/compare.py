"""`palmette compare`: models against each other on data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["command", "run_compare"]


def command(
    data: Annotated[
        list[str],
        typer.Argument(
            help="Data sets: 'stdlib', 'digits', names of the data home (palmette datasets), or "
            "CSV, TSV and Parquet files."
        ),
    ],
    models: Annotated[
        str, typer.Option(help="Models, joined by commas (palmette models).")
    ] = "flat,local-per-node,local-per-parent,local-per-level",
    metrics: Annotated[
        str, typer.Option(help="Scores, joined by commas; the first one ranks.")
    ] = "hierarchical_f1,tree_induced_error,leaf_accuracy",
    target: Annotated[
        str | None, typer.Option(help="Column of a table to predict; several columns are a path.")
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="Splits the target column into a path, such as ' > '.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Random splits, in place of the published one.")
    ] = None,
    test_size: Annotated[float, typer.Option(help="Share of rows in a random test part.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of splits and models.")] = 0,
    jobs: Annotated[int, typer.Option(help="Local models fitted at a time.")] = 1,
    resume: Annotated[
        Path | None,
        typer.Option(help="File that keeps finished cells: a killed run goes on from it."),
    ] = None,
    out: Annotated[
        list[Path] | None, typer.Option(help="Write results: .json, .md or .csv; may be repeated.")
    ] = None,
    diagram: Annotated[
        Path | None,
        typer.Option(help="Write a critical-difference diagram (.png, .svg or .pdf)."),
    ] = None,
) -> None:
    """Compare models on data sets: scores, CPU seconds and memory, with tests of significance."""
    run_compare(
        data,
        _words(models),
        _words(metrics),
        target=_words(target) if target else None,
        separator=separator,
        n_splits=splits,
        test_size=test_size,
        seed=seed,
        n_jobs=jobs,
        resume=resume,
        out=out or [],
        diagram=diagram,
    )


def run_compare(
    data: list[str],
    models: list[str],
    metrics: list[str],
    *,
    target: list[str] | None = None,
    separator: str | None = None,
    n_splits: int | None = None,
    test_size: float = 0.3,
    seed: int = 0,
    n_jobs: int = 1,
    resume: Path | None = None,
    out: list[Path] | None = None,
    diagram: Path | None = None,
) -> None:
    """Run a comparison and print it; the parameters are those of the command."""
    from rich.console import Console

    from palmette.bench.compare import compare
    from palmette.bench.models import find_model
    from palmette.bench.problems import find_problem
    from palmette.bench.scores import find_scores
    from palmette.bench.store import ResultStore
    from palmette.cli.leaderboard import leaderboard, print_significance

    for name in models:  # mistakes in names before any data are read
        find_model(name)
    find_scores(metrics)
    console = Console()
    column = target[0] if target and len(target) == 1 else target
    with console.status("reading data ...") as status:
        comparison = compare(
            (find_problem(name, column, separator) for name in data),
            models,
            metrics,
            n_splits=n_splits,
            test_size=test_size,
            seed=seed,
            n_jobs=n_jobs,
            store=ResultStore(resume),
            watch=lambda name, split, model: status.update(f"{name}, {split}: fitting {model} ..."),
        )
    for name in comparison.datasets:
        console.print(leaderboard(comparison, name))
    if len(data) > 1 and len(models) > 1:
        print_significance(console, comparison, metrics[0])
    if diagram is not None:
        _write_diagram(comparison, metrics[0], diagram)
        console.print(f"wrote {diagram}")
    for path in out or []:
        comparison.write(path)
        console.print(f"wrote {path}")


def _write_diagram(comparison: object, score: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from palmette.core.files import atomic_write
    from palmette.metrics import plot_critical_difference

    axes = plot_critical_difference(comparison.significance(score))  # type: ignore[attr-defined]
    with atomic_write(path, "wb") as stream:
        axes.figure.savefig(stream, format=path.suffix[1:] or "png", bbox_inches="tight")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
