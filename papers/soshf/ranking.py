"""Rank methods over data sets: Friedman's test, mean ranks, Wilcoxon's signed ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from palmette.exceptions import PalmetteError
from palmette.metrics import compare_over_datasets
from papers.soshf.outcome import Outcome

__all__ = ["ALPHA", "Ranking", "rank_methods", "rank_scores", "signed_rank_pvalue"]

ALPHA = 0.05  # as in the paper


@dataclass(frozen=True)
class Ranking:
    """Methods ranked over data sets, all compared with one of them.

    Parameters
    ----------
    control : str
    n_datasets : int
    mean_ranks : dict of str to float
        By method, best first.
    friedman_p : float
    distance : float
        Difference of mean ranks that is significant, by Bonferroni and Dunn.
    by_ranks, by_wilcoxon : dict of str to float
        p-values against the control, corrected for the number of comparisons.
    """

    control: str
    n_datasets: int
    mean_ranks: dict[str, float]
    friedman_p: float
    distance: float
    by_ranks: dict[str, float]
    by_wilcoxon: dict[str, float]

    def is_worse(self, method: str, pvalues: Mapping[str, float]) -> bool:
        """Whether the control is significantly better than a method."""
        behind = self.mean_ranks[method] > self.mean_ranks[self.control]
        return behind and pvalues[method] < ALPHA


def rank_methods(
    outcomes: Sequence[Outcome], methods: Sequence[str], value: str, control: str
) -> Ranking | None:
    """Rank methods by a score.

    Parameters
    ----------
    outcomes : sequence of Outcome
    methods : sequence of str
        If some have no score on some set, those methods and sets are left out that leave most
        scores. Scores are means over the splits that all methods have.
    value : str
        Such as "auc".
    control : str

    Returns
    -------
    Ranking or None
        None where there are fewer than two sets or three methods, or no control.
    """
    found = {o.name: {key: a.by_split(value) for key, a in o.answers.items()} for o in outcomes}
    scored = {name: {k: by for k, by in table.items() if by} for name, table in found.items()}
    names, there = _most_scores(scored, methods)
    scores = {name: _on_common([scored[name][key] for key in there]) for name in names}
    return rank_scores(scores, there, control)


def _most_scores(
    scored: Mapping[str, Mapping[str, Any]], methods: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Choose at least two sets and the methods that all of them have: as many scores as possible.

    Examples
    --------
    >>> _most_scores({"x": {"a": 1, "b": 2}, "y": {"a": 3}, "z": {"a": 4, "b": 5}}, ["a", "b"])
    (['x', 'z'], ['a', 'b'])
    """
    n_known = {name: sum(key in table for key in methods) for name, table in scored.items()}
    by_number = sorted((name for name in scored if n_known[name]), key=lambda name: -n_known[name])
    best: tuple[list[str], list[str]] = [], []
    for count in range(2, len(by_number) + 1):
        chosen = [name for name in scored if name in by_number[:count]]
        there = [key for key in methods if all(key in scored[name] for name in chosen)]
        if len(chosen) * len(there) > len(best[0]) * len(best[1]):
            best = chosen, there
    return best


def _on_common(scores: Sequence[Mapping[int, float]]) -> list[float]:
    """Return the mean scores of methods over the splits that all of them have, or else over all."""
    if not scores:
        return []
    common = set.intersection(*(set(by_split) for by_split in scores))
    return [
        float(np.mean([one for number, one in by_split.items() if not common or number in common]))
        for by_split in scores
    ]


def rank_scores(
    scores: Mapping[str, Sequence[float]], methods: Sequence[str], control: str
) -> Ranking | None:
    """Rank methods by their scores on data sets.

    Parameters
    ----------
    scores : mapping of str to sequences of floats
        By data set, in the order of `methods`.
    methods : sequence of str
    control : str

    Returns
    -------
    Ranking or None

    Examples
    --------
    >>> scores = {"x": [0.9, 0.8, 0.7], "y": [0.8, 0.7, 0.6], "z": [0.7, 0.8, 0.5]}
    >>> found = rank_scores(scores, ["a", "b", "c"], "a")
    >>> {key: round(rank, 2) for key, rank in found.mean_ranks.items()}
    {'a': 1.33, 'b': 1.67, 'c': 3.0}
    """
    if len(scores) < 2 or len(methods) < 3 or control not in methods:
        return None
    return _ranked(tuple(map(tuple, scores.values())), tuple(methods), control)


@cache  # tables, claims and figures ask for the same rankings
def _ranked(
    table: tuple[tuple[float, ...], ...], methods: tuple[str, ...], control: str
) -> Ranking | None:
    try:
        found = compare_over_datasets(
            table, methods=methods, posthoc="bonferroni-dunn", control=control, alpha=ALPHA
        )
    except PalmetteError:  # all scores are equal
        return None
    place = methods.index(control)
    against, scores, n_tests = found.pvalues[place], np.asarray(table), len(methods) - 1
    return Ranking(
        control,
        len(table),
        {methods[i]: float(found.average_ranks[i]) for i in found.order},
        float(found.friedman_pvalue),
        float(found.critical_difference),
        {methods[i]: float(against[i]) for i in found.order},
        {
            methods[i]: min(1.0, signed_rank_pvalue(scores[:, i] - scores[:, place]) * n_tests)
            for i in found.order
        },
    )


def signed_rank_pvalue(differences: Sequence[float]) -> float:
    """Return the exact two-sided p-value of Wilcoxon's signed-rank test.

    Equal sizes share the mean of their ranks, and those of zeros are split evenly between both
    sides (Demsar 2006): with few data sets and many ties no other form of the test is exact.

    Parameters
    ----------
    differences : sequence of float

    Returns
    -------
    float

    Examples
    --------
    >>> signed_rank_pvalue([0.1, 0.2, 0.3, 0.4, 0.5]), signed_rank_pvalue([0.1, -0.1])
    (0.0625, 1.0)
    """
    from scipy.stats import rankdata

    values = np.round(np.asarray(differences, dtype=np.float64), 12)
    doubled = np.rint(2 * rankdata(np.abs(values))).astype(np.int64)  # means may be halves
    moved, positive = doubled[values != 0], values[values != 0] > 0
    ways = np.ones(1)  # of the signs that give every sum of positive ranks
    for rank in moved.tolist():
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    observed = int(moved[positive].sum())
    tail = min(ways[: observed + 1].sum(), ways[observed:].sum()) / ways.sum()
    return float(min(1.0, 2 * tail))
