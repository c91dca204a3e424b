"""Rendering of a report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from palmette._text import visible

_N_NODES = 20  # number of leaves listed in Markdown
_N_PAIRS = 15
_N_FEATURES = 15
_MARKS = {"cross-validation": " (cross-validated)", None: " (unknown)"}
_KINDS_OF_PATHS = ("in another branch", "ended too early", "ended too deep")
_KINDS_OF_SETS = (
    "with both missed and false labels",
    "with missed labels only",
    "with false labels only",
)


def to_markdown(facts: dict[str, Any]) -> str:
    """Write facts as Markdown.

    Parameters
    ----------
    facts : dict
    """
    sections = (
        _head,
        _versus,
        _scores,
        _acceptance,
        _levels,
        _classes,
        _errors,
        _nodes,
        _pairs,
        _review,
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
    if facts.get("verdict"):
        yield f"**{_inline(facts['verdict'])}**"
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
        yield f"{data['rows_left_out']:,} rows without a known label are left out."


def _versus(facts: dict[str, Any]) -> Iterator[str]:
    found = facts.get("versus")
    if found is None:
        return
    first, second = found["names"]
    yield "## Two models on the same rows"
    yield f"**{_inline(found['verdict'])}**"
    rows = [
        (
            each["title"],
            *(_number(each[key]) for key in ("first", "second")),
            f"{each['difference']:+.4f}",
            _interval(each),
        )
        for each in found["figures"]
    ]
    yield _table(("score", first, second, "difference", "interval of the difference"), rows)
    right = found["right"]
    yield (
        f"Both are right for {right['both']:,} rows, only {_inline(first)} for "
        f"{right['only_first']:,}, only {_inline(second)} for {right['only_second']:,}, neither "
        f"for {right['neither']:,} (McNemar's exact test: p = {right['p_value']:.3g}). They differ "
        f"for {found['n_differing']:,} rows."
    )
    classes = found["classes"]
    yield f"{classes['better']:,} labels have a better F1, {classes['worse']:,} a worse one."
    columns = [classes[key][:_N_PAIRS] for key in ("node", "rows", "gained", "lost")]
    scores = zip(classes["f1_first"], classes["f1_second"], strict=True)
    changed = [
        (_path(facts, node), f"{n:,}", f"{gained:,}", f"{lost:,}", _number(a), _number(b))
        for (node, n, gained, lost), (a, b) in zip(zip(*columns, strict=True), scores, strict=False)
    ]
    if changed:
        titles = ("label", "rows", f"only {second} right", f"only {first} right")
        yield _table((*titles, f"F1, {first}", f"F1, {second}"), changed)
    yield f"The rest of this report is about {_inline(first)}."


def _scores(facts: dict[str, Any]) -> Iterator[str]:
    made, bases = facts["bootstrap"], facts.get("baselines") or []
    rows = [
        (
            each["title"],
            _number(each["value"]),
            _interval(each),
            *(_base_score(base, each["name"]) for base in bases),
            each["words"],
        )
        for each in facts["figures"]
    ]
    titles = ("score", "value", f"{made['confidence']:.0%} interval")
    names = [base["title"] + _MARKS.get(base["measured"], "") for base in bases]
    yield _table((*titles, *names, "definition"), rows)
    for base in bases:
        yield f"{base['title'].capitalize()}: {_inline(base['words'])}"
    if made["resamples"]:
        yield (
            "Intervals: Wilson's for shares of rows, otherwise percentiles of "
            f"{made['resamples']:,} bootstrap resamples of the rows, seed {made['seed']}. If "
            "all resamples agree, the interval is widened by the share of differing rows that so "
            "few rows cannot rule out."
        )


def _base_score(base: dict[str, Any], name: str) -> str:
    text = _number(base["scores"].get(name))
    own = (base["own"] or {}).get(name)
    return text if own is None else f"{text} (this model there: {_number(own)})"


def _acceptance(facts: dict[str, Any]) -> Iterator[str]:
    found = facts.get("acceptance")
    if found is None:
        return
    yield "## Automatic acceptance"
    what = "rows" if found["of"] == "rows" else "predicted labels"
    yield (
        f"At a precision of {found['precision']:.0%}, {found['whole']['count']:,} of "
        f"{found['count']:,} {what} could be accepted as predicted, "
        f"{found['accepted']['count'] - found['whole']['count']:,} more with a coarser answer, and "
        f"{found['people']:,} would go to people. Thresholds were chosen on one half of the rows "
        "and the figures measured on the other half, and the other way round; the thresholds in "
        "the table are those of all rows."
    )
    rows = [
        (
            _kind(each),
            _number(each["threshold"], 3),
            f"{each['count']:,}",
            f"{each['share']:.1%}",
            _number(each["precision"], 3),
            _interval(each),
        )
        for each in found["answers"]
    ]
    titles = ("answer", "probability from", what, "share", "measured precision", "interval")
    yield _table(titles, rows)
    if found["unreliable"]:
        shown = ", ".join(_path(facts, node) for node in found["unreliable"][:_N_PAIRS])
        more = len(found["unreliable"]) - _N_PAIRS
        yield (
            "Never accepted as complete answers, since even their most confident predictions are "
            f"too often wrong: {_inline(shown)}{f' and {more:,} more' if more > 0 else ''}."
        )
    points = [
        (
            f"{each['precision']:.0%}",
            *(f"{each[key]:.1%}" for key in ("complete", "coarser", "people")),
            _number(each["measured"], 3),
        )
        for each in found["points"]
    ]
    shares = ("accepted as predicted", "coarser answer", "to people")
    yield _table(("precision", *shares, "measured precision"), points)


def _kind(each: dict[str, Any]) -> str:
    if each["level"] is None:
        return "predicted label"
    if each["complete"]:
        return f"complete, ends at level {each['level']}"
    return f"coarser, a node of level {each['level']}"


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


def _classes(facts: dict[str, Any]) -> Iterator[str]:
    found = facts.get("classes")
    if found is None:
        return
    yield "## Labels by number of rows"
    where = "training rows" if found["source"] == "training" else "rows of this report"
    yield (
        f"{found['labels']:,} labels, {found['total']:,} {where}; half of them have one of the "
        f"{found['half']:,} most frequent labels."
    )
    rows = [
        (
            _range(each),
            f"{each['labels']:,}",
            f"{each['rows']:,}",
            _number(each["accuracy"], 3),
            _number(each["f1"], 3),
        )
        for each in found["groups"]
    ]
    yield _table((f"{where} of a label", "labels", "rows here", "accuracy", "mean F1"), rows)


def _range(each: dict[str, Any]) -> str:
    if each["high"] is None:
        return f"{each['low']:,} and more"
    return f"{each['low']:,} – {each['high']:,}" if each["high"] > each["low"] else f"{each['low']}"


def _errors(facts: dict[str, Any]) -> Iterator[str]:
    errors = facts["errors"]
    yield "## Errors"
    several = facts["setting"]["data"]["several_paths"]
    words = _KINDS_OF_SETS if several else _KINDS_OF_PATHS
    counts = [errors["kinds"][key] for key in ("other_branch", "short", "beyond")]
    listed = ", ".join(f"{n:,} {word}" for n, word in zip(counts, words, strict=True))
    yield f"{errors['wrong']:,} of {errors['rows']:,} rows are wrong: {listed}."
    by_level = [(each["level"], f"{each['rows']:,}") for each in errors["by_level"]]
    yield _table(("level of the first error", "rows"), by_level)
    by_node = errors["by_node"]
    columns = [by_node[key][:_N_PAIRS] for key in ("node", "rows", "confused", "short", "beyond")]
    rows = [
        (_path(facts, node), *(f"{n:,}" for n in counts))
        for node, *counts in zip(*columns, strict=True)
    ]
    if rows:
        yield "Nodes at which true and predicted paths diverge:"
        yield _table(("node", "rows", "wrong child", "ended here", "continued"), rows)


def _nodes(facts: dict[str, Any]) -> Iterator[str]:
    nodes = facts["nodes"]
    missed = [s - c for s, c in zip(nodes["support"], nodes["correct"], strict=True)]
    inner = set(nodes["parent"])
    worst = [node for node in range(1, len(missed)) if node not in inner and missed[node] > 0]
    worst.sort(key=lambda node: (-missed[node], node))
    if not worst:
        return
    yield "## Leaves with the most errors"
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
    yield _table(("true", "predicted", "rows", "example"), rows)


def _review(facts: dict[str, Any]) -> Iterator[str]:
    found = facts.get("review")
    if found is None or not found["suspects"]:
        return
    yield "## Labels that look wrong"
    rows = []
    for each in found["suspects"][:_N_PAIRS]:
        example = facts["examples"][each["example"]]
        rows.append(
            (
                example["name"],
                example["text"],
                *(
                    ", ".join(_path(facts, node) for node in example[key])
                    for key in ("true", "predicted")
                ),
                _number(each["given"], 3),
                _number(example["confidence"], 3),
            )
        )
    titles = ("row", "text", "given label", "predicted", "probability of the given", "predicted")
    yield _table(titles, rows)


def _calibration(facts: dict[str, Any]) -> Iterator[str]:
    found = facts["calibration"]
    if found is None:
        return
    yield "## Calibration"
    rows = [
        ("complete predictions", f"{found['answer']['count']:,}", _number(found["answer"]["ece"]))
    ]
    rows += [
        (f"level {each['level']}", f"{each['count']:,}", _number(each["ece"]))
        for each in found["levels"]
    ]
    yield found["words"]
    yield _table(("", found["of"], "expected calibration error"), rows)


def _coverage(facts: dict[str, Any]) -> Iterator[str]:
    found = facts["coverage"]
    if found is None:
        return
    if found["of"] == "cells":
        yield "## Precision and recall"
        rows = [
            [_number(point[key], 3) for key in ("threshold", "precision", "recall")]
            for point in found["points"]
        ]
        yield _table(("threshold", "precision", "recall"), rows)
        return
    yield "## Accuracy and coverage"
    keys = ("coverage", "accuracy")
    rows = [
        [
            _number(point["threshold"], 2),
            *(_number(point["whole"][key], 3) for key in keys),
            *(_number(point["deepest"][key], 3) for key in (*keys, "mean_depth")),
        ]
        for point in found["points"]
    ]
    titles = ("threshold", "coverage, complete", "accuracy, complete")
    yield _table((*titles, "coverage, deepest", "accuracy, deepest", "mean depth"), rows)
    yield (
        "Complete: the prediction is kept where its probability reaches the threshold. "
        "Deepest: the deepest node whose probability reaches the threshold is predicted."
    )


def _conformal(facts: dict[str, Any]) -> Iterator[str]:
    found = facts["conformal"]
    if found is None:
        return
    yield "## Conformal predictions"
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
    titles = ("prediction", "target", "coverage", "interval", "mean size", "mean depth")
    yield _table(titles, rows)


def _features(facts: dict[str, Any]) -> Iterator[str]:
    found = facts["features"]
    if found is None or not found["overall"]:
        return
    selected = found["kind"] == "selected"
    yield "## Selected features" if selected else "## Feature importances"
    yield f"{found['n_chosen']:,} of {found['n_features']:,} features are used."
    rows = [(name, f"{value:.4g}") for name, value in found["overall"][:_N_FEATURES]]
    yield _table(("feature", "number of nodes" if selected else "importance"), rows)


def _setting(facts: dict[str, Any]) -> Iterator[str]:
    setting = facts["setting"]
    yield "## Model"
    yield " around ".join(f"`{name}`" for name in (setting["model"], *setting["wraps"]))
    yield _table(("parameter", "value"), list(setting["parameters"].items()))
    versions = ", ".join(f"{name} {number}" for name, number in setting["versions"].items())
    yield f"Versions: {versions}."


def _table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(map(_inline, line)) + " |" for line in lines)


def _inline(value: Any) -> str:
    """Return a value as one line of text, with the characters of Markdown and HTML escaped."""
    text = visible(" ".join(str(value).split()))
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
