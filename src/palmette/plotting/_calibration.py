"""Displays of confidence: `CoverageDisplay` and `HierarchicalReliabilityDisplay`."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.base._adapters import hierarchy_of, node_proba, truth_of
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._calibration import (
    CoverageCurve,
    ReliabilityCurve,
    coverage_curve,
    expected_calibration_error,
    level_confidences,
    reliability_curve,
)
from palmette.plotting._axes import (
    COLOURS,
    DARK,
    PALE,
    annotate_apart,
    clean,
    legend_above,
    take_axes,
)


def _truth_and_proba(estimator: Any, X: Any, y: Any) -> tuple[Any, Any, Hierarchy]:
    y, hierarchy = truth_of(estimator, X, y), hierarchy_of(estimator)
    return y, node_proba(estimator, X, hierarchy), hierarchy


class CoverageDisplay:
    """Accuracy by coverage of predictions with a confidence threshold, one curve per level.

    Parameters
    ----------
    curves : dict of int to CoverageCurve
        By level; the predictions are the most probable nodes of that level.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.

    Examples
    --------
    >>> h = Hierarchy.star(["a", "b"])
    >>> proba = [[1.0, 0.9, 0.1], [1.0, 0.4, 0.6]]
    >>> display = CoverageDisplay.from_predictions(["a", "a"], proba, h)
    >>> display.curves[1].coverage.tolist(), display.curves[1].accuracy.tolist()
    ([0.5, 1.0], [1.0, 0.5])
    """

    def __init__(self, curves: dict[int, CoverageCurve]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, **options: Any
    ) -> CoverageDisplay:
        """Plot accuracy by coverage for a fitted model.

        Parameters
        ----------
        estimator : fitted classifier with `predict_node_proba` or `predict_proba`
        X : rows
        y : labels of n_samples rows
            Optional for table models, which read them from their target column.
        **options
            Passed to `plot`.

        Returns
        -------
        CoverageDisplay
        """
        return cls.from_predictions(*_truth_and_proba(estimator, X, y), **options)

    @classmethod
    def from_predictions(
        cls, y_true: Any, node_proba: Any, hierarchy: Hierarchy, **options: Any
    ) -> CoverageDisplay:
        """Plot accuracy by coverage for node probabilities.

        Parameters
        ----------
        y_true : labels of n_samples rows
        node_proba : array of shape (n_samples, n_nodes)
            As from `predict_node_proba`.
        hierarchy : Hierarchy
        **options
            Passed to `plot`.

        Returns
        -------
        CoverageDisplay
        """
        found = level_confidences(y_true, node_proba, hierarchy=hierarchy)
        curves = {level: coverage_curve(*answers) for level, answers in found.items()}
        return cls(curves).plot(**options)

    def plot(
        self, ax: Any = None, *, stops: tuple[float, ...] = (0.5, 0.8, 0.95)
    ) -> CoverageDisplay:
        """Plot the curves, with dots at some confidence thresholds.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        stops : tuple of float
            Confidence thresholds that are marked.

        Returns
        -------
        self
        """
        self.ax_ = take_axes(ax, 5.2, 3.8)
        self.figure_ = self.ax_.figure
        lowest = 1.0
        notes: list[tuple[str, tuple[float, float], str]] = []
        for place, (level, curve) in enumerate(self.curves.items()):
            colour = COLOURS[place % len(COLOURS)]
            # accuracy is noisy on few rows: curves start at a coverage of 1 %
            shown = curve.coverage >= min(0.01, curve.coverage[-1])
            lowest = min(lowest, float(curve.accuracy[shown].min()))
            self.ax_.plot(
                curve.coverage[shown], curve.accuracy[shown], color=colour, linewidth=1.4,
                label=f"level {level}, area {curve.area:.3f}",
            )  # fmt: skip
            notes += self._mark_stops(curve, stops, colour)
        self.ax_.set(xlim=(0, 1.01), ylim=(max(0.0, lowest - 0.05), 1.04))
        self.ax_.set_xlabel("coverage: share of rows with a prediction", color=DARK)
        self.ax_.set_ylabel("accuracy of the predictions", color=DARK)
        legend_above(self.ax_)
        clean(self.ax_)
        annotate_apart(self.ax_, notes)
        return self

    def _mark_stops(
        self, curve: CoverageCurve, stops: tuple[float, ...], colour: str
    ) -> list[tuple[str, tuple[float, float], str]]:
        """Draw a dot at each threshold; return the texts beside them."""
        notes = []
        for stop in stops:
            kept = np.flatnonzero(curve.threshold >= stop)
            if not len(kept):
                continue
            at = (float(curve.coverage[kept[-1]]), float(curve.accuracy[kept[-1]]))
            self.ax_.plot(*at, marker="o", markersize=4, color=colour)
            notes.append((f"{stop:g}", at, colour))
        return notes


class HierarchicalReliabilityDisplay:
    """Share of correct predictions by confidence, one curve per level.

    Parameters
    ----------
    curves : dict of int to ReliabilityCurve
        By level.
    errors : dict of int to float
        Expected calibration error, by level.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.

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
        """Plot the reliability curves of a fitted model.

        Parameters
        ----------
        estimator, X, y : as in `CoverageDisplay.from_estimator`
        **options
            Passed to `from_predictions`.

        Returns
        -------
        HierarchicalReliabilityDisplay
        """
        return cls.from_predictions(*_truth_and_proba(estimator, X, y), **options)

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
        """Plot the reliability curves of node probabilities.

        Parameters
        ----------
        y_true, node_proba, hierarchy : as in `CoverageDisplay.from_predictions`
        levels : list of int, optional
            Levels to plot; all by default.
        n_bins : int
        strategy : {"uniform", "quantile"}
            Bins of equal width, or with equal numbers of rows.
        **options
            Passed to `plot`.

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
        """Plot the curves; the size of a dot shows the number of rows in its bin.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
        """
        self.ax_ = take_axes(ax, 4.6, 4.6)
        self.figure_ = self.ax_.figure
        self.ax_.plot([0, 1], [0, 1], color=PALE, linewidth=1, linestyle="--", zorder=1)
        for place, (level, curve) in enumerate(self.curves.items()):
            colour = COLOURS[place % len(COLOURS)]
            label = f"level {level}, error {self.errors[level]:.3f}"
            self.ax_.plot(
                curve.confidence, curve.accuracy, color=colour, linewidth=1.4, label=label
            )
            sizes = 8 + 90 * curve.weight / curve.weight.sum()
            self.ax_.scatter(
                curve.confidence, curve.accuracy, s=sizes, color=colour, zorder=3, clip_on=False
            )
        self.ax_.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
        self.ax_.set_xlabel("confidence", color=DARK)
        self.ax_.set_ylabel("share of correct predictions", color=DARK)
        legend_above(self.ax_)
        clean(self.ax_)
        return self
