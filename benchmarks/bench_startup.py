"""What a command costs beside its rows: CPU seconds to start, memory, and the size of model files.

    PALMETTE_DATA=... python benchmarks/bench_startup.py [--sets clinc150 20newsgroups_bydate]

Of every set, up to 2,500 training texts are fitted with models of texts. `palmette predict` with
each model file and 20 rows, and `palmette learn` on the 2,500 rows, are processes of their own: the
least CPU time of five runs (of learn, one), user and system, and the largest memory. Kernels are
compiled before, and modules too, unless PYTHONDONTWRITEBYTECODE is set.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from palmette import fit_table, save
from palmette.datasets import fetch

MODELS = ("class-tree", "flat-linear", "flat-naive-bayes")
N_ROWS = 2_500


# a small process starts the command: memory counts from that of the process that starts it
_RUN = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def cost(*arguments: str, n_runs: int = 5) -> tuple[float, float]:
    """Return the least CPU seconds, and the MiB, of a command."""
    seconds, mib = [], 0.0
    command = [sys.executable, "-c", _RUN, sys.executable, "-m", "palmette.cli.main", *arguments]
    for _ in range(n_runs):
        status, used, memory = subprocess.check_output(command, text=True).split()
        if status != "0":
            raise SystemExit(f"{' '.join(arguments)}: status {status}")
        seconds.append(float(used))
        mib = max(mib, float(memory))
    return min(seconds), mib


def main() -> None:
    """Print a line for every set and model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["clinc150", "20newsgroups_bydate"])
    given = parser.parse_args()
    print("set                 command                     CPU s    MiB  file MB")
    for name in given.sets:
        data = fetch(name)
        frame = pd.DataFrame({"text": list(data.X_train), "y": [str(y) for y in data.y_train]})
        frame = frame.sample(min(N_ROWS, len(frame)), random_state=0)
        with tempfile.TemporaryDirectory() as folder:
            table, rows, out = (Path(folder) / part for part in ("t.csv", "new.csv", "out.csv"))
            frame.to_csv(table, index=False)
            frame[["text"]].head(20).to_csv(rows, index=False)
            for model in MODELS:
                file = Path(folder) / f"{model}.palmette"
                save(fit_table(frame, "y", model=model, folds=0, time=None), file)
                found = cost("predict", str(file), str(rows), "--out", str(out))
                size = file.stat().st_size / 1e6
                print(f"{name:20}predict {model:18}{found[0]:7.2f}{found[1]:7.0f}{size:9.1f}")
            tree = str(Path(folder) / "tree.json")
            learn = ("learn", str(table), "--target", "y", "--method", "mf-tree", "--out", tree)
            found = cost(*learn, n_runs=1)
            print(f"{name:20}learn mf-tree             {found[0]:7.2f}{found[1]:7.0f}", flush=True)


if __name__ == "__main__":
    main()
