"""Future work of Section 5, measured: several parents, several paths and the logistic loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from palmette.compare import Problem, fingerprint
from palmette.hierarchy._hierarchy import Hierarchy
from papers.cells import Cells
from papers.result import Cell, Claim, Table

__all__ = [
    "LABEL_SETS",
    "Extension",
    "extension_table",
    "find_extensions",
    "judge_extensions",
    "read_digits",
    "read_label_sets",
]

LABEL_SETS = "enron_corr"  # e-mails with several labels each, in a tree of 57 nodes
SHARE = 0.2  # of the features, as in the paper
SEED = 0
_SIGMAS = 2.0  # standard errors of a difference that is still none
# parents of the ten digits: by the lines they are drawn of, and by being even or not
_SHAPES = {"closed": "0689", "open": "123457"}
_DAG, _SETS, _LOGISTIC = "several parents", "several paths", "logistic loss"


@dataclass(frozen=True)
class Extension:
    """An extension of HiRR-FS on a data set.

    Parameters
    ----------
    dataset, name : str
    k, n_features : int
    f1, every : float
        Hierarchical F1 of test rows, without the root, with k features of a node and with all.
    error : float
        Standard error of their difference, by paired bootstrap samples of the test rows.
    select_s : float
        CPU seconds of the selection.
    """

    dataset: str
    name: str
    k: int
    n_features: int
    f1: float
    every: float
    error: float
    select_s: float


def read_digits() -> Problem:
    """Return the images of digits in a DAG: every digit has a parent by its shape and by parity."""
    from sklearn.datasets import load_digits

    X, codes = load_digits(return_X_y=True)
    edges = [(shape, digit) for shape, digits in _SHAPES.items() for digit in digits]
    edges += [("odd" if int(digit) % 2 else "even", digit) for _, digit in edges]
    y = codes.astype(str).astype(object)
    order = np.random.default_rng(SEED).permutation(len(y))
    train, test = np.split(order, [2 * len(order) // 3])
    dag = Hierarchy.from_edges(edges, root="digit")
    return Problem("digits", dag, X[train], y[train], X[test], y[test])


def read_label_sets() -> Problem:
    """Return e-mails with sets of labels, of the data home."""
    from palmette.compare import find_problem

    return find_problem(LABEL_SETS)


def _extensions() -> dict[str, dict[str, dict[str, Any]]]:
    """By data set: the settings of the score and of the selector of every extension."""
    return {
        "digits": {
            f"{_DAG}, couplings of .1": {"score": {"parent": 0.1, "sibling": 0.1}},
            f"{_DAG}, {_LOGISTIC}": {"score": {"loss": "logistic"}},
        },
        LABEL_SETS: {
            f"{_SETS}, a row for each path": {},
            f"{_SETS}, yes/no questions": {"several": "yes_no"},
            f"{_SETS}, yes/no questions, {_LOGISTIC}": {
                "several": "yes_no",
                "score": {"loss": "logistic"},
            },
        },
    }


def measure_extensions(problem: Problem, settings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Score test rows with all features and with those of every extension, as plain values."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from palmette.compare import measure
    from palmette.feature_selection import HierarchicalFeatureSelector
    from palmette.feature_selection._hirr import HirrScore
    from palmette.local import LocalPerNodeClassifier
    from papers.hirr_fs.couplings import f1_of, row_counts

    k = max(1, round(SHARE * problem.X_train.shape[1]))
    logistic = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))

    def counts(selector: Any) -> Any:
        model = LocalPerNodeClassifier(
            logistic, hierarchy=problem.hierarchy, feature_selector=selector, decoding=0.5
        ).fit(problem.X_train, problem.y_train)
        return row_counts(problem.hierarchy, problem.y_test, model.predict(problem.X_test))

    every = counts(None)
    found: dict[str, Any] = {"k": k, "every": f1_of(every), "f1": [], "error": [], "select_s": []}
    for each in settings.values():
        options = dict(each)
        score = HirrScore(tol=1e-3, **options.pop("score", {}))
        selector = HierarchicalFeatureSelector(
            score, hierarchy=problem.hierarchy, n_features_to_select=k, **options
        )
        with measure() as usage:
            selector.fit(problem.X_train, problem.y_train)
        some = counts(selector)
        rng = np.random.default_rng(SEED)
        gaps = []
        for _ in range(500):
            drawn = rng.integers(some.shape[1], size=some.shape[1])
            gaps.append(f1_of(some[:, drawn]) - f1_of(every[:, drawn]))
        found["f1"].append(f1_of(some))
        found["error"].append(float(np.std(gaps)))
        found["select_s"].append(usage.cpu_seconds)
    return found


def find_extensions(problems: Sequence[Problem], cells: Cells) -> list[Extension]:
    """Measure the extensions, unless their results are there already.

    Parameters
    ----------
    problems : sequence of Problem
        Those of `read_digits` and `read_label_sets`.
    cells : Cells

    Returns
    -------
    list of Extension
    """
    extensions = []
    for problem in problems:
        settings = _extensions()[problem.name]
        cell = {"dataset": problem.name, "model": "extensions", "data": fingerprint(problem)}
        found = cells.results(
            {**cell, "settings": settings, "share": SHARE},
            partial(measure_extensions, problem, settings),
        )
        shape = found["k"], int(problem.X_train.shape[1])
        for name, f1, error, seconds in zip(
            settings, found["f1"], found["error"], found["select_s"], strict=True
        ):
            own = f1, found["every"], error, seconds
            extensions.append(Extension(problem.name, name, *shape, *own))
    return extensions


def extension_table(found: Sequence[Extension]) -> Table:
    """Return F1 with selected and with all features."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"{each.dataset}: {each.name}",
            *(each.k, each.n_features, f"{each.f1:.4f}", f"{each.every:.4f}"),
            f"{each.f1 - each.every:+.4f} ± {each.error:.4f}",
            f"{each.select_s:.2f}",
        )
        for each in found
    ]
    columns = ("data set, extension", "k", "features", "F1, k", "F1, all", "difference", "s")
    note = (
        "Hierarchical F1 of test rows without the root; logistic regression at every node "
        "(C = .1), decoded at .5. The standard error of the difference is by 500 paired bootstrap "
        "samples of the test rows. 's': CPU seconds of the selection. digits: every class has two "
        f"parents, by its shape and by parity; a third are test rows. {LABEL_SETS}: sets of "
        "labels, published test rows."
    )
    return Table("Section 5. Several parents, several paths, logistic loss", columns, rows, [note])


def judge_extensions(found: Sequence[Extension]) -> Iterator[Claim]:
    """Judge whether the selected features do as well as all.

    Yields
    ------
    Claim
    """
    for each in found:
        where = f"Section 5, {each.dataset}"
        words = (
            f"{where}: {each.name}: F1 {each.f1:.4f} with {each.k} features, {each.every:.4f} with "
            f"all {each.n_features}, difference {each.f1 - each.every:+.4f} (standard error "
            f"{each.error:.4f}), {each.select_s:.2f} s"
        )
        holds = each.f1 >= each.every - _SIGMAS * each.error
        verdict = "" if holds else "it does not hold that "
        statement = f"they do as well but for {_SIGMAS:g} standard errors"
        yield Claim(where, f"{words}; {verdict}{statement}.", holds)
