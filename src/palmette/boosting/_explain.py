"""Explanations of scores: the contribution of every split, with sums that are exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import singledispatch
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, count_rows, row_chunks, take_rows
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

IntArray = NDArray[np.int64]

# sides of a split
IS_UP_TO, IS_ABOVE, IS_MISSING = 0, 1, 2

# rules are numbers: splits from 0 on, these, and below them the sentences of `Request.words`
START, AVERAGE, _FIRST_WORD = -1, -2, -3

COLUMNS = ["row", "node", "round", "feature", "rule", "contribution"]

_LINES_AT_ONCE = 2**21
_ALL = -1  # instead of a round
_IS = 3  # instead of a side: the value of a feature, for any cut


def split_rule(feature: Any, cut: Any, side: Any) -> Any:
    """Return the number of the rule for one side of a split."""
    feature, cut = np.asarray(feature, dtype=np.int64), np.asarray(cut, dtype=np.int64)
    return (feature << 10) + (cut << 2) + side


def split_rules(rules: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return features, cuts and sides; the inverse of `split_rule`."""
    return rules >> 10, (rules >> 2) & 255, rules & 3


@dataclass(frozen=True, eq=False)
class Part:
    """Contributions of rules to the scores of nodes for rows: four arrays of equal length.

    Parameters
    ----------
    rows, nodes : int arrays
        Positions among the requested rows and nodes.
    rules : int array
    amounts : float array
    """

    rows: IntArray
    nodes: IntArray
    rules: IntArray
    amounts: FloatArray


@dataclass(frozen=True, eq=False)
class Request:
    """The rows and nodes to explain.

    Parameters
    ----------
    samples : Samples
    wanted : bool array of shape (n_samples, n_wanted)
        Whether a node of a row is explained.
    column_names : sequence of str
        Names of the columns, for sentences about masks.
    words : dict of str to int
        Sentences of rules that are not splits, and their numbers; filled by `number_of`.
    """

    samples: Samples
    wanted: NDArray[np.bool_]
    column_names: Any
    words: dict[str, int] = field(default_factory=dict)

    def number_of(self, sentence: str) -> int:
        """Return the number of a rule given by a sentence."""
        return self.words.setdefault(sentence, _FIRST_WORD - len(self.words))


@singledispatch
def parts_of(hypothesis: Any, to_nodes: sparse.csc_array, request: Request) -> Iterator[Part]:
    """Yield the contributions to the votes of a round.

    A tree first contributes its mean vote over the training rows; every split on the path to the
    leaf then contributes the difference between the means of its chosen side and of its node.

    Parameters
    ----------
    hypothesis : Hypothesis
    to_nodes : sparse array of shape (n_columns, n_wanted)
        Map from columns to scores of nodes.
    request : Request

    Yields
    ------
    Part
    """
    raise TypeError(f"there is no explanation for a {type(hypothesis).__name__}.")


@parts_of.register
def _(hypothesis: Bundle, to_nodes: sparse.csc_array, request: Request) -> Iterator[Part]:
    bounds = hypothesis.bounds.tolist()
    for part, start, stop in zip(hypothesis.parts, bounds[:-1], bounds[1:], strict=True):
        yield from parts_of(part, to_nodes[start:stop], request)


@parts_of.register
def _(hypothesis: Coloured, to_nodes: sparse.csc_array, request: Request) -> Iterator[Part]:
    to_binary = sparse.csc_array((hypothesis.code @ to_nodes)[None, :])
    yield from parts_of(hypothesis.binary, to_binary, request)


@parts_of.register
def _(hypothesis: SharedTree, to_nodes: sparse.csc_array, request: Request) -> Iterator[Part]:
    from palmette.boosting._votes import shared_means

    tree, votes = hypothesis, np.ascontiguousarray(hypothesis.values @ to_nodes)
    _, means = shared_means(tree.features, tree.leaf_at, votes, tree.cover.astype(np.float64))
    rows, nodes = request.wanted.nonzero()
    yield from _path_parts(
        request, rows, nodes, tree.features[None], tree.cuts[None], means.T[nodes]
    )


@parts_of.register
def _(hypothesis: ClassTrees, to_nodes: sparse.csc_array, request: Request) -> Iterator[Part]:
    from palmette.boosting._heap_tree import find_class_leaves
    from palmette.boosting._votes import class_means

    tree, pairs = hypothesis, _Pairs(to_nodes, request.wanted)
    votes = tree.values[pairs.columns] * pairs.factors[:, None]
    if tree.parents is not None:
        places = np.empty((len(request.wanted), len(tree.features)), dtype=np.uint8)
        find_class_leaves(request.samples.codes, tree.features, tree.cuts, places)
        mask_by_parents(places, tree.signs, tree.parents)
        masked = places[pairs.rows, pairs.columns] == 0
        yield from _masked(
            request, pairs, masked, votes[masked, 0], places, tree.signs, tree.parents
        )
        pairs, votes = pairs[~masked], votes[~masked]
    features, cuts = tree.features[pairs.columns], tree.cuts[pairs.columns]
    _, means = class_means(features, votes, tree.cover[pairs.columns].astype(np.float64))
    yield from _path_parts(request, pairs.rows, pairs.nodes, features, cuts, means)


@parts_of.register
def _(hypothesis: ClassModels, to_nodes: sparse.csc_array, request: Request) -> Iterator[Part]:
    names = [type(model).__name__ for model in hypothesis.models]
    yield from _predictions(
        hypothesis, hypothesis.places(request.samples.X), names, to_nodes, request
    )


@parts_of.register
def _(hypothesis: CartVotes, to_nodes: sparse.csc_array, request: Request) -> Iterator[Part]:
    names = ["a full tree"] * to_nodes.shape[0]
    yield from _predictions(
        hypothesis, hypothesis.places(request.samples), names, to_nodes, request
    )


def _predictions(
    hypothesis: ClassModels | CartVotes,
    places: Any,
    voters: list[str],
    to_nodes: sparse.csc_array,
    request: Request,
) -> Iterator[Part]:
    """Yield the contributions of binary predictions, which are not explained further."""
    pairs = _Pairs(to_nodes, request.wanted)
    at = places[pairs.rows, pairs.columns]
    votes = hypothesis.values[pairs.columns, at] * pairs.factors
    if hypothesis.parents is not None:
        masked = at == 0
        of_masks = votes[masked], places, hypothesis.signs, hypothesis.parents
        yield from _masked(request, pairs, masked, *of_masks)
        pairs, votes = pairs[~masked], votes[~masked]
    rules = [
        request.number_of(f"{voters[column]} votes {'for' if vote > 0 else 'against'} it")
        for column, vote in zip(pairs.columns.tolist(), votes.tolist(), strict=True)
    ]
    yield Part(pairs.rows, pairs.nodes, np.asarray(rules, dtype=np.int64), votes)


class _Pairs:
    """The requested pairs of a row and a node that has a column, with that column."""

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


def _path_parts(
    request: Request,
    rows: IntArray,
    nodes: IntArray,
    features: NDArray[np.int32],
    cuts: NDArray[np.uint8],
    means: FloatArray,
) -> Iterator[Part]:
    """Yield the contributions of the splits on the paths of pairs of a row and a node.

    Parameters
    ----------
    request : Request
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
        code = request.samples.codes[rows[pairs], feature]
        below = 2 * places + (code > cut)
        missing = code == MISSING
        side = np.where(missing, IS_MISSING, np.where(code > cut, IS_ABOVE, IS_UP_TO))
        # a missing value goes right for any cut
        rules = split_rule(feature, np.where(missing, 0, cut), side)
        change = means[pairs, below] - means[pairs, places]
        yield Part(rows[pairs], nodes[pairs], rules, change)
        places = below


def _masked(
    request: Request,
    pairs: _Pairs,
    masked: NDArray[np.bool_],
    votes: FloatArray,
    places: NDArray[np.uint8],
    signs: NDArray[np.int8],
    parents: ColumnParents,
) -> Iterator[Part]:
    """Yield the votes of masked columns, with the names of the parents that mask them."""
    out = pairs[masked]
    rules = np.empty(len(out.rows), dtype=np.int64)
    for i, (row, column) in enumerate(zip(out.rows.tolist(), out.columns.tolist(), strict=True)):
        above = parents.columns[parents.starts[column] : parents.starts[column + 1]]
        at = places[row, above]
        against = above[(at == 0) | (signs[above, at] <= 0)]
        names = ", ".join(str(request.column_names[parent]) for parent in against.tolist())
        rules[i] = request.number_of(f"masked by {names}")
    yield Part(out.rows, out.nodes, rules, votes)


def explain(
    model: Any, X: Any, nodes: NDArray[np.int32] | None, by: str, max_rows: int | None
) -> pd.DataFrame:
    """Explain the scores of nodes; see `BoostedClassifier.explain`.

    Parameters
    ----------
    model : BoostedClassifier
        Fitted.
    X : validated rows
    nodes : int array of shape (n_wanted,), optional
    by : "rule", "feature" or "round"
    max_rows : int, optional
    """
    pd = _pandas()
    if by not in ("rule", "feature", "round"):
        raise PalmetteError(f"by={by!r}: expected one of 'rule', 'feature', 'round'.")
    if max_rows is not None and (not isinstance(max_rows, Integral) or max_rows < 2):
        raise PalmetteError(
            f"max_rows={max_rows!r}: expected None or an integer of at least 2: one line for the "
            "start, and one for the sum of the others."
        )
    nodes, wanted = _wanted(model, X, nodes)
    to_nodes = sparse.csc_array(node_map(model, nodes) * column_scale(model)[:, None])
    start = model.start_.astype(np.float64) @ to_nodes
    tables = []
    for chunk in row_chunks(count_rows(X), _lines_per_row(model, wanted), _LINES_AT_ONCE):
        samples = model._samples(take_rows(X, chunk))
        request = Request(samples, wanted[chunk], model.hierarchy_.path_strings[model.nodes_])
        lines = _sum_by_rule(_lines(model.rounds_, to_nodes, start, request), by)
        kept = _shorten(lines, max_rows)
        table = _in_words(kept, _Words(model, samples, request))
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
            "explain returns a DataFrame, which requires pandas: pip install 'palmette[table]'"
        ) from None
    return pd


def _wanted(
    model: Any, X: Any, nodes: NDArray[np.int32] | None
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the nodes to explain, and whether each is explained for each row."""
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


def _lines_per_row(model: Any, wanted: NDArray[np.bool_]) -> int:
    """Return the approximate number of lines per row before they are summed."""
    return 8 * max(len(model.rounds_), 1) * max(int(wanted.sum(axis=1).max(initial=0)), 1)


def _lines(
    rounds: list[Any], to_nodes: sparse.csc_array, start: FloatArray, request: Request
) -> pd.DataFrame:
    """Return all contributions, round by round, as a table of numbers."""
    import pandas as pd

    rows, nodes = request.wanted.nonzero()
    parts = [Part(rows, nodes, np.full(len(rows), START), start[nodes])]
    turns = [0]
    for turn, hypothesis in enumerate(rounds, start=1):
        parts.extend(parts_of(hypothesis, to_nodes, request))
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


def _sum_by_rule(lines: pd.DataFrame, by: str) -> pd.DataFrame:
    """Sum the contributions per rule or feature; the start first, then by size."""
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
    """Keep the first lines of every row and node, and sum the others in the last one."""
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
    """Replace the numbers of rounds, features and rules by words."""
    numbers = [lines[name].tolist() for name in ("row", "rule", "n_others")]
    texts = [words(*line) for line in zip(*numbers, strict=True)]
    lines["round"] = ["all" if turn == _ALL else turn for turn in lines["round"].tolist()]
    lines["feature"] = [feature for feature, _ in texts]
    lines["rule"] = [rule for _, rule in texts]
    return lines


class _Words:
    """Names of features, and sentences for rules."""

    def __init__(self, model: Any, samples: Samples, request: Request) -> None:
        self._bins = model.bins_
        self._names = getattr(model, "feature_names_in_", None)
        self._X = samples.X
        self._sentences = {rule: sentence for sentence, rule in request.words.items()}
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
        return label, f"{name} {self._condition(row, feature, cut, side)}"

    def _condition(self, row: int, feature: int, cut: int, side: int) -> str:
        if side == _IS:
            value = self._X[row, feature]
            return "is missing" if np.isnan(value) else f"= {value:.6g}"
        if side == IS_MISSING:
            return "is missing"
        if not np.isfinite(self._bins.threshold(feature, cut)):
            return "is not missing"
        return f"{'<=' if side == IS_UP_TO else '>'} {_threshold(self._bins, feature, cut)}"


def _threshold(bins: BinMapper, feature: int, cut: int) -> str:
    """Format a threshold with few digits, but enough to differ from its neighbours."""
    near = [bins.threshold(feature, at) for at in (cut - 1, cut, cut + 1) if at >= 0]
    here = bins.threshold(feature, cut)
    for digits in (6, 9, 12):
        if len({f"{value:.{digits}g}" for value in near}) == len(near):
            return f"{here:.{digits}g}"
    return repr(here)
