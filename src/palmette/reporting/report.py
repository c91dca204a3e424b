"""`palmette.report`: what a fitted model does on rows that it has not seen."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from palmette.core.files import atomic_write
from palmette.exceptions import PalmetteError
from palmette.reporting.html import to_html, to_notebook
from palmette.reporting.json_text import to_json
from palmette.reporting.markdown import to_markdown

__all__ = ["FORMATS", "Report", "report"]

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
    from palmette.reporting.summarize import summarize

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
