"""Tables 2 and 3 on our data sets beside those of the paper.

References
----------
L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class learning.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from papers.mf_tree.four_classes import four_class_facts
from papers.mf_tree.methods import (
    BEST_READING,
    LITERAL,
    TAUS,
    describe_preparation,
    has_taxonomy,
    kernels,
    methods,
)
from papers.mf_tree.outcome import N_RANDOM, Answer, Outcome
from papers.result import Cell, Table

__all__ = [
    "PAPER_ROWS",
    "PAPER_TAU",
    "REFERENCE",
    "PaperRow",
    "PaperTau",
    "all_tables",
]

# ----------------------------------------- the numbers of the paper, as far as its text gives them


REFERENCE = (
    "L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class "
    "learning. CIKM 2015."
)


@dataclass(frozen=True)
class PaperRow:
    """A row of Table 2.

    Parameters
    ----------
    dataset, method : str
    f1, f1_deviation : float
        Mean over the classes, and over five samples.
    seconds, seconds_deviation : float
        Test time.
    depth : int
    """

    dataset: str
    method: str
    f1: float
    f1_deviation: float
    seconds: float
    seconds_deviation: float
    depth: int


@dataclass(frozen=True)
class PaperTau:
    """Values of Table 3 in the text of the paper: Wiki2.

    Parameters
    ----------
    tau : int
    f1 : float
    saved : float or None
        Share of the training time.
    """

    tau: int
    f1: float
    saved: float | None


PAPER_ROWS = (
    PaperRow("Caltech1", "DAGSVM", 0.369, 0.0019, 436.8, 10.2, 256),
    PaperRow("Caltech1", "MF-Tree", 0.3816, 0.03, 77.5, 4.5, 10),
    PaperRow("Caltech2", "DAGSVM", 0.356, 0.0017, 751.68, 11.8, 256),
    PaperRow("Caltech2", "MF-Tree", 0.376, 0.029, 135.6, 5.6, 10),
    PaperRow("Wiki1", "DAGSVM", 0.5309, 0.002, 942.9, 17.6, 214),
    PaperRow("Wiki1", "MF-Tree", 0.5406, 0.0216, 152.7, 4.2, 9),
    PaperRow("Wiki2", "DAGSVM", 0.3106, 0.0021, 1618.6, 17.6, 1618),
    PaperRow("Wiki2", "MF-Tree", 0.3318, 0.016, 267.7, 6.9, 11),
)
PAPER_TAU = (PaperTau(0, 0.3318, 0.0), PaperTau(3, 0.3289, 0.226), PaperTau(6, 0.2868, None))


# ---------------------------------------------------------------------- tables


_COLUMNS = (
    "method",
    "macro F1",
    "95%",
    "accuracy",
    "µs per row",
    "dot products",
    "depth",
    "fit s",
)
_KEYS = [method.key for method in (*methods(), *kernels())]


def all_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Return the data sets (Table 1), Tables 2 and 3, the trees of Figures 3 and 4.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    list of Table
    """
    return [
        _set_table(outcomes),
        _paper_table(),
        *([_overview(outcomes)] if len(outcomes) > 1 else []),
        *(_score_table(outcome, i == 0) for i, outcome in enumerate(outcomes)),
        _example_table(),
        *_quality_tables(outcomes),
        _tau_table(outcomes),
    ]


# ---------------------------------------------------------------------- Tables 1 and 2


def _set_table(outcomes: Iterable[Outcome]) -> Table:
    columns = ("data set", "train", "test", "features", "classes", "groups given")
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for outcome in outcomes:
        problem = outcome.problem
        n_train, n_features = problem.X_train.shape
        given = problem.hierarchy
        n_groups = int((~given.is_leaf).sum()) - 1 if has_taxonomy(problem) else None
        sizes = (n_train, problem.X_test.shape[0], n_features, len(outcome.classes), n_groups)
        rows.append((outcome.name, *sizes))
        notes.append(f"{outcome.name}: {describe_preparation(outcome.name)}.")
        n_new = len(set(problem.y_test) - set(outcome.classes))
        if n_new:
            notes.append(
                f"{outcome.name}: {n_new} classes of the test rows occur in no training row, and "
                "are always missed."
            )
    return Table("Table 1. The data sets, in place of the paper's", columns, rows, notes)


def _paper_table() -> Table:
    columns = ("data set", "method", "macro F1", "test s", "depth")
    rows: list[tuple[Cell, ...]] = [
        (
            row.dataset,
            row.method,
            f"{row.f1:.4f} ± {row.f1_deviation:.4f}",
            f"{row.seconds:.1f} ± {row.seconds_deviation:.1f}",
            row.depth,
        )
        for row in PAPER_ROWS
    ]
    note = (
        "Context only: the paper's samples of Caltech-256 and Wikipedia are not public. Shown are "
        "its rows of MF-Tree and of DAGSVM, with the deviations of five samples."
    )
    return Table("Table 2 of the paper, in part", columns, rows, [note])


def _overview(outcomes: Sequence[Outcome]) -> Table:
    """All data sets side by side."""
    titles = list(
        dict.fromkeys(
            answer.title
            for outcome in outcomes
            for answer in outcome.answers.values()
            if answer.method in _KEYS
        )
    )
    rows: list[tuple[Cell, ...]] = []
    for title in titles:
        found = [outcome.answers.get(title) for outcome in outcomes]
        cells = (None if one is None else f"{one.accuracy:.3f} ({one.dots:.0f})" for one in found)
        rows.append((title, *cells))
    columns = ("method", *(outcome.name for outcome in outcomes))
    return Table("Table 2 at a glance: accuracy (dot products per row)", columns, rows)


def _score_table(outcome: Outcome, explain: bool) -> Table:
    shown = [answer for answer in outcome.answers.values() if answer.method in _KEYS]
    rows: list[tuple[Cell, ...]] = [_score_row(answer) for answer in shown]
    n_test = len(outcome.problem.y_test)
    notes = []
    if shown:
        best = max(answer.accuracy for answer in shown)
        error = math.sqrt(best * (1 - best) / n_test)
        notes.append(f"The standard error of the best accuracy is {error:.3f}.")
    if rows and "DAGSVM" not in outcome.answers and "MF-Tree as published" in outcome.answers:
        n = len(outcome.classes)
        notes.append(
            "Left out as too slow where there are so many classes are DAGSVM, with a classifier "
            f"for each of {n * (n - 1) // 2:,} pairs; one-vs-rest, with {n:,} classifiers of all "
            f"{len(outcome.problem.y_train):,} rows; DRHL, which tries many starts at every node; "
            "and the trees of rows, with one-class classifiers at their leaves."
        )
    return Table(f"Table 2. {outcome.name}", _COLUMNS, rows, notes + [_WORDS] * explain)


_WORDS = (
    "Macro F1, the paper's, is the mean over the classes of the test rows; its interval has the "
    "spread of 200 draws of these rows with replacement, within their classes; micro F1 is "
    "accuracy. Times are CPU times of one process. 'MF-Tree' is "
    "MFTreeClassifier(standardize=False), with a beam. All trees but those of the first rows are "
    "followed by linear support vector machines at their nodes, greedily, as published, or by a "
    "beam; 'one-vs-rest' is the same at one node. Readings of the paper: 'as published' divides "
    "by the larger magnitude in G, 'larger entry' by the larger entry; 'one-hot router' decides "
    "with the zeros and ones of G before its problem is relaxed to eigenvectors. Kernels are "
    "linear, or 'rbf' with a width chosen on training rows, and test rows are centred as the "
    "training rows are; of 'rbf', dot products are values of the kernel."
)


def _score_row(answer: Answer) -> tuple[Cell, ...]:
    interval = answer.f1_interval
    spread = None if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
    scores = (answer.macro_f1, spread, answer.accuracy)
    cost = (f"{answer.us:.1f}", f"{answer.dots:.1f}", answer.depth, f"{answer.fit_s:.1f}")
    return (answer.title, *scores, *cost)


# ---------------------------------------------------------------------- trees


def _example_table() -> Table:
    facts = four_class_facts()
    columns = ("tree", "against", "what", "MSE", "paper", "triplets")
    rows: list[tuple[Cell, ...]] = [
        (
            tree["tree"],
            facts["actual"],
            tree["words"],
            f"{tree['mse']:.5f}",
            f"{tree['told']:.5f}",
            tree["triplets"],
        )
        for tree in facts["trees"]
    ]
    return Table("Figure 3. Four classes", columns, rows)


def _quality_tables(outcomes: Iterable[Outcome]) -> list[Table]:
    """Figure 4: how near the learned trees are to the given ones, one table per data set."""
    columns = ("tree", "MSE", "triplets", "purity", "depth")
    note = (
        "Against the given tree. MSE is the paper's measure, the smaller the better; triplets is "
        "the share of three classes of which the tree says rightly which two are closer, .5 by "
        "chance; purity that of the clades in the given groups of the first level. Random trees "
        "have means and standard deviations."
    )
    tables: list[Table] = []
    for outcome in outcomes:
        shown = {key: q for key, q in outcome.qualities.items() if "=" not in key}
        rows: list[tuple[Cell, ...]] = [
            (key, f"{q['mse']:.4f}", q["triplets"], q["purity"], q["depth"])
            for key, q in shown.items()
            if key not in ("one-vs-rest", "random")
        ]
        if outcome.chance:
            rows.append((f"{N_RANDOM} random trees", *_spreads(outcome.chance)))
        if rows:
            tables.append(
                Table(f"Figure 4. {outcome.name}", columns, rows, [] if tables else [note])
            )
    return tables


def _spreads(chance: Mapping[str, Sequence[float]]) -> list[str]:
    kinds = (("mse", 4), ("triplets", 3), ("purity", 3), ("depth", 1))
    return [
        f"{np.mean(chance[name]):.{digits}f} ± {np.std(chance[name], ddof=1):.{digits}f}"
        for name, digits in kinds
    ]


# ---------------------------------------------------------------------- Table 3


def _tau_table(outcomes: Iterable[Outcome]) -> Table:
    columns = (
        *("data set", "tau", "as published", "larger entry, one-hot", "greedy", "beam"),
        *("tree s", "fit s", "depth"),
    )
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        for tau in TAUS:
            key = f"MF-Tree, tau={tau}"
            found = [one for one in outcome.answers.values() if one.method == key]
            if not found:
                continue
            greedy, beam = found
            seconds = outcome.grown[key].seconds
            tree_s = None if seconds is None else f"{seconds:.3f}"
            end = f", tau={tau}" if tau else ""
            readings = [outcome.answers.get(f"{key}{end}") for key in (LITERAL, BEST_READING)]
            read = [None if one is None else one.macro_f1 for one in readings]
            scores = (*read, greedy.macro_f1, beam.macro_f1)
            rows.append((outcome.name, tau, *scores, tree_s, f"{beam.fit_s:.2f}", beam.depth))
    told = "; ".join(
        f"tau = {one.tau}: F1 {one.f1:.4f}"
        + (f", {one.saved:.1%} less training time" if one.saved else "")
        for one in PAPER_TAU
    )
    notes = [f"The paper, on Wiki2: {told}.", _TAU_WORDS]
    return Table("Table 3. The first tau levels divided the quick way", columns, rows, notes)


_TAU_WORDS = (
    "Macro F1: by two readings of Algorithms 2 and 3 with a linear kernel, where nodes above tau "
    "decide by G of the quick division; and by trees of 2-means with linear classifiers at their "
    "nodes, greedily and by a beam, with the seconds and depth of these. 'tree s' are the CPU "
    "seconds of the tree alone, which is all that tau can shorten."
)
