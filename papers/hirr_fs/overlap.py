"""Sections 3.2 and 3.3: do parents and children share features, and siblings not?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from palmette.compare import Problem, fingerprint
from papers.cells import Cells
from papers.hirr_fs.couplings import MAX_SWEEPS, divided
from papers.hirr_fs.methods import FAMILY_ACCURACY, numbers_of
from papers.result import Cell, Claim, Table

__all__ = ["OVERLAP_SETS", "Overlap", "find_overlap", "judge_overlaps", "overlap_table"]

OVERLAP_SETS = ("protein_dd", "bridges")
PAIRS = ((0.0, 0.0), (0.1, 0.0), (1.0, 0.0), (0.0, 0.1), (0.0, 1.0), (0.1, 0.1), (1.0, 1.0))


@dataclass(frozen=True)
class Overlap:
    """Shares of selected features that two nodes have in common, by strengths.

    Parameters
    ----------
    name : str
    k : int
        Features of a node.
    family : list of float
        Mean over pairs of parent and child, in the order of `PAIRS`.
    siblings : list of float or None
        Mean over pairs of siblings; None where there are none that have features.
    """

    name: str
    k: int
    family: list[float]
    siblings: list[float] | None


def measure_overlap(problem: Problem, k: int) -> dict[str, Any]:
    """Select features with all strengths, and count those in common, as plain values."""
    from palmette.feature_selection import HierarchicalFeatureSelector
    from palmette.feature_selection._hirr import HirrScore

    X, y, _, _ = divided(problem)
    family, siblings = [], []
    for parent, sibling in PAIRS:
        score = HirrScore(parent=parent, sibling=sibling, tol=FAMILY_ACCURACY, max_iter=MAX_SWEEPS)
        selector = HierarchicalFeatureSelector(
            score, hierarchy=problem.hierarchy, n_features_to_select=k
        ).fit(X, y)
        tied, apart = _shares(selector)
        family.append(tied)
        siblings.append(apart)
    return {"family": family, "siblings": None if None in siblings else siblings}


def _shares(selector: Any) -> tuple[float | None, float | None]:
    """Return the mean shares in common of parent and child, and of siblings."""
    tree = selector.hierarchy_
    supports = sparse.csr_array(selector.node_supports_)
    nodes = np.flatnonzero(np.diff(supports.indptr)).tolist()
    chosen = {node: set(supports[[node]].indices.tolist()) for node in nodes}
    above = {node: int(tree.parents[node]) for node in nodes}

    def mean(pairs: list[tuple[int, int]]) -> float | None:
        shares = [
            len(chosen[a] & chosen[b]) / max(len(chosen[a]), len(chosen[b]), 1) for a, b in pairs
        ]
        return float(np.mean(shares)) if shares else None

    family = [(above[node], node) for node in nodes if above[node] in chosen]
    siblings = [(a, b) for a, b in combinations(nodes, 2) if above[a] == above[b]]
    return mean(family), mean(siblings)


def find_overlap(problem: Problem, cells: Cells) -> Overlap:
    """Select and count, unless the results are there already.

    Parameters
    ----------
    problem : Problem
    cells : Cells

    Returns
    -------
    Overlap
    """
    k = numbers_of(problem).k
    cell = {"dataset": problem.name, "model": "couplings: overlap", "data": fingerprint(problem)}
    found = cells.results(
        {**cell, "k": k, "pairs": [list(pair) for pair in PAIRS], "max_iter": MAX_SWEEPS},
        partial(measure_overlap, problem, k),
    )
    return Overlap(problem.name, k, found["family"], found["siblings"])


def overlap_table(found: Sequence[Overlap]) -> Table:
    """Return the shares, by strengths."""
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        for place, (parent, sibling) in enumerate(PAIRS):
            name = f"{each.name}, {parent:g} and {sibling:g}"
            apart = None if each.siblings is None else f"{each.siblings[place]:.3f}"
            rows.append((name, each.k, f"{each.family[place]:.3f}", apart))
    columns = ("data set, strengths", "k", "parent and child", "siblings")
    note = (
        "Mean share of the k features of a node that another has, too; strengths of parents and of "
        "siblings relative to the data; all training rows."
    )
    return Table("Sections 3.2 and 3.3. Features in common", columns, rows, [note])


def judge_overlaps(found: Sequence[Overlap]) -> Iterator[Claim]:
    """Judge whether couplings do to features what they are for.

    Yields
    ------
    Claim
    """
    none, tied, apart = (PAIRS.index(pair) for pair in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)))
    for each in found:
        yield _claim(
            f"Section 3.2, {each.name}",
            f"parent and child share {each.family[none]:.3f} of {each.k} features without "
            f"couplings, {each.family[tied]:.3f} with a strength of {PAIRS[tied][0]:g}",
            "couplings make features of parent and child more alike",
            each.family[tied] > each.family[none],
        )
        if each.siblings is None:
            continue
        yield _claim(
            f"Section 3.3, {each.name}",
            f"siblings share {each.siblings[none]:.3f} of {each.k} features without couplings, "
            f"{each.siblings[apart]:.3f} with a strength of {PAIRS[apart][1]:g}",
            "couplings make features of siblings differ",
            each.siblings[apart] < each.siblings[none],
        )
        yield _claim(
            f"Sections 3.2 and 3.3, {each.name}",
            f"with both strengths {PAIRS[-1][0]:g}, parent and child share {each.family[-1]:.3f} "
            f"of {each.k} features, siblings {each.siblings[-1]:.3f}",
            "parents and children are more alike than siblings",
            each.family[-1] > each.siblings[-1],
        )


def _claim(where: str, words: str, statement: str, holds: bool) -> Claim:
    verdict = "" if holds else "it does not hold that "
    return Claim(where, f"{where}: {words}; {verdict}{statement}.", holds)
