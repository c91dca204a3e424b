"""Pictures in the manner of scikit-learn's displays: `from_estimator`, `plot`, `ax_`, `figure_`."""

from palmette.plotting.confusion import HierarchicalConfusionDisplay
from palmette.plotting.coverage import CoverageDisplay
from palmette.plotting.critical_difference import CriticalDifferenceDisplay
from palmette.plotting.hierarchy import HierarchyDisplay
from palmette.plotting.reliability import HierarchicalReliabilityDisplay
from palmette.plotting.training_curve import TrainingCurveDisplay

__all__ = [
    "CoverageDisplay",
    "CriticalDifferenceDisplay",
    "HierarchicalConfusionDisplay",
    "HierarchicalReliabilityDisplay",
    "HierarchyDisplay",
    "TrainingCurveDisplay",
]
