"""What all pictures share: matplotlib where it is needed, a canvas without state, colours."""

from __future__ import annotations

import io
from typing import Any

from palmette.exceptions import PalmetteError

__all__ = ["COLOURS", "INK", "PALE", "clean", "new_figure", "png_of", "require_matplotlib"]

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
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise PalmetteError(
            "drawing figures needs matplotlib: pip install 'palmette[plot]', or leave out --out."
        ) from error


def new_figure(width: float, height: float, title: str) -> Any:
    """Return an empty figure with a title, of a size in inches.

    It has a canvas of its own, so that nothing of the program's pyplot is touched.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=12, color=INK)
    return figure


def clean(axes: Any) -> None:
    """Leave out the frame's upper and right side, and draw the rest thin."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(colors=INK, labelsize=8, length=2)


def png_of(figure: Any) -> bytes:
    """Return a figure as a PNG file."""
    stream = io.BytesIO()
    # without a date and a version, equal facts give equal files
    figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
    return stream.getvalue()
