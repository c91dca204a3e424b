"""How many planted label errors a review finds first, beside scores for flat labels.

    python benchmarks/bench_review.py                                   # text sets of the data home
    python benchmarks/bench_review.py --sets clinc150 --seeds 0
    python benchmarks/bench_review.py --sets --table packages.csv:category

In 5 % of the rows the label is replaced by another one: any other label ("uniform"), or another
child of the same parent ("sibling"). Rows are sorted by every score, and the table shows the share
of planted errors among the first k rows: k = the number of planted errors, half of it, and 100.
Intervals are Wilson's at 95 %, over the rows of all seeds. Errors that the data had before count as
false alarms for all scores alike.

All scores see the same held-out probabilities, those of class-tree in five folds.
Confident learning (Northcutt, Jiang and Chuang, 2021) is written here from its formulas:
self-confidence is the probability of the given label; the normalized margin is that minus the
largest other probability; the confident joint counts a row as an error if among the labels whose
probability reaches the mean self-confidence of their rows the most probable one is not the given
label, and these rows come first, ordered by either score.

The noise model of `palmette.review` was chosen on 20 Newsgroups and clinc150 (training rows, seeds
10 and 11, which are not used here); noise by level was the default until a run on 10,000 rows of
Debian's packages. The order of the rows, learned from planted labels, was chosen on other sets and
clinc150 (`bench_review_claims.py`). So only wos_1k had no part in any choice.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from palmette.compare import find_problem
from palmette.labels._labels import NodeLabels
from palmette.reviewing._cross_fit import HeldOut, equal_rows
from palmette.reviewing._doubts import PathDoubts
from palmette.table import fit_table

SETS = ["20newsgroups_bydate", "clinc150", "stdlib", "wos_1k"]
UNSEEN = ("wos_1k",)
SEPARATOR = " > "


def read_texts(name: str) -> tuple[pd.DataFrame, str, dict[str, str]]:
    """Return a set of texts as a table, its target, and the kinds of its columns."""
    problem = find_problem(name)
    h = problem.hierarchy
    nodes = NodeLabels.encode(problem.y_train, h).terminals
    paths = [SEPARATOR.join(h.path(node)) for node in nodes.tolist()]
    frame = problem.X_train[["text"]].assign(kind=paths)
    return frame, "kind", {"text": "text"}


def plant(paths: list[str], kind: str, seed: int, share: float) -> tuple[list[str], np.ndarray]:
    """Replace some labels; return all labels, and which were replaced."""
    rng = np.random.default_rng(seed)
    labels = sorted(set(paths))
    by_parent = defaultdict(list)
    for label in labels:
        by_parent[label.rpartition(SEPARATOR)[0]].append(label)
    found, planted = list(paths), np.zeros(len(paths), dtype=bool)
    wanted = round(share * len(paths))
    for row in rng.permutation(len(paths)).tolist():
        own = paths[row]
        pool = labels if kind == "uniform" else by_parent[own.rpartition(SEPARATOR)[0]]
        others = [label for label in pool if label != own]
        if others:
            found[row] = others[int(rng.integers(len(others)))]
            planted[row] = True
        if planted.sum() == wanted:
            break
    return found, planted


def held_out(frame: pd.DataFrame, target: str, kinds: dict[str, str], seed: int) -> Any:
    """Return held-out probabilities, codes of the given labels, and doubts, also by level."""
    model = fit_table(
        frame, target, model="class-tree", folds=0, separator=SEPARATOR, seed=seed,
        columns=kinds, drop=[c for c in frame.columns if c != target and c not in kinds],
        settings={"calibration": 1.0},
    )  # fmt: skip
    h = model.hierarchy_
    nodes = np.asarray(h.index(model.read_target(frame)), dtype=np.int64)
    labels = np.unique(nodes)
    everything = np.ones(len(frame), dtype=bool)
    groups = equal_rows(model, frame)
    parts = list(HeldOut(model, frame, labels, everything, nodes, groups, n_folds=5, seed=seed))
    proba = np.zeros((len(frame), len(labels)))
    unseen = np.zeros(len(frame), dtype=bool)
    codes = np.searchsorted(labels, nodes)
    for part in parts:
        proba[part.rows] = part.proba
        unseen[part.rows] = ~part.known[codes[part.rows]]
    doubts = []
    for by_level in (False, True):
        doubts.append(PathDoubts(model, labels, [[node] for node in nodes], everything, by_level))
        doubts[-1].read(parts)
    return proba, codes, unseen, *doubts


def scores(proba: Any, codes: Any, unseen: Any, doubts: Any, by_level: Any) -> Iterator[Any]:
    yield "wrong", doubts.wrong
    yield "review", doubts.priority
    yield "review, by level", by_level.priority
    scaled = doubts.noise.scaled(proba)  # the others get calibrated probabilities, too
    rows = np.arange(len(codes))
    own = scaled[rows, codes]
    rest = scaled.copy()
    rest[rows, codes] = 0.0
    margin = own - rest.max(axis=1)
    yield "self-confidence", -own
    yield "normalized margin", -margin
    yield "log margin", np.log(rest.max(axis=1) + 1e-300) - np.log(own + 1e-300)
    means = np.array(
        [own[codes == c].mean() if (codes == c).any() else 1 for c in range(proba.shape[1])]
    )
    reached = np.where(scaled >= means, scaled, -1.0)
    is_error = (reached.max(axis=1) >= 0) & (reached.argmax(axis=1) != codes)
    yield "confident joint, self-confidence", is_error * 10.0 - own
    yield "confident joint, margin", is_error * 10.0 - margin


def wilson(hits: int, n: int) -> tuple[float, float]:
    z, p = 1.96, hits / n
    centre, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def run(name: str, frame: pd.DataFrame, target: str, kinds: dict[str, str], args: Any) -> None:
    start = time.process_time()
    for kind in ("uniform", "sibling"):
        counts: dict[str, Any] = defaultdict(lambda: np.zeros((3, 2), dtype=int))
        shares = []
        for seed in args.seeds:
            labels, planted = plant(frame[target].tolist(), kind, seed, args.share)
            found = held_out(frame.assign(**{target: labels}), target, kinds, seed)
            n = int(planted.sum())
            for title, score in scores(*found):
                if title == "wrong":
                    shares.append(float(score[~found[2]].mean()))
                    continue
                score = np.where(found[2], -np.inf, score)  # labels that no other row has
                order = np.argsort(-score, kind="stable")
                for i, k in enumerate((n, n // 2, min(100, n))):
                    counts[title][i] += planted[order[:k]].sum(), k
        note = "unseen" if name in UNSEEN else "score chosen with this set"
        print(f"\n{name}, {kind}, {len(frame):,} rows, {n:,} planted; {note}; estimated share of "
              f"wrong labels {np.mean(shares):.3f}, planted {n / len(frame):.3f}")  # fmt: skip
        print(f"| {'score':32} | first k = planted | half of k | first 100 |\n|---|---|---|---|")
        best = [max(c[i][0] for c in counts.values()) for i in range(3)]
        for title, cells in counts.items():
            shown = []
            for i, (hits, k) in enumerate(cells.tolist()):
                low, high = wilson(hits, k)
                mark = "**" if hits == best[i] else ""
                shown.append(f"{mark}{hits / k:.3f}{mark} ({low:.3f}-{high:.3f})")
            print(f"| {title:32} | {' | '.join(shown)} |", flush=True)
    print(f"{time.process_time() - start:.0f} CPU s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--table", help="FILE:TARGET, a table with paths; text columns are used")
    parser.add_argument("--columns", nargs="*", help="text columns of the table; all by default")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--share", type=float, default=0.05)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.sets:
        run(name, *read_texts(name), args)
    if args.table:
        path, _, target = args.table.rpartition(":")
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        names = args.columns or [c for c in frame.columns if c != target]
        run(path, frame[[*names, target]], target, dict.fromkeys(names, "text"), args)


if __name__ == "__main__":
    main()
