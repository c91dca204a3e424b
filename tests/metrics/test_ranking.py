"""Measures of the k best labels: against literal versions, napkinXC, and laws of their input."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from palmette import Hierarchy, metrics
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.metrics import (
    _ranked,
    _ranking,
    f1_at_k,
    hierarchical_precision_recall_fscore,
    hierarchical_precision_recall_fscore_at_k,
    label_coverage_at_k,
    label_propensities,
    ndcg_at_k,
    precision_at_k,
    propensity_scored_ndcg_at_k,
    propensity_scored_precision_at_k,
    recall_at_k,
)

KS = [1, 2, 3, 5, 9]
PLAIN = [precision_at_k, recall_at_k, f1_at_k, ndcg_at_k, label_coverage_at_k]
SCORED = [propensity_scored_precision_at_k, propensity_scored_ndcg_at_k]


# ---------------------------------------------------------------------- literal versions


def slow_ranking(scores) -> list[list[int]]:
    """Rank the columns of a dense matrix, or the stored ones of a sparse one."""
    rows = []
    for i in range(scores.shape[0]):
        if sparse.issparse(scores):
            row = scores[[i]].tocoo()
            cells = dict(zip(row.col.tolist(), row.data.tolist(), strict=True))
        else:
            cells = dict(enumerate(scores[i].tolist()))
        rows.append(sorted(cells, key=lambda column: (-cells[column], column)))
    return rows


def slow(measure, true, rankings, k, weight=None, propensities=None):
    """Compute a measure row by row from sets and lists."""
    weight = np.ones(len(true)) if weight is None else weight
    n, values, best = range(len(true)), [], []
    for t, ranking in zip(true, rankings, strict=True):
        top = ranking[:k]
        hits = [label in t for label in top]
        ideal = sum(1 / log2(r + 2) for r in range(min(k, len(t))))
        if measure is precision_at_k:
            values.append(sum(hits) / k)
        elif measure is recall_at_k:
            values.append(sum(hits) / len(t) if t else 0.0)
        elif measure is f1_at_k:
            values.append(2 * sum(hits) / (len(top) + len(t)) if top or t else 0.0)
        elif measure is ndcg_at_k:
            gain = sum(hit / log2(r + 2) for r, hit in enumerate(hits))
            values.append(gain / ideal if t else 0.0)
        elif measure in SCORED:
            gains = [hit / propensities[label] for label, hit in zip(top, hits, strict=True)]
            most = sorted((1 / propensities[label] for label in t), reverse=True)[:k]
            if measure is propensity_scored_ndcg_at_k:
                gains, most = (
                    [g / log2(r + 2) / ideal for r, g in enumerate(each)] if t else []
                    for each in (gains, most)
                )
            values.append(sum(gains))
            best.append(sum(most))
    if measure is label_coverage_at_k:
        found = {label for i in n for label in rankings[i][:k] if label in true[i]}
        every = set().union(*true)
        return len(found) / len(every) if every else 0.0
    if measure in SCORED:
        total = sum(w * b for w, b in zip(weight, best, strict=True))
        return sum(w * v for w, v in zip(weight, values, strict=True)) / total if total else 0.0
    return sum(w * v for w, v in zip(weight, values, strict=True)) / sum(weight)


@st.composite
def problems(draw):
    """A truth and scores with many ties; some rows without labels."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    true = rng.random((n, m)) < draw(st.sampled_from([0.0, 0.2, 0.5]))
    scores = rng.integers(-3, 4, size=(n, m)) / 4
    kept = rng.random((n, m)) < draw(st.sampled_from([0.3, 0.8, 1.0]))
    rows, columns = np.nonzero(kept)
    stored = sparse.csr_array((scores[kept], (rows, columns)), shape=(n, m))  # zeros are stored
    return true, scores, stored, rng.random(n) + 0.1, rng.random(m) * 0.9 + 0.1


def sets_of(true) -> list[set[int]]:
    return [set(np.flatnonzero(row).tolist()) for row in np.asarray(true)]


@given(problems())
def test_equal_to_literal_versions(problem):
    true, scores, stored, weight, propensities = problem
    for each in (scores, stored):
        rankings = slow_ranking(each)
        for measure in (*PLAIN, *SCORED):
            more = {"propensities": propensities} if measure in SCORED else {}
            weighted = {} if measure is label_coverage_at_k else {"sample_weight": weight}
            found = measure(true, each, k=KS, **more, **weighted)
            w = weight if weighted else None
            wanted = [slow(measure, sets_of(true), rankings, k, w, propensities) for k in KS]
            np.testing.assert_allclose(found, wanted, atol=1e-13, err_msg=measure.__name__)


@settings(max_examples=15, deadline=None)
@given(problems())
def test_propensity_of_the_plain_measures_is_the_scored_measure(problem):
    true, scores, stored, weight, propensities = problem
    for plain, scored in zip((precision_at_k, ndcg_at_k), SCORED, strict=True):
        for each in (scores, stored, slow_ranking(scores)):
            same = {"k": KS, "sample_weight": weight}
            np.testing.assert_array_equal(
                plain(true, each, propensity=propensities, **same),
                scored(true, each, propensities=propensities, **same),
            )
            np.testing.assert_array_equal(
                plain(true, each, propensity=True, **same),
                scored(true, each, propensities=label_propensities(true), **same),
            )
            np.testing.assert_array_equal(
                plain(true, each, propensity=False, **same), plain(true, each, **same)
            )


def test_propensity_of_sets_and_names():
    sets, rankings = [{"a", "b"}, {"b"}, {"b"}, {"b"}], [["a"], ["a", "b"], ["b"], ["c", "b"]]
    scored = propensity_scored_ndcg_at_k(
        sets, rankings, k=2, propensities=label_propensities(sets, labels=["c"])
    )
    assert ndcg_at_k(sets, rankings, k=2, propensity=True) == scored
    with pytest.raises(LabelError, match="for 2 labels"):
        propensity_scored_ndcg_at_k(sets[:1], rankings[:1], propensities=False)


@settings(max_examples=15, deadline=None)
@given(problems())
def test_every_form_of_input_gives_the_same(problem):
    true, scores, stored, _, propensities = problem
    names = [f"label {i}" for i in range(true.shape[1])]
    truths = {
        "dense": true.astype(int),
        "sparse": sparse.csr_matrix(true),
        "columns": sparse.csc_array(true.astype(float)),
        "sets": sets_of(true),
        "lists": [sorted(row, reverse=True) for row in sets_of(true)],
    }
    for each in (scores, stored):
        rankings = slow_ranking(each)
        for measure in (*PLAIN, *SCORED):
            more = {"propensities": propensities} if measure in SCORED else {}
            wanted = measure(true, each, k=KS, **more)
            for form, y in truths.items():
                found = measure(y, each, k=KS, **more)
                np.testing.assert_array_equal(found, wanted, err_msg=form)
                if form in ("dense", "sparse"):
                    found = measure(y, rankings, k=KS, **more)
                    np.testing.assert_array_equal(found, wanted, err_msg=form)
            named = [{names[i] for i in row} for row in sets_of(true)]
            ranked = [[names[i] for i in row] for row in rankings]
            by_name = dict(zip(names, propensities, strict=True))
            more = {"propensities": by_name} if measure in SCORED else {}
            np.testing.assert_array_equal(measure(named, ranked, k=KS, **more), wanted)
            found = measure(named, each, k=KS, labels=names, **more)
            np.testing.assert_array_equal(found, wanted)
            found = measure(true, ranked, k=KS, labels=np.array(names), **more)
            np.testing.assert_array_equal(found, wanted)


@settings(max_examples=15, deadline=None)
@given(problems(), st.integers(1, 20))
def test_chunks_change_nothing(problem, cells):
    true, scores, stored, weight, propensities = problem
    h = Hierarchy.star(range(true.shape[1]))

    def everything():
        found = []
        for each in (scores, stored):
            for measure in PLAIN[:-1]:
                found.append(measure(true, each, k=KS, sample_weight=weight))
            for measure in SCORED:
                found.append(measure(true, each, k=KS, propensities=propensities))
            found.append(label_coverage_at_k(true, each, k=KS))
            found += hierarchical_precision_recall_fscore_at_k(true, each, hierarchy=h, k=KS)
        return np.array(found)

    whole = everything()
    before = _ranked._CELLS_AT_ONCE, _ranking._CELLS_AT_ONCE
    try:
        _ranked._CELLS_AT_ONCE = _ranking._CELLS_AT_ONCE = cells
        np.testing.assert_array_equal(everything(), whole)
    finally:
        _ranked._CELLS_AT_ONCE, _ranking._CELLS_AT_ONCE = before


def test_several_k_are_those_of_each():
    rng = np.random.default_rng(0)
    true, scores = rng.random((9, 7)) < 0.3, rng.random((9, 7))
    for measure in PLAIN:
        together = measure(true, scores, k=(1, 3, 20))
        apart = [measure(true, scores, k=k) for k in (1, 3, 20)]
        assert all(isinstance(value, float) for value in apart)
        np.testing.assert_array_equal(together, apart)


def test_duplicate_and_unsorted_entries_of_sparse_matrices():
    data, rows, columns = [0.25, 0.5, 0.5, 0.8], [0, 0, 0, 0], [2, 2, 0, 1]
    once = sparse.csr_array(sparse.coo_array((data, (rows, columns)), shape=(1, 3)))
    odd = sparse.csr_array((np.array([0.5, 0.25, 0.8, 0.5]), [2, 2, 1, 0], [0, 4]), shape=(1, 3))
    before = odd.indices.copy()
    true = np.array([[0, 0, 1]])
    assert ndcg_at_k(true, odd, k=2) == ndcg_at_k(true, once, k=2) == pytest.approx(1 / log2(3))
    np.testing.assert_array_equal(odd.indices, before)


def test_ties_go_to_the_earlier_label():
    scores = np.zeros((1, 1000))
    for column in (0, 2, 3):
        true = np.zeros((1, 1000), dtype=int)
        true[0, column] = 1
        for each in (scores, scores + 1.0, scores.astype(int), scores.astype(bool)):
            assert precision_at_k(true, each, k=3) == pytest.approx((column < 3) / 3)
    stored = sparse.csr_array((np.ones(3), ([0, 0, 0], [7, 3, 5])), shape=(1, 9))
    true = np.zeros((1, 9), dtype=int)
    true[0, [3, 5]] = 1
    assert precision_at_k(true, stored, k=[1, 2, 3]).tolist() == [1.0, 1.0, 2 / 3]


def test_negative_scores_and_infinities_are_ranked():
    scores = np.array([[-3.0, -1.0, -np.inf, np.inf]])
    true = np.array([[0, 1, 1, 0]])
    assert recall_at_k(true, scores, k=[1, 2, 3, 4]).tolist() == [0.0, 0.5, 0.5, 1.0]
    stored = sparse.csr_array(np.array([[-3.0, -1.0, 0.0, 0.0]]))
    assert recall_at_k(true, stored, k=[1, 4]).tolist() == [0.5, 0.5]  # the third is not stored


def test_sparse_input_is_never_made_dense():
    """A million labels x 20,000 rows would be 20 GB."""
    rng = np.random.default_rng(0)
    n, m, per_row = 20_000, 1_000_000, 5
    columns = rng.integers(0, m, size=n * per_row)
    indptr = np.arange(0, n * per_row + 1, per_row)
    scores = sparse.csr_array((rng.random(n * per_row), columns, indptr), shape=(n, m))
    true = sparse.csr_array((np.ones(n * per_row), columns, indptr), shape=(n, m))
    true.sum_duplicates()
    true.data[:] = 1
    assert precision_at_k(true, scores, k=1) == 1.0
    assert ndcg_at_k(true, scores) > 0.999
    propensities = label_propensities(true)
    assert propensity_scored_precision_at_k(
        true, scores, propensities=propensities
    ) == pytest.approx(1.0)
    assert label_coverage_at_k(true, scores) == 1.0


def test_rows_without_labels():
    true, scores = np.array([[0, 0], [1, 0]]), np.array([[0.1, 0.2], [0.3, 0.1]])
    assert recall_at_k(true, scores, k=1) == ndcg_at_k(true, scores, k=1) == 0.5
    assert recall_at_k(true, scores, k=1, zero_division=1.0) == 1.0
    assert ndcg_at_k(true, scores, k=1, zero_division=1.0) == 1.0
    assert f1_at_k([set()], [[]], k=1) == 0.0
    none = np.zeros((2, 2))
    assert propensity_scored_precision_at_k(none, scores, propensities=[1, 1]) == 0.0
    assert label_coverage_at_k(none, scores) == 0.0


def test_labels_that_one_side_lacks():
    assert precision_at_k([{"a"}], [["b", "a"]], k=[1, 2]).tolist() == [0.0, 0.5]
    # a true label without a column counts in recall; a ranked one without one is wrong
    assert recall_at_k([{"a", "z"}], np.array([[0.9, 0.1]]), labels=["a", "b"], k=1) == 0.5
    assert precision_at_k(np.array([[1, 0]]), [["z", "a"]], labels=["a", "b"], k=2) == 0.5


# ---------------------------------------------------------------------- propensities


def test_propensities_by_hand():
    y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0]])
    scale = (np.log(4) - 1) * 2.5**0.55
    wanted = [1 / (1 + scale * (m + 1.5) ** -0.55) for m in (4, 1, 0)]
    np.testing.assert_allclose(label_propensities(y), wanted)
    np.testing.assert_allclose(label_propensities(sparse.csr_matrix(y)), wanted)
    sets = [{"a"}, {"a", "b"}, {"a"}, {"a"}]
    assert label_propensities(sets, labels=["c"]) == pytest.approx(
        dict(zip("abc", wanted, strict=True))
    )
    assert list(label_propensities(sets)) == ["a", "b"]
    other = (np.log(4) - 1) * 1.4**0.5
    assert label_propensities(y, A=0.5, B=0.4)[0] == pytest.approx(1 / (1 + other * 4.4**-0.5))
    assert (label_propensities(y[:2]) == 1).all()  # too few rows for the model


def test_equal_propensities_change_nothing_where_all_rows_have_many_labels():
    rng = np.random.default_rng(1)
    true, scores = np.zeros((30, 8), dtype=int), rng.random((30, 8))
    for row in true:
        row[rng.choice(8, 5, replace=False)] = 1
    same = {"propensities": np.full(8, 0.3), "k": [1, 3, 5]}
    np.testing.assert_allclose(
        propensity_scored_precision_at_k(true, scores, **same),
        precision_at_k(true, scores, k=[1, 3, 5]),
    )
    np.testing.assert_allclose(
        propensity_scored_ndcg_at_k(true, scores, **same), ndcg_at_k(true, scores, k=[1, 3, 5])
    )


# ---------------------------------------------------------------------- hierarchies


def slow_hierarchical(h, true, rankings, k, average, weight):
    rows = []
    for t, ranking in zip(true, rankings, strict=True):
        sides = [
            {int(a) for node in nodes for a in h.ancestors(node, include_self=True)} - {0}
            for nodes in (t, ranking[:k])
        ]
        rows.append([len(sides[0]), len(sides[1]), len(sides[0] & sides[1])])
    true_, pred, both = np.array(rows, dtype=float).T

    def share(a, b):
        return a / b if b else 0.0

    if average == "micro":
        t, p, b = (float(weight @ each) for each in (true_, pred, both))
        return share(b, p), share(b, t), share(2 * b, p + t)
    values = [
        [share(b, p), share(b, t), share(2 * b, p + t)]
        for t, p, b in zip(true_, pred, both, strict=True)
    ]
    return tuple(weight @ np.array(values) / weight.sum())


HIERARCHIES = [
    Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x", "z"), ("c",)]),
    Hierarchy.from_edges(
        [("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("b", "e"), ("r", "f")]
    ),
]


@pytest.mark.parametrize("h", HIERARCHIES, ids=["tree", "dag"])
@pytest.mark.parametrize("average", ["micro", "samples"])
def test_hierarchical_measures_equal_literal_versions(h, average):
    rng = np.random.default_rng(2)
    n, m = 25, h.n_nodes - 1
    true = rng.random((n, m)) < 0.3
    weight = rng.random(n)
    scores = rng.integers(0, 4, size=(n, m)) / 4
    stored = sparse.random_array((n, m), density=0.5, format="csr", random_state=rng)
    sets = [{node + 1 for node in row} for row in sets_of(true)]
    for each in (scores, stored):
        rankings = [[column + 1 for column in row] for row in slow_ranking(each)]
        found = hierarchical_precision_recall_fscore_at_k(
            true, each, hierarchy=h, k=KS, average=average, sample_weight=weight
        )
        for place, k in enumerate(KS):
            wanted = slow_hierarchical(h, sets, rankings, k, average, weight)
            np.testing.assert_allclose([side[place] for side in found], wanted)
        # the same with labels
        paths = h.path_strings.tolist()
        named = [{paths[node] for node in row} for row in sets]
        ranked = [[paths[node] for node in row] for row in rankings]
        for y, s, labels in (
            (named, ranked, None),
            (named, each, None),
            (true, ranked, None),
            (named, each, paths[1:]),
            (true, each, paths[1:]),
        ):
            again = hierarchical_precision_recall_fscore_at_k(
                y, s, hierarchy=h, k=KS, average=average, sample_weight=weight, labels=labels
            )
            np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("h", HIERARCHIES, ids=["tree", "dag"])
def test_hierarchical_measures_at_k_are_those_of_the_sets(h):
    rng = np.random.default_rng(3)
    true, scores = rng.random((20, h.n_leaves)) < 0.5, rng.random((20, h.n_leaves))
    true[:, 0] |= ~true.any(axis=1)
    names = h.path_strings[h.leaves].tolist()
    for k in (1, 2, 3):
        best = [{names[c] for c in row[:k]} for row in slow_ranking(scores)]
        truth = [{names[c] for c in row} for row in sets_of(true)]
        for average in ("micro", "samples"):
            found = hierarchical_precision_recall_fscore_at_k(
                true, scores, hierarchy=h, k=k, average=average
            )
            wanted = hierarchical_precision_recall_fscore(truth, best, hierarchy=h, average=average)
            np.testing.assert_allclose(found, wanted)


def test_on_a_star_hierarchical_recall_is_recall():
    rng = np.random.default_rng(4)
    true, scores = rng.random((10, 6)) < 0.4, rng.random((10, 6))
    found = hierarchical_precision_recall_fscore_at_k(
        true, scores, hierarchy=Hierarchy.star("abcdef"), k=3, average="samples"
    )
    assert found[0] == pytest.approx(precision_at_k(true, scores, k=3))
    assert found[1] == pytest.approx(recall_at_k(true, scores, k=3))
    assert found[2] == pytest.approx(f1_at_k(true, scores, k=3))


def test_uris_are_labels():
    h = Hierarchy.from_edges([("http://x/1", "http://x/2"), ("http://x/1", "http://x/3")], "root")
    found = hierarchical_precision_recall_fscore_at_k(
        [{"http://x/2"}], [["http://x/3", "http://x/1"]], hierarchy=h, k=[1, 2]
    )
    np.testing.assert_array_equal(found[1], [0.5, 0.5])


# ---------------------------------------------------------------------- another library


def test_equal_to_napkinxc():
    theirs = pytest.importorskip("napkinxc.metrics")
    rng = np.random.default_rng(5)
    train = (rng.random((300, 40)) < rng.random(40) ** 3).astype(int)
    true = (rng.random((200, 40)) < rng.random(40) ** 3).astype(int)
    scores = rng.permuted(np.tile(np.linspace(0.01, 1, 40), (200, 1)), axis=1)  # no ties
    stored = sparse.csr_matrix(np.where(scores > 0.7, scores, 0.0))
    propensities = label_propensities(train)
    np.testing.assert_allclose(propensities, theirs.Jain_et_al_propensity(train), rtol=1e-13)
    inverse = 1 / propensities
    ks = [1, 2, 3, 4, 5, 6, 7]
    for each in (scores, stored, [row[:12] for row in slow_ranking(scores)]):
        pairs = [
            (precision_at_k, theirs.precision_at_k),
            (recall_at_k, theirs.recall_at_k),
            (ndcg_at_k, theirs.ndcg_at_k),
            (label_coverage_at_k, theirs.coverage_at_k),
        ]
        for ours, other in pairs:
            found = ours(true, each, k=ks)
            np.testing.assert_allclose(found, other(true, each, k=7), rtol=1e-12)
        found = propensity_scored_precision_at_k(true, each, k=ks, propensities=propensities)
        wanted = theirs.psprecision_at_k(true, each, inverse, k=7)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        found = propensity_scored_ndcg_at_k(true, each, k=ks, propensities=propensities)
        wanted = theirs.psndcg_at_k(true, each, inverse, k=7)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([{"a"}], [["a"]]), {"k": 0}, "k=0: expected an integer of at least 1"),
        (([{"a"}], [["a"]]), {"k": [1, 2.5]}, "expected an integer"),
        (([{"a"}], [["a"]]), {"k": []}, "expected an integer"),
        (([{"a"}], [["a"], ["b"]]), {}, "y_true has 1 rows and y_score 2"),
        (([], []), {}, "at least one"),
        (([{"a"}], ["a"]), {}, r"y_score\[0\] is 'a': expected a list of labels, the best first"),
        (([{"a"}], [{"a"}]), {}, "the best first"),  # a set has no order
        ((["a"], [["a"]]), {}, r"y_true\[0\] is 'a': expected a set or a list"),
        (([{"a"}], [["a", "b", "a"]]), {}, "ranks a label twice"),
        (([[["a"]]], [["a"]]), {}, "expected a set or a list of labels"),
        ((np.eye(2), np.eye(3)[:2]), {}, "2 and 3 columns"),
        ((np.eye(2) * 2, np.eye(2)), {}, "values other than 0 and 1"),
        ((np.eye(2), [["a"], ["b"]]), {}, "found the label 'a' beside a matrix of 2 columns"),
        ((np.eye(2), [[0], [2]]), {}, "found the label 2 beside a matrix of 2 columns"),
        (([{"a"}], np.ones((1, 2))), {}, "labels= naming the columns"),
        ((np.eye(2), np.eye(2)), {"labels": ["a"]}, "1 labels for 2 columns"),
        ((np.eye(2), np.eye(2)), {"labels": ["a", "a"]}, "a label twice"),
        ((np.eye(2), np.full((2, 2), np.nan)), {}, "NaN"),
        ((np.eye(2), sparse.csr_array([[np.nan, 1], [0, 1]])), {}, "NaN"),
        ((np.eye(2), np.array([["a", "b"]] * 2)), {}, "expected numbers of shape"),
        ((np.eye(2), np.eye(2)), {"sample_weight": [1]}, "sample_weight has shape"),
    ],
)
def test_errors(arguments, options, words):
    with pytest.raises(PalmetteError, match=words):
        precision_at_k(*arguments, **options)


def test_errors_of_propensities():
    scores = np.eye(2)
    for wrong, words in (
        ([0.5], "for 2 labels"),
        ([0.0, 1.0], "expected numbers above 0"),
        ([0.5, 1.5], "expected numbers above 0"),
        ({0: 0.5}, "no value for the label 1"),
    ):
        with pytest.raises(LabelError, match=words):
            propensity_scored_precision_at_k(scores, scores, propensities=wrong)
    with pytest.raises(PalmetteError, match="A=-1"):
        label_propensities(scores, A=-1)
    with pytest.raises(LabelError, match="y is empty"):
        label_propensities([])


def test_errors_of_hierarchical_measures():
    h = HIERARCHIES[0]
    with pytest.raises(LabelError, match="a matrix has 99 columns"):
        hierarchical_precision_recall_fscore_at_k(np.zeros((1, 99)), np.zeros((1, 99)), hierarchy=h)
    with pytest.raises(HierarchyError, match="'nothing' is not in the hierarchy"):
        hierarchical_precision_recall_fscore_at_k([{"nothing"}], [["a"]], hierarchy=h)
    with pytest.raises(PalmetteError, match="average='macro'"):
        hierarchical_precision_recall_fscore_at_k([{"a"}], [["a"]], hierarchy=h, average="macro")
    with pytest.raises(LabelError, match=r"y_true\[0\] is 'a'"):
        hierarchical_precision_recall_fscore_at_k(["a"], [["a"]], hierarchy=h)


def test_they_are_public():
    names = [each.__name__ for each in (*PLAIN, *SCORED, label_propensities)]
    assert {*names, "hierarchical_precision_recall_fscore_at_k"} <= set(metrics.__all__)
