"""The class tree as columns: a value for every node, as short as they can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.reporting.cell_confidence import CellConfidence
from palmette.reporting.evaluation import Evaluation
from palmette.reporting.path_confidence import PathConfidence, ancestors_by_level
from palmette.reporting.plain import cut, rounded

__all__ = ["node_facts"]

FloatArray = NDArray[np.float64]
_LONGEST_NAME = 200


def node_facts(
    evaluation: Evaluation, sure: PathConfidence | CellConfidence | None
) -> dict[str, list[Any]]:
    """List all nodes, the root first, parents before their children.

    Parameters
    ----------
    evaluation : Evaluation
    sure : PathConfidence or CellConfidence, optional

    Returns
    -------
    dict of columns, each of length n_nodes
        ``name``, ``parent`` (the one it is shown under), ``support`` (rows that have the node),
        ``predicted`` (rows that are given it), ``correct`` (both), ``precision``, ``recall``,
        ``f1``, ``confidence`` (mean probability where it is predicted). A DAG also has
        ``more_parents``, a list for each node; ``unseen`` are the nodes that the model's hierarchy
        does not have.
    """
    hierarchy, counts = evaluation.hierarchy, evaluation.counts
    support, predicted = counts.support, counts.tp + counts.fp
    facts: dict[str, list[Any]] = {
        "name": [cut(str(name), _LONGEST_NAME) for name in hierarchy.names.tolist()],
        "parent": evaluation.parents.tolist(),
        "support": support.astype(int).tolist(),
        "predicted": predicted.astype(int).tolist(),
        "correct": counts.tp.astype(int).tolist(),
        "precision": rounded(_quotient(counts.tp, predicted)),
        "recall": rounded(_quotient(counts.tp, support)),
        "f1": rounded(_quotient(2 * counts.tp, support + predicted)),
        "confidence": rounded(_quotient(_confidence_sums(evaluation, sure), predicted)),
        "unseen": np.flatnonzero(~evaluation.is_known).tolist(),
    }
    if not hierarchy.is_tree:
        facts["more_parents"] = [
            np.setdiff1d(hierarchy.parents_of(node), shown).tolist()
            for node, shown in enumerate(evaluation.parents.tolist())
        ]
    return facts


def _confidence_sums(
    evaluation: Evaluation, sure: PathConfidence | CellConfidence | None
) -> FloatArray:
    """Probabilities of each node summed over the rows that it is predicted for."""
    n_nodes = evaluation.hierarchy.n_nodes
    if sure is None:
        return np.full(n_nodes, np.nan)
    if isinstance(sure, CellConfidence):
        return sure.node_sums
    on_path = ancestors_by_level(evaluation.hierarchy)[evaluation.pair.nodes[1]]
    there = on_path >= 0
    sums = np.asarray(
        np.bincount(on_path[there], sure.on_path[there], minlength=n_nodes), dtype=np.float64
    )
    sums[0] = evaluation.n_rows  # the root is certain
    return sums


def _quotient(top: FloatArray, bottom: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return quotient
