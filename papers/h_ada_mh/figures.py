"""The facts of Figures 4 to 7: numbers and names, to be drawn or read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.h_ada_mh.outcome import Outcome

__all__ = ["figure_facts"]

Facts = dict[str, Any]

_SPACES = {"collapsed": "collapsed space", "tree": "tree"}
# how answers are called in pictures, where there is little room
_NAMES = {
    "h-ada-first": "H-Ada.MH, first positive",
    "h-ada-best": "H-Ada.MH, best class",
    "local-shallow": "Local, forest of depth 2",
    "local-forest": "Local, forest",
    "global-bayes": "Global, naive Bayes",
    "global-forest": "Global, forest",
    "literal-sign": "H-Ada.MH",
    "mh-sign": "AdaBoost.MH",
    "search-path": "mask in the search",
    "local-level": "Local, forest",
    "global-flat": "Global, forest",
    "global-flat-bayes": "Global, naive Bayes",
    "HierarchicalAdaBoostClassifier": "HierarchicalAdaBoost",
    "HierarchicalBoostingClassifier": "HierarchicalBoosting",
}
_ON_THE_SAMPLE = (
    "global-flat",
    "local-level",
    "literal-sign",
    "mh-sign",
    "HierarchicalBoostingClassifier",
)
_SAMPLE_FROM = "imclef07a"


def figure_facts(outcomes: Sequence[Outcome]) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    dict
        ``figure-4`` to ``figure-6``: ``title`` and ``panels``; ``figure-7``: the sample, the part
        of the tree that is drawn, and the classes of the truth and of every answer.
    """
    figures = {
        "figure-4": _losses(outcomes),
        "figure-5": _by_answer(outcomes, "top_k", "Top-k accuracy, k being the depth"),
        "figure-6": _by_answer(outcomes, "levels", "Accuracy by level"),
    }
    sample = _sample(outcomes)
    return figures if sample is None else {**figures, "figure-7": sample}


def _losses(outcomes: Sequence[Outcome]) -> Facts:
    panels = [
        {
            "dataset": outcome.name,
            "curves": [{"name": name, **stages} for name, stages in outcome.stages.items()],
        }
        for outcome in outcomes
    ]
    return {"title": "Test error of the signs, by round", "panels": panels}


def _by_answer(outcomes: Sequence[Outcome], what: str, title: str) -> Facts:
    panels, names = [], _NAMES
    for space, words in _SPACES.items():
        for outcome in outcomes:
            keys = [key for key in outcome.keys(space) if key in _NAMES]
            if what == "top_k":  # that of a fit, however its scores are decoded
                keys = [key for key in keys if key != "h-ada-best"]
                names = {**_NAMES, "h-ada-first": "H-Ada.MH"}
            series = [{"name": names[key], "values": _values(outcome, key, what)} for key in keys]
            panels.append({"dataset": outcome.name, "space": words, "series": series})
    return {"title": title, "panels": panels}


def _values(outcome: Outcome, key: str, what: str) -> list[float]:
    return outcome.answers[key].top_k if what == "top_k" else outcome.level_accuracy[key]


# ---------------------------------------------------------------------- one sample


def _sample(outcomes: Sequence[Outcome]) -> Facts | None:
    """Return the row on which the methods differ most, and what each says of it."""
    by_name = {outcome.name: outcome for outcome in outcomes}
    outcome = by_name.get(_SAMPLE_FROM, outcomes[0] if outcomes else None)
    if outcome is None:
        return None
    keys = [key for key in _ON_THE_SAMPLE if key in outcome.answers]
    if not keys:
        return None
    predicted = np.stack([outcome.answers[key].predicted for key in keys])
    row = _most_disputed(predicted)
    truth = outcome.setting.tree.truth[row]
    said = {"the truth": truth, **{_NAMES[k]: predicted[i, row] for i, k in enumerate(keys)}}
    return {
        "title": f"Row {row} of the test part of {outcome.name}: none is more disputed",
        "dataset": outcome.name,
        "row": row,
        "nodes": _drawn_nodes(outcome, np.any(list(said.values()), axis=0)),
        "said": {name: (np.flatnonzero(flags) + 1).tolist() for name, flags in said.items()},
    }


def _most_disputed(predicted: NDArray[np.bool_]) -> int:
    """First of the rows for which the answers, (n_answers, n_test, n_classes), differ most."""
    packed = np.packbits(predicted, axis=2)
    counts = [len({part.tobytes() for part in packed[:, row]}) for row in range(packed.shape[1])]
    return int(np.argmax(counts))


def _drawn_nodes(outcome: Outcome, named: NDArray[np.bool_]) -> list[Facts]:
    """Nodes that somebody names, those above them, and the children of all of these."""
    hierarchy = outcome.setting.problem.hierarchy
    inner = np.zeros(hierarchy.n_nodes, dtype=bool)
    inner[0] = True
    inner[1:] = named @ hierarchy.closure[1:, 1:].toarray()
    drawn = inner | inner[np.maximum(hierarchy.parents, 0)]
    nodes = np.flatnonzero(drawn)
    shut = drawn & ~inner & ~hierarchy.is_leaf
    places = _places(nodes, hierarchy.parents)
    return [
        {
            "node": int(node),
            "name": str(hierarchy.names[node]),
            "parent": int(hierarchy.parents[node]),
            "depth": int(hierarchy.depth[node]),
            "x": places[int(node)],
            "has_more": bool(shut[node]),
        }
        for node in nodes
    ]


def _places(nodes: NDArray[np.int64], parents: NDArray[np.int32]) -> dict[int, float]:
    """Put nodes without children side by side, and the others over the middle of theirs."""
    children: dict[int, list[int]] = {}
    for node in nodes.tolist():
        children.setdefault(int(parents[node]), []).append(node)
    places: dict[int, float] = {}
    free = 0.0
    for node in nodes.tolist():  # in preorder, so that leaves come from left to right
        if node not in children:
            places[node] = free
            free += 1.0
    for node in nodes[::-1].tolist():
        if node in children:
            below = [places[child] for child in children[node]]
            places[node] = (below[0] + below[-1]) / 2
    return places
