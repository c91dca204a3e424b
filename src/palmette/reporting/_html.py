"""Rendering of a report as one HTML page, as a notebook frame, and as Markdown."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any

from palmette._text import visible

_SCRIPTS = (
    "dom.js",
    "facts.js",
    "charts.js",
    "tree.js",
    "node_panel.js",
    "overview.js",
    "siblings.js",
    "pairs.js",
    "errors.js",
    "confidence.js",
    "model.js",
    "main.js",
)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; \
form-action 'none'; img-src data:; style-src '{style_hash}'; script-src '{script_hash}'">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top" id="top"></header>
<main id="main" tabindex="-1"></main>
<noscript>
<p>The charts of this report need JavaScript, which is disabled. The headline scores:</p>
<table>
{figures}
</table>
</noscript>
<script type="application/json" id="facts">{facts}</script>
<script>{script}</script>
</body>
</html>
"""

# in JSON of ASCII: those of C0, C1 and of marks that reverse text, as group 1
_CONTROL_ESCAPE = re.compile(r"\\(?:u(00[0189][0-9a-f]|202[a-e]|206[6-9])|.)")

_N_NODES = 20  # number of leaves listed in Markdown
_N_PAIRS = 15
_N_FEATURES = 15
_KINDS_OF_PATHS = ("in another branch", "ended too early", "ended too deep")
_KINDS_OF_SETS = (
    "with both missed and false labels",
    "with missed labels only",
    "with false labels only",
)


def to_html(facts: dict[str, Any]) -> str:
    """Write facts as one HTML page.

    Class names and texts of rows are never interpreted as markup: they are embedded as escaped JSON
    and inserted as text nodes. The content security policy of the page allows only its own script
    and style, by their hashes, and no requests.

    Parameters
    ----------
    facts : dict

    Returns
    -------
    str
        The page; ASCII except for its own script and style.
    """
    style, script = _assets()
    return _PAGE.format(
        title=_escaped(facts["title"]),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        figures="\n".join(map(_score_row, facts["figures"])),
        facts=data_script(facts),
    )


def to_notebook(facts: dict[str, Any]) -> str:
    """Write facts as a sandboxed frame for a notebook."""
    page = html.escape(to_html(facts), quote=True)
    return (
        '<iframe sandbox="allow-scripts" style="width: 100%; height: 46rem; border: 0" '
        f'title="{_escaped(facts["title"])}" srcdoc="{page}"></iframe>'
    )


def data_script(facts: dict[str, Any]) -> str:
    r"""Write facts as JSON that is safe inside a script element; control characters are escaped.

    Examples
    --------
    >>> data_script({"name": "</script><b>&"})
    '{"name":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    """
    text = json.dumps(facts, separators=(",", ":"), allow_nan=False)  # ASCII: no line separators
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return _CONTROL_ESCAPE.sub(lambda m: f"\\\\u{m[1]}" if m[1] else m[0], text)


@cache
def _assets() -> tuple[str, str]:
    folder = resources.files("palmette.reporting") / "assets"
    parts = [(folder / name).read_text(encoding="utf-8") for name in _SCRIPTS]
    body = "\n".join(parts)
    style = (folder / "report.css").read_text(encoding="utf-8")
    return style, f'"use strict";\n(() => {{\n{body}\n}})();\n'


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def _score_row(score: dict[str, Any]) -> str:
    value = "–" if score["value"] is None else f"{score['value']:.4f}"
    return f"<tr><th>{_escaped(score['title'])}</th><td>{value}</td></tr>"


def _escaped(text: Any) -> str:
    return html.escape(visible(str(text))).encode("ascii", "xmlcharrefreplace").decode("ascii")


def to_markdown(facts: dict[str, Any]) -> str:
    """Write facts as Markdown.

    Parameters
    ----------
    facts : dict
    """
    sections = (
        _head,
        _scores,
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
        yield f"{data['rows_left_out']:,} rows without a known label are left out."


def _scores(facts: dict[str, Any]) -> Iterator[str]:
    made = facts["bootstrap"]
    rows = [
        (each["title"], _number(each["value"]), _interval(each), each["words"])
        for each in facts["figures"]
    ]
    yield _table(("score", "value", f"{made['confidence']:.0%} interval", "definition"), rows)
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
