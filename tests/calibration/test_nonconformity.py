"""How strange labels look, and sets as few nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette import Hierarchy
from palmette.calibration._chains import Chains
from palmette.calibration._nonconformity import (
    LABEL_SCORES,
    cover_of_sets,
    cumulative_score,
    least_likely_score,
)
from palmette.labels._space import LabelSpace

# "b" is a label that has others below it
H = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z"), ("b", "w"), ("c",)])
SPACE = LabelSpace(H, H.index(["x", "y", "b", "z", "w", "c"]))
laws = settings(max_examples=20, deadline=None)


def shares(seed, n_rows=8):
    return np.random.default_rng(seed).dirichlet(np.full(6, 0.5), size=n_rows)


def test_scores_of_labels_worked_by_hand():
    proba = np.array([[0.1, 0.6, 0.3]])
    np.testing.assert_allclose(least_likely_score(proba), [[0.9, 0.4, 0.7]])
    np.testing.assert_allclose(cumulative_score(proba), [[1.0, 0.6, 0.9]])


def test_chains_worked_by_hand():
    #                  x    y    b    z     w    c
    proba = np.array([[0.1, 0.2, 0.1, 0.35, 0.05, 0.2], [0.1, 0.2, 0.4, 0.1, 0.1, 0.1]])
    chains = Chains(proba, SPACE)
    names = H.names[SPACE.nodes[chains.places]].tolist()
    assert names == [["root", "b", "z"], ["root", "b", "b"]]
    np.testing.assert_allclose(chains.values, [[1, 0.5, 0.35], [1, 0.6, 0]])
    # what is not below b is as strange as b is probable; b itself is not below z
    expected = [[0.5, 0.5, 0.35, 0, 0.35, 0.5], [0.6, 0.6, 0, 0, 0, 0.6]]
    np.testing.assert_allclose(chains.scores(), expected)


@laws
@given(st.integers(0, 10_000))
def test_labels_below_the_answer_are_those_that_are_not_too_strange(seed):
    chains = Chains(shares(seed), SPACE)
    for threshold in (0.0, 0.2, 0.5, 0.8, np.inf):
        places = chains.deepest_above(threshold)
        bounds = SPACE.class_range[places]
        codes = np.arange(6)
        below = (codes >= bounds[:, :1]) & (codes < bounds[:, 1:])
        assert np.array_equal(below, chains.scores() <= threshold)
    assert (chains.deepest_above(np.inf) == 0).all()


@laws
@given(st.integers(0, 10_000))
def test_scores_of_one_label_a_row_are_those_of_all(seed):
    rng = np.random.default_rng(seed)
    chains, codes = Chains(shares(seed), SPACE), rng.integers(6, size=8).astype(np.int32)
    assert np.array_equal(chains.scores_of(codes), chains.scores()[np.arange(8), codes])


@pytest.mark.parametrize("name", sorted(LABEL_SCORES))
def test_more_probable_labels_look_less_strange(name):
    proba = shares(3, 50)
    scores = LABEL_SCORES[name](proba)
    order = np.argsort(-proba, axis=1)
    assert (np.diff(np.take_along_axis(scores, order, axis=1), axis=1) >= 0).all()


# ---------------------------------------------------------------------- covers


@pytest.mark.parametrize(
    ("labels", "nodes"),
    [
        (["x"], ["x"]),
        (["x", "y"], ["a"]),
        (["b", "z", "w"], ["b"]),
        (["z", "w"], ["z", "w"]),  # "b" would hold one label more
        (["b", "z"], ["b"]),  # "b" is a label, and whatever stands for it holds "z"
        (["x", "y", "b", "z", "w", "c"], ["root"]),
        (["y", "c"], ["y", "c"]),
        ([], []),
    ],
)
def test_covers_worked_by_hand(labels, nodes):
    members = np.isin(SPACE.classes, H.index(labels))[None, :]
    cover = SPACE.nodes[cover_of_sets(members, SPACE)[0]]
    assert set(H.names[cover].tolist()) == set(nodes)


@laws
@given(st.integers(0, 10_000))
def test_covers_hold_the_set_and_no_node_of_them_lies_above_another(seed):
    members = np.random.default_rng(seed).random((20, 6)) < 0.5
    cover = cover_of_sets(members, SPACE)
    for row, flags in zip(members, cover, strict=True):
        bounds = SPACE.class_range[flags]
        held = np.zeros(6, dtype=int)
        for first, stop in bounds:
            held[first:stop] += 1
        assert (held <= 1).all()
        assert (held[row] == 1).all()
        inner = row[2]  # the label "b", which stands for those below it too
        if not inner:
            assert (held[~row] == 0).all()
        assert flags.sum() <= row.sum()
