"""`palmette learn`: learn a hierarchy of classes from a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palmette.cli._options import (
    Columns,
    DrawnLines,
    Drop,
    ExcelSafe,
    Jobs,
    LabelsSeparator,
    MaxDepth,
    MergeCase,
    OptionalTarget,
    Seed,
    Separator,
    Settings,
    Sheet,
    SkipBadRows,
    check_jobs,
    find_data,
    say,
)

if TYPE_CHECKING:
    from palmette.cli._terminal import Console
    from palmette.compare import LearntTree, Problem
    from palmette.compare._node_complexity import TreeComplexity
    from palmette.hierarchy._hierarchy import Hierarchy

__all__ = ["learn"]

_HARDEST = 5  # nodes that are printed; files list more
_IN_FILES = 100
_SIDES = 3  # of a node with many
_MEASURES = (
    ("tree_mse", "tree MSE (0 if equal)", "{:.4f}"),
    ("edit_distance", "edit distance, in nodes", "{:,.0f}"),
    ("clade_precision", "precision of its groups", "{:.1%}"),
    ("clade_recall", "recall of its groups", "{:.1%}"),
    ("triplet_accuracy", "triplets in the same order", "{:.1%}"),
    ("clade_purity", "purity of its groups", "{:.1%}"),
)


def learn(
    data: Annotated[
        str,
        typer.Argument(
            help="A table (CSV, TSV, JSON lines, Parquet or Excel; - for standard input), "
            "'stdlib', 'digits', or the name of a data set in the data home (see palmette "
            "datasets)."
        ),
    ],
    target: OptionalTarget = None,
    method: Annotated[
        str,
        typer.Option(
            help="Method: agglomerative, balanced, bhc, dependence, homer (from the labels only), "
            "k-means, label-embedding, margin, mf-tree, nmf, random or relaxed (may give a DAG)."
        ),
    ] = "bhc",
    separator: Separator = None,
    labels_separator: LabelsSeparator = None,
    merge_case: MergeCase = False,
    columns: Columns = None,
    drop: Drop = None,
    skip_bad_rows: SkipBadRows = False,
    max_depth: MaxDepth = None,
    sheet: Sheet = None,
    compare: Annotated[
        Path | None,
        typer.Option(help="Hierarchy file over the same classes that the result is compared with."),
    ] = None,
    settings: Settings = None,
    lines: DrawnLines = 40,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="File to write: .json, .nwk, .dot, .txt, .edges, .csv, .svg or .html; repeatable."
        ),
    ] = None,
    excel_safe: ExcelSafe = False,
) -> None:
    """Learn a hierarchy of classes from a table, draw it and compare it with another.

    Example: palmette learn digits --method mf-tree --out tree.json --out tree.svg
    """
    from palmette.cli._terminal import Console, require_csv
    from palmette.compare import check_problem, learn_tree
    from palmette.compare._node_complexity import measure_nodes
    from palmette.hierarchy._hierarchy import Hierarchy
    from palmette.hierarchy.files import text_for_file
    from palmette.models import make_tree_learner
    from palmette.table._candidates import parse_settings

    parameters = parse_settings(settings or [])
    make_tree_learner(method, **parameters)  # wrong names are found before anything is read
    check_problem(data, target)
    check_jobs(n_jobs)
    _check_files(out or [])
    require_csv(excel_safe, out or [])
    reference = None if compare is None else Hierarchy.read(compare)
    with Console(stderr=True).status("reading data ...") as status:
        problem = find_data(
            data, target, separator, labels_separator, merge_case, columns, drop, skip_bad_rows,
            max_depth, sheet,
        )  # fmt: skip
        status.update(f"learning by {method} ...")
        learned = learn_tree(
            problem, method, random_state=seed, n_jobs=n_jobs, parameters=parameters
        )
        status.update("measuring how hard its nodes are to divide ...")
        # in files and tables, too, groups are called by their words
        learned = replace(learned, hierarchy=learned.hierarchy.in_language())
        complexity = measure_nodes(problem, learned, random_state=seed)
    _print_tree(problem, learned, method, lines)
    if complexity is not None:
        _print_complexity(Console(), complexity)
    title = str(compare)
    if reference is None and problem.hierarchy.max_depth > 1:
        reference, title = problem.hierarchy, f"the hierarchy of {data}"
    if reference is not None:
        _print_comparison(Console(), learned.hierarchy, reference, title, seed)
    for path in out or []:  # all of them, or none
        text_for_file(learned.hierarchy, path)
    for path in out or []:
        learned.hierarchy.write(path, excel_safe=excel_safe)
        if complexity is not None:
            _add_complexity(path, complexity)
        say(f"wrote {path}")


def _check_files(out: list[Path]) -> None:
    from palmette.cli._terminal import require_writable
    from palmette.hierarchy.files._registry import WRITERS

    suffixes = [suffix for writer in WRITERS.values() for suffix in writer.suffixes]
    for path in out:
        require_writable(path, suffixes)


def _print_tree(problem: Problem, learned: LearntTree, method: str, lines: int) -> None:
    from palmette.hierarchy._drawing import summarize

    hierarchy = learned.hierarchy
    say(
        f"{problem.name}: {learned.n_rows:,} rows, {hierarchy.n_leaves:,} classes; learned by "
        f"{method} in {learned.cpu_seconds:.1f} CPU seconds"
    )
    say(summarize(hierarchy))
    notes = [f"({count:,})" for count in learned.counts]
    say(hierarchy.draw(max_lines=lines, annotations=notes))


def _print_complexity(console: Console, found: TreeComplexity) -> None:
    """Print how hard the nodes are to divide: the mean, and the hardest ones."""
    from palmette.cli._terminal import plain_table

    console.print(f"\n{_summary(found)}", highlight=False, markup=False)
    table = plain_table()
    for title in ("hardest nodes", "sides", "rows"):
        table.add_column(title, overflow="fold")
    for title in ("N1", "F1"):
        table.add_column(title, justify="right", no_wrap=True)
    for node, *cells in _complexity_rows(found, _HARDEST):
        table.add_row(node, *cells)
    console.print(table)


def _summary(found: TreeComplexity) -> str:
    """Return the means, and what was measured, a line each."""
    n = len(found.nodes)
    lines = [
        f"how hard {f'{n:,} nodes are' if n > 1 else 'one node is'} to divide: "
        f"mean N1 {found.mean_boundary_share:.2f}, median F1 {found.median_fisher_ratio:.2f}",
        "N1: share of rows next to a row of another side (smaller is easier)",
        "F1: Fisher's ratio of the best feature (larger is easier)",
    ]
    if found.n_small:
        lines.append(f"left out: {found.n_small:,} with fewer than {found.min_rows} rows")
    if found.n_nodes > found.n_small + n:
        lines.append(f"only the {n:,} nodes with the most rows were measured")
    if found.n_drawn:
        larger = "one larger node" if found.n_drawn == 1 else f"{found.n_drawn:,} larger nodes"
        lines.append(f"of {larger}, about {found.max_rows:,} rows were drawn")
    if found.n_wide:
        most = found.max_sides
        lines.append(f"of nodes with more than {most} sides, only the {most} largest were measured")
    if found.overlap:
        lines.append("rows with labels on several sides of a node are left out there")
    return "\n".join(lines)


def _complexity_rows(found: TreeComplexity, most: int) -> list[tuple[str, ...]]:
    """Return a row per node, the hardest first: name, sides, their rows, N1 and F1."""
    rows: list[tuple[str, ...]] = []
    for each in found.nodes[:most]:
        more = len(each.sides) - _SIDES
        etc = [f"… {more} more"] if more > 0 else []
        sides = " | ".join([*each.sides[:_SIDES], *etc])
        counts = " | ".join([*(f"{n:,}" for n in each.n_rows[:_SIDES]), *etc])
        numbers = f"{each.boundary_share:.2f}", f"{each.fisher_ratio:.2f}"
        rows.append((each.node, sides, counts, *numbers))
    return rows


def _add_complexity(path: Path, found: TreeComplexity) -> None:
    """Add the measures to a JSON file, whose readers skip them, or to a page."""
    import json
    from html import escape

    from palmette._files import atomic_write
    from palmette._text import visible

    if path.suffix.lower() == ".json":
        facts = visible(json.dumps(found.to_dict(), ensure_ascii=False))
        added, end = f',\n"complexity": {facts}}}\n', "}\n"
    elif path.suffix.lower() in (".html", ".htm"):
        head = ("node", "sides", "rows", "N1", "F1")
        lines = [
            "<tr>" + "".join(f"<{tag}>{escape(visible(cell))}</{tag}>" for cell in cells) + "</tr>"
            for tag, cells in (
                ("th", head),
                *(("td", row) for row in _complexity_rows(found, _IN_FILES)),
            )
        ]
        table = "\n".join(lines)
        end = "</body></html>\n"
        words = escape(_summary(found)).replace("\n", "<br>\n")
        added = f"<p>{words}</p>\n<table>\n{table}\n</table>\n{end}"
    else:
        return
    text = path.read_text(encoding="utf-8")
    with atomic_write(path, "wb") as stream:
        stream.write((text.removesuffix(end) + added).encode("utf-8"))


def _print_comparison(
    console: Console, tree: Hierarchy, reference: Hierarchy, title: str, seed: int
) -> None:
    """Print how similar two trees are, next to a random tree over the same classes."""
    from palmette.cli._terminal import plain_table
    from palmette.metrics import compare_trees

    if not tree.is_tree or not reference.is_tree:
        which = "the learned hierarchy" if not tree.is_tree else title
        say(f"\nnot compared with {title}: {which} is a DAG, and only trees are compared")
        return
    found = compare_trees(tree, reference, random_state=seed)
    chance = compare_trees(_random_tree(tree, seed), reference, random_state=seed)
    left_out = [
        f"{count:,} only {where}"
        for count, where in (
            (found["n_only_tree"], "in the learned tree"),
            (found["n_only_reference"], "in the other"),
        )
        if count
    ]
    console.print(
        f"\ncompared with {title} over {found['n_classes']:,} classes"
        + (f" ({', '.join(left_out)})" if left_out else ""),
        highlight=False,
        markup=False,
    )
    table = plain_table()
    table.add_column("")
    table.add_column("learned", justify="right")
    table.add_column("a random tree", justify="right", style="dim")
    for key, words, pattern in _MEASURES:
        cells = ["–" if f[key] is None else pattern.format(f[key]) for f in (found, chance)]
        table.add_row(words, *cells)
    console.print(table)


def _random_tree(tree: Hierarchy, seed: int) -> Hierarchy:
    """Return the same tree with its leaves in random order, as a baseline for this shape."""
    import numpy as np

    from palmette.hierarchy._hierarchy import Hierarchy

    names = tree.names.copy()
    order = np.random.default_rng(seed).permutation(tree.leaves)
    names[tree.leaves] = tree.names[order]
    return Hierarchy(names.tolist(), tree.edges)
