"""The facts of a report: each part owns its keys, and all of them are plain JSON values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from numpy.typing import NDArray

from palmette.core.rows import count_rows
from palmette.core.values import shown
from palmette.engine.adapters import find_in_parts, hierarchy_of, node_proba_of
from palmette.exceptions import PalmetteError
from palmette.reporting.calibration import calibration_of_cells, calibration_of_paths
from palmette.reporting.cell_confidence import CellConfidence, read_cell_confidence
from palmette.reporting.conformal import conformal_facts
from palmette.reporting.confusions import confusion_facts
from palmette.reporting.coverage import coverage_of_cells, coverage_of_paths
from palmette.reporting.errors import error_facts, find_partings
from palmette.reporting.evaluation import Evaluation, evaluate
from palmette.reporting.features import feature_facts, feature_names
from palmette.reporting.headline import headline_facts
from palmette.reporting.nodes import node_facts
from palmette.reporting.path_confidence import PathConfidence, read_path_confidence
from palmette.reporting.row_texts import RowTexts
from palmette.reporting.setting import setting_facts
from palmette.reporting.training import training_facts
from palmette.reporting.truth import rows_with_truth

__all__ = ["FORMAT_VERSION", "summarize"]

FORMAT_VERSION = 1


def summarize(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_names: Sequence[Any] | None = None,
    sample_texts: Sequence[Any] | None = None,
    n_bootstrap: int = 500,
    random_state: int = 0,
    title: str | None = None,
) -> dict[str, Any]:
    """Gather the facts; parameters as for `palmette.report`.

    Returns
    -------
    dict
        Sections that do not apply to a model are None.
    """
    _require_rows(X)
    n_given, kept = count_rows(X), None
    if y is None:
        X, y, kept = rows_with_truth(model, X)
    names_and_texts = (_kept(each, kept) for each in (sample_names, sample_texts))
    names = feature_names(model)
    texts = RowTexts(X, *names_and_texts, columns=_shown_columns(model), features=names)
    evaluation = evaluate(model, X, y)
    sure = _read_confidence(model, X, evaluation)
    cells = sure if isinstance(sure, CellConfidence) else None
    answers = sure.answer if isinstance(sure, PathConfidence) else None
    headline = headline_facts(evaluation, cells, n_bootstrap=n_bootstrap, seed=random_state)
    pairs, examples = confusion_facts(evaluation, answers, texts)
    setting = setting_facts(model, X, evaluation, n_given - evaluation.n_rows)
    return {
        "format": "palmette report",
        "version": FORMAT_VERSION,
        "title": title or f"{setting['model']} on {evaluation.n_rows:,} rows",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "setting": setting,
        **headline,
        "nodes": node_facts(evaluation, sure),
        "errors": error_facts(evaluation, find_partings(evaluation)),
        "confusions": pairs,
        "examples": examples,
        **_confidence_facts(evaluation, sure),
        "conformal": conformal_facts(
            model, X, evaluation, n_bootstrap=n_bootstrap, seed=random_state
        ),
        "features": feature_facts(model, evaluation, names),
        "training": training_facts(model),
    }


def _require_rows(X: Any) -> None:
    if isinstance(X, str | os.PathLike | dict):
        raise PalmetteError(
            f"X is {shown(X)} of type {type(X).__name__}: expected the rows themselves, as an "
            "array, a DataFrame or a list of texts. Read a file first, with pandas.read_csv, say."
        )


def _kept(values: Sequence[Any] | None, places: NDArray[Any] | None) -> Sequence[Any] | None:
    """Values of the rows that are left."""
    return values if values is None or places is None else [values[row] for row in places.tolist()]


def _read_confidence(
    model: Any, X: Any, evaluation: Evaluation
) -> PathConfidence | CellConfidence | None:
    node_proba = node_proba_of(model, hierarchy_of(model))
    if node_proba is None:
        return None
    if evaluation.several:
        return read_cell_confidence(node_proba, X, evaluation)
    return read_path_confidence(node_proba, X, evaluation)


def _confidence_facts(
    evaluation: Evaluation, sure: PathConfidence | CellConfidence | None
) -> dict[str, Any]:
    if isinstance(sure, PathConfidence):
        return {
            "calibration": calibration_of_paths(evaluation, sure),
            "coverage": coverage_of_paths(evaluation, sure),
        }
    if isinstance(sure, CellConfidence):
        return {"calibration": calibration_of_cells(sure), "coverage": coverage_of_cells(sure)}
    return {"calibration": None, "coverage": None}


def _shown_columns(model: Any) -> list[Any] | None:
    """Columns that a model of tables looks at: the target is told beside the row's text."""
    schema = find_in_parts(model, "schema_")
    return None if schema is None else list(schema.names())
