"""A hierarchy as an SVG picture: the root on the left, one line per leaf."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.core.drawing import one_line, summarize
from palmette.core.layout import TreeLayout, lay_out
from palmette.exceptions import HierarchyError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["colour_of", "to_svg"]

_LINE = 20  # pixels between lines
_LETTER = 6.9  # approximate width of a character in pixels
_LONGEST = 32  # maximum number of characters shown of a name
_GAP = 34  # pixels from the end of a name to the next column
_MARGIN = 16
_DOT = 4.0

# viridis: dark to light in even steps, distinguishable with red-green colour blindness
_RAMP = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725")

_STYLE = """
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
    >>> from palmette.core.hierarchy import Hierarchy
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
    return "\n".join([head, title, f"<style>{_STYLE}</style>", *body, "</svg>", ""])


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
    path = escape(one_line(hierarchy.path_strings[node]))
    return (
        f'<g><title>{path}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="{_DOT}"{fill}/>'
        f"{text}>{escape(label)}</text></g>"
    )
