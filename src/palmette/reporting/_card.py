"""Model cards: what a report found, as Markdown with the front matter that model hubs read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from palmette.reporting._leaderboard import blocks
from palmette.reporting._markdown import _inline, _interval, _number, _table

_HUB_METRICS = {"accuracy": "accuracy", "macro_f1": "f1"}  # names that hubs know
_SHOWN_COLUMNS = 30


def to_card(
    facts: dict[str, Any],
    *,
    file: str,
    data: str,
    license: str | None = None,
    language: str | None = None,
    description: str | None = None,
) -> str:
    """Write a model card in the layout of Hugging Face: YAML front matter, then Markdown.

    Parameters
    ----------
    facts : dict
        Facts of a report about a model of a table.
    file : str
        Name of the model file, for the example.
    data : str
        Name of the rows of the report.
    license, language : str, optional
        Of the front matter, such as "bsd-3-clause" and "en".
    description : str, optional
        What the model is for, in a sentence or more.

    Returns
    -------
    str
    """
    front = "\n".join(_front_matter(facts, data, license, language))
    blocks = [
        f"---\n{front}\n---",
        f"# {_inline(facts['title'])}",
        _inline(description) if description else _inline(facts["verdict"]),
        *_use(facts, file),
        *_training(facts),
        *_evaluation(facts),
        *_limits(facts),
        *_reproduction(facts),
    ]
    return "\n\n".join(blocks) + "\n"


def _front_matter(
    facts: dict[str, Any], data: str, license: str | None, language: str | None
) -> Iterator[str]:
    """Yield lines of YAML; texts are JSON strings, which are also valid YAML."""
    fitted = facts["setting"].get("fitted") or {}
    if language:
        yield f"language: {_text(language)}"
    if license:
        yield f"license: {_text(license)}"
    yield "library_name: palmette"
    kinds = set((fitted.get("columns") or {}).values())
    task = "text-classification" if kinds == {"text"} else "tabular-classification"
    yield f"pipeline_tag: {task}"
    yield "tags:"
    several = facts["setting"]["data"]["several_paths"]
    for tag in ("palmette", "hierarchical-classification", *(["multi-label"] if several else [])):
        yield f"- {tag}"
    yield "model-index:"
    yield f"- name: {_text(facts['title'])}"
    yield "  results:"
    yield "  - task:"
    yield f"      type: {task}"
    yield "    dataset:"
    yield f"      name: {_text(data)}"
    yield "      type: table"
    yield "    metrics:"
    for each in facts["figures"]:
        if each["value"] is not None:
            yield f"    - type: {_HUB_METRICS.get(each['name'], each['name'])}"
            yield f"      name: {_text(each['title'])}"
            yield f"      value: {each['value']:.6g}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=True)


def _use(facts: dict[str, Any], file: str) -> Iterator[str]:
    yield "## How to use it"
    name = json.dumps(file)
    yield (
        "```python\nimport pandas as pd\nimport palmette as pm\n\n"
        f"model = pm.load({name})  # never runs code from the file\n"
        'model.predict(pd.read_csv("new.csv"))\n```'
    )
    yield f"```bash\npalmette predict {file} new.csv --out predicted.csv\n```"


def _training(facts: dict[str, Any]) -> Iterator[str]:
    fitted, tree = facts["setting"].get("fitted"), facts["setting"]["hierarchy"]
    yield "## Training"
    kind = "tree" if tree["is_tree"] else "DAG"
    yield (
        f"The classes are a {kind} of {tree['nodes']:,} nodes, {tree['leaves']:,} leaves and depth "
        f"{tree['depth']}."
    )
    if not fitted:
        return
    yield (
        f"`{fitted['winner']}` was fitted on {fitted['rows_fitted']:,} rows with seed "
        f"{fitted['seed']}, in {fitted['fit_seconds']:.1f} s, on {fitted['when'][:10]}. Target: "
        f"{_inline(fitted['target'])}."
    )
    columns = list((fitted["columns"] or {}).items())
    if columns:
        yield _table(("column", "read as"), columns[:_SHOWN_COLUMNS])
    if len(columns) > _SHOWN_COLUMNS:
        yield f"{len(columns) - _SHOWN_COLUMNS:,} more columns are not shown."
    for block in blocks(fitted["leaderboard"], fitted["winner"]):
        yield f"Models that were compared by cross-validation {block.title}:"
        rows = [
            (e["model"], _number(e["hierarchical_f1"]), _number(e["accuracy"]))
            for e in block.entries
        ]
        yield _table(("model", "hierarchical F1", "accuracy"), rows)


def _evaluation(facts: dict[str, Any]) -> Iterator[str]:
    yield "## Evaluation"
    yield f"On {facts['setting']['data']['rows']:,} rows: {_inline(facts['verdict'])}"
    rows = [
        (each["title"], _number(each["value"]), _interval(each), each["words"])
        for each in facts["figures"]
    ]
    interval = f"{facts['bootstrap']['confidence']:.0%} interval"
    yield _table(("score", "value", interval, "definition"), rows)


def _limits(facts: dict[str, Any]) -> Iterator[str]:
    data, errors = facts["setting"]["data"], facts["errors"]
    yield "## Limits"
    lines = [f"{errors['wrong']:,} of the {errors['rows']:,} rows above were wrong."]
    if data["rows_with_unseen_labels"]:
        lines.append(
            f"{data['rows_with_unseen_labels']:,} rows have a label that the model has never seen: "
            "it cannot predict labels without training rows."
        )
    found = facts.get("acceptance")
    if found is not None:
        lines.append(
            f"To reach a precision of {found['precision']:.0%}, {found['people']:,} of "
            f"{found['count']:,} predictions would go to people."
        )
    lines.append(
        "Scores hold for data like those of the evaluation; the choice of data, and the "
        "consequences of wrong predictions, are the responsibility of whoever uses the model."
    )
    yield "\n".join(f"- {line}" for line in lines)


def _reproduction(facts: dict[str, Any]) -> Iterator[str]:
    yield "## Versions"
    versions = facts["setting"]["versions"]
    yield ", ".join(f"{name} {number}" for name, number in versions.items() if number)
    yield f"This card was made {facts['made']} by `palmette card`."
