"""The models that are registered, one table per family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.models._registry import Make, ModelContext, ModelSpec, find_model, register_model

Needs = Mapping[str, bool]  # options of ModelSpec


def _classifier(package: str, class_name: str, preset: str | None = None) -> Make:
    """Make a classifier by the name of its class, with its defaults or a preset.

    It gets those of the hierarchy, the seed and the number of jobs that it has parameters for.
    """

    def make(context: ModelContext) -> Any:
        kind = getattr(import_module(f"palmette.{package}"), class_name)
        model = kind() if preset is None else kind.preset(preset)
        given = {
            "hierarchy": context.hierarchy,
            "random_state": context.random_state,
            "n_jobs": context.n_jobs,
        }
        known = model.get_params(deep=False)
        return model.set_params(**{key: value for key, value in given.items() if key in known})

    return make


# ---------------------------------------------------------------------- local and flat models


def _logistic(context: ModelContext) -> Any:
    from sklearn.linear_model import LogisticRegression

    # rows of length one need weaker shrinkage than standardized columns
    return LogisticRegression(C=30.0 if context.text else 1.0, max_iter=1000)


def _forest(context: ModelContext) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, random_state=context.random_state)


def _extra_trees(context: ModelContext) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(n_estimators=100, random_state=context.random_state)


def _naive_bayes(context: ModelContext) -> Any:
    from palmette.local import MixedNaiveBayes

    # tf-idf weights are not normally distributed, and their matrix must stay sparse
    return MixedNaiveBayes(var_smoothing=1e-3 if context.text else 1e-9)


def _sgd(context: ModelContext) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(
        loss="log_loss",
        alpha=1e-5 if context.text else 1e-3,
        max_iter=_PASSES,
        tol=None,
        random_state=context.random_state,
    )


def _svm(context: ModelContext) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(max_iter=10_000, random_state=context.random_state)


@dataclass(frozen=True)
class _Base:
    """A scikit-learn classifier that local and flat models are made of."""

    make: Make
    summary: str
    needs: Needs


_NEIGHBORS = 8
_PASSES = 3  # over the rows, of models that learn from chunks
_SCALED = {"scale": True}
_TREES = {"takes_missing": True, "takes_codes": True}
_BASES = {
    "logistic": _Base(_logistic, "logistic regression", _SCALED),
    "forest": _Base(_forest, "random forest (100)", _TREES),
    "extra-trees": _Base(_extra_trees, "extra trees (100)", _TREES),
    # its smoothing is a share of the largest variance: one column in seconds would dominate
    "naive-bayes": _Base(_naive_bayes, "naive Bayes", {"scale": True, "takes_sparse": False}),
    "sgd": _Base(_sgd, "logistic, by SGD", _SCALED),
    "svm": _Base(_svm, "linear SVM", _SCALED),
}
_DEFAULT_BASE = "logistic"  # of a structure that is named alone

_STRUCTURES = {
    "flat": ("FlatClassifier", "one model of all labels"),
    "local-per-node": ("LocalPerNodeClassifier", "a model at every node"),
    "local-per-parent": ("LocalPerParentClassifier", "a model at every parent"),
    "local-per-level": ("LocalPerLevelClassifier", "a model at every level"),
}

_SEVERAL_PATHS = ("local-per-node",)  # its models say yes or no to every node


def _local(class_name: str, base: _Base) -> Make:
    def make(context: ModelContext) -> Any:
        from palmette import local

        kind = getattr(local, class_name)
        return kind(base.make(context), hierarchy=context.hierarchy, n_jobs=context.n_jobs)

    return make


def _nearest_neighbors(context: ModelContext) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    from palmette.local import FlatClassifier

    neighbors = KNeighborsClassifier(_NEIGHBORS, weights="distance")
    return FlatClassifier(neighbors, hierarchy=context.hierarchy, n_jobs=context.n_jobs)


def _global_naive_bayes(context: ModelContext) -> Any:
    from palmette.local import GlobalNaiveBayesClassifier

    # of all nodes, only those that are labels are answers here, as of any other model
    return GlobalNaiveBayesClassifier(context.hierarchy, decoding="best_path")


def _register_local_models() -> None:
    for structure, (class_name, words) in _STRUCTURES.items():
        several = structure in _SEVERAL_PATHS
        for suffix, base in _BASES.items():
            name, make = f"{structure}-{suffix}", _local(class_name, base)
            summary = f"{words}: {base.summary}"
            spec = ModelSpec(name, make, summary, several_paths=several, **base.needs)
            if name == "flat-naive-bayes":  # others get a copy of the rows of each model
                spec = replace(spec, in_place=True)
            elif suffix == "sgd" and not several:
                spec = replace(spec, in_place=True, in_passes=True)
            register_model(spec)
            if suffix == _DEFAULT_BASE:
                register_model(replace(spec, name=structure, summary=f"the same as {name}"))
    summary = "one model of all labels: nearest rows"
    register_model(ModelSpec("flat-nearest-neighbors", _nearest_neighbors, summary, scale=True))
    summary = "one naive Bayes whose classes are all nodes"
    needs = _BASES["naive-bayes"].needs
    register_model(ModelSpec("global-naive-bayes", _global_naive_bayes, summary, **needs))


# ---------------------------------------------------------------------- boosting

_BOOSTED: tuple[tuple[str, str, str | None, str, bool], ...] = (
    # name, class, preset, summary, whether it takes several paths
    (
        "hierarchical-boosting",
        "HierarchicalBoostingClassifier",
        None,
        "800 boosted trees that all labels share",
        True,
    ),
    (
        "hierarchical-boosting-accurate",
        "HierarchicalBoostingClassifier",
        "accurate",
        "four models of hierarchical-boosting, averaged",
        False,
    ),
    (
        "h-ada-mh",
        "HierarchicalAdaBoostClassifier",
        None,
        "AdaBoost over the nodes, shared trees",
        True,
    ),
    (
        "adaboost-mh",
        "AdaBoostMHClassifier",
        None,
        "AdaBoost.MH: stumps, all labels at once",
        True,
    ),
    (
        "adaboost-mi",
        "AdaBoostMIClassifier",
        None,
        "AdaBoost.MI: stumps, one label at a time",
        True,
    ),
    (
        "adaboost-ecc",
        "AdaBoostECCClassifier",
        None,
        "AdaBoost.ECC: trees on random colourings",
        False,
    ),
)


def _register_boosted_models() -> None:
    for name, class_name, preset, summary, several in _BOOSTED:
        make = _classifier("boosting", class_name, preset)
        in_place = class_name == "HierarchicalBoostingClassifier"  # it has a scratch folder
        spec = ModelSpec(name, make, summary, several_paths=several, in_place=in_place, **_TREES)
        register_model(spec)


# ---------------------------------------------------------------------- learned hierarchies


def _over_labels(make_plain: Make) -> Make:
    """Make a classifier of plain labels, which learns a hierarchy of its own over them."""

    def make(context: ModelContext) -> Any:
        from palmette.base._adapters import OverLabels

        return OverLabels(make_plain(replace(context, hierarchy=None)), context.hierarchy)

    return make


def _class_tree(context: ModelContext) -> Any:
    from palmette.class_tree import ClassTreeClassifier
    from palmette.routing import LinearRouter

    model = ClassTreeClassifier(
        context.hierarchy,
        router=LinearRouter(),
        n_jobs=context.n_jobs,
        random_state=context.random_state,
    )
    # more passes, a stricter tolerance and all bits of weights cost time or space and gain nothing
    if context.text:
        model.set_params(router=LinearRouter(siblings=True, tol=0.1, max_iter="auto", prune="auto"))
    return model


def _flat_linear(context: ModelContext) -> Any:
    from palmette.class_tree import RandomTree

    star = RandomTree(leaf_size=2**31 - 1)  # all classes below the root
    return _class_tree(replace(context, hierarchy=star))


def _mf_tree(context: ModelContext) -> Any:
    from palmette.routing import LinearRouter

    model = _classifier("class_tree", "MFTreeClassifier")(context)
    return model.set_params(router=LinearRouter(prune="auto")) if context.text else model


def _along(base: str, learner: str) -> Make:
    """Make a registered model along the tree of a learner."""
    parameter = "tree" if base == "class-tree" else "hierarchy"

    def make(context: ModelContext) -> Any:
        from palmette import class_tree

        learned = getattr(class_tree, learner)()
        if "random_state" in learned.get_params(deep=False):
            learned.set_params(random_state=context.random_state)
        return find_model(base).make(context).set_params(**{parameter: learned})

    return _over_labels(make)


def _learnt(class_name: str, preset: str | None = None) -> Make:
    """Make a classifier that is published with its learner of trees."""
    return _over_labels(_classifier("class_tree", class_name, preset))


_CODES = {"takes_codes": True}
_IN_PLACE = {**_SCALED, "in_place": True}
_LEARNT: tuple[tuple[str, Make, str, Needs], ...] = (
    ("class-tree", _class_tree, "one linear classifier per parent, beam search", _IN_PLACE),
    (
        "flat-linear",
        _over_labels(_flat_linear),
        "linear SVM over the labels, calibrated",
        _IN_PLACE,
    ),
    (
        "mf-tree",
        _over_labels(_mf_tree),
        "MF-Tree: a learned tree, linear, beam search",
        _IN_PLACE,
    ),
    ("dag-svm", _learnt("DAGSVMClassifier"), "one linear SVM per pair of labels", _SCALED),
    (
        "adaboost-bhc",
        _learnt("AdaBoostBHCClassifier"),
        "AdaBoost.BHC: AdaBoost along a learned tree",
        _CODES,
    ),
    (
        "adaboost-bhc-ensemble",
        _learnt("AdaBoostBHCClassifier", "ensemble"),
        "AdaBoost.BHC over several random class trees",
        _CODES,
    ),
    (
        "hierarchical-boosting-bhc",
        _along("hierarchical-boosting", "BHCTree"),
        "hierarchical-boosting along a learned BHC tree",
        _CODES,
    ),
)

_LINEAR_ALONG = (
    # base, suffix, learner, and its name in the summary
    ("class-tree", "agglomerative", "AgglomerativeTree", "dendrogram"),
    ("class-tree", "balanced", "BalancedTree", "tree of equal parts"),
    ("class-tree", "bhc", "BHCTree", "BHC tree"),
    ("class-tree", "cmtl", "LabelEmbeddingTree", "CMTL tree"),
    ("class-tree", "relaxed", "RelaxedTree", "DAG (DRHL)"),
    ("local-per-parent", "bhc", "BHCTree", "BHC tree"),
    ("local-per-parent", "mf-tree", "MFTree", "MF-Tree"),
    ("local-per-parent", "cmtl", "LabelEmbeddingTree", "CMTL tree"),
)


def _register_learnt_models() -> None:
    for name, make, summary, needs in _LEARNT:
        register_model(ModelSpec(name, make, summary, **needs))
    for base, suffix, learner, words in _LINEAR_ALONG:
        summary = f"{base} along a learned {words}"
        register_model(ModelSpec(f"{base}-{suffix}", _along(base, learner), summary, **_SCALED))


# ---------------------------------------------------------------------- several paths per row

_FILLED = {"takes_missing": True}
_SEVERAL: tuple[tuple[str, str, str, str | None, str, Needs], ...] = (
    # name, package, class, preset, summary, needs
    ("structured-forest", "forest", "StructuredForestClassifier", None,
     "trees whose oblique splits look at all labels", {}),
    ("coherent-blend", "multipath", "CoherentBlendClassifier", None,
     "weighted forest, kernel and network", _FILLED),
    ("coherent-forest", "multipath", "CoherentForestClassifier", None,
     "a forest over all nodes", _FILLED),
    ("coherent-kernel", "multipath", "CoherentKernelClassifier", None,
     "kernel ridge regression over all nodes", _FILLED),
    ("coherent-network", "multipath", "CoherentNetworkClassifier", None,
     "networks over all nodes", _FILLED),
    ("binary-relevance", "multilabel", "BinaryRelevance", None,
     "logistic regression, one model per label", _SCALED),
    ("calibrated-label-ranking", "multilabel", "CalibratedLabelRanking", None,
     "one model per pair of labels", _CODES),
    ("chain-ensemble", "multilabel", "ChainEnsemble", None,
     "chains of models, each sees earlier labels", _CODES),
    ("cocoa", "multilabel", "COCOA", None,
     "pairs of labels coupled, for rare labels", _CODES),
    ("homer", "multilabel", "HOMER", None,
     "models along a learned hierarchy of label sets", _CODES),
    ("iblr", "multilabel", "IBLR", None,
     "nearest rows and logistic regression", _SCALED),
    ("ml-knn", "multilabel", "MLkNN", None,
     "nearest rows and Bayes' rule", _SCALED),
    ("multilabel-trees", "multilabel", "TreesMultilabel", None,
     "extra trees (200) over all labels", _CODES),
    ("rakel", "multilabel", "RAkEL", None,
     "models of random sets of three labels", _CODES),
)  # fmt: skip


def _soshf(context: ModelContext) -> Any:
    # the published thresholds need several labels per row, and a model of the registry does not
    return _classifier("forest", "StructuredForestClassifier", "sf-h-cs")(context).set_params(
        decoding="auto"
    )


def _multilabel_linear(context: ModelContext) -> Any:
    model = _classifier("multilabel", "LinearMultilabel")(context)
    if context.text:  # more passes cost time and gain nothing, and most weights are tiny
        model.set_params(tol=0.1, max_iter=5, prune=0.01)
    return model


def _label_tree(context: ModelContext) -> Any:
    return _class_tree(context).set_params(router="linear")


def _closed_label_tree(context: ModelContext) -> Any:
    model = _label_tree(replace(context, hierarchy=None))
    if isinstance(context.hierarchy, Hierarchy):
        model.set_params(closure=context.hierarchy)
    return model


def _register_models_of_several_paths() -> None:
    register_model(
        ModelSpec(
            "structured-forest-published",
            _soshf,
            "structured-forest with published trees (SOSHF)",
            several_paths=True,
        )
    )
    words = "one linear SVM per label, calibrated"
    spec = ModelSpec("multilabel-linear", _multilabel_linear, words, several_paths=True, scale=True)
    register_model(spec)
    words = "linear classifiers along a tree of labels"
    register_model(ModelSpec("label-tree", _label_tree, words, several_paths=True, scale=True))
    words = "label-tree, learned; adds ancestors to answers"
    spec = ModelSpec("label-tree-closed", _closed_label_tree, words, several_paths=True, scale=True)
    register_model(spec)
    for name, package, class_name, preset, summary, needs in _SEVERAL:
        make = _classifier(package, class_name, preset)
        register_model(ModelSpec(name, make, summary, several_paths=True, **needs))


_register_local_models()
_register_boosted_models()
_register_learnt_models()
_register_models_of_several_paths()
