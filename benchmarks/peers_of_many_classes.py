"""PECOS and napkinXC on a problem that another benchmark has written down.

    python benchmarks/peers_of_many_classes.py FOLDER

FOLDER holds X_train.npz, X_test.npz and y.npz. It is run by `bench_mf_tree.py --peers PYTHON` with
an interpreter of its own, since PECOS needs an older numpy than palmette; of palmette it imports
nothing. A line of JSON for every peer that is installed: accuracy, CPU seconds, peak memory.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse


def peak_mib():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def pecos(X, y, threshold=0.1):
    """PECOS with its defaults; weights of at most `threshold` are dropped."""
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel

    X = sparse.csr_matrix(X, dtype=np.float32)
    Y = sparse.csr_matrix((np.ones(len(y), dtype=np.float32), (np.arange(len(y)), y)))
    chain = Indexer.gen(LabelEmbeddingFactory.create(Y, X, method="pifa"))
    model = XLinearModel.train(X, Y, C=chain, threads=1, threshold=threshold)
    folder = tempfile.mkdtemp()
    model.save(folder)
    model = XLinearModel.load(folder, is_predict_only=True)  # as it is meant to be asked

    def predict(Z):
        answers = model.predict(sparse.csr_matrix(Z, dtype=np.float32), only_topk=1, threads=1)
        labels = np.full(Z.shape[0], -1)
        found = np.diff(answers.indptr) > 0
        labels[found] = answers.indices[answers.indptr[:-1][found]]
        return labels

    return predict


def pecos_unpruned(X, y):
    return pecos(X, y, threshold=0.0)


def napkinxc(X, y):
    from napkinxc.models import PLT

    model = PLT(tempfile.mkdtemp(), threads=1)
    model.fit(sparse.csr_matrix(X), y.tolist())
    return lambda Z: np.array(
        [int(labels[0]) for labels in model.predict(sparse.csr_matrix(Z), top_k=1)]
    )


def main(folder):
    parts = [sparse.load_npz(Path(folder, f"X_{part}.npz")) for part in ("train", "test")]
    labels = np.load(Path(folder, "y.npz"))
    rivals = {"PECOS": pecos, "PECOS, threshold=0": pecos_unpruned, "napkinXC PLT": napkinxc}
    for name, rival in rivals.items():
        before = peak_mib()
        started = time.process_time()
        try:
            predict = rival(parts[0], labels["train"])
        except ImportError:
            continue
        fitted = time.process_time()
        right = np.mean(predict(parts[1]) == labels["test"])
        ended = time.process_time()
        result = {
            "name": name,
            "accuracy": float(right),
            "fit_cpu_s": fitted - started,
            "us_a_row": (ended - fitted) / parts[1].shape[0] * 1e6,
            "peak_mib": peak_mib() - before,
        }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
