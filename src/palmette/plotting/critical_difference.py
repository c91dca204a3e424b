"""CriticalDifferenceDisplay: average ranks of methods over data sets, and which do not differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.metrics._comparison import DatasetComparison, compare_over_datasets
from palmette.plotting.ink import COLOURS, INK, PALE, take_axes

__all__ = ["CriticalDifferenceDisplay"]

_LINE = 0.24  # inches from one name to the next
_LETTER = 0.075


class CriticalDifferenceDisplay:
    """A critical-difference diagram: bars join methods that no test tells apart.

    Parameters
    ----------
    result : DatasetComparison
        As `palmette.metrics.compare_over_datasets` gives it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Both there after `plot`.

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.8, 0.5], [0.9, 0.8, 0.6]]
    >>> display = CriticalDifferenceDisplay.from_scores(scores, methods=["a", "b", "c"])
    >>> display.result.groups
    [('a', 'b'), ('b', 'c')]
    """

    def __init__(self, result: DatasetComparison) -> None:
        self.result = result

    @classmethod
    def from_scores(cls, scores: Any, ax: Any = None, **options: Any) -> CriticalDifferenceDisplay:
        """Compare methods over data sets, and draw what was found.

        Parameters
        ----------
        scores : DataFrame or array-like of shape (n_datasets, n_methods)
        ax : matplotlib Axes, optional
        **options
            For `palmette.metrics.compare_over_datasets`.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        return cls(compare_over_datasets(scores, **options)).plot(ax)

    def plot(self, ax: Any = None, *, title: str | None = None) -> CriticalDifferenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        title : str, optional

        Returns
        -------
        self
        """
        result = self.result
        n = len(result.methods)
        n_left = (n + 1) // 2
        bars = self._bars()
        margin, top = self._margin, self._top
        width, height = self.size
        self.ax_ = take_axes(ax, width, height + (0.3 if title else 0.0))
        self.figure_ = self.ax_.figure
        self._draw_axis(n)
        span = max(n - 1, 1) / (width - 2 * margin)  # ranks of an inch
        for place, method in enumerate(result.order.tolist()):
            on_left = place < n_left
            line = place if on_left else n - 1 - place
            self._draw_method(method, on_left, top + _LINE * line, margin * span * 0.15, n)
        for line, (low, high) in enumerate(bars):
            y = -(0.3 + 0.13 * line)
            self.ax_.plot([low - 0.03, high + 0.03], [y, y], color=INK, linewidth=3.2,
                          solid_capstyle="round")  # fmt: skip
        self.ax_.set(
            xlim=(1 - margin * span, n + margin * span),
            ylim=(-(top + _LINE * n_left), 0.75),
        )
        self.ax_.set_axis_off()
        if title:
            self.ax_.set_title(title, fontsize=10, color=INK)
        return self

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches in which nothing overlaps."""
        n = len(self.result.methods)
        height = 0.75 + self._top + _LINE * ((n + 1) // 2)
        return max(3.2, 0.7 * (n - 1)) + 2 * self._margin, height

    @property
    def _margin(self) -> float:
        return _LETTER * (max(len(str(method)) for method in self.result.methods) + 6)

    @property
    def _top(self) -> float:
        """Inches from the axis down to the first name."""
        return 0.55 + 0.13 * len(self.result.groups)

    def _bars(self) -> list[tuple[float, float]]:
        """Ranks of the first and the last method of every group that does not differ."""
        ranks = dict(zip(self.result.methods, self.result.average_ranks.tolist(), strict=True))
        return [
            (min(ranks[m] for m in group), max(ranks[m] for m in group))
            for group in self.result.groups
        ]

    def _draw_axis(self, n: int) -> None:
        ax, distance = self.ax_, self.result.critical_difference
        ax.plot([1, n], [0, 0], color=INK, linewidth=1)
        for rank in range(1, n + 1):
            ax.plot([rank, rank], [0, 0.1], color=INK, linewidth=1)
            ax.text(rank, 0.14, str(rank), ha="center", va="bottom", fontsize=8, color=INK)
        if np.isfinite(distance) and distance <= n - 1:
            ax.plot([1, 1 + distance], [0.5, 0.5], color=COLOURS[0], linewidth=1.6, marker="|")
            ax.text(1 + distance / 2, 0.56, f"critical difference {distance:.2f}", ha="center",
                    va="bottom", fontsize=8, color=COLOURS[0])  # fmt: skip

    def _draw_method(self, method: int, on_left: bool, down: float, out: float, n: int) -> None:
        rank = float(self.result.average_ranks[method])
        end = 1 - out if on_left else n + out
        self.ax_.plot([rank, rank, end], [0, -down, -down], color=PALE, linewidth=1, zorder=1)
        self.ax_.plot(rank, 0, marker="o", markersize=3.5, color=INK, zorder=3)
        name = str(self.result.methods[method]).replace("$", r"\$")
        is_control = self.result.methods[method] == self.result.control
        words = f"{name}  {rank:.2f}" if on_left else f"{rank:.2f}  {name}"
        self.ax_.annotate(
            words, (end, -down), xytext=(-3 if on_left else 3, 0), textcoords="offset points",
            ha="right" if on_left else "left", va="center", fontsize=8.5,
            color=COLOURS[1] if is_control else INK,
        )  # fmt: skip
