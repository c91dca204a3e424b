"""What the server says about itself: the page to try it, the model card, the OpenAPI document."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from palmette._text import visible
from palmette.reporting._html import data_script
from palmette.reporting._plain import plain
from palmette.serving._answers import Answerer
from palmette.serving._requests import Limits

_MOST_CLASSES = 1_000  # of the model card


def own_version() -> str:
    """Return the version of Palmette."""
    try:
        return version("palmette")
    except PackageNotFoundError:  # pragma: no cover
        return "unknown"


# ---------------------------------------------------------------------- the page


def web_page(answerer: Answerer, name: str, language: str | None) -> tuple[str, str]:
    """Return the page to try a model by hand, and its content security policy.

    Names of classes and columns are never interpreted as markup. The policy allows the script and
    the style of the page only, by their hashes, and requests to the same server.

    Parameters
    ----------
    answerer : Answerer
    name : str
        Title of the page.
    language : str or None
        Language that is chosen at first.
    """
    folder = resources.files("palmette.serving") / "assets"
    style, script, page = (
        (folder / f"page.{suffix}").read_text(encoding="utf-8") for suffix in ("css", "js", "html")
    )
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    facts = answerer.model.summary_
    words = f"{facts.get('model')}, {len(answerer.model.classes_):,} classes"
    if facts.get("when"):
        words += f", fitted {str(facts['when'])[:10]}"
    data = {
        "columns": [[column, kind] for column, kind in answerer.kinds.items()],
        "languages": answerer.labels.languages,
        "language": language,
    }
    text = page.format(
        title=html.escape(visible(name)),
        facts=html.escape(visible(words)),
        style=style,
        script=script,
        data=data_script(data),
    )
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        f"img-src data:; connect-src 'self'; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'"
    )
    return text, policy


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


# ---------------------------------------------------------------------- the model card


def model_card(answerer: Answerer, name: str, limits: Limits) -> dict[str, Any]:
    """Return facts about a model: what it is, its classes, when and with what it was fitted."""
    model, h = answerer.model, answerer.hierarchy
    facts = model.summary_
    classes = [
        answerer.labels.text(int(node))
        for node in h.index(list(model.class_paths_[:_MOST_CLASSES]))
    ]
    known = ("when", "rows", "rows_fitted", "seconds", "seed", "settings", "calibrate", "coverage")
    card = {
        "name": name,
        "model": facts.get("model", model.model),
        "estimator": type(model.estimator_).__name__,
        "columns": answerer.kinds,
        "target": facts.get("target"),
        "several_labels": bool(model.several_paths_),
        "probabilities": answerer.has_scores,
        "hierarchy": {
            "nodes": h.n_nodes - 1,
            "leaves": h.n_leaves,
            "depth": h.max_depth,
            "tree": h.is_tree,
            "learnt": bool(model.learnt_),
        },
        "n_classes": len(model.classes_),
        "classes": classes,
        "languages": answerer.labels.languages,
        "fit": {key: facts.get(key) for key in (*known, "leaderboard", "versions")},
        "limits": vars(limits),
        "server": f"palmette {own_version()}",
    }
    found: dict[str, Any] = plain(card)
    return found


# ---------------------------------------------------------------------- OpenAPI

_TEXT, _WHOLE, _NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
_LIST = {"type": "array"}
_LIMIT = {
    **_WHOLE,
    "minimum": 0,
    "maximum": 1000,
    "default": 10,
    "description": "Number of labels.",
}
_THRESHOLD = {**_NUMBER, "minimum": 0, "maximum": 1, "default": 0, "description": "Minimum score."}
_LANGUAGE = {**_TEXT, "description": "Language of labels, if the hierarchy is a thesaurus."}
_ERRORS = {
    "400": "Not JSON, or not a form.",
    "408": "The body was sent too slowly.",
    "413": "The body is too large, or has too many rows.",
    "415": "Another content type.",
    "422": "A field or a value that is not allowed.",
    "500": "The model failed.",
    "503": "Too many requests wait, or the model took too long. Try again later.",
}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return {**found, "required": required} if required else found


def _list_of(schema: Any, **more: Any) -> dict[str, Any]:
    return {**_LIST, "items": schema, **more}


def _reply(words: str, schema: Any, media: str = "application/json") -> dict[str, Any]:
    return {"description": words, "content": {media: {"schema": schema}}}


def _get(words: str, reply: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"get": {"summary": words, "responses": {"200": reply}, **more}}


def _post(words: str, body: dict[str, Any], reply: Any, errors: str, **more: Any) -> dict[str, Any]:
    problem = {"application/problem+json": {"schema": _ref("Problem")}}
    replies = {s: {"description": _ERRORS[s], "content": problem} for s in errors.split()}
    content = {media: {"schema": schema} for media, schema in body.items()}
    return {
        "post": {
            "summary": words,
            "requestBody": {"required": True, "content": content},
            "responses": {"200": _reply("Answers.", reply), **replies},
            **more,
        }
    }


def openapi(answerer: Answerer, name: str, limits: Limits) -> dict[str, Any]:
    """Return the OpenAPI document of a server."""
    cell: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
    columns = {column: {**cell, "description": kind} for column, kind in answerer.kinds.items()}
    options: dict[str, Any] = {"limit": _LIMIT, "threshold": _THRESHOLD, "language": _LANGUAGE}
    label = {
        "uri": _TEXT,
        "label": _TEXT,
        "notation": {"type": ["string", "null"]},
        "path": {"type": ["array", "null"], "items": _TEXT},
        "score": {"type": ["number", "null"]},
    }
    schemas = {
        "Row": _object(list(columns), **columns),
        "Question": _object(
            text=_TEXT,
            texts=_list_of(_TEXT, maxItems=limits.rows),
            rows=_list_of(_ref("Row"), maxItems=limits.rows),
            tree={"type": "boolean", "default": False, "description": "Nodes above the labels."},
            **options,
        ),
        "Form": _object(["text"], text=_TEXT, **options),
        "Label": _object(["uri", "label", "score"], **label),
        "Node": _object(["id", "parents"], id=_WHOLE, parents=_list_of(_WHOLE), **label),
        "Results": _object(
            ["results"], results=_list_of(_ref("Label")), nodes=_list_of(_ref("Node"))
        ),
        "Suggestions": _object(
            results=_list_of(_ref("Label")),
            answers=_list_of(_ref("Results")),
            notes=_list_of(_TEXT),
        ),
        "Prediction": _object(
            ["prediction", "labels", "results"],
            prediction=_TEXT,
            labels=_list_of(_ref("Label")),
            results=_list_of(_ref("Label")),
            nodes=_list_of(_ref("Node")),
        ),
        "Predictions": _object(
            ["predictions"], predictions=_list_of(_ref("Prediction")), notes=_list_of(_TEXT)
        ),
        "Documents": _object(
            ["documents"],
            documents=_list_of(_object(["text"], text=_TEXT, document_id=_TEXT), maxItems=32),
        ),
        "Project": _object(
            ["project_id", "name", "language", "backend"],
            project_id=_TEXT,
            name=_TEXT,
            language=_TEXT,
            backend=_object(["backend_id"], backend_id=_TEXT),
            is_trained={"type": "boolean"},
            modification_time={"type": ["string", "null"], "format": "date-time"},
        ),
        "Problem": _object(
            ["title", "status", "detail"], type=_TEXT, title=_TEXT, status=_WHOLE, detail=_TEXT
        ),
    }
    form, json_type = "application/x-www-form-urlencoded", "application/json"
    project = [{"name": "project_id", "in": "path", "required": True, "schema": _TEXT}]
    in_query = [{"name": key, "in": "query", "schema": schema} for key, schema in options.items()]
    every, annif = " ".join(_ERRORS), "400 408 413 415 500 503"
    anything: dict[str, Any] = {"type": "object"}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"Palmette: {name}", "version": own_version()},
        "paths": {
            "/": _get("A page to try the model.", _reply("HTML.", _TEXT, "text/html")),
            "/suggest": _post(
                "The best labels of a text, texts or rows; a form has one text.",
                {json_type: _ref("Question"), form: _ref("Form")}, _ref("Suggestions"), every,
            ),
            "/predict": _post(
                "The decisions of the model about a text, texts or rows, and the best labels.",
                {json_type: _ref("Question")}, _ref("Predictions"), every,
            ),
            "/health": _get("Whether the server answers.", _reply("It does.", anything)),
            "/card": _get("Facts about the model.", _reply("Facts.", anything)),
            "/metrics": _get("Counts for Prometheus.", _reply("Counts.", _TEXT, "text/plain")),
            "/openapi.json": _get("This document.", _reply("OpenAPI.", anything)),
            "/v1/": _get("As Annif: the service.", _reply("Title and version.", anything)),
            "/v1/projects": _get(
                "As Annif: all projects, which is one.",
                _reply("Projects.", _object(projects=_list_of(_ref("Project")))),
            ),
            "/v1/projects/{project_id}": _get(
                "As Annif: the state of a project.", _reply("State.", _ref("Project")),
                parameters=project,
            ),
            "/v1/projects/{project_id}/suggest": _post(
                "As Annif: the best labels of a text.", {form: _ref("Form")}, _ref("Suggestions"),
                annif, parameters=project,
            ),
            "/v1/projects/{project_id}/suggest-batch": _post(
                "As Annif: the best labels of up to 32 texts.", {json_type: _ref("Documents")},
                _list_of(_ref("Results")), annif, parameters=[*project, *in_query],
            ),
        },
        "components": {"schemas": schemas},
    }  # fmt: skip
