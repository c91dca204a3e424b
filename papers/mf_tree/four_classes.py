"""Figure 3: the paper's example of tree MSE, and all trees over four classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import tree_mse, triplet_accuracy

__all__ = ["all_trees", "four_class_facts"]

Tree = Any  # a class, or a tuple of trees

ACTUAL = ((1, 2), (3, 4))
SWAPPED = ((1, 3), (2, 4))  # c2 and c3 change places: the paper's result 1
# c2 stands with c3 and c4, which is all that the text says of result 2: in the two ways there are
# to leave c3 as near to c4 as to c2, or nearer
_MISPLACED = ((1, (2, (3, 4))), (1, (2, 3, 4)))
TOLD_SWAPPED, TOLD_MISPLACED = 0.03125, 0.01383  # results 1 and 2 of the paper
_DIGITS = 5


def four_class_facts() -> dict[str, Any]:
    """Compare the trees of the example, and look for the paper's second value among all trees.

    Returns
    -------
    dict
        ``title``; ``actual``, the tree compared with; ``trees``: those of the figure, with ``mse``
        and ``triplets`` each; ``told``, the paper's two values; ``n_trees`` over four classes,
        ``n_pairs`` of them, and ``n_equal``, how many pairs have the paper's second value;
        ``nearest``, of all pairs' values the nearest to it, and ``nearest_to_actual``.
    """
    trees = [_hierarchy(tree) for tree in all_trees(4)]
    pairs = [tree_mse(*pair) for pair in combinations(trees, 2)]
    to_actual = [tree_mse(tree, _hierarchy(ACTUAL)) for tree in trees]
    return {
        "title": "Trees over four classes, and their MSE",
        "actual": write_tree(ACTUAL),
        "trees": [
            _judged(SWAPPED, "c2 and c3 change places", TOLD_SWAPPED),
            *(_judged(tree, "c2 misplaced", TOLD_MISPLACED) for tree in _MISPLACED),
        ],
        "told": [TOLD_SWAPPED, TOLD_MISPLACED],
        "n_trees": len(trees),
        "n_pairs": len(pairs),
        "n_equal": sum(round(value, _DIGITS) == TOLD_MISPLACED for value in pairs),
        "nearest": _nearest(pairs),
        "nearest_to_actual": _nearest(to_actual),
    }


def _nearest(values: list[float]) -> float:
    return min(values, key=lambda value: abs(value - TOLD_MISPLACED))


def all_trees(n_classes: int) -> Iterator[Tree]:
    """Yield all rooted trees over the classes 1 to `n_classes` without nodes of one child.

    Examples
    --------
    >>> [len(list(all_trees(n))) for n in (2, 3, 4)]
    [1, 4, 26]
    """
    yield from _trees(tuple(range(1, n_classes + 1)))


def _trees(classes: tuple[int, ...]) -> Iterator[Tree]:
    if len(classes) == 1:
        yield classes[0]
        return
    for groups in _divisions(classes):
        if len(groups) > 1:
            yield from _products(groups)


def _products(groups: list[tuple[int, ...]]) -> Iterator[Tree]:
    if not groups:
        yield ()
        return
    for first in _trees(groups[0]):
        for others in _products(groups[1:]):
            yield (first, *others)


def _divisions(classes: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """All ways to divide classes into groups."""
    if not classes:
        yield []
        return
    first, rest = classes[0], classes[1:]
    for size in range(len(rest) + 1):
        for mates in combinations(rest, size):
            others = tuple(one for one in rest if one not in mates)
            for groups in _divisions(others):
                yield [(first, *mates), *groups]


def _judged(tree: Tree, words: str, told: float) -> dict[str, Any]:
    found, actual = _hierarchy(tree), _hierarchy(ACTUAL)
    return {
        "tree": write_tree(tree),
        "words": words,
        "mse": tree_mse(found, actual),
        "triplets": triplet_accuracy(found, actual),
        "told": told,
    }


def _hierarchy(tree: Tree) -> Hierarchy:
    return Hierarchy.from_edges(list(_edges(tree, "root")))


def _edges(tree: Tree, name: str) -> Iterator[tuple[str, str]]:
    for part in tree:
        label = write_tree(part)
        yield name, label
        if isinstance(part, tuple):
            yield from _edges(part, label)


def write_tree(tree: Tree) -> str:
    """Write a tree with brackets.

    Examples
    --------
    >>> write_tree((1, (2, 3)))
    '(c1, (c2, c3))'
    """
    if isinstance(tree, tuple):
        return f"({', '.join(write_tree(part) for part in tree)})"
    return f"c{tree}"
