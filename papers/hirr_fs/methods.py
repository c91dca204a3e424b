"""The ways to choose features: those of the paper with the settings of this library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from palmette.compare import describe_estimator
from palmette.scoring.base import FeatureScore

__all__ = ["ALL", "FIVE", "FOUR", "METHODS", "Maker", "Options", "described"]

Maker = Callable[[], FeatureScore | None]

ALL = "all features"
_ACCURACY = 1e-3  # of coupled nodes: with the usual 1e-6 texts take minutes
FIVE = ("HierFisher", "HierFSNM", "HierMRMR", "Hier-FS", "HiRRfam-FS")  # of Tables 4 and 5
FOUR = ("Hier-FS", "HiRRpar-FS", "HiRRsib-FS", "HiRRfam-FS")  # of Figure 9


@dataclass(frozen=True)
class Options:
    """What selectors and classifiers take.

    Parameters
    ----------
    seed : int
    n_jobs : int or None
    """

    seed: int = 0
    n_jobs: int | None = None


def _fisher() -> FeatureScore:
    from palmette.scoring.fisher import FisherScore

    return FisherScore()


def _fsnm() -> FeatureScore:
    from palmette.scoring.fsnm import FsnmScore

    return FsnmScore()


def _mrmr() -> FeatureScore:
    from palmette.scoring.mrmr import MrmrScore

    return MrmrScore()


def _hirr(**ties: float) -> Maker:
    def make() -> FeatureScore:
        from palmette.scoring.hirr import HirrScore

        parameters: dict[str, Any] = {**ties, "tol": _ACCURACY} if ties else {}
        return HirrScore(**parameters)

    return make


METHODS: dict[str, Maker] = {
    ALL: lambda: None,
    "HierFisher": _fisher,
    "HierFSNM": _fsnm,
    "HierMRMR": _mrmr,
    "Hier-FS": _hirr(),
    "HiRRpar-FS": _hirr(parent=1.0),
    "HiRRsib-FS": _hirr(sibling=1.0),
    "HiRRfam-FS": _hirr(parent=1.0, sibling=1.0),
}


def described(score: FeatureScore | None) -> str | None:
    """Write a score with all parameters: a default that changes makes another result."""
    from sklearn import config_context

    with config_context(print_changed_only=False):
        return None if score is None else describe_estimator(score)
