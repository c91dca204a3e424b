"""`palmette compare`: compare models on data sets."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palmette.cli._options import (
    Columns,
    Drop,
    ExcelSafe,
    Jobs,
    LabelsSeparator,
    MaxDepth,
    MergeCase,
    OptionalTarget,
    Resume,
    Scheduler,
    Seed,
    Separator,
    Sheet,
    SkipBadRows,
    Workers,
    check_jobs,
    find_data,
    say,
)
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    from rich.table import Table

    from palmette.cli._terminal import Console
    from palmette.compare import Comparison

__all__ = ["compare"]

_REPORTS = (".json", ".md", ".csv")
_PICTURES = (".png", ".svg", ".pdf")
_COST_TITLES = {
    "fit_cpu_s": "fit\nCPU s",
    "predict_cpu_s": "predict\nCPU s",
    "peak_mib": "peak\nMiB",
}


def compare(
    data: Annotated[
        list[str],
        typer.Argument(
            help="Data sets: 'stdlib', 'digits', names of data sets in the data home (see "
            "palmette datasets), or tables (CSV, TSV, JSON lines, Parquet or Excel)."
        ),
    ],
    models: Annotated[
        str, typer.Option(help="Names of models, separated by commas (see palmette models).")
    ] = "flat-linear,flat-naive-bayes,local-per-parent-svm,class-tree",
    metrics: Annotated[
        str, typer.Option(help="Scores, separated by commas; the first one ranks the models.")
    ] = "hierarchical_f1,tree_induced_error,leaf_accuracy",
    target: OptionalTarget = None,
    separator: Separator = None,
    labels_separator: LabelsSeparator = None,
    merge_case: MergeCase = False,
    columns: Columns = None,
    drop: Drop = None,
    skip_bad_rows: SkipBadRows = False,
    max_depth: MaxDepth = None,
    sheet: Sheet = None,
    n_splits: Annotated[
        int | None,
        typer.Option(
            "--splits",
            min=1,
            help="Number of random splits that are used instead of the published split or of the "
            "folds of a table.",
        ),
    ] = None,
    test_size: Annotated[
        float | None,
        typer.Option(
            help="Share of test rows in random splits, 0.3 by default; if it is given, a table has "
            "no folds."
        ),
    ] = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    workers: Workers = None,
    scheduler: Scheduler = None,
    resume: Resume = None,
    posthoc: Annotated[
        str,
        typer.Option(
            help="Test over data sets: nemenyi, bonferroni-dunn, wilcoxon-holm or "
            "wilcoxon-bonferroni."
        ),
    ] = "nemenyi",
    control: Annotated[
        str | None, typer.Option(help="Compare all models with this one, instead of all pairs.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Significance level of the tests.")] = 0.05,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="File to write: .json, .md or .csv; or a folder for all of them and the diagram; "
            "repeatable."
        ),
    ] = None,
    diagram: Annotated[
        Path | None, typer.Option(help="Write a critical-difference diagram: .png, .svg or .pdf.")
    ] = None,
    excel_safe: ExcelSafe = False,
) -> None:
    """Compare models on data sets: scores, CPU seconds and memory, with tests of significance.

    Example: palmette compare digits --models flat-naive-bayes,mf-tree --out results/
    """
    from palmette.base._clients import started
    from palmette.cli._terminal import Console, hint_at, require_csv
    from palmette.compare import ResultStore
    from palmette.compare import compare as compare_models

    names, scores = _words(models), _words(metrics)
    tests = {"posthoc": posthoc, "control": control, "alpha": alpha}
    _check(data, names, scores, target, n_jobs, tests, diagram)
    files, diagrams = _files(out or [], diagram, draws=len(data) > 1 and len(names) > 1)
    require_csv(excel_safe, files)
    store = ResultStore(resume)
    read = partial(
        find_data, target=target, separator=separator, labels_separator=labels_separator,
        merge_case=merge_case, columns=columns, drop=drop, skip_bad_rows=skip_bad_rows,
        max_depth=max_depth, sheet=sheet,
    )  # fmt: skip
    with (
        hint_at(resume),
        started(workers, scheduler) as client,
        Console(stderr=True).status("reading data ...") as status,
    ):
        comparison = compare_models(
            (read(name) for name in data),
            names,
            scores,
            n_splits=n_splits,
            test_size=test_size,
            seed=seed,
            n_jobs=n_jobs,
            store=store,
            watch=lambda name, split, model: status.update(f"{name}, {split}: {model} ..."),
            client=client,
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
        comparison.write(path, excel_safe=excel_safe)
        say(f"wrote {path}")
    for path in diagrams:
        if "reason" in (ranking or {}):
            say(f"{path} is not drawn: there is no test of significance")
            continue
        _write_diagram(comparison, path)
        say(f"wrote {path}")


def _check(
    data: list[str],
    models: list[str],
    metrics: list[str],
    target: list[str] | None,
    n_jobs: int,
    tests: dict[str, Any],
    diagram: Path | None,
) -> None:
    """Find wrong options before anything is read or fitted."""
    from palmette.compare import check_problem, find_scores
    from palmette.metrics._comparison import check_tests
    from palmette.models import find_models

    find_models(models)
    find_scores(metrics)
    for place, name in enumerate(data):
        check_problem(name, target)
        if name in data[:place]:
            raise PalmetteError(f"the data set {name!r} is listed twice: list it once.")
    check_jobs(n_jobs)
    check_tests(methods=tuple(models), **tests)
    if diagram is not None and (len(data) < 2 or len(models) < 2):
        raise PalmetteError(
            f"--diagram compares models over data sets: expected at least two of both, got "
            f"{len(models)} models and {len(data)} data sets."
        )


def _files(out: list[Path], diagram: Path | None, draws: bool) -> tuple[list[Path], list[Path]]:
    """Return the reports and the diagrams to write; create the folders among `out`."""
    from palmette.cli._terminal import require_writable
    from palmette.plotting._axes import require_matplotlib

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
    from matplotlib import rc_context, rcdefaults
    from matplotlib.figure import Figure

    from palmette._files import atomic_write
    from palmette.plotting import CriticalDifferenceDisplay

    display = CriticalDifferenceDisplay(comparison.significance())
    with rc_context(), atomic_write(path, "wb") as stream:
        rcdefaults()  # a file matplotlibrc in the current folder could have texts set by LaTeX
        figure = Figure(figsize=display.size)  # without pyplot, which would keep the figure open
        display.plot(figure.subplots())
        figure.savefig(stream, format=path.suffix[1:].lower(), bbox_inches="tight")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


# ---------------------------------------------------------------------- tables


def print_leaderboard(console: Console, comparison: Comparison, dataset: str) -> None:
    """Print a table of one data set: one row per model, best first, best scores in green."""
    from rich.measure import Measurement
    from rich.text import Text

    from palmette.compare import split_sentence

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
    from palmette.compare import SCORES

    first = comparison.scores[0]
    sign = -1.0 if SCORES[first].greater_is_better else 1.0

    def place(entry: dict[str, Any]) -> float:
        return float("inf") if entry[first] is None else sign * entry[first]

    return sorted(comparison.means(dataset), key=place)


def _leaderboard(comparison: Comparison, dataset: str, deviation: bool) -> Table:
    from rich.text import Text

    from palmette.cli._terminal import plain_table
    from palmette.compare import COSTS, SCORES, best_value, format_cost, format_score, is_best

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
    from rich.text import Text

    from palmette.cli._terminal import plain_table
    from palmette.compare import ranking_sentences, ranking_title

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
