"""Trees as sets of groups, so that the order of children does not matter in comparisons."""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["clades", "groups_of", "hard_cases", "in_turn", "newick"]


def clades(learner):
    """Return the groups of two classes or more, by name."""
    found = (learner.classes_[group].tolist() for group in learner.tree_.groups)
    return {frozenset(group) for group in found if len(group) > 1}


def groups_of(parts):
    """Return the groups of a partition as a set, without their order."""
    return {frozenset(np.asarray(part).tolist()) for part in parts}


def newick(learner, node=0):
    """Return a tree as text, with the smaller name first: (1 (2 3))."""
    parents, groups = learner.tree_.parents, learner.tree_.groups
    children = [i for i, parent in enumerate(parents) if parent == node]
    if not children:
        return " ".join(map(str, learner.classes_[groups[node]].tolist()))
    inner = sorted(newick(learner, child) for child in children)
    return f"({' '.join(sorted(inner, key=lambda text: text.strip('(')))})"


def in_turn(number):
    """Return a form of rows: by turns dense and sparse, so that pairs of all else meet either."""
    return sparse.csr_array if number % 2 else np.asarray


def hard_cases():
    """Return unusual inputs, as (name, X, y)."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(7), 5)
    yield "two classes", rng.normal(size=(6, 2)), [0, 1, 0, 1, 1, 1]
    yield "one row a class", rng.normal(size=(9, 3)), np.arange(9)
    yield "identical classes", np.tile(rng.normal(size=(5, 3)), (7, 1)), y
    yield "constant features", np.full((35, 4), 0.1), y
    yield "one feature varies", np.column_stack([np.full(35, 1e9), y + rng.random(35)]), y
    yield "nothing but zeros", np.zeros((35, 4)), y
    yield "some zero rows", rng.normal(size=(35, 4)) * (y > 2)[:, None], y
    yield "more features than rows", rng.normal(size=(35, 200)), y
    yield "means that vanish", np.concatenate([a := rng.normal(size=(35, 3)), -a]), [*y, *y]
    yield "tiny values", rng.normal(size=(35, 3)) * 1e-150, y
    yield "far from the origin", rng.normal(size=(35, 3)) + 1e9, y
    yield "repeated features", np.repeat(rng.normal(size=(35, 2)), 4, axis=1), y
    yield "a class of most rows", rng.normal(size=(35, 3)), np.maximum(np.arange(35) - 28, 0)
