"""Shared by the figures of all papers: a canvas without global state, and PNG files."""

from __future__ import annotations

import io
from typing import Any

from palmette.plotting._axes import COLOURS, DARK, PALE, clean, require_matplotlib

__all__ = ["COLOURS", "DARK", "PALE", "clean", "new_figure", "png_of", "require_matplotlib"]


def new_figure(width: float, height: float, title: str) -> Any:
    """Return an empty figure with a title, of a size in inches.

    It has its own canvas, so that the state of pyplot does not change.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=12, color=DARK)
    return figure


def png_of(figure: Any) -> bytes:
    """Return a figure as a PNG file."""
    stream = io.BytesIO()
    # without date and version, equal figures give equal files
    figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
    return stream.getvalue()
