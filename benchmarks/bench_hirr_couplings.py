"""What the couplings of HiRR-FS gain when their strengths are chosen by cross-validation.

    OMP_NUM_THREADS=1 python benchmarks/bench_hirr_couplings.py --sets protein_dd diatoms

The data sets are found through the environment variable PALMETTE_DATA. At every node the k best
features of `HirrScore` go into a LinearSVC (tol .01). `GridSearchCV` chooses the strengths
towards the parent and away from siblings, both relative to the data, among 0, .1 and 1 by
three folds of the training rows (hierarchical F1; at most `--rows` of them). Test rows are scored
once with the chosen strengths and once without couplings; where a set has no test part, the last
third of its shuffled rows is one. The interval of the difference is the 95% interval of 1,000
paired bootstrap samples of the test rows. "Changed" is the share of the features selected at the
nodes that are not selected without couplings. `palmette bench hirr-fs` has the same table.
"""

from __future__ import annotations

import argparse
import time
import warnings

from papers.hirr_fs.couplings import Chosen, choose
from papers.hirr_fs.methods import read_set

FEATURES = {
    "protein_dd": 40,
    "diatoms": 74,
    "imclef07d": 16,
    "bridges": 2,
    "saiapr5000": 102,
    "news20_951": 300,
    "clinc150": 300,
}


def line(name: str, max_rows: int) -> None:
    """Print the line of a data set."""
    begun = time.process_time()
    found = Chosen(**choose(read_set(name), FEATURES[name], max_rows))
    seconds = time.process_time() - begun
    print(
        f"| {name} | {found.n_rows:,} | {found.cv_none:.4f} | {found.cv_best:.4f} | "
        f"{found.parent:g}, {found.sibling:g} | {found.changed:.2f} | {found.none:.4f} | "
        f"{found.chosen:.4f} | {found.chosen - found.none:+.4f} ({found.low:+.4f} to "
        f"{found.high:+.4f}) | {seconds:.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(FEATURES), choices=list(FEATURES))
    parser.add_argument("--rows", type=int, default=3000, help="of the cross-validation")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| set | rows | CV, none | CV, best | parent, sibling | changed | test, none "
        "| test, chosen | difference | CPU s |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for name in options.sets:
        line(name, options.rows)


if __name__ == "__main__":
    main()
