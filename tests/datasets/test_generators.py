"""What `make_hierarchical_classification` promises, and that its truth is the truth."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm

from palmette.base._statistics import ClassStatistics
from palmette.datasets._generators import bayes_optimal_leaves, make_hierarchical_classification
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

UNEVEN = Hierarchy.from_paths(
    [("a", "b", "c"), ("a", "b", "d"), ("a", "e"), ("f",), ("g", "h"), ("g", "i")]
)
DIAMOND = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])


def make(n_samples=300, n_features=8, **options):
    return make_hierarchical_classification(
        n_samples, n_features, **{"random_state": 0, "y_form": "indices"} | options
    )


# ---------------------------------------------------------------------- hierarchy


def test_branching_gives_the_children_of_each_level():
    h = make(branching=(2, 3, 4)).hierarchy
    assert h.level_sizes.tolist() == [1, 2, 6, 24]
    assert h.path(h.leaves[-1]) == ("2", "2.3", "2.3.4")


@settings(max_examples=40, deadline=None)
@given(n_leaves=st.integers(1, 300), depth=st.integers(1, 5))
def test_n_leaves_are_spread_evenly_over_all_levels(n_leaves, depth):
    h = make(n_samples=0, n_leaves=n_leaves, depth=depth).hierarchy
    assert h.n_leaves == n_leaves
    assert set(h.depth[h.leaves].tolist()) == {depth}
    assert len(set(h.names.tolist())) == h.n_nodes
    n_children = np.bincount(h.parents[1:], minlength=h.n_nodes)
    for level in range(depth):
        assert np.ptp(n_children[h.depth == level]) <= 1


# ---------------------------------------------------------------------- labels


def test_equal_sizes_differ_by_one_row_at_most():
    counts = np.bincount(make(1000, branching=(7,)).y)[1:]
    assert set(counts.tolist()) == {142, 143}


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_imbalance_is_the_exponent_of_zipfs_law(exponent):
    data = make(10_000, branching=(5, 5), imbalance=exponent)
    counts = np.sort(np.bincount(data.y, minlength=31)[data.hierarchy.leaves])[::-1]
    expected = np.arange(1, 26.0) ** -exponent
    np.testing.assert_allclose(counts, 10_000 * expected / expected.sum(), atol=1)
    np.testing.assert_allclose(np.sort(data.prior)[::-1], expected / expected.sum())


@pytest.mark.parametrize("noise", ["uniform", "sibling"])
@pytest.mark.parametrize("h", [UNEVEN, Hierarchy.star("abc")])
def test_exactly_the_noisy_rows_have_a_wrong_leaf(h, noise):
    data = make(500, hierarchy=h, label_noise=0.3, noise=noise)
    assert data.is_noisy.sum() == 150
    assert ((data.y != data.y_clean) == data.is_noisy).all()
    assert h.is_leaf[data.y].all()
    assert (data.y_clean == data.sources[:, 0]).all()


def test_sibling_noise_stays_under_the_nearest_ancestor_with_another_leaf():
    data = make(2000, hierarchy=UNEVEN, label_noise=0.5, noise="sibling")
    wrong = {
        UNEVEN.path_strings[leaf]: sorted(set(UNEVEN.names[data.y[of_leaf & data.is_noisy]]))
        for leaf in UNEVEN.leaves
        for of_leaf in [data.y_clean == leaf]
    }
    assert wrong == {
        "a/b/c": ["d"],
        "a/b/d": ["c"],
        "a/e": ["c", "d"],
        "f": ["c", "d", "e", "h", "i"],
        "g/h": ["i"],
        "g/i": ["h"],
    }


def test_internal_labels_are_ancestors_below_the_root_of_rows_without_noise():
    data = make(600, hierarchy=UNEVEN, internal_labels=0.4, label_noise=0.2)
    internal = ~UNEVEN.is_leaf[data.y]
    assert internal.sum() == 240
    assert not (internal & data.is_noisy).any()
    assert (data.y > 0).all()
    above = UNEVEN.closure[data.sources[internal, 0]].toarray()
    assert above[np.arange(240), data.y[internal]].all()
    assert {"a", "b", "g"} == set(UNEVEN.names[data.y[internal]])


@pytest.mark.parametrize("imbalance", [0.0, 3.0])
@pytest.mark.parametrize("noise", ["uniform", "sibling"])
def test_further_labels_are_distinct_leaves(imbalance, noise):
    options = {"imbalance": imbalance, "noise": noise}
    data = make(400, hierarchy=UNEVEN, multi_path=2, label_noise=0.5, **options)
    for nodes in (data.sources, data.y):
        assert nodes.shape == (400, 3)
        assert (np.diff(np.sort(nodes, axis=1), axis=1) > 0).all()
    assert ((data.y != data.sources).sum(axis=1) == data.is_noisy).all()


@pytest.mark.parametrize(
    ("h", "multi_path", "y_form"),
    [
        *((UNEVEN, 0, form) for form in ("paths", "names", "sets", None)),
        *((DIAMOND, 0, form) for form in ("names", "sets", None)),
        *((h, 1, form) for h in (UNEVEN, DIAMOND) for form in ("sets", None)),
    ],
)
def test_all_forms_of_y_tell_the_same_nodes(h, multi_path, y_form):
    options = {"hierarchy": h, "multi_path": multi_path, "internal_labels": 0.2}
    nodes = make(50, **options).y.reshape(50, -1)
    y = make(50, **options, y_form=y_form).y
    encoded = NodeLabels.encode(y, h).given
    expected = [sorted(set(row)) for row in nodes.tolist()]
    assert [sorted(r.tolist()) for r in np.split(encoded.indices, encoded.indptr[1:-1])] == expected


def test_integer_names_stay_integers():
    h = Hierarchy.from_paths([(1, 10), (1, 11), (2, 20)])
    assert make(9, hierarchy=h, y_form="names").y.dtype.kind == "i"
    assert set(make(9, hierarchy=h, y_form="paths").y[:, 0].tolist()) == {1, 2}


# ---------------------------------------------------------------------- features


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("h", [UNEVEN, DIAMOND])
def test_class_averages_are_means_plus_background(as_sparse, h):
    data = make(60_000, 30, hierarchy=h, sparse=as_sparse, density=0.5)
    stats = ClassStatistics.gather(data.X, data.sources[:, 0], h.n_nodes, moments="diagonal")
    found, spread = stats.mean, stats.covariance
    means = data.means
    if as_sparse:
        found, spread, means = found.toarray(), spread.toarray(), means.toarray()
    expected = (means + data.background)[h.leaves]
    error = np.sqrt(spread[h.leaves] / stats.weight[h.leaves][:, None])
    assert (np.abs(found[h.leaves] - expected) < 5 * error).all()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_row_of_several_labels_averages_their_means(as_sparse):
    h = Hierarchy.star("ab")
    data = make(20_000, 20, hierarchy=h, multi_path=1, sparse=as_sparse, density=0.5)
    means = data.means.toarray() if as_sparse else data.means
    expected = means[1:].mean(axis=0) + data.background
    X = data.X.toarray() if as_sparse else data.X
    error = X.std(axis=0) / np.sqrt(len(X))
    assert (np.abs(X.mean(axis=0) - expected) < 5 * error).all()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_classes_differ_in_informative_features_only(as_sparse):
    data = make(10, 50, n_informative=5, sparse=as_sparse)
    means = data.means.toarray() if as_sparse else data.means
    assert len(data.informative) == 5
    assert set(np.flatnonzero(np.ptp(means, axis=0))) == set(data.informative.tolist())


def test_siblings_are_twice_class_sep_apart_and_less_so_further_down():
    data = make(0, 40, branching=(60, 60), class_sep=3.0, level_decay=0.5, n_informative=30)
    h, means = data.hierarchy, data.means
    tops = means[h.children(0)]
    leaves = means[h.children(h.children(0)[0])]
    for nodes, expected in ((tops, 6.0), (leaves, 3.0)):
        # the mean square distance of pairs is twice the total variance
        apart = np.sqrt(2 * nodes.var(axis=0, ddof=1).sum())
        assert apart == pytest.approx(expected, rel=0.08)


def test_the_mean_of_a_node_of_a_dag_starts_from_the_average_of_its_parents():
    data = make(0, 5, hierarchy=DIAMOND, level_decay=0.0)
    a, b, x, y = DIAMOND.index(["a", "b", "x", "y"])
    np.testing.assert_allclose(data.means[x], (data.means[a] + data.means[b]) / 2)
    np.testing.assert_allclose(data.means[y], data.means[b])


@pytest.mark.parametrize("class_sep", [0.5, 1.5])
def test_bayes_error_of_two_classes_is_that_of_the_normal_distribution(class_sep):
    data = make(40_000, 3, hierarchy=Hierarchy.star("ab"), class_sep=class_sep)
    right = (bayes_optimal_leaves(data) == data.sources[:, 0]).mean()
    expected = norm.cdf(np.linalg.norm(data.means[1] - data.means[2]) / 2)
    assert abs(right - expected) < 4 * np.sqrt(expected * (1 - expected) / 40_000)


def test_bayes_labels_use_the_prior_where_the_features_say_nothing():
    data = make(200, 4, branching=(2, 2), imbalance=2.0, missing=1.0)
    assert np.isnan(data.X).all()
    assert (bayes_optimal_leaves(data) == data.hierarchy.leaves[data.prior.argmax()]).all()


def test_bayes_labels_of_rows_with_gaps_use_the_features_that_are_left():
    whole = make(3000, 6, class_sep=3.0)
    gaps = make(3000, 6, class_sep=3.0, missing=0.3)
    assert abs(np.isnan(gaps.X).mean() - 0.3) < 0.02
    known = ~np.isnan(gaps.X)
    np.testing.assert_array_equal(gaps.X[known], whole.X[known])
    leaves = whole.hierarchy.leaves
    distance = ((np.nan_to_num(gaps.X)[:, None] - whole.means[leaves]) ** 2 * known[:, None]).sum(2)
    np.testing.assert_array_equal(bayes_optimal_leaves(gaps), leaves[distance.argmin(axis=1)])


def test_bayes_labels_of_words_are_the_multinomial_ones():
    data = make(400, 60, sparse=True, density=0.3, class_sep=0.5, imbalance=1.0)
    leaves = data.hierarchy.leaves
    rate = data.means[leaves].toarray() + data.background
    score = data.X.toarray() @ np.log(rate).T + np.log(data.prior)
    np.testing.assert_array_equal(bayes_optimal_leaves(data), leaves[score.argmax(axis=1)])
    uninformed = make(50, 60, sparse=True, class_sep=0.0, imbalance=1.0)
    assert set(bayes_optimal_leaves(uninformed)) == {leaves[data.prior.argmax()]}


def test_sparse_rows_hold_as_many_draws_as_the_density_says():
    X = make(100, 1000, sparse=True, density=0.05, dtype=np.float32).X
    assert isinstance(X, sparse.csr_array)
    assert X.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == np.int32  # as scikit-learn wants them
    assert X.has_canonical_format
    assert (X.sum(axis=1) == 50).all()


def test_sparse_data_never_take_dense_memory():
    tracemalloc.start()
    try:
        data = make(2000, 1_000_000, branching=(10, 10), sparse=True, density=2e-5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.X.shape == (2000, 1_000_000)
    assert peak < 60e6  # the means alone would take 888 MB if dense, X 16 GB


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_data_have_the_type_asked_for(dtype):
    assert make(5, dtype=dtype).X.dtype == dtype


# ---------------------------------------------------------------------- use


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_same_seed_gives_the_same_data(as_sparse):
    def parts(seed):
        data = make(50, label_noise=0.2, internal_labels=0.2, sparse=as_sparse, random_state=seed)
        return np.column_stack([data.X.toarray() if as_sparse else data.X, data.y])

    np.testing.assert_array_equal(parts(3), parts(3))
    np.testing.assert_array_equal(parts(np.random.default_rng(3)), parts(3))
    rng = np.random.RandomState(3)
    assert (parts(rng) != parts(rng)).any()
    assert (parts(3) != parts(4)).any()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_no_rows_and_one_leaf_are_fine(as_sparse):
    empty = make(0, sparse=as_sparse, y_form="names")
    assert (empty.X.shape, empty.y.shape) == ((0, 8), (0,))
    single = make(4, hierarchy=Hierarchy.star("a"), sparse=as_sparse)
    assert single.y.tolist() == [1, 1, 1, 1]


def test_truth_is_left_out_on_request():
    assert set(make(5, return_truth=False)) == {"X", "y", "hierarchy"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"branching": (2,), "n_leaves": 4}, "given twice"),
        ({"depth": 3}, "given twice or incompletely"),
        ({"branching": (2, 0)}, r"branching=\(2, 0\)"),
        ({"n_leaves": 0}, "n_leaves=0"),
        ({"n_informative": 9}, "n_informative=9: expected 1 to n_features=8"),
        ({"n_features": 0}, "n_features=0"),
        ({"label_noise": 1.5}, "label_noise=1.5: expected a share"),
        ({"label_noise": 0.6, "internal_labels": 0.6}, "at most 1 together"),
        ({"class_sep": -1.0}, "class_sep=-1.0"),
        ({"multi_path": 12}, "at least 13 leaves"),
        ({"noise": "any"}, "noise='any'"),
        ({"y_form": "lists"}, "y_form='lists': expected 'paths'"),
        ({"y_form": "paths", "multi_path": 1}, "one label per row: expected 'sets'"),
        ({"branching": (3,), "internal_labels": 0.1}, "needs 30 rows, but only 0 rows"),
        ({"sparse": True, "missing": 0.1}, "missing > 0 with sparse=True"),
        ({"dtype": np.int64}, "dtype=int64: expected float32"),
        ({"hierarchy": Hierarchy.star([])}, "no class below its root"),
    ],
)
def test_errors_say_what_came_and_what_was_expected(options, message):
    with pytest.raises(PalmetteError, match=message):
        make(**options)


def test_what_needs_a_tree_or_distinct_names_says_so():
    with pytest.raises(HierarchyError, match="noise='sibling'"):
        make(hierarchy=DIAMOND, label_noise=0.1, noise="sibling")
    with pytest.raises(HierarchyError, match="y_form='paths'"):
        make(hierarchy=DIAMOND, y_form="paths")
    with pytest.raises(LabelError, match="names occur twice"):
        make(hierarchy=Hierarchy.from_paths([("a", "x"), ("b", "x")]), y_form="names")
    with pytest.raises(PalmetteError, match="expected multi_path=0"):
        bayes_optimal_leaves(make(multi_path=1))
