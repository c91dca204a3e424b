"""Shared by all plots: the import of matplotlib, axes, colours."""

from __future__ import annotations

from typing import Any

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
            "drawing figures needs matplotlib: pip install 'palmette[plot]', or leave out --out."
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
