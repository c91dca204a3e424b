"""Laws of the decision rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st
from sklearn.base import clone
from tests.spaces import TableRoute, label_spaces, probabilities, seeds
from tests.strategies import quick

from palmette import decoding
from palmette.decisions._decode import RouteByMarginals
from palmette.decisions._losses import EXPECTED_LOSSES
from palmette.decisions._rules import (
    Beam,
    BestPath,
    Confident,
    MinExpectedLoss,
    TopDown,
    resolve_decoding,
)
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace

N = 6
THREE = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])


def marginal_of(space, proba, nodes):
    places = [space.place(int(node)) for node in nodes]
    return space.sum_up(proba)[places, np.arange(len(proba))]


def is_at_or_above(space, upper, lower):
    return upper in space.hierarchy.ancestors(int(lower), include_self=True)


# ---------------------------------------------------------------------- best path, top down, beam


@quick
@given(label_spaces(), seeds, st.booleans())
def test_best_path_chooses_alike_from_probabilities_and_from_a_route(space, seed, ties):
    proba = probabilities(space, N, seed, ties)
    chosen = BestPath().choose(proba, space)
    assert chosen.tolist() == space.classes[proba.argmax(axis=1)].tolist()
    followed = BestPath().follow(RouteByMarginals(space, proba), N, space)
    best = proba.max(axis=1)
    np.testing.assert_allclose(
        proba[np.arange(N), np.searchsorted(space.classes, followed)], best, rtol=1e-9
    )


@quick
@given(label_spaces(), seeds, st.integers(0, 1000))
def test_a_wide_beam_is_the_best_path_and_a_beam_of_one_goes_top_down(space, seed, extra):
    route = TableRoute(space, N, seed)
    wide = Beam(width=space.n_classes + extra).follow(route, N, space)
    assert wide.tolist() == BestPath().follow(route, N, space).tolist()
    narrow = Beam(width=1).follow(route, N, space)
    assert narrow.tolist() == TopDown().follow(route, N, space).tolist()


def test_a_huge_beam_takes_no_more_room_than_the_classes():
    space = LabelSpace(THREE, THREE.leaves)
    route = RouteByMarginals(space, np.array([[0.3, 0.3, 0.4]]))
    assert Beam(width=10**12).follow(route, 1, space).tolist() == [THREE.index("oak")]
    assert Beam(width=10**12).numbers_per_row(space) == Beam(width=3).numbers_per_row(space)


def test_following_a_route_takes_room_by_families_not_by_nodes():
    wide = Hierarchy.from_paths([(i, j) for i in range(40) for j in range(40)])
    space = LabelSpace(wide, wide.leaves)
    for rule in (TopDown(), BestPath(), Beam(5)):
        assert rule.numbers_per_row(space) < space.n_active


# ---------------------------------------------------------------------- confident


@quick
@given(label_spaces(), seeds, st.floats(0, 1))
def test_a_confident_answer_is_sure_enough_and_nothing_deeper_is(space, seed, threshold):
    proba = probabilities(space, N, seed)
    answers = Confident(threshold).choose(proba, space)
    assert np.isin(answers, space.nodes).all()
    for row, answer in enumerate(answers):
        sums = space.sum_up(proba)[:, row]
        assert answer == 0 or sums[space.place(int(answer))] >= threshold - 1e-12
        deeper = space.depth > space.hierarchy.depth[answer]
        assert not (sums[deeper] >= threshold + 1e-12).any()


@quick
@given(label_spaces(), seeds, st.floats(0.501, 1), st.floats(0.501, 1))
def test_more_doubt_answers_an_ancestor(space, seed, one, other):
    proba = probabilities(space, N, seed)
    low, high = sorted([one, other])
    bold, shy = Confident(low).choose(proba, space), Confident(high).choose(proba, space)
    for upper, lower in zip(shy, bold, strict=True):
        assert is_at_or_above(space, upper, lower)


@quick
@given(label_spaces(), seeds)
def test_a_threshold_of_zero_answers_as_deep_as_labels_go(space, seed):
    proba = probabilities(space, N, seed)
    answers = Confident(0.0).choose(proba, space)
    assert (space.hierarchy.depth[answers] == space.depth.max()).all()
    deepest = space.depth == space.depth.max()
    best = space.sum_up(proba)[deepest].max(axis=0)
    np.testing.assert_allclose(marginal_of(space, proba, answers), best)


@quick
@given(label_spaces(), seeds)
def test_a_threshold_of_one_still_answers_what_is_certain(space, seed):
    # the sum of all classes may round to less than one: what holds every class is certain yet
    proba = probabilities(space, N, seed)
    answers = Confident(1.0).choose(proba, space)
    common = int(space.hierarchy.lca(int(space.classes[0]), int(space.classes[-1])))
    for answer in answers:
        assert is_at_or_above(space, common, answer)


@quick
@given(label_spaces(), seeds, st.floats(0, 1), st.integers(0, 4))
def test_min_depth_is_reached_unless_a_leaf_comes_first(space, seed, threshold, min_depth):
    proba = probabilities(space, N, seed)
    free = Confident(threshold).choose(proba, space)
    forced = Confident(threshold, min_depth=min_depth).choose(proba, space)
    childless = space.nodes[~space.has_children]
    depth = space.hierarchy.depth
    assert ((depth[forced] >= min_depth) | np.isin(forced, childless)).all()
    enough = (depth[free] >= min_depth) | np.isin(free, childless)
    assert forced[enough].tolist() == free[enough].tolist()


def test_min_depth_takes_the_most_probable_node_there():
    space = LabelSpace(THREE, THREE.leaves)
    proba = np.array([[0.3, 0.25, 0.45]])
    assert Confident(0.9).choose(proba, space).tolist() == [0]
    answer = Confident(0.9, min_depth=1).choose(proba, space)
    assert THREE.path_strings[answer].tolist() == ["animal"]
    answer = Confident(0.9, min_depth=2).choose(proba, space)
    assert THREE.path_strings[answer].tolist() == ["plant/oak"]


def test_min_depth_does_not_pass_over_a_certain_shallow_leaf():
    h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("stone",)])
    space = LabelSpace(h, h.leaves)
    answer = Confident(0.5, min_depth=2).choose(np.array([[0.02, 0.03, 0.95]]), space)
    assert h.path_strings[answer].tolist() == ["stone"]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, np.nan])
def test_a_threshold_beyond_probabilities_is_refused(threshold):
    space = LabelSpace(THREE, THREE.leaves)
    with pytest.raises(PalmetteError, match="expected a number from 0 to 1"):
        Confident(threshold).choose(np.array([[0.3, 0.3, 0.4]]), space)


# ---------------------------------------------------------------------- least expected loss


@quick
@given(space=label_spaces(), seed=seeds, candidates=st.sampled_from(["nodes", "classes", "all"]))
def test_the_bayes_decision_is_never_worse_than_the_best_path(space, seed, candidates):
    proba = probabilities(space, N, seed)
    rows = np.arange(N)
    best = BestPath().choose(proba, space)
    for loss in sorted(EXPECTED_LOSSES):
        note(loss)
        expected = EXPECTED_LOSSES[loss](space, proba)
        bayes = MinExpectedLoss(loss, candidates).choose(proba, space)
        of = [np.searchsorted(space.nodes, answers) for answers in (bayes, best)]
        assert (expected[of[0], rows] <= expected[of[1], rows]).all()
        assert np.isin(bayes, space.classes if candidates == "classes" else space.nodes).all()
        if candidates == "nodes":
            assert (bayes > 0).all()


@quick
@given(label_spaces(), seeds)
def test_zero_one_loss_among_classes_is_the_best_path(space, seed):
    proba = probabilities(space, N, seed)
    assume((np.sort(proba, axis=1)[:, -2:] @ [-1, 1] > 1e-9).all() if space.n_classes > 1 else True)
    chosen = MinExpectedLoss("zero_one", "classes").choose(proba, space)
    assert chosen.tolist() == BestPath().choose(proba, space).tolist()


@quick
@given(label_spaces(), seeds)
def test_a_loss_may_be_a_function(space, seed):
    proba = probabilities(space, N, seed)

    def edges(hierarchy, answers, classes):
        return hierarchy.distance(answers[:, None], classes[None, :])

    named = MinExpectedLoss("tree_induced_error").choose(proba, space)
    own = MinExpectedLoss(edges).choose(proba, space)
    expected = EXPECTED_LOSSES["tree_induced_error"](space, proba)
    places = [np.searchsorted(space.nodes, answers) for answers in (named, own)]
    np.testing.assert_allclose(
        expected[places[0], np.arange(N)], expected[places[1], np.arange(N)], atol=1e-9
    )


def test_bad_losses_and_candidates_are_named():
    space = LabelSpace(THREE, THREE.leaves)
    proba = np.array([[0.3, 0.3, 0.4]])
    with pytest.raises(PalmetteError, match=r"loss='hinge' is unknown: expected one of .*h_loss"):
        MinExpectedLoss("hinge").choose(proba, space)
    with pytest.raises(PalmetteError, match="candidates='some' is unknown"):
        MinExpectedLoss(candidates="some").choose(proba, space)
    with pytest.raises(PalmetteError, match=r"shape \(2, 2\): expected \(6, 3\)"):
        MinExpectedLoss(lambda *_: np.zeros((2, 2))).choose(proba, space)


# ---------------------------------------------------------------------- names


def test_every_public_rule_has_a_name_and_the_other_way_round():
    names = ("best_path", "top_down", "beam", "confident", "marginal", "min_expected_loss")
    made = {type(resolve_decoding(name)).__name__ for name in names}
    for_several_labels = {"BestF", "ExpectedF", "ShrunkF", "Threshold", "TopK", "Youden"}
    assert made == set(decoding.__all__) - for_several_labels


def test_a_rule_passes_through_and_anything_else_is_refused():
    rule = Confident(0.7)
    assert resolve_decoding(rule) is rule
    for wrong in ("deepest", 3, None, Confident):
        with pytest.raises(PalmetteError, match="is unknown: expected one of"):
            resolve_decoding(wrong)
    with pytest.raises(PalmetteError, match="width=0: expected a positive"):
        Beam(0).follow(None, 1, LabelSpace(THREE, THREE.leaves))


@pytest.mark.parametrize(
    "rule", [BestPath(), TopDown(), Beam(3), Confident(0.7), MinExpectedLoss()]
)
def test_rules_are_cloned_and_set_as_estimators_are(rule):
    assert clone(rule).get_params() == rule.get_params()
    for name, value in rule.get_params().items():
        assert clone(rule).set_params(**{name: value}).get_params()[name] == value
