"""Models over a taxonomy that has changed since they were fitted."""

from palmette.migration._classifier import MigratedClassifier
from palmette.migration._refitting import fit_pending, move_classifier

__all__ = ["MigratedClassifier", "fit_pending", "move_classifier"]
