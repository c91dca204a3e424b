"""A small multi-label problem, stand-ins for slow methods, and outcomes made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from palmette.compare import Problem
from papers.soshf.methods import Method, Options, SetFacts, prepare
from papers.soshf.outcome import Answer, Outcome
from papers.soshf.published import PAPER_SETS, PaperSet


def make_problem(name: str = "toy", n_rows: int = 120, seed: int = 0) -> Problem:
    """Make four labels, each told by two features; the others are noise."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n_rows, 4)) < [0.5, 0.4, 0.3, 0.25]
    X = rng.normal(size=(n_rows, 10))
    X[:, :8] += 2.0 * np.repeat(Y, 2, axis=1)
    return prepare(name, X, Y, list("abcd"), is_numeric=True)


def make_trees(options: Options) -> Any:
    from palmette.multilabel import TreesMultilabel

    return TreesMultilabel(n_estimators=10, **options.shared)


def fail(options: Options) -> Any:
    raise ValueError("this cannot be made\nfor many reasons")


@pytest.fixture
def problem() -> Problem:
    return make_problem()


@pytest.fixture
def trees() -> Method:
    return Method("extra-trees", "few trees", make_trees, 0)


@pytest.fixture
def failing() -> Method:
    return Method("cocoa", "what never works", fail)


@pytest.fixture
def outcome_of():
    """Return a function that makes an outcome of scores, by method.

    A score is a number for all of F, tuned F and AUC, or (F, tuned F, AUC).
    """

    def make(name: str, table: PaperSet | None = None, n_splits: int = 2, **scores: Any) -> Outcome:
        answers = {}
        for key, score in scores.items():
            own, tuned, auc = score if isinstance(score, tuple) else (score,) * 3
            splits = [
                {
                    "f_own": own + shift,
                    "f_tuned": tuned + shift,
                    "auc": auc + shift,
                    "fit_s": float(len(key)),
                    "predict_s": 0.5,
                    "peak_mib": None if key == "ours" else 3.0,
                }
                for shift in (np.linspace(-0.01, 0.01, n_splits) if n_splits > 1 else [0.0])
            ]
            method = key.replace("_", "-")
            answers[method] = Answer(method, splits)
        facts = SetFacts(table or PAPER_SETS.get(name, PaperSet(9, 9, 9, 1, 1, 1, 1, 1)), 2.0, 0.1)
        return Outcome(name, facts, n_splits, answers)

    return make
