"""HierarchicalReliabilityDisplay: what came true beside what was claimed, level by level."""

from __future__ import annotations

from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.engine.adapters import hierarchy_of, node_proba, truth_of
from palmette.exceptions import PalmetteError
from palmette.metrics._calibration import (
    ReliabilityCurve,
    expected_calibration_error,
    level_confidences,
    reliability_curve,
)
from palmette.plotting.ink import COLOURS, INK, PALE, clean, take_axes

__all__ = ["HierarchicalReliabilityDisplay"]


class HierarchicalReliabilityDisplay:
    """Share of right answers against their confidence, a curve for every level.

    Parameters
    ----------
    curves : dict of int to ReliabilityCurve
        By level.
    errors : dict of int to float
        Expected calibration error, by level.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Both there after `plot`.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    >>> proba = [[1.0, 0.8, 0.6, 0.2, 0.2], [1.0, 0.8, 0.6, 0.2, 0.2]]
    >>> display = HierarchicalReliabilityDisplay.from_predictions(["a/x", "a/y"], proba, h)
    >>> {level: round(error, 2) for level, error in display.errors.items()}
    {1: 0.2, 2: 0.1}
    """

    def __init__(self, curves: dict[int, ReliabilityCurve], errors: dict[int, float]) -> None:
        self.curves = curves
        self.errors = errors

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, **options: Any
    ) -> HierarchicalReliabilityDisplay:
        """Draw the reliability of a fitted model.

        Parameters
        ----------
        estimator : fitted classifier with `predict_node_proba`
        X : rows
        y : labels of n_samples rows
        **options
            For `from_predictions`.

        Returns
        -------
        HierarchicalReliabilityDisplay
        """
        y = truth_of(estimator, X, y)
        hierarchy = hierarchy_of(estimator)
        proba = node_proba(estimator, X, hierarchy)
        return cls.from_predictions(y, proba, hierarchy, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        node_proba: Any,
        hierarchy: Hierarchy,
        *,
        levels: list[int] | None = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        **options: Any,
    ) -> HierarchicalReliabilityDisplay:
        """Draw the reliability of probabilities of nodes.

        Parameters
        ----------
        y_true : labels of n_samples rows
        node_proba : array of shape (n_samples, n_nodes)
            As from `predict_node_proba`.
        hierarchy : Hierarchy
        levels : list of int, optional
            All by default.
        n_bins : int
        strategy : {"uniform", "quantile"}
            Bins of one width, or of as many rows.
        **options
            For `plot`.

        Returns
        -------
        HierarchicalReliabilityDisplay
        """
        found = level_confidences(y_true, node_proba, hierarchy=hierarchy)
        wanted = list(found) if levels is None else levels
        missing = [level for level in wanted if level not in found]
        if missing:
            raise PalmetteError(
                f"levels={levels!r}: expected depths from 1 to {hierarchy.max_depth}."
            )
        settings: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy}
        curves = {level: reliability_curve(*found[level], **settings) for level in wanted}
        errors = {level: expected_calibration_error(*found[level], **settings) for level in wanted}
        return cls(curves, errors).plot(**options)

    def plot(self, ax: Any = None) -> HierarchicalReliabilityDisplay:
        """Draw; the size of a dot tells how many answers are in its bin.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
        """
        self.ax_ = take_axes(ax, 4.6, 4.2)
        self.figure_ = self.ax_.figure
        self.ax_.plot([0, 1], [0, 1], color=PALE, linewidth=1, linestyle="--", zorder=1)
        for place, (level, curve) in enumerate(self.curves.items()):
            colour = COLOURS[place % len(COLOURS)]
            label = f"level {level}, error {self.errors[level]:.3f}"
            self.ax_.plot(
                curve.confidence, curve.accuracy, color=colour, linewidth=1.4, label=label
            )
            sizes = 8 + 90 * curve.weight / curve.weight.sum()
            self.ax_.scatter(curve.confidence, curve.accuracy, s=sizes, color=colour, zorder=3)
        self.ax_.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
        self.ax_.set_xlabel("confidence", color=INK)
        self.ax_.set_ylabel("share that came true", color=INK)
        self.ax_.legend(fontsize=8, frameon=False, loc="upper left")
        clean(self.ax_)
        return self
