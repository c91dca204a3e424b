"""Rendering of a report as one HTML page and as a notebook frame."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib import resources
from typing import Any

from palmette._text import visible

_SCRIPTS = (
    "dom.js",
    "facts.js",
    "charts.js",
    "download.js",
    "tree.js",
    "node_panel.js",
    "verdict.js",
    "overview.js",
    "review.js",
    "versus.js",
    "acceptance.js",
    "classes.js",
    "siblings.js",
    "pairs.js",
    "errors.js",
    "confidence.js",
    "model.js",
    "main.js",
)

# how every page begins: nothing is loaded, and only the style and script of the page are used
PAGE_HEAD = """<!doctype html>
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
"""

_PAGE = (
    PAGE_HEAD
    + """<header class="top" id="top"></header>
<main id="main" tabindex="-1"></main>
<noscript>
<p>{verdict}</p>
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
)

# in JSON of ASCII: those of C0, C1 and of marks that reverse text, as group 1
_CONTROL_ESCAPE = re.compile(r"\\(?:u(00[0189][0-9a-f]|202[a-e]|206[6-9])|.)")


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
        verdict=_escaped(facts.get("verdict") or ""),
        figures=_score_table(facts),
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


def _score_table(facts: dict[str, Any]) -> str:
    """Return rows of HTML: the headline scores and those of the baselines."""
    bases = facts.get("baselines") or []
    titles = ["score", "this model", *(_base_title(base) for base in bases)]
    lines = ["".join(f"<th>{_escaped(title)}</th>" for title in titles)]
    for score in facts["figures"]:
        values = [score["value"], *(base["scores"].get(score["name"]) for base in bases)]
        cells = ("–" if value is None else f"{value:.4f}" for value in values)
        name = f"<th>{_escaped(score['title'])}</th>"
        lines.append(name + "".join(f"<td>{cell}</td>" for cell in cells))
    return "\n".join(f"<tr>{line}</tr>" for line in lines)


def _base_title(base: dict[str, Any]) -> str:
    crossed = base["measured"] == "cross-validation"
    return f"{base['title']}{' (cross-validated)' if crossed else ''}"


def _escaped(text: Any) -> str:
    return html.escape(visible(str(text))).encode("ascii", "xmlcharrefreplace").decode("ascii")
