"""Simple reference implementations of routing."""

from __future__ import annotations

import numpy as np

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.routing import OptionTable, Routes

__all__ = ["GivenScores", "all_paths", "diamond", "random_hierarchy", "table_of"]


def table_of(hierarchy):
    return OptionTable.of(hierarchy, hierarchy.leaves)


def diamond():
    """Return a DAG in which x and the group c have two parents each."""
    groups = {"r": "ab", "a": "xc", "b": "xcw", "c": "yz"}
    return Hierarchy.from_edges([(g, child) for g, below in groups.items() for child in below])


def random_hierarchy(rng, n_leaves, *, branching=3, dag=False):
    """Return a hierarchy of random groups, some of which share classes if `dag`."""
    edges, waiting = [], [("g0", np.arange(n_leaves))]
    n_groups = 1
    while waiting:
        name, members = waiting.pop()
        if len(members) == 1:
            edges.append((name, f"c{members[0]}"))
            continue
        order = rng.permutation(members)
        for part in np.array_split(order, min(branching, len(members))):
            if dag and rng.random() < 0.4:
                part = np.unique(np.append(part, rng.choice(members)))
            if len(part) == 1 or len(part) == len(members):
                edges += [(name, f"c{k}") for k in part]
            else:
                child, n_groups = f"g{n_groups}", n_groups + 1
                edges.append((name, child))
                waiting.append((child, part))
    return Hierarchy.from_edges(sorted(set(edges)))


class GivenScores(Routes):
    """Scores of every option for every row, as given."""

    def __init__(self, table, scores, *, are_log_proba=False):
        self.table, self.scores, self.are_log_proba = table, scores, are_log_proba
        self.n_asked = 0

    def score(self, X, rows, nodes, starts):
        assert (np.diff(nodes) >= 0).all()  # what kernels count on
        self.n_asked += len(rows)
        answer = np.empty(starts[-1])
        for p, (row, node) in enumerate(zip(rows, nodes, strict=True)):
            options = slice(self.table.first[node], self.table.first[node + 1])
            answer[starts[p] : starts[p + 1]] = self.scores[row, options]
        return answer


def all_paths(table, node=0):
    """Return every path below a node, as (class, options of the path)."""
    for option in range(table.first[node], table.first[node + 1]):
        if table.ends[option] >= 0:
            yield int(table.ends[option]), [option]
        else:
            for label, rest in all_paths(table, table.targets[option]):
                yield label, [option, *rest]
