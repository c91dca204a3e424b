"""Calibrated probabilities of nodes, and answers that contain the true label."""

from palmette.calibration._classifier import CalibratedHierarchicalClassifier
from palmette.calibration._conformal import ConformalHierarchicalClassifier

__all__ = ["CalibratedHierarchicalClassifier", "ConformalHierarchicalClassifier"]
