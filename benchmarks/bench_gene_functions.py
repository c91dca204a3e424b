"""AU(PRC) of logistic boosting on gene functions, several paths a row: FunCat and GO.

    python benchmarks/bench_gene_functions.py [--sets cellcycle_fun ...] [--seeds 1]

The number of rounds is chosen on the validation part; the model is then fitted again on training
and validation parts together, and the test part is scored once. Published figures are from the
papers named in `PUBLISHED`. The root, and for GO the roots of its three namespaces, do not count.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np

import palmette as pm
from palmette.metrics import micro_auprc

SETS = [
    f"{name}_{kind}"
    for kind in ("fun", "go")
    for name in ("cellcycle", "derisi", "eisen", "gasch1", "spo")
]
# Schietgat et al. 2010 (CLUS-ENS), Wehrmann et al. 2018 (HMCN-F), Giunchiglia et al. 2020 (C-HMCNN)
PUBLISHED = {
    "cellcycle_fun": (0.227, 0.252, 0.255),
    "derisi_fun": (0.188, 0.193, 0.195),
    "eisen_fun": (0.271, 0.298, 0.306),
    "gasch1_fun": (0.267, 0.284, 0.286),
    "spo_fun": (0.210, 0.211, 0.215),
    "cellcycle_go": (None, 0.400, 0.413),
    "derisi_go": (None, None, 0.370),
    "eisen_go": (None, None, 0.455),
    "gasch1_go": (None, None, 0.436),
    "spo_go": (None, None, 0.382),
}
NAMESPACES = ("GO0003674", "GO0005575", "GO0008150")
STAGES = (25, 50, 75, 100, 150, 200, 300, 400, 600)


def left_out(hierarchy):
    """Nodes that the measure leaves out beside the root."""
    return [name for name in NAMESPACES if name in hierarchy]


def auprc(proba, y, hierarchy):
    return micro_auprc(y, proba, hierarchy=hierarchy, exclude=left_out(hierarchy))


def model(hierarchy, n_estimators, seed):
    return pm.HierarchicalBoostingClassifier(
        hierarchy, loss="logistic", n_estimators=n_estimators, min_samples_leaf=3, random_state=seed
    )


def choose_rounds(bunch, seed):
    """Return the number of rounds that is best on the validation part."""
    clf = model(bunch.hierarchy, max(STAGES), seed).fit(bunch.X_train, bunch.y_train)
    scores = {}
    nodes = np.arange(bunch.hierarchy.n_nodes)
    for n_rounds, tables in enumerate(clf._staged_tables(bunch.X_valid), start=1):
        if n_rounds in STAGES:
            parts = [clf._answers.node_proba(table, nodes) for table in tables]
            scores[n_rounds] = auprc(np.concatenate(parts), bunch.y_valid, bunch.hierarchy)
            if n_rounds > 2 * max(scores, key=scores.get):
                break
    return max(scores, key=scores.get), max(scores.values())


def run(name, seed):
    bunch = pm.datasets.fetch(name)
    start = time.process_time()
    rounds, valid = choose_rounds(bunch, seed)
    chosen = time.process_time()
    X = np.vstack([bunch.X_train, bunch.X_valid])
    clf = model(bunch.hierarchy, rounds, seed).fit(X, [*bunch.y_train, *bunch.y_valid])
    fitted = time.process_time()
    test = auprc(clf.predict_node_proba(bunch.X_test), bunch.y_test, bunch.hierarchy)
    return rounds, valid, test, chosen - start, fitted - chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # classes without training rows
    print("| set | CLUS-ENS | HMCN-F | C-HMCNN | ours (test) | valid | rounds | choose s | fit s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        runs = [run(name, seed) for seed in range(options.seeds)]
        rounds, valid, test, choose, fit = np.mean(runs, axis=0)
        known = ["" if value is None else f"{value:.3f}" for value in PUBLISHED[name]]
        print(
            f"| {name} | {' | '.join(known)} | {test:.3f} | {valid:.3f} | {rounds:.0f} "
            f"| {choose:.0f} | {fit:.0f} |",
            flush=True,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nCPU seconds, one thread; peak memory {peak:.2f} GiB.")


if __name__ == "__main__":
    main()
