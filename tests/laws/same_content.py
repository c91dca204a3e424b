"""Laws about what has no meaning: names of labels and their order, constant and permuted columns.

Answers may differ in ties only: rows for which both labels are equally good. Estimators for which
that cannot hold are named with the reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.laws.learners import families, groups_of
from tests.laws.own_tree import learns_over_labels
from tests.laws.problems import PATH_SETS, problem, several

from palmette import CoherentKernelClassifier, routing
from palmette.feature_selection import HierarchicalFeatureSelector
from palmette.weak import SharedTree

__all__ = [
    "FORMS",
    "NAMED",
    "changes_of",
    "names_and_columns_change_nothing_but_ties",
    "with_few_draws",
]

FORMS = ("renamed", "reversed", "constant", "columns")  # labels: in the same order, the reverse one

_BY_LABEL = "draws are by the number of a label, which follows from the order of names"
_BY_COLUMN = "columns are drawn by their number"
_FOLDS = "rows are drawn by their contents and labels, so that their order changes nothing"
_STARTS = "weights start at random numbers, and rows are dropped at random by column"

# estimators that cannot obey the law, by what is changed, and why
NAMED: dict[str, dict[str, str]] = {
    "AdaBoostBHCClassifier": {
        "reversed": "the rows of a node are drawn with the seed of its number",
        "constant": _BY_COLUMN,
        "columns": _BY_COLUMN,
    },
    "AdaBoostECCClassifier": {"reversed": _BY_LABEL},
    "COCOA": {"reversed": _BY_LABEL, "constant": _FOLDS, "columns": _FOLDS},
    "ChainEnsemble": {"reversed": _BY_LABEL},
    "CoherentForestClassifier": {"constant": _BY_COLUMN, "columns": _BY_COLUMN},
    "CoherentNetworkClassifier": dict.fromkeys(FORMS[1:], _STARTS),
    "DAGSVMClassifier": {"constant": "rows are not centred: the column is one more intercept"},
    "HOMER": {"reversed": _BY_LABEL},
    "HierarchicalFeatureSelector(mrmr)": {
        "columns": "of equally informative features the first is taken"
    },
    "HOMERTree": {"reversed": _BY_LABEL},
    "HierarchicalBoostingClassifier": {"columns": "of equally good cuts the first is taken"},
    "LabelEmbeddingTree": {
        "reversed": "folds are dealt class by class; classes never confused are cut in their order"
    },
    "LinearMultilabel": {"reversed": _FOLDS, "constant": _FOLDS, "columns": _FOLDS},
    "RAkEL": {"reversed": _BY_LABEL},
    "RandomTree": {"reversed": _BY_LABEL},
    "StructuredForestClassifier": {
        "reversed": _BY_LABEL,
        "constant": _BY_COLUMN,
        "columns": _BY_COLUMN,
    },
}

# those that cannot obey it for sets of labels only
_NAMED_FOR_SETS = {
    "CoherentForestClassifier": {
        "reversed": "sums over labels in another order decide between cuts"
    },
    "ThresholdedMultilabel": {"reversed": "equally rare labels are dealt to folds in their order"},
}

_BAYES = {"estimator": GaussianNB()}

# parameters with which an estimator draws as little as it can, in place of those of its instance
_FEW_DRAWS: dict[str, dict[str, Any]] = {
    "CalibratedLabelRanking": _BAYES,
    "ChainEnsemble": _BAYES,
    "CoherentBlendClassifier": {
        "estimators": [
            ("wide", CoherentKernelClassifier(0.1, 2.0)),
            ("narrow", CoherentKernelClassifier(0.01, 1.0)),
        ]
    },
    "HOMER": _BAYES,
    "HierarchicalAdaBoostClassifier": {
        "weak_learner": SharedTree(2, max_features=None, thresholds="best")
    },
    "HierarchicalBoostingClassifier": {
        "max_features": None,
        "thresholds": "best",
        "max_depth": 2,
        "n_estimators": 10,
    },
    "HierarchicalFeatureSelector": {"n_features_to_select": 2},
    "RAkEL": _BAYES,
    "TreesMultilabel": {
        "kind": "random_forest",
        "bootstrap": False,
        "max_features": None,
        "max_depth": 2,
    },
}

# how near answers are: solvers that end at a tolerance, and products in single precision
_NEAR = {
    "CoherentBlendClassifier": 1e-4,
    "CoherentKernelClassifier": 1e-4,
    "HierarchicalFeatureSelector": 1e-3,
}


def with_few_draws(estimator: BaseEstimator) -> BaseEstimator:
    """Return an unfitted copy that draws as little as it can, and always the same numbers."""
    model = clone(estimator)
    own = model.get_params(deep=False)
    if isinstance(own.get("estimator"), DecisionTreeClassifier):  # draws among equal splits
        model.set_params(estimator=GaussianNB())
    if isinstance(own.get("router"), routing.ChosenRouter | routing.AverageRouter):
        model.set_params(router="linear")
    model.set_params(**_FEW_DRAWS.get(type(model).__name__, {}))
    return model.set_params(random_state=0) if "random_state" in own else model


class Answers(NamedTuple):
    """What a fitted estimator says, with the names and the columns that it had first."""

    labels: list[Any]  # groups of a learned tree, nodes with features, or labels of rows
    numbers: np.ndarray | None  # (n_rows, n_labels), or scores of features


def names_and_columns_change_nothing_but_ties(
    estimator: BaseEstimator, forms: tuple[str, ...] = FORMS
) -> None:
    name = type(estimator).__name__
    if estimator.get_params(deep=False).get("score") == "mrmr":
        name = f"{name}(mrmr)"
    for form, (_, wrong) in zip(forms, changes_of(estimator, forms), strict=True):
        if form in NAMED.get(name, {}):
            assert wrong, f"{name} is named, but {form} changes nothing"
        else:
            assert not wrong, f"{form}: {wrong}"


def changes_of(estimator: BaseEstimator, forms: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield how many labels differ, and what differs that is no tie, if anything does."""
    model = with_few_draws(estimator)
    X, y = families() if _takes_names(model) else problem()
    first = _answers(model, X, y, {})
    for form in forms:
        other = _changed(model, X, y, form)
        n_other = sum(a != b for a, b in zip(first.labels, other.labels, strict=False))
        yield n_other, _differences(first, other, _NEAR.get(type(estimator).__name__, 1e-7))


def names_and_columns_change_nothing_in_sets(estimator: BaseEstimator) -> None:
    name = type(estimator).__name__
    model = with_few_draws(estimator)
    X, y = several(PATH_SETS)
    excused = NAMED.get(name, {}) | _NAMED_FOR_SETS.get(name, {})
    first = _answers(model, X, y, {})
    for form in FORMS:
        if form not in excused:
            wrong = _differences(first, _changed(model, X, y, form), _NEAR.get(name, 1e-7))
            assert not wrong, f"changed {form}: {wrong}"


def _takes_names(model: BaseEstimator) -> bool:
    if isinstance(model, HierarchicalFeatureSelector):
        return False
    return not hasattr(model, "predict") or learns_over_labels(model)


def _changed(model: BaseEstimator, X: np.ndarray, y: Any, form: str) -> Answers:
    if form in ("renamed", "reversed"):
        names = sorted(_names_in(y))
        first, step = ("z", -1) if form == "reversed" else ("A", 1)
        new = {part: f"{chr(ord(first) + step * i)}{i}" for i, part in enumerate(names)}
        old = {changed: part for part, changed in new.items()}
        if isinstance(y, np.ndarray):
            return _answers(model, X, np.array([new[label] for label in y]), old)
        return _answers(model, X, [_renamed(label, new) for label in y], old)
    if form == "columns":
        order = np.arange(X.shape[1])[::-1]
        return _answers(model, np.ascontiguousarray(X[:, order]), y, {}, order)
    more = np.column_stack([np.full(len(X), 3.0), X])
    return _answers(model, more, y, {}, np.arange(X.shape[1]) + 1)


def _names_in(label: Any) -> set[str]:
    """Return the names in labels, paths or sets of paths."""
    return (
        {label} if isinstance(label, str) else {name for part in label for name in _names_in(part)}
    )


def _renamed(label: Any, new: dict[str, str]) -> Any:
    """Return a label, path or set of paths with other names."""
    if isinstance(label, set | frozenset):
        return frozenset(_renamed(path, new) for path in label)
    if isinstance(label, tuple | list):
        return tuple(new.get(part, part) for part in label)
    return new.get(str(label), str(label))


def _answers(
    model: BaseEstimator, X: np.ndarray, y: Any, old: dict[str, str], columns: Any = slice(None)
) -> Answers:
    """Fit and predict; names and columns are changed back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(X, y)
    if isinstance(fitted, HierarchicalFeatureSelector):
        return _of_selector(fitted, old, columns)
    if not hasattr(fitted, "predict"):
        groups = [
            sorted(old.get(str(leaf), str(leaf)) for leaf in each)
            for each in groups_of(fitted.hierarchy_)
        ]
        return Answers(sorted(groups), None)

    labels = [_renamed(label, old) for label in fitted.predict(X)]
    if not hasattr(fitted, "predict_proba"):
        return Answers(labels, None)
    classes = [_renamed(label, old) for label in fitted.classes_]
    return Answers(labels, fitted.predict_proba(X)[:, _sorted(classes)])


def _sorted(classes: list[Any]) -> list[int]:
    return sorted(range(len(classes)), key=lambda place: classes[place])


def _of_selector(fitted: Any, old: dict[str, str], columns: Any) -> Answers:
    hierarchy = fitted.hierarchy_
    paths = [
        "/".join(old.get(part, part) for part in str(path).split("/"))
        for path in hierarchy.path_strings
    ]
    nodes = sorted(range(len(paths)), key=lambda node: paths[node])
    supports = fitted.node_supports_.toarray()[nodes][:, columns]
    scores = fitted.node_scores_.toarray()[nodes][:, columns]
    return Answers(supports.tolist(), scores / np.abs(scores).max())


def _differences(first: Answers, other: Answers, near: float) -> str:
    """Return what differs, other than ties; nothing if nothing does."""
    if first.numbers is not None and other.numbers is not None:
        most = float(np.abs(first.numbers - other.numbers).max())
        if most > near:
            return f"scores by up to {most:.1e}"
    if len(first.labels) != len(other.labels):
        return "the number of groups"
    rows = [i for i, (a, b) in enumerate(zip(first.labels, other.labels, strict=True)) if a != b]
    if first.numbers is None or isinstance(first.labels[0], frozenset):
        return f"{len(rows)} labels or groups" if rows else ""
    classes = sorted(set(first.labels) | set(other.labels)) if rows else []
    if rows and len(classes) != first.numbers.shape[1]:
        return f"{len(rows)} labels"
    kept = [i for i in rows if not _is_tie(first, other, i, classes, near)]
    return f"{len(kept)} labels that are no ties" if kept else ""


def _is_tie(first: Answers, other: Answers, row: int, classes: list[Any], near: float) -> bool:
    """Return whether two labels are equally probable, or have the same expected F1."""
    shares = first.numbers[row]
    a, b = classes.index(first.labels[row]), classes.index(other.labels[row])
    if abs(shares[a] - shares[b]) <= near:
        return True
    expected = [
        sum(p * _f1(classes[k], each) for p, each in zip(shares, classes, strict=True))
        for k in (a, b)
    ]
    return bool(abs(expected[0] - expected[1]) <= near)


def _f1(one: Any, other: Any) -> float:
    """Return the hierarchical F1 of two paths."""
    common = 0
    while common < min(len(one), len(other)) and one[common] == other[common]:
        common += 1
    return 2.0 * common / (len(one) + len(other))


ON_SAME_CONTENT: list[Callable[[BaseEstimator], None]] = [names_and_columns_change_nothing_but_ties]
ON_SETS_OF_SAME_CONTENT: list[Callable[[BaseEstimator], None]] = [
    names_and_columns_change_nothing_in_sets
]
