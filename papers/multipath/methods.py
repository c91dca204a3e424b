"""The methods that are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from palmette.core.hierarchy import Hierarchy

__all__ = ["BLEND", "EQUAL", "MEMBERS", "METHODS", "Method", "find_methods"]

Make = Callable[[Hierarchy, int, int | None], Any]

BLEND, EQUAL = "blend", "blend, equal"
MEMBERS = ("forest", "kernel", "network")  # of the equal blend, which is fitted once for them all


@dataclass(frozen=True)
class Method:
    """A classifier for several paths a row.

    Parameters
    ----------
    name : str
    make : callable
        Takes (hierarchy, seed, n_jobs) and gives a classifier.
    """

    name: str
    make: Make


def _blend(weights: str) -> Make:
    def make(hierarchy: Hierarchy, seed: int, n_jobs: int | None) -> Any:
        from palmette.multipath import CoherentBlendClassifier

        return CoherentBlendClassifier(
            weights=weights, hierarchy=hierarchy, n_jobs=n_jobs, random_state=seed
        )

    return make


def _boosting(hierarchy: Hierarchy, seed: int, n_jobs: int | None) -> Any:
    from palmette.boosting import HierarchicalBoostingClassifier

    return HierarchicalBoostingClassifier(
        hierarchy=hierarchy, decoding=0.5, n_jobs=n_jobs, random_state=seed
    )


def _structured_forest(hierarchy: Hierarchy, seed: int, n_jobs: int | None) -> Any:
    from palmette.forest import StructuredForestClassifier

    return StructuredForestClassifier(
        hierarchy=hierarchy, decoding=0.5, n_jobs=n_jobs, random_state=seed
    )


def _per_node(hierarchy: Hierarchy, seed: int, n_jobs: int | None) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from palmette.local import LocalPerNodeClassifier

    logistic = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
    return LocalPerNodeClassifier(
        logistic, hierarchy=hierarchy, decoding=0.5, n_jobs=n_jobs, random_state=seed
    )


METHODS = (
    Method(BLEND, _blend("validation")),
    Method(EQUAL, _blend("equal")),
    Method("boosting", _boosting),
    Method("structured forest", _structured_forest),
    Method("logistic per node", _per_node),
)


def find_methods(quick: bool) -> tuple[Method, ...]:
    """Return the methods; for a quick look only the blends and their members."""
    return METHODS[:2] if quick else METHODS
