"""What moved the scores of nodes: every vote, split by split, in parts that add up exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.binning import MISSING
from palmette.engine.hypotheses import (
    Bundle,
    CartVotes,
    ClassModels,
    ClassTrees,
    Coloured,
    ColumnParents,
    Samples,
    SharedTree,
    mask_by_parents,
)

__all__ = [
    "AVERAGE",
    "IS_ABOVE",
    "IS_MISSING",
    "IS_UP_TO",
    "START",
    "Asked",
    "Part",
    "parts_of",
    "split_rule",
    "split_rules",
]

IntArray = NDArray[np.int64]

# sides of a split
IS_UP_TO, IS_ABOVE, IS_MISSING = 0, 1, 2

# rules are numbers: splits from 0 on, these, and below them the sentences of `Asked.words`
START, AVERAGE, _FIRST_WORD = -1, -2, -3


def split_rule(feature: Any, cut: Any, side: Any) -> Any:
    """Return the number of one side of a split."""
    feature, cut = np.asarray(feature, dtype=np.int64), np.asarray(cut, dtype=np.int64)
    return (feature << 10) + (cut << 2) + side


def split_rules(rules: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return features, cuts and sides; undoes `split_rule`."""
    return rules >> 10, (rules >> 2) & 255, rules & 3


@dataclass(frozen=True, eq=False)
class Part:
    """What single rules added to the scores of nodes for rows: four arrays of one length.

    Parameters
    ----------
    rows, nodes : int arrays
        Positions among the rows and nodes asked for.
    rules : int array
    amounts : float array
    """

    rows: IntArray
    nodes: IntArray
    rules: IntArray
    amounts: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Asked:
    """What is to be explained.

    Parameters
    ----------
    samples : Samples
    wanted : bool array of shape (n_samples, n_wanted)
        Which nodes of which rows.
    column_names : sequence of str
        Of the model's columns, for sentences about masks.
    words : dict of str to int
        Sentences that are rules, and their numbers. Grows.
    """

    samples: Samples
    wanted: NDArray[np.bool_]
    column_names: Any
    words: dict[str, int] = field(default_factory=dict)

    def say(self, sentence: str) -> int:
        """Return the rule of a sentence."""
        return self.words.setdefault(sentence, _FIRST_WORD - len(self.words))


@singledispatch
def parts_of(hypothesis: Any, to_nodes: sparse.csc_array, asked: Asked) -> Iterator[Part]:
    """Take the votes of a round apart.

    A tree first adds its mean vote, weighted by its training rows; every split on the way down
    then moves that to the mean of the side taken, and the last one to the vote of the leaf.

    Parameters
    ----------
    hypothesis : Hypothesis
    to_nodes : sparse array of shape (n_columns, n_wanted)
        How columns make the scores of nodes.
    asked : Asked

    Yields
    ------
    Part
    """
    raise TypeError(f"no explanation is known of a {type(hypothesis).__name__}.")


@parts_of.register
def _(hypothesis: Bundle, to_nodes: sparse.csc_array, asked: Asked) -> Iterator[Part]:
    bounds = hypothesis.bounds.tolist()
    for part, start, stop in zip(hypothesis.parts, bounds[:-1], bounds[1:], strict=True):
        yield from parts_of(part, to_nodes[start:stop], asked)


@parts_of.register
def _(hypothesis: Coloured, to_nodes: sparse.csc_array, asked: Asked) -> Iterator[Part]:
    to_binary = sparse.csc_array((hypothesis.code @ to_nodes)[None, :])
    yield from parts_of(hypothesis.binary, to_binary, asked)


@parts_of.register
def _(hypothesis: SharedTree, to_nodes: sparse.csc_array, asked: Asked) -> Iterator[Part]:
    from palmette._kernels.votes import shared_means

    tree, votes = hypothesis, np.ascontiguousarray(hypothesis.values @ to_nodes)
    _, means = shared_means(tree.features, tree.leaf_at, votes, tree.cover.astype(np.float64))
    rows, nodes = asked.wanted.nonzero()
    yield from _walk(asked, rows, nodes, tree.features[None], tree.cuts[None], means.T[nodes])


@parts_of.register
def _(hypothesis: ClassTrees, to_nodes: sparse.csc_array, asked: Asked) -> Iterator[Part]:
    from palmette._kernels.heap_tree import walk_class_trees
    from palmette._kernels.votes import class_means

    tree, pairs = hypothesis, _Pairs(to_nodes, asked.wanted)
    votes = tree.values[pairs.columns] * pairs.factors[:, None]
    if tree.parents is not None:
        places = np.empty((len(asked.wanted), len(tree.features)), dtype=np.uint8)
        walk_class_trees(asked.samples.codes, tree.features, tree.cuts, places)
        mask_by_parents(places, tree.signs, tree.parents)
        masked = places[pairs.rows, pairs.columns] == 0
        yield from _masked(asked, pairs, masked, votes[masked, 0], places, tree.signs, tree.parents)
        pairs, votes = pairs[~masked], votes[~masked]
    features, cuts = tree.features[pairs.columns], tree.cuts[pairs.columns]
    _, means = class_means(features, votes, tree.cover[pairs.columns].astype(np.float64))
    yield from _walk(asked, pairs.rows, pairs.nodes, features, cuts, means)


@parts_of.register
def _(hypothesis: ClassModels, to_nodes: sparse.csc_array, asked: Asked) -> Iterator[Part]:
    names = [type(model).__name__ for model in hypothesis.models]
    yield from _answers(hypothesis, hypothesis.places(asked.samples.X), names, to_nodes, asked)


@parts_of.register
def _(hypothesis: CartVotes, to_nodes: sparse.csc_array, asked: Asked) -> Iterator[Part]:
    names = ["a full tree"] * to_nodes.shape[0]
    yield from _answers(hypothesis, hypothesis.places(asked.samples), names, to_nodes, asked)


def _answers(
    hypothesis: ClassModels | CartVotes,
    places: Any,
    voters: list[str],
    to_nodes: sparse.csc_array,
    asked: Asked,
) -> Iterator[Part]:
    """Parts of hypotheses that say yes or no, and not why."""
    pairs = _Pairs(to_nodes, asked.wanted)
    at = places[pairs.rows, pairs.columns]
    votes = hypothesis.values[pairs.columns, at] * pairs.factors
    if hypothesis.parents is not None:
        masked = at == 0
        of_masks = votes[masked], places, hypothesis.signs, hypothesis.parents
        yield from _masked(asked, pairs, masked, *of_masks)
        pairs, votes = pairs[~masked], votes[~masked]
    rules = [
        asked.say(f"{voters[column]} votes {'for' if vote > 0 else 'against'} it")
        for column, vote in zip(pairs.columns.tolist(), votes.tolist(), strict=True)
    ]
    yield Part(pairs.rows, pairs.nodes, np.asarray(rules, dtype=np.int64), votes)


class _Pairs:
    """Pairs of row and node that are asked for, with the one column of each node that has one."""

    def __init__(self, to_nodes: sparse.csc_array, wanted: NDArray[np.bool_]) -> None:
        n_nodes = wanted.shape[1]
        column, factor = np.full(n_nodes, -1), np.zeros(n_nodes)
        there = np.diff(to_nodes.indptr) > 0
        column[there], factor[there] = to_nodes.indices, to_nodes.data
        self.rows, self.nodes = (wanted & there).nonzero()
        self.columns, self.factors = column[self.nodes], factor[self.nodes]

    def __getitem__(self, kept: NDArray[np.bool_]) -> _Pairs:
        some = object.__new__(_Pairs)
        vars(some).update({name: array[kept] for name, array in vars(self).items()})
        return some


def _walk(
    asked: Asked,
    rows: IntArray,
    nodes: IntArray,
    features: NDArray[np.int32],
    cuts: NDArray[np.uint8],
    means: NDArray[np.float64],
) -> Iterator[Part]:
    """Walk pairs of row and node down trees, from mean to mean.

    Parameters
    ----------
    asked : Asked
    rows, nodes : int arrays of shape (n_pairs,)
    features, cuts : arrays of shape (n_pairs, n_places), or (1, n_places) for one tree
    means : array of shape (n_pairs, n_places)
    """
    pairs, places = np.arange(len(rows)), np.ones(len(rows), dtype=np.int64)
    yield Part(rows, nodes, np.full(len(rows), AVERAGE), means[:, 1])
    while pairs.size:
        tree = pairs if len(features) > 1 else np.zeros_like(pairs)
        feature, cut = features[tree, places], cuts[tree, places]
        inside = feature >= 0
        pairs, places, feature, cut = pairs[inside], places[inside], feature[inside], cut[inside]
        code = asked.samples.codes[rows[pairs], feature]
        below = 2 * places + (code > cut)
        missing = code == MISSING
        side = np.where(missing, IS_MISSING, np.where(code > cut, IS_ABOVE, IS_UP_TO))
        # a missing value goes right wherever the cut is
        rules = split_rule(feature, np.where(missing, 0, cut), side)
        moved = means[pairs, below] - means[pairs, places]
        yield Part(rows[pairs], nodes[pairs], rules, moved)
        places = below


def _masked(
    asked: Asked,
    pairs: _Pairs,
    masked: NDArray[np.bool_],
    votes: NDArray[np.float64],
    places: NDArray[np.uint8],
    signs: NDArray[np.int8],
    parents: ColumnParents,
) -> Iterator[Part]:
    """Votes of the columns whose parents keep a row out, with the names of these parents."""
    out = pairs[masked]
    rules = np.empty(len(out.rows), dtype=np.int64)
    for i, (row, column) in enumerate(zip(out.rows.tolist(), out.columns.tolist(), strict=True)):
        above = parents.columns[parents.starts[column] : parents.starts[column + 1]]
        at = places[row, above]
        against = above[(at == 0) | (signs[above, at] <= 0)]
        names = ", ".join(str(asked.column_names[parent]) for parent in against.tolist())
        rules[i] = asked.say(f"masked by {names}")
    yield Part(out.rows, out.nodes, rules, votes)
