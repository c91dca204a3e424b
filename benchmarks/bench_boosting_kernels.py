"""The kernels under boosting, at the size of ImCLEF07A: milliseconds, and how far from the floor.

    OMP_NUM_THREADS=1 python benchmarks/bench_boosting_kernels.py
    OMP_NUM_THREADS=1 python benchmarks/bench_boosting_kernels.py --data imclef07a
    OMP_NUM_THREADS=1 python benchmarks/bench_boosting_kernels.py --losses

A search for stumps adds every weight once for every feature: rows x features x columns additions to
bins. Its floor is a plain loop ``bins[i] += values[i]`` with as many additions, over arrays that
lie in the nearest cache. Times are the best of several; codes, weights and trees are random unless
`--data` names a set of the data home (PALMETTE_DATA).

`--losses` compares the gradients of the losses in vectors of float32 numbers with plain loops
(which serve float64 and few columns), and a fit with either: CPU time, random scores and labels.
"""

from __future__ import annotations

import argparse
import itertools
import re
import time
from unittest import mock

import numpy as np
from numba import njit

import palmette as pm
from palmette.base._fitting import Threads
from palmette.boosting import _heap_tree as heap_tree
from palmette.boosting import _loss_lanes, _objectives, _path_lanes, _votes
from palmette.boosting import _shared_split as shared_split
from palmette.boosting._histogram import column_totals, pick_stumps, stump_edges, sum_bins
from palmette.boosting._votes import leaf_sums, reweigh, reweigh_shared, shared_leaf_sums
from palmette.compare import environment
from palmette.trees._binning import BinMapper


@njit(nogil=True)
def plain_loop(bins, values, n_passes):
    for _ in range(n_passes):
        for i in range(len(bins)):
            bins[i] += values[i]


def best_ms(repeats, function, *arguments):
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def measure_floor(n_additions, repeats):
    """Try arrays of a few sizes: some pairs of addresses get in each other's way."""
    times = []
    for size in (1024, 1536, 2048, 4096):
        bins, values = np.zeros(size, dtype=np.float32), np.ones(size, dtype=np.float32)
        n_passes = n_additions // size
        scale = n_additions / (n_passes * size)
        times.append(scale * best_ms(repeats, plain_loop, bins, values, n_passes))
    return min(times)


def count_vector_additions():
    """Additions of whole vectors, and of single numbers, in the code that sums bins."""
    compiled = njit(nogil=True)(sum_bins.py_func)
    compiled(
        np.zeros((4, 1), dtype=np.uint8),
        np.arange(4, dtype=np.int32),
        np.zeros(16, dtype=np.float32),
        np.zeros(4 * 4096, dtype=np.float32),
    )
    (code,) = compiled.inspect_asm().values()
    vectors = re.findall(r"\tfadd\tv|\tv?addps\t", code)
    singles = re.findall(r"\tfadd\ts|\tv?addss\t", code)
    return len(vectors), len(singles)


def random_problem(n_rows, n_features, n_columns, rng):
    codes = rng.integers(0, 255, size=(n_rows, n_features)).astype(np.uint8)
    # every column follows two of the features, with noise, so that trees have something to find
    first, second = rng.integers(0, n_features, size=(2, n_columns))
    noise = rng.random((n_rows, n_columns)) < 0.05
    positive = (codes[:, first] > 200) ^ (codes[:, second] > 230) ^ noise
    return codes, np.where(positive, 1.0, -1.0) * rng.random((n_rows, n_columns))


def real_problem(name):
    data = pm.datasets.fetch(name)
    codes = BinMapper.fit(data.X_train).transform(data.X_train)
    labels = pm.NodeLabels.encode(data.y_train, data.hierarchy).closed.toarray()[:, 1:]
    labels = labels[:, labels.any(axis=0)]
    return codes, np.where(labels > 0, 1.0, -1.0) / labels.size


class Stumps:
    """Search for the stumps of all columns, with features dealt out to threads."""

    def __init__(self, codes, signed):
        self.codes = np.ascontiguousarray(codes.T)
        self.signed = signed
        self.features = np.arange(codes.shape[1], dtype=np.int32)
        shape = codes.shape[1], signed.shape[1]
        self.cuts, self.edges = np.empty(shape, np.uint8), np.empty(shape, np.float32)

    def search(self, threads):
        totals = column_totals(self.signed)
        bounds = np.linspace(0, len(self.features), threads.n_threads + 1).astype(int)

        def block(number):
            part = slice(bounds[number], bounds[number + 1])
            stump_edges(
                self.codes,
                self.signed,
                totals,
                self.features[part],
                self.cuts[part],
                self.edges[part],
            )

        threads.map(block, range(threads.n_threads))
        return pick_stumps(self.features, self.cuts, self.edges, totals)


def report_histograms(codes, signed, repeats):
    n_additions = codes.size * signed.shape[1]
    floor = measure_floor(n_additions, repeats)
    print(f"{n_additions / 1e6:.1f} million additions a round")
    vectors, singles = count_vector_additions()
    print(
        f"sums of bins, as compiled: {vectors} additions of vectors, {singles} of single numbers\n"
    )
    print("| stumps of all columns | ms | beside the floor | beside one thread |")
    print("|---|---|---|---|")
    print(f"| floor: plain loop | {floor:.1f} | 1.00 | |")
    for kind in (np.float32, np.float64):
        stumps = Stumps(codes, signed.astype(kind))
        one = None
        for n_threads in (1, 2):
            with Threads(n_threads) as threads:
                found = best_ms(repeats, stumps.search, threads)
            one = found if one is None else one
            print(
                f"| {np.dtype(kind).name}, {n_threads} thread{'s'[: n_threads - 1]} | {found:.1f} "
                f"| {found / floor:.2f} | {one / found:.2f}x |"
            )


def grow_trees(codes, signed, max_depth, candidates, random_cuts):
    by_feature, columns = np.ascontiguousarray(codes.T), signed.T.astype(np.float32, order="C")
    n_places = 2 ** (max_depth + 1)
    features = np.empty((len(columns), n_places), dtype=np.int32)
    cuts = np.empty((len(columns), n_places), dtype=np.uint8)
    bounds = np.empty((n_places, 2), dtype=np.int64)

    def grow():
        for k in range(len(columns)):
            rows = np.arange(len(codes), dtype=np.int32)
            features[k], cuts[k] = heap_tree.grow_heap_tree(
                None,
                by_feature,
                None,
                None,
                columns[k],
                candidates,
                len(candidates),
                random_cuts,
                False,
                1,
                np.array([k], dtype=np.uint64),
                rows,
                bounds,
            )

    return grow, features, cuts


def report_trees(codes, signed, repeats, rng):
    n_rows, n_features = codes.shape
    n_columns = signed.shape[1]
    candidates = np.sort(rng.choice(n_features, n_features // 5, replace=False)).astype(np.int32)
    print(f"\n| a round, trees of {len(candidates)} features | stumps, ms | depth 3, ms |")
    print("|---|---|---|")
    times = {}
    for max_depth in (1, 3):
        for random_cuts in (True, False):
            grow, features, cuts = grow_trees(codes, signed, max_depth, candidates, random_cuts)
            name = "random" if random_cuts else "best"
            times[f"grow, {name} cuts", max_depth] = best_ms(3, grow)
        places = np.empty((n_rows, n_columns), dtype=np.uint8)
        shape = features.shape
        positive, negative, mass = np.empty(shape), np.empty(shape), np.empty(n_columns)
        values = 1e-6 * rng.normal(size=shape)
        signs = rng.choice([-1, 1], size=shape).astype(np.int8)
        starts = np.r_[0, np.arange(n_columns)].astype(np.int64)
        parents = (np.arange(n_columns - 1) // 3).astype(np.int32)
        moved = signed.copy()
        steps = {
            "walk": (heap_tree.find_class_leaves, codes, features, cuts, places),
            "sums of leaves": (leaf_sums, moved, places, positive, negative),
            "reweigh": (reweigh, moved, places, values, mass),
            "mask": (heap_tree.mask_places, places, signs, starts, parents, True),
        }
        for name, step in steps.items():
            times[name, max_depth] = best_ms(repeats, *step)
    for name in dict.fromkeys(name for name, _ in times):
        print(f"| {name} | {times[name, 1]:.1f} | {times[name, 3]:.1f} |")
    return features, cuts


def report_shared(codes, signed, features, cuts, repeats, rng):
    n_columns, n_places = features.shape
    every = np.arange(n_places, dtype=np.int32)
    by_feature, floats = np.ascontiguousarray(codes.T), signed.astype(np.float32)
    rows, ones = np.arange(len(codes), dtype=np.int32), np.ones(len(codes), dtype=np.float32)
    candidates = np.arange(codes.shape[1], dtype=np.int32)
    leaf = heap_tree.shared_leaf(codes, features[0], cuts[0], every)
    positive, negative = np.empty((n_places, n_columns)), np.empty((n_places, n_columns))
    values, mass = 1e-6 * rng.normal(size=positive.shape), np.empty(n_columns)
    split = shared_split.best_shared_split
    steps = {
        "best split of all rows": (split, by_feature, floats, ones, rows, candidates, 0, 1),
        "best split of 100 rows": (split, by_feature, floats, ones, rows[:100], candidates, 0, 1),
        "leaves of rows": (heap_tree.shared_leaf, codes, features[0], cuts[0], every),
        "sums of leaves": (shared_leaf_sums, signed, leaf, positive, negative),
        "reweigh": (reweigh_shared, signed.copy(), leaf, values, mass),
    }
    print("\n| a tree for all columns | ms |")
    print("|---|---|")
    for name, step in steps.items():
        print(f"| {name} | {best_ms(repeats, *step):.1f} |")


def report_prediction(codes, n_columns, n_rounds, repeats, rng):
    codes = codes[:1006]
    print(f"\n| {len(codes)} rows, {n_rounds} rounds, {n_columns} columns | s | s, masked |")
    print("|---|---|---|")
    starts = np.r_[0, np.arange(n_columns)].astype(np.int64)
    parents = (np.arange(n_columns - 1) // 3).astype(np.int32)
    for max_depth in (1, 3, 5):
        shape = n_rounds, n_columns, 2 ** (max_depth + 1)
        features = rng.integers(0, codes.shape[1], shape).astype(np.int32)
        features[:, :, 2**max_depth :] = -1
        cuts = rng.integers(0, 255, shape).astype(np.uint8)
        values, scores = rng.normal(size=shape), np.zeros((len(codes), n_columns))
        signs = np.where(values > 0, 1, -1).astype(np.int8)
        forest = codes, features, cuts, values
        plain = best_ms(repeats, heap_tree.add_class_tree_scores, *forest, scores)
        masked = best_ms(
            repeats,
            heap_tree.add_masked_class_tree_scores,
            *forest,
            signs,
            starts,
            parents,
            True,
            scores,
        )
        print(f"| depth {max_depth} | {plain / 1000:.2f} | {masked / 1000:.2f} |")


# ---------------------------------------------------------------------------- losses


def best_cpu_s(repeats, function, *arguments):
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function(*arguments)
        times.append(time.process_time() - start)
    return min(times)


def loss_cases(n_columns, rng):
    """Return the arguments of the kernel of every loss, but for the gradients."""
    n_rows = 2_000_000 // n_columns
    scores = (2 * rng.normal(size=(n_rows, n_columns))).astype(np.float32)
    weights = np.ones(n_rows, dtype=np.float32)
    # about two per cent of the columns of a row are true
    truth = rng.random((n_rows, n_columns)) < 0.02
    starts = np.r_[0, np.cumsum(truth.sum(axis=1))].astype(np.int64)
    positives = np.nonzero(truth)[1].astype(np.int32)
    parents = (np.arange(n_columns) // 4 - 1).astype(np.int32)  # every node has four children
    ends = np.ones(n_columns, dtype=bool)
    ends[parents[parents >= 0]] = False
    targets = rng.choice(np.flatnonzero(ends), n_rows).astype(np.int32)
    return {
        "logistic": (scores, starts, positives, weights),
        "softmax": (scores, targets, weights),
        "path_softmax": (scores, targets, weights, parents, ends),
    }


def report_losses(repeats, rng):
    widths = (8, 20, 100, 1000, 4126)
    found = {}
    for n_columns in widths:
        for name, arguments in loss_cases(n_columns, rng).items():
            module = _path_lanes if name == "path_softmax" else _loss_lanes
            out = np.empty_like(arguments[0])
            found[name, n_columns] = [
                1e9 * best_cpu_s(repeats, getattr(each, f"{name}_gradients"), *arguments, out)
                for each in (_votes, module)
            ]
            found[name, n_columns] = [each / out.size for each in found[name, n_columns]]
    heads = " | ".join(f"{n:,} columns" for n in widths)
    print(f"\n| ns of CPU time per row and column | {heads} |")
    print("|---|" + "---|" * len(widths))
    for i, kind in enumerate(("plain loops", "vectors")):
        for name in ("logistic", "softmax", "path_softmax"):
            cells = " | ".join(f"{found[name, n_columns][i]:.1f}" for n_columns in widths)
            print(f"| {name}, {kind} | {cells} |")


def report_fits(rng, n_rows=8000, n_features=50, n_rounds=40):
    numbers = itertools.product(range(10), range(11), range(11))
    names = [(f"{a}", f"{a}.{b}", f"{a}.{b}.{c}") for a, b, c in numbers]
    X = rng.normal(size=(n_rows, n_features))
    match = X @ rng.normal(size=(n_features, len(names))) + rng.normal(size=(n_rows, len(names)))
    best = np.argsort(-match, axis=1)[:, :3]
    several = [[names[j] for j in row] for row in best]
    single = [names[row[0]] for row in best % 400]
    size = f"{n_rows:,} x {n_features}, {n_rounds} rounds"
    print(f"\n| fit, {size} | nodes | plain loops, CPU s | vectors, CPU s |")
    print("|---|---|---|---|")
    for loss, y in (("logistic", several), ("leaf_softmax", single), ("path_softmax", single)):
        model = pm.HierarchicalBoostingClassifier(
            loss=loss, n_estimators=n_rounds, n_bags=1, random_state=0
        )
        times = []
        for in_lanes in (lambda scores: False, _objectives.in_lanes):
            with mock.patch.object(_objectives, "in_lanes", in_lanes):
                times.append(best_cpu_s(1, model.fit, X, y))
        n_nodes = model.hierarchy_.n_nodes
        print(f"| {loss} | {n_nodes:,} | {times[0]:.2f} | {times[1]:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="a set of the data home, such as imclef07a")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=80)
    parser.add_argument("--columns", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--losses", action="store_true", help="only the gradients of the losses")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print(environment())
    if options.losses:
        report_losses(min(options.repeats, 7), rng)
        report_fits(rng)
        return
    if options.data is not None:
        codes, signed = real_problem(options.data)
    else:
        codes, signed = random_problem(options.rows, options.features, options.columns, rng)
    codes, signed = np.ascontiguousarray(codes), np.ascontiguousarray(signed)
    print(f"{len(codes)} rows, {codes.shape[1]} features, {signed.shape[1]} columns")
    report_histograms(codes, signed, options.repeats)
    features, cuts = report_trees(codes, signed, options.repeats, rng)
    report_shared(codes, signed, features, cuts, options.repeats, rng)
    report_prediction(codes, signed.shape[1], options.rounds, 3, rng)


if __name__ == "__main__":
    main()
