"""Calibrated probabilities of nodes, and answers that hold the truth with a chosen probability."""

from palmette.calibration._classifier import CalibratedHierarchicalClassifier
from palmette.calibration._conformal import ConformalHierarchicalClassifier

__all__ = ["CalibratedHierarchicalClassifier", "ConformalHierarchicalClassifier"]
