"""Laws of classifiers that take several paths a row, and DAGs."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score
from tests.laws.labels import same_labels
from tests.laws.problems import (
    DAG,
    DAG_SETS,
    PATH_SETS,
    PATHS,
    TREE,
    near,
    several,
    several_apart,
    well_apart,
)
from tests.laws.shared import fit_once, fit_to_change, in_chunks, some_of, two_jobs, with_hierarchy

from palmette import Hierarchy, LabelError, NodeLabels, PalmetteError, metrics
from palmette.decisions._thresholds import Threshold

__all__ = ["ON_SEVERAL_PATHS", "ON_SEVERAL_PROBABILITIES"]

# ---------------------------------------------------------------------- labels


def label_sets_of_every_form_are_answered_in_their_form(estimator: BaseEstimator) -> None:
    for hierarchy, sets in [(TREE, PATH_SETS), (DAG, DAG_SETS)]:
        X, y = several_apart(sets)
        for form, (labels, given) in some_of(forms_of(y, hierarchy), estimator).items():
            fitted = with_hierarchy(estimator, given).fit(X, labels)
            predicted = fitted.predict(X)
            assert fitted.several_paths_, form
            assert type(predicted) is type(labels), form
            assert same_labels(predicted, labels), form
            assert fitted.score(X, labels) == 1.0, form


def forms_of(y: list[set], h: Hierarchy) -> dict[str, tuple[Any, Hierarchy | None]]:
    import polars as pl

    closed = NodeLabels.encode(y, h).closed.toarray().astype(int)
    closed[:, 0] = 1
    below = closed[:, 1:]
    names = ["/".join(map(str, n)) if isinstance(n, tuple) else n for n in h.path_strings]
    with_ancestors = [{names[i] for i in np.flatnonzero(row) if i} for row in closed]
    listed = [sorted(labels) for labels in y]
    forms = {
        "sets": (y, h),
        "frozensets": ([frozenset(labels) for labels in y], h),
        "series of sets": (pd.Series(y, name="labels"), h),
        "sets with ancestors": (with_ancestors, h),
        "matrix": (closed, h),
        "matrix of flags": (below.astype(bool), h),
        "sparse matrix": (sparse.csr_array(below.astype(np.int8)), h),
        "old sparse matrix": (sparse.csc_matrix(below), h),
        "frame": (pd.DataFrame(below[:, ::-1], columns=names[:0:-1]), h),
        "polars frame": (pl.DataFrame(below, schema=names[1:]), h),
        "plain matrix": (below.astype(float), None),
        "plain sets": (with_ancestors, None),
    }
    if h.is_tree:
        forms["lists of paths"] = (listed, None)
        forms["sets of paths"] = (y, None)
    return forms


def one_path_a_row_is_a_special_case(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    sets = [{path} for path in paths]
    fitted = clone(estimator).set_params(decoding=0.5).fit(X, sets)
    assert fitted.several_paths_
    assert fitted.predict(X) == sets
    single = fit_once(estimator, X, paths)
    assert not single.several_paths_
    assert (single.predict_node_sets(X) != fitted.predict_node_sets(X)).nnz == 0


def names_in_a_dag_are_answered_with_names(estimator: BaseEstimator) -> None:
    X, y = several_apart([{"x"}, {"deep"}, {"z"}, {"end"}, {"b"}, {"c"}])
    names = np.array([min(labels) for labels in y])
    fitted = with_hierarchy(estimator, DAG).fit(X, names)
    assert fitted.predict(X).tolist() == names.tolist()
    assert fitted.classes_.tolist() == ["b", "c", "deep", "end", "x", "z"]
    assert DAG.names[fitted.predict_nodes(X)].tolist() == names.tolist()
    assert fitted.score(X, names) == 1.0


def classes_are_the_labels_listed_or_the_columns(estimator: BaseEstimator) -> None:
    X, y = several(DAG_SETS)
    fitted = fit_once(estimator, X, y, hierarchy=DAG)
    assert fitted.classes_.tolist() == ["b", "c", "deep", "end", "x", "y", "z"]
    frame = pd.DataFrame({name: [int(name in labels) for labels in y] for name in "zxbq"})
    with pytest.warns(UserWarning, match="1 of the 4 columns of y has no positive row, e.g. 'q'"):
        fitted = clone(estimator).fit(X, frame)
    assert fitted.classes_.tolist() == list("zxbq")
    assert (fitted.predict(X)["q"] == 0).all()


def rows_need_no_labels_but_some_row_does(estimator: BaseEstimator) -> None:
    X, y = several_apart([set(), {"a"}, {"a", "b"}])
    fitted = clone(estimator).fit(X, y)
    assert fitted.predict(X) == y
    with pytest.raises(LabelError, match="none of the 18 rows of y has a label"):
        with_hierarchy(estimator, DAG).fit(X, [set()] * 18)


def labels_never_seen_count_as_wrong(estimator: BaseEstimator) -> None:
    X, y = several_apart(PATH_SETS)
    fitted = fit_once(estimator, X, y)
    assert fitted.score(X[:4], [*y[:3], {("new",), *y[3]}]) == 0.75
    assert fitted.score(X[:2], [y[0], {("new",)}], sample_weight=[1, 3]) == 0.25


def the_score_is_the_share_of_rows_that_are_right(estimator: BaseEstimator) -> None:
    X, y = several(DAG_SETS)
    matrix = NodeLabels.encode(y, DAG).closed.toarray()[:, 1:].astype(int)
    *_, (_, model) = rules_of(estimator)
    fitted = with_hierarchy(model, DAG).fit(X, matrix)
    assert fitted.score(X, matrix) == accuracy_score(matrix, fitted.predict(X))


# ---------------------------------------------------------------------- coherence


def rules_of(estimator: BaseEstimator) -> Iterator[tuple[str, BaseEstimator]]:
    if "dag_rule" not in estimator.get_params():
        yield "all", clone(estimator)
        return
    for rule in ("all", "any"):
        yield rule, clone(estimator).set_params(dag_rule=rule)


def limits(table: np.ndarray, h: Hierarchy, rule: str) -> np.ndarray:
    """What the parents of every node but the root allow."""
    bound = np.minimum if rule == "all" else np.maximum
    above = [bound.reduce(table[:, h.parents_of(node)], axis=1) for node in range(1, h.n_nodes)]
    return np.column_stack(above)


def answers_are_coherent_sets(estimator: BaseEstimator) -> None:
    for rule, model in rules_of(estimator):
        for h, sets, thresholds in [
            (TREE, PATH_SETS, (0.2, np.linspace(0.9, 0.1, TREE.n_nodes))),
            (DAG, DAG_SETS, (0.0, 0.5, np.linspace(0.9, 0.1, DAG.n_nodes))),
        ]:
            X, y = several(sets)
            fitted = fit_to_change(model, X, y, hierarchy=h)
            for threshold in thresholds:
                fitted.set_params(decoding=Threshold(threshold))
                nodes = fitted.predict_node_sets(X)
                table = nodes.toarray()
                assert nodes.dtype == bool
                assert table[:, 0].all()
                assert (table[:, 1:] <= limits(table, h, rule)).all()
                told = NodeLabels.encode(fitted.predict(X), h).closed.toarray()[:, 1:]
                assert (told >= table[:, 1:]).all()  # what is told implies what was found
                if rule == "all":
                    assert np.array_equal(told, table[:, 1:])


def unknown_rules_are_refused(estimator: BaseEstimator) -> None:
    X, y = several(DAG_SETS)
    model = with_hierarchy(estimator, DAG)
    if "dag_rule" in model.get_params():
        with pytest.raises(PalmetteError, match="dag_rule='most' is unknown"):
            clone(model).set_params(dag_rule="most").fit(X, y)
    with pytest.raises(PalmetteError, match="decoding='best_path' is not a rule for several paths"):
        clone(model).set_params(decoding="best_path").fit(X, y)
    fitted = fit_to_change(model, X, y)
    with pytest.raises(PalmetteError, match="Use predict_node_sets"):
        fitted.predict_nodes(X)
    with pytest.raises(PalmetteError, match="expected numbers from 0 to 1"):
        fitted.set_params(decoding=2.0).predict(X)
    X, paths = well_apart()
    with pytest.raises(PalmetteError, match="a rule for several paths per row, but y has one path"):
        clone(estimator).set_params(decoding=0.5).fit(X, paths)


def a_lower_threshold_finds_more(estimator: BaseEstimator) -> None:
    X, y = several(PATH_SETS)
    fitted = fit_to_change(estimator, X, y, hierarchy=TREE)
    few = fitted.set_params(decoding=0.8).predict_node_sets(X)
    many = fitted.set_params(decoding=Threshold(0.1)).predict_node_sets(X)
    assert (few > many).nnz == 0
    if hasattr(fitted, "predict_proba"):
        proba = fitted.predict_node_proba(X)
        assert np.array_equal(few.toarray(), proba > 0.8)
        assert np.array_equal(many.toarray(), proba > 0.1)
    half = fitted.set_params(decoding=0.5).predict(X)
    tunes = hasattr(fitted, "thresholds_") or hasattr(fitted, "threshold_")
    if not tunes:  # those who tune thresholds have others by default
        assert fitted.set_params(decoding="auto").predict(X) == half


# ---------------------------------------------------------------------- fitting


def a_weight_of_k_is_k_copies_of_a_set(estimator: BaseEstimator) -> None:
    X, y = several(DAG_SETS)
    estimator = with_hierarchy(estimator, DAG)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    weights = np.arange(len(X)) % 4
    weights[["z" in labels for labels in y]] = 0  # none of them, not even their label
    copies = np.repeat(np.arange(len(X)), weights)
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    repeated = clone(estimator).fit(X[copies], [y[i] for i in copies])
    assert weighted.classes_.tolist() == repeated.classes_.tolist()
    assert weighted.nodes_.tolist() == repeated.nodes_.tolist()
    assert weighted.predict(X) == repeated.predict(X)
    if hasattr(weighted, "predict_proba"):
        one, other = weighted.predict_node_proba(X), repeated.predict_node_proba(X)
        np.testing.assert_allclose(one, other, atol=2e-4)


def rows_of_no_weight_might_as_well_not_be_there(estimator: BaseEstimator) -> None:
    X, paths = well_apart()
    sets: list[set] = [{path} for path in paths]
    sets[0], sets[7] = {paths[0], paths[-1]}, set()
    weights = np.ones(len(X))
    weights[[0, 7]] = 0
    weighted = clone(estimator).fit(X, sets, sample_weight=weights)
    kept = np.flatnonzero(weights)
    alone = clone(estimator).fit(X[kept], [sets[i] for i in kept])
    assert weighted.several_paths_ == alone.several_paths_
    assert weighted.predict(X) == alone.predict(X) == [{path} for path in paths]


def jobs_pickles_and_chunks_change_nothing_in_sets(estimator: BaseEstimator) -> None:
    X, y = several(DAG_SETS)
    estimator = with_hierarchy(estimator, DAG)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    fitted = fit_once(estimator, X, y)
    others = [pickle.loads(pickle.dumps(fitted))]
    if "n_jobs" in estimator.get_params():
        with two_jobs(estimator):
            others.append(clone(estimator).set_params(n_jobs=2).fit(X, y))
    has_proba = hasattr(fitted, "predict_proba")
    told, table = fitted.predict(X), fitted.predict_node_proba(X) if has_proba else None
    for other in others:
        assert other.predict(X) == told
        if has_proba:
            assert np.array_equal(other.predict_node_proba(X), table)
    with in_chunks(40):
        chunked = fitted.predict(X), fitted.predict_node_proba(X) if has_proba else None
    assert chunked[0] == told
    if has_proba:
        np.testing.assert_allclose(chunked[1], table, **near(estimator))


def a_model_may_be_fitted_again_on_the_other_kind(estimator: BaseEstimator) -> None:
    X, y = several_apart(PATH_SETS)
    paths = [max(labels, default=("c",)) for labels in y]
    model = fit_to_change(estimator, X, y)
    for labels in (paths, y):
        fresh = fit_once(estimator, X, labels)
        assert model.fit(X, labels).predict(X) == fresh.predict(X)


# ---------------------------------------------------------------------- probabilities


def probabilities_of_nodes_are_coherent_in_dags(estimator: BaseEstimator) -> None:
    for rule, model in rules_of(estimator):
        for h, sets in [(TREE, PATH_SETS), (DAG, DAG_SETS)]:
            X, y = several(sets)
            fitted = fit_to_change(model, X, y, hierarchy=h).set_params(decoding=0.5)
            proba = fitted.predict_node_proba(X)
            assert proba.shape == (len(X), h.n_nodes)
            assert (proba[:, 0] == 1.0).all()
            assert (proba >= 0).all()
            assert (proba[:, 1:] <= limits(proba, h, rule)).all()
            labels = h.index(fitted.classes_.tolist())
            assert np.array_equal(fitted.predict_proba(X), proba[:, labels])
            some = fitted.predict_node_proba(X, nodes=["c", "a"])
            assert np.array_equal(some, proba[:, h.index(["c", "a"])])
            answers = fitted.predict_node_sets(X).toarray()
            assert np.array_equal(answers, proba > 0.5)


def nodes_without_positives_are_never_predicted(estimator: BaseEstimator) -> None:
    X, y = several(PATH_SETS)
    h = Hierarchy.from_paths([("a", "new"), *PATHS, ("e", "newer"), ("d", "only", "newest")])
    fitted = with_hierarchy(estimator, h).set_params(decoding=0.0).fit(X, y)
    unseen = h.index([("a", "new"), ("e",), ("e", "newer"), ("d", "only", "newest")])
    assert (fitted.predict_node_proba(X)[:, unseen] == 0).all()
    assert fitted.predict_node_sets(X)[:, unseen].nnz == 0
    assert not np.isin(unseen, fitted.nodes_).any()


def own_proba_literally(fitted, X, y):
    """The probability that a row lists a label itself, label by label and row by row."""
    below = {name: set() for name in DAG.names}
    for node in reversed(range(DAG.n_nodes)):  # children first
        for child in DAG.names[DAG.children(node)]:
            below[DAG.names[node]] |= {child} | below[child]
    nodes = fitted.predict_node_proba(X)
    found = np.empty((len(X), len(fitted.classes_)))
    for k, label in enumerate(fitted.classes_.tolist()):
        beside = [label in row for row in y if row & below[label]]
        share = np.mean(beside) if beside else 0.0
        for i in range(len(X)):
            p, none = nodes[i, DAG.index(label)], 1.0
            for child in DAG.children(label):
                none *= 1.0 - (nodes[i, child] / p if p else 0.0)
            found[i, k] = p * (none + (1.0 - none) * share)
    return found


def top_k_are_the_most_probable_labels_of_a_set(estimator: BaseEstimator) -> None:
    X, y = several(DAG_SETS)
    fitted = fit_once(estimator, X, y, hierarchy=DAG)
    labels, values = fitted.predict_top_k(X, k=3)
    whole = fitted.predict_proba(X)
    proba = own_proba_literally(fitted, X, y)
    assert np.array_equal(values, -np.sort(-values, axis=1))
    column = {name: i for i, name in enumerate(fitted.classes_.tolist())}
    rows = np.arange(len(X))
    for rank, answers in enumerate(zip(*labels, strict=True)):
        chosen = np.array([column[label] for label in answers])
        assert (values[:, rank] <= whole[rows, chosen] + 1e-12).all()
        ends = np.array([not DAG.children(label).size for label in answers])
        np.testing.assert_allclose(whole[rows, chosen][ends], values[ends, rank], atol=1e-12)
        if not hasattr(fitted, "label_tree_"):  # it learns which rows list an inner node
            np.testing.assert_allclose(proba[rows, chosen], values[:, rank], atol=1e-12)
    if not hasattr(fitted, "label_tree_"):
        np.testing.assert_allclose(values, -np.sort(-proba, axis=1)[:, :3], atol=1e-12)
    hits = [len(row & set(best)) for row, best in zip(y, labels, strict=True)]
    assert metrics.precision_at_k(y, labels, k=3) == pytest.approx(np.mean(hits) / 3)
    assert {len(row) for row in fitted.predict_top_k(X, k=100)[0]} == {len(fitted.classes_)}
    with pytest.raises(PalmetteError, match="k=0: expected a positive"):
        fitted.predict_top_k(X, k=0)


ON_SEVERAL_PATHS: list[Callable[[BaseEstimator], None]] = [
    label_sets_of_every_form_are_answered_in_their_form,
    one_path_a_row_is_a_special_case,
    names_in_a_dag_are_answered_with_names,
    classes_are_the_labels_listed_or_the_columns,
    rows_need_no_labels_but_some_row_does,
    labels_never_seen_count_as_wrong,
    the_score_is_the_share_of_rows_that_are_right,
    answers_are_coherent_sets,
    unknown_rules_are_refused,
    a_lower_threshold_finds_more,
    a_weight_of_k_is_k_copies_of_a_set,
    rows_of_no_weight_might_as_well_not_be_there,
    jobs_pickles_and_chunks_change_nothing_in_sets,
    a_model_may_be_fitted_again_on_the_other_kind,
]

ON_SEVERAL_PROBABILITIES: list[Callable[[BaseEstimator], None]] = [
    probabilities_of_nodes_are_coherent_in_dags,
    nodes_without_positives_are_never_predicted,
    top_k_are_the_most_probable_labels_of_a_set,
]
