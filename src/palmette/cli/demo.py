"""`palmette demo`: diagnoses to codes of ICD-10-CM, along the hierarchy and beside a flat model."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palmette.cli._options import Seed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from palmette.cli._terminal import Console

__all__ = ["demo"]

_MODEL = "class-tree"
_SURE = 0.9  # probability from which on a level is an answer
_RESAMPLES = 1000
_FEW = 400  # rows of a fit that is not timed


def demo(
    html: Annotated[Path, typer.Option(help="Where to write the report, an .html file.")] = Path(
        "palmette-demo.html"
    ),
    svg: Annotated[Path | None, typer.Option(help="Also write the output to an .svg file.")] = None,
    seed: Seed = 0,
) -> None:
    """Assign diagnoses to codes of ICD-10-CM, along its hierarchy and with a flat model.

    Example: palmette demo
    """
    from palmette.cli._terminal import Console, require_writable
    from palmette.datasets import load_icd10cm
    from palmette.reporting import report
    from palmette.table import fit_table

    require_writable(html, [".html"])
    if svg is not None:
        require_writable(svg, [".svg"])
    console = Console(record=svg is not None, width=None if svg is None else 80)
    icd = load_icd10cm()
    _print_task(console, icd)
    train, test = _table(icd.X_train, icd.y_train), _table(icd.X_test, icd.y_test)
    # on the standard error, so that it is neither in the picture nor in a pipe
    with Console(stderr=True).status("") as status:
        status.update("fitting along the hierarchy ...")
        # the kind is given, since to find it needs the packages of the extra `table`
        settings: dict[str, Any] = {"model": _MODEL, "columns": {"diagnosis": "text"}, "folds": 0}
        fit_table(train.head(_FEW), "code", **settings, tell=_nothing)  # compiles kernels, once
        model, seconds = _timed(
            lambda: fit_table(train, "code", **settings, seed=seed, tell=_nothing)
        )
        status.update("fitting a flat model ...")
        flat, flat_seconds = _timed(lambda: _fit_flat(icd))
        status.update("predicting ...")
        answers = _steps(model.predict_paths(test))
        _print_verdict(
            console,
            _shares(answers, icd.y_test),
            _shares(_steps(flat.predict(icd.X_test)), icd.y_test),
            (seconds, flat_seconds),
            seed,
        )
        proba = model.predict_node_proba(test)
        status.update("writing the report ...")
        page = report(model, test, n_bootstrap=200, random_state=seed, title="palmette demo")
        page.write(html)
    sure = _sure_depths(model.hierarchy_, proba, answers)
    _print_sure(console, answers, icd.y_test, sure)
    _print_examples(console, model, test, icd, sure)
    console.print(f"\nwrote {html}: errors, confusions and rows to review, in a browser")
    _print_next(console)
    if svg is not None:
        _write_picture(console, svg)


def _table(texts: list[str], paths: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"diagnosis": texts, "code": [" > ".join(path) for path in paths]})


def _nothing(words: str) -> None:
    """The command tells by itself what it does."""


def _timed(act: Callable[[], Any]) -> tuple[Any, float]:
    """Return an answer and its CPU seconds."""
    began = time.process_time()
    return act(), time.process_time() - began


def _fit_flat(icd: Any) -> Any:
    """Fit what most people would: words by tf-idf, and a linear SVM over the categories."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    labels = [" > ".join(path) for path in icd.y_train]
    return make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC()).fit(icd.X_train, labels)


def _steps(answers: Any) -> NDArray[np.object_]:
    """Return answers as names by level, of shape (n_samples, 3)."""
    import numpy as np

    paths = (path.split(" > ") if isinstance(path, str) else path for path in answers)
    return np.array([list(map(str, path)) for path in paths], dtype=object)


def _shares(answers: NDArray[np.object_], truth: NDArray[np.object_]) -> NDArray[np.float64]:
    """Return the share of the levels that are right, by row: names are distinct in the tree."""
    shares: NDArray[np.float64] = (answers == truth).mean(axis=1)
    return shares


def _sure_depths(
    hierarchy: Any, proba: NDArray[np.float64], answers: NDArray[np.object_]
) -> NDArray[np.int64]:
    """Return how many levels of the answers are as probable as an answer has to be."""
    import numpy as np

    nodes = np.array(
        [
            [hierarchy.index(tuple(path[: end + 1])) for end in range(len(path))]
            for path in answers.tolist()
        ]
    )
    is_sure = np.take_along_axis(proba, nodes, axis=1) >= _SURE
    depths: NDArray[np.int64] = np.minimum.accumulate(is_sure, axis=1).sum(axis=1)
    return depths


# ---------------------------------------------------------------------- what is printed


def _print_task(console: Console, icd: Any) -> None:
    n_chapters, n_sections, n_categories = icd.hierarchy.level_sizes[1:].tolist()
    console.print("[bold]Which code of ICD-10-CM has a diagnosis?[/]")
    console.print(
        f"{len(icd.X_train):,} titles and terms to learn from, {len(icd.X_test):,} other terms to "
        f"test on; {n_categories} categories in {n_sections} sections in {n_chapters} chapters.\n",
        highlight=False,
    )


def _print_verdict(
    console: Console,
    ours: NDArray[np.float64],
    flat: NDArray[np.float64],
    seconds: tuple[float, float],
    seed: int,
) -> None:
    """Compare two models on the same rows, with an interval of resampled rows."""
    import numpy as np

    rng = np.random.default_rng(seed)
    gains = ours - flat
    resampled = [gains[rng.integers(0, len(gains), len(gains))].mean() for _ in range(_RESAMPLES)]
    low, high = np.quantile(resampled, [0.025, 0.975])
    console.print(
        f"Along the hierarchy ({_MODEL}) hierarchical F1 is [bold]{ours.mean():.3f}[/], flat "
        f"(tf-idf and LinearSVC) {flat.mean():.3f}: [bold]{gains.mean():+.3f}[/], 95 % interval "
        f"{low:+.3f} to {high:+.3f}. The fits took {seconds[0]:.1f} and {seconds[1]:.1f} CPU "
        "seconds.",
        highlight=False,
    )


def _print_sure(
    console: Console,
    answers: NDArray[np.object_],
    truth: NDArray[np.object_],
    depths: NDArray[np.int64],
) -> None:
    """Say how often answers are right that stop at the level that is sure."""
    import numpy as np

    n_levels = answers.shape[1]
    place = np.maximum(depths - 1, 0)[:, None]
    is_right = np.take_along_axis(answers == truth, place, axis=1)[:, 0]
    right = is_right[depths > 0].mean()
    stops = [(depths == depth).mean() for depth in range(n_levels, -1, -1)]
    names = ("category", "section", "chapter")
    ends = ", ".join(
        f"{share:.0%} at the {name}" for share, name in zip(stops, names, strict=False)
    )
    console.print(
        f"\nA hierarchy can stop where it is unsure: of answers cut at a probability of {_SURE}, "
        f"[bold]{right:.0%}[/] are right. {ends} and {stops[-1]:.0%} have no answer. A flat model "
        "can only be right or wrong.\n",
        highlight=False,
    )


def _print_examples(
    console: Console, model: Any, test: Any, icd: Any, depths: NDArray[np.int64]
) -> None:
    """Print a row of each depth that is sure, with its best categories."""
    from rich.markup import escape

    rows = [int((depths == depth).argmax()) for depth in (3, 2, 1) if (depths == depth).any()]
    best, proba = model.predict_top_k(test.iloc[rows], k=3)
    for row, paths, chances in zip(rows, best, proba, strict=True):
        console.print(f"[bold]{escape(icd.X_test[row])}[/]", highlight=False)
        for path, chance in zip(paths, chances, strict=True):
            mark = "*" if path[-1] == icd.y_test[row, -1] else " "
            console.print(f" {mark} {chance:4.0%}  {escape(path[-1])}", highlight=False)
        sure = paths[0][depths[row] - 1]
        console.print(f"   sure: {escape(sure)}", style="green", highlight=False)
    console.print("(* is the category in the list)", style="dim", highlight=False)


def _print_next(console: Console) -> None:
    console.print("\nNext, your own table:")
    for line in (
        "palmette fit products.csv --target category --out model.palmette",
        "palmette report model.palmette test.csv --html report.html",
    ):
        console.print(f"  [bold cyan]{line}[/]", highlight=False)


def _write_picture(console: Console, svg: Path) -> None:
    import re

    from palmette._files import atomic_write

    picture = console.export_svg(title="palmette demo")
    # web fonts would need the network
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    with atomic_write(svg) as stream:
        stream.write(picture)
