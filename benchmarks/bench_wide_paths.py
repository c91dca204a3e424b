"""Several paths a row on wide rows: phyletic_profiles, 15,313 rows of 2,071 flags, 1,260 nodes.

    OMP_NUM_THREADS=1 python benchmarks/bench_wide_paths.py

The data set is found through the environment variable PALMETTE_DATA. A third of the rows, drawn at
random, is kept for testing. Printed are CPU seconds, the largest memory of the process, the micro
AU(PRC) of the blend, and what validation found: the members' scores and weights.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np

from palmette.datasets import fetch
from palmette.metrics import micro_auprc
from palmette.multipath import CoherentBlendClassifier


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=None, help="as many alone, for a quick look")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    data = fetch("phyletic_profiles")
    order = np.random.RandomState(given.seed).permutation(len(data.y))[: given.rows]
    cut = len(order) * 2 // 3
    train, test = np.sort(order[:cut]), np.sort(order[cut:])
    blend = CoherentBlendClassifier(hierarchy=data.hierarchy, random_state=given.seed)
    begun = time.process_time()
    blend.fit(data.X[train], [data.y[i] for i in train])
    fitted = time.process_time()
    proba = blend.predict_node_proba(data.X[test])
    asked = time.process_time()
    score = micro_auprc([data.y[i] for i in test], proba, hierarchy=data.hierarchy)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(train)} rows to learn from, {len(test)} to answer")
    print(f"CPU s: fit {fitted - begun:.0f}, predict {asked - fitted:.0f}; {largest:.2f} GiB")
    print(f"micro AU(PRC) {score:.4f}; weights {blend.weights_.tolist()}; on validation rows")
    print(", ".join(f"{name} {value:.4f}" for name, value in blend.validation_scores_.items()))


if __name__ == "__main__":
    main()
