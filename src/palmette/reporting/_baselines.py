"""What the headline scores are compared with, and the verdict of a report in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import IntArray
from palmette.base._adapters import find_in_parts
from palmette.labels._labels import NodeLabels
from palmette.reporting._classes import count_labels
from palmette.reporting._confidence import CellConfidence
from palmette.reporting._evaluation import Evaluation
from palmette.reporting._headline import plain_scores
from palmette.reporting._plain import cut, plain_facts

_FLAT = "flat-linear"  # name of the plain baseline in leaderboards of `palmette fit`
_FLAT_TITLE = "flat linear model"
_CROSS_VALIDATED = ("hierarchical_f1", "accuracy")  # scores of a leaderboard


def baseline_facts(
    model: Any,
    evaluation: Evaluation,
    training: NDArray[np.int64] | None,
    measured: Mapping[str, tuple[Evaluation, CellConfidence | None]],
) -> list[dict[str, Any]]:
    """Return the scores of simpler answers to the same problem.

    Parameters
    ----------
    model : fitted classifier
    evaluation : Evaluation
    training : int array of shape (n_nodes,), optional
        Number of training rows of every label.
    measured : mapping of titles to evaluations of the same rows
        Further models, with their cells if rows have several labels.

    Returns
    -------
    list of dict
        ``name``, ``title``, ``words`` (what it is and where its scores come from), ``measured``
        ("report": on these rows, "cross-validation": in the fit, or None: unknown), ``scores`` by
        name, ``own`` (the scores of this model in the same cross-validation) and ``levels`` (the
        accuracy per level).
    """
    facts = [_majority(evaluation, training)]
    for title, (other, cells) in measured.items():
        scores, levels = plain_scores(other)
        if cells is not None:
            scores["micro_auprc"] = cells.area()
        words = f"The {title}, measured on the rows of this report."
        facts.append(_fact(title.replace(" ", "_"), title, words, "report", scores, levels))
    if _FLAT_TITLE not in measured:
        facts.extend(_flat_linear(model))
    return [plain_facts(each) for each in facts]


def _fact(
    name: str,
    title: str,
    words: str,
    measured: str | None,
    scores: dict[str, float],
    levels: list[float] | None = None,
    own: dict[str, float] | None = None,
) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "words": words,
        "measured": measured,
        "scores": scores,
        "levels": levels,
        "own": own,
    }


def _majority(evaluation: Evaluation, training: NDArray[np.int64] | None) -> dict[str, Any]:
    """Score the constant answer: the label with the most training rows, or most rows here."""
    sizes = count_labels(evaluation).true if training is None else training
    node = int(sizes.argmax()) if sizes.any() else 0
    nodes: IntArray = np.full(evaluation.n_rows, node, dtype=np.int32)
    pair = evaluation.pair
    constant = NodeLabels.from_terminals(nodes, evaluation.hierarchy, pair.true.form)
    scores, levels = plain_scores(evaluation.answering(constant))
    if evaluation.several:
        scores["micro_auprc"] = _constant_area(evaluation)
    where = "rows of this report" if training is None else "training rows"
    label = cut(" > ".join(map(str, _path(evaluation, node))), 120)
    words = f"Always answering {label}, the most frequent class of the {where}."
    return _fact("majority", "most frequent class", words, "report", scores, levels)


def _path(evaluation: Evaluation, node: int) -> list[Any]:
    path: list[Any] = []
    while node > 0:
        path.append(evaluation.shown_names[node])
        node = int(evaluation.parents[node])
    return path[::-1]


def _constant_area(evaluation: Evaluation) -> float:
    """Return the average precision if each node has its frequency as the score of every row."""
    support = evaluation.counts.support[1:]
    values, place = np.unique(-support, return_inverse=True)
    n_nodes = np.bincount(place, minlength=len(values))
    true = n_nodes * -values
    precision = np.cumsum(true) / (np.cumsum(n_nodes) * evaluation.n_rows)
    total = float(true.sum())
    return float(true @ precision) / total if total else float("nan")


def _flat_linear(model: Any) -> list[dict[str, Any]]:
    """Return the scores of the flat linear model in the cross-validation of a table model."""
    summary = find_in_parts(model, "summary_")
    if not isinstance(summary, dict) or summary.get("model") == _FLAT:
        return []
    board = summary.get("leaderboard")
    entries = [entry for entry in board if isinstance(entry, dict)] if board else []
    by_name = {entry.get("model"): entry for entry in entries if entry.get("folds")}
    flat, own = by_name.get(_FLAT), by_name.get(summary.get("model"))
    if flat is None:
        words = (
            "A linear SVM over the labels, without the hierarchy. The fit did not try it: "
            "`palmette report --train TABLE` fits it on the training table and measures it here."
        )
        return [_fact("flat_linear", _FLAT_TITLE, words, None, {})]
    if own is not None and _effort(own) != _effort(flat):
        words = (
            f"A linear SVM over the labels, without the hierarchy. The fit tried it {_effort(flat)}"
            f" only, and this model {_effort(own)}: such scores cannot be compared. "
            "`palmette report --train TABLE` fits it on the training table and measures it here."
        )
        return [_fact("flat_linear", _FLAT_TITLE, words, None, {})]
    words = (
        "A linear SVM over the labels, without the hierarchy. Its scores are not of these rows: "
        f"they were cross-validated in the fit, {_effort(flat)}"
    )
    scores = _scores_of(flat)
    return [
        _fact("flat_linear", _FLAT_TITLE, words + ".", "cross-validation", scores, None,
              None if own is None else _scores_of(own))
    ]  # fmt: skip


def _scores_of(entry: dict[str, Any]) -> dict[str, float]:
    values = {name: entry.get(name) for name in _CROSS_VALIDATED}
    return {name: float(v) for name, v in values.items() if isinstance(v, int | float)}


def _effort(entry: dict[str, Any]) -> str:
    folds, rows = entry["folds"], entry.get("rows")
    words = f"on {folds} fold{'' if folds == 1 else 's'}"
    return words + (f" with {rows:,} training rows" if isinstance(rows, int) and rows else "")


# ---------------------------------------------------------------------- the verdict


def verdict(facts: Mapping[str, Any]) -> str:
    """Say in one sentence how good the model is, compared with what, and what that means.

    Parameters
    ----------
    facts : dict
        The sections ``figures``, ``bootstrap``, ``errors``, ``baselines``, ``acceptance`` and
        ``setting`` of a report.
    """
    several = facts["setting"]["data"]["several_paths"]
    figures = {each["name"]: each for each in facts["figures"]}
    text = ("All labels are right for " if several else "Right for ") + _of_rows(facts, figures)
    compared = [
        words
        for base in facts["baselines"]
        if base["measured"] == "report"
        for words in [_compared(facts, figures["accuracy"]["value"], base)]
    ]
    text += ", " + " and ".join(compared) if compared else ""
    if several:
        base = facts["baselines"][0]["scores"]["hierarchical_f1"]
        text += (
            f"; hierarchical F1 is {figures['hierarchical_f1']['value']:.2f} against {base:.2f} "
            "for that answer"
        )
    return f"{text}{_accepted(facts['acceptance'])}."


def _of_rows(facts: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    rows, figure = facts["errors"]["rows"], figures["accuracy"]
    low, high = figure["low"], figure["high"]
    few = rows < 100
    digits = 0 if few or low is None else _digits(high - low)
    text = (
        f"{facts['errors']['right']:,} of {rows:,} rows"
        if few
        else f"{100 * figure['value']:.{digits}f} of 100 rows"
    )
    if low is None:
        return text
    bounds = f"{100 * low:.{digits}f}–{100 * high:.{digits}f}{' %' if few else ''}"
    return f"{text} ({100 * facts['bootstrap']['confidence']:.0f} % interval {bounds})"


def _digits(width: float) -> int:
    """Return the decimals of a percentage whose interval has this width."""
    return 0 if width >= 0.01 else 1 if width >= 0.001 else 2


def _compared(facts: Mapping[str, Any], accuracy: float, base: Mapping[str, Any]) -> str:
    rows = facts["errors"]["rows"]
    gap = accuracy - base["scores"]["accuracy"]
    n = round(gap * (rows if rows < 100 else 100))
    what = "always answering the most frequent class"
    title = what if base["name"] == "majority" else f"the {base['title']}"
    if n == 0:
        return f"as many as {title}"
    return f"{abs(n)} {'more' if n > 0 else 'fewer'} than {title}"


def _accepted(found: Mapping[str, Any] | None) -> str:
    if found is None or not found["count"]:
        return ""
    what = "rows" if found["of"] == "rows" else "predicted labels"
    at = f"at {100 * found['precision']:g} % precision"
    whole = found["whole"]["share"]
    more = found["accepted"]["share"] - whole
    if not found["accepted"]["count"]:
        return f"; no {what} could be accepted automatically {at}"
    text = f"; {_percent(whole)} of {what} could be accepted automatically {at}"
    return text + (f", and another {_percent(more)} with a coarser answer" if more >= 0.005 else "")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if not 0 < share < 0.005 else "less than 1 %"
