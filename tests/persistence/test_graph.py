"""The walk over objects: what is one object stays one, its size is known, errors name the place."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.persistence.round_trips import again

from palmette import Hierarchy, PalmetteError
from palmette.calibration import CalibratedHierarchicalClassifier
from palmette.local import LocalPerParentClassifier
from palmette.persistence._arrays import ArrayReader
from palmette.persistence._foreign import ALL_CODECS, ForeignWriter
from palmette.persistence._graph import Decoder, Encoder
from palmette.persistence.names import register


def test_an_object_that_is_used_twice_stays_one_object():
    part, array = [1], np.arange(3)
    one = again({"a": part, "b": [part, array], "c": array})
    assert one["a"] is one["b"][0]
    assert one["c"] is one["b"][1]
    assert again([[1], [1]])[0] is not again([[1], [1]])[1]


def test_what_contains_itself_is_neither_written_nor_read():
    loop: list = [1]
    loop.append({"self": loop})
    with pytest.raises(PalmetteError, match=r"^\[1\]\['self'\] is .* list.* contains itself"):
        again(loop)
    with pytest.raises(ValueError, match="object 0 contains itself"):
        decoded({"ref": 0}, [{"list": [1, {"dict": {"self": {"ref": 0}}}]}])


def test_every_kind_of_object_has_a_tag_of_its_own():
    tags = [codec.tag for codec in ALL_CODECS]
    assert len(set(tags)) == len(tags)
    assert "ref" not in tags


def test_an_error_names_the_attribute():
    with pytest.raises(PalmetteError, match=r"\['a'\]\[2\]\['key'\] is an object of type function"):
        again({"a": [1, 2, {"key": lambda: 1}]})


def decoded(written, objects=()):
    arrays = ArrayReader(lambda name: bytearray())
    return Decoder(ALL_CODECS, list(objects), arrays, None).value(written)


@pytest.mark.parametrize(
    ("written", "objects"),
    [
        ([], []),
        ({}, []),
        ({"a": 1, "b": 2}, []),
        ({"unknown": 1}, []),
        ({"ref": 0}, []),
        ({"ref": -1}, [{"list": []}]),
        ({"ref": True}, [{"list": []}, {"list": []}]),
        ({"ref": "0"}, [{"list": []}]),
        ({"ref": 0}, [5]),
        ({"ref": 0}, [{"list": [], "dict": {}}]),
        ({"list": 3}, []),
    ],
)
def test_what_is_not_written_as_an_object_is_refused(written, objects):
    with pytest.raises(ValueError, match=r"."):
        decoded(written, objects)


def test_values_that_are_nested_without_end_are_refused():
    nested: dict = {"tuple": []}
    for _ in range(300):
        nested = {"tuple": [nested]}
    with pytest.raises(ValueError, match="nested more than 50"):
        decoded(nested)


def test_what_is_too_deep_to_be_read_is_not_written():
    nested: list = []
    for _ in range(45):
        nested = [nested]
    assert again(nested) == nested
    for _ in range(45):
        nested = [nested]
    with pytest.raises(PalmetteError, match="more than 50 levels deep"):
        again(nested)


def test_what_was_met_before_is_as_deep_where_it_is_met_again():
    low: list = []
    for _ in range(30):
        low = [low]
    high: list = [low]
    for _ in range(30):
        high = [high]
    assert again([low, low[0]]) == [low, low[0]]
    with pytest.raises(PalmetteError, match="more than 50 levels deep"):
        again([low, high])
    one_by_one = [{"list": [{"ref": i - 1}] if i else []} for i in range(200)]
    with pytest.raises(ValueError, match="nested more than 50"):
        decoded({"list": [{"ref": i} for i in range(200)]}, one_by_one)


def test_equal_objects_are_written_alike():
    def written(value):
        encoder = Encoder(ALL_CODECS, ForeignWriter())
        return encoder.value(value), encoder.objects

    assert written({"a": {3, 1, 2}}) == written({"a": {2, 3, 1}})


def doubled(depth: int, tag: str = "list") -> list:
    """Return a table of containers that each hold the one before twice."""
    return [{tag: []}, *({tag: [{"ref": i}, {"ref": i}]} for i in range(depth))]


INDEX_OF_A_RANGE = {
    "values": {"slice": ["range", 0, 10**6, 1]},
    "dtype": {"dtype": "<i8"},
    "name": None,
}


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (doubled(40), "more than"),
        (doubled(2, "tuple"), "no identity"),
        ([{"tuple": [1]}], "no identity"),
        ([{"list": [{"list": [{"ref": 0}, {"ref": 0}]}]}], "contains itself"),
        ([{"set": [(2**61 - 1) * i for i in range(100)]}], "same hash"),
        ([{"dict": [[(2**61 - 1) * i, 0] for i in range(100)]}], "same hash"),
        ([{"list": [{"slice": ["range", 0, 10**9, 1]}]}], "more than 1,000,000"),
        ([{"list": [{"slice": ["range", 0, 10**30, 1]}]}], "more than 1,000,000"),
        ([{"list": [{"slice": ["range", 0, 10**6, 1]}] * 9}], "values inside"),
        ([{"list": [{"dtype": "V100000000"}]}], "bytes"),
        ([{"pandas_index": INDEX_OF_A_RANGE}], "not an array"),
    ],
)
def test_containers_that_grow_while_others_walk_through_them_are_refused(objects, message):
    with pytest.raises(ValueError, match=message):
        decoded({"ref": len(objects) - 1}, objects)


def test_containers_may_be_used_often_and_through_objects_again():
    shared = ["a", "b"]
    assert again([shared] * 1000) == [shared] * 1000
    assert again({i: {1.5, i} for i in range(200)}) == {i: {1.5, i} for i in range(200)}
    assert again([range(5), range(0)]) == [range(5), range(0)]


class Probe:
    """Counts its checks."""

    checks = 0

    def check_arrays(self) -> None:
        Probe.checks += 1


@pytest.fixture
def probe():
    register("graph.Probe", Probe)
    Probe.checks = 0
    return {"object": {"class": "graph.Probe", "state": {}}}


@pytest.mark.parametrize(
    "around",
    [
        lambda probe: probe,
        lambda probe: {"list": [probe]},
        lambda probe: {"tuple": [{"dict": {"a": probe}}]},
        lambda probe: {"dict": [[1, probe]]},
        lambda probe: {"frozenset": [probe]},
        lambda probe: {"namedtuple": ["feature_selection.NodeFit", probe, 1, 1, 1]},
        lambda probe: {"objects": {"shape": [1], "values": [probe]}},
        lambda probe: {"object": {"class": "graph.Probe", "state": {"a": probe}}},
        lambda probe: {"holder": {"class": "sklearn.base.BaseEstimator", "state": {"a": probe}}},
    ],
)
def test_an_object_is_checked_wherever_it_is_written(around, probe):
    decoder = Decoder(ALL_CODECS, [], ArrayReader(lambda name: bytearray()), None)
    decoder.value(around(probe))
    decoder.check()
    assert Probe.checks >= 1


def test_the_depth_is_restored_after_an_error():
    decoder = Decoder(ALL_CODECS, [], ArrayReader(lambda name: bytearray()), None)
    for _ in range(200):
        with pytest.raises(ValueError, match="unknown kind"):
            decoder.value({"list": [{"unknown": 1}]})
    assert decoder.value({"list": [1]}) == [1]


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("hierarchy.Hierarchy", {}),
        ("labels.LabelSpace", {}),
        ("base.TunedAs", {}),
        ("hierarchy.Tops", {}),
        ("class_tree.RandomTree", {"hierarchy_": 3}),
    ],
)
def test_objects_with_their_own_form_are_not_made_of_attributes(name, state):
    with pytest.raises(ValueError, match=r"not written by its attributes|is not a Hierarchy"):
        decoded({"object": {"class": name, "state": state}})


# ---------------------------------------------------------------------- what is shared


def chain(depth: int, written) -> list:
    """Return a table of objects that each hold the next one twice."""
    return [*(written({"ref": i + 1}) for i in range(depth)), {"list": ["a"]}]


def task(part):
    return {"object": {"class": "local.TaskKey", "state": {"depth": part, "node": part}}}


def form(part):
    return {"object": {"class": "labels.LabelForm", "state": {"container": part, "dtype": part}}}


def finding(part):
    return {"object": {"class": "hierarchy.Finding", "state": {"kind": {"tuple": [part, part]}}}}


def blend(part):
    state = {"estimators": {"list": [{"tuple": ["a", part]}, {"tuple": ["b", part]}]}}
    return {"object": {"class": "multipath.CoherentBlendClassifier", "state": state}}


def around(part):
    holder = {"class": "sklearn.pipeline.FeatureUnion", "state": {"a": part, "b": part}}
    return {"holder": holder}


@pytest.mark.parametrize("written", [task, form, finding, blend, around])
@pytest.mark.parametrize(
    "used",
    [
        lambda first: first,
        lambda first: {"dict": [[first, 1]]},
        lambda first: {"set": [first]},
        lambda first: {"tuple": [{"frozenset": [first]}]},
    ],
)
def test_what_holds_the_next_one_twice_is_refused_at_once(written, used):
    began = time.process_time()
    depth = 15 if written is blend else 24  # each blend is three levels
    with pytest.raises(ValueError, match="each counted as often as it is used"):
        decoded(used({"ref": 0}), chain(depth, written))
    assert time.process_time() - began < 1


def test_what_is_used_often_is_read_in_files_that_have_as_much():
    words = [f"word {i}" for i in range(2000)]
    form = {"known": dict(enumerate(words)), "words": words}
    assert again([{"form": form, "i": i} for i in range(60)])[59] == {"form": form, "i": 59}
    array, tree = np.arange(10**6), Hierarchy.star(words)
    made = again([[array, tree, i] for i in range(5000)])  # nobody walks through them
    assert made[4999][1] is made[0][1]


def test_estimators_that_share_their_parts_come_back():
    X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, [("a", "x"), ("a", "y"), ("b", "z"), ("b", "w")] * 3
    part = LocalPerParentClassifier(GaussianNB()).fit(X, y)
    model = [CalibratedHierarchicalClassifier(part) for _ in range(100)]
    made = again(model)
    assert made[99].estimator is made[0].estimator
    assert made[99].estimator.predict(X) == part.predict(X)
