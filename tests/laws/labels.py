"""Laws about y: its forms, its mistakes, the score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from tests.laws.problems import PATHS, TREE, along, framed, well_apart
from tests.laws.shared import fit_once, some_of

from palmette import (
    ClassTreeClassifier,
    ClassTreeEnsemble,
    Hierarchy,
    HierarchyError,
    LabelError,
    NodeLabels,
)

__all__ = ["ON_LABELS", "same_labels", "several_paths_and_dags_are_refused"]


def every_form_of_y_is_answered_in_its_form(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    for form, (y, hierarchy) in some_of(forms_of(paths), estimator).items():
        predicted = along(estimator, hierarchy).fit(X, y).predict(X)
        assert type(predicted) is type(y), form
        assert same_labels(predicted, y), form


def forms_of(paths: list[tuple[str, ...]]) -> dict[str, tuple[Any, Hierarchy | None]]:
    import polars as pl
    import pyarrow as pa

    h = Hierarchy.from_paths(paths)
    strings = ["/".join(path) for path in paths]
    width = max(map(len, paths))
    padded = [path + (None,) * (width - len(path)) for path in paths]
    columns = {f"level {i}": [path[i] for path in padded] for i in range(width)}
    closed = NodeLabels.encode(paths, h).closed.toarray().astype(int)
    return {
        "tuples": (paths, None),
        "lists": ([list(path) for path in paths], None),
        "table of strings": (np.array([[c or "" for c in path] for path in padded]), None),
        "table of objects": (np.array(padded, dtype=object), None),
        "frame": (pd.DataFrame(columns), None),
        "polars frame": (pl.DataFrame(columns), None),
        "arrow table": (pa.table(columns), None),
        "path strings": (np.array(strings), h),
        "series": (pd.Series(strings, name="label"), h),
        "categories": (pd.Series(strings, name="label").astype("category"), h),
        "polars series": (pl.Series("label", strings), h),
        "arrow array": (pa.array(strings), h),
        "sets": ([{string} for string in strings], h),
        "sets of tuples": ([{path} for path in paths], None),
        "sets with ancestors": ([set(ancestry(path)) for path in paths], h),
        "indicator": (closed, h),
        "sparse indicator": (sparse.csr_array(closed[:, 1:]), h),
        "indicator frame": (pd.DataFrame(closed[:, 1:], columns=h.path_strings[1:]), h),
    }


def ancestry(path: tuple[str, ...]) -> Iterator[str]:
    for length in range(1, len(path) + 1):
        yield "/".join(path[:length])


def same_labels(one: Any, other: Any) -> bool:
    if sparse.issparse(one):
        return (one != other).nnz == 0
    if hasattr(one, "equals"):
        return bool(one.equals(other))
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else one == other


def integers_stay_integers(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    codes = {path: 7 * i + 5 for i, path in enumerate(PATHS)}
    flat = np.array([codes[path] for path in paths], dtype=np.int16)
    table = np.column_stack([flat % 3, flat])
    for y in (flat, table):
        predicted = fit_once(estimator, X, y).predict(X)
        assert predicted.dtype == y.dtype
        assert np.array_equal(predicted, y)
    fitted = fit_once(estimator, X, flat)
    assert fitted.classes_.dtype == flat.dtype
    assert fitted.classes_.tolist() == sorted(codes.values())


def rows_of_a_frame_keep_their_index(estimator: BaseEstimator) -> None:
    frame, y = framed()
    fitted = fit_once(along(estimator, TREE), frame, y)
    part = frame.iloc[[5, 3, 20]]
    pd.testing.assert_series_equal(fitted.predict(part), y.loc[part.index])


def inner_labels_are_predicted(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    fitted = fit_once(estimator, X, paths)
    ends_inside = np.array([path == ("b",) for path in paths])
    predicted = fitted.predict(X)
    assert [predicted[i] for i in np.flatnonzero(ends_inside)] == [("b",)] * ends_inside.sum()


def an_only_child_and_a_single_class_need_no_model(estimator: BaseEstimator) -> None:
    X, _ = well_apart()
    for path in [("a",), ("a", "b", "c")]:
        fitted = clone(estimator).fit(X, [path] * len(X))
        assert fitted.predict(X[:3]) == [path] * 3
        if hasattr(fitted, "predict_proba"):
            assert fitted.predict_proba(X[:3]).tolist() == [[1.0]] * 3


def labels_outside_of_the_hierarchy_are_named(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    estimator = along(estimator, TREE)
    with pytest.raises(HierarchyError, match=r"y\[3\] = 'a/wolf' is not in the hierarchy"):
        estimator.fit(X, [*paths[:3], ("a", "wolf"), *paths[4:]])


def paths_without_labels_are_refused(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    with pytest.raises(LabelError, match=r"y\[0\] names no node below the root"):
        clone(estimator).fit(X, [(), *paths[1:]])


def several_paths_and_dags_are_refused(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    with pytest.raises(LabelError, match="1 of 48 rows do not have one path"):
        clone(estimator).fit(X, [{("a", "x"), ("b", "x")}, *({path} for path in paths[1:])])
    if isinstance(estimator, ClassTreeClassifier | ClassTreeEnsemble):
        return  # classes that stand below several groups are theirs to take
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])
    with pytest.raises(HierarchyError, match=f"{type(estimator).__name__} needs a tree"):
        along(estimator, dag).fit(X, ["x"] * len(X))


def a_hierarchy_of_another_kind_is_refused(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    with pytest.raises(
        HierarchyError, match=r"(hierarchy|tree) is a dict: expected a palmette.Hierarchy"
    ):
        along(estimator, {"x": "a"}).fit(X, paths)


def scores_count_labels_never_seen_as_wrong(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    fitted = fit_once(estimator, X, paths)
    assert fitted.score(X, paths) == 1.0
    assert fitted.score(X[:4], [*paths[:3], ("new", "path")]) == 0.75
    assert fitted.score(X[:2], [paths[0], ("new",)], sample_weight=[1, 3]) == 0.25


ON_LABELS: list[Callable[[BaseEstimator], None]] = [
    every_form_of_y_is_answered_in_its_form,
    integers_stay_integers,
    rows_of_a_frame_keep_their_index,
    inner_labels_are_predicted,
    an_only_child_and_a_single_class_need_no_model,
    labels_outside_of_the_hierarchy_are_named,
    paths_without_labels_are_refused,
    a_hierarchy_of_another_kind_is_refused,
    scores_count_labels_never_seen_as_wrong,
]
