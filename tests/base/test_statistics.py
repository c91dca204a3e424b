"""Laws of ClassStatistics: merging, weights, sparsity, chunks, the tree."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from palmette.base import _class_moments as class_moments
from palmette.base._fitting import Threads
from palmette.base._statistics import ClassStatistics
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

MOMENTS = ("mean", "diagonal", "scatter", "pooled")
unhurried = settings(deadline=None)


def naive(X, codes, n_classes, weights=None, moments="mean"):
    """Return the statistics as their definitions say, class by class."""
    X, codes = np.asarray(X, dtype=float), np.asarray(codes)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    n_features = X.shape[1]
    weight, total = np.zeros(n_classes), np.zeros((n_classes, n_features))
    full = np.zeros((n_classes, n_features, n_features))
    for c in range(n_classes):
        own, w = X[codes == c], weights[codes == c]
        weight[c], total[c] = w.sum(), w @ own
        if w.sum() > 0:
            deviation = own - (w @ own) / w.sum()
            full[c] = (deviation.T * w) @ deviation
    scatter = {
        "mean": None,
        "diagonal": np.einsum("cii->ci", full),
        "scatter": full,
        "pooled": full.sum(axis=0),
    }[moments]
    return ClassStatistics(weight, total, moments, scatter)


def to_dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def assert_same(a, b, rtol=1e-9, atol=1e-9):
    assert (a.n_classes, a.n_features, a.moments) == (b.n_classes, b.n_features, b.moments)
    np.testing.assert_allclose(a.weight, b.weight, rtol=rtol, atol=atol)
    np.testing.assert_allclose(to_dense(a.sum), to_dense(b.sum), rtol=rtol, atol=atol)
    if a.moments != "mean":
        np.testing.assert_allclose(to_dense(a.scatter), to_dense(b.scatter), rtol=rtol, atol=atol)


@st.composite
def tables(draw):
    """Draw X with many zeros, codes, n_classes, weights (some zero), moments and a random state."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(0, 25)), draw(st.integers(1, 4))
    n_classes = draw(st.integers(1, 6))
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    codes = rng.integers(0, n_classes, n_rows)
    weights = rng.integers(0, 4, n_rows) * draw(st.sampled_from([1.0, 0.37]))
    return X, codes, n_classes, weights, draw(st.sampled_from(MOMENTS)), rng


@unhurried
@given(tables())
def test_gather_is_the_definition(table):
    X, codes, n_classes, weights, moments, _ = table
    got = ClassStatistics.gather(X, codes, n_classes, weights, moments)
    assert_same(got, naive(X, codes, n_classes, weights, moments))


@unhurried
@given(tables())
def test_blocks_of_any_size_change_nothing(table):
    X, codes, n_classes, weights, moments, _ = table
    whole = ClassStatistics.gather(X, codes, n_classes, weights, moments)
    h = Hierarchy.star(range(n_classes))
    size = class_moments._BLOCK
    try:
        class_moments._BLOCK = 3
        assert_same(ClassStatistics.gather(X, codes, n_classes, weights, moments), whole)
        if moments != "pooled":
            small = whole.rollup(h, h.leaves)
            class_moments._BLOCK = size
            assert_same(small, whole.rollup(h, h.leaves))
    finally:
        class_moments._BLOCK = size


@pytest.mark.parametrize("n_parts", [1, 3, 50])
def test_threads_that_share_sparse_rows_change_no_bit(n_parts, monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 9), density=0.3, format="csr", random_state=rng)
    codes, weights = rng.integers(0, 7, 60) * 2, rng.random(60)  # some classes have no rows
    alone = ClassStatistics.gather(X, codes, 14, weights)
    monkeypatch.setattr(class_moments, "_BLOCK", 1)
    monkeypatch.setattr(class_moments, "_PARTS", n_parts)
    with Threads(2) as threads:
        shared = ClassStatistics.gather(X, codes, 14, weights, run=threads.map)
    assert shared.sum.shape == alone.sum.shape
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(shared.sum, name), getattr(alone.sum, name))


@unhurried
@given(tables())
def test_statistics_of_parts_add_up_to_those_of_the_whole(table):
    X, codes, n_classes, weights, moments, rng = table
    side = rng.random(len(X)) < 0.5
    a = ClassStatistics.gather(X[side], codes[side], n_classes, weights[side], moments)
    b = ClassStatistics.gather(X[~side], codes[~side], n_classes, weights[~side], moments)
    whole = ClassStatistics.gather(X, codes, n_classes, weights, moments)
    assert_same(a + b, whole)
    assert_same(b + a, whole)


@unhurried
@given(tables(), st.integers(1, 7))
def test_chunked_equals_whole(table, size):
    X, codes, n_classes, weights, moments, _ = table
    starts = range(0, max(len(X), 1), size)
    chunks = ((X[i : i + size], codes[i : i + size], weights[i : i + size]) for i in starts)
    got = ClassStatistics.gather_chunks(chunks, n_classes, moments)
    assert_same(got, ClassStatistics.gather(X, codes, n_classes, weights, moments))


@unhurried
@given(tables())
def test_a_row_of_weight_k_counts_as_k_copies(table):
    X, codes, n_classes, _, moments, rng = table
    copies = rng.integers(0, 4, len(X))
    weighted = ClassStatistics.gather(X, codes, n_classes, copies, moments)
    repeated = ClassStatistics.gather(
        np.repeat(X, copies, axis=0), np.repeat(codes, copies), n_classes, moments=moments
    )
    assert_same(weighted, repeated)


@unhurried
@given(tables())
def test_sparse_equals_dense_in_every_operation(table):
    X, codes, n_classes, weights, moments, rng = table
    a = ClassStatistics.gather(X, codes, n_classes, weights, moments)
    b = ClassStatistics.gather(sparse.csr_array(X), codes, n_classes, weights, moments)
    assert sparse.issparse(b.sum)
    assert_same(b, a)
    assert_same(b + b, a + a)
    assert_same(a + b, a + a)
    np.testing.assert_allclose(to_dense(b.mean), a.mean, atol=1e-12)
    np.testing.assert_allclose(b.gram(of="sum"), a.gram(of="sum"), atol=1e-9)
    assert_same(b.total(), a.total())
    if moments != "pooled":
        groups = rng.integers(0, 2, (3, n_classes))
        assert_same(b.combine(groups), a.combine(sparse.csr_array(groups)))
        assert_same(b.select([0, 0]), a.select([0, 0]))


@unhurried
@given(tables())
def test_scatter_holds_all_other_moments(table):
    X, codes, n_classes, weights, _, _ = table
    full = ClassStatistics.gather(X, codes, n_classes, weights, "scatter")
    for moments in MOMENTS:
        direct = ClassStatistics.gather(X, codes, n_classes, weights, moments)
        assert_same(full.reduce(moments), direct)


def leaf_rows(h, nodes, leaf_of):
    return {node: np.flatnonzero(np.isin(leaf_of, h.descendants(node, True))) for node in nodes}


@pytest.mark.parametrize("moments", ["mean", "diagonal", "scatter"])
@pytest.mark.parametrize("as_sparse", [False, True])
@settings(unhurried, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), is_tree=st.booleans(), n_nodes=st.integers(1, 12))
def test_rollup_equals_computing_at_the_node(moments, as_sparse, seed, is_tree, n_nodes):
    rng = np.random.default_rng(seed)
    edges = [(int(rng.integers(0, child)), child) for child in range(1, n_nodes)]
    if not is_tree:
        edges += [(int(rng.integers(0, child)), child) for child in range(2, n_nodes)]
    h = Hierarchy.from_edges(edges) if edges else Hierarchy.star([])
    X = rng.normal(size=(30, 3)) * (rng.random((30, 3)) < 0.7)
    nodes = rng.integers(0, h.n_nodes, 30)
    weights = rng.random(30)
    rows = sparse.csr_array(X) if as_sparse else X
    stats = ClassStatistics.gather(rows, nodes, h.n_nodes, weights, moments)
    rolled = stats.rollup(h)
    for node, own in leaf_rows(h, range(h.n_nodes), nodes).items():
        direct = ClassStatistics.gather(
            X[own], np.zeros(len(own), int), 1, weights[own], moments=moments
        )
        assert_same(rolled.select([node]), direct)


def test_rollup_counts_a_shared_descendant_of_a_dag_once():
    diamond = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])
    codes = [diamond.index("x"), diamond.index("x")]
    rolled = ClassStatistics.gather([[1.0], [3.0]], codes, 4, moments="diagonal").rollup(diamond)
    assert rolled.weight.tolist() == [2, 2, 2, 2]
    assert rolled.scatter.ravel().tolist() == [2, 2, 2, 2]


def test_rollup_of_leaves_worked_by_hand():
    h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    stats = ClassStatistics.gather([[0.0], [2.0], [10.0]], [0, 1, 2], 3, moments="scatter")
    rolled = stats.rollup(h, h.leaves)
    assert rolled.weight.tolist() == [3, 2, 1, 1, 1]
    assert rolled.mean.ravel().tolist() == [4, 1, 0, 2, 10]
    # about 4: 16 + 4 + 36; about 1: 1 + 1
    assert rolled.scatter.ravel().tolist() == [56, 2, 0, 0, 0]


def test_pooled_scatter_of_merged_classes_is_that_of_the_merged_codes():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
    stats = ClassStatistics.gather(X, codes, 4, moments="pooled")
    merged = stats.combine([[1, 0, 1, 0], [0, 1, 0, 1]])
    assert_same(merged, ClassStatistics.gather(X, codes % 2, 2, moments="pooled"))
    with pytest.raises(PalmetteError, match="overlap"):
        stats.rollup(Hierarchy.star("abcd"), [1, 2, 3, 4])
    with pytest.raises(PalmetteError, match="separated into classes"):
        stats.select([0])


@pytest.mark.parametrize("moments", ["diagonal", "scatter", "pooled"])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_large_offset_loses_no_digits(moments, as_sparse):
    """At an offset of 1e8 a sum of squares has none left: the spread is 1 beside 1e16."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (600, 2)) + 1e8
    codes = rng.integers(0, 3, 600)
    rows = sparse.csr_array(X) if as_sparse else X
    weights = rng.random(600) + 0.5
    near = ClassStatistics.gather(X - 1e8, codes, 3, weights, moments)
    whole = ClassStatistics.gather(rows, codes, 3, weights, moments)
    parts = ClassStatistics.gather_chunks(
        ((rows[i : i + 60], codes[i : i + 60], weights[i : i + 60]) for i in range(0, 600, 60)),
        3,
        moments,
    )
    for far in (whole, parts, whole.combine(np.eye(3))):
        np.testing.assert_allclose(to_dense(far.scatter), near.scatter, rtol=1e-7, atol=1e-5)


def test_rollup_at_a_large_offset_equals_the_direct_scatter():
    h = Hierarchy.from_paths([(i // 3, i) for i in range(9)])
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 9, 500)
    X = rng.integers(-3, 4, (500, 2)) + codes[:, None] + 1e8
    rolled = ClassStatistics.gather(X, codes, 9, moments="diagonal").rollup(h, h.leaves)
    near = ClassStatistics.gather(X - 1e8, np.zeros(500, int), 1, moments="diagonal")
    np.testing.assert_allclose(rolled.scatter[0], near.scatter[0], rtol=1e-7)


def test_sums_of_integers_are_exact():
    rng = np.random.default_rng(2)
    X, codes = rng.integers(-(2**40), 2**40, (500, 2)), rng.integers(0, 5, 500)
    got = ClassStatistics.gather(X, codes, 5).sum
    for c in range(5):
        assert [Fraction(v) for v in got[c]] == [sum(map(int, X[codes == c, j])) for j in (0, 1)]


def test_gram_is_the_product_of_means_or_sums():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [4.0, 4.0]])
    stats = ClassStatistics.gather(X, [0, 0, 1], 2)
    assert stats.gram(of="sum").tolist() == [[5, 12], [12, 32]]
    assert stats.gram().tolist() == [[1.25, 6], [6, 32]]
    assert stats.gram([1]).tolist() == [[32]]


@pytest.mark.parametrize("moments", ["diagonal", "scatter", "pooled"])
def test_covariance_agrees_with_numpy(moments):
    X = np.random.default_rng(3).normal(size=(50, 3))
    stats = ClassStatistics.gather(X, np.zeros(50, int), 1, moments=moments)
    expected = np.cov(X.T, bias=True)
    got = {"diagonal": np.diag(expected), "scatter": expected, "pooled": expected}[moments]
    np.testing.assert_allclose(np.squeeze(stats.covariance), got)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sparse.csc_matrix])
def test_any_type_and_layout_of_x_gives_float64(dtype, layout):
    X = (np.arange(12).reshape(6, 2) % 3).astype(dtype)
    stats = ClassStatistics.gather(layout(X), [0, 1, 0, 1, 0, 1], 2, moments="diagonal")
    assert stats.sum.dtype == np.float64
    assert_same(stats, naive(X, [0, 1, 0, 1, 0, 1], 2, moments="diagonal"))


def test_duplicate_entries_of_a_sparse_matrix_are_summed_and_x_is_left_alone():
    X = sparse.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    stats = ClassStatistics.gather(X, [0], 1, moments="diagonal")
    assert stats.sum.toarray().tolist() == [[3, 0]]
    assert stats.scatter.toarray().tolist() == [[0, 0]]
    assert X.nnz == 2


@pytest.mark.parametrize("as_sparse", [False, True])
def test_statistics_cannot_be_changed_but_travel(as_sparse):
    X = np.array([[1.0, 0.0], [3.0, 1.0]])
    rows = sparse.csr_array(X) if as_sparse else X
    stats = ClassStatistics.gather(rows, [0, 1], 2, moments="diagonal")
    data = stats.sum.data if as_sparse else stats.sum
    with pytest.raises(ValueError, match="read-only"):
        data[...] = 0
    with pytest.raises(AttributeError):
        stats.weight = X
    for twin in (pickle.loads(pickle.dumps(stats)), copy.deepcopy(stats)):
        assert_same(twin, stats)
    assert repr(stats) == "ClassStatistics(n_classes=2, n_features=2, weight=2, moments='diagonal')"


def test_building_leaves_the_given_arrays_writable():
    total = sparse.csr_array(np.eye(2))
    weight = np.ones(2)
    ClassStatistics(weight, total)
    total.data[:] = 2.0
    weight[:] = 2.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"X": [1.0], "codes": [0]}, PalmetteError, r"X of shape \(1,\)"),
        ({"codes": [0]}, LabelError, r"shape \(1,\).*one integer per row \(2\)"),
        ({"codes": [0.5, 1]}, LabelError, "type float64"),
        ({"codes": [0, 2]}, LabelError, "from 0 to 2: expected 0 to 1"),
        ({"codes": [-1, 1]}, LabelError, "from -1 to 1"),
        ({"sample_weight": [1.0]}, PalmetteError, r"sample_weight of shape \(1,\)"),
        ({"sample_weight": [1.0, -1.0]}, PalmetteError, "negative"),
        ({"moments": "all"}, PalmetteError, "moments='all': expected one of 'mean'"),
    ],
)
def test_gather_says_what_is_wrong(arguments, error, message):
    with pytest.raises(error, match=message):
        ClassStatistics.gather(**{"X": [[1.0], [2.0]], "codes": [0, 1], "n_classes": 2} | arguments)


def test_operations_say_what_is_wrong():
    mean = ClassStatistics.gather([[1.0], [2.0]], [0, 1], 2)
    diagonal = ClassStatistics.gather([[1.0], [2.0]], [0, 1], 2, moments="diagonal")
    with pytest.raises(PalmetteError, match="equal moments"):
        mean + diagonal
    with pytest.raises(TypeError):
        mean + 1
    with pytest.raises(PalmetteError, match="has no scatter"):
        _ = mean.covariance
    with pytest.raises(PalmetteError, match="does not include 'scatter'"):
        diagonal.reduce("scatter")
    with pytest.raises(PalmetteError, match="2 classes and 4 nodes"):
        mean.rollup(Hierarchy.star("abc"))
    with pytest.raises(PalmetteError, match=r"expected \(n_groups, 2\)"):
        mean.combine([[1, 0, 0]])
    with pytest.raises(PalmetteError, match="of='row'"):
        mean.gram(of="row")
    with pytest.raises(PalmetteError, match="no chunks"):
        ClassStatistics.gather_chunks([], 2)
    with pytest.raises(PalmetteError, match="for moments='diagonal' and this sum, expected"):
        ClassStatistics(np.ones(2), np.ones((2, 3)), "diagonal", np.ones((2, 2)))
