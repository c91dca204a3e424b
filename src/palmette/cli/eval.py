"""`palmette eval`: measures of the best labels of rows, for many labels of which few are true."""

from __future__ import annotations

import json as json_module
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from palmette.cli._options import (
    ColumnNames,
    DateFormat,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    HeaderAsFitted,
    Scheduler,
    Sheet,
    Trusted,
    Workers,
    as_fitted,
    load_table_model,
    read_column_names,
    say,
)
from palmette.exceptions import PalmetteError, TableWarning

if TYPE_CHECKING:
    from palmette.table import TableModel

__all__ = ["command"]


def command(
    model: Annotated[Path, typer.Argument(help="Model file written by palmette fit.")],
    table: Annotated[
        str, typer.Argument(help="Table with the target column. Use - for standard input.")
    ],
    k: Annotated[
        list[int] | None,
        typer.Option(
            "--k",
            help="Number of best labels that are evaluated; repeatable. By default 1, 3 and 5.",
        ),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(
            help="Training table, from which propensities are estimated: rare labels then count "
            "more (PSP@k)."
        ),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write all results to a .json file.")] = None,
    renamed: ColumnNames = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    format: Format = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    header: HeaderAsFitted = None,
    trusted: Trusted = None,
) -> None:
    """Evaluate the best labels that a model suggests: P@k, R@k, F1@k, nDCG@k, hierarchical F1@k.

    Labels that the model does not know count as missed. The figures are the same for any number of
    workers.

    Example: palmette eval model.palmette test.csv --k 1 --k 5
    """
    from palmette.base._clients import started
    from palmette.cli._terminal import Console, plain_table, require_writable
    from palmette.cli.report import read_rows
    from palmette.table._sources import TableSource

    ks = sorted(set(k or (1, 3, 5)))
    if ks[0] < 1:
        raise PalmetteError(f"got --k {ks[0]}: expected a positive number of labels.")
    if json is not None:
        require_writable(json, [".json"])
    columns = read_column_names(renamed)
    source = TableSource.of(table, format, encoding=encoding, delimiter=delimiter, sheet=sheet)
    source.require()
    training = None if train is None else TableSource.of(train)
    if training is not None:
        training.require()
    fitted = load_table_model(model, trusted)
    source = as_fitted(fitted, source, header, decimal, date_format)
    with started(workers, scheduler) as client, warnings.catch_warnings():
        frame = read_rows(source, [fitted], columns)
        counted = None
        if training is not None:
            training = as_fitted(fitted, training, header, decimal, date_format)
            counted = _truth(fitted, read_rows(training, [fitted], {}))
        warnings.simplefilter("ignore", TableWarning)  # they were shown when the table was read
        found = evaluate(fitted, frame, ks, counted, client)
    console = Console()
    shown = plain_table()
    shown.add_column("score", no_wrap=True)
    for each in ks:
        shown.add_column(f"@{each}", justify="right", no_wrap=True)
    for name, values in found["at_k"].items():
        shown.add_row(name, *(f"{value:.4f}" for value in values))
    console.print(shown)
    for name, value in found["predictions"].items():
        console.print(f"{name}: {value:.4f}", highlight=False)
    rows = f"{found['rows']:,} rows"
    if found["rows_left_out"]:
        rows += f", {found['rows_left_out']:,} without a label left out"
    if found["unknown_labels"]:
        rows += f", {found['unknown_labels']:,} labels that the model does not know"
    console.print(rows, highlight=False)
    if json is not None:
        from palmette._files import atomic_write

        with atomic_write(json) as file:
            file.write(json_module.dumps({"k": ks, **found}, indent=1) + "\n")
        say(f"wrote {json}")


def evaluate(
    model: TableModel,
    frame: Any,
    ks: list[int],
    training: list[list[Any]] | None = None,
    client: Any = None,
) -> dict[str, Any]:
    """Evaluate the best labels, and the predictions, of rows with true labels.

    Parameters
    ----------
    model : TableModel
    frame : DataFrame of n_samples rows
    ks : list of int
    training : list of label lists, optional
        Labels of the training rows, for propensities.
    client : distributed.Client, optional
        The cluster whose workers predict.

    Returns
    -------
    dict
        ``"at_k"`` has a value per k for every measure, ``"predictions"`` one value.
    """
    from palmette import metrics
    from palmette._arrays import joined
    from palmette.reporting._parts import in_parts

    if not hasattr(model, "predict_proba"):
        raise PalmetteError(
            "the model has no probabilities, so its labels have no order: use palmette report."
        )
    truth = _truth(model, frame)
    kept = np.flatnonzero([bool(labels) for labels in truth])
    if not len(kept):
        raise PalmetteError("no row of the table has a label: there is nothing to evaluate.")
    frame, true = frame.iloc[kept], [set(truth[i]) for i in kept.tolist()]
    answers = _Answers(model, max(ks))
    parts = in_parts(answers, frame, len(model.classes_), client)
    best, labels = map(joined, map(list, zip(*parts, strict=True)))
    known = set(model.classes_.tolist())
    at_k = {
        "precision": metrics.precision_at_k(true, best, k=ks),
        "recall": metrics.recall_at_k(true, best, k=ks),
        "F1": metrics.f1_at_k(true, best, k=ks),
        "nDCG": metrics.ndcg_at_k(true, best, k=ks),
    }
    if training is not None:
        shares = metrics.label_propensities(training, labels=set().union(*true, known))
        at_k["PSP"] = metrics.propensity_scored_precision_at_k(
            true, best, propensities=shares, k=ks
        )
    inside = [labels & known for labels in true]
    measure = metrics.hierarchical_precision_recall_fscore_at_k
    at_k["hierarchical F1"] = measure(inside, best, hierarchy=model.hierarchy_, k=ks)[2]
    predicted = [row if isinstance(row, set) else {row} for row in labels]
    both = sum(len(a & b) for a, b in zip(true, predicted, strict=True))
    total = sum(map(len, true)) + sum(map(len, predicted))
    unknown = set().union(*true) - known
    return {
        "at_k": {name: np.atleast_1d(values).tolist() for name, values in at_k.items()},
        "predictions": {
            "micro F1 of the predictions": 2 * both / total,
            "labels per row, predicted": sum(map(len, predicted)) / len(predicted),
            "labels per row, true": sum(map(len, true)) / len(true),
        },
        "rows": len(true),
        "rows_left_out": len(truth) - len(kept),
        "unknown_labels": len(unknown),
    }


def _truth(model: TableModel, frame: Any) -> list[list[Any]]:
    """Return the labels of all rows, also those that the model does not know."""
    from palmette.table._target import find_node

    rows = model.target_.read(model.read(frame))
    hierarchy = model.hierarchy_
    labels: dict[Any, Any] = {}

    def label_of(path: Any) -> Any:
        """Return the label as the model writes it, or the path itself."""
        if path not in labels:
            node, labels[path] = find_node(path, hierarchy), path
            if node > 0:
                is_tree = hierarchy.is_tree
                labels[path] = hierarchy.path(node) if is_tree else hierarchy.names[node]
        return labels[path]

    found = []
    for row in rows:
        paths = [] if row is None else row if model.target_.several else [row]
        if model.learnt_:
            paths = [(model.target_.write(path),) for path in paths]
        found.append(list(dict.fromkeys(map(label_of, paths))))
    return found


@dataclass(frozen=True)
class _Answers:
    """Gives the k most probable labels of rows, best first, and their predictions."""

    model: TableModel
    k: int

    def __call__(self, frame: Any) -> tuple[list[list[Any]], list[Any]]:
        return self.model.predict_top_k(frame, self.k)[0], self.model.predict(frame)
