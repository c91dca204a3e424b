"""The page of the documentation that says which estimator takes which labels and hierarchies.

``python -m tests.what_goes_together > docs/what_goes_together.md`` writes it: every public
estimator is fitted to every kind of problem, and the table says what happened.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from tests.instances import PARAMETERS, public_estimators

import palmette as pm
from palmette.models import list_tree_learners

__all__ = ["PROBLEMS", "learner_row", "learners", "page", "row_of", "rows_of", "takers"]

TREE = pm.Hierarchy.from_edges([("p", "a"), ("p", "b"), ("q", "c"), ("q", "d")], root="root")
DAG = pm.Hierarchy.from_edges(
    [("p", "a"), ("p", "b"), ("q", "b"), ("q", "c"), ("q", "d")], root="root"
)


_DAG_LEARNER = pm.RelaxedTree(0.0, max_copies=3, random_state=0)


class Problem(NamedTuple):
    """One column of the table."""

    title: str
    hierarchy: Any
    several: bool


PROBLEMS = [
    Problem("tree, one path", TREE, False),
    Problem("tree, several paths", TREE, True),
    Problem("DAG, one label", DAG, False),
    Problem("DAG, several paths", DAG, True),
    Problem("learner, one label", pm.BHCTree(), False),
    Problem("learner, label sets", pm.BHCTree(), True),
    Problem("learner of a DAG, one label", _DAG_LEARNER, False),
    Problem("learner of a DAG, label sets", _DAG_LEARNER, True),
]

_TEXT = """\
# What goes together

Which estimator takes which labels and which hierarchies. `python -m tests.what_goes_together` fits
all of them to small problems and prints this page.

- *Tree* and *DAG* are hierarchies that you pass, or that are in the paths of `y`. In a DAG a node
  may have several parents.
- *One path* means that the labels of a row are one node and its ancestors; *several paths* are
  label sets or 0/1 matrices.
- A *learner* is passed in the place of a hierarchy and learns one over the labels. `RelaxedTree`
  may learn a DAG.
- *own*: the estimator takes no hierarchy; it learns one of its own from such labels.
- *as a tree*: every node of a learned DAG that has several parents keeps the one whose other rows
  are nearest, and a warning says so.
- *no*: the estimator does not take this. Its error says what it expects.

In the second table are the learners. `palmette fit --hierarchy learn:bhc`, or
`fit_table(..., hierarchy="learn:bhc")`, learns a hierarchy from the rows of a table, with one label
or several per row, and fits any model of the first table to it; `palmette learn --method bhc` draws
and writes it.

"""


def rows_of(several: bool) -> tuple[np.ndarray, Any]:
    """Return rows and labels, one or several per row."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(4, size=(2, 48))
    X = rng.normal(size=(48, 4)) * 0.3
    X[np.arange(48), first] += 2.0
    if not several:
        return X, np.array(list("abcd"))[first]
    X[np.arange(48), second] += 2.0
    return X, [{"abcd"[i], "abcd"[j]} for i, j in zip(first, second, strict=True)]


def _place(estimator: BaseEstimator) -> str | None:
    """Return the parameter that takes a hierarchy."""
    names = estimator.get_params(deep=False)
    return next((name for name in ("hierarchy", "tree") if name in names), None)


def small(kind: type[BaseEstimator]) -> BaseEstimator:
    return kind(**PARAMETERS.get(kind.__name__, ({},))[0])


def takers() -> list[type[BaseEstimator]]:
    """Return the estimators that take a hierarchy, and classifiers that learn one of their own."""
    return [
        each
        for each in public_estimators()
        if _place(small(each)) is not None
        or (issubclass(each, ClassifierMixin) and hasattr(each, "_hierarchy_setting"))
    ]


def learners() -> list[type[BaseEstimator]]:
    """Return the learners of hierarchies."""
    return [each for each in public_estimators() if getattr(each, "learns_from_label_sets", False)]


def outcome(kind: type[BaseEstimator], problem: Problem) -> str:
    """Fit an estimator to a problem; return what happened."""
    estimator = small(kind)
    place = _place(estimator)
    if place is not None:
        estimator.set_params(**{place: problem.hierarchy})
    X, y = rows_of(problem.several)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            fitted = estimator.fit(X, y)
        except pm.PalmetteError:
            return "no"
        if hasattr(fitted, "predict"):
            assert len(fitted.predict(X)) == len(X)
    if place is None:
        return "own"
    is_tree = any("needs a tree" in str(each.message) for each in told)
    return "as a tree" if is_tree else "yes"


def row_of(kind: type[BaseEstimator]) -> str:
    """Return the row of an estimator."""
    cells = [outcome(kind, problem) for problem in PROBLEMS]
    return f"| `{kind.__name__}` | {' | '.join(cells)} |"


def learner_row(kind: type[BaseEstimator]) -> str:
    """Return the row of a learner: what it learns from, and what it learns."""
    (name,) = (each.name for each in list_tree_learners() if each.class_name == kind.__name__)
    shapes = set()
    for several in (False, True):
        X, y = rows_of(several)
        shapes.add(small(kind).fit(X, y).hierarchy_.is_tree)
    overlaps = getattr(kind, "_may_overlap", False) or shapes != {True}
    shape = "tree or DAG" if overlaps else "tree"
    return f"| `{kind.__name__}` | `learn:{name}` | yes | yes | {shape} |"


def table(titles: Iterable[str], rows: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a table."""
    heads = list(titles)
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    yield from rows


def page() -> str:
    """Return the page."""
    heads = ["estimator", *(problem.title for problem in PROBLEMS)]
    kinds = sorted(takers(), key=lambda each: each.__name__.lower())
    lines = [*table(heads, map(row_of, kinds)), ""]
    heads = ["learner", "in commands", "one label per row", "label sets", "learns a"]
    kinds = sorted(learners(), key=lambda each: each.__name__.lower())
    lines += table(heads, map(learner_row, kinds))
    return _TEXT + "\n".join(lines) + "\n"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(page(), end="")
