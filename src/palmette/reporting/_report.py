"""The entry point: `report` collects the facts of all parts, `Report` writes them to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray, count_rows
from palmette._files import atomic_write
from palmette.base._adapters import find_in_parts, hierarchy_of, node_proba_of
from palmette.base._clients import connected
from palmette.exceptions import PalmetteError
from palmette.hierarchy._names import shown
from palmette.labels._labels import NodeLabels
from palmette.persistence._guarded import of_a_file
from palmette.reporting._acceptance import acceptance_facts, check_precision
from palmette.reporting._baselines import baseline_facts, verdict
from palmette.reporting._calibration import (
    calibration_of_cells,
    calibration_of_paths,
    coverage_of_cells,
    coverage_of_paths,
    node_facts,
)
from palmette.reporting._classes import class_facts, training_rows
from palmette.reporting._confidence import (
    CellConfidence,
    PathConfidence,
    read_cell_confidence,
    read_path_confidence,
)
from palmette.reporting._errors import (
    confusion_facts,
    error_facts,
    find_divergences,
    find_suspects,
    review_facts,
)
from palmette.reporting._evaluation import Evaluation, RowTexts, evaluate, rows_with_truth
from palmette.reporting._headline import headline_facts
from palmette.reporting._html import to_html, to_notebook
from palmette.reporting._markdown import to_markdown
from palmette.reporting._parts import predict_in_parts
from palmette.reporting._plain import to_json
from palmette.reporting._stored import encode_labels
from palmette.reporting._training import (
    conformal_facts,
    feature_facts,
    feature_names,
    setting_facts,
    training_facts,
)
from palmette.reporting._versus import Side, require_comparable, versus_facts

FORMAT_VERSION = 1
FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    ".html": to_html,
    ".json": to_json,
    ".md": to_markdown,
}


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
    precision: float = 0.95,
    baselines: Mapping[str, Any] | None = None,
    other: Any = None,
    names: tuple[str, str] = ("first model", "second model"),
    language: str | Sequence[str] | None = None,
    client: Any = None,
) -> dict[str, Any]:
    """Compute the facts of a report; parameters as for `palmette.report`.

    Returns
    -------
    dict
        One entry per section; sections that do not apply to the model are None.
    """
    _require_rows(X)
    check_precision(precision)
    n_given, kept = count_rows(X), None
    if y is None:
        X, y, kept = rows_with_truth(model, X)
    other_labels = None
    if other is not None:
        require_comparable((model, other))
        other_labels = predict_in_parts(other, X, hierarchy_of(other).n_nodes, client)
    columns = feature_names(model)
    names_and_texts = (_kept(each, kept) for each in (sample_names, sample_texts))
    texts = RowTexts(X, *names_and_texts, columns=_shown_columns(model), features=columns)
    others = () if other is None else (other_labels,)
    evaluation = evaluate(model, X, y, others=others, client=client)
    evaluation = replace(evaluation, language=language)
    confidence = _read_confidence(model, X, evaluation, client)
    cells = confidence if isinstance(confidence, CellConfidence) else None
    suspects = find_suspects(evaluation, confidence)
    pairs, examples = confusion_facts(evaluation, _answers(confidence), texts, suspects)
    setting = setting_facts(model, X, evaluation, n_given - evaluation.n_rows)
    training = training_rows(model, evaluation)
    draws = {"n_bootstrap": n_bootstrap, "seed": random_state}
    facts = {
        "format": "palmette report",
        "version": FORMAT_VERSION,
        "title": title or f"{setting['model']} on {evaluation.n_rows:,} rows",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "verdict": "",
        "setting": setting,
        **headline_facts(evaluation, cells, **draws),
        "baselines": baseline_facts(
            model, evaluation, training, _measured(baselines or {}, X, y, evaluation, client)
        ),
        "acceptance": acceptance_facts(
            evaluation, confidence, precision=precision, seed=random_state
        ),
        "classes": class_facts(evaluation, training),
        "nodes": node_facts(evaluation, confidence, training),
        "errors": error_facts(evaluation, find_divergences(evaluation)),
        "confusions": pairs,
        "examples": examples,
        "review": review_facts(evaluation, confidence, suspects, examples, texts),
        **_confidence_facts(evaluation, confidence),
        "conformal": conformal_facts(model, X, evaluation, **draws, client=client),
        "features": feature_facts(model, evaluation, columns),
        "training": training_facts(model),
        "versus": None,
    }
    facts["verdict"] = verdict(facts)
    if other is not None:
        first = Side(names[0], evaluation, _answers(confidence), facts["acceptance"])
        second = _second_side(
            names[1], evaluation, other, other_labels, X, y,
            precision=precision, seed=random_state, client=client,
        )  # fmt: skip
        facts["versus"] = versus_facts(first, second, texts, **draws)
    return facts


def _measured(
    models: Mapping[str, Any], X: Any, y: Any, evaluation: Evaluation, client: Any
) -> dict[str, tuple[Evaluation, CellConfidence | None]]:
    """Evaluate further models on the same rows."""
    found = {}
    for title, model in models.items():
        other = evaluate(model, X, y, client=client)
        cells = _read_confidence(model, X, other, client) if evaluation.several else None
        found[title] = (other, cells if isinstance(cells, CellConfidence) else None)
    return found


def _second_side(
    name: str,
    first: Evaluation,
    model: Any,
    labels: Any,
    X: Any,
    y: Any,
    *,
    precision: float,
    seed: int,
    client: Any,
) -> Side:
    """Evaluate the predictions of a second model, on the hierarchy of the first evaluation."""
    evaluation = evaluate(model, X, y, predicted=labels)
    confidence = _read_confidence(model, X, evaluation, client)
    found = acceptance_facts(evaluation, confidence, precision=precision, seed=seed)
    predicted = encode_labels(labels, first.hierarchy)
    if not first.several:
        predicted = NodeLabels.from_terminals(predicted.terminals, first.hierarchy, predicted.form)
    return Side(name, first.answering(predicted), _answers(confidence), found)


def _answers(confidence: PathConfidence | CellConfidence | None) -> FloatArray | None:
    """Return the probability of each prediction, where rows have one path."""
    return confidence.answer if isinstance(confidence, PathConfidence) else None


def _require_rows(X: Any) -> None:
    if isinstance(X, str | os.PathLike | dict):
        raise PalmetteError(
            f"X is {shown(X)} of type {type(X).__name__}: expected the rows themselves, as an "
            "array, a DataFrame or a list of texts. Read files first, e.g. with pandas.read_csv."
        )


def _kept(values: Any, places: NDArray[Any] | None) -> Any:
    """Return the values of the rows that have a label."""
    if values is None or places is None:
        return values
    if isinstance(values, range):
        return np.asarray(values)[places]
    return [values[row] for row in places.tolist()]


def _read_confidence(
    model: Any, X: Any, evaluation: Evaluation, client: Any
) -> PathConfidence | CellConfidence | None:
    node_proba = node_proba_of(model, hierarchy_of(model))
    if node_proba is None:
        return None
    if evaluation.several:
        return read_cell_confidence(node_proba, X, evaluation, client=client)
    return read_path_confidence(node_proba, X, evaluation, client)


def _confidence_facts(
    evaluation: Evaluation, confidence: PathConfidence | CellConfidence | None
) -> dict[str, Any]:
    if isinstance(confidence, PathConfidence):
        return {
            "calibration": calibration_of_paths(evaluation, confidence),
            "coverage": coverage_of_paths(evaluation, confidence),
        }
    if isinstance(confidence, CellConfidence):
        return {
            "calibration": calibration_of_cells(confidence),
            "coverage": coverage_of_cells(confidence),
        }
    return {"calibration": None, "coverage": None}


def _shown_columns(model: Any) -> list[Any] | None:
    """Return the feature columns of a table model; the target is shown beside the text."""
    schema = find_in_parts(model, "schema_")
    return None if schema is None else list(schema.names())


class Report:
    """Evaluation of a model on some rows, which can be written as HTML, JSON or Markdown.

    Parameters
    ----------
    facts : dict
        Plain JSON values, as computed by `report` or read from a report's .json file.

    Attributes
    ----------
    facts : dict
        The facts passed in.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the report in the format given by the suffix of the path.

        The file is written atomically: an error leaves an existing file unchanged.

        Parameters
        ----------
        path : path-like
            ``.html`` is a single self-contained file, ``.json`` has the facts, ``.md`` is a short
            text.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in FORMATS:
            raise PalmetteError(
                f"cannot write {Path(path)}: expected a name that ends in {', '.join(FORMATS)}."
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
    precision: float = 0.95,
    baselines: Mapping[str, Any] | None = None,
    other: Any = None,
    names: tuple[str, str] = ("first model", "second model"),
    language: str | Sequence[str] | None = None,
    client: Any = None,
) -> Report:
    """Evaluate a fitted model on rows that it was not trained on.

    Parameters
    ----------
    model : fitted classifier
        A classifier of palmette, an estimator that wraps one, or a flat classifier of scikit-learn,
        whose hierarchy is a star. Confidence, calibration and coverage need probabilities.
    X : array, sparse matrix, table or texts of n_samples rows
        Rows in the form that the model accepts.
    y : labels of n_samples rows, optional
        True labels in any form that `NodeLabels.encode` accepts. Rows with labels that the model
        has never seen count as wrong. A table model reads them from its target column.
    sample_names : sequence of length n_samples, optional
        Names of the rows in examples; by default the index of a table, or row numbers.
    sample_texts : sequence of length n_samples, optional
        Texts of the rows in examples, for rows that are not readable in X, such as word counts.
    n_bootstrap : int
        Number of bootstrap resamples for the intervals of the headline scores; 0 for none.
        Shares of rows, such as accuracy, have Wilson's interval.
    random_state : int
        Seed of the resamples.
    title : str, optional
        Title of the report; by default the class of the model and the number of rows.
    precision : float
        Wanted share of correct answers among those that are accepted automatically.
    baselines : dict of str to fitted classifiers, optional
        Simpler models that are measured on the same rows, by title.
    other : fitted classifier, optional
        A second model for the same rows: the report then compares it with the first one.
    names : pair of str
        Names of the two models.
    language : str or sequence of str, optional
        Language of the labels of classes, if the hierarchy has labels, as that of a SKOS file:
        "fi", or several in the order of preference.
    client : distributed.Client or str, optional
        Dask cluster, or the address of its scheduler, whose workers predict the rows, 20,000 or
        fewer at a time. The report is the same for any number of workers, and without them.

    Returns
    -------
    Report
        ``facts`` is a dict of plain values; ``write`` saves it as HTML, JSON or Markdown.

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
    connection = nullcontext() if client is None else connected(client)
    with connection as cluster, of_a_file(model, "report"):
        facts = summarize(
            model,
            X,
            y,
            sample_names=sample_names,
            sample_texts=sample_texts,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
            title=title,
            precision=precision,
            baselines=baselines,
            other=other,
            names=names,
            language=language,
            client=cluster,
        )
    return Report(facts)
