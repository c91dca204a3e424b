"""Small sets, curves and timings made by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.adaboost_bhc.further import further_tables, pair_tables
from papers.adaboost_bhc.judging import judge_tables
from papers.adaboost_bhc.methods import LEARNERS, Method
from papers.adaboost_bhc.outcome import Curves, Grid, Growth, Outcome
from papers.adaboost_bhc.sizes import size_tables
from papers.adaboost_bhc.tables import (
    error_tables,
    glass_table,
    growth_tables,
    set_table,
    time_table,
)


class Stages(BaseEstimator):
    """A classifier that says "a" to all rows but the first ones, of which fewer every round."""

    def __init__(self, name: str = "stages", rounds: int = 3) -> None:
        self.name = name
        self.rounds = rounds

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), "a")

    def staged_predict(self, X):
        for number in range(self.rounds):
            said = self.predict(X)
            said[: self.rounds - number] = "b"
            yield said


@pytest.fixture
def stages():
    return Stages


@pytest.fixture
def method_of():
    """Return a maker of methods around an estimator's class."""

    def make(kind, name="MH", learner="few"):
        return Method(name, LEARNERS[learner], lambda rounds, seed, n_jobs: kind(name, rounds))

    return make


@pytest.fixture
def problem_of():
    """Return a maker of problems of 24 rows and three classes, with a test part or without."""

    def make(name="toy", has_split=False, classes=("a", "b", "c")):
        rng = np.random.default_rng(0)
        codes = np.arange(8 * len(classes)) % len(classes)
        X = rng.normal(0, 0.3, (len(codes), 3)) + codes[:, None]
        y = np.array(classes)[codes]
        test = (X[::2], y[::2]) if has_split else ()
        return Problem(name, Hierarchy.star(classes), X, y, *test)

    return make


@pytest.fixture
def outcome_of(problem_of):
    """Return a maker of outcomes: curves of two fits by method, which end at an error."""

    def make(name="toy", learner="few", has_split=True, seconds=None, **ends):
        seconds = seconds or {}
        curves = {}
        for method in ("MH", "MI", "ECC", "BHC"):
            course = np.atleast_1d(ends.get(method, 0.5))
            by_round = np.concatenate([[0.9] * (2 - len(course)), course])
            fits = np.stack([by_round - 0.01, by_round + 0.01])
            cpu = np.full(2, seconds.get(method, 1.0))
            curves[method] = Curves(fits / 2, fits, cpu)
        return Outcome(problem_of(name, has_split), 2, {learner: curves})

    return make


@pytest.fixture
def judged():
    """Return a maker of claims from the tables of what is given, as a run makes them."""

    def make(outcomes=(), growths=(), glass=None, further=(), pairs=(), sizes=(), scores=None):
        tables = [*growth_tables(growths), set_table(outcomes), time_table(outcomes)]
        tables += [] if glass is None else [glass_table(glass)]
        tables += [*error_tables(outcomes), *further_tables(further), *pair_tables(pairs)]
        tables += size_tables(*sizes) if sizes else []
        stored = json.loads(json.dumps([table.to_dict() for table in tables]))
        return judge_tables(stored, scores)

    return make


@pytest.fixture
def growth_of():
    """Return a maker of timings that follow a power law in rows and one in classes."""
    grid = Grid((10, 20, 40), (2, 4, 8), 4, 100)

    def make(method, by_rows, by_classes):
        rows = [float(n) ** by_rows for n in grid.n_rows]
        return Growth(method, rows, [float(n) ** by_classes for n in grid.n_classes], grid)

    return make


@pytest.fixture
def glass():
    """Return facts of two trees, made by hand."""

    def tree(start, together):
        places = {"root": (-1, 0, 1.0), "g": (0, 1, 0.5), "1": (1, 2, 0.0), "5": (1, 2, 1.0)}
        nodes = [
            {"node": i, "name": name, "parent": parent, "depth": depth, "x": x}
            for i, (name, (parent, depth, x)) in enumerate(places.items())
        ]
        nodes.append({"node": 4, "name": "2", "parent": 0, "depth": 1, "x": 2.0})
        for node in nodes:
            node["is_leaf"] = node["name"].isdecimal()
            node["complexity"] = {"F1": 2.0, "N1": 0.5, "N3": 0.25}
        return {
            "start": start,
            "words": f"start from {start}",
            "nodes": nodes,
            "text": "root\n├─ ...",
            "newick": "((1,5)g,2)root;",
            "together": together,
        }

    return {"title": "The class tree of Glass", "trees": [tree("x", True), tree("y", False)]}
