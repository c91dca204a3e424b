"""Mean ranks of the methods over the data sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.multipath.methods import BLEND, EQUAL, MEMBERS, PUBLISHED, RIVALS
from papers.multipath.outcome import Outcome

__all__ = ["mean_ranks", "method_names"]


def method_names(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the names of all methods with a score, the members of the blend first."""
    first = [*MEMBERS, EQUAL, BLEND]
    others = [name for o in outcomes for name in o.scores if name not in first]
    found = {name for o in outcomes for name in o.scores}
    return [name for name in dict.fromkeys([*first, *others]) if name in found]


def mean_ranks(outcomes: Sequence[Outcome]) -> tuple[int, dict[str, float]]:
    """Rank C-HMCNN and all methods on the data sets where all of them have a score.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    n_sets : int
    ranks : dict of str to float
        Empty if there are fewer than two such sets.
    """
    names = method_names(outcomes)
    table = [
        [PUBLISHED[o.name][2], *(o.scores[name]["auprc"] for name in names)]
        for o in outcomes
        if o.name in PUBLISHED and all(name in o.scores for name in names)
    ]
    if len(table) < 2:
        return len(table), {}
    from scipy.stats import rankdata

    ranks = rankdata(-np.asarray(table), axis=1).mean(axis=0)
    return len(table), dict(zip([RIVALS[2], *names], map(float, ranks), strict=True))
