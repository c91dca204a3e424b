"""Models that learn a hierarchy of their own, for comparisons."""

from __future__ import annotations

from typing import Any

from palmette.models._registry import Make, ModelContext, ModelSpec, register_model

__all__: list[str] = []


def _published(name: str, preset: str | None = None) -> Make:
    """Make a classifier that learns its tree, with its defaults or a preset."""

    def make(context: ModelContext) -> Any:
        from palmette import class_tree
        from palmette.bench.over_labels import OverLabels

        kind = getattr(class_tree, name)
        given = {"random_state": context.random_state, "n_jobs": context.n_jobs}
        model = kind(**given) if preset is None else kind.preset(preset, **given)
        return OverLabels(model, context.hierarchy)

    return make


def _along(base: str, learner: str) -> Make:
    """Make a registered model along a learnt tree."""

    def make(context: ModelContext) -> Any:
        from palmette import class_tree
        from palmette.bench.over_labels import OverLabels
        from palmette.models._registry import make_model

        model = make_model(base, None, context.random_state, context.n_jobs, context.text)
        return OverLabels(
            model.set_params(hierarchy=getattr(class_tree, learner)()), context.hierarchy
        )

    return make


def _class_tree(context: ModelContext) -> Any:
    from palmette.class_tree import ClassTreeClassifier

    return ClassTreeClassifier(
        context.hierarchy, n_jobs=context.n_jobs, random_state=context.random_state
    )


def _class_tree_along(learner: str) -> Make:
    """Make linear classifiers and a beam along a learnt tree."""

    def make(context: ModelContext) -> Any:
        from palmette import class_tree
        from palmette.bench.over_labels import OverLabels

        model = class_tree.ClassTreeClassifier(
            getattr(class_tree, learner)(),
            n_jobs=context.n_jobs,
            random_state=context.random_state,
        )
        return OverLabels(model, context.hierarchy)

    return make


_LINEAR = {"scale": True}
_TREES = {"takes_codes": True}
for _spec in (
    ModelSpec(
        "class-tree", _class_tree, "linear classifiers at the parents, and a beam", **_LINEAR
    ),
    ModelSpec(
        "mf-tree", _published("MFTreeClassifier"), "MF-Tree, learnt; linear, by a beam", **_LINEAR
    ),
    ModelSpec(
        "dag-svm", _published("DAGSVMClassifier"), "linear SVMs of all pairs of labels", **_LINEAR
    ),
    ModelSpec(
        "adaboost-bhc",
        _published("AdaBoostBHCClassifier"),
        "AdaBoost.BHC: AdaBoost along a learnt tree",
        **_TREES,
    ),
    ModelSpec(
        "adaboost-bhc-ensemble",
        _published("AdaBoostBHCClassifier", "ensemble"),
        "the same over several random trees",
        **_TREES,
    ),
    ModelSpec(
        "hierarchical-boosting-bhc",
        _along("hierarchical-boosting", "BHCTree"),
        "hierarchical-boosting along a learnt BHC tree",
        **_TREES,
    ),
    *(
        ModelSpec(
            f"class-tree-{suffix}",
            _class_tree_along(learner),
            f"class-tree along a learnt {words}",
            **_LINEAR,
        )
        for suffix, learner, words in (
            ("agglomerative", "AgglomerativeTree", "dendrogram"),
            ("balanced", "BalancedTree", "tree of equal parts"),
            ("bhc", "BHCTree", "BHC tree"),
            ("cmtl", "LabelEmbeddingTree", "CMTL tree"),
            ("relaxed", "RelaxedTree", "DAG (DRHL)"),
        )
    ),
    *(
        ModelSpec(
            f"local-per-parent-{suffix}",
            _along("local-per-parent", learner),
            f"local-per-parent along a learnt {words}",
            **_LINEAR,
        )
        for suffix, learner, words in (
            ("bhc", "BHCTree", "BHC tree"),
            ("mf-tree", "MFTree", "MF-Tree"),
            ("cmtl", "LabelEmbeddingTree", "CMTL tree"),
        )
    ),
):
    register_model(_spec)
