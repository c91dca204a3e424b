"""The report as one HTML file that needs nothing else: no network, no other file, no server."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["data_script", "to_html", "to_notebook"]

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
<a class="skip" href="#main">Skip to the figures</a>
<header class="top" id="top"></header>
<main id="main" tabindex="-1"></main>
<noscript>
<p>The pictures of this report are drawn by JavaScript, which is switched off. The figures:</p>
<table>
{figures}
</table>
</noscript>
<script type="application/json" id="facts">{facts}</script>
<script>{script}</script>
</body>
</html>
"""


def to_html(facts: dict[str, Any]) -> str:
    """Write facts as one HTML page.

    Names of classes and texts of rows are data, never markup: they travel as escaped JSON and reach
    the page as text nodes. Besides, the page allows no script but its own, known by its hash, and
    no request to anywhere.

    Parameters
    ----------
    facts : dict

    Returns
    -------
    str
        ASCII outside of the page's own script and style.
    """
    style, script = _assets()
    return _PAGE.format(
        title=_escaped(facts["title"]),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        figures="\n".join(map(_figure_row, facts["figures"])),
        facts=data_script(facts),
    )


def to_notebook(facts: dict[str, Any]) -> str:
    """Write facts as a frame for a notebook, shut off from the page around it."""
    page = html.escape(to_html(facts), quote=True)
    return (
        '<iframe sandbox="allow-scripts" style="width: 100%; height: 46rem; border: 0" '
        f'title="{_escaped(facts["title"])}" srcdoc="{page}"></iframe>'
    )


def data_script(facts: dict[str, Any]) -> str:
    r"""Write facts as JSON that may stand inside of a script element.

    Examples
    --------
    >>> data_script({"name": "</script><b>&"})
    '{"name":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    """
    text = json.dumps(facts, separators=(",", ":"), allow_nan=False)  # ASCII: no line separators
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


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


def _figure_row(figure: dict[str, Any]) -> str:
    value = "–" if figure["value"] is None else f"{figure['value']:.4f}"
    return f"<tr><th>{_escaped(figure['title'])}</th><td>{value}</td></tr>"


def _escaped(text: Any) -> str:
    return html.escape(str(text)).encode("ascii", "xmlcharrefreplace").decode("ascii")
