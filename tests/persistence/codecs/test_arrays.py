"""Arrays, numbers, their types, sparse matrices and generators come back bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB
from tests.persistence.round_trips import again

import palmette as pm
from palmette import PalmetteError, ReadError
from palmette.persistence._arrays import ArrayReader
from palmette.persistence._foreign import ALL_CODECS
from palmette.persistence._graph import Decoder


def test_whether_an_array_may_be_written_to_is_kept():
    array = np.arange(3)
    array.flags.writeable = False
    assert not again(array).flags.writeable
    assert again(np.arange(3)).flags.writeable
    labels = np.array(["a", ("b", 1)], dtype=object)
    labels.flags.writeable = False
    assert not again(labels).flags.writeable


@pytest.mark.parametrize(
    "values", [["a", None], [("x", "y"), 1.5], [], [{"a", "b"}, [1, 2]]], ids=len
)
def test_arrays_of_objects_come_back(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    made = again(array)
    assert made.dtype == object
    assert made.shape == array.shape
    assert made.tolist() == values


def test_two_dimensional_labels_and_strings_of_any_length_come_back():
    labels = np.array([["a", None], ["bb", 3]], dtype=object)
    assert again(labels).tolist() == labels.tolist()
    strings = np.array(["a", "ein größeres Wort"], dtype=np.dtypes.StringDType())
    assert again(strings).dtype == strings.dtype
    assert again(strings).tolist() == strings.tolist()


@pytest.mark.parametrize(
    "value",
    [
        *[np.float64(0.1), np.float32(0.1), np.float16(0.1), np.float64("nan"), np.float64("-inf")],
        *[np.int8(-3), np.uint64(2**64 - 1), np.bool_(True), np.complex64(1 + 2j), np.str_("ä")],
        *[
            np.datetime64("2020-01-01"),
            np.timedelta64(3, "s"),
            np.bytes_(b"xy"),
            np.longdouble(0.1),
        ],
    ],
    ids=repr,
)
def test_single_numbers_come_back(value):
    made = again((value,))[0]
    assert type(made) is type(value)
    assert made.dtype == value.dtype
    assert made.tobytes() == value.tobytes()


@pytest.mark.parametrize(
    "dtype",
    ["<f8", ">i4", "U5", "M8[ns]", "O", [("a", "<i4"), ("b", [("c", "<f8", (2,))])], "bool"],
    ids=str,
)
def test_types_of_numbers_come_back(dtype):
    assert again(np.dtype(dtype)) == np.dtype(dtype)
    assert again(np.dtypes.StringDType()) == np.dtypes.StringDType()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_sparse_matrices_come_back(form, family):
    dense = np.array([[0, 2.5, 0], [1, 0, 0]], dtype=np.float32)
    matrix = getattr(sparse, f"{form}_{family}")(dense)
    made = again(matrix)
    assert type(made) is type(matrix)
    assert made.dtype == matrix.dtype
    assert np.array_equal(made.toarray(), dense)


def test_masked_arrays_come_back():
    masked = np.ma.MaskedArray([1.0, 2.0], [False, True], fill_value=9.0)
    made = again(masked)
    assert made.tolist() == [1.0, None]
    assert made.fill_value == 9.0


@pytest.mark.parametrize(
    "generator",
    [np.random.RandomState(3), np.random.default_rng(3), np.random.Generator(np.random.MT19937(1))],
    ids=lambda g: type(g).__name__,
)
def test_generators_go_on_with_the_same_numbers(generator):
    generator.normal(size=3)
    made = again(generator)
    assert type(made) is type(generator)
    assert made.normal(size=5).tolist() == generator.normal(size=5).tolist()


def test_records_that_hold_objects_are_refused_by_name():
    records = np.zeros(2, dtype=[("a", object)])
    with pytest.raises(PalmetteError, match=r"\['records'\] is .*records with objects"):
        again({"records": records})


@pytest.mark.parametrize(
    "written",
    [
        {"sparse": {"class": "load_npz", "format": "csr", "shape": [1, 1], "parts": {}}},
        {"sparse": {"class": "csr_array", "format": "csr", "shape": [1, 1], "parts": {}}},
        {"sparse": {"class": "lil_array", "format": "coo", "shape": [10**9, 9], "parts": {}}},
        {"random": {"class": "Generator", "state": {"dict": {"bit_generator": "seed"}}}},
        {"objects": {"shape": [10**9], "values": []}},
        {"objects": {"shape": [-1], "values": [1]}},
        {"scalar": [{"dtype": "<f8"}, "ff"]},
        {"scalar": [{"dtype": "O"}, "ff" * 8]},
        {"array": {"in": "x"}},
    ],
    ids=str,
)
def test_what_no_array_is_made_of_is_refused(written):
    decoder = Decoder(ALL_CODECS, [], ArrayReader(lambda name: bytearray()), None)
    with pytest.raises((ValueError, KeyError, ReadError)):
        decoder.value(written)


def test_a_sparse_matrix_that_points_outside_is_refused():
    arrays = {"d": np.ones(1), "i": np.array([7], dtype=np.int32), "p": np.array([0, 1], np.int32)}

    class Places:
        def get(self, place):
            return arrays[place["in"]]

    names = {"data": "d", "indices": "i", "indptr": "p"}
    parts = {part: {"array": {"in": name}} for part, name in names.items()}
    written = {"sparse": {"class": "csr_array", "format": "csr", "shape": [1, 3], "parts": parts}}
    with pytest.raises(ValueError, match=r"indices|index"):
        Decoder(ALL_CODECS, [], Places(), None).value(written)
    arrays["i"][0] = 2
    assert Decoder(ALL_CODECS, [], Places(), None).value(written).toarray().tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("bits", ["MT19937", "Philox"])
def test_a_generator_beyond_its_own_numbers_is_refused(bits):
    generator = np.random.Generator(getattr(np.random, bits)(1))
    state = generator.bit_generator.state
    if bits == "MT19937":
        state["state"]["pos"] = 100_000
    else:
        state["buffer_pos"] = 100_000
    generator.bit_generator.state = state
    with pytest.raises(ReadError, match="is out of bounds"):
        again(generator)


@pytest.mark.parametrize(
    "scalar",
    [
        ["V1000000000", 10**9],
        ["V8", 10**9],
        ["S8", "a"],
        ["(1000000,)f8", 1],
        ["O", 1],
        ["M8[s]", 1],
        ["<f8", {"list": [1, 2]}],
        ["<i8", "1"],
        ["<i8", 10**30],
        [{"dtype": "V1000000000"}, "00"],
    ],
)
def test_a_scalar_with_a_number_is_one_number(scalar):
    decoder = Decoder(ALL_CODECS, [], ArrayReader(lambda name: bytearray()), None)
    with pytest.raises((ValueError, OverflowError), match=r"."):
        decoder.value({"scalar": scalar})


def test_a_masked_array_is_made_of_arrays():
    decoder = Decoder(ALL_CODECS, [], ArrayReader(lambda name: bytearray()), None)
    with pytest.raises(ValueError, match="not made of arrays"):
        decoder.value({"masked": [{"slice": ["range", 0, 10**6, 1]}, False, 0]})


@pytest.mark.parametrize("length", [100, 17_000, 200_000])
def test_labels_of_any_length_come_back(length):
    names = ["x" * length, "y"]
    X, y = [[0.0], [1.0]] * 4, names * 4
    model = again(pm.FlatClassifier(GaussianNB(), hierarchy=pm.Hierarchy.star(names)).fit(X, y))
    assert model.predict([[0.0], [1.0]]).tolist() == names
