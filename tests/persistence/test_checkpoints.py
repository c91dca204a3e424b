"""Laws of checkpoint files: what was written comes back, and nothing else is ever taken for it."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import random
import tempfile
import tracemalloc
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from tests.persistence.mutations import mutated

import palmette as pm
from palmette.boosting._hypotheses import SharedTree
from palmette.exceptions import PalmetteError, ReadError
from palmette.persistence import load, save
from palmette.persistence._archive import Archive
from palmette.persistence.checkpoints import read_checkpoint, read_fingerprint, write_checkpoint

FINGERPRINT = {"estimator": "Toy", "parameters": '{"depth": 3}', "data": "ab12", "größe": "é"}
ARRAYS = {
    "rounds/values": np.linspace(0.0, 1.0, 10).reshape(2, 5),
    "seed": np.array(7),
    "none": np.empty((0, 3), np.uint8),
}
MANIFEST = "manifest.json"


def same(found, expected):
    """Whether arrays are equal bit by bit, in type, shape and layout too."""
    return found.keys() == expected.keys() and all(
        a.dtype == b.dtype
        and a.shape == b.shape
        and a.flags.f_contiguous == b.flags.f_contiguous
        and a.tobytes() == b.tobytes()
        for a, b in ((found[name], expected[name]) for name in expected)
    )


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """Bytes of a good checkpoint."""
    path = tmp_path_factory.mktemp("good") / "a.ckpt"
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.ckpt"


# ---------------------------------------------------------------------- round trip

NUMBERS = st.one_of(
    arrays_of.boolean_dtypes(),
    arrays_of.integer_dtypes(endianness="?"),
    arrays_of.unsigned_integer_dtypes(endianness="?"),
    arrays_of.floating_dtypes(endianness="?"),
    arrays_of.complex_number_dtypes(endianness="?"),
)


@st.composite
def laid_out(draw):
    shapes = arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    array = draw(arrays_of.arrays(draw(NUMBERS), shapes))
    layout = draw(st.sampled_from(["C", "F", "gaps"]))
    if layout == "gaps" and array.ndim:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    return np.asarray(array, order="F" if layout == "F" else "C")


@settings(deadline=None, max_examples=50)
@given(
    fingerprint=st.dictionaries(st.text(), st.text(), max_size=3),
    arrays=st.dictionaries(
        st.text("abcXYZ019_./-", min_size=1, max_size=8), laid_out(), max_size=4
    ),
)
def test_what_was_written_comes_back_bit_by_bit(fingerprint, arrays):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ckpt")
        write_checkpoint(path, fingerprint, arrays)
        found, read = read_checkpoint(path)
        assert read_fingerprint(path) == found == fingerprint
    # an array with gaps comes back without them
    whole = {name: a if a.flags.forc else a.copy() for name, a in arrays.items()}
    assert same(read, whole)
    for array in read.values():
        assert array.flags.writeable
        assert array.flags.aligned


def test_the_same_state_gives_the_same_bytes(content, path):
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    assert path.read_bytes() == content


def test_the_fingerprint_is_read_without_the_state(path, monkeypatch):
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    read = []
    real = Archive.read
    monkeypatch.setattr(Archive, "read", lambda self, *args: read.append(args) or real(self, *args))
    assert read_fingerprint(path) == FINGERPRINT
    assert [name for name, *_ in read] == [MANIFEST]


def test_nothing_is_compressed_and_arrays_of_one_kind_are_together(path):
    write_checkpoint(path, {}, {"zeros": [np.zeros(100) for _ in range(50)]})
    with zipfile.ZipFile(path) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        assert archive.namelist() == [MANIFEST, "state.json", "arrays/f8.npy"]


def tree(**others):
    parts = {
        "features": np.array([-1, 0, -1, -1], np.int32),
        "cuts": np.zeros(4, np.uint8),
        "leaf_at": np.array([-1, -1, 0, 1], np.int32),
        "values": np.ones((2, 3), np.float32),
        "cover": np.ones(2, np.float32),
    }
    return SharedTree(**{**parts, **others})


def test_objects_of_palmette_come_back_and_are_checked(path):
    write_checkpoint(path, FINGERPRINT, {"rounds": [tree(), tree()], "seed": 7})
    state = read_checkpoint(path)[1]
    assert [type(each) for each in state["rounds"]] == [SharedTree, SharedTree]
    assert state["seed"] == 7
    bad = tree(leaf_at=np.array([-1, -1, 0, 2], np.int32))
    write_checkpoint(path, FINGERPRINT, {"rounds": [tree(), (bad,)]})
    assert read_fingerprint(path) == FINGERPRINT
    with pytest.raises(ReadError, match="a leaf that does not exist"):
        read_checkpoint(path)


def test_an_older_file_is_replaced_and_nothing_else_is_left(path):
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    write_checkpoint(path, {}, {})
    assert read_checkpoint(path) == ({}, {})
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "value", [GaussianNB(), [make_pipeline(pm.FlatClassifier())], {"a": Fraction(1, 3)}, object()]
)
def test_objects_of_other_libraries_are_refused_and_an_older_file_stays(path, value):
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    with pytest.raises(PalmetteError, match=r"\['a'\].*Use a weak learner of palmette\.weak"):
        write_checkpoint(path, FINGERPRINT, {"a": value})
    assert same(read_checkpoint(path)[1], ARRAYS)


# ---------------------------------------------------------------------- broken files


def test_a_file_cut_short_anywhere_is_refused(content, path):
    for length in {*range(0, len(content), 3), *range(len(content) - 30, len(content))}:
        path.write_bytes(content[:length])
        named = length >= 30 + len(MANIFEST)
        with pytest.raises(ReadError, match="truncated" if named else "not a checkpoint"):
            read_checkpoint(path)


@pytest.mark.thorough
def test_a_byte_changed_anywhere_is_refused_or_changes_nothing(content, path):
    refused = 0
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 0x55
        path.write_bytes(changed)
        refused += not reads_the_same_or_is_refused(path)
    assert refused > 0.8 * len(content)  # dates and rights in the zip, say, are nobody's business


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_any_change_is_refused_or_changes_nothing(content, data):
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(changed)))
        stop = data.draw(st.integers(start, min(start + 8, len(changed))))
        changed[start:stop] = data.draw(st.binary(max_size=8))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ckpt")
        path.write_bytes(changed)
        reads_the_same_or_is_refused(path)


def reads_the_same_or_is_refused(path):
    """Return whether a file can be read, and see that it then says what was written."""
    try:
        fingerprint, arrays = read_checkpoint(path)
    except ReadError as error:
        reason = str(error)
    else:
        assert fingerprint == FINGERPRINT
        assert same(arrays, ARRAYS)
        return True
    assert str(path) in reason
    return False


# ---------------------------------------------------------------------- foreign files


@settings(deadline=None, max_examples=50)
@given(content=st.binary(max_size=200))
@example(content=b"")
@example(content=b"a,b\n1,2\n" * 20)
def test_other_bytes_are_no_checkpoint(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ckpt")
        path.write_bytes(content)
        for read in (read_checkpoint, read_fingerprint):
            with pytest.raises(ReadError, match="not a checkpoint of Palmette"):
                read(path)


def test_other_zip_files_are_no_checkpoint(path):
    np.savez(path.with_suffix(".npz"), a=np.arange(3))
    with pytest.raises(ReadError, match="another zip file"):
        read_checkpoint(path.with_suffix(".npz"))


def test_a_model_is_no_checkpoint_and_a_checkpoint_no_model(path):
    save(pm.FlatClassifier(), path)
    for read in (read_checkpoint, read_fingerprint):
        with pytest.raises(ReadError, match=r"not a checkpoint .*it is a model file"):
            read(path)
    write_checkpoint(path, FINGERPRINT, ARRAYS)
    with pytest.raises(ReadError, match=r"not a model file .*it is a checkpoint"):
        load(path)


def test_what_is_no_file_cannot_be_opened(tmp_path):
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ReadError, match="cannot be opened"):
            read_checkpoint(path)


# ---------------------------------------------------------------------- made by hand


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


STATE = {"root": {"ref": 0}, "objects": [{"dict": {"a": {"ref": 1}}}, {"array": {"in": "a00000"}}]}


def build(path, array=None, state=STATE, compression=zipfile.ZIP_STORED, **changes):
    """Write a file whose checksums are right, whatever its members are."""
    content = npy(np.arange(3)) if array is None else array
    members = {"state.json": json.dumps(state).encode(), "arrays/a00000.npy": content}
    listed = {n: [len(c), hashlib.sha256(c).hexdigest()] for n, c in members.items()}
    manifest = {"format": "palmette.checkpoint", "version": 1, "fingerprint": {}, "members": listed}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, json.dumps({**manifest, **changes}))
        for name, each in members.items():
            archive.writestr(name, each, compression)


def test_a_file_made_by_hand_is_read(path):
    build(path)
    assert same(read_checkpoint(path)[1], {"a": np.arange(3)})


@pytest.mark.parametrize("read", [read_checkpoint, read_fingerprint])
@pytest.mark.parametrize("version", [2, 99])
def test_another_version_of_the_format_is_named(path, version, read):
    build(path, version=version, fingerprint="of another kind", members=7)
    with pytest.raises(ReadError, match=rf"version {version} of the format.*versions up to 1"):
        read(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "2"},
        {"fingerprint": ["a"]},
        {"fingerprint": {"a": 3}},
        {"members": {"a": 3}},
        {"members": {"a": [3, "x", "y"]}},
        {"members": {"state.json": ["three", "x"]}},
        {"members": {"state.json": [10**15, "00"]}},
        {"members": {}},
        {"members": []},
        {"state": {"root": 3, "objects": []}},
        {"state": {"root": {"foreign": 0}, "objects": []}},
        {"state": {"root": {"holder": {"class": "sklearn.pipeline.Pipeline"}}, "objects": []}},
        {"state": {"root": {"ref": 0}, "objects": [{"object": {"class": "os.system"}}]}},
        {"state": []},
    ],
    ids=str,
)
def test_a_manifest_or_a_state_that_lies_is_refused(path, changes):
    build(path, **changes)
    with pytest.raises(ReadError, match="truncated or was changed"):
        read_checkpoint(path)


@pytest.mark.parametrize("text", ["", "{", "[" * 10**5, "\udcff", '{"a": NaN}'])
def test_a_manifest_that_is_none_is_refused(path, text):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ReadError, match="truncated or was changed"):
        read_fingerprint(path)


@pytest.mark.parametrize("text", ["[]", "null", '{"format": 1}'])
def test_a_manifest_of_another_kind_is_no_checkpoint(path, text):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, text)
    with pytest.raises(ReadError, match="not a checkpoint of Palmette"):
        read_fingerprint(path)


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("code of a file was run",)


def lying_npy(shape, dtype="<f8"):
    stream = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + bytes(16)


@pytest.mark.parametrize(
    "content",
    [
        npy(np.array([Bomb()], dtype=object)),
        lying_npy((1,), "|O") + pickle.dumps(Bomb()),
        lying_npy((10**12,)),
        lying_npy((10**30, 10**30)),
        lying_npy((3,)),
        lying_npy((-1,)),
        lying_npy((-1, -2)),
        lying_npy((-2, -1)),
        b"",
        b"\x93NUMPY",
        pickle.dumps(Bomb()),
    ],
)
def test_what_is_no_array_is_refused_and_never_run(path, content):
    build(path, content)
    with pytest.raises(ReadError, match="truncated or was changed"):
        read_checkpoint(path)


def test_compressed_arrays_are_refused_before_they_are_read(path):
    build(path, npy(np.zeros(2**24, np.uint8)), compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2**20
    assert peak_while_refused(path, "is compressed") < 2**20


def test_sizes_that_the_file_cannot_hold_are_refused_before_memory_is_taken(path):
    member = npy(np.zeros(4))
    build(path, member)
    content = path.read_bytes()
    # the sizes of the member in the directory of the zip: 4 GB less one byte
    size = len(member).to_bytes(4, "little")
    at = content.rindex(size + size)
    path.write_bytes(content[:at] + b"\xfe\xff\xff\xff" * 2 + content[at + 8 :])
    assert peak_while_refused(path, "more bytes than it has") < 2**20


def test_a_manifest_without_end_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr("palmette.persistence.checkpoints._MAX_MANIFEST", 2**10)
    build(path, fingerprint={"data": "x" * 2**10})
    with pytest.raises(ReadError, match="manifest has"):
        read_fingerprint(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_the_manifest_does_not_list_are_refused(path):
    for name in ("arrays/a00000.npy", "arrays/b.npy", "b.py", MANIFEST):
        build(path)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(name, npy(np.arange(4)))
        with pytest.raises(ReadError, match="truncated or was changed"):
            read_checkpoint(path)


def peak_while_refused(path, reason):
    """Most memory that is taken while a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(ReadError, match=reason):
            read_checkpoint(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------------- meant to do harm


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_spoilt_checkpoint_is_read_or_refused_and_nothing_else_happens(path, seed):
    rounds = [tree() for _ in range(3)]
    write_checkpoint(path, FINGERPRINT, {**ARRAYS, "rounds": rounds, "losses": np.zeros(3)})
    content = path.read_bytes()
    refused = 0
    for turn in range(60):
        path.write_bytes(mutated(content, random.Random(1000 * seed + turn))[1])
        try:
            read_checkpoint(path)
        except ReadError:  # any other error goes through
            refused += 1
    assert refused > 0
