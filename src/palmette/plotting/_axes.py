"""What all pictures share: matplotlib where it is needed, axes, colours."""

from __future__ import annotations

from typing import Any

from palmette.exceptions import PalmetteError

__all__ = ["COLOURS", "INK", "PALE", "clean", "require_matplotlib", "take_axes"]

INK = "#333333"
PALE = "#c8c8c8"
# told apart by those who do not see red and green alike (Okabe and Ito), but for the last two
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#8c6d31",
    "#555555",
)


def require_matplotlib() -> None:
    """Refuse to begin what could not be drawn in the end."""
    try:
        import matplotlib.figure
    except ImportError as error:
        raise PalmetteError(
            "drawing figures needs matplotlib: pip install 'palmette[plot]', or leave out --out."
        ) from error


def take_axes(ax: Any, width: float, height: float) -> Any:
    """Return the axes to draw on: those given, or those of a new figure of a size in inches."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def clean(axes: Any) -> None:
    """Leave out the frame's upper and right side, and draw the rest thin."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(colors=INK, labelsize=8, length=2)
