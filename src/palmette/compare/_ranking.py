"""Models ranked over data sets: facts, and sentences made of them."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from palmette.compare._scores import SCORES
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    from palmette.compare._comparison import Comparison

__all__ = ["rank_models", "ranking_sentences", "ranking_title"]


def rank_models(comparison: Comparison, score: str) -> dict[str, Any]:
    """Rank the models over data sets and test the differences.

    Parameters
    ----------
    comparison : Comparison
    score : str

    Returns
    -------
    dict
        ``score``, ``n_datasets``; ``average_ranks``, by model from the best to the worst;
        ``friedman_pvalue``, ``posthoc``, ``control``, ``alpha``, ``critical_difference``;
        ``groups``, models that do not differ; ``warnings``. Where there can be no test: ``reason``
        in place of all but the first two.
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
    """Say what tests found.

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
    if len(facts["average_ranks"]) > 2:  # Friedman's test is for three at least
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
    """Say what the ranks are of."""
    return f"over {facts['n_datasets']} data sets, by {SCORES[facts['score']].title}"
