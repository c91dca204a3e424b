"""The report as Markdown: the figures and the tables, for a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

__all__ = ["to_markdown"]

_N_NODES = 20  # worst nodes that are listed
_N_PAIRS = 15
_N_FEATURES = 15
_KINDS_OF_PATHS = ("took another branch", "stopped short", "went too far")
_KINDS_OF_SETS = (
    "missed some labels and gave false ones",
    "only missed some",
    "only gave false ones",
)


def to_markdown(facts: dict[str, Any]) -> str:
    """Write facts as Markdown.

    Parameters
    ----------
    facts : dict

    Returns
    -------
    str
    """
    sections = (
        _head,
        _figures,
        _levels,
        _errors,
        _nodes,
        _pairs,
        _calibration,
        _coverage,
        _conformal,
        _features,
        _setting,
    )
    blocks = [block for section in sections for block in section(facts)]
    return "\n\n".join(blocks) + "\n"


def _head(facts: dict[str, Any]) -> Iterator[str]:
    data, tree = facts["setting"]["data"], facts["setting"]["hierarchy"]
    yield f"# {_inline(facts['title'])}"
    kind = "tree" if tree["is_tree"] else "DAG"
    yield (
        f"{data['rows']:,} rows, {data['labels']:,} labels; a {kind} of {tree['nodes']:,} nodes, "
        f"{tree['leaves']:,} leaves, depth {tree['depth']}. Made {facts['made']}."
    )
    if data["rows_with_unseen_labels"]:
        yield (
            f"{data['rows_with_unseen_labels']:,} rows have a label that the model has never seen; "
            "they count as wrong."
        )
    if data["rows_left_out"]:
        yield f"{data['rows_left_out']:,} rows without a label to be judged by are left out."


def _figures(facts: dict[str, Any]) -> Iterator[str]:
    made = facts["bootstrap"]
    rows = [
        (each["title"], _number(each["value"]), _interval(each), each["words"])
        for each in facts["figures"]
    ]
    yield _table(("figure", "value", f"{made['confidence']:.0%} interval", "what it is"), rows)
    if made["resamples"]:
        yield (
            f"Intervals: percentiles of {made['resamples']:,} bootstrap resamples of the rows, "
            f"seed {made['seed']}."
        )


def _levels(facts: dict[str, Any]) -> Iterator[str]:
    yield "## By level"
    rows = [
        (
            each["level"],
            f"{each['nodes']:,}",
            f"{each['rows']:,}",
            _number(each["accuracy"]),
            _interval(each),
            _number(each["f1"]),
        )
        for each in facts["levels"]
    ]
    yield _table(("level", "nodes", "rows", "accuracy", "interval", "F1"), rows)


def _errors(facts: dict[str, Any]) -> Iterator[str]:
    errors = facts["errors"]
    yield "## Where errors go"
    several = facts["setting"]["data"]["several_paths"]
    words = _KINDS_OF_SETS if several else _KINDS_OF_PATHS
    counts = [errors["kinds"][key] for key in ("other_branch", "short", "beyond")]
    told = ", ".join(f"{n:,} {word}" for n, word in zip(counts, words, strict=True))
    yield f"{errors['wrong']:,} of {errors['rows']:,} rows are wrong: {told}."
    by_level = [(each["level"], f"{each['rows']:,}") for each in errors["by_level"]]
    yield _table(("level of the first error", "rows"), by_level)
    by_node = errors["by_node"]
    columns = [by_node[key][:_N_PAIRS] for key in ("node", "rows", "confused", "short", "beyond")]
    rows = [
        (_path(facts, node), *(f"{n:,}" for n in counts))
        for node, *counts in zip(*columns, strict=True)
    ]
    if rows:
        yield "Where true and predicted paths part:"
        yield _table(("node", "rows", "another child", "stopped here", "went on"), rows)


def _nodes(facts: dict[str, Any]) -> Iterator[str]:
    nodes = facts["nodes"]
    missed = [s - c for s, c in zip(nodes["support"], nodes["correct"], strict=True)]
    inner = set(nodes["parent"])
    worst = [node for node in range(1, len(missed)) if node not in inner and missed[node] > 0]
    worst.sort(key=lambda node: (-missed[node], node))
    if not worst:
        return
    yield "## Leaves with most errors"
    rows = [
        (
            _path(facts, node),
            f"{nodes['support'][node]:,}",
            f"{nodes['predicted'][node]:,}",
            *(_number(nodes[key][node]) for key in ("precision", "recall", "f1", "confidence")),
        )
        for node in worst[:_N_NODES]
    ]
    yield _table(
        ("leaf", "rows", "predicted", "precision", "recall", "F1", "mean confidence"), rows
    )


def _pairs(facts: dict[str, Any]) -> Iterator[str]:
    if not facts["confusions"]:
        return
    yield "## Most confused pairs"
    rows = []
    for pair in facts["confusions"][:_N_PAIRS]:
        examples = [facts["examples"][place]["text"] for place in pair["examples"][:1]]
        rows.append(
            (
                _path(facts, pair["true"]),
                _path(facts, pair["predicted"]),
                f"{pair['rows']:,}",
                "".join(examples),
            )
        )
    yield _table(("true", "predicted", "rows", "for example"), rows)


def _calibration(facts: dict[str, Any]) -> Iterator[str]:
    found = facts["calibration"]
    if found is None:
        return
    yield "## Calibration"
    rows = [("whole answers", f"{found['answer']['count']:,}", _number(found["answer"]["ece"]))]
    rows += [
        (f"level {each['level']}", f"{each['count']:,}", _number(each["ece"]))
        for each in found["levels"]
    ]
    yield _table(("", found["of"], "expected calibration error"), rows)


def _coverage(facts: dict[str, Any]) -> Iterator[str]:
    found = facts["coverage"]
    if found is None:
        return
    if found["of"] == "cells":
        yield "## Precision against recall"
        rows = [
            [_number(point[key], 3) for key in ("threshold", "precision", "recall")]
            for point in found["points"]
        ]
        yield _table(("threshold", "precision", "recall"), rows)
        return
    yield "## Accuracy against coverage"
    keys = ("coverage", "accuracy")
    rows = [
        [
            _number(point["threshold"], 2),
            *(_number(point["whole"][key], 3) for key in keys),
            *(_number(point["deepest"][key], 3) for key in (*keys, "mean_depth")),
        ]
        for point in found["points"]
    ]
    titles = ("threshold", "whole answers given", "of those right")
    yield _table((*titles, "deepest sure node given", "of those true", "mean depth"), rows)


def _conformal(facts: dict[str, Any]) -> Iterator[str]:
    found = facts["conformal"]
    if found is None:
        return
    yield "## Conformal answers"
    rows = [
        (
            each["title"],
            _number(each["target"], 3),
            _number(each["coverage"], 4),
            _interval(each),
            _number(each["mean_size"], 2),
            _number(each["mean_depth"], 2),
        )
        for each in found["answers"]
    ]
    titles = ("answer", "asked for", "hold the truth", "interval", "mean size", "mean depth")
    yield _table(titles, rows)


def _features(facts: dict[str, Any]) -> Iterator[str]:
    found = facts["features"]
    if found is None or not found["overall"]:
        return
    selected = found["kind"] == "selected"
    yield "## Features chosen" if selected else "## Feature importances"
    yield f"{found['n_chosen']:,} of {found['n_features']:,} features are used."
    rows = [(name, f"{value:.4g}") for name, value in found["overall"][:_N_FEATURES]]
    yield _table(("feature", "nodes that chose it" if selected else "importance"), rows)


def _setting(facts: dict[str, Any]) -> Iterator[str]:
    setting = facts["setting"]
    yield "## Model"
    yield " around ".join(f"`{name}`" for name in (setting["model"], *setting["wraps"]))
    yield _table(("parameter", "value"), list(setting["parameters"].items()))
    versions = ", ".join(f"{name} {number}" for name, number in setting["versions"].items())
    yield f"Versions: {versions}."


# ---------------------------------------------------------------------- words and tables


def _table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(map(_inline, line)) + " |" for line in lines)


def _inline(value: Any) -> str:
    """Write text so that it stays text: in one line, no table cell ends, no markup begins."""
    text = " ".join(str(value).split())
    return re.sub(r"([\\|`*_\[\]<>&])", r"\\\1", text) if text != "---" else text


def _path(facts: dict[str, Any], node: int) -> str:
    names, parents = facts["nodes"]["name"], facts["nodes"]["parent"]
    if node == 0:
        return f"{names[0]} (root)"
    path: list[str] = []
    while node > 0:
        path.append(names[node])
        node = parents[node]
    return " / ".join(reversed(path))


def _number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _interval(each: dict[str, Any]) -> str:
    if each["low"] is None or each["high"] is None:
        return "–"
    return f"{_number(each['low'])} – {_number(each['high'])}"
