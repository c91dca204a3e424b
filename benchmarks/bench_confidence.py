"""Whether `--confidence c` is right in c of its answers, and answers what could be accepted.

    python benchmarks/bench_confidence.py                         # the test parts of the sets
    python benchmarks/bench_confidence.py --split random --seeds 0,1,2
    python benchmarks/bench_confidence.py --sets unseen --split random --seeds 0,1,2

Every model is fitted by `fit_table` and asked on test rows. "Right" is the share of the answers,
nodes below the root, that are right, and asked for is at least c - .02. What could be accepted is
the largest share of the test rows that any threshold on the model's own confidence, raw or
calibrated, of nodes or of whole labels, accepts at a precision of c; asked for are 90 % of it.

Both are counted as they are, and within their error at a level of 5 %, one-sided: with n answers
the share that is right has a standard error, and the threshold that accepts most is the luckiest of
many, so that with error it must be right in c plus 1.645 standard errors.

The test rows of SHIFTED are of another distribution than the training rows, which no method that
sees training rows alone can know of: compare them with random splits of the same data. The unseen
sets were never used to choose a method. Sets are those of the data home that PALMETTE_DATA names.
Nothing is chosen on test rows.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import bench_table
import numpy as np
import pandas as pd

from palmette.calibration._chains import HeldOutChains, answers_by_threshold
from palmette.datasets import data_home, fetch
from palmette.table import fit_table
from palmette.table.answers import PathAnswers

SETS = ("clinc150", "wos_1k", "imclef07a", "pendigits", "yeast_uci",
        "20newsgroups_bydate", "shopify", "diatoms", "letter", "landsat")  # fmt: skip
UNSEEN = ("protein_dd", "saiapr5000", "bridges", "zoo", "ecoli", "glass", "page_blocks",
          "optdigits", "vehicle", "iris", "ipc_2022", "naics_2022")  # fmt: skip
SHIFTED = {"pendigits": "other writers", "20newsgroups_bydate": "later dates"}
TITLES = {"ipc_2022": ("labels_group_id_6.tsv", "\t", (1, 3)),
          "naics_2022": ("naics_2022.csv", ",", (2, 3))}  # fmt: skip
TEXTS = ("clinc150", "wos_1k", "20newsgroups_bydate", "shopify", *TITLES)
MODELS = ("auto", "class-tree", "flat-naive-bayes", "flat-linear", "flat-extra-trees",
          "local-per-parent")  # fmt: skip
CONFIDENCES = (0.8, 0.9, 0.95)
FEW = 10  # answers of which the share of right ones says nothing
ONE_SIDED = 1.645


# ---------------------------------------------------------------------- tables


def load(name: str, n_rows: int, seed: int, split: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return at most `n_rows` training rows and as many test rows; the target is "y"."""
    if name in TITLES:
        train = _titles(name)
        test = train[:0]
    elif name in TEXTS:
        train, test, _ = bench_table.load(name, None, seed)
    else:
        train, test = _numbers(name)
    rng = np.random.default_rng(seed)
    if split == "random" or not len(test):
        whole = pd.concat([train, test], ignore_index=True)
        order = rng.permutation(len(whole))
        cut = len(order) * 7 // 10
        train, test = whole.iloc[order[:cut]], whole.iloc[order[cut:]]
    rows = [np.sort(rng.permutation(len(each))[:n_rows]) for each in (train, test)]
    return train.iloc[rows[0]].reset_index(drop=True), test.iloc[rows[1]].reset_index(drop=True)


def _numbers(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    data = fetch(name)
    if "X_train" in data:
        parts = [(data.X_train, data.y_train), (data.X_test, data.y_test)]
    else:
        parts = [(data.X, data.y), (data.X[:0], data.y[:0])]
    train, test = (_frame(data.hierarchy, X, y) for X, y in parts)
    return train, test


def _frame(hierarchy: Any, X: Any, y: Any) -> pd.DataFrame:
    frame = pd.DataFrame(np.asarray(X, dtype=float)).add_prefix("x")
    nodes = hierarchy.index(list(y))
    paths = {n: hierarchy.path(n) for n in np.unique(nodes).tolist()}
    mark = "c" if hierarchy.max_depth == 1 else ""  # plain numbers would not be labels
    cells = {n: bench_table.SEPARATOR.join(f"{mark}{name}" for name in p) for n, p in paths.items()}
    frame["y"] = [cells[n] for n in nodes.tolist()]
    return frame[frame["y"] != ""]  # rows of the root have no label


def _titles(name: str) -> pd.DataFrame:
    """Return the titles of a classification's entries, with the first signs of their codes."""
    file, delimiter, cuts = TITLES[name]
    place = data_home() / "taxonomies" / name / f"{file}.xz"
    entries = pd.read_csv(place, sep=delimiter, header=None, dtype=str).iloc[:, :2].dropna()
    code, title = entries[0].str.strip(), entries[1].str.strip()
    lower = code.str.len() > max(cuts)
    y = [bench_table.SEPARATOR.join(f"c{each[:cut]}" for cut in cuts) for each in code[lower]]
    return pd.DataFrame({"text": title[lower].to_numpy(), "y": y})


# ---------------------------------------------------------------------- measures


class Cell(NamedTuple):
    """What a model answers at a confidence, and what it could."""

    confidence: float
    n_answers: int
    answered: float
    whole: float  # of these answers, those that are labels
    right: float
    could: float
    could_surely: float  # with error

    def passes(self) -> tuple[bool, bool, bool, bool]:
        """Say whether enough are right, and answered: as they are, then within error."""
        wanted = self.confidence - 0.02
        error = ONE_SIDED * np.sqrt(wanted * (1 - wanted) / max(self.n_answers, 1))
        few = self.n_answers < FEW
        return (
            few or self.right >= wanted,
            self.answered >= 0.9 * self.could,
            few or self.right >= wanted - error,
            self.answered >= 0.9 * self.could_surely,
        )


def true_nodes(model: Any, test: pd.DataFrame) -> tuple[Any, Any]:
    """Return the deepest known node of every label, and whether it is the label itself."""
    hierarchy, found, whole = model.hierarchy_, [], []
    for path in model.target_.read(test):
        deepest = next((k for k in range(len(path), 0, -1) if path[:k] in hierarchy), 0)
        found.append(hierarchy.index(path[:deepest]) if deepest else 0)
        whole.append(deepest == len(path))
    return np.array(found), np.array(whole)


def most_accepted(counts: list[tuple[Any, Any]], c: float, n_rows: int, errors: float) -> float:
    """Return the largest share of rows that a threshold accepts at a precision.

    Parameters
    ----------
    counts : list of (answers, right ones) by threshold
    c : float
    n_rows : int
    errors : float
        Standard errors that the precision must exceed c by.
    """
    most = 0
    for answers, right in counts:
        enough = right - c * answers >= errors * np.sqrt(c * (1 - c) * answers)
        most = max(most, answers[enough].max(initial=0))
    return float(most / n_rows)


def _by_label(sure: Any, right: Any) -> tuple[Any, Any]:
    """Count the answers and the right ones where only whole labels are answers."""
    order = np.argsort(-sure, kind="stable")
    return np.arange(1, len(sure) + 1), np.cumsum(right[order])


def calibration_error(sure: Any, right: Any) -> float:
    """Return the expected calibration error in ten bins."""
    bins = np.minimum((sure * 10).astype(int), 9)
    parts = [bins == b for b in range(10) if (bins == b).any()]
    return float(sum(abs(sure[b].mean() - right[b].mean()) * b.mean() for b in parts))


def measure(model: Any, test: pd.DataFrame) -> tuple[list[float], list[Cell]]:
    """Return the calibration errors, raw and calibrated, and a cell per confidence."""
    h, X = model.hierarchy_, model.features(test)
    true, whole = true_nodes(model, test)
    answers: PathAnswers = model.path_answers()
    raw = answers.class_proba(X)
    both = raw, answers.calibrated(raw)
    right = (answers.space.classes[raw.argmax(axis=1)] == true) & whole
    counts = []
    for proba in both:
        chains = HeldOutChains.of(proba, answers.space, true)
        reach = np.nan_to_num(1 / (1 + np.exp(-chains.odds)))
        counts += [
            answers_by_threshold(reach, chains.right)[1:],
            _by_label(proba.max(axis=1), right),
        ]
    cells = []
    for c in CONFIDENCES:
        sure = answers.sure(both[1], c)
        given = sure > 0
        correct = ((sure <= true) & (true < h.subtree_end[sure]))[given]
        is_label = np.isin(sure[given], answers.space.classes)
        could = [most_accepted(counts, c, len(test), errors) for errors in (0.0, ONE_SIDED)]
        shares = [given.mean(), is_label.mean() if given.any() else 0.0]
        cells.append(
            Cell(c, int(given.sum()), *shares, correct.mean() if given.any() else 1.0, *could)
        )
    return [calibration_error(proba.max(axis=1), right) for proba in both], cells


# ---------------------------------------------------------------------- the table


def fitted(given: argparse.Namespace, name: str, split: str) -> Iterator[tuple[str, int, Any, Any]]:
    """Yield the models of a set, with their seeds and test rows."""
    for seed in map(int, given.seeds.split(",")):
        train, test = load(name, given.rows, seed, split)
        for model in given.models.split(","):
            if name in TEXTS and model in ("flat-extra-trees", "local-per-parent"):
                continue  # for fewer features
            time = given.time if model == "auto" else None
            yield model, seed, fit_table(train, "y", model=model, time=time, seed=seed), test


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(SETS), help="names, or unseen")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--split", default="given", choices=("given", "random"))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--time", type=float, default=20.0, help="of auto; others have no limit")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("set, model, seed, CPU s, calibration error raw > calibrated; per confidence: answers, "
          "share answered (whole labels), right | could be accepted, with error")  # fmt: skip
    totals: dict[str, list[Cell]] = {}
    for name in UNSEEN if given.sets == "unseen" else given.sets.split(","):
        kind = SHIFTED.get(name, "") if given.split == "given" else ""
        start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        for model, seed, table, test in fitted(given, name, given.split):
            seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - start
            errors, cells = measure(table, test)
            shown = model if model != "auto" else f"auto: {table.summary_['model']}"
            print(f"{name}, {shown}, {seed}, {seconds:.0f}, {errors[0]:.3f} > {errors[1]:.3f}")
            for cell in cells:
                totals.setdefault(kind, []).append(cell)
                print(f"    {cell.confidence}: {cell.n_answers}, {cell.answered:.2f} "
                      f"({cell.whole:.2f}), {cell.right:.3f} | {cell.could:.2f}, "
                      f"{cell.could_surely:.2f}{_marks(cell.passes())}", flush=True)  # fmt: skip
            start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for kind, cells in totals.items():
        _summarize(f"test rows of {kind}" if kind else "test rows like the training rows", cells)


def _summarize(title: str, cells: list[Cell]) -> None:
    marks = np.sum([cell.passes() for cell in cells], axis=0).tolist()
    print(
        f"{title}: of {len(cells)} cells, right in c - .02: {marks[0]}, within error {marks[2]}; "
        f"answers 90 % of what could be accepted: {marks[1]}, within error {marks[3]}"
    )
    for c in CONFIDENCES:
        same = [cell for cell in cells if cell.confidence == c]
        counts = np.array([cell.n_answers for cell in same])
        right = counts @ [cell.right for cell in same] / max(counts.sum(), 1)
        means = np.mean([(cell.answered, cell.could, cell.could_surely) for cell in same], axis=0)
        print(
            f"    {c}: of {counts.sum():,} answers {right:.3f} are right; mean share answered "
            f"{means[0]:.3f}, could be accepted {means[1]:.3f}, with error {means[2]:.3f}"
        )


def _marks(passes: tuple[bool, bool, bool, bool]) -> str:
    right, answered, right_with, answered_with = passes
    found = "" if right else " RIGHT TOO RARELY" if not right_with else " right too rarely"
    return found + ("" if answered else " ANSWERS TOO FEW" if not answered_with else " too few")


if __name__ == "__main__":
    main()
