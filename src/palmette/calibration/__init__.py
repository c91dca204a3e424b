"""Calibrated probabilities of nodes, and answers that contain the true label."""

from typing import TYPE_CHECKING

from palmette._imports import lazy_names

if TYPE_CHECKING:
    from palmette.calibration._classifier import CalibratedHierarchicalClassifier
    from palmette.calibration._conformal import ConformalHierarchicalClassifier

__all__ = ["CalibratedHierarchicalClassifier", "ConformalHierarchicalClassifier"]

# a table model is calibrated by other modules of this package
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "palmette.calibration._classifier": "CalibratedHierarchicalClassifier",
        "palmette.calibration._conformal": "ConformalHierarchicalClassifier",
    },
)
