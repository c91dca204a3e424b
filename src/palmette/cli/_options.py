"""Options and arguments that several commands share, and what they refer to.

A command is a function whose parameters are declared once, here or in its signature. They have the
names that they have in the public function to which the command hands them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from palmette._text import visible
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    from palmette.compare import Problem
    from palmette.table import TableModel
    from palmette.table._sources import TableSource

# ---------------------------------------------------------------------- the help of a command


class Command(TyperCommand):
    """A command whose help says TEXT, PATH, INTEGER or NUMBER, and nothing for flags."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.help:  # paragraphs fill the lines of the terminal, not those of the docstring
            self.help = "\n\n".join(" ".join(each.split()) for each in self.help.split("\n\n"))

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; newer versions of Typer ask them for the type in the help."""
        return [with_plain_type(each) for each in super().get_params(ctx)]


_TYPES = {"str": "TEXT", "path": "PATH", "int": "INTEGER", "float": "NUMBER"}


def with_plain_type(parameter: Any) -> Any:
    """Return a parameter that shows TEXT for a string and for a list of strings, and so on."""
    show = getattr(parameter, "display_type", None)
    if show is not None:
        is_flag = getattr(parameter, "is_flag", False)
        bounds = getattr(parameter, "min", None), getattr(parameter, "max", None)
        parameter.display_type_rich = lambda ctx: None if is_flag else plain_type(show(ctx), bounds)
        parameter._get_number_range_help_str = lambda: None  # the bounds are beside the type
    return parameter


def plain_type(shown: str, bounds: tuple[float | None, float | None] = (None, None)) -> str:
    """Return the words for a type as Typer shows it, with the bounds of a number.

    Examples
    --------
    >>> plain_type("<list[Path]>"), plain_type("<int range>", (1, None))
    ('PATH', 'INTEGER >= 1')
    >>> plain_type("<float range>", (0.0, 1.0))
    'NUMBER 0 to 1'
    """
    words = shown.strip("<>").removeprefix("list[").removesuffix("]").removesuffix(" range")
    words = _TYPES.get(words.lower(), shown)
    low, high = bounds
    if low is None:
        return words if high is None else f"{words} <= {high:g}"
    return f"{words} >= {low:g}" if high is None else f"{words} {low:g} to {high:g}"


# ---------------------------------------------------------------------- tables

TableFile = Annotated[
    str,
    typer.Argument(
        help="A CSV, TSV, JSON lines, Parquet, Excel or AnnData file, compressed or not, or a "
        "folder of such files. Use - for standard input."
    ),
]
TableFiles = Annotated[
    list[str],
    typer.Argument(
        help="One or more CSV, TSV, JSON lines, Parquet, Excel or AnnData files with the parts of "
        "one table, compressed or not, or a folder of such files. Use - for standard input."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format of the table if its suffix does not show it: csv, tsv, jsonl, parquet, excel, "
        "anndata, or annif for a corpus of texts and subjects."
    ),
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of the text, such as latin-1.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter between the cells of a CSV file.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook; the first one by default.")]
Decimal = Annotated[
    list[str] | None,
    typer.Option(
        help="Decimal mark of numbers, . or , (NAME=, for one column; repeatable). It is detected "
        "by default."
    ),
]
DateFormat = Annotated[
    list[str] | None,
    typer.Option(
        help="Format of dates, such as %d.%m.%Y (NAME=FORMAT for one column; repeatable). It is "
        "detected by default."
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line has the column names. Without a header the columns are named "
        "col1, col2, ...",
    ),
]
HeaderAsFitted = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line has the column names; by default as in palmette fit.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="NAME=KIND sets the kind of a column if it is not detected correctly: text, "
        "category, number or date; repeatable.",
    ),
]
Drop = Annotated[list[str] | None, typer.Option(help="Column that is not used; repeatable.")]
SkipBadRows = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows",
        help="Skip and count rows that cannot be read, instead of stopping with an error.",
    ),
]
BadRowsFile = Annotated[
    Path | None,
    typer.Option(
        "--bad-rows",
        help="Skip such rows and write them to this .csv file, with line number and reason.",
    ),
]
ColumnNames = Annotated[
    list[str] | None,
    typer.Option(
        "--map", help="COLUMN=NAME: a column of the model and its name in this table; repeatable."
    ),
]

# ---------------------------------------------------------------------- targets

_TARGET = typer.Option(
    help="Column to predict. Several columns (a,b,c, or the option repeated) are the levels of a "
    "path."
)
Target = Annotated[list[str], _TARGET]
OptionalTarget = Annotated[list[str] | None, _TARGET]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Separator that splits target cells into paths, used exactly as given, such as ' > "
        "'. It is detected by default; '' means that cells are plain names."
    ),
]
LabelsSeparator = Annotated[
    str | None,
    typer.Option(
        "--labels-separator",
        "--label-separator",
        help="Separator between several labels in a target cell, such as ';'.",
    ),
]
MergeCase = Annotated[
    bool,
    typer.Option("--merge-case", help="Read names of classes that differ in case only as one."),
]

MaxDepth = Annotated[
    int | None,
    typer.Option(min=1, help="Number of levels at which the paths of the target are cut."),
]

# ---------------------------------------------------------------------- models and fits

ModelFile = Annotated[Path, typer.Argument(help="Model file written by palmette fit.")]
Trusted = Annotated[
    list[str] | None,
    typer.Option(
        "--trust", help="Type of another library that the model file may load; repeatable."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Parameter of the model or method, as KEY=VALUE; repeatable."),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Number of parallel jobs; -1 uses all cores.")
]
JobsOrAuto = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        help="Number of parallel jobs; -1 uses all cores. By default all cores are used for large "
        "tables, and one for small ones.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Start this number of Dask worker processes and share the work among them."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of a running Dask scheduler whose workers are used, such as tcp://host:8786."
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(help="Folder for the rows of a table that is larger than 256 MiB."),
]
Bootstrap = Annotated[
    int,
    typer.Option(
        "--bootstrap",
        min=0,
        help="Number of bootstrap samples for the intervals; 0 means no intervals.",
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        help="File that stores finished fits, so that an interrupted run can be continued."
    ),
]
DrawnLines = Annotated[int, typer.Option(help="Approximate number of lines of the drawing.")]


ExcelSafe = Annotated[
    bool,
    typer.Option(
        "--excel-safe",
        help="Put ' before cells of CSV and TSV output that a spreadsheet would take for formulas.",
    ),
]


def say(text: str, err: bool = False) -> None:
    """Print a text; control characters, as in names of files and labels, are escaped."""
    typer.echo(visible(text), err=err)


# ---------------------------------------------------------------------- checks


def check_jobs(n_jobs: int) -> None:
    """Raise an error for zero jobs."""
    if n_jobs == 0:
        raise PalmetteError("got --jobs 0: expected a number of jobs, or -1 for all cores.")


def read_column_names(words: list[str] | None) -> dict[str, str]:
    """Read the words of ``--map COLUMN=NAME`` as a dict of the model's columns to their names."""
    pairs = [word.partition("=") for word in words or []]
    return _dict_of(pairs, "--map", "COLUMN=NAME, such as --map title=name")


def read_written(words: list[str] | None, option: str) -> str | dict[str, str] | None:
    """Read the words of ``--decimal`` or ``--date-format``: one for all columns, or NAME=VALUE.

    Examples
    --------
    >>> read_written(["since=%d.%m.%Y"], "--date-format")
    {'since': '%d.%m.%Y'}
    >>> read_written([","], "--decimal")
    ','
    """
    words = words or []
    pairs = [word.partition("=") if "%" in word else word.rpartition("=") for word in words]
    named = {name: value for name, equals, value in pairs if equals and name and "%" not in name}
    if len(named) == len(words):
        return named or None
    if len(words) > 1:
        raise PalmetteError(
            f"got {option} {' '.join(map(repr, words))}: expected one for all columns, or "
            f"NAME=... for each, such as {option} price=... {option} weight=..."
        )
    return words[0]


def read_kinds(words: list[str] | None) -> dict[str, str]:
    """Read the words of ``--column``; a name may contain an equals sign, a kind does not."""
    pairs = [word.rpartition("=") for word in words or []]
    return _dict_of(pairs, "--column", "NAME=KIND, such as --column zip=category")


def _dict_of(pairs: list[tuple[str, str, str]], option: str, expected: str) -> dict[str, str]:
    for pair in pairs:
        if not all(pair):
            raise PalmetteError(f"got {option} {''.join(pair)!r}: expected {expected}.")
    return {name: value for name, _, value in pairs}


def bad_rows_of(skip: bool, path: Path | None) -> Any:
    """Return a `BadRows` if bad rows are skipped, else None."""
    from palmette.table._sources import BadRows

    return BadRows() if skip or path is not None else None


# ---------------------------------------------------------------------- what options refer to


def load_table_model(path: Path, trusted: list[str] | None) -> TableModel:
    """Load a model that reads tables; an error names any other model."""
    from palmette.persistence import load
    from palmette.table import TableModel

    model = load(path, trusted=tuple(trusted or ()))
    if not isinstance(model, TableModel):
        raise PalmetteError(
            f"{path} contains a {type(model).__name__}, which does not read tables: expected a "
            "model written by palmette fit. In Python, use its predict method or palmette.report."
        )
    return model


def as_fitted(
    model: TableModel,
    source: TableSource,
    header: bool | None,
    decimal: list[str] | None,
    date_format: list[str] | None,
) -> TableSource:
    """Return a table to be read as that of the fit, unless options say how it is written.

    Parameters
    ----------
    model : TableModel
        Gets another schema if numbers or dates are written otherwise.
    source : TableSource
    header : bool or None
    decimal, date_format : list of str or None
        Words of the options.
    """
    from dataclasses import replace

    marks = read_written(decimal, "--decimal")
    formats = read_written(date_format, "--date-format")
    if marks is not None or formats is not None:
        model.schema_ = model.schema_.written(marks, formats)
    return replace(source, header=model.schema_.header if header is None else header)


def find_data(
    name: str,
    target: list[str] | None = None,
    separator: str | None = None,
    labels_separator: str | None = None,
    merge_case: bool = False,
    columns: list[str] | None = None,
    drop: list[str] | None = None,
    skip_bad_rows: bool = False,
    max_depth: int | None = None,
    sheet: str | None = None,
) -> Problem:
    """Return the problem of a name; a table is read as `palmette fit` reads it.

    Parameters
    ----------
    name : str
        "stdlib", "digits", a name of the data home, a file, or "-" for the standard input.
    target : list of str, optional
        Columns of a table: one, or the levels of a path.
    separator, labels_separator, merge_case, columns, drop, skip_bad_rows, max_depth, sheet
        As given to `palmette fit`.

    Returns
    -------
    Problem
    """
    from palmette.compare import find_problem

    return find_problem(
        name, target, separator, labels_separator=labels_separator, merge_case=merge_case,
        columns=read_kinds(columns), drop=drop or [], skip_bad_rows=skip_bad_rows,
        max_depth=max_depth, sheet=sheet,
        tell=lambda words: say(words, err=True),
    )  # fmt: skip
