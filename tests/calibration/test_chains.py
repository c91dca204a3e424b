"""Calibration of the nodes above the most probable label."""

import numpy as np
import pytest

from palmette import Hierarchy, load, save
from palmette.calibration._chains import ChainCalibration, HeldOutChains, answers_by_threshold
from palmette.exceptions import PalmetteError
from palmette.labels._space import LabelSpace

PATHS = [("a", "x", "1"), ("a", "x", "2"), ("a", "y"), ("b",), ("b", "u"), ("b", "v", "w"), ("c",)]
LEAVES = [path for path in PATHS if path != ("b",)]
CONFIDENCES = (0.0, 0.3, 0.5, 0.8, 0.9, 0.99, 1.0)


def space_of(paths=PATHS):
    hierarchy = Hierarchy.from_paths(paths)
    return LabelSpace(hierarchy, np.sort(hierarchy.index(paths)))


def problem(space, sharpness, n_rows=600, seed=0):
    """Return true nodes, and probabilities of a model that is sharper than it should be."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_rows, space.n_classes)) * 1.5
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    drawn = (shares.cumsum(axis=1) > rng.random((n_rows, 1))).argmax(axis=1)
    proba = np.exp(sharpness * (logits - logits.max(axis=1, keepdims=True)))
    return space.classes[drawn], proba / proba.sum(axis=1, keepdims=True)


def fitted(space, sharpness, n_rows=600):
    true, proba = problem(space, sharpness, n_rows)
    return ChainCalibration.fit(HeldOutChains.of(proba, space, true))


SHARPNESS = (0.1, 1.0, 5.0, 60.0, 2000.0)  # the last ones have zeros


@pytest.mark.parametrize("sharpness", SHARPNESS)
@pytest.mark.parametrize("paths", [PATHS, [("a",), ("b",), ("c",)], [("a", "b", "c"), ("a",)]])
def test_rows_sum_to_one_and_the_best_label_stays(paths, sharpness):
    space = space_of(paths)
    calibration = fitted(space, sharpness)
    _, proba = problem(space, sharpness, seed=1)
    found = calibration.apply(proba, space)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(found.argmax(axis=1), proba.argmax(axis=1))
    nodes = space.marginals(found)
    assert (nodes[1:] <= nodes[space.parent[1:]]).all()


@pytest.mark.parametrize("sharpness", SHARPNESS)
def test_rows_do_not_depend_on_each_other(sharpness):
    space = space_of()
    calibration = fitted(space, sharpness)
    _, proba = problem(space, sharpness, seed=1)
    alone = [calibration.apply(row[None], space)[0] for row in proba[:20]]
    np.testing.assert_allclose(calibration.apply(proba, space)[:20], alone, rtol=1e-9)


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 3.0])
def test_probabilities_of_new_rows_are_right_on_average(sharpness):
    space = space_of(LEAVES)
    calibration = fitted(space, sharpness, n_rows=4000)
    true, proba = problem(space, sharpness, n_rows=4000, seed=1)
    found = calibration.apply(proba, space)
    right = space.classes[found.argmax(axis=1)] == true
    assert abs(found.max(axis=1).mean() - right.mean()) < 0.04
    sure = found.max(axis=1) > np.median(found.max(axis=1))
    assert abs(found.max(axis=1)[sure].mean() - right[sure].mean()) < 0.06


@pytest.mark.parametrize("sharpness", SHARPNESS)
def test_answers_are_above_the_best_label_and_rise_with_the_confidence(sharpness):
    space = space_of()
    calibration = fitted(space, sharpness)
    _, proba = problem(space, sharpness, seed=1)
    found = calibration.apply(proba, space)
    best, hierarchy = space.classes[found.argmax(axis=1)], space.hierarchy
    depths = []
    for confidence in CONFIDENCES:
        sure = calibration.sure(found, space, confidence)
        assert ((sure <= best) & (best < hierarchy.subtree_end[sure])).all()
        depths.append(hierarchy.depth[sure])
    assert (np.diff(depths, axis=0) <= 0).all()


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 3.0, 60.0])
@pytest.mark.parametrize("confidence", [0.6, 0.7, 0.8])
def test_as_many_answers_are_right_as_asked_for_and_few_are_withheld(sharpness, confidence):
    space = space_of()
    calibration = fitted(space, sharpness, n_rows=6000)
    true, proba = problem(space, sharpness, n_rows=6000, seed=1)
    found = calibration.apply(proba, space)
    sure = calibration.sure(found, space, confidence)
    right = (sure <= true) & (true < space.hierarchy.subtree_end[sure])
    answered = sure > 0
    assert right[answered].mean() > confidence - 0.04
    chains = HeldOutChains.of(found, space, true)
    reach = np.nan_to_num(1 / (1 + np.exp(-chains.odds)))
    _, n_answers, n_right = answers_by_threshold(reach, chains.right)
    could = n_answers[n_right >= confidence * n_answers].max(initial=0)
    assert answered.sum() >= 0.8 * could


def test_a_label_that_the_space_lacks_is_wrong_at_every_level():
    space = space_of()
    _, proba = problem(space, 1.0)
    chains = HeldOutChains.of(proba, space, np.full(len(proba), -1))
    assert not chains.right.any()


def test_few_rows_teach_nothing():
    space = space_of()
    true, proba = problem(space, 1.0, n_rows=20)
    assert ChainCalibration.fit(HeldOutChains.of(proba, space, true)) is None


def test_folds_of_different_depth_are_joined():
    parts = []
    for paths in (PATHS, [("a",), ("b",), ("c",)]):
        space = space_of(paths)
        true, proba = problem(space, 1.0, n_rows=50)
        parts.append(HeldOutChains.of(proba, space, true))
    joined = HeldOutChains.joined(parts)
    assert joined.odds.shape == joined.right.shape == (100, 3)
    assert np.isnan(joined.odds[50:, 1:]).all()
    assert not joined.right[50:, 1:].any()


def test_a_deeper_hierarchy_has_the_curve_of_the_last_level():
    flat, deep = space_of([("a",), ("b",), ("c",)]), space_of()
    _, proba = problem(deep, 1.0)
    found = fitted(flat, 1.0).apply(proba, deep)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_model_file_keeps_the_calibration(tmp_path):
    space = space_of()
    calibration = fitted(space, 1.0)
    save(calibration, tmp_path / "calibration.palmette")
    again = load(tmp_path / "calibration.palmette")
    _, proba = problem(space, 1.0, seed=1)
    np.testing.assert_array_equal(again.apply(proba, space), calibration.apply(proba, space))


def test_a_changed_model_file_is_refused(tmp_path):
    calibration = fitted(space_of(), 1.0)
    calibration.thresholds = calibration.thresholds[:5]
    save(calibration, tmp_path / "calibration.palmette")
    with pytest.raises(PalmetteError, match="thresholds"):
        load(tmp_path / "calibration.palmette")
