"""The methods ranked over data sets: Friedman's test, and Bonferroni-Dunn's against one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palmette.metrics import compare_over_datasets
from papers.hirr_fs.methods import FIVE

__all__ = ["ALPHA", "rank_five"]

ALPHA = 0.1  # as in the paper


def rank_five(
    scores: Mapping[str, Sequence[float | None]], control: str, *, higher_is_better: bool
) -> dict[str, Any] | None:
    """Rank the five selectors.

    Parameters
    ----------
    scores : mapping of str to five scores
        By data set, in the order of `FIVE`; None is worse than all others.
    control : str
        The method with which the others are compared.
    higher_is_better : bool

    Returns
    -------
    dict or None
        ``control``, ``n_datasets``, ``average_ranks`` by method, ``statistic`` (the F of Iman and
        Davenport), ``pvalue``, ``critical_difference``, ``alpha`` and ``alike``: methods that do
        not differ from `control`. None with fewer than two sets.

    Examples
    --------
    >>> scores = {"a": [1, 2, 3, 4, 5], "b": [2, 1, 3, 4, 5], "c": [1, 2, 3, 4, None]}
    >>> found = rank_five(scores, "Hier-FS", higher_is_better=False)
    >>> round(found["critical_difference"], 3), found["average_ranks"]["Hier-FS"]
    (2.894, 4.0)
    """
    if len(scores) < 2:
        return None
    told = [x for row in scores.values() for x in row if x is not None]
    worst = min(told) - 1.0 if higher_is_better else max(told) + 1.0
    table = [[worst if x is None else float(x) for x in row] for row in scores.values()]
    found = compare_over_datasets(
        table,
        methods=FIVE,
        posthoc="bonferroni-dunn",
        control=control,
        higher_is_better=higher_is_better,
        alpha=ALPHA,
    )
    ranks = dict(zip(FIVE, found.average_ranks.tolist(), strict=True))
    distance = float(found.critical_difference)
    return {
        "control": control,
        "n_datasets": len(scores),
        "average_ranks": ranks,
        "statistic": float(found.iman_davenport_statistic),
        "pvalue": float(found.iman_davenport_pvalue),
        "critical_difference": distance,
        "alpha": ALPHA,
        "alike": [name for name in FIVE if abs(ranks[name] - ranks[control]) < distance],
    }
