"""`palmette compare`: models against each other on data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from palmette.compare import Comparison

__all__ = ["command", "run_compare"]

_REPORTS = (".json", ".md", ".csv")
_PICTURES = (".png", ".svg", ".pdf")


def command(
    data: Annotated[
        list[str],
        typer.Argument(
            help="Data sets: 'stdlib', 'digits', names of the data home (palmette datasets), or "
            "tables (CSV, TSV, JSON lines, Parquet, Excel)."
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
        str | None,
        typer.Option(help="Splits target cells into paths, such as ' > '; found if not given."),
    ] = None,
    labels_separator: Annotated[
        str | None, typer.Option(help="Splits target cells that hold several paths, such as ';'.")
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
    posthoc: Annotated[
        str,
        typer.Option(
            help="Test over data sets: nemenyi, bonferroni-dunn, wilcoxon-holm or "
            "wilcoxon-bonferroni."
        ),
    ] = "nemenyi",
    control: Annotated[
        str | None, typer.Option(help="Test all models against this one, not all pairs.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level of the tests.")] = 0.05,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Write results: .json, .md or .csv, or a folder that gets all of them and the "
            "diagram; may be repeated."
        ),
    ] = None,
    diagram: Annotated[
        Path | None,
        typer.Option(help="Write a critical-difference diagram: .png, .svg or .pdf."),
    ] = None,
) -> None:
    """Compare models on data sets: scores, CPU seconds and memory, with tests of significance.

    Example: palmette compare digits --models flat-naive-bayes,mf-tree --out results/
    """
    run_compare(
        data,
        _words(models),
        _words(metrics),
        target=target,
        separator=separator,
        labels_separator=labels_separator,
        n_splits=splits,
        test_size=test_size,
        seed=seed,
        n_jobs=jobs,
        resume=resume,
        posthoc=posthoc,
        control=control,
        alpha=alpha,
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
    labels_separator: str | None = None,
    n_splits: int | None = None,
    test_size: float = 0.3,
    seed: int = 0,
    n_jobs: int = 1,
    resume: Path | None = None,
    posthoc: str = "nemenyi",
    control: str | None = None,
    alpha: float = 0.05,
    out: list[Path] | None = None,
    diagram: Path | None = None,
) -> None:
    """Run a comparison and print it; the parameters are those of the command."""
    from rich.console import Console

    from palmette.cli.leaderboard import print_leaderboard, print_notes, print_ranking
    from palmette.cli.outputs import hint_at
    from palmette.cli.tables import find_data
    from palmette.compare import ResultStore, compare

    tests = {"posthoc": posthoc, "control": control, "alpha": alpha}
    _check(data, models, metrics, target, n_jobs, tests, diagram)
    files, diagrams = _files(out or [], diagram, draws=len(data) > 1 and len(models) > 1)
    store = ResultStore(resume)
    progress = Console(stderr=True)
    with hint_at(resume), progress.status("reading data ...") as status:
        comparison = compare(
            (find_data(name, target, separator, labels_separator) for name in data),
            models,
            metrics,
            n_splits=n_splits,
            test_size=test_size,
            seed=seed,
            n_jobs=n_jobs,
            store=store,
            watch=lambda name, split, model: status.update(f"{name}, {split}: {model} ..."),
        )
    comparison.test_options = tests
    console = Console()
    for name in comparison.datasets:
        print_leaderboard(console, comparison, name)
    ranking = comparison.ranking()
    if ranking is not None:
        print_ranking(console, ranking)
    print_notes(console, comparison)
    for path in files:
        comparison.write(path)
        typer.echo(f"wrote {path}")
    for path in diagrams:
        if "reason" in (ranking or {}):
            typer.echo(f"{path} is not drawn: there is no test of significance")
            continue
        _write_diagram(comparison, path)
        typer.echo(f"wrote {path}")


def _check(
    data: list[str],
    models: list[str],
    metrics: list[str],
    target: list[str] | None,
    n_jobs: int,
    tests: dict[str, Any],
    diagram: Path | None,
) -> None:
    """Find mistakes before anything is read or fitted."""
    from palmette.cli.tables import check_data
    from palmette.compare import find_scores
    from palmette.exceptions import PalmetteError
    from palmette.metrics._comparison import check_tests
    from palmette.models import find_models

    find_models(models)
    find_scores(metrics)
    for place, name in enumerate(data):
        check_data(name, target)
        if name in data[:place]:
            raise PalmetteError(f"the data set {name!r} is named twice.")
    if n_jobs == 0:
        raise PalmetteError("got --jobs 0: expected a number of jobs, or -1 for all cores.")
    check_tests(methods=tuple(models), **tests)
    if diagram is not None and (len(data) < 2 or len(models) < 2):
        raise PalmetteError(
            f"--diagram compares models over data sets: expected two of both at least, got "
            f"{len(models)} and {len(data)}."
        )


def _files(out: list[Path], diagram: Path | None, draws: bool) -> tuple[list[Path], list[Path]]:
    """Return the reports and the diagrams to write; make the folders among `out`."""
    from palmette.cli.outputs import require_writable
    from palmette.plotting.ink import require_matplotlib

    folders = [path for path in out if not path.suffix]
    reports = [path for path in out if path.suffix]
    diagrams = [] if diagram is None else [diagram]
    for path in reports:
        require_writable(path, _REPORTS)
    for path in diagrams:
        require_writable(path, _PICTURES)
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        reports += [folder / f"comparison{suffix}" for suffix in _REPORTS]
        diagrams += [folder / "critical-difference.svg"] if draws else []
    if diagrams:
        require_matplotlib()
    return reports, diagrams


def _write_diagram(comparison: Comparison, path: Path) -> None:
    from matplotlib.figure import Figure

    from palmette.core.files import atomic_write
    from palmette.plotting import CriticalDifferenceDisplay

    display = CriticalDifferenceDisplay(comparison.significance())
    figure = Figure(figsize=display.size)  # without pyplot: nothing of it is left open
    display.plot(figure.subplots())
    with atomic_write(path, "wb") as stream:
        figure.savefig(stream, format=path.suffix[1:].lower(), bbox_inches="tight")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
