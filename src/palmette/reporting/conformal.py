"""Conformal answers: how often they hold the truth, and how much they say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.labels import NodeLabels
from palmette.engine.adapters import parts_with_rows
from palmette.metrics._counts import row_overlap
from palmette.metrics._pairs import LabelPair
from palmette.reporting.bootstrap import Interval, bootstrap
from palmette.reporting.evaluation import Evaluation, places_of
from palmette.reporting.plain import plain_facts

__all__ = ["conformal_facts"]

_SIZES_APART = 8  # sizes of sets that are told one by one; larger ones by doubling


def conformal_facts(
    model: Any, X: Any, evaluation: Evaluation, *, n_bootstrap: int, seed: int
) -> dict[str, Any] | None:
    """Measure the coverage of conformal answers on the rows of the report.

    Parameters
    ----------
    model : fitted classifier
        One with `predict_set_nodes`, or that wraps such a one.
    X : rows
    evaluation : Evaluation
    n_bootstrap, seed : int
        For the intervals.

    Returns
    -------
    dict or None
        ``answers``: the smallest set and, with one path a row, the deepest node, each with
        ``target``, ``coverage`` and its interval, ``mean_size`` and ``mean_depth``; ``sizes`` of
        the sets.
    """
    for part, rows in parts_with_rows(model, X):
        if hasattr(part, "predict_set_nodes"):
            answers = _Answers(part, rows(), evaluation, n_bootstrap, seed)
            return plain_facts(answers.facts())
    return None


class _Answers:
    """The answers of one conformal classifier to all rows, beside the truth."""

    def __init__(
        self, part: Any, rows: Any, evaluation: Evaluation, n_bootstrap: int, seed: int
    ) -> None:
        self._part = part
        self._rows = rows
        self._evaluation = evaluation
        self._place = places_of(part.hierarchy_, evaluation)
        self._draws = {"n_resamples": n_bootstrap, "seed": seed}

    def facts(self) -> dict[str, Any]:
        sets = self._sets()
        sizes = np.diff(sets.indptr)
        told = [self._answer("smallest set", self._held_by(sets), mean_size=float(sizes.mean()))]
        if not self._evaluation.several:
            nodes = self._place[self._part.predict_node_numbers(self._rows)]
            depth = float(self._evaluation.hierarchy.depth[nodes].mean())
            told.append(self._answer("deepest node", self._is_above(nodes), mean_depth=depth))
        return {"answers": told, "sizes": _size_table(sizes)}

    def _sets(self) -> sparse.csr_array:
        """Nodes in the set of every row, on the hierarchy of the report."""
        found = sparse.csr_array(self._part.predict_set_nodes(self._rows))
        shape = (found.shape[0], self._evaluation.hierarchy.n_nodes)
        return sparse.csr_array((found.data, self._place[found.indices], found.indptr), shape=shape)

    def _held_by(self, sets: sparse.csr_array) -> NDArray[np.float64]:
        """Share of a row's truth that its set holds: all or nothing, unless labels are promised."""
        pair = self._evaluation.pair
        if not self._evaluation.several:
            rows = np.arange(sets.shape[0])
            return np.asarray(sets[rows, pair.nodes[0]], dtype=np.float64).ravel()
        true = sparse.csr_array(pair.true.closed[:, 1:])
        n_true = np.diff(true.indptr)
        n_held = np.asarray(true.multiply(sets[:, 1:]).sum(axis=1)).ravel()
        share: NDArray[np.float64] = np.divide(
            n_held, n_true, out=np.ones(len(n_true)), where=n_true > 0
        )
        return share if getattr(self._part, "control", "row") == "label" else np.floor(share)

    def _is_above(self, nodes: NDArray[Any]) -> NDArray[np.float64]:
        """Whether the truth is at a node or below it."""
        pair = self._evaluation.pair
        answers = NodeLabels.from_terminals(nodes, self._evaluation.hierarchy, pair.true.form)
        overlap = row_overlap(LabelPair(pair.true, answers, pair.weight))
        return np.asarray(overlap.both == overlap.pred, dtype=np.float64)

    def _answer(
        self,
        title: str,
        held: NDArray[np.float64],
        mean_size: float | None = None,
        mean_depth: float | None = None,
    ) -> dict[str, Any]:
        found = self._interval(held)
        return {
            "title": title,
            "target": float(self._part.coverage),
            "coverage": found.value,
            "low": found.low,
            "high": found.high,
            "mean_size": mean_size,
            "mean_depth": mean_depth,
        }

    def _interval(self, held: NDArray[np.float64]) -> Interval:
        values, sizes = np.unique(held, return_counts=True)
        [found] = bootstrap(
            lambda drawn: (drawn @ values / drawn.sum(axis=1))[:, None], sizes, **self._draws
        )
        return found


def _size_table(sizes: NDArray[Any]) -> list[dict[str, int]]:
    """Count sets by size, every set once."""
    table = []
    low, high = int(sizes.min(initial=0)), 0
    while low <= sizes.max(initial=-1):
        high = low if low < _SIZES_APART else 2 * low - 1
        rows = int(np.count_nonzero((sizes >= low) & (sizes <= high)))
        if rows:
            table.append({"low": low, "high": high, "rows": rows})
        low = high + 1
    return table
