"""`palmette learn`: a hierarchy of classes, learnt from a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from palmette.compare import LearntTree, Problem
    from palmette.core.hierarchy import Hierarchy

__all__ = ["command", "run_learn"]

_MEASURES = (
    ("tree_mse", "tree MSE (0 is the same)", "{:.4f}"),
    ("edit_distance", "edit distance, in nodes", "{:,.0f}"),
    ("clade_precision", "groups of it that are there too", "{:.1%}"),
    ("clade_recall", "groups there that it has too", "{:.1%}"),
    ("triplet_accuracy", "triplets in the same order", "{:.1%}"),
    ("clade_purity", "purity of its groups", "{:.1%}"),
)


def command(
    data: Annotated[
        str,
        typer.Argument(
            help="A table (CSV, TSV, JSON lines, Parquet, Excel; - for standard input), 'stdlib', "
            "'digits', or a name of the data home (palmette datasets)."
        ),
    ],
    target: Annotated[
        list[str] | None,
        typer.Option(help="Column of the table with the label; repeat it for levels of a path."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="agglomerative, balanced, bhc, dependence, label-embedding, mf-tree, nmf, random "
            "or relaxed; homer for several labels a row."
        ),
    ] = "bhc",
    separator: Annotated[
        str | None,
        typer.Option(help="Splits target cells into paths, such as ' > '; found if not given."),
    ] = None,
    labels_separator: Annotated[
        str | None, typer.Option(help="Splits target cells that hold several labels, such as ';'.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="A hierarchy file over the same classes, to compare with.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the method, such as branching=4; repeat it."),
    ] = None,
    lines: Annotated[int, typer.Option(help="Lines of the drawing, about.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="Seed of methods that draw lots.")] = 0,
    jobs: Annotated[int, typer.Option(help="Fits at a time; -1 for all cores.")] = 1,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Write it as .json, .nwk, .dot, .txt, .edges, .csv, .svg or .html; may be "
            "repeated."
        ),
    ] = None,
) -> None:
    """Learn a hierarchy of classes from a table, draw it and compare it with another.

    Example: palmette learn digits --method mf-tree --out tree.json --out tree.svg
    """
    run_learn(
        data,
        target=target,
        method=method,
        separator=separator,
        labels_separator=labels_separator,
        compare=compare,
        settings=settings or [],
        lines=lines,
        seed=seed,
        n_jobs=jobs,
        out=out or [],
    )


def run_learn(
    data: str,
    *,
    target: list[str] | None = None,
    method: str = "bhc",
    separator: str | None = None,
    labels_separator: str | None = None,
    compare: Path | None = None,
    settings: list[str] | None = None,
    lines: int = 40,
    seed: int = 0,
    n_jobs: int = 1,
    out: list[Path] | None = None,
) -> Hierarchy:
    """Learn a hierarchy, print and write it; the parameters are those of the command."""
    from rich.console import Console

    from palmette.cli.tables import find_data
    from palmette.compare import learn_tree
    from palmette.core.hierarchy import Hierarchy

    parameters = _check(data, target, method, settings or [], n_jobs, out or [])
    reference = None if compare is None else Hierarchy.read(compare)
    with Console(stderr=True).status("reading data ...") as status:
        problem = find_data(data, target, separator, labels_separator)
        status.update(f"learning by {method} ...")
        learnt = learn_tree(
            problem, method, random_state=seed, n_jobs=n_jobs, parameters=parameters
        )
    _print_tree(problem, learnt, method, lines)
    named = str(compare)
    if reference is None and problem.hierarchy.max_depth > 1:
        reference, named = problem.hierarchy, f"the hierarchy that {data} has"
    if reference is not None:
        _print_comparison(Console(), learnt.hierarchy, reference, named, seed)
    for path in out or []:
        learnt.hierarchy.write(path)
        typer.echo(f"wrote {path}")
    return learnt.hierarchy


def _check(
    data: str,
    target: list[str] | None,
    method: str,
    settings: list[str],
    n_jobs: int,
    out: list[Path],
) -> dict[str, Any]:
    """Find mistakes before anything is read or learnt; return the parameters of the method."""
    from palmette.cli.outputs import require_writable
    from palmette.cli.tables import check_data
    from palmette.core.taxonomy.registry import WRITERS
    from palmette.exceptions import PalmetteError
    from palmette.models import make_tree_learner
    from palmette.table.candidates import parse_settings

    parameters = parse_settings(settings)
    make_tree_learner(method, **parameters)
    check_data(data, target)
    if n_jobs == 0:
        raise PalmetteError("got --jobs 0: expected a number of jobs, or -1 for all cores.")
    for path in out:
        require_writable(path, [suffix for w in WRITERS.values() for suffix in w.suffixes])
    return parameters


def _print_tree(problem: Problem, learnt: LearntTree, method: str, lines: int) -> None:
    from palmette.core.drawing import summarize

    hierarchy = learnt.hierarchy
    typer.echo(
        f"{problem.name}: {learnt.n_rows:,} rows, {hierarchy.n_leaves:,} classes; learnt by "
        f"{method} in {learnt.cpu_seconds:.1f} CPU seconds"
    )
    typer.echo(summarize(hierarchy))
    notes = [f"({count:,})" for count in learnt.counts]
    typer.echo(hierarchy.draw(max_lines=lines, annotations=notes))


def _print_comparison(
    console: Any, tree: Hierarchy, reference: Hierarchy, named: str, seed: int
) -> None:
    """Print how alike two trees are, beside a random tree over the same classes."""
    from rich import box
    from rich.table import Table

    from palmette.metrics import compare_trees

    if not tree.is_tree or not reference.is_tree:
        which = "the learnt hierarchy" if not tree.is_tree else named
        typer.echo(f"\nnot compared with {named}: {which} is a DAG, and only trees are compared")
        return
    found = compare_trees(tree, reference, random_state=seed)
    chance = compare_trees(_random_tree(tree, seed), reference, random_state=seed)
    left_out = [
        f"{count:,} only {where}"
        for count, where in (
            (found["n_only_tree"], "learnt"),
            (found["n_only_reference"], "there"),
        )
        if count
    ]
    console.print(
        f"\ncompared with {named} over {found['n_classes']:,} classes"
        + (f" ({', '.join(left_out)})" if left_out else ""),
        highlight=False,
        markup=False,
    )
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("")
    table.add_column("learnt", justify="right")
    table.add_column("a random tree", justify="right", style="dim")
    for key, words, pattern in _MEASURES:
        cells = ["–" if f[key] is None else pattern.format(f[key]) for f in (found, chance)]
        table.add_row(words, *cells)
    console.print(table)


def _random_tree(tree: Hierarchy, seed: int) -> Hierarchy:
    """The same tree with its leaves in another order: what chance gives to this shape."""
    import numpy as np

    from palmette.core.hierarchy import Hierarchy

    names = tree.names.copy()
    order = np.random.default_rng(seed).permutation(tree.leaves)
    names[tree.leaves] = tree.names[order]
    return Hierarchy(names, tree.edges)
