"""Class trees over many classes: seconds, depth, purity and memory.

    OMP_NUM_THREADS=1 python benchmarks/bench_class_trees.py
    OMP_NUM_THREADS=1 python benchmarks/bench_class_trees.py --classes 100000 --min-side 0.1

A class is one sparse row, its sum, with 516 of 50,000 features. Words come from three sources:
those of its group of about 50 classes, those of its family of about 20 groups, and any. Purity is
that of the clades in the planted groups (`palmette.metrics.clade_purity`). Memory is how far
fitting rises above the data.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import sparse

import palmette as pm
from palmette.class_tree import MFTree
from palmette.compare import environment, measure
from palmette.metrics import clade_purity

GROUP, FAMILY = 50, 20  # classes a group, groups a family
GROUP_WORDS, FAMILY_WORDS = 300, 1500  # words that a group and a family draw from


def class_sums(n_classes, n_features=50_000, n_words=516, seed=0):
    """Sums of classes as sparse rows of length one, and the group of every class."""
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(max(2, n_classes // GROUP), size=n_classes))
    n_groups = group[-1] + 1
    family = rng.integers(max(2, n_groups // FAMILY), size=n_groups)
    words_of_group = rng.integers(n_features, size=(n_groups, GROUP_WORDS))
    words_of_family = rng.integers(n_features, size=(family.max() + 1, FAMILY_WORDS))
    n_own, n_near = n_words // 4, n_words // 3
    n_far = n_words - n_own - n_near
    rows = np.arange(n_classes)
    indices = np.empty((n_classes, n_words), dtype=np.int32)
    for low in range(0, n_classes, 10_000):
        here = rows[low : low + 10_000]
        near = rng.integers(GROUP_WORDS, size=(len(here), n_near))
        far = rng.integers(FAMILY_WORDS, size=(len(here), n_far))
        indices[here] = np.hstack(
            [
                words_of_group[group[here][:, None], near],
                words_of_family[family[group[here]][:, None], far],
                rng.integers(n_features, size=(len(here), n_own)),
            ]
        )
    values = rng.gamma(2.0, size=(n_classes, n_words))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    starts = np.arange(0, n_classes * n_words + 1, n_words)
    sums = sparse.csr_array((values.ravel(), indices.ravel(), starts), (n_classes, n_features))
    sums.sum_duplicates()
    return sums, group


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--min-side", type=float, nargs="+", default=[0.0, 0.1])
    parser.add_argument("--branching", type=int, default=2)
    arguments = parser.parse_args()
    print(environment())
    print("| classes | least side | CPU s | depth | mean depth | purity | peak MiB |")
    print("|---|---|---|---|---|---|---|")
    for n_classes in arguments.classes:
        sums, group = class_sums(n_classes)
        names = np.arange(n_classes)
        planted = pm.Hierarchy.from_paths([(f"group {g}", int(k)) for k, g in enumerate(group)])
        for min_side in arguments.min_side:
            with measure() as usage:
                tree = MFTree(arguments.branching, min_side=min_side).fit(sums, names)
            found = tree.hierarchy_
            depth = found.depth[found.leaves].mean()
            purity = clade_purity(found, planted)
            print(
                f"| {n_classes} | {min_side} | {usage.cpu_seconds:.1f} | {found.max_depth} | "
                f"{depth:.1f} | {purity:.3f} | {usage.peak_mib:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
