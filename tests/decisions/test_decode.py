"""Laws of decoding: the chain rule, greedy and exact searches, beams."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spaces import TableRoute, label_spaces, numbers, probabilities, seeds
from tests.strategies import quick

from palmette.decisions import _decode as decode
from palmette.decisions._decode import (
    RouteByMarginals,
    beam_search,
    best_path,
    normalize_rows,
    path_product,
    top_classes,
    top_down,
)
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace

N = 6


def chain_rule(space, route, row):
    """Probability of every class, by walking down the tree once for each."""
    families = dict(space.families)

    def below(place, chance):
        if place not in families:
            return {place: chance}
        options = families[place]
        if len(options) == 1:
            return below(int(options[0]), chance)
        shares = route(place, options, np.array([row]))[0]
        found = {}
        for option, share in zip(options.tolist(), shares.tolist(), strict=True):
            ends = option == place
            found.update({place: chance * share} if ends else below(option, chance * share))
        return found

    found = below(0, 1.0)
    return [found[place] for place in space.class_place.tolist()]


def greedy(space, route, row):
    families, place, value = dict(space.families), 0, 1.0
    while place in families:
        options = families[place]
        if len(options) == 1:
            place = int(options[0])
            continue
        shares = route(place, options, np.array([row]))[0]
        best = int(np.argmax(shares * value))
        value *= shares[best]
        if options[best] == place:
            break
        place = int(options[best])
    return space.class_at[place], value


@quick
@given(label_spaces(), seeds)
def test_path_product_is_the_chain_rule(space, seed):
    route = TableRoute(space, N, seed)
    expected = [chain_rule(space, route, row) for row in range(N)]
    proba = path_product(space, route, N)
    np.testing.assert_allclose(proba, expected, rtol=1e-12)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@quick
@given(label_spaces(), seeds, st.booleans())
def test_the_route_by_marginals_gives_the_probabilities_back(space, seed, ties):
    proba = probabilities(space, N, seed, ties)
    back = path_product(space, RouteByMarginals(space, proba), N)
    np.testing.assert_allclose(back, proba, atol=1e-12)


@quick
@given(label_spaces(), seeds)
def test_a_route_by_marginals_answers_some_rows_as_it_answers_all(space, seed):
    route = RouteByMarginals(space, probabilities(space, N, seed))
    rows = numbers(seed).integers(0, N, 4).astype(np.int32)
    for parent, options in space.families:
        whole = route(parent, options, None)
        np.testing.assert_allclose(whole.sum(axis=1), 1.0)
        assert np.array_equal(route(parent, options, rows), whole[rows])


@quick
@given(label_spaces(), seeds, st.booleans())
def test_top_down_is_greedy(space, seed, ties):
    route = TableRoute(space, N, seed, ties)
    classes, proba, _ = top_down(space, route, N)
    expected = [greedy(space, route, row) for row in range(N)]
    assert classes.tolist() == [c for c, _ in expected]
    assert proba.tolist() == [p for _, p in expected]


@quick
@given(label_spaces(), seeds)
def test_no_path_beside_the_greedy_one_exceeds_the_rival(space, seed):
    route = TableRoute(space, N, seed)
    classes, _, rival = top_down(space, route, N)
    others = path_product(space, route, N)
    others[np.arange(N), classes] = 0.0
    assert (others.max(axis=1) <= rival).all()


@quick
@given(label_spaces(), seeds, st.booleans())
def test_best_path_is_the_most_probable_class_and_ties_go_to_the_first(space, seed, ties):
    route = TableRoute(space, N, seed, ties)
    proba = path_product(space, route, N)
    classes, best = best_path(space, route, N)
    assert classes.tolist() == proba.argmax(axis=1).tolist()
    assert best.tolist() == proba.max(axis=1).tolist()


@quick
@given(label_spaces(), seeds, st.booleans())
def test_best_path_asks_no_family_twice_of_a_row(space, seed, ties):
    route = TableRoute(space, N, seed, ties)
    best_path(space, route, N)
    assert route.asked.max() <= 1


def test_best_path_asks_little_where_the_models_are_sure():
    h = Hierarchy.from_paths([(i, j) for i in range(20) for j in range(20)])
    space = LabelSpace(h, h.leaves)
    route = TableRoute(space, 50, seed=0)
    for table in route.tables.values():
        table[:] = 0.01 / 19
        table[:, 3] = 0.99
    classes, _ = best_path(space, route, 50)
    assert h.path(int(space.classes[classes[0]])) == (3, 3)
    assert route.asked.sum() == 2 * 50  # the root and one family, not all 21


def test_best_path_looks_beyond_the_greedy_step():
    h = Hierarchy.from_paths([("a", i) for i in range(4)] + [("b",)])
    space = LabelSpace(h, h.leaves)
    route = RouteByMarginals(space, np.array([[0.15, 0.15, 0.15, 0.15, 0.4]]))
    assert space.classes[best_path(space, route, 1)[0]].tolist() == [h.index("b")]
    assert space.classes[top_down(space, route, 1)[0]].tolist() == [h.index(("a", 0))]


@quick
@given(label_spaces(), seeds, st.booleans())
def test_best_path_searches_unsure_rows_in_chunks(space, seed, ties):
    route = TableRoute(space, N, seed, ties)
    whole = best_path(space, route, N)
    with patch.object(decode, "_PATHS_AT_ONCE", 2 * space.n_classes):
        chunked = best_path(space, route, N)
    for one, other in zip(whole, chunked, strict=True):
        assert np.array_equal(one, other)


def test_an_equal_class_that_comes_before_the_greedy_one_wins():
    h = Hierarchy.from_paths([("a",), ("b", "x"), ("b", "y"), ("c",)])
    space = LabelSpace(h, h.leaves)
    proba = np.full((1, 4), 0.25)
    route = RouteByMarginals(space, proba)
    assert top_down(space, route, 1)[0].tolist() == [1]
    assert best_path(space, route, 1)[0].tolist() == proba.argmax(axis=1).tolist() == [0]


@quick
@given(label_spaces(), seeds, st.booleans(), st.integers(0, 3))
def test_a_beam_as_wide_as_the_classes_is_exact(space, seed, ties, extra):
    route = TableRoute(space, N, seed, ties)
    proba = path_product(space, route, N)
    width = space.n_classes + extra
    classes, values = beam_search(space, route, N, width)
    assert classes[:, : space.n_classes].tolist() == top_classes(proba, space.n_classes).tolist()
    assert (classes[:, space.n_classes :] == -1).all()
    assert np.array_equal(values[:, : space.n_classes], -np.sort(-proba, axis=1))


@quick
@given(label_spaces(), seeds, st.booleans())
def test_a_beam_of_one_is_greedy(space, seed, ties):
    route = TableRoute(space, N, seed, ties)
    classes, values = beam_search(space, route, N, width=1)
    expected, proba, _ = top_down(space, route, N)
    assert classes[:, 0].tolist() == expected.tolist()
    assert values[:, 0].tolist() == proba.tolist()


@quick
@given(label_spaces(), seeds, st.integers(1, 5))
def test_a_beam_holds_true_probabilities_in_order(space, seed, width):
    route = TableRoute(space, N, seed)
    proba = path_product(space, route, N)
    classes, values = beam_search(space, route, N, width)
    assert (np.diff(values, axis=1) <= 0).all()
    for row in range(N):
        found = classes[row][classes[row] >= 0]
        assert len(set(found.tolist())) == len(found) > 0
        assert values[row, : len(found)].tolist() == proba[row, found].tolist()


@pytest.mark.parametrize("n_samples", [0, 2])
def test_a_space_of_the_root_alone_needs_no_route(n_samples):
    space = LabelSpace(Hierarchy.star([]), np.array([0]))
    assert path_product(space, None, n_samples).tolist() == [[1.0]] * n_samples
    assert best_path(space, None, n_samples)[0].tolist() == [0] * n_samples
    assert beam_search(space, None, n_samples, 2)[0].tolist() == [[0, -1]] * n_samples


@quick
@given(label_spaces(), seeds)
def test_no_rows_give_no_answers(space, seed):
    route = TableRoute(space, 0, seed)
    assert path_product(space, route, 0).shape == (0, space.n_classes)
    assert best_path(space, route, 0)[0].shape == (0,)
    assert beam_search(space, route, 0, 3)[0].shape == (0, 3)


def test_rows_of_zeros_become_uniform_and_the_argument_stays():
    values = np.array([[0.0, 0.0], [1.0, 3.0]])
    assert normalize_rows(values).tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert values.tolist() == [[0.0, 0.0], [1.0, 3.0]]


@quick
@given(st.integers(1, 8), st.integers(1, 10), seeds)
def test_top_classes_are_a_stable_sort(n_classes, k, seed):
    proba = numbers(seed).integers(0, 3, (5, n_classes)) / 4
    expected = np.argsort(-proba, axis=1, kind="stable")[:, :k]
    assert top_classes(proba, k).tolist() == expected.tolist()
