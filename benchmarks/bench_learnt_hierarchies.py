"""Hierarchies learned inside `fit` beside the given one and none at all.

    OMP_NUM_THREADS=1 python benchmarks/bench_learnt_hierarchies.py
    OMP_NUM_THREADS=1 python benchmarks/bench_learnt_hierarchies.py --data diatoms --models boosting

Every model is fitted along a star ("none"), the hierarchy of the data, and learned ones; learners
see training rows only. All answers are scored by the hierarchy of the data, which the others never
saw. The label with the largest probability is the answer, so that the rule is the same for all.
"""

from __future__ import annotations

import argparse

from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

import palmette as pm
from palmette.bench import ModelSpec, compare, find_problem, register_model
from palmette.compare import ResultStore
from palmette.models import OverLabels

DATA = ["imclef07a", "imclef07d", "diatoms", "protein_dd", "clinc150"]
LEARNERS = {
    "BHC": pm.BHCTree(),
    "MF": pm.MFTree(),
    "MF wide": pm.MFTree(branching=8, leaf_size=16),
    "CMTL": pm.LabelEmbeddingTree(random_state=0),
    "agglomerative": pm.AgglomerativeTree(),
    "random": pm.RandomTree(random_state=0),
}
HIERARCHIES = ["none", "given", *LEARNERS]


def _logistic(context):
    regression = LogisticRegression(C=30.0 if context.text else 1.0, max_iter=1000)
    return pm.LocalPerParentClassifier(regression, decoding="best_path")


def _forest(context):
    trees = ExtraTreesClassifier(100, random_state=context.random_state)
    return pm.LocalPerParentClassifier(trees, decoding="best_path")


def _boosting(context):
    return pm.HierarchicalBoostingClassifier(
        loss="path_softmax",
        n_estimators=300,
        decoding="best_path",
        random_state=context.random_state,
    )


MODELS = {
    "logistic": (_logistic, {"scale": True}),
    "extra-trees": (_forest, {"takes_codes": True}),
    "boosting": (_boosting, {"takes_codes": True}),
}


def register(name, make, needs, hierarchy):
    """Register a model along a hierarchy, and return its name."""

    def made(context):
        model = make(context)
        if hierarchy == "given":
            return model.set_params(hierarchy=context.hierarchy)
        if hierarchy != "none":
            model.set_params(hierarchy=clone(LEARNERS[hierarchy]))
        return OverLabels(model, context.hierarchy)

    full = f"{name}, {hierarchy}"
    register_model(ModelSpec(full, made, "", **needs))
    return full


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--resume", help="file that keeps finished fits")
    arguments = parser.parse_args()
    names = {
        model: [register(model, *MODELS[model], hierarchy) for hierarchy in HIERARCHIES]
        for model in arguments.models
    }
    print("| set | model | score | " + " | ".join(HIERARCHIES) + " |")
    print("|" + "---|" * (3 + len(HIERARCHIES)))
    for data in arguments.data:
        problem = find_problem(data)
        for model, along in names.items():
            found = compare(
                [problem],
                along,
                ["leaf_accuracy", "hierarchical_f1"],
                store=ResultStore(arguments.resume),
            )
            means = {entry["model"]: entry for entry in found.means(data)}
            for score, places in (("leaf_accuracy", 3), ("hierarchical_f1", 3), ("fit_cpu_s", 1)):
                cells = [f"{means[name][score]:.{places}f}" for name in along]
                print(f"| {data} | {model} | {score} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
