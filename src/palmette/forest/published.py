"""Published structured forests, by name."""

from __future__ import annotations

from typing import Any

from palmette.engine.presets import Preset
from palmette.forest._label_two_means import LabelTwoMeans
from palmette.routing import AxisSplit, Hellinger, LogisticSplit

__all__ = ["PRESETS"]

_REFERENCE = (
    "Daniels and Metaxas, Addressing imbalance in multi-label classification using structured "
    "Hellinger forests, AAAI 2017"
)

# about ten stages of ten iterations: 0.1 times 1.5 to the power of ten is beyond 4
_HELLINGER = Hellinger(
    alpha=0.1,
    alpha_growth=1.5,
    alpha_max=4.0,
    alpha_every=10,
    solver="adam",
    max_iter=110,  # eleven stages of ten: alpha is 3.84 in the tenth, and 4 in the last
    start_iter=50,
    prune=0.0,
    refit_bias=False,
)


def _published(summary: str, router: Any, weights: str) -> Preset:
    parameters = {
        "n_estimators": 50,
        "partition": LabelTwoMeans(weights=weights),
        "router": router,
        "max_samples": 0.75,
        "max_features": 0.75,
        "max_node_features": 1.0,
        "max_labels": 0.75,
        "max_node_labels": 1.0,
        "label_vote": 5.0,
        "min_samples_leaf": 3,
    }
    return Preset(summary, parameters, _REFERENCE)


PRESETS = {
    "sf": _published("splits of one feature by information gain", AxisSplit(), "none"),
    "sf-lr": _published("splits by logistic regression", LogisticSplit(), "none"),
    "sf-lr-cs": _published("the same, rare labels weighing more", LogisticSplit(), "idf"),
    "sf-h": _published("splits by the sparse Hellinger loss", _HELLINGER, "none"),
    "sf-h-cs": _published("SOSHF: the same, rare labels weighing more", _HELLINGER, "idf"),
}
