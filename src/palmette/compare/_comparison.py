"""The results of a comparison: tidy rows, means, tests of significance, and files of them."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._files import atomic_write
from palmette._text import excel_safe_csv, visible
from palmette.compare._scores import SCORES, Score
from palmette.exceptions import PalmetteError
from palmette.metrics._comparison import adjusted, resampled_ttest

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
        By data set and model, the description of the fitted pipeline.
    notes : list of dict
        Warnings: ``dataset``, ``split``, ``model`` and ``note``.
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
        """Return mean and standard deviation over the splits of a data set, by model.

        Returns
        -------
        list of dict
            ``model``, ``n_splits``, and for every column its mean, and its deviation as
            ``<column>_sd`` if there are at least two splits.
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
        """Return mean scores of shape (n_datasets, n_models)."""
        return np.array(
            [[entry[score] for entry in self.means(name)] for name in self.datasets], dtype=float
        )

    def significance(self, score: str | None = None, **options: Any) -> Any:
        """Test over data sets whether models differ, by the first score unless another is named.

        Parameters
        ----------
        score : str, optional
        **options
            For `palmette.metrics.compare_over_datasets`, in place of `test_options`.

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
        """Return average ranks over data sets and tests on them; see `rank_models`."""
        if len(self.datasets) < 2 or len(self.models) < 2:
            return None
        return rank_models(self, self.scores[0])

    def split_test(self, dataset: str) -> dict[str, Any] | None:
        """Test the models against the best one over the random splits of a data set."""
        alpha = self.test_options.get("alpha", 0.05)
        return compare_over_splits(self, dataset, self.scores[0], alpha)

    # ------------------------------------------------------------------ output

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with None for NaN and infinity."""
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
        """Return one Markdown table per data set, best scores in bold, and the ranking."""
        return to_markdown(self)

    def write(self, path: str | os.PathLike[str], *, excel_safe: bool = False) -> None:
        """Write JSON (.json), Markdown (.md) or the tidy rows (.csv), by suffix.

        Parameters
        ----------
        path : path-like
        excel_safe : bool
            Whether cells of CSV that look like formulas begin with an apostrophe.
        """
        suffix = check_output_name(path)
        if suffix == ".json":
            text = visible(json.dumps(self.to_dict(), indent=1, ensure_ascii=False)) + "\n"
        elif suffix == ".md":
            text = visible(self.to_markdown())
        else:
            text = excel_safe_csv(self.to_csv()) if excel_safe else self.to_csv()
        with atomic_write(path) as stream:
            stream.write(text)


def check_output_name(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file name for `Comparison.write`, or raise an error."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in _FORMATS:
        raise PalmetteError(
            f"cannot write {os.fspath(path)!r}: expected a name in {', '.join(_FORMATS)}."
        )
    return suffix


def _plain(value: Any) -> Any:
    """Replace NaN and infinity, which JSON lacks, by None."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# ---------------------------------------------------------------------- tests over splits

_MIN_SPLITS = 3  # with two the test has no power


def compare_over_splits(
    comparison: Comparison, dataset: str, score: str, alpha: float = 0.05
) -> dict[str, Any] | None:
    """Test which models are worse than the best one of a data set.

    Returns
    -------
    dict or None
        ``score``, ``n_splits``, ``alpha``, ``best`` and ``pvalues`` of the others, by model,
        corrected by Holm's procedure. None if there are fewer than three random splits.
    """
    rows = [row for row in comparison.rows if row["dataset"] == dataset]
    splits = list(dict.fromkeys(row["split"] for row in rows))
    shares = [row["test_size"] for row in rows if row.get("test_size") is not None]
    if len(splits) < _MIN_SPLITS or len(comparison.models) < 2 or len(shares) < len(rows):
        return None
    values = {(row["split"], row["model"]): row[score] for row in rows}
    table = np.array(
        [[values[split, model] for model in comparison.models] for split in splits], dtype=float
    )
    if not np.isfinite(table).all():
        return None
    sign = 1.0 if SCORES[score].greater_is_better else -1.0
    best = int((sign * table.mean(axis=0)).argmax())
    others = [i for i in range(len(comparison.models)) if i != best]
    raw = [resampled_ttest(table[:, best] - table[:, i], max(shares))[1] for i in others]
    corrected = adjusted(np.array(raw))
    return {
        "score": score,
        "n_splits": len(splits),
        "alpha": alpha,
        "best": comparison.models[best],
        "pvalues": {comparison.models[i]: float(p) for i, p in zip(others, corrected, strict=True)},
    }


def split_sentence(facts: dict[str, Any]) -> str:
    """Describe the result of the test over splits.

    Examples
    --------
    >>> split_sentence({"score": "h_loss", "n_splits": 5, "alpha": 0.05, "best": "a",
    ...                 "pvalues": {"b": 0.3, "c": 0.01}})
    'Corrected resampled t-test over 5 splits at 0.05: c is worse than a; b is not significantly
    different from it.'
    >>> split_sentence({"score": "h_loss", "n_splits": 5, "alpha": 0.05, "best": "a",
    ...                 "pvalues": {"b": 0.3}})
    'Corrected resampled t-test over 5 splits at 0.05: b is not significantly different from a.'
    """
    worse = [name for name, p in facts["pvalues"].items() if p < facts["alpha"]]
    alike = [name for name in facts["pvalues"] if name not in worse]
    parts = []
    if worse:
        parts.append(f"{_and(worse)} worse than {facts['best']}")
    if alike:
        it = "it" if worse else facts["best"]
        parts.append(f"{_and(alike)} not significantly different from {it}")
    return (
        f"Corrected resampled t-test over {facts['n_splits']} splits at {facts['alpha']:g}: "
        f"{'; '.join(parts)}."
    )


def _and(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{', '.join(names[:-1])} and {names[-1]} are"


# ---------------------------------------------------------------------- ranks over data sets


def rank_models(comparison: Comparison, score: str) -> dict[str, Any]:
    """Rank the models over data sets and test the differences.

    Returns
    -------
    dict
        ``score``, ``n_datasets``; ``average_ranks``, by model from the best to the worst;
        ``friedman_pvalue``, ``posthoc``, ``control``, ``alpha``, ``critical_difference``;
        ``groups``, models that do not differ; ``warnings``. If no test is possible: ``reason`` in
        place of all but the first two.
    """
    facts: dict[str, Any] = {"score": score, "n_datasets": len(comparison.datasets)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = comparison.significance(score)
        except PalmetteError as error:
            return {**facts, "reason": str(error)}
    facts["average_ranks"] = {
        str(result.methods[place]): float(result.average_ranks[place]) for place in result.order
    }
    for name in ("friedman_pvalue", "posthoc", "alpha", "critical_difference"):
        facts[name] = getattr(result, name)
    facts["control"] = result.control
    facts["groups"] = [list(group) for group in result.groups]
    facts["warnings"] = [str(each.message) for each in caught]
    return facts


def ranking_sentences(facts: dict[str, Any]) -> list[str]:
    """Describe the results of the tests over data sets.

    Examples
    --------
    >>> facts = {"average_ranks": {"a": 1.0, "b": 2.0}, "friedman_pvalue": float("nan"),
    ...          "posthoc": "nemenyi", "alpha": 0.05, "critical_difference": 1.13, "groups": []}
    >>> ranking_sentences(facts)
    ['Nemenyi test at 0.05: all pairs differ (critical difference 1.13).']
    """
    if "reason" in facts:
        return [f"No test of significance: {facts['reason']}"]
    sentences = []
    if len(facts["average_ranks"]) > 2:  # Friedman's test needs at least three
        sentences.append(f"Friedman test: p = {facts['friedman_pvalue']:.3g}.")
    distance = facts["critical_difference"]
    against = f" against {facts['control']}" if facts.get("control") else ""
    words = "" if math.isnan(distance) else f" (critical difference {distance:.2f})"
    sentences.append(
        f"{facts['posthoc'].capitalize()} test{against} at {facts['alpha']:g}: {_found(facts)}"
        f"{words}."
    )
    return [*sentences, *facts.get("warnings", ())]


def _found(facts: dict[str, Any]) -> str:
    groups = facts["groups"]
    if not groups:
        return "all differ from it" if facts.get("control") else "all pairs differ"
    if len(groups[0]) == len(facts["average_ranks"]):
        return "no significant difference"
    return "no significant difference within " + "; ".join(f"({', '.join(g)})" for g in groups)


def ranking_title(facts: dict[str, Any]) -> str:
    """Return the title of the ranking."""
    return f"over {facts['n_datasets']} data sets, by {SCORES[facts['score']].title}"


# ---------------------------------------------------------------------- Markdown

_COST_TITLES = {"fit_cpu_s": "fit CPU s", "predict_cpu_s": "predict CPU s", "peak_mib": "peak MiB"}


def to_markdown(comparison: Comparison) -> str:
    """Return one table per data set, the ranking over data sets, and the machine."""
    parts = []
    for name in comparison.datasets:
        parts.append(f"### {name}\n\n{_table(comparison, name)}")
        tested = comparison.split_test(name)
        if tested is not None:
            parts.append(split_sentence(tested))
    ranking = comparison.ranking()
    if ranking is not None:
        parts.append(_ranking(ranking))
    if comparison.facts:
        facts = ", ".join(f"{name} {value}" for name, value in comparison.facts.items())
        parts.append(f"Measured with: {facts}.")
    return "\n\n".join(parts) + "\n"


def _table(comparison: Comparison, dataset: str) -> str:
    entries = comparison.means(dataset)
    titles = [SCORES[score].title for score in comparison.scores]
    lines = [_line("model", *titles, *_COST_TITLES.values()), "|---|" + "---:|" * (len(titles) + 3)]
    best = {s: best_value([e[s] for e in entries], SCORES[s]) for s in comparison.scores}
    for entry in entries:
        cells = []
        for score in comparison.scores:
            text = format_score(entry, score)
            cells.append(f"**{text}**" if is_best(entry[score], best[score]) else text)
        lines.append(_line(entry["model"], *cells, *(format_cost(entry[c]) for c in _COST_TITLES)))
    return "\n".join(lines)


def _ranking(facts: dict[str, Any]) -> str:
    lines = [f"### {ranking_title(facts)}", ""]
    if "average_ranks" in facts:
        lines += [_line("model", "average rank"), "|---|---:|"]
        lines += [_line(name, f"{rank:.2f}") for name, rank in facts["average_ranks"].items()]
        lines.append("")
    return "\n".join([*lines, " ".join(ranking_sentences(facts))])


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# ---------------------------------------------------------------------- numbers as text


def best_value(values: Sequence[float | None], score: Score) -> float | None:
    """Return the best of some values of a score."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return max(known) if score.greater_is_better else min(known)


def is_best(value: float | None, best: float | None) -> bool:
    """Return whether a value equals the best one to the digits shown."""
    return value is not None and best is not None and f"{value:.3f}" == f"{best:.3f}"


def format_score(entry: dict[str, Any], score: str, deviation: bool = True) -> str:
    """Return a mean as text, with its standard deviation if there is one.

    Examples
    --------
    >>> format_score({"h_loss": 0.25, "h_loss_sd": 0.0123}, "h_loss")
    '0.250±.012'
    """
    value, spread = entry[score], entry.get(f"{score}_sd")
    if value is None:
        return "–"
    if spread is None or not deviation:
        return f"{value:.3f}"
    return f"{value:.3f}±{f'{spread:.3f}'.removeprefix('0')}"


def format_cost(value: float | None) -> str:
    """Return seconds or MiB as text with about three digits.

    Examples
    --------
    >>> format_cost(1234.5), format_cost(12.34), format_cost(0.1234)
    ('1,234', '12.3', '0.12')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
