"""A hierarchy as SVG or a collapsible HTML tree, also below estimator diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.exceptions import HierarchyError
from palmette.hierarchy._drawing import (
    Shown,
    TreeLayout,
    choose_nodes,
    lay_out,
    one_line,
    short_path,
    summarize,
)

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

_LINE = 20  # pixels between lines
_LETTER = 6.9  # approximate width of a character in pixels
_LONGEST = 32  # maximum number of characters shown of a name
_GAP = 34  # pixels from the end of a name to the next column
_MARGIN = 16
_DOT = 4.0

# viridis: dark to light in even steps, distinguishable with red-green colour blindness
_RAMP = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725")

_SVG_STYLE = """
  .links { fill: none; stroke: #b9b9b9; stroke-width: 1.2; }
  .more-links { fill: none; stroke: #b9b9b9; stroke-width: 1; stroke-dasharray: 3 3; }
  text { font: 12px system-ui, sans-serif; fill: #222; }
  .left-out { fill: #777; font-style: italic; }
  circle { fill: #2a788e; stroke: #fff; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e6e6; } .left-out { fill: #999; } circle { stroke: #111; }
    .links, .more-links { stroke: #666; }
  }
"""


def to_svg(
    hierarchy: Hierarchy,
    *,
    max_nodes: int | None = 400,
    values: ArrayLike | None = None,
    annotations: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
) -> str:
    """Draw a tree or DAG as SVG text; further parents of a node are dashed lines.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_nodes : int or None
        Maximum number of nodes; those left out are counted. None draws all.
    values : array-like of shape (n_nodes,), optional
        Numbers shown as colours, dark for the smallest; NaN has no colour.
    annotations : sequence of str of length n_nodes, optional
        Text after the name of each node.
    weights : array-like of shape (n_nodes,), optional
        Importance of each node if some are left out.

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> to_svg(Hierarchy.star(["cat", "dog"])).count("<circle")
    3
    """
    colours = _colours(hierarchy, values)
    if annotations is not None and len(annotations) != hierarchy.n_nodes:
        raise HierarchyError(
            f"got {len(annotations)} annotations for {hierarchy.n_nodes} nodes: expected one per "
            "node."
        )
    layout = lay_out(hierarchy, max_nodes, weights)
    labels = _labels(hierarchy, layout, annotations)
    x, width = _columns(layout, labels)
    y = _MARGIN + _LINE * layout.across
    height = 2 * _MARGIN + _LINE * max(layout.n_ends - 1, 0)
    body = [
        *_links(layout, labels, x, y),
        *(
            _mark(hierarchy, layout, place, labels[place], colours, x[place], y[place])
            for place in range(layout.n_marks)
        ),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">'
    )
    title = f"<title>{escape(summarize(hierarchy))}</title>"
    return "\n".join([head, title, f"<style>{_SVG_STYLE}</style>", *body, "</svg>", ""])


def colour_of(share: float) -> str:
    """Return the colour of a number from 0 to 1, from dark to light.

    Examples
    --------
    >>> colour_of(0.0), colour_of(1.0)
    ('#440154', '#fde725')
    """
    place = min(max(share, 0.0), 1.0) * (len(_RAMP) - 1)
    low = min(int(place), len(_RAMP) - 2)
    parts = []
    for start in (1, 3, 5):
        a, b = (int(colour[start : start + 2], 16) for colour in _RAMP[low : low + 2])
        parts.append(round(a + (b - a) * (place - low)))
    return "#{:02x}{:02x}{:02x}".format(*parts)


def _colours(hierarchy: Hierarchy, values: ArrayLike | None) -> list[str] | None:
    if values is None:
        return None
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (hierarchy.n_nodes,):
        raise HierarchyError(
            f"values have shape {numbers.shape}: expected ({hierarchy.n_nodes},), one number per "
            "node."
        )
    known = numbers[np.isfinite(numbers)]
    low, span = (known.min(), np.ptp(known)) if known.size else (0.0, 0.0)
    shares = (numbers - low) / (span or 1.0)
    return [colour_of(float(s)) if np.isfinite(s) else "none" for s in shares]


def _labels(
    hierarchy: Hierarchy, layout: TreeLayout, annotations: Sequence[str] | None
) -> list[str]:
    labels = []
    for node, hidden in zip(layout.nodes.tolist(), layout.hidden.tolist(), strict=True):
        if node < 0:
            labels.append(f"… {hidden:,} more")
            continue
        text = one_line(hierarchy.names[node])
        text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
        if annotations is not None and annotations[node]:
            text += f"  {one_line(annotations[node])}"
        labels.append(text + (f"  … {hidden:,} more" if hidden else ""))
    return labels


def _columns(layout: TreeLayout, labels: list[str]) -> tuple[NDArray[np.float64], float]:
    """Return the x coordinate of every mark, one column per level, and the total width."""
    widths = np.zeros(int(layout.depth.max()) + 1)
    for level, label in zip(layout.depth.tolist(), labels, strict=True):
        widths[level] = max(widths[level], _LETTER * len(label))
    starts = _MARGIN + np.concatenate([[0.0], np.cumsum(widths + 2 * _DOT + _GAP)])
    places: NDArray[np.float64] = starts[layout.depth]
    return places, float(starts[-1] - _GAP + _MARGIN)


def _links(
    layout: TreeLayout, labels: list[str], x: NDArray[np.float64], y: NDArray[np.float64]
) -> list[str]:
    """Draw a line from the end of the parent's name, so that it stays readable, to the child."""
    below = np.flatnonzero(layout.parents >= 0)
    edges = np.column_stack([layout.parents[below], below])
    ends = x + 2 * _DOT + _LETTER * np.array([len(label) for label in labels])
    found = []
    for name, pairs in (("links", edges), ("more-links", layout.links)):
        paths = [
            f"M{min(ends[a], x[b] - _GAP):.1f} {y[a]:.1f}H{x[b] - _GAP:.1f}C{x[b] - _GAP / 2:.1f} "
            f"{y[a]:.1f} {x[b] - _GAP / 2:.1f} {y[b]:.1f} {x[b]:.1f} {y[b]:.1f}"
            for a, b in pairs.tolist()
        ]
        if paths:
            found.append(f'<path class="{name}" d="{" ".join(paths)}"/>')
    return found


def _mark(
    hierarchy: Hierarchy,
    layout: TreeLayout,
    place: int,
    label: str,
    colours: list[str] | None,
    x: float,
    y: float,
) -> str:
    node = int(layout.nodes[place])
    text = f'<text x="{x + 2 * _DOT:.1f}" y="{y + 4:.1f}"'
    if node < 0:
        return f'{text} class="left-out">{escape(label)}</text>'
    fill = "" if colours is None else f' style="fill:{colours[node]}"'
    path = escape(one_line(short_path(hierarchy, node)))
    return (
        f'<g><title>{path}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{_DOT}"{fill}/>'
        f"{text}>{escape(label)}</text></g>"
    )


_NOTEBOOK_NODES = 400
_PAGE_NODES = 20_000
_OPEN_LINES = 40  # approximate number of lines that are open at first
_DEEPEST = 100  # nested elements: browsers stop at a few hundred

_TREE_STYLE = """
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
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> "a &lt; b" in to_html(Hierarchy.star(["a < b"]))
    True
    """
    shown = choose_nodes(hierarchy, max_nodes)
    body = _details(hierarchy, shown, _first_open(hierarchy, shown))
    return (
        f'<style>{_TREE_STYLE}</style><div class="palmette-tree">\n'
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


_NODES = 150  # maximum number in the tree below the diagram


class FittedHTML:
    """Mixin of estimators with ``hierarchy_``: shows its size and tree below the diagram."""

    def _html_repr(self) -> str:
        return fitted_html(self)


def fitted_html(estimator: Any) -> str:
    """Return scikit-learn's diagram of an estimator, and its hierarchy below it."""
    from sklearn.utils import estimator_html_repr

    return str(estimator_html_repr(estimator)) + _fitted_part(estimator)


def _fitted_part(estimator: Any) -> str:
    hierarchy = getattr(estimator, "hierarchy_", None)
    if hierarchy is None:
        return ""
    facts = [summarize(hierarchy)]
    classes = getattr(estimator, "classes_", None)
    if classes is not None and not isinstance(classes, list):
        facts.append(f"{len(classes):,} classes")
    n_features = getattr(estimator, "n_features_in_", None)
    if n_features is not None:
        facts.append(f"{n_features:,} features")
    title = escape(f"Fitted hierarchy: {'; '.join(facts)}")
    return (
        f'<details style="font: 13px system-ui, sans-serif"><summary>{title}</summary>'
        f"{to_html(hierarchy, _NODES)}</details>"
    )
