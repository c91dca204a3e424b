"""The facts of a report: each part owns its keys, and all of them are plain JSON values."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from palmette._arrays import count_rows
from palmette._files import atomic_write
from palmette.base._adapters import find_in_parts, hierarchy_of, node_proba_of
from palmette.exceptions import PalmetteError
from palmette.hierarchy._names import shown
from palmette.reporting._calibration import (
    calibration_of_cells,
    calibration_of_paths,
    coverage_of_cells,
    coverage_of_paths,
    node_facts,
)
from palmette.reporting._confidence import (
    CellConfidence,
    PathConfidence,
    read_cell_confidence,
    read_path_confidence,
)
from palmette.reporting._errors import confusion_facts, error_facts, find_partings
from palmette.reporting._evaluation import Evaluation, RowTexts, evaluate, rows_with_truth
from palmette.reporting._headline import headline_facts
from palmette.reporting._html import to_html, to_markdown, to_notebook
from palmette.reporting._plain import to_json
from palmette.reporting._training import (
    conformal_facts,
    feature_facts,
    feature_names,
    setting_facts,
    training_facts,
)

__all__ = ["FORMATS", "FORMAT_VERSION", "Report", "report", "summarize"]


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


FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    ".html": to_html,
    ".json": to_json,
    ".md": to_markdown,
}


class Report:
    """Facts about a model on some rows, and the ways to write them.

    Parameters
    ----------
    facts : dict
        Plain JSON values, as from `report` or read from a report's .json file.

    Attributes
    ----------
    facts : dict
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the report whole or not at all, in the format of the suffix.

        Parameters
        ----------
        path : path-like
            ``.html`` is one file that needs nothing else and no network, ``.json`` the facts,
            ``.md`` a short text.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in FORMATS:
            raise PalmetteError(
                f"cannot write {Path(path)}: expected a name in {', '.join(FORMATS)}."
            )
        text = FORMATS[suffix](self.facts)
        with atomic_write(path, "wb") as stream:
            stream.write(text.encode("utf-8", "replace"))

    def _repr_html_(self) -> str:
        return to_notebook(self.facts)

    def __repr__(self) -> str:
        figures = ", ".join(
            f"{figure['name']} {figure['value']:.4g}" for figure in self.facts["figures"][:4]
        )
        return f"<Report: {self.facts['title']}; {figures}>"


def report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_names: Sequence[Any] | None = None,
    sample_texts: Sequence[Any] | None = None,
    n_bootstrap: int = 500,
    random_state: int = 0,
    title: str | None = None,
) -> Report:
    """Look at what a fitted model does on rows that it has not seen.

    Parameters
    ----------
    model : fitted classifier
        One of palmette's, one that wraps such a classifier, or a flat classifier of scikit-learn,
        whose hierarchy is a star. Confidence, calibration and coverage need probabilities.
    X : array, sparse matrix, table or texts of n_samples rows
        As the model takes them.
    y : labels of n_samples rows, optional
        In any form that `NodeLabels.encode` takes. May hold labels that the model has never seen:
        these rows count as wrong. A model of tables reads them from its target column.
    sample_names : sequence of length n_samples, optional
        What rows are called in examples; the index of a table, or numbers, by default.
    sample_texts : sequence of length n_samples, optional
        What rows say in examples, where X does not, as with the counts of words of a text.
    n_bootstrap : int
        Resamples of the rows, for the intervals of the headline figures; 0 for none.
    random_state : int
        Seed of the resamples.
    title : str, optional

    Returns
    -------
    Report
        ``facts`` is a dict of plain values; ``write`` makes HTML, JSON or Markdown of it.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from palmette import LocalPerParentClassifier
    >>> X = [[0.0], [0.2], [1.0], [1.2], [5.0], [5.2]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "animal/dog", "plant/oak", "plant/oak"]
    >>> paths = [tuple(label.split("/")) for label in y]
    >>> clf = LocalPerParentClassifier(KNeighborsClassifier(1)).fit(X, paths)
    >>> found = report(clf, [[0.1], [0.1], [5.1]], [paths[0], paths[2], paths[4]])
    >>> found
    <Report: LocalPerParentClassifier on 3 rows; hierarchical_f1 0.8333, ... accuracy 0.6667>
    >>> found.facts["errors"]["by_level"]
    [{'level': 1, 'rows': 0}, {'level': 2, 'rows': 1}]
    """

    facts = summarize(
        model,
        X,
        y,
        sample_names=sample_names,
        sample_texts=sample_texts,
        n_bootstrap=n_bootstrap,
        random_state=random_state,
        title=title,
    )
    return Report(facts)
