"""Explanations of single predictions as tables: which rules moved which node, and by how much."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.boosting.contributions import (
    AVERAGE,
    IS_MISSING,
    IS_UP_TO,
    START,
    Asked,
    Part,
    parts_of,
    split_rule,
    split_rules,
)
from palmette.boosting.node_scores import column_scale, node_map
from palmette.boosting.parameters import check_choice
from palmette.core.binning import BinMapper
from palmette.core.rows import count_rows, row_chunks, take_rows
from palmette.engine.hypotheses import Samples
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["explain"]

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
    check_choice("by", by, ("rule", "feature", "round"))
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
