"""Compile kernels into the cache of numba, one half of them in each of two processes.

The workers of the tests would otherwise compile the same kernels side by side. `conftest.py` runs
both halves before the workers start: ``python compile_kernels.py forests`` and ``python
compile_kernels.py others``.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

import palmette as pm
from palmette.weak import SharedTree

_FEW = {"n_estimators": 2, "random_state": 0}


def forests() -> Iterator[Any]:
    """Give structured forests, whose kernel takes as long to compile as all others."""
    yield pm.StructuredForestClassifier(**_FEW)
    yield pm.StructuredForestClassifier.preset("sf-h-cs", **_FEW)


def others() -> Iterator[Any]:
    """Give boosted trees, class trees, and what else has a kernel that takes seconds."""
    yield pm.HierarchicalBoostingClassifier(**_FEW)
    yield pm.AdaBoostMHClassifier(**_FEW)
    yield pm.AdaBoostMHClassifier(weak_learner=SharedTree(), **_FEW)
    yield pm.HierarchicalAdaBoostClassifier(**_FEW)
    yield pm.AdaBoostECCClassifier(**_FEW)
    yield pm.AdaBoostBHCClassifier(**_FEW)
    yield pm.ClassTreeClassifier(router="linear")
    yield pm.ClassTreeClassifier(router="logistic")
    yield pm.LinearMultilabel(random_state=0)
    yield pm.RAkEL(random_state=0)
    yield pm.CoherentNetworkClassifier((4,), n_epochs=1, random_state=0)


def main(part: str) -> None:
    """Fit and ask the models of a part, on dense and sparse rows of one label and of several."""
    warnings.simplefilter("ignore")
    gc.freeze()
    gc.set_threshold(100_000, 50)  # numba makes many objects that live on
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    one = np.repeat(["a", "b", "c"], 20)
    several = [{name, "d"} if i % 4 else {name} for i, name in enumerate(one.tolist())]
    for model in {"forests": forests, "others": others}[part]():
        for rows in (X, sparse.csr_array(np.where(X > 0, X, 0.0))):
            for y in (one, several):
                try:
                    model.fit(rows, y).predict(rows)
                except ValueError:  # a model of one label a row was given several
                    continue


def texts() -> None:
    """Fit the model of a table of texts, whose features are more than its rows."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 7)) for _ in range(200)]
    names = [" ".join(rng.choice(words, 6)) for _ in range(60)]
    for loss in ("squared_hinge", "logistic"):
        model = pm.fit_table(
            {"name": names, "kind": ["a > x", "a > y", "b > z"] * 20},
            target="kind",
            model="class-tree",
            settings={"router": pm.routing.LinearRouter(loss)},
            columns={"name": "text"},
            folds=0,
        )
        model.predict({"name": names[:5]})


if __name__ == "__main__":
    main(sys.argv[1])
    if sys.argv[1] == "others":
        texts()
