"""Models for several labels or paths a row, for comparisons; they take one as well."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from palmette.models._registry import Make, ModelContext, ModelSpec, register_model

__all__: list[str] = []


def _maker(room: str, kind: str, preset: str | None = None) -> Make:
    """Make a classifier by the name of its class, with its defaults or a preset."""

    def make(context: ModelContext) -> Any:
        made = getattr(import_module(f"palmette.{room}"), kind)
        model = made() if preset is None else made.preset(preset)
        given = {
            "hierarchy": context.hierarchy,
            "random_state": context.random_state,
            "n_jobs": context.n_jobs,
        }
        known = model.get_params(deep=False)
        return model.set_params(**{key: value for key, value in given.items() if key in known})

    return make


_TREES = {"takes_codes": True}
_NEAR = {"scale": True}
_COHERENT = {"takes_missing": True}

for _name, _room, _kind, _preset, _words, _needs in (
    ("structured-forest", "forest", "StructuredForestClassifier", None,
     "trees whose oblique splits look at all labels", {}),
    ("structured-forest-published", "forest", "StructuredForestClassifier", "sf-h-cs",
     "the same with the settings of SOSHF's paper", {}),
    ("coherent-blend", "multipath", "CoherentBlendClassifier", None,
     "forest, kernel and network, weighed", _COHERENT),
    ("coherent-forest", "multipath", "CoherentForestClassifier", None,
     "a forest over all nodes", _COHERENT),
    ("coherent-kernel", "multipath", "CoherentKernelClassifier", None,
     "kernel ridge regression over all nodes", _COHERENT),
    ("coherent-network", "multipath", "CoherentNetworkClassifier", None,
     "networks over all nodes", _COHERENT),
    ("binary-relevance", "multilabel", "BinaryRelevance", None,
     "logistic regression, a model a label", _NEAR),
    ("calibrated-label-ranking", "multilabel", "CalibratedLabelRanking", None,
     "a model for every two labels", _TREES),
    ("chain-ensemble", "multilabel", "ChainEnsemble", None,
     "chains of models that see the labels before", _TREES),
    ("cocoa", "multilabel", "COCOA", None,
     "pairs of labels coupled, for rare labels", _TREES),
    ("homer", "multilabel", "HOMER", None,
     "models along a learnt hierarchy of label sets", _TREES),
    ("iblr", "multilabel", "IBLR", None,
     "nearest rows and logistic regression", _NEAR),
    ("ml-knn", "multilabel", "MLkNN", None,
     "nearest rows and Bayes' rule", _NEAR),
    ("multilabel-trees", "multilabel", "TreesMultilabel", None,
     "extra trees (200) over all labels", _TREES),
    ("rakel", "multilabel", "RAkEL", None,
     "models of random sets of three labels", _TREES),
):  # fmt: skip
    register_model(
        ModelSpec(_name, _maker(_room, _kind, _preset), _words, several_paths=True, **_needs)
    )
