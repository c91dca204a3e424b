"""Plots with the interface of scikit-learn's displays: `from_estimator`, `plot`, `ax_`."""

from palmette.plotting._calibration import CoverageDisplay, HierarchicalReliabilityDisplay
from palmette.plotting._confusion import HierarchicalConfusionDisplay
from palmette.plotting._curves import CriticalDifferenceDisplay, TrainingCurveDisplay
from palmette.plotting._hierarchy import HierarchyDisplay

__all__ = [
    "CoverageDisplay",
    "CriticalDifferenceDisplay",
    "HierarchicalConfusionDisplay",
    "HierarchicalReliabilityDisplay",
    "HierarchyDisplay",
    "TrainingCurveDisplay",
]
