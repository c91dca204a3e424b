"""`palmette compare`: models against each other on data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from palmette.bench.comparison import Comparison

__all__ = ["command", "run_compare"]

_REPORTS = (".json", ".md", ".csv")
_PICTURES = (".png", ".svg", ".pdf")


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
        list[str] | None,
        typer.Option(help="Column of a table to predict; repeat it for the levels of a path."),
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="Splits the target column into a path, such as ' > '.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Random splits, in place of the published one.")
    ] = None,
    test_size: Annotated[float, typer.Option(help="Share of rows in a random test part.")] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits and models.")] = 0,
    jobs: Annotated[int, typer.Option(help="Local models fitted at a time; -1 for all cores.")] = 1,
    resume: Annotated[
        Path | None,
        typer.Option(help="File that keeps finished fits: a killed run goes on from it."),
    ] = None,
    out: Annotated[
        list[Path] | None, typer.Option(help="Write results: .json, .md or .csv; may be repeated.")
    ] = None,
    diagram: Annotated[
        Path | None,
        typer.Option(help="Write a critical-difference diagram: .png, .svg or .pdf."),
    ] = None,
) -> None:
    """Compare models on data sets: scores, CPU seconds and memory, with tests of significance."""
    run_compare(
        data,
        _words(models),
        _words(metrics),
        target=target,
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
    from palmette.bench.problems import find_problem
    from palmette.bench.store import ResultStore
    from palmette.cli.leaderboard import print_leaderboard, print_notes, print_ranking
    from palmette.cli.outputs import hint_at

    _check(data, models, metrics, target, n_jobs, out or [], diagram)
    store = ResultStore(resume)
    column = target[0] if target and len(target) == 1 else target
    progress = Console(stderr=True)
    with hint_at(resume), progress.status("reading data ...") as status:
        comparison = compare(
            (find_problem(name, column, separator) for name in data),
            models,
            metrics,
            n_splits=n_splits,
            test_size=test_size,
            seed=seed,
            n_jobs=n_jobs,
            store=store,
            watch=lambda name, split, model: status.update(f"{name}, {split}: {model} ..."),
        )
    console = Console()
    for name in comparison.datasets:
        print_leaderboard(console, comparison, name)
    ranking = comparison.ranking()
    if ranking is not None:
        print_ranking(console, ranking)
    print_notes(console, comparison)
    for path in out or []:
        comparison.write(path)
        typer.echo(f"wrote {path}")
    if diagram is not None:
        _write_diagram(comparison, diagram)
        typer.echo(f"wrote {diagram}")


def _check(
    data: list[str],
    models: list[str],
    metrics: list[str],
    target: list[str] | None,
    n_jobs: int,
    out: list[Path],
    diagram: Path | None,
) -> None:
    """Find mistakes before anything is read or fitted."""
    from palmette.bench.models import find_models
    from palmette.bench.problems import check_problem
    from palmette.bench.scores import find_scores
    from palmette.cli.outputs import require_writable
    from palmette.exceptions import PalmetteError

    find_models(models)
    find_scores(metrics)
    for place, name in enumerate(data):
        check_problem(name, target)
        if name in data[:place]:
            raise PalmetteError(f"the data set {name!r} is named twice.")
    if n_jobs == 0:
        raise PalmetteError("got --jobs 0: expected a number of jobs, or -1 for all cores.")
    for path in out:
        require_writable(path, _REPORTS)
    if diagram is not None:
        require_writable(diagram, _PICTURES)
        if len(data) < 2 or len(models) < 2:
            raise PalmetteError(
                f"--diagram compares models over data sets: expected two of both at least, got "
                f"{len(models)} and {len(data)}."
            )
        import matplotlib.figure  # noqa: F401
        import scikit_posthocs  # noqa: F401


def _write_diagram(comparison: Comparison, path: Path) -> None:
    from matplotlib.figure import Figure

    from palmette.core.files import atomic_write
    from palmette.metrics import plot_critical_difference

    figure = Figure(figsize=(7, 1.5 + 0.25 * len(comparison.models)))
    plot_critical_difference(comparison.significance(), figure.subplots())
    with atomic_write(path, "wb") as stream:
        figure.savefig(stream, format=path.suffix[1:].lower(), bbox_inches="tight")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
