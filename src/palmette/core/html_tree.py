"""A hierarchy as a collapsible HTML tree, for notebooks and as a complete page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from palmette.core.drawing import Shown, choose_nodes, one_line, summarize

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["to_html", "to_page"]

_NOTEBOOK_NODES = 400
_PAGE_NODES = 20_000
_OPEN_LINES = 40  # approximate number of lines that are open at first
_DEEPEST = 100  # nested elements: browsers stop at a few hundred

_STYLE = """
.palmette-tree { font: 13px/1.5 system-ui, sans-serif; }
.palmette-tree details, .palmette-tree .leaf { margin-left: 1.1em; }
.palmette-tree > details { margin-left: 0; }
.palmette-tree summary { cursor: pointer; }
.palmette-tree .leaf { padding-left: 1.1em; }
.palmette-tree .more { color: #777; font-style: italic; }
.palmette-tree .size { color: #777; font-size: 11px; }
"""
_PAGE_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 60em; margin: 2em auto; padding: 0 1em; font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.2em; }
"""


def to_html(hierarchy: Hierarchy, max_nodes: int | None = _NOTEBOOK_NODES) -> str:
    """Return a tree or DAG as nested ``<details>`` with escaped names; a large one is abbreviated.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_nodes : int or None
        Maximum number of nodes; those left out are counted. None shows all.

    Returns
    -------
    str
        An HTML fragment without scripts.

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> "a &lt; b" in to_html(Hierarchy.star(["a < b"]))
    True
    """
    shown = choose_nodes(hierarchy, max_nodes)
    body = _details(hierarchy, shown, _first_open(hierarchy, shown))
    return (
        f'<style>{_STYLE}</style><div class="palmette-tree">\n'
        f'<div class="size">{escape(summarize(hierarchy))}</div>\n{body}\n</div>\n'
    )


def to_page(hierarchy: Hierarchy) -> str:
    """Return a complete HTML page without external resources.

    Parameters
    ----------
    hierarchy : Hierarchy
        Up to 20,000 nodes are shown.

    Returns
    -------
    str
    """
    title = escape(f"Hierarchy: {one_line(hierarchy.names[0])}")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title><style>{_PAGE_STYLE}</style></head>\n"
        f"<body><h1>{title}</h1>\n{to_html(hierarchy, _PAGE_NODES)}</body></html>\n"
    )


def _first_open(hierarchy: Hierarchy, shown: Shown) -> set[int]:
    """Return the nodes that are open at first: breadth first, up to about `_OPEN_LINES` lines."""
    opened: set[int] = set()
    lines, waiting = 1, [0]
    for node in waiting:  # the list grows: breadth first
        lines += len(shown[node])
        if node and lines > _OPEN_LINES:
            break
        if node not in opened:
            opened.add(node)
            waiting += shown[node]
    return opened


def _details(hierarchy: Hierarchy, shown: Shown, opened: set[int]) -> str:
    parts: list[str] = []
    written: set[int] = set()
    stack: list[tuple[int, int] | str] = [(0, 0)]  # node and depth, or text that closes one
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        node, depth = item
        name = escape(one_line(hierarchy.names[node]))
        children = shown[node] if node not in written and depth < _DEEPEST else []
        left_out = len(hierarchy.children(node)) - len(children)
        more = f'<span class="more">… {left_out:,} more</span>' if left_out else ""
        if not children:
            parts.append(f'<div class="leaf">{name} {more}</div>')
            continue
        written.add(node)  # in a DAG a node is repeated, but not its descendants
        state = " open" if node in opened else ""
        size = f'<span class="size">{len(hierarchy.children(node)):,}</span>'
        parts.append(f"<details{state}><summary>{name} {size}</summary>")
        stack.append(f'<div class="leaf">{more}</div></details>' if more else "</details>")
        stack.extend((child, depth + 1) for child in reversed(children))
    return "\n".join(parts)
