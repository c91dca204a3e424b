"""How far each hot kernel is from what this machine can do: time beside a floor, on one thread.

    OMP_NUM_THREADS=1 python benchmarks/bench_roofline.py
    OMP_NUM_THREADS=1 python benchmarks/bench_roofline.py --only adam softmax

First the ceilings are measured: bytes per second that are read or copied in each level of memory,
vector operations, divisions, roots, integer products and logarithms per second, and loads per
second from random places of tables of several sizes. Then every kernel runs on data of a realistic
size. Its work per cell (a row and a column, an entry, a row: the unit is named) was counted by
reading the code; the comments beside the counts say what they are. The floor is the largest of the
times that the parts of the work take at their ceilings, as if all others were done meanwhile:
no kernel can be faster without other work, and one that has several parts is slower.

Times are CPU times, the best of several runs. Other programs slow memory down, so ceilings and
kernels that are compared must be of the same run.
"""

from __future__ import annotations

import argparse
import time
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from palmette._arrays import read_only
from palmette._kernels import kernel
from palmette._stopping import stop_flag
from palmette.boosting import (
    _block_sums,
    _block_tree,
    _growing_rows,
    _histogram,
    _loss_lanes,
    _path_lanes,
)
from palmette.class_tree import _dual_descent, _forest_router, _route_kernel
from palmette.compare import environment
from palmette.forest import _node_block, _node_split, _split_solvers, _tree_kernel
from palmette.forest._settings import AXIS, TreeSettings
from palmette.multipath import _layers
from palmette.table import _ngrams, _texts
from palmette.trees._binning import BinMapper, write_codes

KIB, MIB = 2**10, 2**20
# working sets of the levels of memory; the first two fit into the caches of one core
LEVELS = {"L1": 32 * KIB, "L2": 384 * KIB, "L3": 6 * MIB, "memory": 256 * MIB}
_PRIME = np.uint64(0x100000001B3)


def best_seconds(function, *arguments, prepare=None, budget=1.0, least=5):
    """Return the CPU time of the fastest run; `prepare` makes the arguments of each."""
    times = []
    function(*(arguments if prepare is None else prepare()))
    while len(times) < least or (sum(times) < budget and len(times) < 200):
        given = arguments if prepare is None else prepare()
        start = time.process_time()
        function(*given)
        times.append(time.process_time() - start)
    return min(times)


# ---------------------------------------------------------------------------- ceilings


@kernel
def read_numbers(source, n_times):
    part = np.uint64(512)
    a = b = c = d = source[0]
    for _ in range(n_times):
        for first in range(0, len(source) - 2047, 2048):
            one = np.uint64(first)
            two, three, four = one + part, one + part + part, one + part + part + part
            for i in range(part):  # several sums, so that none has to wait for itself
                a ^= source[one + i]
                b ^= source[two + i]
                c ^= source[three + i]
                d ^= source[four + i]
        source[0] = a ^ b ^ c ^ d  # so that the next round is not left out
    return source[0]


@kernel
def read_in_order(source, n_times):
    total = source[0]
    for _ in range(n_times):
        for i in range(len(source)):
            total ^= source[i]
        source[0] = total
    return total


@kernel
def copy_numbers(source, target, n_times):
    for number in range(n_times):
        for i in range(len(source)):
            target[i] = source[i] + number


@kernel
def add_numbers(source, target, n_times):
    for _ in range(n_times):
        for i in range(len(source)):
            target[i] += source[i]


@kernel(error_model="numpy")
def divide_numbers(a, b, out, n_times):
    for _ in range(n_times):
        for i in range(len(out)):
            out[i] = a[i] / b[i]


@kernel(error_model="numpy")
def take_roots(a, b, out, n_times):
    for _ in range(n_times):
        for i in range(len(out)):
            out[i] = np.sqrt(a[i])


@kernel
def take_logarithms(a, n_times):
    total = 0.0
    for _ in range(n_times):
        for i in range(len(a)):
            total += np.log(a[i])
    return total


@kernel
def multiply_integers(n_times):
    a = b = c = d = e = f = g = h = np.uint64(1)
    for number in range(np.uint64(n_times)):
        a, b, c, d = (a ^ number) * _PRIME, (b ^ a) * _PRIME, (c ^ b) * _PRIME, (d ^ c) * _PRIME
        e, f = (e ^ number) * _PRIME, (f ^ number) * _PRIME
        g, h = (g ^ number) * _PRIME, (h ^ number) * _PRIME
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h


@kernel
def load_places(table, places, n_times):
    total = np.int64(0)
    for _ in range(n_times):
        for i in range(len(places)):
            total += table[np.uint64(places[i])]
        places[0] = np.uint32(total & 1)
    return total


def measure_ceilings(rng):
    """Return what can be done per nanosecond, by the name of a part of the work."""
    found = {}
    for level, size in LEVELS.items():
        # ones: memory of zeros that was never written to would be one and the same page
        source, target = np.ones((2, size // 16), np.int64)
        n_times = max(1, 64 * MIB // size)
        numbers = np.ones(size // 8, np.int64)  # nearer memory is read faster in one way or another
        ways = read_numbers, read_in_order
        seconds = min(best_seconds(way, numbers, n_times) for way in ways)
        found[f"read {level}"] = size * n_times / seconds
        seconds = best_seconds(copy_numbers, source, target, n_times)
        found[f"copy {level}"] = size * n_times / seconds
        floats = source.view(np.float32), target.view(np.float32)
        seconds = best_seconds(add_numbers, *floats, n_times)
        found[f"add {level}"] = 1.5 * size * n_times / seconds  # two loads and a store
        table = np.ones(size // 4, np.int32)
        places = rng.integers(0, len(table), size=2**21).astype(np.uint32)
        seconds = best_seconds(load_places, table, places, 1)
        found[f"loads {level}"] = len(places) / seconds
    for name, kind in (("float32", np.float32), ("float64", np.float64)):
        a, b = np.ones((2, 768, 768), kind)
        with threadpool_limits(1):
            found[f"{name} operations"] = 768**3 / best_seconds(np.matmul, a, b)
        numbers = 1 + rng.random((3, 1024)).astype(kind)
        seconds = best_seconds(divide_numbers, *numbers, 1000)
        found[f"{name} divisions"] = 1024 * 1000 / seconds
        seconds = best_seconds(take_roots, *numbers, 1000)
        found[f"{name} roots"] = 1024 * 1000 / seconds
    found["logarithms"] = 1024 * 500 / best_seconds(take_logarithms, 1 + rng.random(1024), 500)
    found["integer products"] = 8 * 10**6 / best_seconds(multiply_integers, 10**6)
    return {name: rate / 1e9 for name, rate in found.items()}


def print_ceilings(found):
    print("\n| one thread | " + " | ".join(LEVELS) + " |")
    print("|---|" + "---|" * len(LEVELS))
    print(
        "| working set | " + " | ".join(f"{size // KIB:,} KiB" for size in LEVELS.values()) + " |"
    )
    for name, unit in (("read", "GB/s"), ("copy", "GB/s"), ("add", "GB/s"), ("loads", "10^9/s")):
        cells = " | ".join(f"{found[f'{name} {level}']:.2f}" for level in LEVELS)
        print(f"| {name}, {unit} | {cells} |")
    others = [name for name in found if name.split()[-1] not in LEVELS]
    print("\n10^9 per second: " + ", ".join(f"{name} {found[name]:.2f}" for name in others) + ".")


# ---------------------------------------------------------------------------- kernels


class Case(NamedTuple):
    """A kernel and its work.

    `work` has the amount per unit of each part: bytes of "read", "copy" (read and written) and
    "add" (both terms and the sum) in a level, numbers of others. Operations are those of vectors,
    per number: a multiply-add, a comparison or a shuffle is one.
    """

    name: str
    size: str
    unit: str
    n_units: float
    work: dict[str, float]
    run: Any
    prepare: Any = None


EXP = 13  # maximum, rounding (2), rest, square, polynomial (4 + 3), shift, addition of exponents


def loss_cases(rng, n_rows=8000, n_columns=1000):
    scores = (2 * rng.normal(size=(n_rows, n_columns))).astype(np.float32)
    out = np.empty_like(scores)
    weights = np.ones(n_rows, np.float32)
    starts = 20 * np.arange(n_rows + 1)
    positives = np.sort(rng.integers(0, n_columns, size=(n_rows, 20))).astype(np.int32).ravel()
    parents = (np.arange(n_columns) // 4 - 1).astype(np.int32)
    ends = np.ones(n_columns, bool)
    ends[parents[parents >= 0]] = False
    targets = rng.choice(np.flatnonzero(ends), n_rows).astype(np.int32)
    size, n_cells = f"{n_rows:,} x {n_columns:,}", n_rows * n_columns
    # scores are read and gradients written once; rows stay near in between
    yield Case(
        "logistic gradients", size, "row x column", n_cells,
        # sign, exp, 1 + e, product, comparison, choice; of a division for two: 1.5 products; two
        # products, maximum, conversion and addition in float64 (two vectors each for one)
        {"copy memory": 8, "float32 operations": 1 + EXP + 4 + 1.5 + 2 + 1 + 4,
         "float32 divisions": 0.5},
        lambda: _loss_lanes.logistic_gradients(scores, starts, positives, weights, out),
    )  # fmt: skip
    yield Case(
        "softmax gradients", size, "row x column", n_cells,
        # maximum; difference, exp, sum; product. The row is read, written and read again near by
        {"copy memory": 8, "float32 operations": 1 + 1 + EXP + 1 + 1, "copy L1": 16},
        lambda: _loss_lanes.softmax_gradients(scores, targets, weights, out),
    )  # fmt: skip
    yield Case(
        "path softmax gradients", size, "row x column", n_cells,
        # turned twice by 8 shuffles per 16 numbers; sum, choice, maximum; difference, exp, choice;
        # sum; product. Near by: 64 KB of vectors of nodes, written by the turn, read with the
        # parent and written, read and written by exp, added to the parent, read by the last turn
        {"copy memory": 8, "float32 operations": 4 + 3 + 1 + EXP + 1 + 1 + 1,
         "copy L1": 4 + 12 + 8 + 12 + 4},
        lambda: _path_lanes.path_softmax_gradients(scores, targets, weights, parents, ends, out),
    )  # fmt: skip


def block_cases(rng, n_rows=200_000, n_features=50, n_columns=100, level=3):
    """Sums of a level of a tree with eight nodes, as `BlockGrower` calls the kernels."""
    codes = rng.integers(0, 255, size=(n_rows, n_features)).astype(np.uint8)
    gradients = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    weights = np.ones(n_rows, np.float32)
    n_slots, n_draws = 2**level, int(np.sqrt(n_features))
    features = rng.integers(0, n_features, size=(n_slots, n_draws)).astype(np.int32)
    cuts = rng.integers(0, 255, size=(n_slots, n_draws)).astype(np.uint8)
    slot_at = np.full(64, _block_sums.NO_SLOT, np.uint16)
    slot_at[n_slots : 2 * n_slots] = np.arange(n_slots)
    places = rng.integers(n_slots, 2 * n_slots, n_rows).astype(np.uint16)
    n_here = _block_sums.block_rows(n_rows, n_columns, n_slots * (1 + n_draws))
    n_blocks = _block_sums.count_blocks(n_rows, n_here)
    group, n_at_once = _block_tree._plan(n_draws, n_slots, n_columns, n_here)
    assert n_at_once == n_draws
    n_groups = -(-n_draws // group)
    sums = np.empty((n_blocks, n_slots, 1 + n_draws, n_columns), np.float32)
    masses = np.empty((n_blocks, n_slots, 1 + n_draws, 2))
    size = f"{n_rows:,} x {n_columns}"
    # folding a block adds each of the buckets to two others, and clears it
    folded = 2 * n_groups * (n_slots << group) * n_blocks / n_rows
    near = "L2" if n_groups * (n_slots << group) * 4 * n_columns > 48 * KIB else "L1"
    yield Case(
        f"sums of {n_slots} nodes, {n_draws} draws", size, "row x column", n_rows * n_columns,
        # a gradient is read, and added to a bucket per group; codes are one line of a row
        {"read memory": 4 + 64 / n_columns, f"add {near}": 12 * (n_groups + folded),
         "float32 operations": n_groups + folded, "loads L2": n_draws / n_columns},
        lambda: _block_sums.sum_blocks(
            codes, gradients, weights, places, slot_at, None, features, cuts, group, n_here,
            sums, masses, 0, n_blocks,
        ),
    )  # fmt: skip
    n_leaves = 32
    leaf = rng.integers(0, n_leaves, n_rows).astype(np.int32)
    n_here = _block_sums.block_rows(n_rows, n_columns, 2 * n_leaves)
    n_blocks = _block_sums.count_blocks(n_rows, n_here)
    parts = np.empty((n_blocks, n_leaves, 2, n_columns), np.float32)
    cover = np.empty((n_blocks, n_leaves))
    yield Case(
        f"sums of {n_leaves} leaves", size, "row x column", n_rows * n_columns,
        # a gradient is read, it and its curvature are added: size, product, difference, product
        {"read memory": 4, "add L1": 24, "float32 operations": 6},
        lambda: _block_sums.sum_leaves(
            gradients, weights, leaf, n_here, parts, cover, 0, n_blocks
        ),
    )  # fmt: skip
    own = np.full(64, -1, np.int32)
    own[n_slots // 2 : n_slots] = rng.integers(0, n_features, n_slots // 2)
    own_cuts = rng.integers(0, 255, 64).astype(np.uint8)
    ranges = np.zeros((n_slots, n_draws, 3), np.uint8)
    yield Case(
        f"moving rows, ranges of {n_draws} features", f"{n_rows:,} x {n_features}", "row", n_rows,
        # codes of a row; per feature its number, its code and three bounds; place, split, slot
        {"read memory": n_features + 4, "loads L1": 5 * n_draws + 5},
        lambda places: _growing_rows.move_rows(
            codes, own, own_cuts, slot_at, features, None, places, ranges, 0, n_rows
        ),
        lambda: (rng.integers(n_slots // 2, n_slots, n_rows).astype(np.uint16),),
    )  # fmt: skip


def binning_cases(rng, n_rows=200_000, n_features=50):
    for kind in (np.float64, np.float32):
        X = rng.normal(size=(n_rows, n_features)).astype(kind)
        mapper = BinMapper.fit(X[:20_000])
        codes = np.empty(X.shape, np.uint8)
        yield Case(
            f"binning, {np.dtype(kind).name}", f"{n_rows:,} x {n_features}", "value", X.size,
            # eight thresholds of a table of 2 KiB, each compared
            {"copy memory": X.itemsize + 1, "loads L1": 8},
            lambda X=X, mapper=mapper, codes=codes: write_codes(
                X, mapper.starts, mapper.cuts, codes, 0, n_rows
            ),
        )  # fmt: skip


def stump_cases(rng, n_rows=10_000, n_features=80, n_columns=96):
    codes = rng.integers(0, 255, size=(n_features, n_rows)).astype(np.uint8)
    signed = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    totals, features = signed.sum(axis=0, dtype=float), np.arange(n_features, dtype=np.int32)
    cuts = np.empty((n_features, n_columns), np.uint8)
    edges = np.empty((n_features, n_columns), np.float32)
    yield Case(
        "stumps of all columns", f"{n_rows:,} x {n_features} x {n_columns}",
        "row x feature x column", codes.size * n_columns,
        # a weight is read once for four features and added to a bin of each, 64 KiB in all
        {"read L2": 1 + 1 / 16, "add L1": 12, "float32 operations": 1},
        lambda: _histogram.stump_edges(codes, signed, totals, features, cuts, edges),
    )  # fmt: skip


def random_rows(n_rows, n_features, length, rng):
    """Return sparse rows of one length: values, first places and lengths, columns."""
    columns = np.sort(rng.integers(0, n_features, size=(n_rows, length))).astype(np.int32)
    starts = length * np.arange(n_rows)
    values = rng.random(n_rows * length)
    return [read_only(each) for each in (values, starts, np.full(n_rows, length), columns.ravel())]


def count_logarithms(rng, curvature):
    """Return the mean number of logarithms of a step of `logistic_descent` from its start."""
    count, log = [0], np.log

    def counting(x):
        count[0] += 1
        return log(x)

    with mock.patch.object(_dual_descent, "np", SimpleNamespace(log=counting)):
        for slope in rng.uniform(-2, 2, size=500):
            _dual_descent._logistic_step(1e-8, 1.0, curvature, slope)
    return count[0] / 500


def descent_cases(rng, n_rows=20_000, n_features=20_000, length=60, n_targets=8):
    rows = random_rows(n_rows, n_features, length, rng)
    member = rng.integers(n_targets, size=n_rows).astype(np.int32)
    signs = np.where(np.eye(n_targets, dtype=bool), 1, -1).astype(np.int8)
    data = _dual_descent.TargetRows(
        *rows, rows[1].copy(), np.arange(n_rows), member, signs, np.ones(n_rows), stop_flag()
    )  # fmt: skip
    size = f"{n_rows:,} rows of {length} of {n_features:,}, {n_targets} targets"
    # the weights of the features have 1.3 MB. First pass, with squared norms of the rows. Entries
    # are read twice in place and once in a random order of rows; the weights of an entry are one
    # line, loaded from a random place, then again near by. Products and sums of margins and moves
    work = {
        "read memory": 8 + 12,
        "loads L3": 1,
        "copy L2": 3 * 8 * n_targets,
        "float64 operations": 4 * n_targets + 1,
    }
    shape = n_features + 1, n_targets
    for name in ("squared_hinge", "logistic"):
        own = dict(work)
        if name == "logistic":
            # it moves the weights once more at first, and a target of a row takes steps of Newton's
            # method, of a logarithm and three divisions each
            n_logarithms = count_logarithms(rng, 1 + length / 3) * n_targets / length
            own["copy L2"] += 2 * 8 * n_targets
            own["float64 operations"] += 2 * n_targets
            own["logarithms"], own["float64 divisions"] = n_logarithms, 3 * n_logarithms
        descend = getattr(_dual_descent, f"{name}_descent")
        yield Case(
            f"dual descent, {name.replace('_', ' ')}", size, "entry", n_rows * length, own,
            lambda state, weights, descend=descend: descend(data, 0.0, 1, state, weights),
            lambda: (np.zeros(1, np.uint64), np.zeros(shape)),
        )  # fmt: skip


def search_cases(rng, n_rows=2000, n_features=20_000, length=60, arity=8, width=10):
    """Search a tree of 4,096 classes, whose nodes have fewer features the deeper they are."""
    sizes = [n_features, n_features // 2, n_features // 5, n_features // 13]
    n_nodes = [arity**level for level in range(len(sizes))]
    features = [
        np.sort(rng.choice(n_features, size, replace=False))
        for size, n in zip(sizes, n_nodes, strict=True)
        for _ in range(n)
    ]
    first_feature = np.r_[0, np.cumsum([len(each) for each in features])]
    n_all = len(features)
    first_option = arity * np.arange(n_all + 1)
    below = 1 + np.arange(n_all * arity)
    targets = np.where(below < n_all, below, -1).astype(np.int32)
    ends = np.where(below < n_all, -1, below - n_all).astype(np.int32)
    weights = rng.normal(size=first_feature[-1] * arity)
    model = [
        read_only(each)
        for each in (
            first_option, first_option.copy(), rng.normal(size=n_all * arity), first_feature,
            np.concatenate(features).astype(np.int32), arity * first_feature,
        )
    ]  # fmt: skip
    rows = random_rows(n_rows, n_features, length, rng)
    space = _route_kernel.SearchSpace.of(rows[2], width, first_option, first_option, n_features)
    labels, totals = np.empty((n_rows, width), np.int32), np.empty((n_rows, width))
    paths = [min(n, width) for n in n_nodes]  # of a row at every level
    n_looked_up = length * sum(paths)
    found = [length * size / n_features * n for size, n in zip(sizes, paths, strict=True)]
    filled = 2 * first_feature[-1] / n_rows  # in the table of features, and cleared
    yield Case(
        f"beam search, width {width}",
        f"{n_rows:,} rows of {length}, {arity**len(sizes):,} classes", "row", n_rows,
        # every entry is looked up in a table of 80 KB at every node; the weights of an entry that
        # a node has are a line of the model's 71 MB, but rows at a node follow each other, so that
        # those of all levels but the last are in a cache; two operations per weight
        {"copy L2": 8 * filled, "loads L2": n_looked_up + sum(found[:-1]),
         "loads memory": found[-1], "float64 operations": 2 * arity * sum(found)},
        lambda: _route_kernel.follow_paths(
            *rows, rows[1], read_only(targets), read_only(ends), *model, None,
            read_only(weights), _route_kernel.SQUARED_HINGE, n_features, labels, totals, space,
        ),
    )  # fmt: skip


def node_arguments(settings, X, second):
    """Return the arguments of a split of the root: fresh arrays where they are changed."""
    n_rows, n_features = X.shape
    nodes = _tree_kernel._first_node(n_rows, 3, 0)
    nodes.is_split[0] = True
    order = np.arange(n_rows, dtype=np.int32)
    features = np.arange(n_features, dtype=np.int32)
    return (
        *settings.of_splits(), _node_block.DenseBlock(X), order, np.ones(n_rows), features,
        np.empty(0, np.int32), order.copy(), second, nodes, np.array([0, 1, 0]), 1,
        np.empty(1024, np.int32), np.empty(1024, np.float32),
    )  # fmt: skip


def count_products(arguments):
    """Return how often a split multiplies its block by a vector, from an uncompiled run."""
    counts = [0]

    def project(block, weights, bias, scores):
        counts[0] += 1
        scores[:] = block.values @ weights + weights.dtype.type(bias)

    def transpose_product(block, factors, sums):
        counts[0] += 1
        sums[:] = factors @ block.values

    with (
        np.errstate(over="ignore"),
        mock.patch.object(_split_solvers, "project", project),
        mock.patch.object(_split_solvers, "transpose_product", transpose_product),
    ):
        _node_split.split_nodes.py_func(*arguments)
    return counts[0]


def split_cases(rng, n_rows=4000, n_features=60):
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    second = X[:, :5].sum(axis=1) + 2 * rng.normal(size=n_rows) > 1
    n_columns = n_features // 2  # half of the features are drawn
    settings = TreeSettings()
    n_products = count_products(node_arguments(settings, X, second))
    size = f"{n_rows:,} x {n_columns}"
    yield Case(
        f"node split, Hellinger, {n_products} products", size, "row x column", n_rows * n_columns,
        # the block of 480 KB is gathered, multiplied so often, and once more in order; beside
        # that, some 30 operations and 3 divisions per row for each second product (tanh, rates)
        {"read L2": 4 * (n_products + 1) + 8,
         "float32 operations": n_products + 2 + 30 * n_products / 2 / n_columns,
         "float32 divisions": 3 * n_products / 2 / n_columns},
        _node_split.split_nodes, lambda: node_arguments(settings, X, second),
    )  # fmt: skip
    axis = TreeSettings(router=AXIS)
    yield Case(
        "node split, one feature", size, "row x column", n_rows * n_columns,
        # a value is compared some log2(n) times to sort the column, and the entropy of a cut has
        # four logarithms and divisions
        {"loads L1": np.log2(n_rows), "logarithms": 4, "float64 divisions": 4},
        _node_split.split_nodes, lambda: node_arguments(axis, X, second),
    )  # fmt: skip


def forest_cases(rng, n_rows=10_000, n_features=60, n_labels=36, n_trees=20):
    from palmette import StructuredForestClassifier
    from palmette.forest._predict_kernel import _SCORE_ALL, add_votes, find_leaves

    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    Y = (X @ rng.normal(size=(n_features, n_labels)) + 3 * rng.normal(size=(n_rows, n_labels))) > 12
    with threadpool_limits(1):
        model = StructuredForestClassifier(
            n_estimators=n_trees, mixed=False, random_state=0, n_jobs=1, decoding=0.5
        ).fit(X[:4000], Y[:4000])
    trees = model.trees_
    X = np.ascontiguousarray(model.scale_.transform(X), dtype=np.float32)
    splits = trees._splits()
    reached = np.asarray(trees.decision_path(X).sum(axis=0)).ravel()
    n_weights = np.diff(trees.weight_starts)
    is_many = reached * _SCORE_ALL >= n_rows
    n_pairs = n_rows * n_trees
    by_all = (n_weights * is_many).sum() / n_trees  # of a block's rows, all are scored
    by_some = (n_weights * reached * ~is_many).sum() / n_pairs
    leaves = find_leaves(X, splits) + trees.tree_starts[:-1]
    shares = np.diff(trees.share_starts)[leaves].sum() / n_pairs
    votes = np.ones((n_trees, n_labels), np.float32)
    given = trees.share_starts, trees.share_labels, trees.share_values, votes
    steps = (reached * (n_weights > 0)).sum() / n_pairs
    size = f"{n_rows:,} x {n_features}, {n_trees} trees, {n_labels} labels"
    yield Case(
        "forest prediction", size, "row x tree", n_pairs,
        # products at nodes with many rows in vectors, at others with a load of a value each; a
        # label of a leaf: its number, share and weight are loaded, and the vote
        {"read L2": 4 * by_all, "loads L2": by_some + steps, "loads L1": by_some + 4 * shares,
         "float32 operations": 2 * by_all},
        lambda sums: add_votes(X, splits, *given, sums),
        lambda: (np.zeros((n_rows, n_labels)),),
    )  # fmt: skip


def network_cases(rng, n_rows=64, n_columns=1110, n_weights=1_000_000):
    logits = (2 * rng.normal(size=(n_rows, n_columns)) - 3).astype(np.float32)
    exponentials = np.exp(-np.abs(logits))
    truth = sparse.random_array(
        (n_rows, n_columns), density=0.01, format="csr", random_state=rng, dtype=np.float32
    )
    weights, rows = np.ones(n_rows, np.float32), np.arange(n_rows)
    columns = truth.indptr, truth.indices
    yield Case(
        "cross-entropy of a batch", f"{n_rows} x {n_columns:,}", "row x column",
        n_rows * n_columns,
        # maximum, sum, 1 + e, product, of which the sums are in float64 (with conversions, two
        # vectors each for one); 1 + e, division, comparison, difference, choice, product
        {"copy L2": 12, "float32 operations": 1 + 2 + 2 + 2 + 2 + 2 + 5, "float32 divisions": 1},
        lambda logits: _layers.cross_entropy(logits, exponentials, *columns, rows, weights),
        lambda: (logits.copy(),),
    )  # fmt: skip
    parts = np.ones((4, n_weights), np.float32)
    yield Case(
        "Adam step", f"{n_weights:,} weights", "weight", n_weights,
        # four arrays are read and three written; a root and a division are made by one unit
        {"copy memory": 28, "float32 operations": 10, "float32 divisions + roots": 1},
        lambda: _layers.adam_step(*parts, 1e-3, 1e-4, (0.9, 0.999), 1e-8),
    )  # fmt: skip
    side = int(n_weights**0.5)
    matrices = [np.ones((side, side), np.float32) for _ in range(3)]
    kept = np.sort(rng.permutation(side)[: side // 2]).astype(np.int32)
    changes = np.ones((len(kept), len(kept)), np.float32)
    yield Case(
        "Adam step of half the units", f"{len(kept):,} of {side:,} rows and columns", "weight",
        changes.size,
        # as above; but half of the numbers that are read from and written to memory are not used,
        # and the numbers of a row lie apart: a load and a store each
        {"copy memory": 4 + 48, "loads L1": 3, "float32 operations": 10,
         "float32 divisions + roots": 1},
        lambda: _layers.adam_step_of_units(
            *matrices, changes, kept, kept, 1e-3, 1e-4, (0.9, 0.999), 1e-8
        ),
    )  # fmt: skip


def extra_tree_cases(rng, n_rows=10_000, n_features=40, n_classes=500, n_tried=6):
    codes = (np.arange(n_rows) % n_classes).astype(np.int32)
    means = rng.normal(size=(n_classes, n_features))
    X = means[codes] + rng.normal(size=(n_rows, n_features))
    columns, weights = np.ascontiguousarray(X.T, dtype=np.float32), np.ones(n_rows)

    def grow():
        state = np.array([1], dtype=np.uint64)
        return _forest_router.grow_extra_tree(columns, codes, weights, n_classes, n_tried, state)

    features, cuts, left, right, *_ = grow()
    node, visits = np.zeros(n_rows, np.int64), 0
    while (inner := left[node] != node).any():
        visits += inner.sum()
        goes_left = columns[features[node], np.arange(n_rows)] <= cuts[node]
        node = np.where(goes_left, left[node], right[node])
    yield Case(
        "extra tree", f"{n_rows:,} x {n_features}, {n_classes} classes", "row x cut",
        visits * n_tried,
        # of a row at a node, for each of the cuts: its value twice, its number, class and weight,
        # and for half of the rows the sums of its class, which is also written
        {"loads L2": 2, "loads L1": 2 + 2 / 2 + 3 / 2, "float64 operations": 4 + 4 / 2},
        grow,
    )  # fmt: skip


def text_cases(rng, n_rows=10_000, n_words=8, low=3, high=4):
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    sizes = rng.integers(2, 10, size=20_000)
    words = np.array(["".join(rng.choice(letters, size)) for size in sizes])
    ranks = np.minimum(rng.zipf(1.3, size=(n_rows, n_words)), len(words)) - 1
    texts = [" ".join(words[row]) for row in ranks]
    joined = "".join(texts)
    codes = np.frombuffer(joined.encode("utf-32-le"), np.uint32)
    starts = np.r_[0, np.cumsum([len(text) for text in texts])]
    is_word = _texts._word_characters(codes)
    grams = _texts._hash_texts(texts, low, high, spans=True)
    n_grams = len(grams.hashes)
    none = np.empty((0, 2), np.int64)
    mean_length = np.diff(grams.spans, axis=1).mean()
    size = f"{n_rows:,} texts of {n_words} words"
    out = np.empty(n_grams, np.uint64)
    yield Case(
        "n-grams: hashes", size, "gram", n_grams,
        # a product per character and two to mix; a character is a load and a choice
        {"integer products": mean_length + 2, "copy memory": 8, "loads L1": mean_length},
        lambda: _ngrams.hash_grams(codes, is_word, starts, low, high, grams.first, out, none),
    )  # fmt: skip
    known = rng.permutation(np.unique(grams.hashes))
    slots = np.empty(2 ** int(np.ceil(np.log2(2 * len(known)))), np.int32)
    _ngrams.make_slots(known, slots)
    columns = np.empty(n_grams, np.int32)
    yield Case(
        "n-grams: columns", f"{n_grams:,} grams, {len(known):,} columns", "gram", n_grams,
        # a slot and its hash, from tables of 1 MB together
        {"copy memory": 12, "loads L2": 2},
        lambda: _ngrams.find_columns(grams.hashes, known, slots, columns),
    )  # fmt: skip
    _ngrams.find_columns(grams.hashes, known, slots, columns)
    idf = rng.random(len(known))
    indptr = np.empty(n_rows + 1, np.int64)
    indices, values = np.empty(n_grams, np.int32), np.empty(n_grams)
    mean_grams = n_grams / n_rows
    _, copies = np.unique(len(known) * grams.rows() + columns, return_counts=True)
    distinct, repeated = len(copies) / n_grams, (copies > 1).sum() / n_grams
    yield Case(
        "n-grams: weights of rows", size, "gram", n_grams,
        # sorted by some log2(n) comparisons; a distinct gram is divided by the length of its row,
        # and one that occurs several times has a logarithm
        {"copy memory": 4 + 12 * distinct, "loads L1": np.log2(mean_grams) + 1,
         "logarithms": repeated, "float64 divisions": distinct},
        lambda some: _ngrams.weigh_rows(
            some, grams.first, idf, len(known) // 2, indptr, indices, values
        ),
        lambda: (columns.copy(),),
    )  # fmt: skip


CASES = (
    loss_cases,
    block_cases,
    stump_cases,
    binning_cases,
    descent_cases,
    search_cases,
    split_cases,
    forest_cases,
    network_cases,
    extra_tree_cases,
    text_cases,
)


# ---------------------------------------------------------------------------- the table


def floor_of(work, ceilings):
    """Return the time of the part of the work that takes longest, in ns, and its name."""
    times = {}
    for name, amount in work.items():
        kind = name.removesuffix(" + roots")
        times[name] = amount / ceilings[kind]
        if kind != name:
            times[name] += amount / ceilings[kind.replace("divisions", "roots")]
    largest = max(times, key=times.__getitem__)
    return times[largest], largest


def print_kernels(cases, ceilings, only, budget):
    print("\n| kernel | size | per | bytes | other work | ns | floor | bound by | time / floor |")
    print("|---|---|---|---|---|---|---|---|---|")
    for make in cases:
        for case in make(np.random.default_rng(0)):
            if only and not any(word in case.name for word in only):
                continue
            seconds = best_seconds(case.run, prepare=case.prepare or tuple, budget=budget)
            ns = 1e9 * seconds / case.n_units
            floor, bound = floor_of(case.work, ceilings)
            parts = [(name, amount) for name, amount in case.work.items() if amount]
            is_bytes = [name.split()[0] in ("read", "copy", "add") for name, _ in parts]
            texts = [f"{name} {amount:.3g}" for name, amount in parts]
            moved = ", ".join(
                text for text, is_byte in zip(texts, is_bytes, strict=True) if is_byte
            )
            other = ", ".join(
                text for text, is_byte in zip(texts, is_bytes, strict=True) if not is_byte
            )
            print(
                f"| {case.name} | {case.size} | {case.unit} | {moved} | {other} "
                f"| {ns:.3g} | {floor:.3g} | {bound} | {ns / floor:.1f} |",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="kernels whose names have one of these words")
    parser.add_argument("--seconds", type=float, default=1.0, help="at most about this per kernel")
    options = parser.parse_args()
    print(environment())
    with threadpool_limits(1):
        ceilings = measure_ceilings(np.random.default_rng(0))
        print_ceilings(ceilings)
        print_kernels(CASES, ceilings, options.only, options.seconds)


if __name__ == "__main__":
    main()
