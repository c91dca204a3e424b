"""What moved the scores of nodes: every vote, split by split, in parts that add up exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import singledispatch
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import count_rows, row_chunks, take_rows
from palmette.boosting._hypotheses import (
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
from palmette.boosting._importances import column_scale, node_map
from palmette.exceptions import PalmetteError
from palmette.trees._binning import MISSING, BinMapper

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AVERAGE",
    "IS_ABOVE",
    "IS_MISSING",
    "IS_UP_TO",
    "START",
    "Asked",
    "Part",
    "explain",
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
    from palmette.boosting._votes import shared_means

    tree, votes = hypothesis, np.ascontiguousarray(hypothesis.values @ to_nodes)
    _, means = shared_means(tree.features, tree.leaf_at, votes, tree.cover.astype(np.float64))
    rows, nodes = asked.wanted.nonzero()
    yield from _walk(asked, rows, nodes, tree.features[None], tree.cuts[None], means.T[nodes])


@parts_of.register
def _(hypothesis: ClassTrees, to_nodes: sparse.csc_array, asked: Asked) -> Iterator[Part]:
    from palmette.boosting._heap_tree import find_class_leaves
    from palmette.boosting._votes import class_means

    tree, pairs = hypothesis, _Pairs(to_nodes, asked.wanted)
    votes = tree.values[pairs.columns] * pairs.factors[:, None]
    if tree.parents is not None:
        places = np.empty((len(asked.wanted), len(tree.features)), dtype=np.uint8)
        find_class_leaves(asked.samples.codes, tree.features, tree.cuts, places)
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


COLUMNS = ["row", "node", "round", "feature", "rule", "contribution"]

_LINES_AT_ONCE = 2**21
_ALL = -1  # in the place of a round
_IS = 3  # in the place of a side: the value of a feature, whatever the cuts


def explain(
    model: Any, X: Any, nodes: NDArray[np.int32] | None, by: str, max_rows: int | None
) -> pd.DataFrame:
    """Explain the scores of nodes; see `BoostedClassifier.explain`.

    Parameters
    ----------
    model : BoostedClassifier
        Fitted.
    X : rows that were checked
    nodes : int array of shape (n_wanted,), optional
    by : "rule", "feature" or "round"
    max_rows : int, optional
    """
    pd = _pandas()
    if by not in ("rule", "feature", "round"):
        raise PalmetteError(f"by={by!r}: expected one of 'rule', 'feature', 'round'.")
    if max_rows is not None and (not isinstance(max_rows, Integral) or max_rows < 2):
        raise PalmetteError(
            f"max_rows={max_rows!r}: expected None or an integer of at least 2, for the start and "
            "the rest."
        )
    nodes, wanted = _wanted(model, X, nodes)
    to_nodes = sparse.csc_array(node_map(model, nodes) * column_scale(model)[:, None])
    start = model.start_.astype(np.float64) @ to_nodes
    tables = []
    for chunk in row_chunks(count_rows(X), _lines_a_row(model, wanted), _LINES_AT_ONCE):
        samples = model._samples(take_rows(X, chunk))
        asked = Asked(samples, wanted[chunk], model.hierarchy_.path_strings[model.nodes_])
        lines = _add_up(_lines(model.rounds_, to_nodes, start, asked), by)
        kept = _shorten(lines, max_rows)
        table = _in_words(kept, _Words(model, samples, asked))
        table["row"] += chunk.start
        tables.append(table)
    table = pd.concat(tables, ignore_index=True)
    table["node"] = model.hierarchy_.path_strings[nodes[table["node"]]]
    return table[COLUMNS]


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise PalmetteError(
            "explain answers with a table, which needs pandas: pip install 'palmette[table]'"
        ) from None
    return pd


def _wanted(
    model: Any, X: Any, nodes: NDArray[np.int32] | None
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Nodes to explain, and which of them for which row: (n_samples, n_wanted)."""
    if nodes is None:
        sets = model.predict_node_sets(X)
        nodes = np.unique(sets.indices)
        nodes = nodes[nodes > 0].astype(np.int32)
        return nodes, sets[:, nodes].toarray().astype(bool)
    unknown = nodes[~np.isin(nodes, model.nodes_)]
    if unknown.size:
        raise PalmetteError(
            f"{model.hierarchy_.path_strings[unknown[0]]!r} has no score: expected nodes with a "
            "training row, below the root, as in nodes_."
        )
    return nodes, np.ones((count_rows(X), len(nodes)), dtype=bool)


def _lines_a_row(model: Any, wanted: NDArray[np.bool_]) -> int:
    """About how many lines a row has before they are added up."""
    return 8 * max(len(model.rounds_), 1) * max(int(wanted.sum(axis=1).max(initial=0)), 1)


def _lines(
    rounds: list[Any], to_nodes: sparse.csc_array, start: NDArray[np.float64], asked: Asked
) -> pd.DataFrame:
    """Every contribution, round by round, as a table of numbers."""
    import pandas as pd

    rows, nodes = asked.wanted.nonzero()
    parts = [Part(rows, nodes, np.full(len(rows), START), start[nodes])]
    turns = [0]
    for turn, hypothesis in enumerate(rounds, start=1):
        parts.extend(parts_of(hypothesis, to_nodes, asked))
        turns.extend([turn] * (len(parts) - len(turns)))
    return pd.DataFrame(
        {
            "row": np.concatenate([part.rows for part in parts]),
            "node": np.concatenate([part.nodes for part in parts]),
            "round": np.repeat(turns, [len(part.rows) for part in parts]),
            "rule": np.concatenate([part.rules for part in parts]),
            "contribution": np.concatenate([part.amounts for part in parts]),
        }
    )


def _add_up(lines: pd.DataFrame, by: str) -> pd.DataFrame:
    """Add up what one rule, or one feature, contributes; largest first, after the start."""
    if by != "round":
        lines["round"] = _ALL
        lines["rule"] = lines["rule"].replace(AVERAGE, START)
    if by == "feature":
        features, _, _ = split_rules(lines["rule"].to_numpy())
        lines["rule"] = lines["rule"].where(lines["rule"] < 0, split_rule(features, 0, _IS))
    keys = ["row", "node", "round", "rule"]
    summed = lines.groupby(keys, as_index=False)["contribution"].sum()
    size = -summed["contribution"].abs()
    return (
        summed.assign(later=summed["rule"] != START, size=size)
        .sort_values(["row", "node", "later", "size"], kind="stable", ignore_index=True)
        .drop(columns=["later", "size"])
        .assign(n_others=0)
    )


def _shorten(lines: pd.DataFrame, max_rows: int | None) -> pd.DataFrame:
    """Keep the first lines of every row and node, and add up the others in the last one."""
    import pandas as pd

    if max_rows is None:
        return lines
    groups = lines.groupby(["row", "node"])
    place, size = groups.cumcount(), groups["rule"].transform("size")
    is_over = (size > max_rows) & (place >= max_rows - 1)
    rest = lines[is_over].groupby(["row", "node"], as_index=False)
    rest = rest.agg(contribution=("contribution", "sum"), n_others=("rule", "size"))
    shorter = pd.concat([lines[~is_over], rest.assign(rule=START, round=_ALL)])
    return shorter.sort_values(["row", "node"], kind="stable", ignore_index=True)


def _in_words(lines: pd.DataFrame, words: _Words) -> pd.DataFrame:
    """Write out rounds, features and rules."""
    numbers = [lines[name].tolist() for name in ("row", "rule", "n_others")]
    told = [words(*line) for line in zip(*numbers, strict=True)]
    lines["round"] = ["all" if turn == _ALL else turn for turn in lines["round"].tolist()]
    lines["feature"] = [feature for feature, _ in told]
    lines["rule"] = [rule for _, rule in told]
    return lines


class _Words:
    """Names of features, and sentences for rules."""

    def __init__(self, model: Any, samples: Samples, asked: Asked) -> None:
        self._bins = model.bins_
        self._names = getattr(model, "feature_names_in_", None)
        self._X = samples.X
        self._sentences = {rule: sentence for sentence, rule in asked.words.items()}
        self._sentences |= {START: "start", AVERAGE: "average of the tree"}

    def __call__(self, row: int, rule: int, n_others: int) -> tuple[Any, str]:
        """Return the feature and the sentence of a line."""
        if n_others:
            return "", f"{n_others} others"
        if rule < 0:
            return "", self._sentences[rule]
        feature, cut, side = (int(part) for part in split_rules(np.asarray(rule, dtype=np.int64)))
        label = feature if self._names is None else self._names[feature]
        name = f"feature {feature}" if self._names is None else str(label)
        return label, f"{name} {self._tell(row, feature, cut, side)}"

    def _tell(self, row: int, feature: int, cut: int, side: int) -> str:
        if side == _IS:
            value = self._X[row, feature]
            return "is missing" if np.isnan(value) else f"= {value:.6g}"
        if side == IS_MISSING:
            return "is missing"
        if not np.isfinite(self._bins.threshold(feature, cut)):
            return "is known"
        return f"{'<=' if side == IS_UP_TO else '>'} {_threshold(self._bins, feature, cut)}"


def _threshold(bins: BinMapper, feature: int, cut: int) -> str:
    """Write a threshold with few digits, yet enough to tell it from its neighbours."""
    near = [bins.threshold(feature, at) for at in (cut - 1, cut, cut + 1) if at >= 0]
    here = bins.threshold(feature, cut)
    for digits in (6, 9, 12):
        if len({f"{value:.{digits}g}" for value in near}) == len(near):
            return f"{here:.{digits}g}"
    return repr(here)
