"""`TrainingCurveDisplay` and `CriticalDifferenceDisplay`: losses per round, average ranks."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.base._adapters import find_in_parts
from palmette.exceptions import PalmetteError
from palmette.metrics._comparison import DatasetComparison, compare_over_datasets
from palmette.plotting._axes import COLOURS, DARK, PALE, clean, legend_above, take_axes

_LINE = 0.24  # inches between two names
_LETTER = 0.075  # approximate width of a letter in inches
# attribute, name of the curve, name of a step
_HISTORIES = (
    ("train_loss_", "training loss", "round"),
    ("validation_loss_", "validation loss", "round"),
    ("train_score_", "training score", "round"),
    ("validation_score_", "validation score", "round"),
    ("loss_curve_", "training loss", "epoch"),
    ("objective_", "objective", "sweep"),
)


class TrainingCurveDisplay:
    """Training curves: losses of boosting or of a network, objectives of a feature selector.

    Parameters
    ----------
    curves : dict of str to array-like of shape (n_steps,)
        Values by name of the curve.
    step : str
        Name of a step.
    first : int
        Number of the first step.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.

    Examples
    --------
    >>> display = TrainingCurveDisplay({"training loss": [0.9, 0.5, 0.3]}).plot()
    >>> [line.get_label() for line in display.ax_.lines]
    ['training loss']
    """

    def __init__(
        self, curves: dict[str, ArrayLike], step: str = "round", *, first: int = 1
    ) -> None:
        self.curves: dict[str, NDArray[np.float64]] = {
            name: np.asarray(values, dtype=np.float64) for name, values in curves.items()
        }
        self.step = step
        self.first = first

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, max_stages: int = 500, **options: Any
    ) -> TrainingCurveDisplay:
        """Plot the training curves of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            May be a pipeline, a search, or a classifier with a ``feature_selector_``.
        X, y : rows and their labels, optional
            Add the accuracy on these rows after every round, if there is a `staged_score`.
        max_stages : int
            Maximum number of rounds that are scored.
        **options
            Passed to `plot`.

        Returns
        -------
        TrainingCurveDisplay
        """
        curves, step = _histories(estimator)
        if X is not None:
            staged = find_in_parts(estimator, "staged_score")
            if staged is None:
                raise PalmetteError(
                    f"{type(estimator).__name__} has no staged_score: leave out X and y."
                )
            curves["accuracy on these rows"] = np.fromiter(islice(staged(X, y), max_stages), float)
        if not curves:
            raise PalmetteError(
                f"{type(estimator).__name__} has no training curve: expected one of "
                f"{', '.join(name for name, _, _ in _HISTORIES)}."
            )
        # the first objective is the one before the first sweep
        return cls(curves, step, first=0 if step == "sweep" else 1).plot(**options)

    def plot(self, ax: Any = None, *, log: bool = False) -> TrainingCurveDisplay:
        """Plot the curves; scores have a second y axis if there are losses, too.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        log : bool
            Whether losses are plotted on a logarithmic scale.

        Returns
        -------
        self
        """
        self.ax_ = take_axes(ax, 5.4, 3.6)
        self.figure_ = self.ax_.figure
        losses = [name for name in self.curves if "loss" in name or "objective" in name]
        scores = [name for name in self.curves if name not in losses]
        self._draw(self.ax_, losses or scores, 0)
        if log:
            self.ax_.set_yscale("log")
        lines = list(self.ax_.lines)
        clean(self.ax_)
        if losses and scores:
            right = self.ax_.twinx()
            self._draw(right, scores, len(losses))
            lines += list(right.lines)
            clean(right)
            right.spines["right"].set(visible=True, color=PALE)
        self.ax_.set_xlabel(self.step, color=DARK)
        legend_above(self.ax_, lines)
        return self

    def _draw(self, ax: Any, names: list[str], first_colour: int) -> None:
        for place, name in enumerate(names, start=first_colour):
            values = self.curves[name]
            steps = np.arange(self.first, self.first + len(values))
            colour = COLOURS[place % len(COLOURS)]
            ax.plot(steps, values, color=colour, linewidth=1.4, label=name)
            if name == "validation loss" and len(values):
                best = int(values.argmin())
                ax.plot(steps[best], values[best], marker="o", markersize=4, color=colour)
        words = names[0] if len(names) == 1 else names[0].rpartition(" ")[2]
        ax.set_ylabel(words, color=DARK)


def _histories(estimator: Any) -> tuple[dict[str, ArrayLike], str]:
    curves: dict[str, ArrayLike] = {}
    step = "round"
    for source in (estimator, find_in_parts(estimator, "feature_selector_")):
        if curves or source is None:
            continue
        for attribute, name, what in _HISTORIES:
            values = find_in_parts(source, attribute)
            if values is not None and np.ndim(values) == 1 and len(values):
                curves[name] = values
                step = what
    return curves, step


class CriticalDifferenceDisplay:
    """A critical-difference diagram: bars join methods that do not differ significantly.

    Parameters
    ----------
    result : DatasetComparison
        As returned by `palmette.metrics.compare_over_datasets`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.

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
        """Compare methods over data sets and plot the result.

        Parameters
        ----------
        scores : DataFrame or array-like of shape (n_datasets, n_methods)
        ax : matplotlib Axes, optional
        **options
            Passed to `palmette.metrics.compare_over_datasets`.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        return cls(compare_over_datasets(scores, **options)).plot(ax)

    def plot(self, ax: Any = None, *, title: str | None = None) -> CriticalDifferenceDisplay:
        """Plot the diagram.

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
        span = max(n - 1, 1) / (width - 2 * margin)  # ranks per inch
        for place, method in enumerate(result.order.tolist()):
            on_left = place < n_left
            line = place if on_left else n - 1 - place
            self._draw_method(method, on_left, top + _LINE * line, margin * span * 0.15, n)
        for line, (low, high) in enumerate(bars):
            y = -(0.3 + 0.13 * line)
            self.ax_.plot([low - 0.03, high + 0.03], [y, y], color=DARK, linewidth=3.2,
                          solid_capstyle="round")  # fmt: skip
        self.ax_.set(
            xlim=(1 - margin * span, n + margin * span), ylim=(-(top + _LINE * n_left), 0.75)
        )
        self.ax_.set_axis_off()
        if title:
            self.ax_.set_title(title, fontsize=10, color=DARK)
        return self

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches so that nothing overlaps."""
        n = len(self.result.methods)
        height = 0.75 + self._top + _LINE * ((n + 1) // 2)
        return max(3.2, 0.7 * (n - 1)) + 2 * self._margin, height

    @property
    def _margin(self) -> float:
        return _LETTER * (max(len(str(method)) for method in self.result.methods) + 6)

    @property
    def _top(self) -> float:
        """Inches between the axis and the first name."""
        return 0.55 + 0.13 * len(self.result.groups)

    def _bars(self) -> list[tuple[float, float]]:
        """Return the lowest and highest rank of each group without significant differences."""
        ranks = dict(zip(self.result.methods, self.result.average_ranks.tolist(), strict=True))
        return [
            (min(ranks[m] for m in group), max(ranks[m] for m in group))
            for group in self.result.groups
        ]

    def _draw_axis(self, n: int) -> None:
        ax, distance = self.ax_, self.result.critical_difference
        ax.plot([1, n], [0, 0], color=DARK, linewidth=1)
        for rank in range(1, n + 1):
            ax.plot([rank, rank], [0, 0.1], color=DARK, linewidth=1)
            ax.text(rank, 0.14, str(rank), ha="center", va="bottom", fontsize=8, color=DARK)
        if np.isfinite(distance) and distance <= n - 1:
            ax.plot([1, 1 + distance], [0.5, 0.5], color=COLOURS[0], linewidth=1.6, marker="|")
            ax.text(1 + distance / 2, 0.56, f"critical difference {distance:.2f}", ha="center",
                    va="bottom", fontsize=8, color=COLOURS[0])  # fmt: skip

    def _draw_method(self, method: int, on_left: bool, down: float, out: float, n: int) -> None:
        rank = float(self.result.average_ranks[method])
        end = 1 - out if on_left else n + out
        self.ax_.plot([rank, rank, end], [0, -down, -down], color=PALE, linewidth=1, zorder=1)
        self.ax_.plot(rank, 0, marker="o", markersize=3.5, color=DARK, zorder=3)
        name = str(self.result.methods[method]).replace("$", r"\$")
        is_control = self.result.methods[method] == self.result.control
        words = f"{name}  {rank:.2f}" if on_left else f"{rank:.2f}  {name}"
        self.ax_.annotate(
            words, (end, -down), xytext=(-3 if on_left else 3, 0), textcoords="offset points",
            ha="right" if on_left else "left", va="center", fontsize=8.5,
            color=COLOURS[1] if is_control else DARK,
        )  # fmt: skip
