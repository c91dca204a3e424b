"""`palmette card`: a model card, as Markdown with the front matter of model hubs."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from palmette.cli._options import (
    Bootstrap,
    ColumnNames,
    Format,
    ModelFile,
    Scratch,
    Seed,
    TableFile,
    Trusted,
    as_fitted,
    load_table_model,
    read_column_names,
    say,
)
from palmette.exceptions import TableWarning

__all__ = ["card"]


def card(
    model: ModelFile,
    table: TableFile,
    out: Annotated[Path, typer.Option(help="Model card to write: .md.")] = Path("README.md"),
    title: Annotated[
        str | None, typer.Option(help="Title; by default the name of the model file.")
    ] = None,
    description: Annotated[
        str | None, typer.Option(help="What the model is for; by default its scores in words.")
    ] = None,
    license: Annotated[
        str | None, typer.Option(help="Licence of the model, such as bsd-3-clause.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Language of the texts, such as en.")] = None,
    renamed: ColumnNames = None,
    n_bootstrap: Bootstrap = 500,
    seed: Seed = 0,
    scratch: Scratch = None,
    format: Format = None,
    trusted: Trusted = None,
) -> None:
    """Write a model card: scores on a table with true labels, training data, limits, usage.

    The layout is that of Hugging Face: YAML front matter with scores, then Markdown. The table is
    read in parts, and may be larger than memory.

    Example: palmette card model.palmette test.csv --license mit --out README.md
    """
    from palmette._files import atomic_write
    from palmette.cli._terminal import Console, require_writable
    from palmette.cli.report import read_in_parts
    from palmette.reporting import report as make_report
    from palmette.reporting._card import to_card
    from palmette.reporting._stored import TableStore
    from palmette.table._sources import TableSource

    require_writable(out, [".md"])
    columns = read_column_names(renamed)
    source = TableSource.of(table, format)
    source.require()
    fitted = load_table_model(model, trusted)
    source = as_fitted(fitted, source, None, None, None)
    with (
        warnings.catch_warnings(),
        TableStore(fitted, scratch, partial(say, err=True)) as store,
        Console(stderr=True).status(f"reading {source.title} ...") as status,
    ):
        for part in read_in_parts(source, [fitted], columns):
            store.add(part)
        frame = store.finish()
        status.update(f"predicting {len(frame):,} rows ...")
        warnings.simplefilter("ignore", TableWarning)  # they were shown when the table was read
        found = make_report(
            fitted, frame, n_bootstrap=n_bootstrap, random_state=seed, title=title or model.stem
        )
    text = to_card(
        found.facts,
        file=model.name,
        data=Path(source.title).name,
        license=license,
        language=language,
        description=description,
    )
    with atomic_write(out) as stream:
        stream.write(text)
    say(f"wrote {out}")
