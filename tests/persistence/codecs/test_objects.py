"""Objects of Palmette: by class and attributes, checked as they come back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.laws.problems import DAG
from tests.persistence.round_trips import again, bytes_of

import palmette
from palmette import Hierarchy, PalmetteError
from palmette.base._multilabel import _TunedAs
from palmette.decisions._coherence import NodeColumns
from palmette.hierarchy.files._source import Tops
from palmette.labels._space import LabelSpace
from palmette.persistence._arrays import ArrayReader
from palmette.persistence._foreign import ALL_CODECS
from palmette.persistence._graph import Decoder
from palmette.persistence._objects import attributes_of, check_attributes

HIERARCHIES = [
    Hierarchy.from_paths([("a", "x"), ("b", "x"), ("c",)]),
    Hierarchy.star([3, 1, 2]),
    Hierarchy.from_paths([(("t", 1), 2.5), (True, 7, "x")]),
    Hierarchy.from_paths([], root="alone"),
    DAG,
]


@pytest.mark.parametrize("hierarchy", HIERARCHIES, ids=repr)
def test_hierarchies_come_back(hierarchy):
    made = again(hierarchy)
    assert made == hierarchy
    assert made.names.tolist() == hierarchy.names.tolist()
    assert again([hierarchy, {"same": hierarchy}])[1]["same"] == hierarchy


def test_what_an_object_can_find_out_again_is_left_out():
    fresh, used = Hierarchy.star("ab"), Hierarchy.star("ab")
    assert used.closure is not None
    assert bytes_of(fresh) == bytes_of(used)
    assert "closure" not in attributes_of(used)


@pytest.mark.parametrize("kind", [LabelSpace, NodeColumns])
def test_what_follows_from_a_hierarchy_is_made_anew(kind):
    hierarchy = HIERARCHIES[0]
    nodes = np.array([1, 2, 5], dtype=np.int32)
    made = again({"hierarchy": hierarchy, "space": kind(hierarchy, nodes)})
    assert made["space"].hierarchy is made["hierarchy"]
    expected = vars(kind(hierarchy, nodes))
    assert vars(made["space"]).keys() == expected.keys()
    for name in expected:
        assert np.array_equal(getattr(made["space"], name), expected[name])


@pytest.mark.parametrize("nodes", [[1, 1], [2, 1], [-1], [99], [[1]], [0.5]])
def test_nodes_that_a_hierarchy_lacks_are_refused(nodes):
    class Places:
        def get(self, place):
            return np.array([[0, 1], [0, 2]] if place["in"] == "edges" else nodes)

    written = {
        "class": "labels.LabelSpace",
        "hierarchy": {"hierarchy": {"names": ["r", "a", "b"], "edges": {"array": {"in": "edges"}}}},
        "nodes": {"array": {"in": "nodes"}},
    }
    with pytest.raises(ValueError, match="nodes"):
        Decoder(ALL_CODECS, [], Places(), None).value({"derived": written})


def test_named_tuples_and_enumerations_come_back():
    tuned = _TunedAs(*range(len(_TunedAs._fields)))
    made = again(tuned)
    assert type(made) is _TunedAs
    assert made == tuned
    member = next(iter(Tops))
    assert again((member,))[0] is member


def test_slots_and_a_setstate_of_its_own_are_minded(register):
    @dataclass(frozen=True, slots=True)
    class Frozen:
        one: int
        two: tuple

    class Slotted:
        __slots__ = ("one", "two")

    class Older:
        def __setstate__(self, state):
            self.now = state.get("now", state.get("before"))

    for kind in (Frozen, Slotted, Older):
        register(f"tests.{kind.__name__}", kind)
    assert again((Frozen(1, ("a",)),))[0] == Frozen(1, ("a",))
    slotted = Slotted()
    slotted.one = [1]
    made = again(slotted)
    assert made.one == [1]
    assert not hasattr(made, "two")
    older = Older()
    older.before = 7
    assert again(older).now == 7


def decoded(written, **settings):
    return Decoder(ALL_CODECS, [], ArrayReader(lambda name: bytearray()), None, **settings).value(
        written
    )


@pytest.mark.parametrize(
    "name",
    [
        "palmette._files.os",
        "palmette._files.atomic_write",
        "palmette.cli.main.main",
        "palmette.exceptions.PalmetteError",
        "palmette.hierarchy._hierarchy.Structure",
        "palmette.labels.nothing.Nothing",
        "palmette.hierarchy._hierarchy.Hierarchy.star",
        "palmette..x",
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "sklearn.pipeline.Pipeline",
        "",
        None,
        7,
        ["labels.LabelSpace"],
        "palmette.labels._space.LabelSpace",
        "LabelSpace",
    ],
)
def test_names_of_anything_else_than_our_classes_are_refused(name):
    with pytest.raises(ValueError, match="is not a class that a file may contain"):
        decoded({"object": {"class": name, "state": {}}})


@pytest.mark.parametrize(
    "name", ["__class__", "__dict__", "fit", "predict", "n nodes", "", "score"]
)
def test_attributes_that_would_hide_a_method_are_refused(name):
    written = {"class": "local.FlatClassifier", "state": {name: 1}}
    with pytest.raises(ValueError, match="has no attribute"):
        decoded({"object": written})


def test_parameters_and_fitted_attributes_may_be_set():
    check_attributes(palmette.FlatClassifier, {"estimator": 1, "hierarchy_": 2, "_private": 3})
    check_attributes(palmette.HierarchicalFeatureSelector, {"score": "hirr"})


@pytest.mark.parametrize(
    "written",
    [
        {"object": {"class": "local.FlatClassifier", "state": [1]}},
        {"object": {"class": "local.FlatClassifier"}},
        {"namedtuple": ["base.TunedAs", 1]},
        {"namedtuple": ["local.FlatClassifier", 1]},
        {"enum": ["hierarchy.Tops", "nothing"]},
        {"enum": ["local.FlatClassifier", "x"]},
        {"hierarchy": {"names": ["a", "b"], "edges": {"tuple": []}}},
    ],
    ids=str,
)
def test_parts_that_do_not_fit_a_class_are_refused(written):
    with pytest.raises((ValueError, KeyError)):
        decoded(written)


@pytest.mark.parametrize(
    "edges", [[[0, 1], [1, 0]], [[1, 2], [2, 1]], [[0, 2], [0, 1]], [[0, 9], [0, 1]], [[0, 1]]]
)
def test_a_hierarchy_with_a_circle_or_out_of_order_is_refused(edges):
    class Places:
        def get(self, place):
            return np.array(edges, dtype=np.int32)

    written = {"hierarchy": {"names": ["r", "a", "b"], "edges": {"array": {"in": "i4"}}}}
    with pytest.raises(ValueError, match=r"."):
        Decoder(ALL_CODECS, [], Places(), None).value(written)


def test_callbacks_of_a_fit_are_left_out(tmp_path):
    file = tmp_path / "run.ckpt"
    clf = palmette.HierarchicalBoostingClassifier(n_estimators=2)
    clf.set_callbacks(palmette.Checkpoint(file)).fit(np.eye(4), list("abab"))
    made = again(clf)
    assert not hasattr(made, "_skl_callbacks")
    assert made.predict(np.eye(4)).tolist() == list("abab")
    assert hasattr(clf, "_skl_callbacks")


def test_an_object_whose_class_cannot_be_found_is_refused():
    class Local(palmette.FlatClassifier):
        pass

    Local.__module__ = "palmette.local._classifiers"
    with pytest.raises(PalmetteError, match="cannot be saved"):
        again({"model": Local()})
