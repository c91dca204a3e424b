"""Whether `--confidence c` is right in c of its answers, and answers what could be accepted.

    python benchmarks/bench_confidence.py
    python benchmarks/bench_confidence.py --sets clinc150,letter --models auto,flat-naive-bayes

Every model is fitted by `fit_table`; the share of answers below the root (and of those that are a
whole label), the share of answers that are right, and the calibration error of the predicted label
are measured on test rows. What could be accepted is the largest share of rows that any threshold,
chosen on the test rows, accepts at this precision, by calibrated or raw probabilities. Sets are
those of the data home that PALMETTE_DATA names. Nothing else is chosen on test rows.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from typing import Any

import bench_table
import numpy as np
import pandas as pd

from palmette.calibration._chains import HeldOutChains, answers_by_threshold
from palmette.table import fit_table
from palmette.table.answers import PathAnswers

SETS = ("clinc150", "wos_1k", "imclef07a", "pendigits", "yeast_uci",
        "20newsgroups_bydate", "shopify", "diatoms", "letter", "landsat")  # fmt: skip
MODELS = ("auto", "class-tree", "flat-naive-bayes", "flat-linear", "flat-extra-trees",
          "local-per-parent")  # fmt: skip
TEXTS = ("clinc150", "wos_1k", "20newsgroups_bydate", "shopify")
CONFIDENCES = (0.8, 0.9, 0.95)
FEW = 10  # answers of which the share of right ones says nothing


def load(name: str, n_rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return at most `n_rows` training rows and as many test rows; the target is "y"."""
    if name in TEXTS:
        train, test, _ = bench_table.load(name, None, seed)
    else:
        from palmette.datasets import fetch

        data = fetch(name)
        if "X_train" in data:
            parts = [(data.X_train, data.y_train), (data.X_test, data.y_test)]
        else:
            order = np.random.default_rng(seed).permutation(len(data.y))
            cut = len(order) * 7 // 10
            parts = [(np.asarray(data.X)[o], data.y[o]) for o in (order[:cut], order[cut:])]
        train, test = (_frame(data.hierarchy, X, y) for X, y in parts)
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.permutation(len(each))[:n_rows]) for each in (train, test)]
    return train.iloc[rows[0]].reset_index(drop=True), test.iloc[rows[1]].reset_index(drop=True)


def _frame(hierarchy: Any, X: Any, y: Any) -> pd.DataFrame:
    frame = pd.DataFrame(np.asarray(X, dtype=float)).add_prefix("x")
    nodes = hierarchy.index(list(y))
    paths = {n: hierarchy.path(n) for n in np.unique(nodes).tolist()}
    mark = "c" if hierarchy.max_depth == 1 else ""  # plain numbers would not be labels
    cells = {n: bench_table.SEPARATOR.join(f"{mark}{name}" for name in p) for n, p in paths.items()}
    frame["y"] = [cells[n] for n in nodes.tolist()]
    return frame


def true_nodes(model: Any, test: pd.DataFrame) -> tuple[Any, Any]:
    """Return the deepest known node of every label, and whether it is the label itself."""
    hierarchy, found, whole = model.hierarchy_, [], []
    for path in model.target_.read(test):
        deepest = next((k for k in range(len(path), 0, -1) if path[:k] in hierarchy), 0)
        found.append(hierarchy.index(path[:deepest]) if deepest else 0)
        whole.append(deepest == len(path))
    return np.array(found), np.array(whole)


def oracle(chains: HeldOutChains, proba: Any, c: float) -> float:
    """Return the largest share of rows that a threshold accepts at a precision."""
    _, answers, right = answers_by_threshold(proba, chains.right)
    return float(max(answers[right >= c * answers], default=0)) / len(proba)


def calibration_error(sure: Any, right: Any) -> float:
    """Return the expected calibration error in ten bins."""
    bins = np.minimum((sure * 10).astype(int), 9)
    parts = [bins == b for b in range(10) if (bins == b).any()]
    return float(sum(abs(sure[b].mean() - right[b].mean()) * b.mean() for b in parts))


def measure(model: Any, test: pd.DataFrame) -> tuple[list[Any], list[list[Any]]]:
    """Return the calibration errors, raw and calibrated, and a line per confidence."""
    h, X = model.hierarchy_, model.features(test)
    true, whole = true_nodes(model, test)
    answers: PathAnswers = model.path_answers()
    raw = answers.class_proba(X)
    proba = answers.calibrated(raw)
    chains = [HeldOutChains.of(each, answers.space, true) for each in (raw, proba)]
    reach = [np.nan_to_num(1 / (1 + np.exp(-each.odds))) for each in chains]
    is_class = np.isin(np.arange(h.n_nodes), answers.space.classes)
    best = answers.space.classes[proba.argmax(axis=1)]
    right = (best == true) & whole
    errors = [calibration_error(each.max(axis=1), right) for each in (raw, proba)]
    lines = []
    for c in CONFIDENCES:
        sure = answers.sure(proba, c)
        given = sure > 0
        correct = (sure <= true) & (true < h.subtree_end[sure])
        plain = PathAnswers(model.estimator_, h).sure(raw, c)
        before = plain > 0
        fits = (plain <= true) & (true < h.subtree_end[plain])
        best_share = max(oracle(chains[i], reach[i], c) for i in (0, 1))
        leaf = sorted_leaf_share(proba.max(axis=1), right, c)
        answered = [int(given.sum()), given.mean(), (given & is_class[sure]).mean()]
        could = [max(best_share, leaf), leaf]
        plainly = [before.mean(), fits[before].mean()]
        lines.append([c, *answered, correct[given].mean(), *could, *plainly])
    return errors, lines


def sorted_leaf_share(sure: Any, right: Any, c: float) -> float:
    """Return the largest share of whole labels that could be accepted at a precision."""
    counts = np.arange(1, len(sure) + 1)
    hits = np.cumsum(right[np.argsort(-sure, kind="stable")])
    return float(max(counts[hits >= c * counts], default=0)) / len(sure)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--time", type=float, default=20.0, help="of auto; others have no limit")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("set, model, CPU s, calibration error raw > calibrated; per confidence: answered (whole "
          "labels), right | could be accepted (whole labels) | without calibration")  # fmt: skip
    kept = np.zeros(3, dtype=int)
    for name in given.sets.split(","):
        train, test = load(name, given.rows, given.seed)
        for model_name in given.models.split(","):
            if name in TEXTS and model_name in ("flat-extra-trees", "local-per-parent"):
                continue  # for fewer features
            start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
            time = given.time if model_name == "auto" else None
            model = fit_table(train, "y", model=model_name, time=time, seed=given.seed)
            seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - start
            errors, lines = measure(model, test)
            shown = model_name if model_name != "auto" else f"auto: {model.summary_['model']}"
            print(f"{name}, {shown}, {seconds:.0f}, {errors[0]:.3f} > {errors[1]:.3f}")
            for c, n, any_, whole, right, best, leaf, before, fits in lines:
                marks = ["" if n < FEW or right >= c - 0.02 else " RIGHT TOO RARELY",
                         "" if any_ >= 0.9 * best else " ANSWERS TOO FEW"]  # fmt: skip
                kept += [not marks[0], not marks[1], 1]
                print(f"    {c}: {any_:.2f} ({whole:.2f}), {right:.3f} | {best:.2f} ({leaf:.2f}) | "
                      f"{before:.2f}, {fits:.3f}{''.join(marks)}", flush=True)  # fmt: skip
    print(f"right at least c - .02: {kept[0]} of {kept[2]}; answered at least 90 %: {kept[1]}")


if __name__ == "__main__":
    main()
