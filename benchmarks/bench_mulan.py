"""Multi-label methods with plain settings and with those of MULAN.

The published splits of emotions, scene and yeast, macro- and micro-averaged F1 of the test rows::

    PALMETTE_DATA=... python benchmarks/bench_mulan.py

Defaults are chosen by cross-validation on the training rows of these and further sets, which
``--cv`` prints: mean F1 over five folds, which keep the shares of the labels, and the number of
sets on which the setting of MULAN is better.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import f1_score

import palmette as pm
from palmette.datasets import fetch
from palmette.multilabel import C45Tree, IterativeStratifiedKFold

TESTED = ("emotions", "scene", "yeast")
COMPARED = (*TESTED, "medical", "enron", "cal500")
SEED = 0


def settings() -> dict[str, tuple[Any, Any]]:
    """Return pairs of models: with plain settings, and with those of MULAN."""
    plain, j48 = C45Tree(), C45Tree.preset("j48")
    drawn = {"random_state": SEED}
    return {
        "ML-kNN": (pm.MLkNN(scale=None), pm.MLkNN.preset("mulan")),
        "IBLR": (pm.IBLR(scale=None), pm.IBLR.preset("mulan")),
        "binary relevance": (
            pm.BinaryRelevance(plain, **drawn),
            pm.BinaryRelevance.preset("mulan", **drawn),
        ),
        "calibrated label ranking": (
            pm.CalibratedLabelRanking(plain, **drawn),
            pm.CalibratedLabelRanking.preset("mulan", **drawn),
        ),
        "RAkEL": (pm.RAkEL(estimator=plain, **drawn), pm.RAkEL.preset("mulan", **drawn)),
        "RAkEL, hard votes only": (
            pm.RAkEL(estimator=plain, **drawn),
            pm.RAkEL(estimator=plain, voting="hard", **drawn),
        ),
        "RAkEL, MDL correction only": (
            pm.RAkEL(estimator=plain, **drawn),
            pm.RAkEL(estimator=C45Tree(mdl_correction=True), **drawn),
        ),
        "HOMER": (pm.HOMER(estimator=plain, **drawn), pm.HOMER.preset("mulan", **drawn)),
        "HOMER, trees of J48 only": (
            pm.HOMER(estimator=plain, **drawn),
            pm.HOMER(estimator=j48, **drawn),
        ),
    }


def dense(labels: Any) -> np.ndarray:
    """Return label sets as an array of zeros and ones."""
    return np.asarray(labels.toarray() if sparse.issparse(labels) else labels).astype(int)


def scores(model: Any, X: Any, Y: Any, X_test: Any, Y_test: Any) -> np.ndarray:
    """Return macro- and micro-averaged F1 of the test rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dense(clone(model).fit(X, Y).predict(X_test))
        kinds = ("macro", "micro")
        return np.array([f1_score(Y_test, found, average=each, zero_division=0) for each in kinds])


def on_test_rows(methods: list[str]) -> None:
    """Print the table of the published splits."""
    print("| method | setting | " + " | ".join(TESTED) + " |")
    print("|---" * (2 + len(TESTED)) + "|")
    sets = [fetch(name) for name in TESTED]
    for method in methods:
        for title, model in zip(("plain", "MULAN"), settings()[method], strict=True):
            cells = [
                scores(model, b.X_train, dense(b.y_train), b.X_test, dense(b.y_test)) for b in sets
            ]
            shown = " | ".join(f"{macro:.3f} / {micro:.3f}" for macro, micro in cells)
            print(f"| {method} | {title} | {shown} |", flush=True)


def by_cross_validation(methods: list[str], names: list[str]) -> None:
    """Print the comparison on training rows."""
    print("| method | set | macro F1 | micro F1 |")
    print("|---|---|---|---|")
    for method in methods:
        wins = np.zeros(2, dtype=int)
        for name in names:
            bunch = fetch(name)
            whole = "X_train" not in bunch
            X = bunch.X if whole else bunch.X_train
            Y = dense(bunch.y if whole else bunch.y_train)
            folds = IterativeStratifiedKFold(5, shuffle=True, random_state=SEED)
            parts = list(folds.split(np.zeros((len(Y), 1)), Y))
            means = [
                np.mean([scores(m, X[a], Y[a], X[b], Y[b]) for a, b in parts], axis=0)
                for m in settings()[method]
            ]
            wins += means[1] > means[0]
            cells = " | ".join(f"{one:.3f} -> {two:.3f}" for one, two in zip(*means, strict=True))
            print(f"| {method} | {name} | {cells} |", flush=True)
        n = len(names)
        print(f"| {method} | MULAN is better on | {wins[0]} of {n} | {wins[1]} of {n} |")


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cv", action="store_true", help="compare on training rows")
    parser.add_argument("--methods", nargs="+", choices=settings(), default=list(settings()))
    parser.add_argument("--sets", nargs="+", default=list(COMPARED))
    given = parser.parse_args()
    if given.cv:
        by_cross_validation(given.methods, given.sets)
    else:
        on_test_rows(given.methods)


if __name__ == "__main__":
    main()
