"""Laws of weak learners: what they see, what they find, and that threads change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier
from tests.boosting import naive_class_trees as naive
from tests.strategies import quick

from palmette import weak
from palmette.base._fitting import Threads
from palmette.boosting import _class_trees as class_trees
from palmette.boosting._class_trees import StumpPerClass, TreePerClass, draw_features
from palmette.boosting._hypotheses import ColumnParents, Samples
from palmette.boosting._weak import (
    ColumnMask,
    GrownTree,
    SharedTree,
    TrainingRows,
    majority,
    regrow,
)
from palmette.boosting._weak_answers import CartPerClass, EstimatorPerClass, resolve_weak_learner
from palmette.exceptions import PalmetteError
from palmette.trees._binning import count_features
from palmette.trees._carts import CartSettings

N, D, M = 90, 6, 5

# columns 0 and 1 at the top, 2 below 0, 3 below both, 4 below 2
PARENTS = [[], [], [0], [0, 1], [2]]
LEVELS = [np.array(level, dtype=np.int32) for level in ([0, 1], [2, 3], [4])]


def mask(in_search, need_all=True):
    starts = np.cumsum([0, *map(len, PARENTS)]).astype(np.int64)
    flat = np.array([p for above in PARENTS for p in above], dtype=np.int32)
    return ColumnMask(ColumnParents(starts, flat, need_all), LEVELS, in_search)


def training_rows(seed=0, masked=None, n_threads=1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 10, size=(N, D)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = 255
    weights = rng.integers(1, 4, N).astype(np.float32)
    X = np.where(codes == 255, 12.0, codes)
    return TrainingRows(codes, np.full(D, 10), weights, X, masked, Threads(n_threads))


def signed_weights(seed=0):
    """Weights whose signs follow a feature for each column, more or less."""
    rng = np.random.default_rng(seed + 100)
    codes = training_rows(seed).codes
    signs = np.where((codes[:, :M] > 4) ^ (rng.random((N, M)) < 0.2), 1.0, -1.0)
    return signs * rng.random((N, M)) / (N * M)


LEARNERS = {
    "stump": StumpPerClass(),
    "stump on half": StumpPerClass(0.5),
    "tree": TreePerClass(3, max_features=None),
    "random tree": TreePerClass(4, max_features=3, thresholds="random"),
    "large leaves": TreePerClass(3, max_features=None, min_samples_leaf=8),
    "full tree": CartPerClass(),
    "weighted full tree": CartPerClass(3, max_features=None, resample=False),
    "shared": SharedTree(4),
    "shared best": SharedTree(3, thresholds="best", criterion="absolute"),
    "shared sketch": SharedTree(3, sketch=2),
    "forest": EstimatorPerClass(RandomForestClassifier(4, max_depth=3)),
    "bayes": EstimatorPerClass(GaussianNB()),
}
PER_COLUMN = [name for name, learner in LEARNERS.items() if learner.by_column]


def votes_of(grown, signed):
    """What a grown hypothesis says to the training rows: -1 and +1."""
    return grown.votes(grown.signs(*grown.sums(signed)))


def hypothesis_of(grown, signed):
    positive, negative = grown.sums(signed)
    signs = grown.signs(positive, negative)
    return grown.hypothesis(2.0 * signs, np.ones(N, dtype=np.float32), positive + negative)


# ---------------------------------------------------------------------- all of them


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_found_has_an_edge_on_every_column(name):
    signed = signed_weights()
    grown = LEARNERS[name].grow(training_rows(), signed, None, 3)
    said = votes_of(grown, signed)
    assert set(np.unique(said)) <= {-1.0, 1.0}
    edges = (signed * said).sum(axis=0)
    assert (edges > 0).all()
    if grown.sums(signed)[0].shape[1] > 3 and not isinstance(LEARNERS[name], EstimatorPerClass):
        assert (edges >= np.abs(signed.sum(axis=0)) - 1e-12).all()  # as good as a constant


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("masked", [None, "search", "literal"])
def test_threads_change_nothing(name, masked):
    if masked and name not in PER_COLUMN:
        return
    signed, found = signed_weights(), []
    for n_threads in (1, 3):
        own = None if masked is None else mask(masked == "search")
        rows = training_rows(masked=own, n_threads=n_threads)
        with rows.threads:
            grown = clone(LEARNERS[name]).grow(rows, signed, None, 3)
        found.append(hypothesis_of(grown, signed))
    samples, scores = Samples(training_rows().codes, training_rows().X), np.zeros((2, N, M))
    for hypothesis, each in zip(found, scores, strict=True):
        hypothesis.add_scores(samples, each)
    assert np.array_equal(*scores)
    if hasattr(found[0], "features"):
        assert np.array_equal(found[0].features, found[1].features)
        assert np.array_equal(found[0].cuts, found[1].cuts)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("masked", [None, "search", "literal"])
def test_prediction_puts_training_rows_where_growing_did(name, masked):
    if masked and name not in PER_COLUMN:
        return
    signed = signed_weights()
    rows = training_rows(masked=None if masked is None else mask(masked == "search", False))
    grown = LEARNERS[name].grow(rows, signed, None, 3)
    hypothesis = hypothesis_of(grown, signed)
    scores = np.zeros((N, M))
    samples = Samples(rows.codes, rows.X)
    hypothesis.add_scores(samples, scores)
    assert np.array_equal(scores, 2.0 * votes_of(grown, signed))
    again = regrow(hypothesis, samples)
    assert type(again) is type(grown)
    same = "leaf" if isinstance(grown, GrownTree) else "places"
    assert np.array_equal(getattr(again, same), getattr(grown, same))


@pytest.mark.parametrize("name", LEARNERS)
def test_only_chosen_rows_are_looked_at(name):
    """Rows that were not chosen may have any weight: the same splits are found."""
    learner, rows, signed = LEARNERS[name], training_rows(), signed_weights()
    if isinstance(learner, SharedTree) and learner.sketch == 2:
        return  # which labels are looked at is judged by all rows
    chosen = np.arange(0, N, 2, dtype=np.int32)
    other = signed.copy()
    other[1::2] *= -3.0
    found = [learner.grow(rows, each, chosen, 3) for each in (signed, other)]
    if isinstance(found[0], GrownTree):
        assert np.array_equal(found[0].leaf, found[1].leaf)
    elif isinstance(learner, EstimatorPerClass | CartPerClass):
        assert np.array_equal(found[0].places, found[1].places)
    else:
        for one, two in zip(found[0].made_of, found[1].made_of, strict=True):
            assert np.array_equal(one, two)
    everything = learner.grow(rows, other, None, 3)
    assert not np.array_equal(votes_of(everything, signed), votes_of(found[0], signed))


# ---------------------------------------------------------------------- masks


@pytest.mark.parametrize("need_all", [True, False])
@pytest.mark.parametrize("name", PER_COLUMN)
def test_the_literal_mask_is_put_on_what_is_found_without_it(name, need_all):
    signed, learner = signed_weights(), LEARNERS[name]
    free = learner.grow(training_rows(), signed, None, 3)
    masked = learner.grow(training_rows(masked=mask(False, need_all)), signed, None, 3)
    assert np.array_equal(free.signs_at, masked.signs_at)
    expected = naive.mask_places(free.places.astype(int), free.signs_at, PARENTS, need_all)
    assert np.array_equal(masked.places, expected)


@pytest.mark.parametrize("need_all", [True, False])
@pytest.mark.parametrize("name", PER_COLUMN)
def test_the_search_mask_looks_at_rows_that_parentslet_through(name, need_all):
    """The same as learning each column by itself, from the rows that its parents say +1 to."""
    signed, learner = signed_weights(), LEARNERS[name]
    grown = learner.grow(training_rows(masked=mask(True, need_all)), signed, None, 3)
    said = votes_of(grown, signed)
    for column, above in enumerate(PARENTS):
        through = np.ones(N, dtype=bool)
        if above:
            agree = said[:, above] > 0
            through = agree.all(axis=1) if need_all else agree.any(axis=1)
        assert np.array_equal(grown.places[:, column] == 0, ~through)
        assert (said[~through, column] == -1).all()
        inside = signed[:, column] * through
        assert (inside * said[:, column]).sum() >= -1e-12
        if name == "stump":
            codes = training_rows().codes[through]
            feature, cut, _ = naive.best_stumps(codes.T, signed[through][:, [column]], range(D))
            assert grown.made_of[0][column, 1] == feature[0]
            assert feature[0] < 0 or grown.made_of[1][column, 1] == cut[0]


def test_a_column_that_no_row_islet_through_to_says_no():
    signed = -np.abs(signed_weights())
    for name in PER_COLUMN:
        grown = LEARNERS[name].grow(training_rows(masked=mask(True)), signed, None, 0)
        assert (votes_of(grown, signed) == -1).all()


@pytest.mark.parametrize("chosen", [None, np.arange(N, dtype=np.int32)], ids=["all", "chosen"])
def test_masked_rows_do_not_fill_leaves(chosen):
    """Least rows of a leaf are counted among those that are let through."""
    one = ColumnMask(
        ColumnParents(np.array([0, 0, 1]), np.array([0], dtype=np.int32)),
        [np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)],
        True,
    )
    rows = training_rows()
    rows.mask = one
    signed = signed_weights()[:, [0, 2]]
    learner = TreePerClass(3, max_features=None, min_samples_leaf=9)
    grown = learner.grow(rows, signed, chosen, 0)
    inside = grown.places[:, 1] > 0
    assert 20 < inside.sum() < 70
    assert np.bincount(grown.places[inside, 1])[1:].max() < inside.sum()  # there is a split
    sizes = np.bincount(grown.places[inside, 1])
    assert sizes[sizes > 0].min() >= 9


# ---------------------------------------------------------------------- stumps and trees


def test_stumps_are_those_of_the_slow_twin():
    signed, rows = signed_weights(), training_rows()
    grown = StumpPerClass().grow(rows, signed, None, 0)
    feature, cut, edge = naive.best_stumps(rows.codes.T, signed, range(D))
    assert grown.made_of[0][:, 1].tolist() == feature.tolist()
    assert grown.made_of[1][:, 1].tolist() == cut.tolist()
    np.testing.assert_allclose((signed * votes_of(grown, signed)).sum(axis=0), edge)


def test_a_search_in_float32_finds_the_same(monkeypatch):
    exact = StumpPerClass().grow(training_rows(), signed_weights(), None, 0)
    monkeypatch.setattr(class_trees, "_SMALL", 0)
    quick_one = StumpPerClass().grow(training_rows(), signed_weights(), None, 0)
    for one, other in zip(exact.made_of, quick_one.made_of, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", ["stump on half", "random tree"])
def test_features_are_drawn_once_a_round_for_all_columns(name):
    learner, used = LEARNERS[name], set()
    for seed in range(30):
        grown = learner.grow(training_rows(), signed_weights(), None, seed)
        features = set(grown.made_of[0][grown.made_of[0] >= 0].tolist())
        assert features <= set(draw_features(learner.max_features, D, seed).tolist())
        used |= features
    assert len(used) == D


def test_random_thresholds_are_drawn_anew_for_every_column_and_round():
    """Columns that are alike get the same tree by best thresholds, but not by random ones."""
    alike = np.repeat(signed_weights()[:, :1], 4, axis=1)
    best = TreePerClass(3, max_features=None).grow(training_rows(), alike, None, 0)
    assert len(np.unique(best.made_of[1], axis=0)) == 1
    random = TreePerClass(3, max_features=None, thresholds="random")
    first, second = (random.grow(training_rows(), alike, None, seed) for seed in (0, 100))
    assert len(np.unique(first.made_of[1], axis=0)) == 4
    assert not np.array_equal(first.made_of[1], second.made_of[1])


@quick
@given(n=st.integers(1, 200), wanted=st.integers(1, 300), share=st.floats(0.001, 3.0))
def test_numbers_of_features(n, wanted, share):
    assert count_features(None, n) == n
    assert count_features(wanted, n) == min(wanted, n)
    assert count_features(share, n) == min(max(int(share * n), 1), n)
    assert count_features("sqrt", n) == int(np.sqrt(n))
    drawn = draw_features(wanted, n, seed=1)
    assert len(set(drawn.tolist())) == min(wanted, n)
    assert (np.diff(drawn) > 0).all()


def test_trees_keep_to_their_depth_and_leaves():
    for max_depth in (1, 2, 5):
        grown = TreePerClass(max_depth, max_features=None).grow(
            training_rows(), signed_weights(), None, 0
        )
        assert grown.made_of[0].shape == (M, 2 ** (max_depth + 1))
        assert grown.places.max() < 2 ** (max_depth + 1)
    grown = LEARNERS["large leaves"].grow(training_rows(), signed_weights(), None, 0)
    for column in grown.places.T:
        sizes = np.bincount(column)
        assert sizes[sizes > 0].min() >= 8


def test_deeper_trees_have_larger_edges():
    signed, edges = signed_weights(), []
    for max_depth in (1, 3, 6):
        grown = TreePerClass(max_depth, max_features=None).grow(training_rows(), signed, None, 0)
        edges.append((signed * votes_of(grown, signed)).sum())
    assert edges[0] < edges[1] < edges[2]


def test_draws_are_voted_down_and_rounding_decides_none():
    positive = np.array([1.0, 1.0, 2.0, 0.0, 0.3])
    negative = np.array([1.0, 2.0, 1.0, 0.0, 0.1 + 0.2])
    assert majority(positive, negative).tolist() == [-1, -1, 1, -1, -1]
    assert majority(negative, positive).tolist()[-1] == -1


# ---------------------------------------------------------------------- shared trees


@pytest.mark.parametrize("thresholds", ["random", "best"])
def test_shared_trees_keep_to_their_depth_and_leaves(thresholds):
    learner = SharedTree(3, thresholds=thresholds, min_samples_leaf=7, max_features=None)
    most = 0
    for seed in range(5):
        grown = learner.grow(training_rows(), signed_weights(), None, seed)
        assert len(grown.features) == 16
        assert grown.leaf.max() == grown.n_leaves - 1
        assert np.bincount(grown.leaf).min() >= 7
        most = max(most, grown.n_leaves)
    assert most > 2


def test_best_thresholds_part_gradients_better_than_random_ones():
    signed, gains = signed_weights(), {}
    for thresholds in ("random", "best"):
        learner = SharedTree(1, thresholds=thresholds, max_features=None)
        worth = []
        for seed in range(10):
            grown = learner.grow(training_rows(), signed, None, seed)
            sums = np.array([signed[grown.leaf == leaf].sum(axis=0) for leaf in (0, 1)])
            weights = np.bincount(grown.leaf, training_rows().weights)
            worth.append(((sums**2).sum(axis=1) / weights).sum())
        gains[thresholds] = worth
    assert len(set(gains["best"])) == 1
    assert min(gains["best"]) >= max(gains["random"]) * (1 - 1e-5)


@pytest.mark.parametrize("criterion", ["squared", "absolute"])
def test_a_sketch_stands_for_all_columns(criterion):
    """The worth of any side of any split is right on average over what is drawn."""
    rng = np.random.default_rng(0)
    signed = rng.normal(size=(40, 60)) * rng.exponential(size=60)
    learner = SharedTree(sketch=8, criterion=criterion)
    power = 2 if criterion == "squared" else 1

    def worth(table, side):
        return (np.abs(table[side].sum(axis=0)) ** power).sum()

    sides = [rng.random(40) < 0.5 for _ in range(4)]
    sketches = (learner._sketched(signed, seed) for seed in range(1500))
    drawn = np.array([[worth(sketch, side) for side in sides] for sketch in sketches])
    expected = np.array([worth(signed, side) for side in sides])
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected) < 4 * error).all()
    assert (error < 0.03 * expected).all()


def test_a_sketch_is_small_and_may_be_all():
    signed = np.random.default_rng(0).normal(size=(10, 700)).astype(np.float32)
    sketched = SharedTree()._sketched(signed, 0)
    assert sketched.shape[0] == 10
    assert 64 < sketched.shape[1] <= 128
    assert sketched.flags.c_contiguous
    assert SharedTree(sketch=None)._sketched(signed, 0) is signed
    assert SharedTree(sketch=700)._sketched(signed, 0) is signed
    assert SharedTree()._sketched(signed[:, :512], 0).shape == (10, 512)
    assert SharedTree(sketch=5)._sketched(np.zeros((10, 700)), 0).shape == (10, 5)


# ---------------------------------------------------------------------- full trees


def test_full_trees_make_no_mistake_on_the_rows_that_they_see():
    rows, signed = training_rows(), signed_weights()
    learner = CartPerClass(max_features=2, resample=False)
    said = votes_of(learner.grow(rows, signed, None, 0), signed)
    assert np.array_equal(said, np.sign(signed))
    drawn = votes_of(CartPerClass(max_features=2).grow(rows, signed, None, 0), signed)
    assert not np.array_equal(drawn, np.sign(signed))


def test_full_trees_are_drawn_anew_for_every_column_and_round():
    rows, alike = training_rows(), np.repeat(signed_weights()[:, :1], 4, axis=1)
    first, second = (CartPerClass().grow(rows, alike, None, seed).places for seed in (0, 100))
    assert len(np.unique(first, axis=1).T) == 4
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("resample", [True, 0.4, False])
def test_a_full_tree_takes_a_weight_of_k_for_k_copies(resample):
    rows, signed = training_rows(), signed_weights()
    times = rows.weights.astype(int)
    copies = np.random.default_rng(0).permutation(np.repeat(np.arange(N), times))
    repeated = TrainingRows(rows.codes[copies], rows.n_bins, np.ones(len(copies), np.float32))
    learner = CartPerClass(resample=resample)
    one = learner.grow(rows, signed, None, 5)
    other = learner.grow(repeated, signed[copies] / times[copies, None], None, 5)
    assert np.array_equal(one.places[copies], other.places)


def test_rows_drawn_are_as_many_as_weights_say_and_not_without_end():
    all_rows, half = CartSettings(), CartSettings(resample=0.5)
    assert all_rows.n_draws(np.full(8, 2.0, dtype=np.float32)) == 16
    assert half.n_draws(np.full(8, 2.0, dtype=np.float32)) == 8
    assert all_rows.n_draws(np.full(8, 1e-3, dtype=np.float32)) == 8
    assert all_rows.n_draws(np.full(8, 1e9, dtype=np.float32)) == 80
    assert CartSettings(resample=False).n_draws(np.ones(8, dtype=np.float32)) == 0
    assert CartSettings(3, max_features=0.5).growth(10) == (5, 3)


# ---------------------------------------------------------------------- other libraries


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(max_depth=2),
        RandomForestClassifier(3, max_depth=2),
        GaussianNB(),
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_classifier_that_takes_weights_can_be_boosted(estimator):
    signed, rows = signed_weights(), training_rows()
    grown = EstimatorPerClass(estimator).grow(rows, signed, None, 0)
    for column, model in enumerate(grown.made_of):
        assert model is not estimator
        assert np.array_equal(model.predict(rows.X), votes_of(grown, signed)[:, column])


def test_models_are_given_signs_weights_and_a_seed_of_their_own():
    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            calls.append((X, y, sample_weight, self.random_state))
            return super().fit(X, y, sample_weight)

    calls = []
    signed, rows = signed_weights(), training_rows()
    signed[:5, 0] = 0.0
    EstimatorPerClass(Spy(max_depth=1)).grow(rows, signed, None, seed=2**40)
    assert len({seed for *_, seed in calls}) == M
    X, y, weights, _ = calls[0]
    assert np.array_equal(X, rows.X[5:])
    assert np.array_equal(y, np.sign(signed[5:, 0]))
    # in the scale of counts, which regularized models expect
    assert weights.sum() == pytest.approx(rows.weights[5:].sum())
    np.testing.assert_allclose(
        weights / weights.sum(), np.abs(signed[5:, 0] / np.abs(signed[5:, 0]).sum())
    )


def test_a_column_of_one_sign_needs_no_model():
    signed = np.abs(signed_weights())
    signed[:, 1] *= -1
    signed[:, 2] = 0.0
    grown = EstimatorPerClass(LogisticRegression()).grow(training_rows(), signed, None, 0)
    said = votes_of(grown, signed)
    assert (said[:, [0, 3, 4]] == 1).all()
    assert (said[:, 1:3] == -1).all()


# ---------------------------------------------------------------------- names and parameters


def test_learners_by_name_object_and_classifier():
    assert isinstance(resolve_weak_learner("stump"), StumpPerClass)
    assert isinstance(resolve_weak_learner("tree"), TreePerClass)
    assert isinstance(resolve_weak_learner("cart"), CartPerClass)
    assert isinstance(resolve_weak_learner("shared_tree"), SharedTree)
    learner = TreePerClass(2)
    assert resolve_weak_learner(learner) is learner
    wrapped = resolve_weak_learner(GaussianNB())
    assert isinstance(wrapped, EstimatorPerClass)
    assert isinstance(wrapped.estimator, GaussianNB)
    assert weak.SharedTree is SharedTree


@pytest.mark.parametrize("unknown", ["forest", None, 3, SVR(), TreePerClass, ["stump"]], ids=repr)
def test_unknown_learners_are_refused_by_name(unknown):
    with pytest.raises(
        PalmetteError, match=r"weak_learner=.* is unknown: .*'shared_tree', 'stump'"
    ):
        resolve_weak_learner(unknown)


def test_classifiers_without_weights_are_refused_by_name():
    with pytest.raises(PalmetteError, match="KNeighborsClassifier"):
        resolve_weak_learner(KNeighborsClassifier())


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (StumpPerClass(votes="loud"), "votes='loud'"),
        (StumpPerClass(max_features=0), "max_features=0"),
        (StumpPerClass(max_features=True), "max_features=True"),
        (TreePerClass(0), "max_depth=0"),
        (TreePerClass(8), "max_depth=8"),
        (TreePerClass(thresholds="any"), "thresholds='any'"),
        (TreePerClass(min_samples_leaf=0), "min_samples_leaf=0"),
        (TreePerClass(max_features="log"), "max_features='log'"),
        (CartPerClass(0), "max_depth=0"),
        (CartPerClass(resample=0.0), "resample=0.0"),
        (CartPerClass(resample=1.5), "resample=1.5"),
        (CartPerClass(max_features="log"), "max_features='log'"),
        (SharedTree(13), "max_depth=13"),
        (SharedTree(thresholds=None), "thresholds=None"),
        (SharedTree(criterion="gini"), "criterion='gini'"),
        (SharedTree(sketch=0), "sketch=0"),
        (SharedTree(sketch="all"), "sketch='all'"),
        (SharedTree(min_samples_leaf=0), "min_samples_leaf=0"),
        (SharedTree(votes=""), "votes=''"),
    ],
)
def test_parameters_that_cannot_be_are_refused_by_name(learner, told):
    with pytest.raises(PalmetteError, match=told):
        resolve_weak_learner(learner)
