"""What a comparison found: tidy rows, their means, tests over data sets, and files of them."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare._markdown import to_markdown
from palmette.compare._ranking import rank_models
from palmette.compare._scores import SCORES
from palmette.compare._split_tests import compare_over_splits
from palmette.core.files import atomic_write
from palmette.exceptions import PalmetteError

__all__ = ["COSTS", "Comparison", "check_output_name"]

COSTS = ("fit_cpu_s", "predict_cpu_s", "peak_mib")
_FORMATS = (".json", ".md", ".csv")


@dataclass
class Comparison:
    """Results of a comparison.

    Attributes
    ----------
    rows : list of dict
        Tidy: one dict for each data set, split and model, with ``dataset``, ``split``, ``seed``,
        ``test_size``, ``model``, every score, ``fit_cpu_s``, ``predict_cpu_s`` and ``peak_mib``.
    scores : tuple of str
        The first one ranks.
    models, datasets : list of str
    facts : dict
        The machine, the versions and the number of jobs that the figures belong to.
    estimators : dict of str to dict of str to str
        By data set and model, the pipeline that was fitted, written out.
    notes : list of dict
        What was worth a warning: ``dataset``, ``split``, ``model`` and ``note``.
    test_options : dict
        How models are compared over data sets: ``posthoc``, ``control``, ``alpha``; see
        `palmette.metrics.compare_over_datasets`.
    """

    rows: list[dict[str, Any]]
    scores: tuple[str, ...]
    models: list[str]
    datasets: list[str]
    facts: dict[str, Any] = field(default_factory=dict)
    estimators: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: list[dict[str, str]] = field(default_factory=list)
    test_options: dict[str, Any] = field(default_factory=dict)

    def means(self, dataset: str) -> list[dict[str, Any]]:
        """Mean and standard deviation of every column over the splits of a data set, by model.

        Returns
        -------
        list of dict
            ``model``, ``n_splits``, and for every column its mean, and its deviation as
            ``<column>_sd`` where there are two splits at least.
        """
        table = []
        for model in self.models:
            rows = [r for r in self.rows if r["dataset"] == dataset and r["model"] == model]
            entry: dict[str, Any] = {"model": model, "n_splits": len(rows)}
            for column in (*self.scores, *COSTS):
                values = [row[column] for row in rows if row[column] is not None]
                entry[column] = float(np.mean(values)) if values else None
                if len(values) > 1:
                    entry[f"{column}_sd"] = float(np.std(values, ddof=1))
            table.append(entry)
        return table

    def matrix(self, score: str) -> NDArray[np.float64]:
        """Mean scores of shape (n_datasets, n_models)."""
        return np.array(
            [[entry[score] for entry in self.means(name)] for name in self.datasets], dtype=float
        )

    def significance(self, score: str | None = None, **options: Any) -> Any:
        """Test over data sets whether models differ, by the first score unless another is named.

        Parameters
        ----------
        score : str, optional
        **options
            For `palmette.metrics.compare_over_datasets`, in the place of `test_options`.

        Returns
        -------
        DatasetComparison
        """
        from palmette.metrics import compare_over_datasets

        score = self.scores[0] if score is None else score
        return compare_over_datasets(
            self.matrix(score),
            methods=self.models,
            higher_is_better=SCORES[score].greater_is_better,
            **{**self.test_options, **options},
        )

    def ranking(self) -> dict[str, Any] | None:
        """Average ranks over data sets and the tests on them, as plain facts; see `rank_models`."""
        if len(self.datasets) < 2 or len(self.models) < 2:
            return None
        return rank_models(self, self.scores[0])

    def split_test(self, dataset: str) -> dict[str, Any] | None:
        """Models against the best over the random splits of a data set; see `split_tests`."""
        alpha = self.test_options.get("alpha", 0.05)
        return compare_over_splits(self, dataset, self.scores[0], alpha)

    # ------------------------------------------------------------------ out

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, None for what is no number."""
        found = {
            "facts": self.facts,
            "scores": list(self.scores),
            "models": self.models,
            "datasets": self.datasets,
            "estimators": self.estimators,
            "rows": self.rows,
            "means": {name: self.means(name) for name in self.datasets},
            "split_tests": {name: self.split_test(name) for name in self.datasets},
            "ranking": self.ranking(),
            "notes": self.notes,
        }
        return {key: _plain(value) for key, value in found.items()}

    def to_pandas(self) -> Any:
        """Return the tidy rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def to_csv(self) -> str:
        """Return the tidy rows as CSV."""
        stream = io.StringIO()
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return stream.getvalue()

    def to_markdown(self) -> str:
        """Return a Markdown table a data set, the best of every score in bold, and the ranking."""
        return to_markdown(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write JSON (.json), Markdown (.md) or the tidy rows (.csv), by suffix."""
        suffix = check_output_name(path)
        if suffix == ".json":
            text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        else:
            text = self.to_markdown() if suffix == ".md" else self.to_csv()
        with atomic_write(path) as stream:
            stream.write(text)


def check_output_name(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file that `Comparison.write` can write; an error for any other."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in _FORMATS:
        raise PalmetteError(
            f"cannot write {os.fspath(path)!r}: expected a name in {', '.join(_FORMATS)}."
        )
    return suffix


def _plain(value: Any) -> Any:
    """Put None for what JSON has no word for."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
