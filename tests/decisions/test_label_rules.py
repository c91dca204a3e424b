"""Decision rules for several labels a row."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import fbeta_score
from tests.spaces import numbers, seeds
from tests.strategies import dags, quick

from palmette import Hierarchy, decoding
from palmette.decisions._coherence import NodeColumns, make_coherent
from palmette.decisions._label_sets import ExpectedF, TopK
from palmette.decisions._thresholds import Threshold
from palmette.decisions._tuned import BestF, ShrunkF, Youden, is_label_rule, resolve_label_rule
from palmette.exceptions import PalmetteError

H = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant",)])
COLUMNS = NodeColumns(H, np.arange(1, 5))
PROBA = np.array([[0.9, 0.6, 0.5, 0.2], [0.4, 0.3, 0.0, 0.5]])


def flat(n_labels):
    return NodeColumns(Hierarchy.star(range(n_labels)), np.arange(1, n_labels + 1))


def chosen(rule, proba=PROBA, columns=COLUMNS):
    sets = rule.choose(proba, columns).toarray()
    return [columns.hierarchy.names[columns.nodes[row]].tolist() for row in sets]


def is_closed(sets, columns):
    return (sets[:, columns.edges[:, 0]] >= sets[:, columns.edges[:, 1]]).all()


# ---------------------------------------------------------------------- the most probable


def test_top_k_counts_the_most_specific_labels():
    assert chosen(TopK(1)) == [["animal", "cat"], ["plant"]]
    assert chosen(TopK(2)) == [["animal", "cat", "dog"], ["animal", "cat", "plant"]]
    assert chosen(TopK(9)) == [["animal", "cat", "dog", "plant"]] * 2


def test_of_equal_labels_the_first_are_taken():
    assert TopK(2).choose(np.full((1, 4), 0.5), flat(4)).indices.tolist() == [0, 1]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None])
def test_k_is_a_positive_integer(k):
    with pytest.raises(PalmetteError, match=r"expected a positive integer"):
        TopK(k).choose(PROBA, COLUMNS)


@quick
@given(dags().filter(lambda h: h.n_nodes > 1), seeds, st.integers(1, 4))
def test_rules_of_a_row_close_their_sets(h, seed, k):
    columns = NodeColumns(h, np.arange(1, h.n_nodes))
    proba = numbers(seed).integers(0, 4, (6, columns.n_columns)) / 4  # with ties
    proba = make_coherent(proba, columns)
    specific = np.setdiff1d(np.arange(columns.n_columns), columns.edges[:, 0])
    for rule in (TopK(k), ExpectedF(), ExpectedF(2.0)):
        sets = rule.choose(proba, columns)
        assert sets.dtype == bool
        assert sets.has_sorted_indices
        assert is_closed(sets.toarray(), columns)
    counts = TopK(k).choose(proba, columns).toarray()[:, specific].sum(axis=1)
    assert (counts == min(k, len(specific))).all()


# ---------------------------------------------------------------------- expected F


def expected_f(proba, subset, beta):
    """F of a set, over all worlds of independent labels."""
    total = 0.0
    for world in product([0, 1], repeat=len(proba)):
        chance = np.prod([p if true else 1 - p for p, true in zip(proba, world, strict=True)])
        size, true = len(subset), sum(world)
        hits = sum(world[i] for i in subset)
        f = 1.0 if size + true == 0 else (1 + beta**2) * hits / (size + beta**2 * true)
        total += chance * f
    return total


@quick
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
    st.sampled_from([0.25, 0.5, 1.0, 2.0]),
)
def test_a_row_gets_the_set_of_best_expected_f(row, beta):
    labels = range(len(row))
    sets = [s for size in range(len(row) + 1) for s in combinations(labels, size)]
    best = max(expected_f(row, subset, beta) for subset in sets)
    answer = ExpectedF(beta).choose(np.array([row]), flat(len(row))).indices.tolist()
    assert expected_f(row, answer, beta) == pytest.approx(best, abs=1e-6)


def test_expected_f_of_certain_labels_is_those():
    proba = np.zeros((3, 700))
    proba[1, :300] = 1.0
    proba[2] = 1.0
    sizes = np.diff(ExpectedF().choose(proba, flat(700)).indptr)
    assert sizes.tolist() == [0, 300, 700]
    assert np.diff(ExpectedF(20.0).choose(proba[:, :40], flat(40)).indptr)[0] == 0


def test_expected_f_of_many_labels_is_that_of_drawn_ones():
    proba = -np.sort(-numbers(0).beta(0.3, 2.0, 400))
    worlds = numbers(1).random((4000, 400)) < proba
    hits, sizes = np.cumsum(worlds, axis=1), np.arange(1, 401)
    means = (2 * hits / (sizes + worlds.sum(axis=1)[:, None])).mean(axis=0)
    size = np.diff(ExpectedF().choose(proba[None, :], flat(400)).indptr)[0]
    assert means[size - 1] == pytest.approx(means.max(), abs=1e-4)


def test_expected_f_of_labels_cuts_where_the_ratio_is_best():
    proba = numbers(3).random((40, 5)) ** 3
    answers = ExpectedF(2.0, by="label").choose(proba, flat(5)).toarray()
    for scores, flags in zip(proba.T, answers.T, strict=True):
        cuts = [scores >= s for s in scores]
        ratios = [5 * scores[cut].sum() / (4 * scores.sum() + cut.sum()) for cut in cuts]
        assert (flags == cuts[int(np.argmax(ratios))]).all()


def test_only_thresholds_from_scores_look_at_other_rows():
    assert ExpectedF(by="label").sees_all_rows
    assert not any(rule.sees_all_rows for rule in (ExpectedF(), TopK(), Threshold()))


def test_settings_of_expected_f_are_checked():
    for beta in (0, -1.0, np.inf, "1", True):
        with pytest.raises(PalmetteError, match="beta to be a positive number"):
            ExpectedF(beta).choose(PROBA, COLUMNS)
    with pytest.raises(PalmetteError, match=r"by='class'.*'row' or 'label'"):
        ExpectedF(by="class").choose(PROBA, COLUMNS)


def test_one_label_a_row_is_chosen_as_by_one_half():
    labels = H.index(["animal", "cat", "dog", "plant"])
    expected = Threshold().choose_labels(PROBA, COLUMNS, labels)
    assert (TopK(2).choose_labels(PROBA, COLUMNS, labels) == expected).all()


# ---------------------------------------------------------------------- tuned rules


def tuned(rule, scores, truth, weights=None):
    """Threshold of one label."""
    table = np.asarray(scores, dtype=float)[:, None]
    flags = sparse.csr_array(np.asarray(truth, dtype=bool)[:, None])
    return rule.tune(table, flags, flat(1), weights).value[1]


def youden(truth, answer, sample_weight):
    positive, negative = sample_weight[truth].sum(), sample_weight[~truth].sum()
    return sample_weight[answer & truth].sum() / positive - (
        sample_weight[answer & ~truth].sum() / negative
    )


RULES = [
    (BestF(), lambda t, a, w: fbeta_score(t, a, beta=1, sample_weight=w)),
    (BestF(2.0), lambda t, a, w: fbeta_score(t, a, beta=2, sample_weight=w)),
    (Youden(), youden),
]


@quick
@given(st.data())
def test_no_threshold_is_better_and_none_as_good_is_higher(data):
    n = data.draw(st.integers(2, 12))
    scores = np.array(data.draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))) / 8
    truth = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    for rule, value_of in RULES:
        value = tuned(rule, scores, truth, weights)
        if truth.all() or not truth.any() or len(set(scores)) == 1:
            assert value == 0.5
            continue
        levels = np.unique(np.r_[0.0, scores])
        middles = (levels[1:] + levels[:-1]) / 2
        worth = np.array([value_of(truth, scores > m, weights) for m in middles])
        best = middles[worth > worth.max() - 1e-9].max() if worth.max() > 1e-9 else 0.5
        assert value == pytest.approx(best, abs=1e-12)


def test_thresholds_by_hand():
    scores, truth = [0.9, 0.8, 0.7, 0.6, 0.1], [1, 0, 1, 0, 0]
    assert tuned(BestF(), scores, truth) == pytest.approx(0.65)  # F 4/5 against 2/3 at .85
    assert tuned(BestF(0.25), scores, truth) == pytest.approx(0.85)
    lowest = tuned(BestF(cut="lowest"), scores, truth)
    assert 0.6 < lowest < 0.6 + 1e-6  # just above the next score
    assert tuned(Youden(), scores, truth) == pytest.approx(0.65)  # 1 - 1/3 against 1/2
    heavy = np.array([1.0, 9.0, 1.0, 1.0, 1.0])
    assert tuned(BestF(), scores, truth, heavy) == pytest.approx(0.85)


@pytest.mark.parametrize("seed", range(5))
def test_the_lowest_of_the_best_thresholds(seed):
    rng = np.random.default_rng(seed)
    scores, truth = rng.integers(0, 12, 30) / 12, rng.random(30) < 0.3
    levels = np.unique(np.r_[0.0, scores])
    worth = np.array([fbeta_score(truth, scores > t, beta=1, zero_division=0) for t in levels])
    lowest = levels[worth > worth.max() - 1e-9].min()
    assert lowest < tuned(BestF(cut="lowest"), scores, truth) < lowest + 1e-6


@pytest.mark.parametrize("rule", [BestF(), ShrunkF(), Youden()])
def test_a_weight_of_k_is_k_copies_and_of_zero_none(rule):
    rng = numbers(0)
    scores, truth = rng.random((30, 4)), sparse.csr_array(rng.random((30, 4)) < 0.3)
    counts = rng.integers(0, 4, 30)
    rows = np.repeat(np.arange(30), counts)
    weighted = rule.tune(scores, truth, flat(4), counts.astype(float)).value
    copied = rule.tune(scores[rows], truth[rows], flat(4)).value
    np.testing.assert_allclose(weighted, copied, rtol=1e-12)


def shrunk_threshold(scores, truth, beta, strength, most):
    """`ShrunkF` of one label as its docstring puts it, without a sort."""
    if truth.all() or not truth.any() or len(set(scores)) == 1:
        return 0.5
    n, square = truth.sum(), beta**2
    levels = np.unique(np.r_[0.0, scores])
    middles = (levels[1:] + levels[:-1]) / 2
    worth = [fbeta_score(truth, scores > m, beta=beta, zero_division=0) for m in middles]
    best = max(m for m, w in zip(middles, worth, strict=True) if w > max(worth) - 1e-12)
    sets = [scores > m for m in middles]
    expected = max(scores[s].sum() / (square * scores.sum() + s.sum()) for s in sets)
    few = [m for m, s in zip(middles, sets, strict=True) if s.sum() <= most * n]
    lowest = min(few) if few else scores.max()
    best = best if max(worth) > 0 else 0.5
    return max((n * best + strength * expected) / (n + strength), lowest)


@quick
@given(st.data())
def test_shrunk_thresholds_are_those_of_the_formula(data):
    n = data.draw(st.integers(2, 14))
    scores = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))) / 9
    truth = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    beta, strength = data.draw(st.sampled_from([0.5, 1.0, 2.0])), data.draw(st.integers(1, 30))
    most = data.draw(st.sampled_from([0.4, 1.0, 1.5, 3.0]))
    value = tuned(ShrunkF(beta, strength=strength, most=most), scores, truth)
    assert value == pytest.approx(shrunk_threshold(scores, truth, beta, strength, most), abs=1e-12)


def test_a_rare_label_is_predicted_for_few_rows():
    rng = numbers(3)
    scores, truth = rng.random(1000) * 0.2, np.zeros(1000, dtype=bool)
    truth[np.argsort(scores)[300]] = True  # its only row has a low score
    assert (scores > tuned(BestF(), scores, truth)).sum() == 700
    assert (scores > tuned(ShrunkF(), scores, truth)).sum() <= 3
    frequent = numbers(4).random(1000) < scores * 4  # with many rows both are nearly the same
    assert tuned(ShrunkF(), scores, frequent) == pytest.approx(
        tuned(BestF(), scores, frequent), abs=0.02
    )
    assert (scores > tuned(ShrunkF(most=1.0), scores, frequent)).sum() <= frequent.sum()


@pytest.mark.parametrize("rule", [ShrunkF(0), ShrunkF(strength=-1), ShrunkF(most=0)])
def test_settings_of_shrunk_thresholds_are_checked(rule):
    with pytest.raises(PalmetteError, match="to be a positive number"):
        tuned(rule, [0.1, 0.2], [0, 1])


@pytest.mark.parametrize("rule", [BestF(), ShrunkF(), Youden()])
def test_one_half_where_nothing_can_be_learnt(rule):
    assert tuned(rule, [0.1, 0.2], [0, 0]) == 0.5
    assert tuned(rule, [0.1, 0.2], [1, 1]) == 0.5
    assert tuned(rule, [0.2, 0.2, 0.2], [1, 0, 1]) == 0.5
    assert tuned(rule, [0.1, 0.2], [1, 0], np.array([1.0, 0.0])) == 0.5
    if not isinstance(rule, ShrunkF):
        assert tuned(rule, [0.0, 0.3], [1, 0]) == 0.5  # no threshold lets a score of 0 pass


def test_neighbouring_floats_are_told_apart():
    low = 0.3
    high = np.nextafter(low, 1)
    value = tuned(BestF(), [high, low], [1, 0])
    assert high > value >= low


def test_thresholds_belong_to_nodes():
    columns = NodeColumns(H, np.array([1, 2, 4]))  # no 'dog'
    proba = np.array([[0.2, 0.1, 0.6], [0.4, 0.3, 0.7], [0.1, 0.0, 0.1]])
    truth = sparse.csr_array(np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool))
    rule = BestF().tune(proba, truth, columns)
    np.testing.assert_allclose(rule.value, [0.5, 0.15, 0.2, 0.5, 0.65])
    sets = rule.choose(proba, columns).toarray()
    np.testing.assert_array_equal(sets, truth.toarray())


def test_many_columns_are_tuned_like_each_alone(monkeypatch):
    from palmette.decisions import _tuned as best_cuts

    rng = numbers(1)
    scores = rng.random((50, 9)).astype(np.float32)
    truth = sparse.csr_array(rng.random((50, 9)) < 0.2)
    whole = BestF().tune(scores, truth, flat(9)).value
    monkeypatch.setattr(best_cuts, "_SORTED_AT_ONCE", 100)  # two columns at a time
    np.testing.assert_array_equal(BestF().tune(scores, truth, flat(9)).value, whole)
    alone = [tuned(BestF(), scores[:, j], truth.toarray()[:, j]) for j in range(9)]
    np.testing.assert_array_equal(whole[1:], alone)


def test_scores_are_checked():
    truth = sparse.csr_array(np.ones((2, 1), dtype=bool))
    for bad in (np.nan, -0.1, 1.1):
        with pytest.raises(PalmetteError, match=r"outside \[0, 1\]"):
            BestF().tune(np.array([[0.5], [bad]]), truth, flat(1))
    with pytest.raises(PalmetteError, match=r"\(3, 1\) and truth has shape \(2, 1\)"):
        BestF().tune(np.zeros((3, 1)), truth, flat(1))
    with pytest.raises(PalmetteError, match=r"weights have shape \(3,\): expected \(2,\)"):
        BestF().tune(np.zeros((2, 1)), truth, flat(1), np.ones(3))
    with pytest.raises(PalmetteError, match="beta to be a positive number"):
        BestF(0).tune(np.zeros((2, 1)), truth, flat(1))
    with pytest.raises(PalmetteError, match="expected cut to be 'middle' or 'lowest'"):
        BestF(cut="low").tune(np.zeros((2, 1)), truth, flat(1))


# ---------------------------------------------------------------------- by name


def test_rules_are_found_by_name_and_number():
    assert isinstance(resolve_label_rule("f1"), BestF)
    assert isinstance(resolve_label_rule("shrunk_f1"), ShrunkF)
    assert isinstance(resolve_label_rule("youden"), Youden)
    assert resolve_label_rule("auto").value == 0.5
    assert resolve_label_rule(0.2).value == 0.2
    rule = TopK(3)
    assert resolve_label_rule(rule) is rule
    named = "f1", "shrunk_f1", "youden"
    for rule in (*named, 0.3, TopK(), ExpectedF(), BestF(), ShrunkF(), Youden(), Threshold()):
        assert is_label_rule(rule)
    for other in ("auto", "best_path", decoding.Confident(), True, None):
        assert not is_label_rule(other)
    with pytest.raises(
        PalmetteError, match=r"not a rule for several paths.*TopK, ExpectedF, BestF"
    ):
        resolve_label_rule("best_path")


@pytest.mark.parametrize("rule", [TopK(2), ExpectedF(2.0, by="label"), BestF(0.5), Youden()])
def test_rules_are_public_and_cloned_like_any_parameter(rule):
    assert type(rule) is getattr(decoding, type(rule).__name__)
    assert clone(rule).get_params() == rule.get_params()
