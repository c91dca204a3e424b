"""Models against the best one over random splits of one data set: facts, and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from palmette.compare._scores import SCORES
from palmette.metrics._comparison import adjusted, resampled_ttest

if TYPE_CHECKING:
    from palmette.compare._comparison import Comparison

__all__ = ["compare_over_splits", "split_sentence"]

_FEWEST = 3  # splits: with two the test can find nothing


def compare_over_splits(
    comparison: Comparison, dataset: str, score: str, alpha: float = 0.05
) -> dict[str, Any] | None:
    """Test which models are worse than the best one of a data set.

    Parameters
    ----------
    comparison : Comparison
    dataset, score : str
    alpha : float

    Returns
    -------
    dict or None
        ``score``, ``n_splits``, ``alpha``, ``best`` and ``pvalues`` of the others, by model,
        corrected by Holm's steps. None where there are fewer than three random splits.
    """
    rows = [row for row in comparison.rows if row["dataset"] == dataset]
    splits = list(dict.fromkeys(row["split"] for row in rows))
    shares = {row.get("test_size") for row in rows}
    if len(splits) < _FEWEST or len(comparison.models) < 2 or None in shares:
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
    """Say what the test found.

    Examples
    --------
    >>> split_sentence({"score": "h_loss", "n_splits": 5, "alpha": 0.05, "best": "a",
    ...                 "pvalues": {"b": 0.3, "c": 0.01}})
    'Corrected resampled t-test over 5 splits at 0.05: c is worse than a; b is not told from it.'
    """
    worse = [name for name, p in facts["pvalues"].items() if p < facts["alpha"]]
    alike = [name for name in facts["pvalues"] if name not in worse]
    parts = []
    if worse:
        parts.append(f"{_and(worse)} worse than {facts['best']}")
    if alike:
        it = "it" if worse else facts["best"]
        parts.append(f"{_and(alike)} not told from {it}")
    return (
        f"Corrected resampled t-test over {facts['n_splits']} splits at {facts['alpha']:g}: "
        f"{'; '.join(parts)}."
    )


def _and(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{', '.join(names[:-1])} and {names[-1]} are"
