"""Shared by all plots: the import of matplotlib, axes, colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.exceptions import PalmetteError

DARK = "#333333"
PALE = "#c8c8c8"
# the first six are the colour-blind-safe palette of Okabe and Ito
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#555555")


def require_matplotlib() -> None:
    """Raise an error if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise PalmetteError(
            "drawing figures requires matplotlib: pip install 'palmette[plot]'."
        ) from error


def take_axes(ax: Any, width: float, height: float) -> Any:
    """Return the given axes, or those of a new figure with a size in inches."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def clean(axes: Any) -> None:
    """Hide the top and right spines and draw the others thin."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(colors=DARK, labelsize=8, length=2)


def legend_above(axes: Any, lines: list[Any] | None = None) -> None:
    """Put the legend above the axes, where it covers no curve; markers have no entry."""
    shown = [
        line
        for line in (axes.lines if lines is None else lines)
        if not str(line.get_label()).startswith("_")
    ]
    if shown:
        axes.legend(
            handles=shown, fontsize=8, frameon=False, loc="lower center",
            bbox_to_anchor=(0.5, 1.0), ncols=min(len(shown), 3), columnspacing=1.2,
            handlelength=1.4,
        )  # fmt: skip


# offsets of a text from its point, in points: above, below, left, then further away
_OFFSETS = ((3, 4), (3, -11), (-3, 4), (-3, -11), (3, 13), (3, -20), (-3, 13), (-3, -20))


def annotate_apart(axes: Any, notes: list[tuple[str, tuple[float, float], str]]) -> None:
    """Write texts beside points so that they cover neither each other nor other points.

    Parameters
    ----------
    axes : matplotlib Axes
        With its final limits.
    notes : list of (text, point, colour)
        A text without a free place is left out.
    """
    if not notes:
        return
    points = axes.transData.transform([at for _, at, _ in notes]) * 72 / axes.figure.dpi
    frame = np.array(axes.transAxes.transform([(0, 0), (1, 1)])) * 72 / axes.figure.dpi
    taken = [np.r_[point - 2.5, point + 2.5] for point in points]
    for (text, at, colour), point in zip(notes, points, strict=True):
        size = np.array([4.4 * len(text), 7.5])
        for x, y in _OFFSETS:
            low = point + np.array([x if x > 0 else x - size[0], y])
            box = np.r_[low, low + size]
            outside = (box[:2] < frame[0]).any() or box[2] > frame[1][0] + 6
            if outside or any(_overlap(box, other) for other in taken):
                continue
            taken.append(box)
            axes.annotate(
                text, at, xytext=(x, y), textcoords="offset points", fontsize=7, color=colour,
                ha="left" if x > 0 else "right", va="bottom",
            )  # fmt: skip
            break


def _overlap(a: Any, b: Any) -> bool:
    return bool((a[:2] < b[2:]).all() and (b[:2] < a[2:]).all())
