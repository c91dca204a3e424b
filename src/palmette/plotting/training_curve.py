"""TrainingCurveDisplay: what became of a loss or a score, round by round."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.engine.adapters import find_in_parts
from palmette.exceptions import PalmetteError
from palmette.plotting.ink import COLOURS, INK, clean, take_axes

__all__ = ["TrainingCurveDisplay"]

# attribute, what the curve is called, what the steps are
_HISTORIES = (
    ("train_loss_", "training loss", "round"),
    ("validation_loss_", "validation loss", "round"),
    ("train_score_", "training score", "round"),
    ("validation_score_", "validation score", "round"),
    ("loss_curve_", "training loss", "epoch"),
    ("objective_", "objective", "sweep"),
)


class TrainingCurveDisplay:
    """Curves of training: losses of boosting, epochs of a network, objectives of a selector.

    Parameters
    ----------
    curves : dict of str to array-like of shape (n_steps,)
        By name.
    step : str
        What a step is.
    first : int
        Number of the first step.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Both there after `plot`.

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
        """Draw what a fitted estimator remembers of its training.

        Parameters
        ----------
        estimator : fitted estimator
            A pipeline or a search will do; so will a classifier with a ``feature_selector_``.
        X, y : rows and their labels, optional
            Adds the accuracy after every round on these, for estimators with `staged_score`.
        max_stages : int
            Rounds that are scored at most.
        **options
            For `plot`.

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
                f"{type(estimator).__name__} remembers no curve of its training: expected one of "
                f"{', '.join(name for name, _, _ in _HISTORIES)}."
            )
        # an objective is told before the first sweep, too
        return cls(curves, step, first=0 if step == "sweep" else 1).plot(**options)

    def plot(self, ax: Any = None, *, log: bool = False) -> TrainingCurveDisplay:
        """Draw; accuracies and scores have an axis of their own beside losses.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        log : bool
            Whether losses are drawn on a logarithmic scale.

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
            twin = self.ax_.twinx()
            self._draw(twin, scores, len(losses))
            lines += list(twin.lines)
            clean(twin)
        self.ax_.set_xlabel(self.step, color=INK)
        self.ax_.legend(
            lines, [line.get_label() for line in lines], fontsize=8, frameon=False,
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(lines),
        )  # fmt: skip
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
        ax.set_ylabel(words, color=INK)


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
