"""How similar two hierarchies over the same classes are.

Tree MSE, triplets, purity of clades, common clades, and all measures at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from palmette._arrays import IntArray
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._edit_distance import tree_edit_distance

_EXACT_PAIRS = 20_000  # classes up to which all pairs are compared: some seconds
_EXACT_TRIPLETS = 5_000  # classes up to which all triplets are compared
_SAMPLED_PAIRS = 10_000_000
_SAMPLED_TRIPLETS = 2_000_000
_DRAWN_AT_ONCE = 1_000_000  # pairs or triplets
_MAX_EDIT_NODES = 1_500  # the edit distance of larger trees takes minutes


def tree_mse(
    tree: Hierarchy,
    reference: Hierarchy,
    *,
    classes: Any = None,
    n_pairs: int | Literal["auto"] | None = "auto",
    random_state: Any = None,
) -> float:
    """Mean squared difference of the similarities that two trees give to pairs of classes.

    The similarity of two classes is 1 / (edges between them), and 0 of a class to itself; the mean
    is over all pairs, those of a class with itself included.

    Parameters
    ----------
    tree, reference : Hierarchy
        Trees with the same leaves, matched by name (or by path string where names differ).
    classes : array-like of names or paths, optional
        Compare these nodes, to be found in both, instead of all leaves.
    n_pairs : int, "auto" or None, default="auto"
        Number of random pairs. None uses all pairs; "auto" uses all up to 20,000 classes, and 10
        million random ones beyond.
    random_state : int, RandomState instance or None
        For the random pairs.

    Returns
    -------
    float

    Notes
    -----
    Of the two values in Figure 3 of the paper, .03125 is reproduced exactly (see the example);
    .01383 is not the value of any tree over four classes. The measure mostly reflects whether two
    trees are equally deep: use `triplet_accuracy` and `clade_purity` as well.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning. CIKM 2015. doi:10.1145/2806416.2806540

    Examples
    --------
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
    >>> swapped = Hierarchy.from_paths([("p", 1), ("p", 3), ("q", 2), ("q", 4)])
    >>> tree_mse(actual, swapped)
    0.03125
    """
    nodes = match_classes(tree, reference, classes, "tree_mse")
    n_classes = len(nodes[0])
    if n_classes < 2:
        return 0.0
    if n_pairs is None or (n_pairs == "auto" and n_classes <= _EXACT_PAIRS):
        total = 0.0
        for hops, other in distance_rows((tree, reference), nodes, "hops"):
            total += float(np.square(reciprocal(hops) - reciprocal(other)).sum())
        return total / n_classes**2
    n_drawn = _SAMPLED_PAIRS if n_pairs == "auto" else check_count(n_pairs, "n_pairs")
    total = 0.0
    for first, second in draw_distinct(n_classes, 2, n_drawn, random_state):
        hops, other = (
            h.distance(at[first], at[second])
            for h, at in zip((tree, reference), nodes, strict=True)
        )
        total += float(np.square(reciprocal(hops) - reciprocal(other)).sum())
    return total / n_drawn * (n_classes - 1) / n_classes  # a class is never drawn with itself


def triplet_accuracy(
    tree: Hierarchy,
    reference: Hierarchy,
    n_triplets: int | Literal["auto"] | None = "auto",
    random_state: Any = None,
    *,
    by: Literal["hops", "lca"] = "hops",
    classes: Any = None,
) -> float:
    """Share of triplets of classes in which the tree agrees on which of two is nearer to a third.

    A triplet that is tied in the reference (both equally near) is left out; one that is tied in
    the tree only counts one half. So chance is 0.5.

    Parameters
    ----------
    tree, reference : as in `tree_mse`
    n_triplets : int, "auto" or None, default="auto"
        Number of random triplets. None uses all triplets; "auto" uses all up to 5,000 classes, and
        2 million random ones beyond.
    random_state : int, RandomState instance or None
        For the random triplets.
    by : {"hops", "lca"}, default="hops"
        Nearer by number of edges, or by the depth of the common ancestor (which does not depend on
        how deep a class itself lies).
    classes : as in `tree_mse`

    Returns
    -------
    float

    Examples
    --------
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
    >>> swapped = Hierarchy.from_paths([("p", 1), ("p", 3), ("q", 2), ("q", 4)])
    >>> triplet_accuracy(actual, actual), triplet_accuracy(swapped, actual)
    (1.0, 0.25)
    """
    if by not in ("hops", "lca"):
        raise PalmetteError(f"by={by!r}: expected 'hops' or 'lca'.")
    nodes = match_classes(tree, reference, classes, "triplet_accuracy")
    n_classes = len(nodes[0])
    if n_classes < 3:
        raise HierarchyError(f"a triplet needs three classes, got {n_classes}.")
    exact = n_triplets is None or (n_triplets == "auto" and n_classes <= _EXACT_TRIPLETS)
    if exact:
        right, asked = _all_triplets((tree, reference), nodes, by)
    else:
        n_drawn = (
            _SAMPLED_TRIPLETS if n_triplets == "auto" else check_count(n_triplets, "n_triplets")
        )
        right, asked = _some_triplets((tree, reference), nodes, by, n_drawn, random_state)
    if not asked:
        raise HierarchyError(
            "in the reference all classes are equally far apart, so that every triplet is tied. "
            "Use a reference that has more than one level."
        )
    return right / asked


def clade_purity(
    tree: Hierarchy, reference: Hierarchy, *, level: int = 1, classes: Any = None
) -> float:
    """Purity of the clades (subtrees) of a tree with respect to the groups of a reference.

    For every two classes of one group, take the smallest clade of the tree that contains both, and
    the share of its classes that belong to that group; the result is the mean over all such pairs
    (dendrogram purity). 1 means that every group is a clade.

    Parameters
    ----------
    tree, reference : as in `tree_mse`
    level : int, default=1
        Depth of the reference's nodes that are the groups; a shallower class is a group of its own.
    classes : as in `tree_mse`

    Returns
    -------
    float

    References
    ----------
    K. A. Heller, Z. Ghahramani (2005). Bayesian hierarchical clustering.

    Examples
    --------
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
    >>> swapped = Hierarchy.from_paths([("p", 1), ("p", 3), ("q", 2), ("q", 4)])
    >>> clade_purity(actual, actual), clade_purity(swapped, actual)
    (1.0, 0.5)
    """
    at, at_reference = match_classes(tree, reference, classes, "clade_purity")
    if not 1 <= level <= reference.max_depth:
        raise PalmetteError(f"level={level!r}: expected 1 to {reference.max_depth}.")
    above = at_reference.copy()
    while (deep := reference.depth[above] > level).any():
        above[deep] = reference.parents[above[deep]]
    _, group = np.unique(above, return_inverse=True)
    one_hot = sparse.csr_array(
        (np.ones(len(at)), (np.arange(len(at)), group)), shape=(len(at), group.max() + 1)
    )
    counts = sparse.csr_array(sparse.csr_array(tree.closure[at].astype(np.float64)).T @ one_hot)
    size = np.maximum(counts.sum(axis=1), 1.0)
    purity = sparse.csr_array(counts.multiply(1.0 / size[:, None]))
    # ordered pairs whose smallest clade is a node, a class and itself included: those within the
    # node less those within one of its children
    squares = counts.power(2)
    to_parent = sparse.csr_array(
        (np.ones(len(tree.edges)), (tree.edges[:, 0], tree.edges[:, 1])), shape=tree.closure.shape
    )
    pairs = sparse.csr_array(squares - to_parent @ squares)
    n_pairs = float(pairs.sum()) - len(at)
    if n_pairs <= 0:
        raise HierarchyError(
            f"every group of the reference at level {level} is one class: choose a smaller level."
        )
    of_itself = float(purity[at, group].sum())
    return (float(pairs.multiply(purity).sum()) - of_itself) / n_pairs


# ---------------------------------------------------------------------- triplets


def _all_triplets(
    trees: tuple[Hierarchy, Hierarchy], nodes: tuple[IntArray, IntArray], by: str
) -> tuple[float, float]:
    """Count agreeing and untied triplets, class by class, from the table of its two distances."""
    right = asked = 0.0
    for i, (ours, theirs) in enumerate(distance_rows(trees, nodes, by)):
        ours, theirs = np.delete(ours, i), np.delete(theirs, i)
        ours, theirs = ours - ours.min(), theirs - theirs.min()
        width = int(ours.max()) + 1
        table = np.bincount(theirs * width + ours, minlength=(int(theirs.max()) + 1) * width)
        table = table.reshape(-1, width).astype(np.float64)
        nearer = np.cumsum(table, axis=0) - table  # strictly nearer in the reference
        agreeing = np.cumsum(nearer, axis=1) - nearer
        right += float((table * (agreeing + 0.5 * nearer)).sum())
        asked += float((table * nearer.sum(axis=1, keepdims=True)).sum())
    return right, asked


def _some_triplets(
    trees: tuple[Hierarchy, Hierarchy],
    nodes: tuple[IntArray, IntArray],
    by: str,
    n_drawn: int,
    random_state: Any,
) -> tuple[float, float]:
    right = asked = 0.0
    for anchor, first, second in draw_distinct(len(nodes[0]), 3, n_drawn, random_state):
        ours, theirs = (
            np.sign(
                class_distance(h, at[anchor], at[first], by)
                - class_distance(h, at[anchor], at[second], by)
            )
            for h, at in zip(trees, nodes, strict=True)
        )
        question = theirs != 0
        right += float((ours == theirs)[question].sum() + 0.5 * (ours == 0)[question].sum())
        asked += float(question.sum())
    return right, asked


# ---------------------------------------------------------------------- common clades


def clade_precision_recall_fscore(
    tree: Hierarchy, reference: Hierarchy, *, classes: Any = None
) -> tuple[float, float, float]:
    """Measure how far two trees agree on their splits, by their common groups of classes.

    The groups are the sets of classes below a node, except single classes and the set of all
    classes, which every tree has. A binary tree compared with a reference of many branches can
    have full recall, but not full precision.

    Parameters
    ----------
    tree, reference, classes : as in `tree_mse`

    Returns
    -------
    precision : float
        Share of the tree's groups that the reference has too.
    recall : float
        Share of the reference's groups that the tree has too.
    fscore : float
        Harmonic mean; 1 minus it is the Robinson-Foulds distance divided by its maximum. All three
        are NaN if neither tree has a group.

    References
    ----------
    W. H. E. Day (1985). Optimal algorithms for comparing trees with labeled leaves.

    Examples
    --------
    >>> binary = Hierarchy.from_edges([("root", "p"), ("root", "q"), ("p", 1), ("p", 2),
    ...                                ("q", 3), ("q", "r"), ("r", 4), ("r", 5)])
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4), ("q", 5)])
    >>> precision, recall, fscore = clade_precision_recall_fscore(binary, actual)
    >>> round(precision, 3), recall, fscore
    (0.667, 1.0, 0.8)
    """
    nodes, at_reference = match_classes(tree, reference, classes, "clade_precision_recall_fscore")
    if len(nodes) < 2:
        raise HierarchyError(f"got {len(nodes)} classes: groups need at least two.")
    # in the order of the reference the classes of a group are adjacent
    order = np.empty(len(nodes), dtype=np.int64)
    order[np.argsort(at_reference, kind="stable")] = np.arange(len(nodes))
    groups = _groups(reference, at_reference.astype(np.int64), order)
    found = _groups(tree, nodes.astype(np.int64), order)
    shared = len(groups & found)
    if not groups and not found:
        return (float("nan"),) * 3
    precision = shared / len(found) if found else float("nan")
    recall = shared / len(groups) if groups else float("nan")
    return precision, recall, 2 * shared / (len(groups) + len(found))


def _groups(
    hierarchy: Hierarchy, nodes: NDArray[np.int64], order: NDArray[np.int64]
) -> set[tuple[int, ...]]:
    """Return the groups of a tree as (first, last) places if they are contiguous.

    Other groups do not occur in the reference; the number of their node identifies them.
    """
    n = len(nodes)
    first = np.full(hierarchy.n_nodes, n, dtype=np.int64)
    last = np.full(hierarchy.n_nodes, -1, dtype=np.int64)
    size = np.zeros(hierarchy.n_nodes, dtype=np.int64)
    first[nodes], last[nodes], size[nodes] = order, order, 1
    parents = hierarchy.parents
    for node in range(hierarchy.n_nodes - 1, 0, -1):  # children before their parents
        above = parents[node]
        first[above] = min(first[above], first[node])
        last[above] = max(last[above], last[node])
        size[above] += size[node]
    found: set[tuple[int, ...]] = set()
    for node in np.flatnonzero((size > 1) & (size < n)).tolist():
        place = (int(first[node]), int(last[node]))
        if place[1] - place[0] + 1 == size[node]:
            found.add(place)
        elif size[parents[node]] != size[node]:  # a chain of only children is one group
            found.add((*place, node))
    return found


# ---------------------------------------------------------------------- all measures


def compare_trees(
    tree: Hierarchy, reference: Hierarchy, *, random_state: Any = None
) -> dict[str, Any]:
    """Compare a tree with another over the classes that both have as leaves.

    Parameters
    ----------
    tree, reference : Hierarchy
        Trees. Leaves are matched by name, or by path string where names repeat; leaves of only
        one tree are left out.
    random_state : int, RandomState instance or None
        For the random pairs and triplets of many classes; see `tree_mse` and `triplet_accuracy`.

    Returns
    -------
    dict
        ``n_classes``, ``n_only_tree`` and ``n_only_reference``: leaves compared and left out;
        ``tree_mse``; ``edit_distance`` between the trees cut to these classes, comparing only
        the names of leaves, with sorted siblings; ``clade_precision``, ``clade_recall`` and
        ``clade_fscore``: agreement of splits; ``triplet_accuracy``; ``clade_purity``. None if a
        measure is undefined for these trees, such as triplets of a star, or takes too long.

    Examples
    --------
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
    >>> swapped = Hierarchy.from_paths([("p", 1), ("p", 3), ("q", 2), ("q", 4)])
    >>> found = compare_trees(swapped, actual)
    >>> found["edit_distance"], found["clade_fscore"], found["triplet_accuracy"]
    (2.0, 0.0, 0.25)
    """
    for h in (tree, reference):
        h.require_tree("compare_trees")
    first, second = _shared_leaves(tree, reference)
    cut, cut_reference = _cut_to(tree, first), _cut_to(reference, second)
    precision, recall, fscore = (
        None if np.isnan(value) else value
        for value in clade_precision_recall_fscore(cut, cut_reference)
    )
    return {
        "n_classes": len(first),
        "n_only_tree": tree.n_leaves - len(first),
        "n_only_reference": reference.n_leaves - len(first),
        "tree_mse": tree_mse(cut, cut_reference, random_state=random_state),
        "edit_distance": _edits(cut, cut_reference),
        "clade_precision": precision,
        "clade_recall": recall,
        "clade_fscore": fscore,
        "triplet_accuracy": _or_none(
            lambda: triplet_accuracy(cut, cut_reference, random_state=random_state)
        ),
        "clade_purity": _or_none(lambda: clade_purity(cut, cut_reference)),
    }


def _shared_leaves(tree: Hierarchy, reference: Hierarchy) -> tuple[IntArray, IntArray]:
    """Leaves of the same classes in both, in the same order; numbers match their strings."""
    best: list[tuple[int, int]] = []
    for ours in (_leaves_by(tree, tree.names), _leaves_by(tree, tree.path_strings)):
        for spelled in (reference.names, reference.path_strings):
            theirs = _leaves_by(reference, spelled)
            pairs = [(leaf, theirs[name]) for name, leaf in ours.items() if name in theirs]
            best = pairs if len(pairs) > len(best) else best
    if len(best) < 2:
        raise HierarchyError(
            f"the trees have {len(best)} leaves in common, expected at least two: the first has "
            f"{_some(tree)}, the second {_some(reference)}. Use the same names in both."
        )
    pairs_array = np.array(best, dtype=np.int32)
    return pairs_array[:, 0], pairs_array[:, 1]


def _leaves_by(hierarchy: Hierarchy, spelled: NDArray[Any]) -> dict[str, int]:
    """Leaves by name or path, without duplicates."""
    names = [str(spelled[leaf]) for leaf in hierarchy.leaves]
    counts = Counter(names)
    leaves = hierarchy.leaves.tolist()
    return {n: leaf for n, leaf in zip(names, leaves, strict=True) if counts[n] == 1}


def _some(hierarchy: Hierarchy) -> str:
    shown = ", ".join(repr(str(hierarchy.names[leaf])) for leaf in hierarchy.leaves[:3])
    return shown + (", ..." if hierarchy.n_leaves > 3 else "")


def _cut_to(hierarchy: Hierarchy, leaves: IntArray) -> Hierarchy:
    """Keep some leaves, renamed 0, 1, ... in their order, and their ancestors."""
    kept = np.unique(hierarchy.closure[leaves].indices)
    place = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    names: list[Any] = [f"node {node}" for node in kept.tolist()]
    for number, leaf in enumerate(leaves.tolist()):
        names[place[leaf]] = number
    below = kept[hierarchy.parents[kept] >= 0]
    return Hierarchy(names, np.column_stack([place[hierarchy.parents[below]], place[below]]))


def _or_none(measure: Callable[[], float]) -> float | None:
    try:
        return measure()
    except HierarchyError:
        return None


def _edits(tree: Hierarchy, reference: Hierarchy) -> float | None:
    if max(tree.n_nodes, reference.n_nodes) > _MAX_EDIT_NODES:
        return None
    return tree_edit_distance(tree, reference, names="leaves", order="sorted")


# ---------------------------------------------------------------------- the same classes


def match_classes(
    tree: Hierarchy, reference: Hierarchy, classes: Any, who: str
) -> tuple[IntArray, IntArray]:
    """Nodes of the same classes, in the same order, in both trees."""
    tree.require_tree(who)
    reference.require_tree(who)
    if classes is not None:
        names = list(classes)
        return tree.index(names), reference.index(names)
    leaves, others = tree.leaves, reference.leaves
    for spelled in (tree.names, tree.path_strings):
        for also in (reference.names, reference.path_strings):
            keys = dict(zip(spelled[leaves], leaves, strict=True))
            found = dict(zip(also[others], others, strict=True))
            if (
                len(keys) == len(leaves) == len(found) == len(others)
                and keys.keys() == found.keys()
            ):
                matched = np.array([found[key] for key in keys], dtype=np.int32)
                return leaves, matched
    raise HierarchyError(_describe_mismatch(tree, reference, who))


def _describe_mismatch(tree: Hierarchy, reference: Hierarchy, who: str) -> str:
    ours, theirs = set(tree.names[tree.leaves]), set(reference.names[reference.leaves])
    unmatched = [repr(name) for name in (*(ours - theirs), *(theirs - ours))]
    example = (
        f" (e.g. {sorted(unmatched)[0]} is in one only)" if unmatched else " (names occur twice)"
    )
    return (
        f"{who} compares trees over the same leaves, but the first has {tree.n_leaves} and the "
        f"second {reference.n_leaves} that do not match by name{example}. Pass classes= to compare "
        "the nodes that both have."
    )


def check_count(count: Any, what: str) -> int:
    """Check a number of random draws."""
    if not isinstance(count, int | np.integer) or count < 1:
        raise PalmetteError(f"{what}={count!r}: expected a positive integer, 'auto' or None.")
    return int(count)


# ---------------------------------------------------------------------- distances


def reciprocal(hops: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 / hops, and 0 for a class and itself."""
    similarity = np.zeros(hops.shape)
    np.divide(1.0, hops, out=similarity, where=hops > 0)
    return similarity


def distance_rows(
    trees: tuple[Hierarchy, Hierarchy], nodes: tuple[IntArray, IntArray], by: str
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield, for every class, its distances to all classes in both trees."""
    rows = [_TreeDistances(h, at) for h, at in zip(trees, nodes, strict=True)]
    for i in range(len(nodes[0])):
        yield rows[0].row(i, by), rows[1].row(i, by)


class _TreeDistances:
    """Distances from one class to all, without a search for every pair.

    Between two nodes in preorder, the depth of their lowest common ancestor is the minimum
    over the neighbours between them: a running minimum to either side gives a row.
    """

    def __init__(self, hierarchy: Hierarchy, nodes: IntArray) -> None:
        self.order = np.argsort(nodes, kind="stable")
        self.place = np.empty_like(self.order)
        self.place[self.order] = np.arange(len(nodes))
        ordered = nodes[self.order]
        self.depth = hierarchy.depth[nodes]
        self.between = hierarchy.depth[hierarchy.lca(ordered[:-1], ordered[1:])]

    def row(self, i: int, by: str) -> NDArray[Any]:
        """Return the distances from class i, of shape (n_classes,)."""
        at = self.place[i]
        meeting = np.empty_like(self.depth)
        meeting[at] = self.depth[i]
        meeting[at + 1 :] = np.minimum.accumulate(self.between[at:])
        meeting[:at] = np.minimum.accumulate(self.between[:at][::-1])[::-1]
        meeting = meeting[self.place]
        return -meeting if by == "lca" else self.depth + self.depth[i] - 2 * meeting


def class_distance(hierarchy: Hierarchy, a: IntArray, b: IntArray, by: str) -> NDArray[Any]:
    """Number of edges between nodes, or minus the depth of their common ancestor, elementwise."""
    if by == "lca":
        return np.asarray(-hierarchy.depth[hierarchy.lca(a, b)])
    return np.asarray(hierarchy.distance(a, b))


def draw_distinct(
    n_classes: int, width: int, n_drawn: int, random_state: Any
) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Draw tuples of different classes, in chunks."""
    random = check_random_state(random_state)
    while n_drawn > 0:
        size = min(n_drawn, _DRAWN_AT_ONCE)
        drawn = np.empty((width, size), dtype=np.int64)
        for place in range(width):
            drawn[place] = random.randint(n_classes - place, size=size)
            for earlier in np.sort(drawn[:place], axis=0):  # skip over those already drawn
                drawn[place] += drawn[place] >= earlier
        n_drawn -= size
        yield tuple(drawn)
